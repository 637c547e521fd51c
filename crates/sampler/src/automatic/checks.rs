//! Checks of a finished run: signs that its draws are not those of the target, or fewer than they
//! seem, which effective sample sizes and R-hat do not show.
//!
//! Each check needs a clear sign and a material one: a small false-alarm rate, and a deviation that
//! matters for means, standard deviations or quantiles.

use super::excursion::beyond_bound;
use super::warning::{Compared, Identity, Warning};
use crate::acceptance::Acceptance;
use crate::outcome::{ChainReport, Outcome};
use crate::vitals::{Segment, Vitals};

/// The probability of a false alarm of each check by a t-statistic, over all that it compares.
const FALSE_ALARM: f64 = 1e-4;
/// Rejections in a row that are no trouble in any run: with a draw every few trajectories they are
/// a handful of draws.
const FEW_REJECTIONS: f64 = 40.0;
/// How many times the run that independent rejections would hardly exceed: acceptance differs from
/// place to place.
const RUNS: f64 = 3.0;
/// The share of all trajectories below which a run of rejections changes no result: at 5 standard
/// deviations from the mean it would add 1 % to a variance.
const MATERIAL_RUN: f64 = 1.0 / 2000.0;
/// The acceptance far out as a part of that of all trajectories, below which chains stick there;
/// and the fewest trajectories that show it.
const FAR_OUT: f64 = 0.2;
const FEWEST_FAR_OUT: u64 = 50;
/// The energy fraction of missing information below which Stan warns. The fraction is at least
/// d/(Var U + d/2), and Var U <= d for log-concave targets: 2/3 for exact draws of one.
const LEAST_FRACTION: f64 = 0.3;
/// Trajectories of a chain that show it.
const FEWEST_TRAJECTORIES: u64 = 200;
/// How far Stein's identities may be off: 0.1 is a mean off by 0.1 standard deviations, or a
/// standard deviation off by 5 %.
const MATERIAL: f64 = 0.1;
/// What a tolerated bias adds: a standard deviation off by the tolerance changes the variance by
/// twice that, and the bias at the measured step may be twice the tolerance before a run is sure to
/// be called biased.
const PER_TOLERANCE: f64 = 4.0;
/// The share of segments that a sum must come from, in effect, to be judged by their spread: a wall
/// that one draw in a thousand meets has sums that come from a few of them, far from normal.
const WELL_SPREAD: f64 = 0.3;
/// A deviation so large that a wall was hardly met at all. A log-concave target whose integral is
/// known to be finite can have one that is so thin; another may have no end.
const HARDLY_ANY: f64 = 0.8;
/// Draws of the shortest segment that is judged.
const SHORTEST: u64 = 16;
/// The difference of a chain's mean potential from that of the others that matters, in standard
/// deviations of the potential.
const UNEQUAL: f64 = 0.25;
/// The acceptance of a chain as a part of that of the chain in the middle, below which it does not
/// fare like the others; and the fewest trajectories that show it.
const UNEQUAL_ACCEPTANCE: f64 = 0.5;
const FEWEST_PROPOSALS: u64 = 400;

/// What is known of a target and a kernel whose run is checked.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Checks {
    /// Whether U is known to be convex and finite everywhere.
    pub log_concave: bool,
    /// The bias that is allowed; 0 for kernels that accept or reject.
    pub tolerance: f64,
}

impl Checks {
    /// The troubles of a run, from what its chains noted about themselves. Chains that took no
    /// notes pass.
    #[must_use]
    pub fn troubles(&self, outcome: &Outcome) -> Vec<Warning> {
        let chains = &outcome.chains;
        let vitals: Vec<&Vitals> =
            chains.iter().filter_map(|chain| chain.vitals.as_ref()).collect();
        if vitals.is_empty() {
            return Vec::new();
        }
        let all = outcome.acceptance();
        let exact = all.proposals > 0;
        let excursion = || beyond(&vitals, outcome.draws());
        let found = [
            if exact { stuck(chains, &all) } else { None },
            if exact { rejected_far_out(&vitals, &all) } else { None },
            if exact { energy_fraction(chains) } else { None },
            if exact && self.log_concave { excursion() } else { None },
            // At a hard boundary of the support the identities do not hold; trajectories that meet
            // it count as divergent.
            if self.log_concave || all.divergences == 0 { self.stein(&vitals) } else { None },
            if exact { unequal_acceptance(chains) } else { None },
            unequal_heights(chains),
        ];
        found.into_iter().flatten().collect()
    }

