//! The moments of pairs of chains: how they differ, and how well that is known.

use ridgewalk_potentials::Whitening;

use crate::batch::Batch;
use crate::error::{Error, Quantity};

/// The points at which distributions are compared, in standard deviations of the normal law that the
/// coordinates are made for: its 5 %, 50 % and 95 % quantiles.
const POINTS: [f64; 3] = [-1.644_853_626_951_472_7, 0.0, 1.644_853_626_951_472_7];
/// How soft the threshold there is, in the same unit.
const SOFT: f64 = 0.3;
/// The density at such a point counts as this part of that of the normal law at least: where there
/// is less, there is no quantile.
const FLOOR: f64 = 0.25;

/// A difference with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Shift {
    /// The difference.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub value: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub error: f64,
}

/// A soft threshold at 0, from −1 to 1, and its slope: bounded, so that a chain far away counts no
/// more than one on the other side.
fn threshold(u: f64) -> [f64; 2] {
    let root = (1.0 + u * u).sqrt();
    [u / root, 1.0 / (root * root * root)]
}

/// The means of a threshold at `point` and of its slope under N(0, `variance`), by the trapezoidal
/// rule.
fn under_normal(variance: f64, point: f64) -> [f64; 2] {
    const NODES: i32 = 400;
    let sd = variance.max(0.0).sqrt();
    let mut sums = [0.0; 3];
    for node in -NODES..=NODES {
        let z = 8.0 * f64::from(node) / f64::from(NODES);
        let weight = (-0.5 * z * z).exp();
        let [value, slope] = threshold((sd * z - point) / SOFT);
        sums = [sums[0] + weight * value, sums[1] + weight * slope, sums[2] + weight];
    }
    [sums[0] / sums[2], sums[1] / sums[2]]
}

/// How the moments of a coordinate at η differ from those at η/2, with standard errors.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Difference {
    /// The mean at η minus that at η/2.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub mean_error: f64,
    /// The variance at η minus that at η/2.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub variance: f64,
    /// Its standard error.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub variance_error: f64,
    /// The standard deviation at η/2: what to measure the others by.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub sd: f64,
    /// How far the law at η is shifted from that at η/2 where the normal law of the coordinates
    /// has its 5 %, 50 % and 95 % quantiles: the difference of the two distribution functions
    /// there, made a little soft, divided by the density.
    pub quantiles: [Shift; 3],
    /// How many independent pieces of paths this is from.
    pub blocks: usize,
}

impl Difference {
    /// After a divergence.
    pub(super) const UNKNOWN: Self = Self {
        mean: f64::NAN,
        mean_error: f64::NAN,
        variance: f64::NAN,
        variance_error: f64::NAN,
        sd: f64::NAN,
        quantiles: [Shift { value: f64::NAN, error: f64::NAN }; 3],
        blocks: 1,
    };

    /// What two independent measurements of the same thing say together.
    ///
    /// Each counts by its number of blocks and not by its error: errors from few blocks are noisy,
    /// and one that is too small by chance would make its measurement count for more.
    #[must_use]
    pub fn together(&self, other: &Self) -> Self {
        let blocks = self.blocks + other.blocks;
        let share = self.blocks as f64 / blocks as f64;
        let mean = |a: f64, b: f64| share * a + (1.0 - share) * b;
        let error = |a: f64, b: f64| (share * a).hypot((1.0 - share) * b);
        Self {
            mean: mean(self.mean, other.mean),
            mean_error: error(self.mean_error, other.mean_error),
            variance: mean(self.variance, other.variance),
            variance_error: error(self.variance_error, other.variance_error),
            sd: mean(self.sd, other.sd),
            quantiles: [0, 1, 2].map(|p| {
                let (a, b) = (self.quantiles[p], other.quantiles[p]);
                Shift { value: mean(a.value, b.value), error: error(a.error, b.error) }
            }),
            blocks,
        }
    }
}

