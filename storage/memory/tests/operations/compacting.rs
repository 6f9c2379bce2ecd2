//! I-FOLD: after any compactions, whole, interrupted or doubled, every read of a process
//! that starts from segments is that of one that has folded every entry of the log.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures::TryStreamExt as _;
use object_store::{ObjectStore, ObjectStoreExt as _};
use ostraca_memory::*;
use ostraca_object::decorator::clocked::ClockedStore;
use ostraca_object::decorator::fault::{Fault, FaultStore, Rule};
use ostraca_object::error::Operation;
use ostraca_object::key::CollectionKey;

use crate::support::*;

/// `SplitMix64`.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.roll(of.len())]
    }
}

const WORDS: [&str; 12] = [
    "amber", "basalt", "cobalt", "dune", "ember", "fjord", "granite", "harbour", "inlet", "jetty",
    "kelp", "lagoon",
];
const SCOPES: [&str; 4] = ["", "work", "work/api", "home"];

fn memory() -> CollectionKey {
    CollectionKey::new(tenant("acme"), CollectionId::memory())
}

/// What a compaction left, without its cost.
async fn compact(db: &Arc<Database>, effort: Effort) -> Compacted {
    db.compact(&memory(), effort).await.unwrap()
}

struct History {
    world: World,
    dice: Dice,
    ids: Vec<String>,
}

impl History {
    fn sentence(&mut self) -> String {
        let words: Vec<&str> = (0..=self.dice.roll(6))
            .map(|_| self.dice.pick(&WORDS))
            .collect();
        words.join(" ")
    }

    /// One random write by a process.
    async fn write(&mut self, session: &Session) {
        let target = (!self.ids.is_empty()).then(|| {
            let index = self.dice.roll(self.ids.len());
            self.ids[index].clone()
        });
        match (self.dice.roll(10), target) {
            (0..=4, _) | (_, None) => {
                let items = (0..=self.dice.roll(3))
                    .map(|_| NewMemory {
                        scope: scope(self.dice.pick(&SCOPES)),
                        key: (self.dice.roll(3) == 0).then(|| format!("key {}", self.dice.roll(5))),
                        expires: (self.dice.roll(8) == 0)
                            .then(|| Expiry::After(Duration::from_mins(30))),
                        ..note(&self.sentence())
                    })
                    .collect();
                let reply = session
                    .remember(RememberRequest {
                        items,
                        idempotency_key: None,
                    })
                    .await
                    .unwrap();
                let ids = reply.items.into_iter().map(|item| item.unwrap().id);
                self.ids.extend(ids);
            }
            (5 | 6, Some(id)) => {
                let update = UpdateRequest {
                    content: Some(self.sentence()),
                    ..UpdateRequest::new(by_id(&id))
                };
                session.update(update).await.ok();
            }
            (7, Some(id)) => {
                let request = RestoreRequest {
                    target: by_id(&id),
                    version: None,
                    expected_version: None,
                    reason: None,
                    idempotency_key: None,
                };
                session.restore(request).await.ok();
            }
            (roll, Some(id)) => {
                let mode = if roll == 8 {
                    ForgetMode::Soft
                } else {
                    ForgetMode::Purge
                };
                let request = ForgetRequest {
                    mode,
                    ..ForgetRequest::soft(vec![by_id(&id)])
                };
                session.forget(request).await.unwrap();
            }
        }
    }

    /// One compaction: whole, interrupted at some request, or doubled.
    async fn compact(&mut self, warm: &Arc<Database>) {
        let effort = self
            .dice
            .pick(&[Effort::SMALL, Effort::SMALL, Effort::Major]);
        match self.dice.roll(4) {
            0 => drop(compact(warm, effort).await),
            1 => drop(compact(&embedding(&self.world), effort).await),
            2 => {
                let (one, two) = (embedding(&self.world), embedding(&self.world));
                let (one, two) = futures::join!(compact(&one, effort), compact(&two, effort));
                assert!(
                    one.outcome != CompactionOutcome::Superseded
                        || two.outcome != CompactionOutcome::Superseded
                );
            }
            _ => self.interrupted(effort).await,
        }
    }

