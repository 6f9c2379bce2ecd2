//! The embedding profile of a collection: which model and how many dimensions its
//! vectors have. The first vector fixes it; vectors of another profile are never
//! mixed in, so a search compares like with like.

use std::sync::Arc;

use ostraca_object::io::Io;
use ostraca_object::log::Freshness;
use ostraca_search::{Chunk, Embedding, Record};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::change::Change;
use crate::draft::Decider;
use crate::embed::Embedder;
use crate::embed::vectors::{Passage, embed_all};
use crate::error::{Error, Result};
use crate::load;
use crate::ops::remember::ItemDraft;
use crate::session::Session;
use crate::view::View;

/// A collection's profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Profile {
    /// The name of the model; `external` for vectors that callers bring.
    pub(crate) model: String,
    /// The length of every vector.
    pub(crate) dimensions: u32,
}

const SETTING: &str = "embedding_profile";
const EXTERNAL: &str = "external";

impl Profile {
    fn new(model: &str, dimensions: usize) -> Self {
        Self {
            model: model.to_owned(),
            dimensions: u32::try_from(dimensions).unwrap_or(u32::MAX),
        }
    }

    /// The name that records carry.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.model, self.dimensions)
    }

    /// The profile of a collection, once it has one.
    pub(crate) fn of(view: &View) -> Option<Self> {
        view.setting(SETTING).and_then(Self::read)
    }

    /// The profile among the settings of a checkpoint.
    pub(crate) fn of_settings(settings: &[Change]) -> Option<Self> {
        let setting = settings
            .iter()
            .find(|change| change.record.key.as_deref() == Some(SETTING))?;
        Self::read(setting.record.value.as_ref()?)
    }

    fn read(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Whether vectors of a model may join, and if not, what to do about it.
    pub(crate) fn admits(&self, model: &str) -> std::result::Result<(), String> {
        if self.model == model {
            return Ok(());
        }
        Err(format!(
            "this collection is embedded with {} and the server with {model}: configure {} again, or give vectors of that model yourself",
            self.model, self.model
        ))
    }
}

/// The vectors of one item on their way into its record.
#[derive(Debug, Clone)]
pub(crate) enum Vectors {
    /// Nothing embeds it.
    None,
    /// The caller brought one for the whole content.
    Given(Vec<f32>),
    /// The embedder made them.
    Made { model: String, chunks: Vec<Chunk> },
    /// The embedder should have made them.
    Owed { model: String },
}

impl Vectors {
    pub(crate) fn asked(given: Option<Vec<f32>>) -> Self {
        given.map_or(Self::None, Self::Given)
    }

    /// Whether they tell more than what the record has.
    pub(crate) fn replaces(&self, record: &Record) -> bool {
        match (self, &record.embedding) {
            (Self::Given(vector), Embedding::Ready { chunks, .. }) => {
                chunks.first().is_none_or(|chunk| chunk.vector != *vector)
            }
            (Self::Given(_) | Self::Made { .. }, Embedding::None | Embedding::Pending { .. }) => {
                true
            }
            _ => false,
        }
    }
}

/// What embedding came to.
pub(crate) struct Embedded {
    pub(crate) degraded: Vec<String>,
}