    /// E g_k = 0, E g_k (z_k − c_k) = 1 and the mean of the latter over k, by segments of all
    /// chains. They hold for every smooth density on the whole space, and g is the gradient of U.
    fn stein(&self, vitals: &[&Vitals]) -> Option<Warning> {
        let chains: Vec<Vec<Segment>> = vitals.iter().map(|v| long_segments(v)).collect();
        let d = vitals.first()?.reference().mode.len();
        let segments: Vec<&Segment> = chains.iter().flatten().collect();
        if segments.len() < 4 {
            return None;
        }
        let most = t_quantile(FALSE_ALARM / (2 * d + 1) as f64, segments.len() - 1);
        let material = MATERIAL + PER_TOLERANCE * self.tolerance;
        let total = segments.iter().map(|s| s.draws).sum::<u64>() as f64;
        let mut worst: Option<(f64, Warning)> = None;
        let mut judge = |identity: Identity, of: &dyn Fn(&Segment) -> f64| {
            let (found, error) = mean_of(&chains, of);
            let (expected, scale) = match identity {
                // In standard deviations of the coordinate: E g² is the mean curvature.
                Identity::Gradient => (0.0, (error * total.sqrt()).max(1.0)),
                Identity::Product | Identity::Virial => (1.0, 1.0),
            };
            let off = (found - expected).abs() / scale;
            let clear = !((found - expected).abs() <= most * error)
                && (well_spread(&segments, of) || !self.log_concave && !(off <= HARDLY_ANY));
            if clear && !(off <= material) && worst.as_ref().is_none_or(|(old, _)| off > *old) {
                worst = Some((off, Warning::WrongMoments { identity, found, error, expected }));
            }
        };
        for k in 0..d {
            judge(Identity::Gradient, &|s| s.gradients[k]);
            judge(Identity::Product, &|s| s.products[k]);
        }
        judge(Identity::Virial, &|s| s.products.iter().sum::<f64>() / d as f64);
        worst.map(|(_, warning)| warning)
    }
}

/// A chain's segments, or several of them together where they are short.
fn long_segments(vitals: &Vitals) -> Vec<Segment> {
    let mut long: Vec<Segment> = Vec::new();
    for segment in vitals.segments() {
        match long.last_mut().filter(|last| last.draws < SHORTEST) {
            Some(last) => last.add(segment),
            None => long.push(segment.clone()),
        }
    }
    long.retain(|segment| segment.draws >= SHORTEST);
    long
}

/// Whether a sum comes from many of the segments: (Σ |x|)²/Σ x² is their number if all are alike.
fn well_spread(segments: &[&Segment], of: &dyn Fn(&Segment) -> f64) -> bool {
    let sizes = segments.iter().map(|s| of(s).abs());
    let (sum, squares) = sizes.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    sum * sum >= WELL_SPREAD * segments.len() as f64 * squares
}

/// The mean per draw of a sum over segments, and its standard error from the spread of the
/// segments' means. Where the segments of a chain are alike, they count for fewer.
fn mean_of(chains: &[Vec<Segment>], of: &dyn Fn(&Segment) -> f64) -> (f64, f64) {
    let all = || chains.iter().flatten();
    let draws: f64 = all().map(|s| s.draws as f64).sum();
    let mean = all().map(of).sum::<f64>() / draws;
    let count = all().count() as f64;
    let off = |s: &Segment| of(s) / s.draws as f64 - mean;
    let squares: f64 = all().map(|s| off(s).powi(2)).sum();
    let pairs = || chains.iter().flat_map(|chain| chain.windows(2));
    let products: f64 = pairs().map(|pair| off(&pair[0]) * off(&pair[1])).sum();
    let alike = (products * count / (squares * pairs().count().max(1) as f64)).clamp(0.0, 0.9);
    // Not a number where all segments are the same.
    let alike = if alike.is_nan() { 0.0 } else { alike };
    let fewer = (1.0 + alike) / (1.0 - alike);
    (mean, (fewer * squares / (count * (count - 1.0))).sqrt())
}

/// A chain that stayed at one point for longer than its acceptance explains.
fn stuck(chains: &[ChainReport], all: &Acceptance) -> Option<Warning> {
    let runs = chains.iter().map(|chain| chain.vitals.as_ref().map_or(0, |v| v.longest));
    let (chain, longest) = runs.enumerate().max_by_key(|(_, longest)| *longest)?;
    let total = all.proposals as f64;
    // Independent rejections have a longer run than this with the probability of a false alarm.
    let rejected = (1.0 - all.rate()).clamp(1e-6, 1.0 - 1e-3);
    let hardly = (total / FALSE_ALARM).ln() / -rejected.ln();
    let most = FEW_REJECTIONS.max(RUNS * hardly);
    let proposals = chains[chain].acceptance.proposals;
    (longest as f64 > most && longest as f64 > MATERIAL_RUN * total)
        .then_some(Warning::StuckChain { chain, longest, most, proposals })
}

/// Few trajectories that start far out are accepted.
fn rejected_far_out(vitals: &[&Vitals], all: &Acceptance) -> Option<Warning> {
    let count: u64 = vitals.iter().map(|v| v.far_out().0).sum();
    let rate = vitals.iter().map(|v| v.far_out().1).sum::<f64>() / count.max(1) as f64;
    (count >= FEWEST_FAR_OUT && rate < FAR_OUT * all.rate()).then_some(Warning::RejectedFarOut {
        rate,
        trajectories: count,
        overall: all.rate(),
    })
}

