//! Nine targets of different kinds, with means and standard deviations from independent sources.
//! Automatic sampling is tested on them and compared with other samplers.
//!
//! [`torture`] has many small posteriors beside them that are hard to sample.
//!
//! Simulated data are drawn from fixed seeds. References are in `data/`, each with the way it was
//! computed.
//!
//! ```
//! let target = ridgewalk_gallery::breast_cancer()?;
//! let reference = ridgewalk_gallery::reference("breast-cancer")?;
//! assert_eq!(target.dimension(), reference.means.len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod torture;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Poisson as PoissonLaw, StandardNormal, StudentT, Uniform};
use ridgewalk_potentials::families::{Huber, Logistic, Poisson, Probit};
use ridgewalk_potentials::{Dense, Gradient, GradientError, Prior, Ridge};

pub use torture::{Coefficient, Figure, KnownPoint, TORTURE_PROBABILITIES, Torture, torture};

/// An error that only a mistake in this crate can cause.
type Anything = Box<dyn std::error::Error>;

/// Means and standard deviations of all coordinates from an independent source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reference {
    /// Means.
    pub means: Vec<f64>,
    /// Standard deviations.
    pub sds: Vec<f64>,
    /// The Monte Carlo standard errors of the means; 0 if they are exact.
    pub mean_errors: Vec<f64>,
    /// The Monte Carlo standard errors of the standard deviations; 0 if they are exact.
    pub sd_errors: Vec<f64>,
}

/// The lines of a file without comments, which begin with #.
fn uncommented(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

/// The five fields of a line.
fn five_fields(line: &str) -> Result<[&str; 5], Anything> {
    let fields: Vec<&str> = line.split(',').collect();
    fields.try_into().map_err(|_| format!("`{line}`: need five fields").into())
}

impl Reference {
    /// From a header and lines `name,mean,sd,mcse_mean,mcse_sd`.
    fn parse(text: &str) -> Result<Self, Anything> {
        let mut found = Self::default();
        for line in uncommented(text).skip(1) {
            let [_, mean, sd, mean_error, sd_error] = five_fields(line)?;
            found.means.push(mean.parse()?);
            found.sds.push(sd.parse()?);
            found.mean_errors.push(mean_error.parse()?);
            found.sd_errors.push(sd_error.parse()?);
        }
        Ok(found)
    }
}

/// The random numbers of one data set.
struct Source(ChaCha8Rng);

impl Source {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    fn yes(&mut self, probability: f64) -> Result<f64, Anything> {
        Ok(f64::from(u8::from(Uniform::new(0.0, 1.0)?.sample(&mut self.0) < probability)))
    }

    /// Rows of a constant and normals, with the given correlation between neighbours.
    fn design(&mut self, rows: usize, columns: usize, correlation: f64) -> Vec<f64> {
        let mut values = vec![1.0; rows * columns];
        for row in values.chunks_exact_mut(columns) {
            let mut last = self.normal();
            for entry in &mut row[1..] {
                *entry = last;
                last =
                    correlation * last + (1.0 - correlation * correlation).sqrt() * self.normal();
            }
        }
        values
    }
}

/// The linear predictor of a row, with coefficients of the given size and alternating signs.
fn predictor(row: &[f64], size: f64) -> f64 {
    row.iter().zip(0..).map(|(x, k)| if k % 2 == 0 { size * x } else { -size * x }).sum()
}

/// Logistic regression, 2000 rows and 50 strongly correlated columns: nearly normal, condition
/// number in the hundreds.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn correlated_logistic() -> Result<Ridge<'static, Logistic>, Anything> {
    logistic(Source::new(1), [2000, 50], 0.9, 0.3)
}

/// Logistic regression, 10,000 rows and 200 independent columns: nearly normal, and large.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn independent_logistic() -> Result<Ridge<'static, Logistic>, Anything> {
    logistic(Source::new(5), [10_000, 200], 0.0, 0.1)
}

/// Logistic regression on normal columns with the given correlation between neighbours and the
/// given size of effects.
fn logistic(
    mut source: Source, [n, d]: [usize; 2], correlation: f64, size: f64,
) -> Result<Ridge<'static, Logistic>, Anything> {
    let values = source.design(n, d, correlation);
    let responses: Result<Vec<f64>, Anything> = values
        .chunks(d)
        .map(|row| source.yes(1.0 / (1.0 + (-predictor(row, size)).exp())))
        .collect();
    Ok(Ridge::new(Dense::new(n, d, values)?, Logistic, &responses?, Prior::centred(d, 2.5)?)?)
}

