//! The vector half of an index: inverted lists (IVF) of scalar-coded residuals.
//!
//! Building is [`Reservoir`], [`train()`], then per vector [`Assigner::assign`] and
//! [`Encoder::encode`]; reading is [`Centroids::rank`], [`plan`], then per list
//! [`scan`] into [`Candidates`], whose exact vectors decide. It is pure: it never
//! knows where bytes come from. Vectors are of unit length, and the metric is the cosine;
//! the zero vector is legal and scores 0.

mod candidates;
mod centroids;
mod code;
mod contenders;
mod defaults;
mod kernel;
mod kmeans;
mod order;
mod probe;
mod quantise;
mod random;
mod reservoir;
mod rows;
mod soar;
mod train;

pub use candidates::{Candidate, Candidates};
pub use centroids::{Centroids, CentroidsError, RankedList};
pub use code::{Encoder, EntryLayout, Estimate, Place, ScanError, scan};
pub use contenders::Contenders;
pub use defaults::{CENTROID_BITS, CODE_BITS, RERANK, effort_for, lists_for};
pub use probe::{Effort, REACH, Run, could_improve, plan};
pub use quantise::{Bits, PreparedQuery};
pub use reservoir::Reservoir;
pub use rows::Rows;
pub use soar::{Assigner, Assignment, LAMBDA};
pub use train::{POINTS_PER_CENTROID, Training, train};

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::needless_range_loop,
    reason = "tests make up numbers"
)]
mod tests;
