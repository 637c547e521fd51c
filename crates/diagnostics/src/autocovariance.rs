//! Autocovariance by fast Fourier transform, summed over chains.

use std::fmt;
use std::sync::Arc;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use crate::numeric;

/// The Fourier transform for halves of a given length. Made once, shared between threads.
#[derive(Clone)]
pub(crate) struct Transform {
    half: usize,
    fft: Arc<dyn Fft<f64>>,
}

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transform")
            .field("half", &self.half)
            .field("length", &self.fft.len())
            .finish()
    }
}

/// Buffers of a transform, reused between calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffers {
    signal: Vec<Complex<f64>>,
    power: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
    /// Lags 0 to half − 1 of the mean autocovariance.
    pub(crate) autocovariance: Vec<f64>,
    /// The mean of each half.
    pub(crate) means: Vec<f64>,
}

/// The smallest 2^a 3^b that is at least `least`: the transform is fast for such lengths.
fn fast_length(least: usize) -> usize {
    let mut best = least.next_power_of_two();
    let mut threes = 3;
    while threes < best {
        let mut length = threes;
        while length < least {
            length *= 2;
        }
        best = best.min(length);
        threes *= 3;
    }
    best
}

impl Transform {
    pub(crate) fn new(half: usize) -> Self {
        // Padded with zeros so that lags up to half − 1 do not wrap around.
        let fft = FftPlanner::new().plan_fft_forward(fast_length(2 * half));
        Self { half, fft }
    }

    pub(crate) fn half(&self) -> usize {
        self.half
    }

    /// The mean over all halves of the autocovariance with divisor n, and the means of the halves.
    ///
    /// The two halves of a chain are the real and the imaginary part of one signal. Only the sum of
    /// the power spectra is needed: the real part of its inverse transform is the sum of the
    /// autocovariances, so the halves need not be separated and one inverse transform serves all
    /// chains. The spectrum is real, so forward and inverse transform have the same real part.
    pub(crate) fn autocovariance(&self, halves: &[f64], buffers: &mut Buffers) {
        let zero = Complex::new(0.0, 0.0);
        let length = self.fft.len();
        buffers.signal.resize(length, zero);
        buffers.power.clear();
        buffers.power.resize(length, zero);
        buffers.scratch.resize(self.fft.get_inplace_scratch_len(), zero);
        buffers.means.clear();
        for chain in halves.chunks_exact(2 * self.half) {
            let (first, second) = chain.split_at(self.half);
            let (mean_first, mean_second) = (numeric::mean(first), numeric::mean(second));
            buffers.means.extend([mean_first, mean_second]);
            for ((z, x), y) in buffers.signal.iter_mut().zip(first).zip(second) {
                *z = Complex::new(x - mean_first, y - mean_second);
            }
            buffers.signal[self.half..].fill(zero);
            self.fft.process_with_scratch(&mut buffers.signal, &mut buffers.scratch);
            for (p, z) in buffers.power.iter_mut().zip(&buffers.signal) {
                p.re += z.norm_sqr();
            }
        }
        self.fft.process_with_scratch(&mut buffers.power, &mut buffers.scratch);
        let scale = 1.0 / (length as f64 * halves.len() as f64);
        buffers.autocovariance.clear();
        buffers.autocovariance.extend(buffers.power[..self.half].iter().map(|r| r.re * scale));
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffers, Transform, fast_length};

    #[test]
    fn lengths_are_large_enough_and_smooth() {
        for least in 1..3000usize {
            let length = fast_length(least);
            let mut rest = length;
            while rest.is_multiple_of(2) {
                rest /= 2;
            }
            while rest.is_multiple_of(3) {
                rest /= 3;
            }
            assert!(length >= least && length < 2 * least.max(1) && rest == 1, "{least} {length}");
        }
    }

    /// Comparison with the defining sum, for even, odd and prime lengths.
    #[test]
    fn equals_the_direct_sum() {
        for half in [2usize, 3, 7, 10, 31, 100] {
            let halves: Vec<f64> =
                (0..4 * half).map(|i| ((i * i) as f64 * 0.37).sin() + 5.0).collect();
            let mut buffers = Buffers::default();
            Transform::new(half).autocovariance(&halves, &mut buffers);
            assert_eq!(buffers.autocovariance.len(), half);
            for lag in 0..half {
                let direct: f64 = halves
                    .chunks(half)
                    .map(|x| {
                        let mean = x.iter().sum::<f64>() / half as f64;
                        (0..half - lag).map(|t| (x[t] - mean) * (x[t + lag] - mean)).sum::<f64>()
                            / half as f64
                    })
                    .sum::<f64>()
                    / 4.0;
                let got = buffers.autocovariance[lag];
                assert!((got - direct).abs() < 1e-14, "half {half} lag {lag}: {got} {direct}");
            }
        }
    }
}
