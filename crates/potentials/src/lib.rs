//! Potentials U, the negative log densities that samplers move in, and the integrals of their
//! gradients along lines.
//!
//! - [`Ridge`]: U(θ) = Σ w u(a·θ + o; y) + prior, with [`families`] u and dense or sparse designs,
//!   in memory or in a file ([`Stored`]); its line integrals are exact.
//! - [`Joint`]: the same with [`likelihoods`] that have parameters of their own (a noise scale, a
//!   shape, thresholds), and priors of other kinds than the normal one; values and gradients only.
//! - [`Mixed`]: a `Joint` with effects of groups, whose standard deviations and correlations are
//!   sampled too.
//! - [`Chebyshev`]: any gradient, from a type or a closure, with line integrals by quadrature at
//!   Chebyshev nodes.
//! - [`Ridge::curvature`]: guaranteed bounds of the Hessian, each with how it was obtained;
//!   [`Ridge::hessian`] itself.
//! - [`Ridge::mode`] and [`ModeSearch`]: the mode, by Newton's method or from gradients alone, and
//!   whether a posterior exists at all: [`Properness`] where it does, [`Impropriety`] with the
//!   columns concerned where it does not.
//! - [`Whitening`]: coordinates in which a posterior is nearly round; a whitened `Ridge` is a
//!   `Ridge`, or a [`WhitenedRidge`] where a copy of its design would be dear.
//! - [`check_family`] and [`check_gradient`]: a family or gradient of your own against finite
//!   differences.
//! - [`peers`]: processes that share the rows of a `Ridge`, or the chains, among them.
//! - [`families`]: for each observation a convex function u of the linear predictor, with the mean
//!   of its derivative over any segment, accurate to a few units in the last place. These means
//!   make line integrals exact.
//!
//! ```
//! use ridgewalk_potentials::families::{Family, Logistic, Observation};
//!
//! // A success, and a linear predictor that moves from -2 by 0.5: u = log(1 + e^-s).
//! let y = Observation::of(1.0);
//! let mean = Logistic.mean_slope(-2.0, 0.5, y);
//! let difference = (Logistic.value(-1.5, y) - Logistic.value(-2.0, y)) / 0.5;
//! assert!((mean - difference).abs() < 1e-15);
//! // Where the difference would have no correct digit, the mean has all of them.
//! assert!((Logistic.mean_slope(-2.0, 1e-15, y) / Logistic.slope(-2.0, y) - 1.0).abs() < 1e-15);
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod batch;
mod black_box;
mod censored;
mod check;
mod cholesky;
mod coordinates;
mod curvature;
mod density;
mod design;
mod elementary;
mod error;
pub mod families;
mod hessian;
mod joint;
pub mod likelihoods;
mod line_integral;
mod mixed;
mod mode;
mod narrow;
mod normal;
mod pass;
pub mod peers;
mod pointers;
mod prior;
mod properness;
mod quadratic;
mod ridge;
mod rotation;
mod rows;
mod segment;
mod softplus;
mod special;
mod spread;
mod square;
mod stiff;
mod stored;
mod symmetric;
mod thinning;
mod whitening;

pub use black_box::{Chebyshev, FromFn, FromValueFn, Gradient};
pub use check::{Check, Comparison, Place, Property, check_family, check_gradient};
pub use coordinates::{Factored, MappedRidge, WhitenedRidge, WhitenedWide, Wide};
pub use curvature::{Basis, Bound, Curvature, Guarantee, Obstacle};
pub use density::Density;
pub use design::{Dense, Design, Sparse};
pub use error::{Error, GradientError, PriorValue, RowValue};
pub use joint::{Joint, ParameterScale, WhitenedJoint};
pub use line_integral::{LineIntegral, Scratch};
pub use mixed::{Chart, GroupTerm, Mixed, Scale, WhitenedMixed};
pub use mode::{Method, Mode, ModeSearch, Note, accelerated_gradients_bound, start_tolerance};
pub use prior::Prior;
pub use properness::{
    Impropriety, Proof, Properness, Relation, Separability, Separation, SeparationKind,
};
pub use ridge::Ridge;
pub use rows::Rows;
pub use spread::Spread;
pub use stored::{Stored, StoredWriter};
pub use thinning::{Thinning, Verdict};
pub use whitening::{SavedWhitening, Whitened, Whitening};
