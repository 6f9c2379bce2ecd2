//! What every object store under Ostraca must do, as functions that need nothing but
//! the store: no runtime, no clock, no file. The same cases run natively, on real
//! servers and inside a Worker; they must not know which.

mod creates;
mod deletes;
mod expect;
mod lists;
mod reads;
mod uploads;

use std::sync::Arc;

use futures::future::BoxFuture;
use object_store::ObjectStore;
use object_store::path::Path;

pub use expect::Failure;

/// What a case gets: the store, and a folder that is its own.
#[derive(Clone, Debug)]
pub struct Ground {
    store: Arc<dyn ObjectStore>,
    folder: Path,
}

impl Ground {
    fn path(&self, name: &str) -> Path {
        Path::from(format!("{}/{name}", self.folder))
    }
}

/// One thing that a store must do.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name, for reports and for running it alone.
    pub name: &'static str,
    run: fn(Ground) -> BoxFuture<'static, Result<(), Failure>>,
}

impl Case {
    /// Runs the case in a folder of its own below `root`, which must be fresh.
    ///
    /// # Errors
    ///
    /// What the store did instead.
    pub async fn run(&self, store: Arc<dyn ObjectStore>, root: &str) -> Result<(), Failure> {
        let folder = Path::from(format!("{root}/{}", self.name));
        (self.run)(Ground { store, folder }).await
    }
}

macro_rules! cases {
    ($($module:ident :: $name:ident),* $(,)?) => {
        &[$(Case {
            name: stringify!($name),
            run: |ground| Box::pin($module::$name(ground)),
        }),*]
    };
}

/// What every store must do.
pub const CASES: &[Case] = cases![
    reads::what_is_put_is_read_back,
    reads::what_is_missing_is_not_found,
    reads::a_range_is_its_bytes,
    reads::a_suffix_is_the_end,
    reads::metadata_has_the_size,
    reads::an_overwrite_replaces_the_whole,
    reads::a_reader_sees_one_version_whole,
    lists::a_prefix_is_a_whole_segment,
    lists::a_listing_has_what_was_just_written,
    lists::a_listing_starts_after_a_name,
    lists::a_long_listing_is_complete,
    lists::folders_are_listed_as_such,
    lists::names_of_the_layout_come_back_unchanged,
    deletes::what_is_deleted_is_gone,
    deletes::deleting_what_is_missing_does_no_harm,
    deletes::a_deleted_name_is_free_again,
    creates::a_second_create_is_refused,
    creates::a_create_does_not_touch_what_was_put,
    creates::of_two_racing_creates_one_wins,
    creates::of_many_racing_creates_one_wins,
    creates::creates_of_different_names_all_win,
];

/// What a store of a native process must do besides: a Worker never uploads in parts.
pub const NATIVE_CASES: &[Case] = cases![
    uploads::an_upload_in_parts_appears_whole_at_its_end,
    uploads::an_upload_that_is_given_up_leaves_nothing,
];
