//! What a warm-up needs of a target: its mode, its Hessian there, itself in other coordinates, and
//! what each of them costs in gradients.

use std::cell::Cell;
use std::fmt::Debug;
use std::sync::Arc;

use ridgewalk_potentials::families::Family;
use ridgewalk_potentials::{
    Chebyshev, Factored, Gradient, GradientError, LineIntegral, Method, Mixed, Mode, ModeSearch,
    Ridge, Whitened, WhitenedMixed, WhitenedRidge, Whitening, Wide,
};

use crate::error::{Error, Quantity};

/// A target that a warm-up can tune itself to.
pub trait Target: Sync {
    /// The same target in other coordinates.
    type White: LineIntegral + Sync;

    /// The dimension d.
    fn dimension(&self) -> usize;

    /// The map from the coordinates of this trait's points to those of draws, where they differ.
    fn frame(&self) -> Option<&Whitening> {
        None
    }

    /// The mode, and how many gradients it took to find.
    ///
    /// # Errors
    /// If there is none, or the target cannot be evaluated.
    fn mode(&self) -> Result<(Mode, u64), Error>;

    /// The Hessian at a point, row by row, and how many gradients it took: by the coordinates after
    /// the first [`Target::round`] ones.
    ///
    /// # Errors
    /// If the target cannot be evaluated.
    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error>;

    /// The mean of the Hessians at some points, one after the other, and how many gradients it took;
    /// `None`, as by default, if that is no cheaper than to add them up.
    ///
    /// # Errors
    /// If the target cannot be evaluated.
    fn mean_hessian(&self, points: &[f64]) -> Result<Option<(Vec<f64>, u64)>, Error> {
        let _ = points;
        Ok(None)
    }

    /// Whether [`Target::mean_hessian`] has an answer.
    fn has_mean_hessian(&self) -> bool {
        false
    }

    /// The number of leading coordinates in which the target is nearly standard normal already,
    /// whatever the others are. Only the others are given new coordinates, from Hessians and the
    /// spread of points.
    fn round(&self) -> usize {
        0
    }

    /// How many Hessians beside that at the mode are worth their cost, at most `most`.
    fn affordable_hessians(&self, most: usize) -> usize;

    /// Whether values of U are known, which exact sampling needs, and the gradients that it took to
    /// see that.
    fn has_values(&self) -> (bool, u64) {
        (true, 0)
    }

    /// Whether U is known to be convex and finite everywhere: a run can then be held to bounds that
    /// all such targets obey.
    fn log_concave(&self) -> bool {
        false
    }

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

/// Up to this many coordinates Hessians are added up one by one.
const ONE_BY_ONE: usize = 500;

/// The mode of a ridge-separable potential by this search, and how many gradients it cost: for
/// [`Target::mode`] of a target that has one.
///
/// # Errors
/// Those of [`ModeSearch::of_ridge`].
pub fn ridge_mode<F: Family + Clone>(
    ridge: &Ridge<'_, F>, search: &ModeSearch,
) -> Result<(Mode, u64), Error> {
    if let Some(factored) = ridge.factored()? {
        return Ok(factored.mode(ridge, search)?);
    }
    let (mode, d) = match ridge.wide() {
        Some(wide) => (wide.mode(ridge, search)?, LineIntegral::dimension(wide.core())),
        None => (search.of_ridge(ridge)?, LineIntegral::dimension(ridge)),
    };
    let iterations = mode.iterations as u64;
    let spent = if mode.method == Method::Newton {
        (1 + hessian_cost(d)) * iterations
    } else if mode.method == Method::Lbfgs {
        2 * iterations
    } else {
        mode.gradients
    };
    Ok((mode, spent))
}

/// The coordinates of a model with many sparse columns, once they are found.
fn factored<'r, F: Family>(ridge: &'r Ridge<'_, F>) -> Option<&'r Factored> {
    // Where they cannot be found, the search for the mode has said why.
    ridge.factored().ok().flatten()
}

/// A model with many sparse columns in its coordinates ([`Ridge::factored`]), one that is
/// [`Ridge::wide`] in those of its parts.
impl<'a, F: Family + Clone> Target for Ridge<'a, F> {
    type White = WhitenedRidge<'a, F>;

    fn dimension(&self) -> usize {
        LineIntegral::dimension(self)
    }

