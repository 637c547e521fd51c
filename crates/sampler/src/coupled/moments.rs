//! The moments of pairs of chains: how they differ, and how well that is known.

use ridgewalk_potentials::Whitening;

use crate::batch::Batch;
use crate::error::Error;

/// How the moments of a coordinate at η differ from those at η/2, with standard errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean at η minus that at η/2.
    pub mean: f64,
    /// Its standard error.
    pub mean_error: f64,
    /// The variance at η minus that at η/2.
    pub variance: f64,
    /// Its standard error.
    pub variance_error: f64,
    /// The standard deviation at η/2: what to measure the others by.
    pub sd: f64,
}

/// Sums over blocks of steps, for each chain: of x and x² at both step sizes, x measured from a fixed point.
#[derive(Debug)]
pub(super) struct Sums {
    /// Known from the first state on.
    origin: Option<Vec<f64>>,
    points: [Vec<f64>; 2],
    /// Block after block, and within it chain after chain: differences of x, differences of x².
    blocks: Vec<[Vec<f64>; 2]>,
    /// x and x² of the chains with short steps, over everything.
    fine: [Vec<f64>; 2],
    count: u64,
    open: usize,
}

impl Sums {
    pub(super) fn new(d: usize) -> Self {
        let zeros = || vec![0.0; d];
        Self {
            origin: None,
            points: [zeros(), zeros()],
            blocks: Vec::new(),
            fine: [zeros(), zeros()],
            count: 0,
            open: 0,
        }
    }

    /// Begins a block for every chain.
    pub(super) fn open(&mut self, chains: usize) {
        self.open = self.blocks.len();
        let d = self.points[0].len();
        self.blocks.extend((0..chains).map(|_| [vec![0.0; d], vec![0.0; d]]));
    }

    pub(super) fn add(
        &mut self,
        coarse: &Batch,
        fine: &Batch,
        whitening: Option<&Whitening>,
    ) -> Result<(), Error> {
        let d = coarse.dimension();
        let pairs = coarse.theta().chunks_exact(d).zip(fine.theta().chunks_exact(d));
        for (chain, (long, short)) in pairs.enumerate() {
            for (point, state) in self.points.iter_mut().zip([long, short]) {
                match whitening {
                    Some(whitening) => whitening.to_original(state, point)?,
                    None => point.copy_from_slice(state),
                }
            }
            // Any point among the draws will do.
            let origin = self.origin.get_or_insert_with(|| self.points[1].clone());
            let [differences, squares] = &mut self.blocks[self.open + chain];
            for k in 0..d {
                let (x, y) = (self.points[0][k] - origin[k], self.points[1][k] - origin[k]);
                differences[k] += x - y;
                squares[k] += x * x - y * y;
                self.fine[0][k] += y;
                self.fine[1][k] += y * y;
            }
            self.count += 1;
        }
        Ok(())
    }

    pub(super) fn differences(&self) -> Result<Vec<Difference>, Error> {
        if self.blocks.len() < 2 {
            return Err(Error::TooFew { what: "blocks of steps", got: self.blocks.len(), need: 2 });
        }
        let count = self.count as f64;
        let per_block = self.count as f64 / self.blocks.len() as f64;
        let found = (0..self.points[0].len()).map(|k| {
            let centre = self.fine[0][k] / count;
            let sd = (self.fine[1][k] / count - centre * centre).max(0.0).sqrt();
            let means = || self.blocks.iter().map(|block| block[0][k] / per_block);
            let (mean, mean_error) = mean_and_error(means);
            // Var' − Var = (difference of E x²) − (m'² − m²), and m' + m is nearly 2 m + difference.
            let slope = 2.0 * centre + mean;
            let variances = || self.blocks.iter().map(|b| (b[1][k] - slope * b[0][k]) / per_block);
            let (variance, variance_error) = mean_and_error(variances);
            Difference { mean, mean_error, variance, variance_error, sd }
        });
        Ok(found.collect())
    }
}

/// The mean of some numbers, and its standard error if they are independent.
fn mean_and_error<I: Iterator<Item = f64>>(numbers: impl Fn() -> I) -> (f64, f64) {
    let count = numbers().count() as f64;
    let mean = numbers().sum::<f64>() / count;
    let squares: f64 = numbers().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}
