//! Pareto-smoothed importance sampling of one observation at a time.

use crate::elpd::Pointwise;
use crate::numeric::{exp_of_negative, range_and_sum, sum_of};
use crate::pareto::{Grid, Pareto};

/// Shortest tail that a generalized Pareto law is fitted to.
const SHORTEST_TAIL: usize = 5;
/// A tail that spreads over less is constant, as in loo.
const CONSTANT: f64 = f64::EPSILON / 100.0;
/// Draws of a sample that suggests where the tail begins.
const SCOUTS: usize = 512;
/// Log ratios that spread over less have exponentials, and inverses of them, within the range of
/// doubles.
const REACH: f64 = 600.0;

/// A workspace for Pareto-smoothed importance sampling (PSIS): Vehtari, Simpson, Gelman, Yao and
/// Gabry (JMLR 25, 2024).
///
/// The largest importance ratios are replaced by quantiles of a generalized Pareto law fitted to
/// them. The shape k of that law says how far the weights can be trusted: see
/// [`pareto_k_limit`](crate::pareto_k_limit).
///
/// Nothing is allocated after the first call for a number of draws. A result does not depend on
/// earlier calls.
///
/// # Definition
///
/// All steps are those of R's package loo, version 2.5.1:
///
/// - The tail has ⌈min(S/5, 3 √(S/r_eff))⌉ of S draws. The next largest ratio is the cutoff.
/// - The law is fitted by the method of Zhang and Stephens (2009) to ratio − cutoff, and its shape
///   is drawn to 1/2 with the weight of ten draws.
/// - The tail becomes cutoff + quantiles at (j − 1/2)/M, in the order of the ratios. Equal ratios
///   keep the order of the draws. No weight exceeds the largest raw ratio.
/// - With fewer than five draws in the tail (S <= 20), or with a constant tail, k is infinite and
///   ratios stay as they are. The same holds if the fit fails, as it does when a quarter of the
///   tail is equal to the cutoff.
///
/// ArviZ puts only ratios above the cutoff into the tail, and no ratio below 2.2e-308 of the
/// largest. So it differs from loo and from this crate if draws have the same ratio as the cutoff,
/// and if ratios span the range of doubles. Both leave a failed fit unsmoothed.
///
/// # Not defined
///
/// With a NaN or infinite log ratio, and without draws, k and all weights are NaN. (loo refuses
/// such input.) Write `!(k <= limit)` for a test that a NaN must fail.
#[derive(Debug, Clone, Default)]
pub struct Psis {
    /// The cutoff and the tail in increasing order: log ratio less the largest, and draw.
    tail: Vec<(f64, usize)>,
    scouts: Vec<f64>,
    /// Ratios of the tail above the cutoff; then their replacements.
    ratios: Vec<f64>,
    grid: Grid,
    /// −log(1 − p) at the probabilities of the quantiles.
    levels: Vec<f64>,
    /// Log ratios, for observations whose likelihood spreads over more than [`REACH`].
    spare: Vec<f64>,
}

impl Psis {
    /// An empty workspace.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Replaces log importance ratios by normalised log weights, whose exponentials add up to 1,
    /// and returns k.
    ///
    /// `r_eff` is the effective sample size divided by the number of draws. It only sets the length
    /// of the tail. A value that is not above 0 counts as 1.
    ///
    /// ```
    /// use ridgewalk_diagnostics::Psis;
    ///
    /// let mut weights: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.618).fract()).collect();
    /// let k = Psis::new().smooth(&mut weights, 1.0);
    /// assert!(k < 0.5);
    /// assert!((weights.iter().map(|w| w.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
    /// ```
    pub fn smooth(&mut self, log_ratios: &mut [f64], r_eff: f64) -> f64 {
        let (_, largest, sum) = range_and_sum(log_ratios);
        // A NaN or an infinite ratio shows in the sum, and an overflow is looked into.
        if log_ratios.is_empty() || !(sum.is_finite() || log_ratios.iter().all(|x| x.is_finite())) {
            log_ratios.fill(f64::NAN);
            return f64::NAN;
        }
        for x in &mut *log_ratios {
            *x -= largest;
        }
        let fit = self.fit_tail(log_ratios, |x| x, r_eff);
        let mut top = 0.0;
        if fit.is_some() {
            for ((_, draw), ratio) in self.tail[1..].iter().zip(&self.ratios) {
                // The last is the largest.
                top = ratio.ln();
                log_ratios[*draw] = top;
            }
        }
        let norm = log_sum_exp(log_ratios, top);
        for x in log_ratios {
            *x -= norm;
        }
        fit.map_or(f64::INFINITY, |law| law.shape)
    }