    fn frame(&self) -> Option<&Whitening> {
        match factored(self) {
            Some(factored) => Some(factored.frame()),
            None => self.wide().map(Wide::frame),
        }
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        ridge_mode(self, &ModeSearch::new())
    }

    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        if factored(self).is_some() {
            return Ok((Vec::new(), 0));
        }
        match self.wide() {
            Some(wide) => Target::hessian(wide.core(), &point[wide.round()..]),
            None => Ok((Ridge::hessian(self, point)?, hessian_cost(self.dimension()))),
        }
    }

    fn mean_hessian(&self, points: &[f64]) -> Result<Option<(Vec<f64>, u64)>, Error> {
        if !self.has_mean_hessian() {
            return Ok(None);
        }
        let d = self.dimension();
        let Some(wide) = self.wide() else {
            // A product with the rows is half of a gradient.
            let spent = hessian_cost(d) + (points.len() / d / 2) as u64;
            return Ok(Some((Ridge::mean_hessian(self, points)?, spent)));
        };
        let alphas: Vec<f64> =
            points.chunks_exact(d).flat_map(|point| &point[wide.round()..]).copied().collect();
        let core = wide.core();
        let spent = hessian_cost(LineIntegral::dimension(core)) + (points.len() / d / 2) as u64;
        Ok(Some((core.mean_hessian(&alphas)?, spent)))
    }

    fn has_mean_hessian(&self) -> bool {
        self.dimension() > ONE_BY_ONE && factored(self).is_none()
    }

    fn round(&self) -> usize {
        if factored(self).is_some() {
            return self.dimension();
        }
        self.wide().map_or(0, Wide::round)
    }

    fn affordable_hessians(&self, most: usize) -> usize {
        if factored(self).is_some() { 0 } else { most }
    }

    /// Every family has a convex loss.
    fn log_concave(&self) -> bool {
        true
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
        if let Some(factored) = self.factored()? {
            return Ok(self.in_coordinates(&factored.frame().then(whitening)?)?);
        }
        Ok(match self.wide() {
            Some(wide) => WhitenedRidge::Wide(wide.whitened(whitening)?),
            None => self.in_coordinates(whitening)?,
        })
    }
}

/// In the coordinates (ζ, t) of its chart: those of ζ are round already. Draws are of (ζ, t);
/// [`Mixed::to_plain`] makes coefficients of them.
impl Target for Arc<Mixed> {
    type White = WhitenedMixed;

    fn dimension(&self) -> usize {
        Mixed::dimension(self)
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        let chart = self.chart()?;
        let mut point = vec![0.0; self.head()];
        point.extend_from_slice(chart.centre());
        let mut mode = Mode::given(point, 0.0);
        mode.properness = self.properness();
        Ok((mode, chart.gradients()))
    }

    fn hessian(&self, _: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        Ok((self.chart()?.hessian().to_vec(), 0))
    }

    fn round(&self) -> usize {
        self.head()
    }

    fn affordable_hessians(&self, _: usize) -> usize {
        0
    }

    fn log_concave(&self) -> bool {
        Mixed::log_concave(self)
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
        Ok(WhitenedMixed::new(self.clone(), whitening.clone())?)
    }
}

/// Targets behind pointers.
macro_rules! behind {
    ($($pointer:ty: $($bound:ident)?),+) => {$(
        impl<T: Target $(+ $bound)? + ?Sized> Target for $pointer {
            type White = T::White;

            fn dimension(&self) -> usize {
                (**self).dimension()
            }

            fn frame(&self) -> Option<&Whitening> {
                (**self).frame()
            }

            fn mode(&self) -> Result<(Mode, u64), Error> {
                (**self).mode()
            }

            fn mean_hessian(&self, points: &[f64]) -> Result<Option<(Vec<f64>, u64)>, Error> {
                (**self).mean_hessian(points)
            }

            fn has_mean_hessian(&self) -> bool {
                (**self).has_mean_hessian()
            }

            fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
                (**self).hessian(point)
            }

            fn round(&self) -> usize {
                (**self).round()
            }

            fn affordable_hessians(&self, most: usize) -> usize {
                (**self).affordable_hessians(most)
            }

            fn has_values(&self) -> (bool, u64) {
                (**self).has_values()
            }

            fn log_concave(&self) -> bool {
                (**self).log_concave()
            }

            fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
                (**self).whitened(whitening)
            }
        }
    )+};
}