/// Logistic regression on the standardised Wisconsin breast cancer data, 569 rows and 31 columns,
/// prior scale 2.5: nearly separated, so that the posterior is far from normal.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn breast_cancer() -> Result<Ridge<'static, Logistic>, Anything> {
    breast_cancer_scaled(true)
}

/// The same with the predictors in their own units, which differ by a factor of 10⁵, and the same
/// priors normal(0, 2.5).
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn breast_cancer_unstandardised() -> Result<Ridge<'static, Logistic>, Anything> {
    breast_cancer_scaled(false)
}

fn breast_cancer_scaled(scaled: bool) -> Result<Ridge<'static, Logistic>, Anything> {
    let text = include_str!("../../potentials/tests/data/breast-cancer.csv");
    let rows: Result<Vec<Vec<f64>>, _> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.trim().parse()).collect())
        .collect();
    let rows: Vec<Vec<f64>> = rows?;
    let (n, k) = (rows.len(), rows[0].len() - 1);
    let mut values = vec![1.0; n * (k + 1)];
    for j in 0..k {
        let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n as f64;
        let sd = (rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        let (mean, sd) = if scaled { (mean, sd) } else { (0.0, 1.0) };
        rows.iter()
            .enumerate()
            .for_each(|(i, row)| values[i * (k + 1) + j + 1] = (row[j] - mean) / sd);
    }
    let responses: Vec<f64> = rows.iter().map(|row| row[k]).collect();
    Ok(Ridge::new(
        Dense::new(n, k + 1, values)?,
        Logistic,
        &responses,
        Prior::centred(k + 1, 2.5)?,
    )?)
}

/// Poisson regression, 300 rows and 12 columns, counts of about 1: the curvature grows without
/// bound along some directions.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn poisson() -> Result<Ridge<'static, Poisson>, Anything> {
    counts(Source::new(2), [300, 12], 0.25)
}

/// Poisson regression, 2000 rows and 50 columns, counts of about 1.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn poisson_large() -> Result<Ridge<'static, Poisson>, Anything> {
    counts(Source::new(6), [2000, 50], 0.15)
}

/// Poisson regression with effects of the given size.
fn counts(
    mut source: Source, [n, d]: [usize; 2], size: f64,
) -> Result<Ridge<'static, Poisson>, Anything> {
    let values = source.design(n, d, 0.5);
    let responses: Result<Vec<f64>, Anything> = values
        .chunks(d)
        .map(|row| Ok(PoissonLaw::new(predictor(row, size).exp())?.sample(&mut source.0)))
        .collect();
    Ok(Ridge::new(Dense::new(n, d, values)?, Poisson, &responses?, Prior::centred(d, 2.5)?)?)
}

/// Probit regression, 200 rows and 8 columns with strong effects: skewed.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn probit() -> Result<Ridge<'static, Probit>, Anything> {
    let (n, d) = (200, 8);
    let mut source = Source::new(3);
    let values = source.design(n, d, 0.5);
    let responses: Vec<f64> = values
        .chunks(d)
        .map(|row| f64::from(u8::from(source.normal() < 3.0 * predictor(row, 0.4))))
        .collect();
    Ok(Ridge::new(Dense::new(n, d, values)?, Probit, &responses, Prior::centred(d, 2.5)?)?)
}

/// Robust regression with Huber's loss, 120 rows and 6 columns, Student-t noise with 2 degrees of
/// freedom: the curvature is discontinuous.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn huber() -> Result<Ridge<'static, Huber>, Anything> {
    robust(Source::new(4), [120, 6])
}

/// Robust regression with Huber's loss, 2000 rows and 50 columns.
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn huber_large() -> Result<Ridge<'static, Huber>, Anything> {
    robust(Source::new(7), [2000, 50])
}

fn robust(mut source: Source, [n, d]: [usize; 2]) -> Result<Ridge<'static, Huber>, Anything> {
    let values = source.design(n, d, 0.5);
    let noise = StudentT::new(2.0)?;
    let responses: Vec<f64> =
        values.chunks(d).map(|row| predictor(row, 1.0) + noise.sample(&mut source.0)).collect();
    let family = Huber::new(1.0, 1.345)?;
    Ok(Ridge::new(Dense::new(n, d, values)?, family, &responses, Prior::centred(d, 2.5)?)?)
}

/// A normal distribution in 100 dimensions with condition number 1e4, given by its gradient and
/// value.
#[derive(Debug, Clone, Copy)]
pub struct Ladder;

