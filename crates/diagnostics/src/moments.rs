//! Streaming mean and variance of each coordinate.

use crate::error::{Error, check_dimension};

/// Mean, variance, smallest and largest value of every coordinate, in one pass and with a few
/// numbers per coordinate.
///
/// Uses Welford's recursion on distances from the first draw, and Chan's formula to merge. Plain
/// Welford rounds at the scale of the mean in every step, which at mean 1e9 and sd 1 leaves seven
/// digits of the variance; the distance from a draw of the same chain is exact there. The first
/// draw belongs to the sample, so it is never further than √n sd from the mean.
///
/// A draw that is not finite makes mean and variance of its coordinate NaN from then on.
///
/// ```
/// use ridgewalk_diagnostics::Moments;
///
/// let mut left = Moments::new(1);
/// let mut right = Moments::new(1);
/// left.push(&[1e9])?;
/// right.push(&[1e9 + 2.0])?;
/// right.push(&[1e9 + 4.0])?;
/// left.merge(&right)?;
/// assert_eq!((left.count(), left.mean(0), left.variance(0)), (3, 1e9 + 2.0, 4.0));
/// # Ok::<(), ridgewalk_diagnostics::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    count: u64,
    coordinates: Vec<Coordinate>,
}

/// The state of one coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Coordinate {
    /// The first value; distances are measured from it.
    origin: f64,
    /// Mean distance from the origin.
    mean: f64,
    /// Sum of squared distances from the mean.
    squares: f64,
    least: f64,
    most: f64,
}

impl Moments {
    /// An empty accumulator for draws with `dimension` coordinates.
    pub fn new(dimension: usize) -> Self {
        let empty = Coordinate {
            origin: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        };
        Self { count: 0, coordinates: vec![empty; dimension] }
    }

    /// The number of coordinates.
    pub fn dimension(&self) -> usize {
        self.coordinates.len()
    }

    /// The number of draws so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Adds a draw.
    pub fn push(&mut self, draw: &[f64]) -> Result<(), Error> {
        check_dimension(draw.len(), self.dimension())?;
        if self.count == 0 {
            for (c, &x) in self.coordinates.iter_mut().zip(draw) {
                c.origin = x;
            }
        }
        self.count += 1;
        let share = 1.0 / self.count as f64;
        for (c, &x) in self.coordinates.iter_mut().zip(draw) {
            let distance = x - c.origin;
            let step = distance - c.mean;
            c.mean += step * share;
            c.squares += step * (distance - c.mean);
            c.least = c.least.min(x);
            c.most = c.most.max(x);
        }
        Ok(())
    }

    /// Adds all draws of another accumulator.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        check_dimension(other.dimension(), self.dimension())?;
        if other.count == 0 {
            return Ok(());
        }
        if self.count == 0 {
            self.clone_from(other);
            return Ok(());
        }
        let (here, there) = (self.count as f64, other.count as f64);
        self.count += other.count;
        let share = there / (here + there);
        for (c, o) in self.coordinates.iter_mut().zip(&other.coordinates) {
            let step = (o.origin - c.origin) + (o.mean - c.mean);
            c.mean += step * share;
            c.squares += o.squares + step * step * share * here;
            c.least = c.least.min(o.least);
            c.most = c.most.max(o.most);
        }
        Ok(())
    }

    /// The mean of coordinate i; NaN before the first draw and for i out of range.
    pub fn mean(&self, i: usize) -> f64 {
        self.read(i, 1, |c| c.origin + c.mean)
    }

    /// The variance of coordinate i with divisor n − 1; NaN before the second draw and for i out of
    /// range.
    pub fn variance(&self, i: usize) -> f64 {
        self.read(i, 2, |c| c.squares / (self.count - 1) as f64)
    }

    /// The standard deviation of coordinate i: the root of the [variance](Self::variance).
    pub fn sd(&self, i: usize) -> f64 {
        self.variance(i).sqrt()
    }

    /// The smallest and the largest value of coordinate i, ignoring NaN; NaN before the first draw
    /// and for i out of range.
    pub fn range(&self, i: usize) -> (f64, f64) {
        (self.read(i, 1, |c| c.least), self.read(i, 1, |c| c.most))
    }

    /// Writes the means of all coordinates.
    pub fn means_into(&self, means: &mut [f64]) -> Result<(), Error> {
        self.write(means, |i| self.mean(i))
    }

    /// Writes the variances of all coordinates.
    pub fn variances_into(&self, variances: &mut [f64]) -> Result<(), Error> {
        self.write(variances, |i| self.variance(i))
    }

    fn read(&self, i: usize, least_count: u64, f: impl Fn(&Coordinate) -> f64) -> f64 {
        match self.coordinates.get(i) {
            Some(coordinate) if self.count >= least_count => f(coordinate),
            _ => f64::NAN,
        }
    }

    fn write(&self, out: &mut [f64], f: impl Fn(usize) -> f64) -> Result<(), Error> {
        check_dimension(out.len(), self.dimension())?;
        for (i, value) in out.iter_mut().enumerate() {
            *value = f(i);
        }
        Ok(())
    }
}