behind! { &T: , Box<T>: , Arc<T>: Send }

/// A function that writes the Hessian at a point, row by row.
type Hessian = Arc<dyn Fn(&[f64], &mut [f64]) -> Result<(), String> + Send + Sync>;

/// A target known by its gradient, from a type or a closure, with the number of nodes of its line
/// integrals. Its mode is searched for, and Hessians are differences of gradients, unless they are
/// given.
///
/// ```
/// use ridgewalk_potentials::FromFn;
/// use ridgewalk_sampler::automatic::{BlackBox, Target};
///
/// let gradient = FromFn::new(1, |x: &[f64], g: &mut [f64]| { g[0] = 4.0 * (x[0] - 1.0); Ok(()) });
/// let target = BlackBox::new(gradient, 3, &[0.0])?
///     .with_mode(&[1.0])?
///     .with_hessian(|_, h| { h[0] = 4.0; Ok(()) });
/// assert_eq!(target.mode()?.0.point, [1.0]);
/// assert_eq!(target.hessian(&[7.0])?.0, [4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BlackBox<G> {
    gradient: G,
    nodes: usize,
    start: Vec<f64>,
    mode: Option<Vec<f64>>,
    hessian: Option<Hessian>,
}

impl<G: Debug> Debug for BlackBox<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlackBox")
            .field("gradient", &self.gradient)
            .field("nodes", &self.nodes)
            .field("start", &self.start)
            .field("mode", &self.mode)
            .field("hessian", &self.hessian.as_ref().map(|_| "given"))
            .finish()
    }
}

impl<G: Gradient + Sync + Clone> BlackBox<G> {
    /// The target with this gradient of minus its log-density; the mode is looked for from `start`.
    ///
    /// # Errors
    /// For a start of another dimension, or a number of nodes that cannot be used.
    pub fn new(gradient: G, nodes: usize, start: &[f64]) -> Result<Self, Error> {
        if gradient.dimension() == 0 {
            return Err(Error::Zero { what: Quantity::Dimension });
        }
        crate::error::length("the start", start.len(), gradient.dimension())?;
        Chebyshev::new(gradient.clone(), nodes)?;
        Ok(Self { gradient, nodes, start: start.to_vec(), mode: None, hessian: None })
    }

    /// The same target with a mode that is known, instead of a search for it. It need not be exact:
    /// a hundredth of a standard deviation is near enough for coordinates.
    ///
    /// # Errors
    /// For a point of another dimension.
    pub fn with_mode(mut self, mode: &[f64]) -> Result<Self, Error> {
        crate::error::length("the mode", mode.len(), self.gradient.dimension())?;
        self.mode = Some(mode.to_vec());
        Ok(self)
    }