impl Ladder {
    /// The mean of every coordinate.
    pub const MEAN: f64 = 0.3;

    /// The precision of a coordinate.
    #[must_use]
    pub fn precision(k: usize) -> f64 {
        10_f64.powf(4.0 * k as f64 / 99.0)
    }
}

impl Gradient for Ladder {
    fn dimension(&self) -> usize {
        100
    }

    fn gradient(&self, point: &[f64], into: &mut [f64]) -> Result<(), GradientError> {
        into.iter_mut()
            .zip(point)
            .enumerate()
            .for_each(|(k, (g, x))| *g = Self::precision(k) * (x - Self::MEAN));
        Ok(())
    }

    fn value_and_gradient(
        &self, point: &[f64], into: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        self.gradient(point, into)?;
        // U is quadratic: half the gradient times the distance from the mean.
        Ok(Some(0.5 * into.iter().zip(point).map(|(g, x)| g * (x - Self::MEAN)).sum::<f64>()))
    }
}

/// The names of all targets, as accepted by [`reference()`].
pub const NAMES: [&str; 9] = [
    "correlated-logistic",
    "breast-cancer",
    "independent-logistic",
    "poisson",
    "poisson-large",
    "probit",
    "huber",
    "huber-large",
    "ladder",
];

/// The reference of a target, one of [`NAMES`].
///
/// # Errors
/// For an unknown name.
pub fn reference(name: &str) -> Result<Reference, Anything> {
    Reference::parse(match name {
        "correlated-logistic" => include_str!("../data/correlated-logistic.csv"),
        "breast-cancer" => include_str!("../data/breast-cancer.csv"),
        "independent-logistic" => include_str!("../data/independent-logistic.csv"),
        "poisson" => include_str!("../data/poisson.csv"),
        "poisson-large" => include_str!("../data/poisson-large.csv"),
        "probit" => include_str!("../data/probit.csv"),
        "huber" => include_str!("../data/huber.csv"),
        "huber-large" => include_str!("../data/huber-large.csv"),
        "ladder" => {
            let exact = vec![0.0; 100];
            return Ok(Reference {
                means: vec![Ladder::MEAN; 100],
                sds: (0..100).map(|k| Ladder::precision(k).sqrt().recip()).collect(),
                mean_errors: exact.clone(),
                sd_errors: exact,
            });
        }
        other => return Err(format!("no target `{other}`").into()),
    })
}

/// Probabilities of the quantiles of a [`Law`].
pub const PROBABILITIES: [f64; 7] = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99];

/// Quantiles, correlations and draws of a posterior, from long runs of another sampler.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Law {
    /// For each coordinate, at each of [`PROBABILITIES`], a quantile and its Monte Carlo standard
    /// error.
    pub quantiles: Vec<Vec<[f64; 2]>>,
    /// The correlations with their errors: mean products of standardised coordinates, the lower
    /// triangle row by row. The diagonal is 1 up to rounding.
    pub products: Vec<[f64; 2]>,
    /// Widely spaced draws, one after the other.
    pub draws: Vec<f64>,
}

/// The law of a target that has one: `breast-cancer`, `poisson`, `probit` or `huber`.
///
/// # Errors
/// For another name.
pub fn law(name: &str) -> Result<Law, Anything> {
    let [law, draws] = match name {
        "breast-cancer" => [
            include_str!("../data/breast-cancer-law.csv"),
            include_str!("../data/breast-cancer-draws.csv"),
        ],
        "poisson" => {
            [include_str!("../data/poisson-law.csv"), include_str!("../data/poisson-draws.csv")]
        }
        "probit" => {
            [include_str!("../data/probit-law.csv"), include_str!("../data/probit-draws.csv")]
        }
        "huber" => [include_str!("../data/huber-law.csv"), include_str!("../data/huber-draws.csv")],
        other => return Err(format!("no law of a target `{other}`").into()),
    };
    let mut found = Law::default();
    for line in uncommented(law).skip(1) {
        let [what, first, _, value, error] = five_fields(line)?;
        let entry = [value.parse()?, error.parse()?];
        match what {
            "quantile" => {
                let k: usize = first.parse()?;
                found.quantiles.resize(found.quantiles.len().max(k + 1), Vec::new());
                found.quantiles[k].push(entry);
            }
            "product" => found.products.push(entry),
            other => return Err(format!("`{other}`: need `quantile` or `product`").into()),
        }
    }
    for cell in uncommented(draws).flat_map(|line| line.split(',')) {
        found.draws.push(cell.parse()?);
    }
    Ok(found)
}