/// Sums over blocks of steps, for each chain: of differences of x and of x², x measured from a
/// fixed point, and of thresholds.
#[derive(Debug)]
pub(super) struct Sums {
    /// Known from the first state on.
    origin: Option<Vec<f64>>,
    points: [Vec<f64>; 2],
    /// Block after block, and within it chain after chain.
    blocks: Vec<Block>,
    /// x and x² of the chains with short steps, over everything.
    fine: [Vec<f64>; 2],
    /// Slopes of the thresholds at these chains, over everything.
    slopes: [Vec<f64>; 3],
    /// The centre and the standard deviation of the normal law that the coordinates are made for.
    normal: [Vec<f64>; 2],
    /// The differences of variances that the twins have; empty without twins.
    known: Vec<f64>,
    /// The differences of thresholds that they have.
    known_thresholds: [f64; 3],
    count: u64,
    open: usize,
}

/// Sums of differences of x and of x², and of the three thresholds.
type Five = [Vec<f64>; 5];

/// Sums of a pair, and of its twin.
#[derive(Debug, Default)]
struct Block {
    pair: Five,
    twin: Five,
}

impl Sums {
    /// For coordinates made for the normal law N(0, `sd`² I).
    pub(super) fn new(d: usize, sd: f64) -> Self {
        let zeros = || vec![0.0; d];
        Self {
            origin: None,
            points: [zeros(), zeros()],
            blocks: Vec::new(),
            fine: [zeros(), zeros()],
            slopes: [zeros(), zeros(), zeros()],
            normal: [zeros(), vec![sd; d]],
            known: Vec::new(),
            known_thresholds: [0.0; 3],
            count: 0,
            open: 0,
        }
    }

    /// Sets the normal law that the coordinates are made for.
    pub(super) fn normal(&mut self, centre: Vec<f64>, sds: Vec<f64>) {
        self.normal = [centre, sds];
    }

    /// Announces twins, by the differences of their variances and by these variances in units of
    /// those of the normal law: with long steps and with short ones.
    pub(super) fn control(&mut self, known: Vec<f64>, [long, short]: [f64; 2]) {
        self.known = known;
        self.known_thresholds =
            POINTS.map(|point| under_normal(long, point)[0] - under_normal(short, point)[0]);
    }

    /// Begins a block for every chain.
    pub(super) fn open(&mut self, chains: usize) {
        self.open = self.blocks.len();
        let zeros = || [(); 5].map(|()| vec![0.0; self.points[0].len()]);
        let twin = || if self.known.is_empty() { Default::default() } else { zeros() };
        let fresh: Vec<Block> =
            (0..chains).map(|_| Block { pair: zeros(), twin: twin() }).collect();
        self.blocks.extend(fresh);
    }

    /// The states after a step: with long steps and with short ones.
    pub(super) fn add(
        &mut self, pair: [&Batch; 2], twins: Option<[&Batch; 2]>, whitening: Option<&Whitening>,
    ) -> Result<(), Error> {
        for chain in 0..pair[0].chains() {
            self.look(pair, chain, whitening)?;
            // Any point among the draws will do.
            let origin = self.origin.get_or_insert_with(|| self.points[1].clone());
            let block = &mut self.blocks[self.open + chain];
            accumulate(&self.points, origin, &self.normal, &mut block.pair);
            for (slopes, point) in self.slopes.iter_mut().zip(POINTS) {
                let places = self.points[1].iter().zip(&self.normal[0]).zip(&self.normal[1]);
                for (slope, ((y, centre), sd)) in slopes.iter_mut().zip(places) {
                    *slope += threshold(((y - centre) / sd - point) / SOFT)[1];
                }
            }
            for ((y, origin), (sum, square)) in
                self.points[1].iter().zip(&*origin).zip(split(&mut self.fine))
            {
                *sum += y - origin;
                *square += (y - origin) * (y - origin);
            }
            if let Some(twins) = twins {
                self.look(twins, chain, whitening)?;
                let (Some(origin), block) = (&self.origin, &mut self.blocks[self.open + chain])
                else {
                    continue;
                };
                accumulate(&self.points, origin, &self.normal, &mut block.twin);
            }
            self.count += 1;
        }
        Ok(())
    }