    /// The same target with a function for its Hessian, instead of differences of gradients. It
    /// writes d² numbers, row by row; an error of it ends the warm-up. A call is taken to cost d/4
    /// gradients, and coordinates are then made from several Hessians.
    #[must_use]
    pub fn with_hessian(
        mut self,
        hessian: impl Fn(&[f64], &mut [f64]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.hessian = Some(Arc::new(hessian));
        self
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

/// Two steps along the gradient, in which U must change as its gradient says, roughly: a value or a
/// gradient with the wrong sign, or of another function, is found before it is sampled. Nothing is
/// said where there are no values, where steps leave the support, or where rounding decides.
/// Gives the number of gradients.
fn values_and_gradients_agree<G: Gradient>(gradient: &G, start: &[f64]) -> Result<u64, Error> {
    let mut slope = vec![0.0; start.len()];
    let Ok(Some(value)) = gradient.value_and_gradient(start, &mut slope) else { return Ok(1) };
    let norm = slope.iter().map(|g| g * g).sum::<f64>().sqrt();
    let size = start.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    let (mut at, mut there) = (start.to_vec(), slope.clone());
    let mut last = None;
    for (step, calls) in [(1e-3 * size, 2), (1e-5 * size, 3)] {
        at.iter_mut()
            .zip(start.iter().zip(&slope))
            .for_each(|(at, (x, g))| *at = x + step * g / norm);
        let Ok(Some(beyond)) = gradient.value_and_gradient(&at, &mut there) else {
            return Ok(calls);
        };
        let mean: f64 = slope.iter().zip(&there).map(|(g, h)| 0.5 * (g + h) * g / norm).sum();
        let (found, need) = (beyond - value, step * mean);
        let rounding = 1e-9 * value.abs().max(beyond.abs()).max(1e-300);
        if !(need.abs() > rounding) || (found / need - 1.0).abs() < 0.5 {
            return Ok(calls);
        }
        last = Some(Error::OtherGradient { step, found, need });
    }
    last.map_or(Ok(3), Err)
}

impl<G: Gradient + Sync + Clone> Target for BlackBox<G> {
    type White = Chebyshev<Whitened<G>>;

    fn dimension(&self) -> usize {
        self.gradient.dimension()
    }

    fn mode(&self) -> Result<(Mode, u64), Error> {
        if let Some(point) = &self.mode {
            let mut gradient = vec![0.0; point.len()];
            self.gradient.gradient(point, &mut gradient).map_err(|error| error.at(point))?;
            let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
            return Ok((Mode::given(point.clone(), norm), 1));
        }
        let counted = Counted { gradient: &self.gradient, calls: Cell::new(0) };
        let checked = values_and_gradients_agree(&self.gradient, &self.start)?;
        // A hundredth of a standard deviation is near enough for coordinates.
        let search = ModeSearch::new().with_tolerance(0.01)?.with_start(self.start.clone());
        let mode = search.of_gradient(&counted)?;
        Ok((mode, checked + counted.calls.get()))
    }

    /// The given one, or by central differences, made symmetric. At the edge of the support the
    /// difference is that of the side within.
    fn hessian(&self, point: &[f64]) -> Result<(Vec<f64>, u64), Error> {
        let d = self.dimension();
        if let Some(hessian) = &self.hessian {
            let mut found = vec![0.0; d * d];
            hessian(point, &mut found).map_err(|message| {
                ridgewalk_potentials::Error::Gradient { point: point.to_vec(), message }
            })?;
            return Ok((found, hessian_cost(d)));
        }
        let mut at = point.to_vec();
        let [mut up, mut down] = [vec![0.0; d], vec![0.0; d]];
        let mut hessian = vec![0.0; d * d];
        for k in 0..d {
            let h = STEP * point[k].abs().max(1.0);
            let mut width = 0.0;
            for (shift, into) in [(h, &mut up), (-h, &mut down)] {
                at[k] = point[k] + shift;
                width += h;
                match self.gradient.gradient(&at, into) {
                    Err(GradientError::OutsideSupport) => {
                        at[k] = point[k];
                        width -= h;
                        self.gradient.gradient(&at, into).map_err(|error| error.at(&at))?;
                    }
                    found => found.map_err(|error| error.at(&at))?,
                }
            }
            at[k] = point[k];
            if width == 0.0 {
                return Err(GradientError::OutsideSupport.at(&at).into());
            }
            for j in 0..d {
                hessian[k * d + j] = (up[j] - down[j]) / width;
            }
        }
        for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let mean = 0.5 * (hessian[i * d + j] + hessian[j * d + i]);
            (hessian[i * d + j], hessian[j * d + i]) = (mean, mean);
        }
        if let Some(coordinate) = (0..d).find(|k| !(hessian[k * d + k] > 0.0)) {
            let (at, curvature) = (point[coordinate], hessian[coordinate * d + coordinate]);
            return Err(Error::NoMinimum { coordinate, at, curvature });
        }
        Ok((hessian, 2 * d as u64))
    }

    /// Asked at the start of the search. A gradient that fails there is left to the search to
    /// report.
    fn has_values(&self) -> (bool, u64) {
        let mut gradient = vec![0.0; self.dimension()];
        (!matches!(self.gradient.value_and_gradient(&self.start, &mut gradient), Ok(None)), 1)
    }

    /// None of those by differences: each takes 2 d gradients.
    fn affordable_hessians(&self, most: usize) -> usize {
        if self.hessian.is_some() { most } else { 0 }
    }

    fn whitened(&self, whitening: &Whitening) -> Result<Self::White, Error> {
        Ok(Chebyshev::new(Whitened::new(self.gradient.clone(), whitening.clone())?, self.nodes)?)
    }
}