    async fn interrupted(&mut self, effort: Effort) {
        let operations = [Operation::Put, Operation::Create, Operation::Get];
        let fault = self.dice.pick(&[Fault::ErrorBefore, Fault::LostAnswer]);
        let rules = vec![Rule::new(fault, &operations, 300)];
        let seed = self.dice.0;
        let inner: Arc<dyn ObjectStore> = self.world.store.clone();
        let store = FaultStore::new(inner, self.world.clock.clone(), seed, rules);
        let db = self.world.database_on(Arc::new(store));
        db.compact(&memory(), effort).await.ok();
    }
}

fn embedding(world: &World) -> Arc<Database> {
    world.database_with(Some(WordEmbedder {
        dimensions: 64,
        ..WordEmbedder::default()
    }))
}

/// Everything that can be read, as text.
async fn everything(session: &Session, ids: &[String]) -> Vec<String> {
    fn shown(label: &str, answer: &Result<impl Debug>) -> String {
        match answer {
            Ok(answer) => format!("{label}: {answer:?}"),
            Err(error) => format!("{label}: {error}"),
        }
    }
    let mut all = Vec::new();
    let newest = session.list(ListRequest::default()).await.unwrap();
    let newest = newest.receipt.position;
    let pasts = [
        None,
        Some(newest),
        Some(newest / 2),
        Some(newest / 3),
        Some(1),
    ];
    for mode in [Mode::Keyword, Mode::Semantic, Mode::Hybrid] {
        for (reach, at) in [Reach::All, Reach::Below, Reach::Inherited]
            .into_iter()
            .zip(pasts)
            .chain(pasts.map(|at| (Reach::All, at)))
        {
            let request = RecallRequest {
                mode: Some(mode),
                scope: ScopeSelector {
                    path: scope("work"),
                    reach,
                },
                as_of: at.map(AsOf::Position),
                limit: Some(20),
                ..query("basalt ember the kelp")
            };
            let answer = session.recall(request).await.map(|reply| {
                let RecallReply {
                    hits,
                    matched,
                    mode,
                    hint,
                    receipt,
                    ..
                } = reply;
                (
                    hits,
                    matched,
                    mode,
                    hint,
                    receipt.position,
                    receipt.coverage,
                )
            });
            all.push(shown(&format!("recall {mode:?} {reach:?} {at:?}"), &answer));
        }
    }
    let listed = session
        .list(ListRequest {
            scope: ScopeSelector::all(),
            limit: Some(500),
            ..ListRequest::default()
        })
        .await;
    let listed = listed.map(|reply| (reply.memories, reply.total, reply.receipt.position));
    all.push(shown("list", &listed));
    for id in ids {
        let history = session
            .history(HistoryRequest {
                target: by_id(id),
                limit: Some(100),
                cursor: None,
                freshness: Freshness::Strong,
            })
            .await;
        let history = history.map(|reply| (reply.id, reply.versions));
        all.push(shown("history", &history));
    }
    for key in 0..5 {
        for path in SCOPES {
            let reference = Reference::Key {
                scope: scope(path),
                key: format!("key {key}"),
            };
            for at in pasts {
                let got = session
                    .get(GetRequest {
                        references: vec![reference.clone()],
                        as_of: at.map(AsOf::Position),
                        ..GetRequest::default()
                    })
                    .await;
                all.push(shown("get", &got.map(|reply| reply.memories)));
            }
        }
    }
    let scopes = session.scopes(ScopesRequest::default()).await;
    all.push(shown("scopes", &scopes.map(|reply| reply.scopes)));
    let export = session
        .export(ExportRequest {
            scope: ScopeSelector::all(),
            limit: None,
            cursor: None,
        })
        .await;
    all.push(shown("export", &export.map(|reply| reply.records)));
    all
}

async fn feed(session: &Session, cursor: &str) -> String {
    let request = WatchRequest {
        scope: ScopeSelector::all(),
        cursor: Some(cursor.to_owned()),
        limit: Some(500),
        ..WatchRequest::default()
    };
    let reply = session.watch(request).await.unwrap();
    format!("{:?}", reply.changes)
}