    /// A chain of two batches, in the original coordinates, into `points`.
    fn look(
        &mut self, pair: [&Batch; 2], chain: usize, whitening: Option<&Whitening>,
    ) -> Result<(), Error> {
        for (point, batch) in self.points.iter_mut().zip(pair) {
            let state = &batch.theta()[batch.range(chain)];
            match whitening {
                Some(whitening) => whitening.to_original(state, point)?,
                None => point.copy_from_slice(state),
            }
        }
        Ok(())
    }

    pub(super) fn differences(&self) -> Result<Vec<Difference>, Error> {
        if self.blocks.len() < 2 {
            return Err(Error::TooFew { what: Quantity::Blocks, got: self.blocks.len(), need: 2 });
        }
        let count = self.count as f64;
        let d = self.points[0].len();
        let moments = |k: usize| {
            let centre = self.fine[0][k] / count;
            (centre, (self.fine[1][k] / count - centre * centre).max(0.0).sqrt())
        };
        let means = self.estimate(|k, [x, ..]| x[k], |_| 0.0);
        // Var' − Var = (difference of E x²) − (m'² − m²), and m' + m is nearly 2 m + difference.
        let slopes: Vec<f64> = (0..d).map(|k| 2.0 * moments(k).0 + means[k].0).collect();
        let known = |k: usize| self.known.get(k).copied().unwrap_or(0.0);
        let variances = self.estimate(|k, [x, squares, ..]| squares[k] - slopes[k] * x[k], known);
        let quantiles = [0, 1, 2].map(|p| self.quantile(p));
        let found =
            means.iter().zip(variances).enumerate().map(|(k, (mean, variance))| Difference {
                mean: mean.0,
                mean_error: mean.1,
                variance: variance.0,
                variance_error: variance.1,
                sd: moments(k).1,
                quantiles: [0, 1, 2].map(|p| quantiles[p][k]),
                blocks: self.blocks.len(),
            });
        Ok(found.collect())
    }

    /// The shift at one of the points, for each coordinate.
    fn quantile(&self, p: usize) -> Vec<Shift> {
        let found = self.estimate(|k, sums| sums[2 + p][k], |_| self.known_thresholds[p]);
        let least = FLOOR * under_normal(1.0, POINTS[p])[1];
        let shift = |(k, (value, error)): (usize, (f64, f64))| {
            let slope = (self.slopes[p][k] / self.count as f64).max(least);
            let unit = SOFT * self.normal[1][k] / slope;
            Shift { value: unit * value, error: unit * error }
        };
        found.into_iter().enumerate().map(shift).collect()
    }

    /// The mean over steps of a number for each coordinate, made of the sums of a block, and its
    /// error. From each block's mean a multiple of what its twin has beyond the `known` is taken,
    /// the same multiple for all coordinates: the one that leaves least noise.
    fn estimate(
        &self, of: impl Fn(usize, &Five) -> f64, known: impl Fn(usize) -> f64,
    ) -> Vec<(f64, f64)> {
        let per_block = self.count as f64 / self.blocks.len() as f64;
        let d = self.points[0].len();
        let pairs: Vec<Vec<f64>> = (0..d)
            .map(|k| self.blocks.iter().map(|block| of(k, &block.pair) / per_block).collect())
            .collect();
        if self.known.is_empty() {
            return pairs.iter().map(|blocks| mean_and_error(blocks)).collect();
        }
        let twins: Vec<Vec<f64>> = (0..d)
            .map(|k| {
                self.blocks.iter().map(|block| of(k, &block.twin) / per_block - known(k)).collect()
            })
            .collect();
        let (mut together, mut alone) = (0.0, 0.0);
        for (pair, twin) in pairs.iter().zip(&twins) {
            let (covariance, variance) = covariance_and_variance(pair, twin);
            if variance > 0.0 {
                // In units of each coordinate's own spread.
                together += covariance / variance;
                alone += 1.0;
            }
        }
        let share = if alone > 0.0 { together / alone } else { 0.0 };
        let left = pairs.iter().zip(&twins).map(|(pair, twin)| {
            let left: Vec<f64> = pair.iter().zip(twin).map(|(p, t)| p - share * t).collect();
            mean_and_error(&left)
        });
        left.collect()
    }
}

