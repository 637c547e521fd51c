//! Whether responses have noise whose scale can be sampled.

use ridgewalk_frame::place::listed;
use ridgewalk_frame::{Frame, Sizes};
use ridgewalk_potentials::families::Gaussian;
use ridgewalk_potentials::{self as potentials, Design, Mixed, Prior, Ridge, Rows};

use crate::error::{Error, NoiseError};
use crate::groups::Groups;
use crate::words::Words;

/// Scales of priors that leave the fit to the data, in units of response and predictor.
const WIDE: f64 = 1e6;

/// An error unless least squares leave residuals: with fewer rows than coefficients, or a fit
/// without an error, the posterior of a noise scale may have no finite integral.
pub(crate) fn check_noise(
    frame: &Frame, design: Option<Design<'_>>, sizes: &Sizes, rows: &Rows,
) -> Result<(), Error> {
    let (n, d) = (frame.all_rows, frame.columns);
    if n <= d {
        return Err(NoiseError::NoResiduals { rows: n, coefficients: d }.into());
    }
    // Sparse designs are looked at later, with the factor that their posterior has.
    let Some(design) = design else { return Ok(()) };
    let mut largest = [frame.response.iter().map(|y| y.abs()).fold(f64::NEG_INFINITY, f64::max)];
    rows.largest(&mut largest);
    let residuals = residuals(frame, design, sizes, rows);
    let residuals = residuals.map_err(|error| Words::new(frame).potential(error))?;
    let mut squares = [residuals.iter().map(|r| r * r).sum::<f64>()];
    rows.sum(&mut squares);
    let scale = (squares[0] / (n - d) as f64).sqrt();
    if scale > 1e-10 * largest[0] && scale.is_finite() {
        Ok(())
    } else {
        Err(NoiseError::Vanishing { scale }.into())
    }
}

/// An error if the predictors of a sparse design, or predictors and effects of groups, fit the responses exactly: the noise then has no
/// lower bound, and the posterior no finite integral.
pub(crate) fn check_noise_of_groups(
    frame: &Frame, mixed: &Mixed, groups: &Groups,
) -> Result<(), Error> {
    let offset = |i: usize| frame.offset.as_ref().map_or(0.0, |offset| offset[i]);
    let responses: Vec<f64> =
        frame.response.iter().enumerate().map(|(i, y)| y - offset(i)).collect();
    match mixed.fits_exactly(&responses) {
        Some(true) if groups.is_empty() => Err(NoiseError::Vanishing { scale: 0.0 }.into()),
        Some(true) => {
            let names = groups.terms().iter().map(|term| term.name.clone()).collect();
            Err(NoiseError::WithinGroups { groups: listed(&deduplicated(names), 8) }.into())
        }
        _ => Ok(()),
    }
}

fn deduplicated(mut names: Vec<String>) -> Vec<String> {
    names.dedup();
    names
}

/// The residuals of least squares. Where predictors are collinear, wide priors decide.
fn residuals(
    frame: &Frame, design: Design<'_>, sizes: &Sizes, rows: &Rows,
) -> Result<Vec<f64>, potentials::Error> {
    let scales: Vec<f64> = sizes.columns.iter().map(|sd| WIDE * sizes.spread / sd).collect();
    let mut means = vec![0.0; frame.columns];
    if frame.intercept {
        means[0] = sizes.mean;
    }
    let prior = Prior::normal(&means, &scales)?;
    let mut ridge = Ridge::new(design, Gaussian::new(sizes.spread)?, &frame.response, prior)?;
    if let Some(offsets) = &frame.offset {
        ridge = ridge.with_offsets(offsets.clone())?;
    }
    let ridge = ridge.with_rows(rows);
    let predictors = ridge.linear_predictors(&ridge.mode()?.point)?;
    Ok(frame.response.iter().zip(predictors).map(|(y, s)| y - s).collect())
}