    /// LOO and WAIC of one observation from its log likelihood at every draw.
    ///
    /// `r_eff` is the relative efficiency of the likelihood, exp(log_likelihood), over the draws:
    /// its effective sample size divided by their number. See [`Self::smooth`].
    ///
    /// The weights are those of [`Self::smooth`] for the log ratios −`log_likelihood`, but are
    /// never formed: the likelihood times the weight is the same number for all draws outside the
    /// tail. The likelihood and its inverse share one exponential per draw.
    #[must_use]
    pub fn pointwise(&mut self, log_likelihood: &[f64], r_eff: f64) -> Pointwise {
        let n = log_likelihood.len() as f64;
        let (least, most, sum) = range_and_sum(log_likelihood);
        // A NaN or an infinite value shows in the sum. So does an overflow, beyond any likelihood.
        if log_likelihood.is_empty() || !sum.is_finite() {
            return Pointwise::UNDEFINED;
        }
        if most - least > REACH {
            return self.pointwise_in_logs(log_likelihood, most, r_eff);
        }
        let fit = self.fit_tail(log_likelihood, |x| least - x, r_eff);
        let cutoff = if fit.is_some() { self.tail[0].0 } else { 0.0 };
        let sums = Sums::of(log_likelihood, least, cutoff, sum / n);

        // In units of exp(least): the weights, and the likelihood times the weights.
        let (mut weights, mut products) = (sums.body, n);
        if fit.is_some() {
            let tail = &self.tail[1..];
            // Draws of the tail that are equal to the cutoff were counted in the body.
            let equal = tail.iter().take_while(|(x, _)| *x == cutoff).count();
            weights -= equal as f64 * cutoff.exp();
            products -= tail.len() as f64;
            for ((x, _), ratio) in tail.iter().zip(&self.ratios) {
                weights += ratio;
                products += ratio * (-x).exp();
            }
        }
        Pointwise::new(
            least + (sums.likelihood / n).ln(),
            least + (products / weights).ln(),
            sums.variance,
            fit.map_or(f64::INFINITY, |law| law.shape),
        )
    }

    /// [`Self::pointwise`] where exponentials would leave the range of doubles.
    fn pointwise_in_logs(&mut self, log_likelihood: &[f64], most: f64, r_eff: f64) -> Pointwise {
        let mut weights = std::mem::take(&mut self.spare);
        weights.clear();
        weights.extend(log_likelihood.iter().map(|x| -x));
        let k = self.smooth(&mut weights, r_eff);
        for (weight, x) in weights.iter_mut().zip(log_likelihood) {
            *weight += x;
        }
        let elpd = log_sum_exp(&weights, weights.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        self.spare = weights;
        let lppd = log_sum_exp(log_likelihood, most) - (log_likelihood.len() as f64).ln();
        Pointwise::new(lppd, elpd, crate::numeric::variance(log_likelihood), k)
    }

    /// Finds the tail and fits its law. `shifted` maps a value to its log ratio less the largest
    /// one. Afterwards `tail` has the cutoff and the tail, and `ratios` what the ratios of the tail
    /// are replaced by. None if nothing is to be replaced.
    fn fit_tail(
        &mut self, values: &[f64], shifted: impl Fn(f64) -> f64, r_eff: f64,
    ) -> Option<Pareto> {
        let length = tail_length(values.len(), r_eff);
        if length < SHORTEST_TAIL {
            return None;
        }
        self.find_tail(values, shifted, length);
        let (cutoff, tail) = self.tail.split_first()?;
        if tail.last()?.0 - tail.first()?.0 < CONSTANT {
            return None;
        }
        let cutoff = cutoff.0.exp();
        self.ratios.clear();
        self.ratios.extend(tail.iter().map(|(x, _)| x.exp() - cutoff));
        let law = Pareto::fit(&self.ratios, &mut self.grid)?;
        if self.levels.len() != length {
            let level = |j| -(-(j as f64 + 0.5) / length as f64).ln_1p();
            self.levels.clear();
            self.levels.extend((0..length).map(level));
        }
        for (ratio, &level) in self.ratios.iter_mut().zip(&self.levels) {
            *ratio = (law.quantile(level) + cutoff).min(1.0);
        }
        Some(law)
    }

    /// Fills `tail` with the `length` largest log ratios and the next one, in increasing order.
    fn find_tail(&mut self, values: &[f64], shifted: impl Fn(f64) -> f64, length: usize) {
        // Draws with equal ratios are in order, as by a stable sort.
        let order =
            |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1));
        let least = self.scout(values, &shifted, length);
        self.collect(values, &shifted, least);
        if self.tail.len() <= length {
            self.collect(values, &shifted, f64::NEG_INFINITY);
        }
        let surplus = self.tail.len() - length - 1;
        if surplus > 0 {
            self.tail.select_nth_unstable_by(surplus, order);
            self.tail.drain(..surplus);
        }
        self.tail.sort_unstable_by(order);
    }

    /// Collects the draws whose log ratio is at least `least`.
    fn collect(&mut self, values: &[f64], shifted: &impl Fn(f64) -> f64, least: f64) {
        self.tail.clear();
        for (draw, &x) in values.iter().enumerate() {
            let x = shifted(x);
            if x >= least {
                self.tail.push((x, draw));
            }
        }
    }

    /// A log ratio that probably is a little below the cutoff, from every few-th draw: only draws
    /// above it need be selected from.
    fn scout(&mut self, values: &[f64], shifted: &impl Fn(f64) -> f64, length: usize) -> f64 {
        let stride = values.len() / SCOUTS;
        if stride < 4 {
            return f64::NEG_INFINITY;
        }
        self.scouts.clear();
        self.scouts.extend(values.iter().step_by(stride).map(|&x| shifted(x)));
        // The number expected above the cutoff, and three standard deviations more.
        let expected = (length + 1).div_ceil(stride);
        let above = expected + 3 * expected.isqrt() + 3;
        match self.scouts.len().checked_sub(above) {
            Some(rank) => *self.scouts.select_nth_unstable_by(rank, f64::total_cmp).1,
            None => f64::NEG_INFINITY,
        }
    }
}

