//! The port for work that nobody waits for. Each platform keeps a process alive after
//! its answer in a way of its own, so only the edges can implement it. Whatever is handed
//! to it may be cut off anywhere.

use std::fmt;

use futures::future::BoxFuture;

/// Where work goes on after a request is answered.
pub trait Background: Send + Sync + fmt::Debug {
    /// Runs `work` some time after now, or part of it, or none.
    fn spawn(&self, work: BoxFuture<'static, ()>);
}
