//! Sampling without parameters: a warm-up that finds coordinates, kernel, friction and step size by
//! itself, and reports why.
//!
//! The step size is chosen by its measured bias. Chains with steps of η and η/2 share a Brownian
//! path, and the difference of their moments shows how far the law of the chain is from the target,
//! in standard deviations of each coordinate. Where no bias is allowed, or none of these kernels
//! does well, there are trajectories that are accepted or rejected. Everything follows from the
//! target and the seed.

mod bias;
mod candidates;
mod checks;
mod coordinates;
mod correlation;
mod excursion;
mod history;
mod looks;
mod repair;
mod sampling;
mod search;
mod step_size;
mod subsampled;
mod target;
mod trajectories;
mod warm_up;
mod warning;

pub use bias::{Bias, CoordinateBias, Extrapolated};
pub use candidates::Wanted;
pub use checks::Checks;
pub use excursion::{beyond_bound, counted_heights, height_exceeded_with};
pub use history::Decision;
pub use looks::Look;
pub use sampling::{Length, Run, Sampled};
pub use target::{BlackBox, Target, ridge_mode};
pub use warm_up::{UNADJUSTED_TOLERANCE, WarmUp, WarmedUp};
pub use warning::{Compared, Identity, NoDraws, Warning};
