//! The traits of this crate behind `&T`, `Box<T>` and `Arc<T>`, trait objects included.
//!
//! Every method is forwarded, those with a default too: a family behind a pointer keeps its
//! vectorised lists, and results are the same to the last bit. Clippy's `missing_trait_methods`
//! catches a method that is added to a trait and forgotten here.

use std::sync::Arc;

use crate::black_box::Gradient;
use crate::error::{Error, GradientError};
use crate::families::{CurvatureBounds, Family, Objection, Observation};
use crate::line_integral::{LineIntegral, Scratch};
use crate::thinning::Thinning;

macro_rules! behind_pointers {
    ($name:ident $methods:tt) => {
        behind_pointers!($name, &T, $methods);
        behind_pointers!($name, Box<T>, $methods);
        behind_pointers!($name, Arc<T>, $methods);
    };
    ($name:ident, $pointer:ty, {
        $(fn $method:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?;)*
    }) => {
        #[deny(clippy::missing_trait_methods)]
        impl<T: $name + ?Sized> $name for $pointer {
            $(
                fn $method(&self $(, $argument: $type)*) $(-> $result)? {
                    T::$method(self $(, $argument)*)
                }
            )*
        }
    };
}

behind_pointers!(Family {
    fn name(&self) -> &'static str;
    fn objection(&self, y: Observation) -> Option<Objection>;
    fn value(&self, s: f64, y: Observation) -> f64;
    fn slope(&self, s: f64, y: Observation) -> f64;
    fn curvature(&self, s: f64, y: Observation) -> f64;
    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64;
    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]);
    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]);
    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]);
    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds;
    fn third_bound(&self, low: f64, high: f64, y: Observation) -> Option<f64>;
    fn slope_limits(&self, y: Observation) -> [f64; 2];
});

behind_pointers!(Gradient {
    fn dimension(&self) -> usize;
    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError>;
    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64]
    ) -> Result<Option<f64>, GradientError>;
    fn values_and_gradients_at(
        &self, points: &[f64], values: &mut [f64], gradients: &mut [f64]
    ) -> Result<(), Error>;
});

behind_pointers!(LineIntegral {
    fn dimension(&self) -> usize;
    fn gradients_per_integral(&self) -> u64;
    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch
    ) -> Result<(), Error>;
    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch
    ) -> Result<(), Error>;
    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch
    ) -> Result<(), Error>;
    fn stiff(&self) -> usize;
    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]);
    fn thinning(&self) -> Result<&dyn Thinning, Error>;
    fn shares_out(&self, chains: usize) -> bool;
    fn collective(&self) -> bool;
});
