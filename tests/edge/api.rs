//! The api suite on each edge: the same cases that run against the local binary, over
//! the Worker on R2, the Worker on S3 and the Lambda on S3, all with keys, and with the
//! real embedding model for those that are about it.

use std::sync::Arc;

use libtest_mimic::Trial;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

use crate::client::{Client, Transcript};
use crate::platform::{Bucket, Front, Variables, Workerd, command, embedding, lambda, minilm};
use crate::process::Process;
use crate::target::{Needs, Target};
use crate::{case, cases};

/// What runs the service, and on what.
#[derive(Debug, Clone, Copy)]
enum Edge {
    WorkerOnR2,
    WorkerOnS3,
    LambdaOnS3,
}

impl Edge {
    fn name(self) -> &'static str {
        match self {
            Self::WorkerOnR2 => "worker_on_r2",
            Self::WorkerOnS3 => "worker_on_s3",
            Self::LambdaOnS3 => "lambda_on_s3",
        }
    }

    /// Starts the edge, with the real embedding model if texts are to become vectors.
    async fn start(self, model: Option<Process>) -> Started {
        let vectors = model.as_ref().map(embedding).unwrap_or_default();
        let mut processes: Vec<Process> = model.into_iter().collect();
        match self {
            Self::WorkerOnR2 => {
                let (folder, r2) = (temporary(), temporary());
                let store = folder.path().display().to_string();
                let keys = Keys::create(&vec![("OSTRACA_STORE".to_owned(), store)]).await;
                let workerd = Workerd {
                    instances: 1,
                    r2: Some(r2.path()),
                    bundle: None,
                };
                let mut workerd = workerd.start(&vectors).await;
                // R2 has no door but the Worker's here: what the binary has written into
                // a folder is put into the bucket.
                let seed = format!("seed {}", folder.path().display());
                let seeded = workerd.ask(&seed).await;
                assert!(seeded["objects"].as_u64().unwrap() > 0, "{seeded}");
                let url = workerd.urls().remove(0);
                processes.push(workerd);
                Started::new(url, keys, processes, vec![folder, r2]).await
            }
            Self::WorkerOnS3 => {
                let bucket = Bucket::seaweedfs().await;
                let variables = bucket.variables("worker");
                let keys = Keys::create(&variables).await;
                let workerd = Workerd {
                    instances: 1,
                    r2: None,
                    bundle: None,
                };
                let workerd = workerd.start(&[variables, vectors].concat()).await;
                let url = workerd.urls().remove(0);
                processes.push(workerd);
                Started::on(bucket, url, keys, processes).await
            }
            Self::LambdaOnS3 => {
                let bucket = Bucket::seaweedfs().await;
                let variables = bucket.variables("lambda");
                let keys = Keys::create(&variables).await;
                let variables = [variables, vectors].concat();
                let lambda = lambda(2, Front::HttpApi, &variables).await;
                let url = lambda.ready["url"].as_str().unwrap().to_owned();
                processes.push(lambda);
                Started::on(bucket, url, keys, processes).await
            }
        }
    }
}

/// Keys of two tenants, made as an operator makes them.
struct Keys {
    first: String,
    reader: String,
    other: String,
}

impl Keys {
    async fn create(store: &Variables) -> Self {
        for tenant in ["first", "second"] {
            command(&["tenant", "create", tenant], store).await;
        }
        let key = async |arguments: &[&str]| {
            let line = [&["key", "create", "--tenant"], arguments].concat();
            command(&line, store).await["secret"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        Self {
            first: key(&["first"]).await,
            reader: key(&["first", "--read-only"]).await,
            other: key(&["second"]).await,
        }
    }
}

/// A target and what it consists of.
#[derive(Debug)]
struct Started {
    target: Arc<Target>,
    _processes: Vec<Process>,
    _folders: Vec<TempDir>,
    _bucket: Option<Bucket>,
}

impl Started {
    async fn new(url: String, keys: Keys, processes: Vec<Process>, folders: Vec<TempDir>) -> Self {
        let client = Client::new(&url, None, Transcript::default());
        let capabilities = client.get("/v1/capabilities").await.success().clone();
        let target = Target {
            url,
            token: Some(keys.first),
            other_token: Some(keys.other),
            reader_token: Some(keys.reader),
            run: "edge".to_owned(),
            capabilities,
            local: None,
        };
        Self {
            target: Arc::new(target),
            _processes: processes,
            _folders: folders,
            _bucket: None,
        }
    }

    async fn on(bucket: Bucket, url: String, keys: Keys, processes: Vec<Process>) -> Self {
        Self {
            _bucket: Some(bucket),
            ..Self::new(url, keys, processes, Vec::new()).await
        }
    }
}

pub(crate) fn temporary() -> TempDir {
    TempDir::with_prefix("ostraca-edge-").unwrap()
}

/// Every case on every edge. An edge starts when the first of its cases runs; the model
/// is slow, so the cases that are not about it do without.
pub(crate) fn trials(runtime: &Arc<Runtime>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for edge in [Edge::WorkerOnR2, Edge::WorkerOnS3, Edge::LambdaOnS3] {
        let (plain, semantic) = (Arc::default(), Arc::default());
        for case in cases::all() {
            let started: Arc<OnceCell<Started>> = match case.needs {
                // These start local processes of their own.
                Needs::Local => continue,
                Needs::Semantic => Arc::clone(&semantic),
                _ => Arc::clone(&plain),
            };
            let runtime = Arc::clone(runtime);
            let name = format!("api::{}::{}", edge.name(), case.name);
            trials.push(Trial::test(name, move || {
                runtime.block_on(async {
                    let start = async || match case.needs {
                        Needs::Semantic => edge.start(Some(minilm().await)).await,
                        _ => edge.start(None).await,
                    };
                    let started = started.get_or_init(start).await;
                    case::run(&case, Arc::clone(&started.target)).await
                })
            }));
        }
    }
    trials
}
