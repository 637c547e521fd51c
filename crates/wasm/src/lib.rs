//! A fit that can be called from JavaScript: `scripts/checks/wasm` runs it in Node and compares it
//! with the same fit on this machine.
//!
//! The module imports nothing: no clock, no threads, no random numbers from outside.

use ridgewalk::prelude::*;

/// Hours of study.
pub const HOURS: [f64; 12] = [0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
/// Whether the student passed.
pub const PASSED: [f64; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Standard deviation of the normal prior of the slope and of the intercept.
pub const PRIOR_SCALE: f64 = 2.5;

/// Posterior means of intercept and slope.
fn means(seed: u32, draws: u32) -> Result<[f64; 2], Box<dyn std::error::Error>> {
    let columns = [("hours", &HOURS), ("passed", &PASSED)];
    let columns = columns.map(|(name, values)| Column::from_numbers(name, values));
    let table = Table::from_columns("study", columns.to_vec())?;
    let settings = Settings {
        prior_scale: Some(PRIOR_SCALE),
        intercept_prior_scale: Some(PRIOR_SCALE),
        seed: seed.into(),
        draws: draws.into(),
        ..Settings::new("passed", FamilyName::Logistic)
    };
    let fit = ridgewalk::fit(&table, &settings)?;
    Ok([fit.summary()[0].mean, fit.summary()[1].mean])
}

/// Fits a logistic regression and returns the posterior mean of one coefficient: 0 is the
/// intercept, 1 the slope. NaN if there is no such coefficient or the fit fails.
// Sound: no other symbol of the program has this name, and the function takes and returns numbers.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub extern "C" fn ridgewalk_posterior_mean(seed: u32, draws: u32, coefficient: u32) -> f64 {
    let index = usize::try_from(coefficient).unwrap_or(usize::MAX);
    means(seed, draws).ok().and_then(|means| means.get(index).copied()).unwrap_or(f64::NAN)
}
