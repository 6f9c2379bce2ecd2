//! Work after the answer: `waitUntil` of the request that leaves it. The runtime lets no
//! request wait for another's I/O, so each request's future is polled with its own context at
//! hand, and nothing is handed from one to another.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use futures::future::BoxFuture;
use ostraca_memory::Background;
use worker::Context;

thread_local! {
    static CURRENT: RefCell<Option<Rc<Context>>> = const { RefCell::new(None) };
}

/// A request's future, polled with the request's context at hand.
pub(crate) struct InContext<F> {
    context: Rc<Context>,
    future: Pin<Box<F>>,
}

impl<F> InContext<F> {
    pub(crate) fn new(context: Rc<Context>, future: F) -> Self {
        Self {
            context,
            future: Box::pin(future),
        }
    }
}

impl<F: Future> Future for InContext<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, task: &mut std::task::Context<'_>) -> Poll<F::Output> {
        let before = CURRENT.replace(Some(Rc::clone(&self.context)));
        let poll = self.future.as_mut().poll(task);
        CURRENT.replace(before);
        poll
    }
}

/// `waitUntil` of whichever request is being polled.
#[derive(Debug)]
pub(crate) struct WaitUntil;

impl Background for WaitUntil {
    fn spawn(&self, work: BoxFuture<'static, ()>) {
        let context = CURRENT.with_borrow(Clone::clone);
        if let Some(context) = context {
            context.wait_until(work);
        } else {
            tracing::warn!("work was left outside of a request; the schedule does it");
        }
    }
}
