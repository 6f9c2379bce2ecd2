//! One bucket, several processes that each reach it over a bad line of their own, and
//! what their readers saw.

use std::sync::{Arc, Mutex};

use object_store::ObjectStore;
use object_store::memory::InMemory;
use ostraca_object::decorator::clocked::ClockedStore;
use ostraca_object::decorator::fault::{Fault, FaultStore, Rule};
use ostraca_object::decorator::retry::{RetryPolicy, RetryStore};
use ostraca_object::error::Operation;
use ostraca_object::io::Io;
use ostraca_object::key::{CollectionId, CollectionKey, Seq};
use ostraca_object::log::{Grouping, Log, LogSettings};
use ostraca_object::port::WriterId;
use ostraca_object::port::simulated::{CountingIds, VirtualClock};
use ostraca_object::store::Store;

use crate::registers::Registers;

/// Short, so that a run sees several.
pub const HORIZON_MS: u64 = 60_000;
const PROCESSES: usize = 3;
const READS: [Operation; 2] = [Operation::Get, Operation::List];
const REST: [Operation; 4] = [
    Operation::Get,
    Operation::List,
    Operation::Put,
    Operation::Delete,
];

/// Virtual time on one thread: a seed gives the same run each time.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap()
}

/// One process: its log and its line to the bucket.
#[derive(Clone, Debug)]
pub struct Process {
    pub log: Arc<Log<Registers>>,
    store: Arc<Store>,
}

impl Process {
    pub fn io(&self) -> Io {
        Io::new(&self.store)
    }
}

#[derive(Clone)]
pub struct World {
    inner: Arc<Inner>,
}

struct Inner {
    seed: u64,
    bucket: Arc<dyn ObjectStore>,
    clock: Arc<VirtualClock>,
    ids: Arc<CountingIds>,
    processes: Mutex<Vec<Process>>,
    lines: Mutex<Vec<FaultStore>>,
    views: Mutex<Vec<Vec<u64>>>,
    marked: Mutex<Vec<Seq>>,
    started: Mutex<u64>,
}

impl World {
    pub fn new(seed: u64) -> Self {
        let clock = VirtualClock::new();
        let world = Self {
            inner: Arc::new(Inner {
                seed,
                // Objects age as the world does.
                bucket: Arc::new(ClockedStore::new(
                    Arc::new(InMemory::new()),
                    Arc::<VirtualClock>::clone(&clock),
                )),
                clock,
                ids: Arc::new(CountingIds::default()),
                processes: Mutex::new(Vec::new()),
                lines: Mutex::new(Vec::new()),
                views: Mutex::new(Vec::new()),
                marked: Mutex::new(Vec::new()),
                started: Mutex::new(0),
            }),
        };
        for index in 0..PROCESSES {
            let process = world.start(bad_line());
            world.inner.processes.lock().unwrap().insert(index, process);
        }
        world
    }

    pub fn clock(&self) -> &VirtualClock {
        &self.inner.clock
    }

    /// The process that runs at this place now.
    pub fn process(&self, place: usize) -> Process {
        self.inner.processes.lock().unwrap()[place % PROCESSES].clone()
    }

    /// The process at this place dies; one that knows nothing takes its place.
    pub fn replace(&self, place: usize) {
        let process = self.start(bad_line());
        self.inner.processes.lock().unwrap()[place % PROCESSES] = process;
    }

    /// A process on a line that works.
    pub fn calm(&self) -> Process {
        self.start(Vec::new())
    }

    /// A reader has seen these operations in this order.
    pub fn saw(&self, order: Vec<u64>) {
        self.inner.views.lock().unwrap().push(order);
    }

    pub fn views(&self) -> Vec<Vec<u64>> {
        self.inner.views.lock().unwrap().clone()
    }

    /// A marker was left for this entry, and the store said so.
    pub fn marked(&self, entry: Seq) {
        self.inner.marked.lock().unwrap().push(entry);
    }

    pub fn markers(&self) -> Vec<Seq> {
        self.inner.marked.lock().unwrap().clone()
    }

    /// Everything that is still on a line arrives.
    pub async fn settle(&self) {
        let lines = self.inner.lines.lock().unwrap().clone();
        for line in lines {
            line.flush().await;
        }
    }

    fn start(&self, rules: Vec<Rule>) -> Process {
        let inner = &self.inner;
        let number = {
            let mut started = inner.started.lock().unwrap();
            *started += 1;
            *started
        };
        let clock = Arc::clone(&inner.clock);
        let line = FaultStore::new(
            Arc::clone(&inner.bucket),
            Arc::<VirtualClock>::clone(&clock),
            inner.seed ^ number << 48,
            rules,
        );
        inner.lines.lock().unwrap().push(line.clone());
        let ids = Arc::clone(&inner.ids);
        let objects: Arc<dyn ObjectStore> = Arc::new(RetryStore::new(
            Arc::new(line),
            Arc::<VirtualClock>::clone(&clock),
            Arc::<CountingIds>::clone(&ids),
            RetryPolicy::default(),
        ));
        // A create may hang for longer than the horizon and still come back.
        let store = Store::new(objects, clock, ids).with_request_timeout(4 * HORIZON_MS);
        let settings = LogSettings {
            horizon_ms: HORIZON_MS,
            grouping: match number % 3 {
                0 => Grouping::Alone,
                _ => Grouping::Process,
            },
            // Some give up while they are stalled, some when they come back.
            commit_timeout_ms: match number % 2 {
                0 => HORIZON_MS,
                _ => 8 * HORIZON_MS,
            },
            ..LogSettings::default()
        };
        Process {
            log: Arc::new(Log::new(
                collection(),
                WriterId(u128::from(number)),
                settings,
            )),
            store: Arc::new(store),
        }
    }
}

pub fn collection() -> CollectionKey {
    CollectionKey::new("acme".parse().unwrap(), CollectionId::memory())
}

/// All that a network and a server have been seen to do.
fn bad_line() -> Vec<Rule> {
    let create = |fault, per_mille| Rule::new(fault, &[Operation::Create], per_mille).on("/log/");
    vec![
        Rule::new(
            Fault::Delay {
                from_ms: 1,
                to_ms: 40,
            },
            &REST,
            1_000,
        ),
        create(
            Fault::Delay {
                from_ms: 1,
                to_ms: 60,
            },
            1_000,
        ),
        create(Fault::LostAnswer, 60),
        create(Fault::ErrorBefore, 40),
        create(Fault::EmptyConflict, 40),
        create(Fault::LateDelivery { after_ms: 700 }, 30),
        create(
            Fault::LateDelivery {
                after_ms: 2 * HORIZON_MS,
            },
            20,
        ),
        create(Fault::Duplicate { after_ms: 3_000 }, 30),
        create(
            Fault::Duplicate {
                after_ms: 2 * HORIZON_MS,
            },
            30,
        ),
        // The stalled writer: its create arrives when others have moved on.
        create(
            Fault::Delay {
                from_ms: HORIZON_MS / 4,
                to_ms: 3 * HORIZON_MS,
            },
            15,
        ),
        create(
            Fault::SlowAnswer {
                from_ms: HORIZON_MS / 4,
                to_ms: 3 * HORIZON_MS,
            },
            10,
        ),
        Rule::new(Fault::ErrorBefore, &REST, 40),
        Rule::new(Fault::LostAnswer, &READS, 20),
    ]
}