#[tokio::test(start_paused = true)]
async fn i_fold_every_read_is_that_of_a_log_that_was_never_compacted() {
    for seed in 0..3 {
        histories(seed, World::new()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn i_fold_holds_for_segments_that_are_searched_in_place() {
    for seed in 100..106 {
        histories(seed, World::in_place()).await;
    }
}

async fn histories(seed: u64, world: World) {
    {
        let mut history = History {
            world,
            dice: Dice(seed),
            ids: Vec::new(),
        };
        // It folds each entry as it comes, so segments never matter to it.
        let reference = acme(&embedding(&history.world));
        let warm = embedding(&history.world);
        let writers = [acme(&warm), acme(&embedding(&history.world))];
        let start = reference.watch(from_here()).await.unwrap().next_cursor;
        for step in 0..60 {
            let writer = &writers[history.dice.roll(2)];
            history.write(writer).await;
            let pause = history.dice.pick(&[1, 1_000, 400_000]);
            tokio::time::advance(Duration::from_millis(pause)).await;
            reference.list(ListRequest::default()).await.unwrap();
            if history.dice.roll(8) == 0 {
                history.compact(&warm).await;
                reference.list(ListRequest::default()).await.unwrap();
                if history.dice.roll(4) == 0 {
                    tokio::time::advance(Duration::from_hours(2)).await;
                    reference.list(ListRequest::default()).await.unwrap();
                    warm.clean_up(&memory()).await.unwrap();
                }
            }
            if step % 20 == 19 {
                let cold = acme(&embedding(&history.world));
                let expected = everything(&reference, &history.ids).await;
                let found = everything(&cold, &history.ids).await;
                for (expected, found) in expected.iter().zip(&found) {
                    assert_same(found, expected, (seed, step));
                }
                in_place_as_at_hand(&cold, (seed, step)).await;
                let (found, expected) = (feed(&cold, &start).await, feed(&reference, &start).await);
                assert_same(&found, &expected, (seed, step));
            }
        }
    }
}

/// A search for the present, in place where the collection is large, is that of an index in
/// memory over everything, which a search of the past makes.
async fn in_place_as_at_hand(session: &Session, at: (u64, usize)) {
    let newest = session.list(ListRequest::default()).await.unwrap();
    let newest = AsOf::Position(newest.receipt.position);
    for text in ["basalt ember the kelp", "dune", "nothing of this"] {
        for mode in [Mode::Keyword, Mode::Semantic, Mode::Hybrid] {
            for (reach, path) in [
                (Reach::All, ""),
                (Reach::Exact, "work"),
                (Reach::Below, "work"),
                (Reach::Inherited, "work/api"),
            ] {
                for limit in [3, 50] {
                    let request = |as_of| RecallRequest {
                        mode: Some(mode),
                        scope: ScopeSelector {
                            path: scope(path),
                            reach,
                        },
                        limit: Some(limit),
                        as_of,
                        ..query(text)
                    };
                    let found = session.recall(request(None)).await.unwrap();
                    let expected = session.recall(request(Some(newest))).await.unwrap();
                    let shown = |reply: RecallReply| {
                        format!(
                            "{mode:?} {reach:?} {limit} {text}: {:?} {} {:?}",
                            reply.hits, reply.matched, reply.receipt.coverage
                        )
                    };
                    assert_same(&shown(found), &shown(expected), at);
                }
            }
        }
    }
}

/// Shows no more than where two long texts part.
fn assert_same(found: &str, expected: &str, at: (u64, usize)) {
    if found != expected {
        let same = found.bytes().zip(expected.bytes());
        let part = same.take_while(|(a, b)| a == b).count();
        let near = |text: &str| {
            let bytes = &text.as_bytes()[part.saturating_sub(300)..(part + 200).min(text.len())];
            String::from_utf8_lossy(bytes).into_owned()
        };
        let start: String = found.chars().take(40).collect();
        let (found, expected) = (near(found), near(expected));
        assert_eq!(found, expected, "{at:?} {start}");
    }
}

fn from_here() -> WatchRequest {
    WatchRequest {
        scope: ScopeSelector::all(),
        limit: Some(500),
        ..WatchRequest::default()
    }
}

#[tokio::test(start_paused = true)]
async fn what_asks_for_all_of_a_collection_too_large_to_copy_is_refused_and_the_rest_goes_on() {
    let mut world = World::in_place();
    world.settings.copy_bytes = 1_000;
    let db = world.database();
    let session = acme(&db);
    let start = session.watch(from_here()).await.unwrap().next_cursor;
    for number in 0..40 {
        remember(&session, note(&format!("basalt number {number}"))).await;
    }
    compact(&db, Effort::SMALL).await;
    let cold = acme(&world.database());
    let here = cold.watch(from_here()).await.unwrap().next_cursor;
    remember(&session, note("amber at last")).await;
    for refused in [
        cold.list(ListRequest::default()).await.map(drop),
        cold.scopes(ScopesRequest::default()).await.map(drop),
    ] {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
        assert!(error.message().contains("use recall"), "{error}");
    }
    // What is newer than the segments is told from the tail.
    assert!(feed(&cold, &here).await.contains("amber at last"));
    assert_eq!(recall(&cold, "amber").await, ["amber at last"]);
    assert_eq!(recall(&cold, "basalt").await.len(), 10);
    let old = WatchRequest {
        cursor: Some(start),
        ..from_here()
    };
    let error = cold.watch(old).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_lost_object_of_a_segment_is_an_error_and_no_endless_search() {
    for part in ["rows.arrow", "postings.arrow"] {
        let world = World::in_place();
        let db = embedding(&world);
        for number in 0..20 {
            remember(&acme(&db), keyed(&format!("k{number}"), "basalt")).await;
        }
        compact(&db, Effort::SMALL).await;
        let listed: Vec<_> = world.store.list(None).try_collect().await.unwrap();
        let lost = listed
            .iter()
            .find(|object| object.location.as_ref().ends_with(part));
        world.store.delete(&lost.unwrap().location).await.unwrap();
        let cold = acme(&embedding(&world));
        let found = cold.recall(query("basalt")).await.map(drop);
        let got = cold
            .get(GetRequest {
                references: vec![by_key("k3")],
                ..GetRequest::default()
            })
            .await
            .map(drop);
        let written = try_remember(&cold, keyed("k3", "cobalt")).await.map(drop);
        let lost = [found, got, written];
        let failed = lost.iter().filter_map(|result| result.as_ref().err());
        let kinds: Vec<ErrorKind> = failed.map(Error::kind).collect();
        assert!(
            kinds.iter().all(|kind| *kind == ErrorKind::Corrupt),
            "{part}: {lost:?}"
        );
        assert!(kinds.len() >= 2, "{part}: {lost:?}");
    }
}

/// I-FORGET: a purge reaches every object, also where nothing is written afterwards.
#[tokio::test(start_paused = true)]
async fn i_forget_what_was_purged_is_in_no_object_after_compaction_and_the_horizon() {
    for world in [World::new(), World::in_place()] {
        let store: Arc<dyn ObjectStore> =
            Arc::new(ClockedStore::new(world.store.clone(), world.clock.clone()));
        let db = world.database_on(store);
        let session = acme(&db);
        let secret = remember(&session, note("the secretword of the vault")).await;
        for number in 0..20 {
            remember(&session, note(&format!("basalt {number}"))).await;
        }
        compact(&db, Effort::SMALL).await;
        let purge = ForgetRequest {
            mode: ForgetMode::Purge,
            ..ForgetRequest::soft(vec![by_id(&secret.id)])
        };
        session.forget(purge).await.unwrap();
        for _ in 0..3 {
            compact(&db, Effort::Major).await;
            db.clean_up(&memory()).await.unwrap();
            tokio::time::advance(Duration::from_hours(2)).await;
        }
        db.clean_up(&memory()).await.unwrap();
        let listed: Vec<_> = world.store.list(None).try_collect().await.unwrap();
        for object in listed {
            let got = world.store.get(&object.location).await.unwrap();
            let bytes = got.bytes().await.unwrap();
            let found = bytes.windows(10).any(|window| window == b"secretword");
            assert!(!found, "{}", object.location);
        }
        // And then there is an end to it.
        let idle = compact(&db, Effort::Major).await;
        assert_eq!(idle.outcome, CompactionOutcome::Nothing);
        assert_eq!(recall(&session, "basalt").await.len(), 10);
    }
}
