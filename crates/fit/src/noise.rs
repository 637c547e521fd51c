//! The scale of the noise, estimated from residuals.

use ridgewalk_frame::FamilyName;
use ridgewalk_potentials::families::{Family, Gaussian, Huber, LogisticNoise};

use crate::error::{Error, NoiseError};
use crate::model::Build;

/// The median of |x| for standard normal x, and for standard logistic x.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;
const LOGISTIC_MEDIAN: f64 = 1.098_612_288_668_109_8;
/// Number of iterations of a robust noise scale.
const ROUNDS: usize = 5;

/// The scale of the noise. Normal: from the residuals of least squares, with n − d in the
/// denominator. Robust: from the median absolute residual of the robust fit, which is repeated with
/// each new scale.
pub(crate) fn noise_scale(build: &Build<'_>, family: FamilyName, delta: f64) -> Result<f64, Error> {
    let (frame, rows) = (build.frame, build.rows);
    let (n, d) = (frame.all_rows, frame.columns);
    let sizes = || frame.response.iter().map(|y| y.abs());
    let mut largest = [sizes().fold(f64::NEG_INFINITY, f64::max)];
    rows.largest(&mut largest);
    let largest = largest[0];
    // With little noise the prior matters only where the data say nothing, as with collinear
    // predictors.
    let sum = |here: f64| {
        let mut sum = [here];
        rows.sum(&mut sum);
        sum[0]
    };
    let size = sum(sizes().sum()) / n as f64;
    let little = if size > 0.0 { 1e-3 * size } else { 1.0 };
    let residuals = residuals_of(build, Gaussian::new(little))?;
    if family == FamilyName::Gaussian {
        if n <= d {
            return Err(NoiseError::NoResiduals { rows: n, coefficients: d }.into());
        }
        let weights = |i: usize| frame.weights.as_ref().map_or(1.0, |weights| weights[i]);
        let squares = sum(residuals.iter().enumerate().map(|(i, r)| weights(i) * r * r).sum());
        return known((squares / (n - d) as f64).sqrt(), largest);
    }
    let huber = family == FamilyName::RobustHuber;
    let unit = if huber { NORMAL_MEDIAN } else { LOGISTIC_MEDIAN };
    let of = |residuals: &[f64]| rows.median(residuals.iter().map(|r| r.abs()).collect()) / unit;
    let mut scale = known(of(&residuals), largest)?;
    for _ in 0..ROUNDS {
        let residuals = if huber {
            residuals_of(build, Huber::new(scale, delta))?
        } else {
            residuals_of(build, LogisticNoise::new(scale))?
        };
        scale = known(of(&residuals), largest)?;
    }
    Ok(scale)
}

/// The residuals of the mode of a model with this family.
fn residuals_of<F: Family>(
    build: &Build<'_>, family: Result<F, ridgewalk_potentials::Error>,
) -> Result<Vec<f64>, Error> {
    let mode = family.and_then(|family| build.ridge(family)).and_then(|ridge| ridge.mode());
    let point = mode.map_err(|error| build.words().potential(error))?.point;
    let frame = build.frame;
    let offset = |i: usize| frame.offset.as_ref().map_or(0.0, |offset| offset[i]);
    let rows = frame.design.chunks_exact(frame.columns).zip(&frame.response).enumerate();
    let predictor = |row: &[f64]| row.iter().zip(&point).map(|(a, x)| a * x).sum::<f64>();
    Ok(rows.map(|(i, (row, y))| y - offset(i) - predictor(row)).collect())
}

/// Checks that an estimate can be a noise scale, for responses up to `largest`.
fn known(scale: f64, largest: f64) -> Result<f64, Error> {
    if scale > 1e-10 * largest && scale.is_finite() {
        Ok(scale)
    } else {
        Err(NoiseError::Vanishing { scale }.into())
    }
}