/// Sums over the draws, apart from the tail.
struct Sums {
    /// exp(least − x) over the draws with least − x <= cutoff.
    body: f64,
    /// exp(x − least) over all draws.
    likelihood: f64,
    /// The variance of x, with divisor n − 1.
    variance: f64,
}

/// Draws that are summed side by side, so that the compiler may use vector instructions.
const LANES: usize = 8;

impl Sums {
    fn of(log_likelihood: &[f64], least: f64, cutoff: f64, mean: f64) -> Self {
        let mut lanes = [[0.0; LANES]; 4];
        let (blocks, rest) = log_likelihood.as_chunks::<LANES>();
        for block in blocks {
            Self::add(&mut lanes, block, least, cutoff, mean);
        }
        let [mut body, mut likelihood, mut first, mut second] = lanes.map(|lane| lane.iter().sum());
        for &x in rest {
            let mut one = [[0.0; 1]; 4];
            Self::add(&mut one, &[x], least, cutoff, mean);
            body += one[0][0];
            likelihood += one[1][0];
            first += one[2][0];
            second += one[3][0];
        }
        let n = log_likelihood.len() as f64;
        // The mean given may be off by the rounding of a long sum. Constant draws have a variance of
        // 0, which rounding must not make negative.
        let squares = f64::max(second - first * first / n, 0.0);
        let variance = if n < 2.0 { f64::NAN } else { squares / (n - 1.0) };
        Self { body, likelihood, variance }
    }

    #[inline(always)]
    fn add<const N: usize>(
        sums: &mut [[f64; N]; 4], block: &[f64; N], least: f64, cutoff: f64, mean: f64,
    ) {
        let [body, likelihood, first, second] = sums;
        for i in 0..N {
            let ratio = exp_of_negative(least - block[i]);
            body[i] += if least - block[i] <= cutoff { ratio } else { 0.0 };
            likelihood[i] += 1.0 / ratio;
            first[i] += block[i] - mean;
            second[i] += (block[i] - mean) * (block[i] - mean);
        }
    }
}

/// log Σ exp(x), given the largest x.
fn log_sum_exp(values: &[f64], largest: f64) -> f64 {
    // Beside the largest term, those below e^−700 do not count, and neither does e^−700 in their
    // place.
    let term = |x: f64| exp_of_negative(if x - largest > -700.0 { x - largest } else { -700.0 });
    largest + sum_of(values, term).ln()
}

/// ⌈min(S/5, 3 √(S/r_eff))⌉.
fn tail_length(draws: usize, r_eff: f64) -> usize {
    let draws = draws as f64;
    let r_eff = if r_eff > 0.0 { r_eff } else { 1.0 };
    // At most a fifth of the draws, and never negative.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let length = (0.2 * draws).min(3.0 * (draws / r_eff).sqrt()).ceil() as usize;
    length
}
