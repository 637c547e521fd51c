//! Coordinates of standard deviations in which densities have no long tail.
//!
//! Where the data do not exclude that levels are equal, the density of a standard deviation is flat
//! at 0, and that of its logarithm φ falls only as e^φ to the left. Chains that fit the middle step
//! badly there. So they move in v with
//!
//! φ = v − ½ h(c − v)²,   h(x) = log(1 + e^x):
//!
//! the logarithm itself for v well above c, and for v below it such that the density of v falls as
//! that of a normal variable. The knee c is where the standard deviation is too small for the data to
//! tell.

use super::Mixed;
use super::quadratic::Quadratic;
use crate::softplus::{sigmoid, softplus};

/// φ, dφ/dv and d²φ/dv² at v.
fn bent(v: f64, knee: f64) -> [f64; 3] {
    if knee == f64::NEG_INFINITY {
        return [v, 1.0, 0.0];
    }
    let (h, slope) = (softplus(knee - v), sigmoid(knee - v));
    let curvature = -slope * slope - h * slope * (1.0 - slope);
    [v - 0.5 * h * h, 1.0 + h * slope, curvature]
}

impl Mixed {
    /// The knees of all t: −∞ for coordinates that stay as they are.
    pub(super) fn find_knees(&self, expansion: &Quadratic, information: f64) -> Vec<f64> {
        let inner = self.joint.dimension();
        let mut knees = vec![f64::NEG_INFINITY; inner - self.head];
        let diagonal = |k: usize| information * expansion.rows[self.symbolic.pattern.starts[k]];
        for term in &self.terms {
            for coefficient in 0..term.width {
                let of = |level: usize| diagonal(term.first + level * term.width + coefficient);
                let mut all: Vec<f64> = (0..term.levels).map(of).filter(|d| *d > 0.0).collect();
                all.sort_unstable_by(f64::total_cmp);
                // Effects of a level are known to 1/√D, their variance over J levels to √(2/J)/D.
                let knee = all.get(all.len() / 2).map_or(f64::NEG_INFINITY, |median| {
                    -0.5 * (median * (0.5 * all.len() as f64).sqrt()).ln()
                });
                knees.push(knee);
            }
            knees.resize(knees.len() + term.parameters() - term.width, f64::NEG_INFINITY);
        }
        knees
    }

    fn knees(&self) -> &[f64] {
        self.knees.get().map_or(&[], Vec::as_slice)
    }

    /// t as the model has it, of t as chains have it; the logarithm of the derivative is added to
    /// `log_slope`.
    pub(super) fn unbend(&self, t: &[f64], into: &mut Vec<f64>) -> f64 {
        into.clear();
        let mut log_slope = 0.0;
        for (k, &v) in t.iter().enumerate() {
            let [phi, slope, _] =
                bent(v, self.knees().get(k).copied().unwrap_or(f64::NEG_INFINITY));
            into.push(phi);
            log_slope += slope.ln();
        }
        log_slope
    }

    /// The gradient by t as chains have it, in place of that by t as the model has it: of a function
    /// less the logarithm of the derivative.
    pub(super) fn bend_gradient(&self, t: &[f64], gradient: &mut [f64]) {
        for ((g, &v), &knee) in gradient.iter_mut().zip(t).zip(self.knees()) {
            let [_, slope, curvature] = bent(v, knee);
            *g = *g * slope - curvature / slope;
        }
    }

    /// t as chains have it, in place of t as the model has it. Known once there is a
    /// [`chart`](Self::chart).
    pub fn bend(&self, t: &mut [f64]) {
        for (t, &knee) in t.iter_mut().zip(self.knees()) {
            // φ rises with v and is below it: Newton's steps, kept between bounds.
            let phi = *t;
            let (mut low, mut high) =
                (phi.min(knee - (2.0 * (knee - phi).abs()).sqrt() - 2.0), phi);
            while bent(high, knee)[0] < phi {
                high += 1.0 + (phi - bent(high, knee)[0]);
            }
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if bent(middle, knee)[0] < phi { low = middle } else { high = middle }
            }
            *t = if knee == f64::NEG_INFINITY { phi } else { 0.5 * (low + high) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_map() {
        for knee in [-2.0, 0.5, 30.0] {
            for k in -40..40 {
                let v = 0.5 * f64::from(k);
                let [_, slope, curvature] = bent(v, knee);
                let [high, low] = [bent(v + 1e-5, knee), bent(v - 1e-5, knee)];
                let differences = [(high[0] - low[0]) / 2e-5, (high[1] - low[1]) / 2e-5];
                assert!((differences[0] - slope).abs() < 1e-6 * slope);
                assert!((differences[1] - curvature).abs() < 1e-6);
                assert!(slope >= 1.0);
            }
        }
        assert_eq!(bent(0.3, f64::NEG_INFINITY), [0.3, 1.0, 0.0]);
    }

    /// A standard deviation of flat density has a density of v that falls as a normal one.
    #[test]
    fn the_tail_is_that_of_a_normal_variable() {
        let log_density = |v: f64| {
            let [phi, slope, _] = bent(v, 0.0);
            phi + slope.ln()
        };
        for v in [-8.0, -20.0, -50.0] {
            let second = log_density(v + 0.5) + log_density(v - 0.5) - 2.0 * log_density(v);
            assert!((second / 0.25 + 1.0).abs() < 0.05, "{v}: {second}");
        }
    }
}
