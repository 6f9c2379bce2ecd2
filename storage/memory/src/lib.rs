//! The domain of Ostraca: what a memory is, where it belongs, and one operation per
//! file over the log and the search engine. It is separate so that every surface is
//! a thin projection of the same operations; it knows no protocol and no platform.

pub mod asof;
pub mod caller;
mod catalogue;
mod change;
pub mod compact;
mod cursor;
pub mod database;
mod draft;
pub mod embed;
pub mod error;
pub mod excerpt;
mod fault;
mod idempotency;
mod known;
pub mod limits;
mod load;
mod lookup;
pub mod ops;
pub mod patch;
mod profile;
pub mod receipt;
pub mod reference;
mod row;
pub mod scope;
mod selection;
pub mod session;
mod speculation;
pub mod system;
pub mod time;
mod validate;
mod view;

pub use asof::AsOf;
pub use caller::{Caller, Permission};
pub use change::Event;
pub use compact::background::Background;
pub use compact::job::{
    CollectionResult, Job, JobReport, Phase, Progress, Selection, Step, Unwatched,
};
pub use compact::{Compacted, CompactionOutcome, Effort};
pub use database::{Database, Ports, Settings};
pub use error::{Error, ErrorKind, Result};
pub use excerpt::Excerpt;
pub use limits::Limits;
pub use ops::describe_scope::{DescribeScopeReply, DescribeScopeRequest};
pub use ops::export::{ExportReply, ExportRequest};
pub use ops::forget::{ForgetMode, ForgetOutcome, ForgetReply, ForgetRequest, Forgotten};
pub use ops::get::{Found, GetReply, GetRequest};
pub use ops::history::{HistoryReply, HistoryRequest, VersionView};
pub use ops::list::{ListReply, ListRequest, Order};
pub use ops::recall::{RecallHit, RecallReply, RecallRequest};
pub use ops::remember::{
    EmbeddingState, Expiry, NewMemory, Outcome, RememberReply, RememberRequest, Remembered,
};
pub use ops::restore::RestoreRequest;
pub use ops::scopes::{ScopeInfo, ScopesReply, ScopesRequest};
pub use ops::update::{ChangeReply, UpdateRequest};
pub use ops::watch::{WatchReply, WatchRequest, Watched};
pub use ostraca_object::key::{CollectionId, CollectionKey, TenantId};
pub use ostraca_object::log::clean_up::CleanedUp;
pub use ostraca_object::log::{Freshness, Grouping};
pub use ostraca_object::port::{Clock, Ids, Timestamp};
pub use ostraca_search::{
    Effort as SearchEffort, Embedding, Filter, FilterError, Lane, Metadata, Mode, Record,
    ScopePath, Status, Value, ValueSyntax,
};
pub use patch::Patch;
pub use receipt::{Coverage, Receipt};
pub use reference::Reference;
pub use scope::{Reach, ScopeSelector};
pub use session::{Session, parse_scope};
pub use system::keys::{CreatedKey, KeyInfo, NewKey};
pub use system::tenants::TenantInfo;
