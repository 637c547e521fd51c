//! Kernels behind `&`, `Box` and `Arc`, with or without `dyn`.

use std::sync::Arc;

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{CoupledKernel, Kernel, LinearKernel, Step};
use crate::error::Error;

macro_rules! behind {
    ($($pointer:ty),+) => {$(
        impl<K: Kernel + ?Sized> Kernel for $pointer {
            fn normals(&self) -> usize {
                (**self).normals()
            }

            fn uniforms(&self) -> usize {
                (**self).uniforms()
            }

            fn gradients_per_step(&self, potential: &dyn LineIntegral) -> u64 {
                (**self).gradients_per_step(potential)
            }

            fn step(&self, step: Step<'_>) -> Result<u64, Error> {
                (**self).step(step)
            }

            fn smoothness(&self) -> f64 {
                (**self).smoothness()
            }

            fn name(&self) -> &'static str {
                (**self).name()
            }
        }

        impl<K: LinearKernel + ?Sized> LinearKernel for $pointer {
            fn scheme(&self) -> &Scheme {
                (**self).scheme()
            }

            fn coupled(&self) -> Option<&dyn CoupledKernel> {
                (**self).coupled()
            }
        }
    )+};
}

behind! { &K, Box<K>, Arc<K> }
