//! Targets in the forms that samplers need: with line integrals for ours, with values and gradients
//! for others, in original and in whitened coordinates. The pass over the data is the same code for
//! all.

use ridgewalk::potentials::families::Family;
use ridgewalk::potentials::{Gradient, LineIntegral, Ridge, Scratch, Whitening};
use ridgewalk::sampler::automatic::{BlackBox, Target};
use ridgewalk_gallery::{self as gallery, Ladder};

use crate::Failure;

/// A potential with its value and its gradient.
pub trait Density: Sync {
    /// The dimension d.
    fn dimension(&self) -> usize;

    /// U at a point, up to a constant, and ∇U there into `gradient`.
    ///
    /// # Errors
    /// If they cannot be evaluated.
    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64], scratch: &mut Scratch,
    ) -> Result<f64, Failure>;
}

impl<F: Family> Density for Ridge<'_, F> {
    fn dimension(&self) -> usize {
        Ridge::dimension(self)
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64], scratch: &mut Scratch,
    ) -> Result<f64, Failure> {
        let mut value = [0.0];
        self.values_and_gradients(point, &mut value, gradient, scratch)?;
        Ok(value[0])
    }
}

impl Density for Ladder {
    fn dimension(&self) -> usize {
        Gradient::dimension(self)
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64], _: &mut Scratch,
    ) -> Result<f64, Failure> {
        Gradient::gradient(self, point, gradient)?;
        // U is quadratic: half the gradient times the distance from the mean.
        Ok(0.5 * gradient.iter().zip(point).map(|(g, x)| g * (x - Ladder::MEAN)).sum::<f64>())
    }
}

/// The ladder in whitened coordinates.
#[derive(Debug, Clone)]
pub struct WhiteLadder {
    gradient: ridgewalk::potentials::Whitened<Ladder>,
    whitening: Whitening,
}

impl Density for WhiteLadder {
    fn dimension(&self) -> usize {
        self.whitening.dimension()
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64], _: &mut Scratch,
    ) -> Result<f64, Failure> {
        let mut theta = vec![0.0; point.len()];
        self.whitening.to_original(point, &mut theta)?;
        let term = |(k, x): (usize, &f64)| 0.5 * Ladder::precision(k) * (x - Ladder::MEAN).powi(2);
        self.gradient.gradient(point, gradient)?;
        Ok(theta.iter().enumerate().map(term).sum())
    }
}

/// A target in all forms.
pub trait Problem: Sync {
    /// The form for automatic warm-ups.
    type Target: Target;
    /// The form with value and gradient.
    type Plain: Density;
    /// The form with value and gradient in whitened coordinates.
    type White: Density;

    /// The target for automatic warm-ups.
    fn target(&self) -> &Self::Target;

    /// The target with value and gradient.
    fn plain(&self) -> &Self::Plain;

    /// The target with value and gradient in whitened coordinates.
    ///
    /// # Errors
    /// If it is not finite there.
    fn white(&self, whitening: &Whitening) -> Result<Self::White, Failure>;

    /// The whitening by the Hessian at the mode, and its cost in gradients, counted as in our own
    /// warm-up.
    ///
    /// # Errors
    /// If there is no mode.
    fn laplace(&self) -> Result<(Whitening, u64), Failure> {
        let (mode, search) = self.target().mode()?;
        let (hessian, more) = self.target().hessian(&mode.point)?;
        Ok((Whitening::from_hessian(&mode.point, &hessian)?, search + more))
    }
}

impl<F: Family + Clone> Problem for Ridge<'static, F> {
    type Target = Self;
    type Plain = Self;
    type White = Self;

    fn target(&self) -> &Self {
        self
    }

    fn plain(&self) -> &Self {
        self
    }

    fn white(&self, whitening: &Whitening) -> Result<Self, Failure> {
        Ok(self.whitened(whitening)?)
    }
}

/// The ladder of the gallery, with three nodes per line integral.
#[derive(Debug, Clone)]
pub struct LadderProblem(BlackBox<Ladder>);

impl LadderProblem {
    /// The ladder, with the search for the mode starting at the origin.
    ///
    /// # Errors
    /// Never.
    pub fn new() -> Result<Self, Failure> {
        Ok(Self(BlackBox::new(Ladder, 3, &[0.0; 100])?))
    }
}

impl Problem for LadderProblem {
    type Target = BlackBox<Ladder>;
    type Plain = Ladder;
    type White = WhiteLadder;

    fn target(&self) -> &BlackBox<Ladder> {
        &self.0
    }

    fn plain(&self) -> &Ladder {
        &Ladder
    }

    fn white(&self, whitening: &Whitening) -> Result<WhiteLadder, Failure> {
        let gradient = ridgewalk::potentials::Whitened::new(Ladder, whitening.clone())?;
        Ok(WhiteLadder { gradient, whitening: whitening.clone() })
    }
}

/// A function of a target, generic over its type.
pub trait Visit {
    /// The result.
    type Output;

    /// Calls the function.
    ///
    /// # Errors
    /// Any error of the function.
    fn visit<P: Problem>(self, problem: &P) -> Result<Self::Output, Failure>;
}

/// Visits the target of this name, one of [`gallery::NAMES`].
///
/// # Errors
/// For an unknown name, and any error of the visitor.
pub fn on<V: Visit>(name: &str, visitor: V) -> Result<V::Output, Failure> {
    fn made<P, E: std::fmt::Display>(target: Result<P, E>) -> Result<P, Failure> {
        target.map_err(|error| error.to_string().into())
    }
    match name {
        "correlated-logistic" => visitor.visit(&made(gallery::correlated_logistic())?),
        "breast-cancer" => visitor.visit(&made(gallery::breast_cancer())?),
        "independent-logistic" => visitor.visit(&made(gallery::independent_logistic())?),
        "poisson" => visitor.visit(&made(gallery::poisson())?),
        "poisson-large" => visitor.visit(&made(gallery::poisson_large())?),
        "probit" => visitor.visit(&made(gallery::probit())?),
        "huber" => visitor.visit(&made(gallery::huber())?),
        "huber-large" => visitor.visit(&made(gallery::huber_large())?),
        "ladder" => visitor.visit(&LadderProblem::new()?),
        other => {
            Err(format!("no target `{other}`: need one of {}", gallery::NAMES.join(", ")).into())
        }
    }
}
