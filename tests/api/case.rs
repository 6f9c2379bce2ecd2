//! One case and how it is run: in a scope of its own, and with a transcript that is
//! shown when it fails.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use futures::FutureExt as _;
use libtest_mimic::Failed;

use crate::client::{Client, Transcript};
use crate::target::{Needs, Target};

/// The future of a case.
pub(crate) type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One case.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) needs: Needs,
    pub(crate) run: fn(Context) -> Running,
}

/// What a case works with.
pub(crate) struct Context {
    /// The server under test, as the tenant that may do everything.
    pub(crate) api: Client,
    /// A scope that no other case uses.
    pub(crate) scope: String,
    /// What else the target offers.
    pub(crate) target: Arc<Target>,
    /// Where exchanges are written down.
    pub(crate) transcript: Transcript,
}

impl Context {
    /// The server, as another tenant.
    pub(crate) fn other_tenant(&self) -> Client {
        self.as_holder_of(self.target.other_token.as_deref())
    }

    /// The server, as a caller of the same tenant who may only read.
    pub(crate) fn reader(&self) -> Client {
        self.as_holder_of(self.target.reader_token.as_deref())
    }

    /// The server by a way on which nothing waits for an embedding model, for cases
    /// that write much. Where there is no such way it is the server itself.
    pub(crate) fn unembedded(&self) -> Client {
        match &self.target.local {
            Some(local) => self.at(local.plain.url(), self.target.token.as_deref()),
            None => self.api.clone(),
        }
    }

    /// The server, with this token or none.
    pub(crate) fn as_holder_of(&self, token: Option<&str>) -> Client {
        Client::new(&self.target.url, token, self.transcript.clone())
    }

    /// Another server.
    pub(crate) fn at(&self, url: &str, token: Option<&str>) -> Client {
        Client::new(url, token, self.transcript.clone())
    }
}

/// Runs a case; what it asked and got is part of its failure.
pub(crate) async fn run(case: &Case, target: Arc<Target>) -> Result<(), Failed> {
    let transcript = Transcript::default();
    let context = Context {
        api: Client::new(&target.url, target.token.as_deref(), transcript.clone()),
        scope: format!("{}/{}", target.run, case.name),
        target,
        transcript: transcript.clone(),
    };
    match AssertUnwindSafe((case.run)(context)).catch_unwind().await {
        Ok(()) => Ok(()),
        Err(panic) => Err(format!("{}\n\n{}", reason(panic.as_ref()), transcript.last(6)).into()),
    }
}

fn reason(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "the case panicked".to_owned())
}

/// Lists cases: a name for reports, what they need, and the function.
macro_rules! cases {
    ($($(#[$needs:ident])? $name:ident),* $(,)?) => {
        pub(crate) fn cases() -> Vec<$crate::case::Case> {
            vec![$($crate::case::Case {
                name: stringify!($name),
                needs: $crate::case::cases!(@needs $($needs)?),
                run: |context| Box::pin($name(context)),
            }),*]
        }
    };
    (@needs) => { $crate::target::Needs::Nothing };
    (@needs other_tenant) => { $crate::target::Needs::OtherTenant };
    (@needs reader) => { $crate::target::Needs::Reader };
    (@needs keys) => { $crate::target::Needs::Keys };
    (@needs semantic) => { $crate::target::Needs::Semantic };
    (@needs local) => { $crate::target::Needs::Local };
}
pub(crate) use cases;
