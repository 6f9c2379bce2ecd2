//! Work that goes on after a request is answered: tasks of the runtime. They end with the
//! process, wherever they are.

use futures::future::BoxFuture;
use ostraca_memory::Background;

/// Tasks of the runtime that a request runs on.
#[derive(Debug)]
pub(crate) struct Tasks;

impl Background for Tasks {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        tokio::spawn(work);
    }
}
