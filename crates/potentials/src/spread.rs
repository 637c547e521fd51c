//! How widely draws are spread in coordinates that should make them round, told apart from the noise
//! of few draws.
//!
//! The eigenvalues of the covariance of n independent draws of N(0, I) in d dimensions lie between
//! (1 − √(d/n))² and (1 + √(d/n))². One outside stands for a direction with another variance l,
//! which pulls the eigenvalue to l (1 + g/(l − 1)) with g = d/n, and its eigenvector away by an
//! angle of known cosine (Baik, Ben Arous and Péché 2005; Paul 2007). Here both are undone: what is
//! left is the variance of the target along the eigenvector that was found (Donoho, Gavish and
//! Johnstone 2018).

use faer::Mat;

use crate::error::{Error, length};
use crate::symmetric;
use crate::whitening::Whitening;

/// Directions in which draws are clearly wider or narrower than 1.
///
/// ```
/// use ridgewalk_potentials::Spread;
///
/// // A hundred points on a line, twice as wide as they should be.
/// let points: Vec<f64> = (0..100).map(|k| 4.0 * (f64::from(k) / 99.0 - 0.5) * 3.0_f64.sqrt()).collect();
/// let spread = Spread::of(&points, 1, 100.0)?;
/// assert!((3.5..4.2).contains(&spread.widest()));
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    mean: Vec<f64>,
    /// Variances and unit vectors.
    directions: Vec<(f64, Vec<f64>)>,
}

impl Spread {
    /// The spread of points of dimension d, one after the other, that are worth `effective`
    /// independent ones.
    ///
    /// # Errors
    /// A list that is not of whole points, or has one that is not finite.
    pub fn of(points: &[f64], dimension: usize, effective: f64) -> Result<Self, Error> {
        if dimension == 0 {
            return Ok(Self { mean: Vec::new(), directions: Vec::new() });
        }
        let (d, count) = (dimension, points.len() / dimension);
        length("the list of points", points.len(), count * d)?;
        if let Some(at) = points.iter().position(|x| !x.is_finite()) {
            let point = points[at / d * d..][..d].to_vec();
            return Err(Error::NotFinite { what: "a draw", point });
        }
        let n = count as f64;
        let mut mean = vec![0.0; d];
        for point in points.chunks_exact(d) {
            mean.iter_mut().zip(point).for_each(|(sum, x)| *sum += x / n);
        }
        let centred = Mat::from_fn(count, d, |i, k| points[i * d + k] - mean[k]);
        let directions = principal(&centred)
            .into_iter()
            .filter_map(|(variance, vector)| {
                Some((of_target(variance, d as f64 / effective)?, vector))
            })
            .collect();
        Ok(Self { mean, directions })
    }

    /// The mean of the points.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The largest variance of a direction, at least 1.
    #[must_use]
    pub fn widest(&self) -> f64 {
        self.directions.iter().map(|(variance, _)| *variance).fold(1.0, f64::max)
    }

    /// The smallest variance of a direction, at most 1.
    #[must_use]
    pub fn narrowest(&self) -> f64 {
        self.directions.iter().map(|(variance, _)| *variance).fold(1.0, f64::min)
    }

    /// Coordinates in which these directions have variance 1, with the origin at `centre`.
    ///
    /// # Errors
    /// A centre of the wrong length.
    pub fn whitening(&self, centre: &[f64]) -> Result<Whitening, Error> {
        let d = self.mean.len();
        length("the centre", centre.len(), d)?;
        let mut covariance = vec![0.0; d * d];
        covariance.iter_mut().step_by(d + 1).for_each(|x| *x = 1.0);
        for (variance, v) in &self.directions {
            for (row, x) in covariance.chunks_exact_mut(d).zip(v) {
                row.iter_mut().zip(v).for_each(|(c, y)| *c += (variance - 1.0) * x * y);
            }
        }
        Whitening::from_covariance(centre, &covariance)
    }
}

/// Eigenvalues and eigenvectors of the covariance of centred rows, by the smaller of the two
/// matrices of their products.
fn principal(rows: &Mat<f64>) -> Vec<(f64, Vec<f64>)> {
    let (count, d) = (rows.nrows(), rows.ncols());
    let n = count as f64;
    let wide = d > count;
    let products = if wide { rows * rows.transpose() } else { rows.transpose() * rows };
    let Some((values, vectors)) = symmetric::eigen(&products) else { return Vec::new() };
    let found = values.into_iter().enumerate().map(|(k, value)| {
        let vector = vectors.col(k);
        let vector: Vec<f64> = if wide {
            (0..d).map(|j| (0..count).map(|i| rows[(i, j)] * vector[i]).sum()).collect()
        } else {
            vector.iter().copied().collect()
        };
        let size = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        (value / n, vector.into_iter().map(|x| x / size).collect())
    });
    // Rows of their mean only: nothing is known about a direction without a length.
    found.filter(|(_, vector): &(f64, Vec<f64>)| vector.iter().all(|x| x.is_finite())).collect()
}

/// The variance of the target along an eigenvector of this eigenvalue, with g = d/n; `None` if the
/// eigenvalue is one that noise explains.
fn of_target(eigenvalue: f64, g: f64) -> Option<f64> {
    let above = eigenvalue > (1.0 + g.sqrt()).powi(2);
    let below = g < 1.0 && eigenvalue < (1.0 - g.sqrt()).powi(2);
    if !(above || below) {
        return None;
    }
    let half = 0.5 * (eigenvalue + 1.0 - g);
    let root = (half * half - eigenvalue).max(0.0).sqrt();
    let variance = if above { half + root } else { half - root };
    let excess = variance - 1.0;
    let cosine = (1.0 - g / (excess * excess)) / (1.0 + g / excess);
    let found = 1.0 + cosine.clamp(0.0, 1.0) * excess;
    (found > 0.0 && found.is_finite()).then_some(found)
}
