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
    let design = Dense::new(HOURS.len(), 1, HOURS.to_vec())?.with_intercept();
    let posterior = Ridge::new(design, Logistic, &PASSED, Prior::centred(2, PRIOR_SCALE)?)?;
    let mut warm = WarmUp::new(&posterior).seed(seed.into()).run()?;
    let mut kept = Draws::default();
    warm.run(Length::Draws(draws.into())).keep(&mut kept)?;
    let summaries = summaries_of_table(&kept.tables(), 2)?;
    Ok([summaries[0].mean, summaries[1].mean])
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
