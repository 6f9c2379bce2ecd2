//! The request to stop: Ctrl-C anywhere, and what service managers send. It is
//! separate because each platform names it differently.

use std::io;

/// Waits until this process is asked to stop.
///
/// # Errors
/// If the platform has no handlers to give.
pub(crate) async fn stop() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            result = tokio::signal::ctrl_c() => result,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    {
        tokio::signal::ctrl_c().await
    }
}
