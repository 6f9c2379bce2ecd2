//! One execution environment: a process of the function with a Runtime API of its own. It
//! starts, freezes, thaws, kills and replaces the process, and knows which invocation is in it.

use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::event::Front;
use crate::invocation::{Invocation, Outcome, Queue};
use crate::{runtime_api, serve};

/// What runs, the same in every environment.
#[derive(Debug)]
pub(crate) struct Function {
    /// The binary.
    pub(crate) bootstrap: std::path::PathBuf,
    /// Its variables, beside those of the platform.
    pub(crate) variables: Vec<(String, String)>,
    /// Whose events it gets.
    pub(crate) front: Front,
    /// How long one invocation may take.
    pub(crate) timeout: Duration,
}

/// A process and what is known about it.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) function: Arc<Function>,
    pub(crate) number: usize,
    /// Invocations for this environment alone, and for any.
    pub(crate) own: Queue,
    any: Queue,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    api: String,
    process: Option<Pid>,
    current: Option<Invocation>,
    starts: Vec<Start>,
    ended: bool,
}

/// How long a process took to start.
#[derive(Debug)]
struct Start {
    at: Instant,
    first_next: Option<Duration>,
    first_answer: Option<Duration>,
}

impl Environment {
    /// Starts the Runtime API and the first process.
    pub(crate) async fn start(
        function: Arc<Function>,
        number: usize,
        any: Queue,
    ) -> std::io::Result<Arc<Self>> {
        let environment = Arc::new(Self {
            function,
            number,
            own: Queue::default(),
            any,
            state: Mutex::default(),
        });
        let url = serve(runtime_api::router(Arc::clone(&environment))).await?;
        url.trim_start_matches("http://")
            .clone_into(&mut environment.state().api);
        environment.spawn()?;
        Ok(environment)
    }

    /// Waits for an invocation, frozen while there is none, and makes it the current one.
    pub(crate) async fn next(&self) -> (String, Value) {
        self.note(|start| &mut start.first_next);
        let asker = self.state().starts.len();
        let mut frozen = false;
        loop {
            if let Some(invocation) = self.own.try_take().or_else(|| self.any.try_take()) {
                let handed = (invocation.id.clone(), invocation.event.clone());
                if let Some(invocation) = self.make_current(asker, invocation) {
                    // The process that asked is gone; its successor asks for itself.
                    self.own.put(invocation);
                    return std::future::pending().await;
                }
                if frozen {
                    self.signal(Signal::CONT);
                }
                return handed;
            }
            if !frozen {
                self.signal(Signal::STOP);
                frozen = true;
            }
            tokio::select! {
                () = self.own.arrival() => {}
                () = self.any.arrival() => {}
            }
        }
    }

    /// Gives the invocation to the process of start number `asker`, or back if that one ended.
    fn make_current(&self, asker: usize, invocation: Invocation) -> Option<Invocation> {
        let mut state = self.state();
        if state.process.is_none() || state.starts.len() != asker {
            return Some(invocation);
        }
        state.current = Some(invocation);
        None
    }

    /// Takes the function's answer. False when `id` is not the current invocation.
    pub(crate) fn answer(&self, id: &str, outcome: Outcome) -> bool {
        self.note(|start| &mut start.first_answer);
        self.finish(id, outcome)
    }

    fn finish(&self, id: &str, outcome: Outcome) -> bool {
        let mut state = self.state();
        match state.current.take() {
            Some(current) if current.id == id => {
                // Whoever asked may have gone; that is no fault of the function.
                drop(current.outcome.send(outcome));
                true
            }
            other => {
                state.current = other;
                false
            }
        }
    }

    /// Ends an invocation that took too long, wherever it is. Its process is killed, as the
    /// platform does.
    pub(crate) fn expire(&self, id: &str) {
        if self.finish(id, Outcome::TimedOut) {
            self.kill();
        }
    }

    /// Kills the process without warning; another takes its place.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Kills the process for good.
    pub(crate) fn end(&self) {
        self.state().ended = true;
        self.kill();
    }

    /// Times of all starts, in milliseconds.
    pub(crate) fn stats(&self) -> Value {
        let state = self.state();
        let ms = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1000.0);
        let starts: Vec<Value> = state
            .starts
            .iter()
            .map(|start| {
                json!({
                    "spawn_to_next_ms": ms(start.first_next),
                    "spawn_to_response_ms": ms(start.first_answer),
                })
            })
            .collect();
        json!({
            "pid": state.process.map(|pid| pid.as_raw_nonzero().get()),
            "starts": starts,
        })
    }

    fn spawn(self: &Arc<Self>) -> std::io::Result<()> {
        let api = self.state().api.clone();
        let at = Instant::now();
        let child = Command::new(&self.function.bootstrap)
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", api)
            .env("AWS_LAMBDA_FUNCTION_NAME", "ostraca")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/ostraca")
            .env("AWS_LAMBDA_LOG_STREAM_NAME", self.number.to_string())
            .env("LAMBDA_TASK_ROOT", "/var/task")
            .envs(self.function.variables.iter().cloned())
            .stdin(Stdio::null())
            // The emulator's own stdout carries its ready line.
            .stdout(Stdio::null())
            .kill_on_drop(true)
            // A frozen process in a group of its own is hung up by the kernel when the emulator
            // is killed; in the emulator's group it would stay frozen for ever.
            .process_group(0)
            .spawn()?;
        let mut state = self.state();
        state.process = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        state.starts.push(Start {
            at,
            first_next: None,
            first_answer: None,
        });
        drop(state);
        tokio::spawn(Arc::clone(self).watch(child));
        Ok(())
    }

    /// Waits for the end of a process and puts another in its place.
    async fn watch(self: Arc<Self>, mut child: Child) {
        let status = child.wait().await;
        let (failed, replace) = {
            let mut state = self.state();
            state.process = None;
            let reached = state
                .starts
                .last()
                .is_some_and(|start| start.first_next.is_some());
            (state.current.take(), reached && !state.ended)
        };
        if let Some(invocation) = failed {
            drop(invocation.outcome.send(Outcome::Failed));
        }
        if replace {
            if let Err(error) = self.spawn() {
                self.report(&format!(
                    "cannot start {}: {error}",
                    self.function.bootstrap.display()
                ));
            }
        } else if !self.state().ended {
            // It would only end the same way again.
            self.report(&format!(
                "the function ended before it asked for an event: {status:?}"
            ));
        }
    }

    #[expect(
        clippy::print_stderr,
        reason = "the one who started the emulator reads it there"
    )]
    fn report(&self, what: &str) {
        eprintln!("lambda_emulator: instance {}: {what}", self.number);
    }

    fn note(&self, which: impl FnOnce(&mut Start) -> &mut Option<Duration>) {
        let mut state = self.state();
        if let Some(start) = state.starts.last_mut() {
            let elapsed = start.at.elapsed();
            which(start).get_or_insert(elapsed);
        }
    }

    fn signal(&self, signal: Signal) {
        let process = self.state().process;
        if let Some(process) = process {
            // It may have ended by itself in this moment, which is as good.
            let _gone = kill_process(process, signal);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
