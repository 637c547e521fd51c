//! Survival curves of the data (Kaplan and Meier 1958) and of the model.

use super::SurvivalCheck;
use super::counts::central;
use crate::loo::Observed;
use crate::predict::Posterior;

/// Times at which curves are compared.
const TIMES: usize = 40;
/// Draws of the model's curve.
const DRAWS: usize = 200;

/// The curves; `None` if times lie in intervals, for which Kaplan and Meier have no estimate.
pub(super) fn check(posterior: &Posterior, observed: &Observed) -> Option<SurvivalCheck> {
    let y = observed.observations();
    // An event has equal ends; a censored time has none.
    if y.iter().any(|y| y.trials != y.response && y.trials.is_finite()) {
        return None;
    }
    let mut events: Vec<(f64, bool)> =
        y.iter().map(|y| (y.response, y.trials == y.response)).collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let last = events.last()?.0;
    let times: Vec<f64> = (1..=TIMES).map(|k| last * k as f64 / TIMES as f64).collect();
    let curve = kaplan_meier(&events);
    let at = |time: &f64| curve.iter().take_while(|(t, _)| t <= time).last().map_or(1.0, |p| p.1);
    let every = posterior.draws.div_ceil(DRAWS).max(1);
    let draws: Vec<usize> = (0..posterior.draws).step_by(every).collect();
    let rows = 0..observed.rows();
    let each = posterior.map_rows(
        observed.design(),
        rows,
        || (),
        |(), room, _| draws.iter().map(|&draw| posterior.s(room, draw)[0]).collect::<Vec<f64>>(),
    );
    let mut sums = vec![vec![0.0; draws.len()]; TIMES];
    for (sums, time) in sums.iter_mut().zip(&times) {
        for s in &each {
            for ((sum, s), &draw) in sums.iter_mut().zip(s).zip(&draws) {
                *sum += posterior.law.survival(*s, posterior.natural(draw), *time);
            }
        }
    }
    let n = observed.rows() as f64;
    let (mut expected, mut ranges) = (Vec::new(), Vec::new());
    for mut sums in sums {
        sums.iter_mut().for_each(|sum| *sum /= n);
        sums.sort_by(f64::total_cmp);
        expected.push(sums.iter().sum::<f64>() / sums.len() as f64);
        ranges.push(central(&sums));
    }
    Some(SurvivalCheck { observed: times.iter().map(at).collect(), times, expected, ranges })
}

/// The estimate after each time with an event, from sorted times.
fn kaplan_meier(events: &[(f64, bool)]) -> Vec<(f64, f64)> {
    let (mut curve, mut share, mut k) = (Vec::new(), 1.0, 0);
    while k < events.len() {
        let (time, risk) = (events[k].0, (events.len() - k) as f64);
        let same = events[k..].iter().take_while(|(t, _)| *t == time);
        let deaths = same.clone().filter(|(_, event)| *event).count();
        k += same.count();
        if deaths > 0 {
            share *= 1.0 - deaths as f64 / risk;
            curve.push((time, share));
        }
    }
    curve
}

#[cfg(test)]
mod tests {
    use super::kaplan_meier;

    /// `survfit(Surv(c(6,6,6,7,9,10,10,11), c(1,1,0,1,0,1,0,1)) ~ 1)` of R's survival 3.5-3.
    #[test]
    fn the_estimate_is_that_of_r() {
        let times = [6.0, 6.0, 6.0, 7.0, 9.0, 10.0, 10.0, 11.0];
        let events = [true, true, false, true, false, true, false, true];
        let curve = kaplan_meier(&times.into_iter().zip(events).collect::<Vec<_>>());
        let need = [(6.0, 0.75), (7.0, 0.6), (10.0, 0.4), (11.0, 0.0)];
        for ((t, s), (u, r)) in curve.iter().zip(need) {
            assert!(*t == u && (s - r).abs() < 1e-15, "{curve:?}");
        }
        assert_eq!(curve.len(), 4);
    }
}
