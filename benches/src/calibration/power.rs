//! The power of a calibration: the share of calibrations that detect a posterior that is too wide by
//! some percent in every direction.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{ChiSquared as ChiSquareLaw, Distribution};

use super::uniformity::{Envelope, Ranks};
use super::{CELLS, Size};
use crate::Failure;

/// The share of `trials` calibrations of a normal posterior in `size.columns` dimensions that detect
/// standard deviations too large by the relative `error` in all directions, from the rank of the
/// posterior density alone, with each of the two tests at `level`.
///
/// # Errors
/// For a size that is not valid for a calibration.
pub fn power(size: Size, error: f64, level: f64, trials: u64, seed: u64) -> Result<f64, Failure> {
    let mut source = ChaCha8Rng::seed_from_u64(seed);
    let law = ChiSquareLaw::new(size.columns as f64)?;
    let envelope = Envelope::new(usize::try_from(size.replications)?, size.draws + 1);
    let bounds = envelope.bounds(envelope.level(level));
    let mut found = 0_u64;
    for _ in 0..trials {
        let mut ranks = Ranks::new(size.draws + 1);
        for _ in 0..size.replications {
            // Minus twice the log density, at the truth and at draws that are too far out.
            let truth: f64 = law.sample(&mut source);
            let nearer =
                (0..size.draws).filter(|_| (1.0 + error).powi(2) * law.sample(&mut source) < truth);
            ranks.push(nearer.count());
        }
        let outside =
            |(count, [low, high]): (u64, &[usize; 2])| count < *low as u64 || count > *high as u64;
        let leaves = ranks.cumulative().into_iter().zip(&bounds).any(outside);
        found += u64::from(leaves || ranks.chi_square(CELLS)?[1] < level);
    }
    Ok(found as f64 / trials as f64)
}