/// A chain whose energy changes too slowly.
fn energy_fraction(chains: &[ChainReport]) -> Option<Warning> {
    let noted = chains.iter().enumerate().filter_map(|(chain, report)| {
        let vitals = report.vitals.as_ref()?;
        (vitals.heights.count >= FEWEST_TRAJECTORIES).then(|| (chain, vitals.energy_fraction()))
    });
    let (chain, fraction) = noted.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let least = LEAST_FRACTION;
    (fraction < least).then_some(Warning::LowEnergyFraction { chain, fraction, least })
}

/// Draws beyond the bound of log-concave targets.
fn beyond(vitals: &[&Vitals], total: u64) -> Option<Warning> {
    let mut above = [0; 3];
    for noted in vitals {
        above.iter_mut().zip(noted.above).for_each(|(sum, count)| *sum += count);
    }
    beyond_bound(above, vitals.iter().map(|noted| noted.highest).fold(0.0, f64::max), total)
}

/// A chain that is rejected far more often than the others.
fn unequal_acceptance(chains: &[ChainReport]) -> Option<Warning> {
    let enough = |report: &&ChainReport| report.acceptance.proposals >= FEWEST_PROPOSALS;
    let mut rates: Vec<f64> =
        chains.iter().filter(enough).map(|report| report.acceptance.rate()).collect();
    rates.sort_by(f64::total_cmp);
    let middle = *rates.get(rates.len() / 2)?;
    let all = chains.iter().enumerate().filter(|(_, report)| enough(report));
    let (chain, lowest) = all
        .map(|(chain, report)| (chain, report.acceptance.rate()))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    (lowest < UNEQUAL_ACCEPTANCE * middle).then_some(Warning::UnequalChains {
        chain,
        compared: Compared::Acceptance,
        found: lowest,
        others: middle,
    })
}

/// A chain whose mean potential is not that of the others, by the differences within chains.
fn unequal_heights(chains: &[ChainReport]) -> Option<Warning> {
    let noted: Vec<(usize, &Vitals, Vec<f64>)> = chains
        .iter()
        .enumerate()
        .filter_map(|(chain, report)| {
            let vitals = report.vitals.as_ref().filter(|v| v.heights.count > 0)?;
            let long = long_segments(vitals);
            let means: Vec<f64> = long.iter().map(|s| s.heights / s.draws as f64).collect();
            (means.len() > 1).then_some((chain, vitals, means))
        })
        .collect();
    let count: usize = noted.iter().map(|(_, _, means)| means.len()).sum();
    let sum: f64 = noted.iter().flat_map(|(_, _, means)| means).sum();
    if noted.len() < 2 {
        return None;
    }
    let squares = |means: &[f64]| {
        let mean = means.iter().sum::<f64>() / means.len() as f64;
        means.iter().map(|x| (x - mean).powi(2)).sum::<f64>()
    };
    let freedom = count - noted.len();
    let within = noted.iter().map(|(_, _, means)| squares(means)).sum::<f64>() / freedom as f64;
    let mut variances: Vec<f64> = noted.iter().map(|(_, v, _)| v.heights.variance()).collect();
    variances.sort_by(f64::total_cmp);
    let sd = variances[variances.len() / 2].sqrt();
    let most = t_quantile(FALSE_ALARM / noted.len() as f64, freedom);
    let apart = |(chain, _, means): &(usize, &Vitals, Vec<f64>)| {
        let (own, rest) = (means.len() as f64, (count - means.len()) as f64);
        let total: f64 = means.iter().sum();
        let (found, others) = (total / own, (sum - total) / rest);
        let error = (within * (1.0 / own + 1.0 / rest)).sqrt();
        (*chain, found, others, (found - others).abs(), error)
    };
    let worst = noted.iter().map(apart).max_by(|a, b| a.3.total_cmp(&b.3));
    let (chain, found, others, off, error) = worst?;
    (off > most * error && off > UNEQUAL * sd).then_some(Warning::UnequalChains {
        chain,
        compared: Compared::Potential,
        found,
        others,
    })
}

/// The t beyond which ±Student's t with so many degrees of freedom is with this probability.
fn t_quantile(probability: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1e9);
    for _ in 0..200 {
        let middle: f64 = 0.5 * (low + high);
        if t_tail(middle, freedom) > probability { low = middle } else { high = middle }
    }
    high
}

/// The probability that Student's t is beyond ±t, by its finite sums (Abramowitz and Stegun
/// 26.7.3 and 26.7.4). Beyond 1000 degrees of freedom it hardly changes.
fn t_tail(t: f64, freedom: usize) -> f64 {
    let freedom = freedom.clamp(1, 1000);
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let (mut term, mut sum) = if odd { (cos, 0.0) } else { (1.0, 0.0) };
    let first = if odd { 3 } else { 2 };
    for k in (first..=freedom).step_by(2) {
        sum += term;
        term *= cos * cos * (k - 1) as f64 / k as f64;
    }
    let within = if odd { (angle + sin * sum) * std::f64::consts::FRAC_2_PI } else { sin * sum };
    1.0 - within
}

#[cfg(test)]
mod tests;
