//! What a warm-up needs of a target: its mode, its Hessian there, and itself in other coordinates.
//! And what each costs, in gradients.

use std::cell::Cell;

use ridgewalk_potentials::families::Family;
use ridgewalk_potentials::{
    Chebyshev, Gradient, GradientError, LineIntegral, Method, Mode, ModeSearch, Ridge, Whitened,
    Whitening,
};

use crate::error::Error;

/// A target that a warm-up can tune itself to.
pub trait Target: Sync {
    /// The same target in other coordinates.
    type White: LineIntegral + Sync;

    /// The dimension d.
    fn dimension(&self) -> usize;

    /// The mode, and how many gradients it took to find.
    ///
    /// # Errors
    /// If there is none, or the target cannot be evaluated.
    fn mode(&self) -> Result<(Mode, u64), Error>;

    /// The Hessian at a point, row by row, and how many gradients it took.
    ///
    /// # Errors
    /// If the target cannot be evaluated.
    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error>;

    /// How many Hessians beside that at the mode are worth their cost, at most `most`.
    fn affordable_hessians(&self, most: usize) -> usize;

    /// The target as a function of z.
    ///
    /// # Errors
    /// If it is not finite there.
    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error>;
}

/// A Hessian of a ridge-separable potential takes n d² multiplications (half of them by symmetry),
/// a gradient 2 n d.
fn hessian_cost(dimension: usize) -> u64 {
    (dimension as u64).div_ceil(4).max(1)
}

impl<F: Family + Clone> Target for Ridge<'_, F> {
    type White = Ridge<'static, F>;

    fn dimension(&self) -> usize {
        LineIntegral::dimension(self)
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        let mode = Ridge::mode(self)?;
        let each =
            if mode.method == Method::Newton { 1 + hessian_cost(self.dimension()) } else { 2 };
        let spent = each * mode.iterations as u64;
        Ok((mode, spent))
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        Ok((Ridge::hessian(self, point)?, hessian_cost(self.dimension())))
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        most
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
        Ok(Ridge::whitened(self, whitening)?)
    }
}

/// A target known by its gradient alone, from a type or a closure, with the number of nodes of its
/// line integrals.
#[derive(Debug, Clone)]
pub struct BlackBox<G> {
    gradient: G,
    nodes: usize,
    start: Vec<f64>,
}

impl<G: Gradient + Sync + Clone> BlackBox<G> {
    /// The target with this gradient of minus its log-density; the mode is looked for from `start`.
    ///
    /// # Errors
    /// For a start of another dimension, or a number of nodes that cannot be used.
    pub fn new(gradient: G, nodes: usize, start: &[f64]) -> Result<Self, Error> {
        crate::error::length("the start", start.len(), gradient.dimension())?;
        Chebyshev::new(gradient.clone(), nodes)?;
        Ok(Self { gradient, nodes, start: start.to_vec() })
    }
}

/// A gradient that counts its calls.
struct Counted<'a, G> {
    gradient: &'a G,
    calls: Cell<u64>,
}

impl<G: Gradient> Gradient for Counted<'_, G> {
    fn dimension(&self) -> usize {
        self.gradient.dimension()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        self.calls.set(self.calls.get() + 1);
        self.gradient.gradient(point, gradient)
    }
}

/// Step of the differences that make a Hessian of gradients, as a fraction of a coordinate's size:
/// the cube root of the rounding unit.
const STEP: f64 = 6e-6;

impl<G: Gradient + Sync + Clone> Target for BlackBox<G> {
    type White = Chebyshev<Whitened<G>>;

    fn dimension(&self) -> usize {
        self.gradient.dimension()
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        // A hundredth of a standard deviation is near enough for coordinates.
        let search = ModeSearch::new().with_tolerance(0.01)?.with_start(self.start.clone());
        let counted = Counted { gradient: &self.gradient, calls: Cell::new(0) };
        let mode = search.of_gradient(&counted)?;
        Ok((mode, counted.calls.get()))
    }

    /// By central differences, made symmetric.
    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        let d = self.dimension();
        let mut at = point.to_vec();
        let [mut up, mut down] = [vec![0.0; d], vec![0.0; d]];
        let mut hessian = vec![0.0; d * d];
        for k in 0..d {
            let h = STEP * point[k].abs().max(1.0);
            for (shift, into) in [(h, &mut up), (-h, &mut down)] {
                at[k] = point[k] + shift;
                self.gradient.gradient(&at, into).map_err(|error| error.at(&at))?;
            }
            at[k] = point[k];
            for j in 0..d {
                hessian[k * d + j] = (up[j] - down[j]) / (2.0 * h);
            }
        }
        for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let mean = 0.5 * (hessian[i * d + j] + hessian[j * d + i]);
            (hessian[i * d + j], hessian[j * d + i]) = (mean, mean);
        }
        Ok((hessian, 2 * d as u64))
    }

    /// None: each takes 2 d gradients.
    fn affordable_hessians(&self, _: usize) -> usize {
        0
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
        Ok(Chebyshev::new(Whitened::new(self.gradient.clone(), whitening.clone())?, self.nodes)?)
    }
}
