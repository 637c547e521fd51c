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
use super::chart::Chart;
use super::quadratic::Quadratic;
use crate::error::Error;
use crate::joint::ParameterScale;
use crate::softplus::{sigmoid, softplus};

/// A logarithm so far below the typical one is that of 0, and how far above it a knee is looked for.
const NOTHING: f64 = 8.0;
const SEARCHED: f64 = 2.0;
/// A change of −log density that is noticed, and one beyond which 0 is excluded by the data.
const TOLD: f64 = 0.5;
const EXCLUDED: f64 = 15.0;
/// How exactly a knee is found.
const NEAR: f64 = 0.1;

/// φ, dφ/dv and d²φ/dv² at v.
fn bent(v: f64, knee: f64) -> [f64; 3] {
    if knee == f64::NEG_INFINITY {
        return [v, 1.0, 0.0];
    }
    let (h, slope) = (softplus(knee - v), sigmoid(knee - v));
    let curvature = -slope * slope - h * slope * (1.0 - slope);
    [v - 0.5 * h * h, 1.0 + h * slope, curvature]
}

/// Where the coordinates of standard deviations bend: −∞ for coordinates that stay as they are.
#[derive(Debug, Clone, Default)]
pub(super) struct Knees(Vec<f64>);

impl Knees {
    fn of(&self, k: usize) -> f64 {
        self.0.get(k).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// t as the model has it, of t as chains have it. Returns the logarithm of the derivative.
    pub(super) fn unbend(&self, t: &[f64], into: &mut Vec<f64>) -> f64 {
        into.clear();
        let mut log_slope = 0.0;
        for (k, &v) in t.iter().enumerate() {
            let [phi, slope, _] = bent(v, self.of(k));
            into.push(phi);
            log_slope += slope.ln();
        }
        log_slope
    }

    /// The gradient by t as chains have it, in place of that by t as the model has it: of a function
    /// less the logarithm of the derivative.
    pub(super) fn bend_gradient(&self, t: &[f64], gradient: &mut [f64]) {
        for (k, (g, &v)) in gradient.iter_mut().zip(t).enumerate() {
            let [_, slope, curvature] = bent(v, self.of(k));
            *g = *g * slope - curvature / slope;
        }
    }

    /// t as chains have it, in place of t as the model has it.
    pub(super) fn bend(&self, t: &mut [f64]) {
        for (k, t) in t.iter_mut().enumerate() {
            let (knee, phi) = (self.of(k), *t);
            if knee == f64::NEG_INFINITY {
                continue;
            }
            // φ rises with v and is below it: bisection.
            let (mut low, mut high) =
                (phi.min(knee - (2.0 * (knee - phi).abs()).sqrt() - 2.0), phi);
            while bent(high, knee)[0] < phi {
                high += 1.0 + (phi - bent(high, knee)[0]);
            }
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                if bent(middle, knee)[0] < phi { low = middle } else { high = middle }
            }
            *t = 0.5 * (low + high);
        }
    }
}

impl Mixed {
    /// Knees by the information that rows have about effects, as if nothing else were unknown.
    pub(super) fn first_knees(&self, expansion: &Quadratic, information: f64) -> Knees {
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
        Knees(knees)
    }

    /// Knees by the density of each standard deviation near 0, with the others where they go when it
    /// is 0. The chart follows t, and bends nothing.
    ///
    /// # Errors
    /// As gradients.
    pub(super) fn knees_of(&self, chart: &Chart) -> Result<Knees, Error> {
        let t = &chart.typical;
        let top = self.slope(chart, t)?.value;
        let mut knees = vec![f64::NEG_INFINITY; t.len()];
        for (k, knee) in knees.iter_mut().enumerate().filter(|(k, _)| self.is_scale(*k)) {
            let mut without = t.to_vec();
            without[k] -= NOTHING;
            // Towards 0 the density of the standard deviation itself has a limit, that of its
            // logarithm has not.
            let density = |without: &[f64]| -> Result<f64, Error> {
                Ok(self.slope(chart, without)?.value + without[k])
            };
            if !density(&without)?.is_finite() {
                continue;
            }
            self.descend(chart, &mut without, Some(k))?;
            let limit = density(&without)?;
            if !(limit - (top + t[k]) < EXCLUDED) {
                continue;
            }
            let mut told = |phi: f64| -> Result<bool, Error> {
                without[k] = phi;
                Ok((density(&without)? - limit).abs() > TOLD)
            };
            let (mut low, mut high) = (t[k] - NOTHING, t[k] + SEARCHED);
            while high - low > NEAR {
                let middle = 0.5 * (low + high);
                if told(middle)? { high = middle } else { low = middle }
            }
            *knee = high;
        }
        Ok(Knees(knees))
    }

    /// Whether this t is the logarithm of a standard deviation, of effects or of noise.
    fn is_scale(&self, k: usize) -> bool {
        let own = self.joint.dimension() - self.head;
        if k < own {
            // The information of noise falls as its square rises.
            let likelihood = self.joint.likelihood();
            let [mut psi, mut wider] = [vec![0.0; own], vec![0.0; own]];
            (psi[k], wider[k]) = (0.0, 1.0);
            let ratio = likelihood.information(&wider) / likelihood.information(&psi);
            return likelihood.scale() == ParameterScale::Positive
                && (ratio.ln() + 2.0).abs() < 1e-9;
        }
        let mut first = own;
        self.terms.iter().any(|term| {
            let within = (first..first + term.width).contains(&k);
            first += term.parameters();
            within
        })
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
