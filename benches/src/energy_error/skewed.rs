//! Skewed targets with known moments: logarithms of independent gamma variables.
//!
//! U = Σ (e^θ − k θ). The mean of θ is digamma(k) and its variance trigamma(k). The smaller the
//! shape k, the longer the tail to the left, and the steeper the wall to the right.

use ridgewalk::potentials::{Gradient, GradientError, Scratch, Whitened, Whitening};
use ridgewalk::sampler::automatic::BlackBox;
use ridgewalk_gallery::Reference;
use statrs::function::gamma::digamma;

use crate::Failure;
use crate::problems::{Density, Problem};

/// The number of coordinates.
const DIMENSION: usize = 10;
/// Chebyshev nodes of a line integral.
const NODES: usize = 3;

/// The target with shape k.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogGamma {
    shape: f64,
}

impl Gradient for LogGamma {
    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        gradient.iter_mut().zip(point).for_each(|(g, x)| *g = x.exp() - self.shape);
        Ok(())
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        self.gradient(point, gradient)?;
        Ok(Some(point.iter().map(|x| x.exp() - self.shape * x).sum()))
    }
}

impl Density for LogGamma {
    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64], _: &mut Scratch,
    ) -> Result<f64, Failure> {
        Gradient::value_and_gradient(self, point, gradient)?.ok_or_else(|| "no value".into())
    }
}

impl Density for Whitened<LogGamma> {
    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64], _: &mut Scratch,
    ) -> Result<f64, Failure> {
        Gradient::value_and_gradient(self, point, gradient)?.ok_or_else(|| "no value".into())
    }
}

/// The target in all forms.
#[derive(Debug, Clone)]
pub struct Skewed {
    black_box: BlackBox<LogGamma>,
    plain: LogGamma,
}

impl Skewed {
    /// The target with shape k.
    ///
    /// # Errors
    /// Never.
    pub fn new(shape: f64) -> Result<Self, Failure> {
        let plain = LogGamma { shape };
        Ok(Self { black_box: BlackBox::new(plain, NODES, &[0.0; DIMENSION])?, plain })
    }

    /// Its moments, which are exact.
    #[must_use]
    pub fn reference(&self) -> Reference {
        let shape = self.plain.shape;
        let all = |x: f64| vec![x; DIMENSION];
        Reference {
            means: all(digamma(shape)),
            sds: all(trigamma(shape).sqrt()),
            mean_errors: all(0.0),
            sd_errors: all(0.0),
        }
    }
}

impl Problem for Skewed {
    type Target = BlackBox<LogGamma>;
    type Plain = LogGamma;
    type White = Whitened<LogGamma>;

    fn target(&self) -> &BlackBox<LogGamma> {
        &self.black_box
    }

    fn plain(&self) -> &LogGamma {
        &self.plain
    }

    fn white(&self, whitening: &Whitening) -> Result<Whitened<LogGamma>, Failure> {
        Ok(Whitened::new(self.plain, whitening.clone())?)
    }
}

/// The derivative of digamma: by recurrence to arguments above 20, there by its asymptotic series.
#[must_use]
pub fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 20.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let (r, s) = (1.0 / x, 1.0 / (x * x));
    sum + r * (1.0 + 0.5 * r + s * (1.0 / 6.0 - s * (1.0 / 30.0 - s / 42.0)))
}