impl Session {
    /// Embeds the items that have no vector of their own. The write goes on whatever
    /// happens; what could not be embedded is owed.
    pub(crate) async fn vectors_for(
        &self,
        io: &Io,
        items: impl Iterator<Item = &mut ItemDraft>,
    ) -> Result<Embedded> {
        let Some(embedder) = self.db.embedder() else {
            return Ok(Embedded {
                degraded: Vec::new(),
            });
        };
        let mut items: Vec<&mut ItemDraft> = items
            .filter(|item| matches!(item.vectors, Vectors::None))
            .collect();
        if items.is_empty() {
            return Ok(Embedded {
                degraded: Vec::new(),
            });
        }
        // A known duplicate needs no vector. What is cached may be stale, which at worst leaves one owed.
        items.retain(|item| !self.log.read(|view, _| is_known(view, &item.record)));
        let model = embedder.model().to_owned();
        if let Some(Err(reason)) = self
            .log
            .read(|view, _| Profile::of(view).map(|profile| profile.admits(&model)))
        {
            for item in items {
                item.vectors = Vectors::Owed {
                    model: model.clone(),
                };
            }
            return Ok(Embedded {
                degraded: vec![reason],
            });
        }
        let passages: Vec<Passage> = items
            .iter()
            .map(|item| Passage {
                title: item.record.title.clone(),
                content: item.record.content.clone(),
            })
            .collect();
        // A process that starts cold reads the log while the endpoint works.
        let (made, read) = futures::join!(
            self.embed_passages(embedder, &passages),
            load::refresh(&self.log, io, Freshness::Bounded(u64::MAX))
        );
        read?;
        let mut degraded: Vec<String> = Vec::new();
        for (item, made) in items.into_iter().zip(made) {
            item.vectors = match made {
                Ok(chunks) => Vectors::Made {
                    model: model.clone(),
                    chunks,
                },
                Err(reason) => {
                    if !degraded.contains(&reason) {
                        degraded.push(reason);
                    }
                    Vectors::Owed {
                        model: model.clone(),
                    }
                }
            };
        }
        Ok(Embedded { degraded })
    }

    async fn embed_passages(
        &self,
        embedder: &Arc<dyn Embedder>,
        passages: &[Passage],
    ) -> Vec<std::result::Result<Vec<Chunk>, String>> {
        if passages.is_empty() {
            return Vec::new();
        }
        embed_all(
            embedder.as_ref(),
            self.db.clock().as_ref(),
            self.limits().embedding_wait,
            passages,
        )
        .await
    }
}

fn is_known(view: &View, record: &Record) -> bool {
    let id = match (&record.key, record.content_hash) {
        (Some(key), _) => view.id_of_key(&record.realm, &record.scope, key),
        (None, Some(hash)) => view.id_of_hash(&record.realm, &record.scope, hash),
        (None, None) => None,
    };
    id.and_then(|id| view.newest(id)).is_some_and(|known| {
        known.record.content == record.content
            && known.record.title == record.title
            && matches!(known.record.embedding, Embedding::Ready { .. })
    })
}

/// The embedding of a record in a collection with the profile that it has when the
/// decision is taken; the first vectors fix the profile.
///
/// # Errors
/// Invalid at `vector` if a given vector has another length than the profile says.
pub(crate) fn settle(
    decider: &mut Decider<'_>,
    content: &str,
    vectors: &Vectors,
) -> Result<Embedding> {
    let current = decider.setting(SETTING).and_then(Profile::read);
    match vectors {
        Vectors::None => Ok(Embedding::None),
        Vectors::Owed { model } => {
            let profile = current.map_or_else(|| model.clone(), |profile| profile.name());
            Ok(Embedding::Pending { profile })
        }
        Vectors::Given(vector) => {
            let profile = match current {
                Some(profile) if profile.dimensions as usize == vector.len() => profile,
                Some(profile) => {
                    return Err(Error::invalid(
                        "vector",
                        format!(
                            "expected {} dimensions, got {}; this collection is embedded with {}",
                            profile.dimensions,
                            vector.len(),
                            profile.model
                        ),
                    ));
                }
                None => fix(decider, Profile::new(EXTERNAL, vector.len())),
            };
            Ok(Embedding::Ready {
                profile: profile.name(),
                chunks: vec![Chunk {
                    start: 0,
                    end: u32::try_from(content.len()).unwrap_or(u32::MAX),
                    vector: vector.clone(),
                }],
            })
        }
        Vectors::Made { model, chunks } => {
            let dimensions = chunks.first().map_or(0, |chunk| chunk.vector.len());
            let profile = match current {
                Some(profile)
                    if profile.admits(model).is_ok()
                        && profile.dimensions as usize == dimensions =>
                {
                    profile
                }
                // Another profile took hold meanwhile: the vector is owed in that one.
                Some(profile) => {
                    return Ok(Embedding::Pending {
                        profile: profile.name(),
                    });
                }
                None => fix(decider, Profile::new(model, dimensions)),
            };
            Ok(Embedding::Ready {
                profile: profile.name(),
                chunks: chunks.clone(),
            })
        }
    }
}

fn fix(decider: &mut Decider<'_>, profile: Profile) -> Profile {
    decider.set(SETTING, serde_json::to_value(&profile).ok());
    profile
}