/// Adds x − y and x² − y² of two points, measured from a third, and the differences of the
/// thresholds.
fn accumulate(
    [xs, ys]: &[Vec<f64>; 2], origin: &[f64], [centre, sds]: &[Vec<f64>; 2], sums: &mut Five,
) {
    let [differences, squares, thresholds @ ..] = sums;
    for (k, (x, y)) in xs.iter().zip(ys).enumerate() {
        let [u, v] = [x, y].map(|x| (x - centre[k]) / sds[k]);
        for (sums, point) in thresholds.iter_mut().zip(POINTS) {
            sums[k] += threshold((u - point) / SOFT)[0] - threshold((v - point) / SOFT)[0];
        }
        let (x, y) = (x - origin[k], y - origin[k]);
        differences[k] += x - y;
        squares[k] += x * x - y * y;
    }
}

/// The entries of two lists side by side.
fn split([a, b]: &mut [Vec<f64>; 2]) -> impl Iterator<Item = (&mut f64, &mut f64)> {
    a.iter_mut().zip(b)
}

/// The mean of some numbers, and its standard error if they are independent.
fn mean_and_error(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// The covariance of two lists and the variance of the second, both times the number of entries.
fn covariance_and_variance(a: &[f64], b: &[f64]) -> (f64, f64) {
    let count = a.len() as f64;
    let (ma, mb) = (a.iter().sum::<f64>() / count, b.iter().sum::<f64>() / count);
    let covariance = a.iter().zip(b).map(|(a, b)| (a - ma) * (b - mb)).sum();
    (covariance, b.iter().map(|b| (b - mb) * (b - mb)).sum())
}

#[cfg(test)]
mod tests {
    use super::{Difference, Shift, mean_and_error};

    #[test]
    fn two_measurements_count_by_their_blocks() {
        let one = Difference {
            mean: 1.0,
            mean_error: 0.4,
            variance: 2.0,
            variance_error: 0.8,
            sd: 1.0,
            quantiles: [Shift { value: 1.0, error: 0.4 }; 3],
            blocks: 12,
        };
        let other = Difference {
            mean: 2.0,
            mean_error: 0.4,
            variance: 4.0,
            variance_error: 0.0,
            sd: 2.0,
            quantiles: [Shift { value: 2.0, error: 0.4 }; 3],
            blocks: 4,
        };
        let both = one.together(&other);
        assert_eq!((both.mean, both.variance, both.sd, both.blocks), (1.25, 2.5, 1.25, 16));
        assert!((both.mean_error - 0.3_f64.hypot(0.1)).abs() < 1e-15);
        assert_eq!(both.quantiles[1], Shift { value: both.mean, error: both.mean_error });
        // An error of 0, as few blocks may have it by chance, does not make a measurement count
        // alone.
        assert!((both.variance_error - 0.6).abs() < 1e-15);
        assert_eq!(both, other.together(&one));
        // What is unknown leaves nothing known.
        let unknown = one.together(&Difference::UNKNOWN);
        assert!(unknown.mean.is_nan() && unknown.variance_error.is_nan());
    }

    #[test]
    fn a_mean_has_the_error_of_independent_numbers() {
        assert_eq!(mean_and_error(&[1.0, 2.0, 3.0]), (2.0, (1.0_f64 / 3.0).sqrt()));
    }
}
