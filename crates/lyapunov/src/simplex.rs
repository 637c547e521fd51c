//! Minimising a function of a few variables without derivatives: the downhill simplex of Nelder and
//! Mead.
//!
//! The functions of this crate (best rates over γ and ξ, numbers of steps, costs) are cheap, have
//! two to four variables, and have kinks where the active constraint changes; the method suits
//! them. It is deterministic.

/// The result of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Minimum<const N: usize> {
    pub(crate) point: [f64; N],
    pub(crate) value: f64,
}

/// Minimises `function` from `start` with a first simplex of the given size, until the values at
/// its corners differ by less than `tolerance` (relative) or `evaluations` are used up. NaN is
/// treated as infinity.
pub(crate) fn minimise<const N: usize>(
    mut function: impl FnMut(&[f64; N]) -> f64, start: [f64; N], size: f64, tolerance: f64,
    evaluations: usize,
) -> Minimum<N> {
    let mut used = 0;
    let mut evaluate = |point: [f64; N]| {
        used += 1;
        let value = function(&point);
        (Minimum { point, value: if value.is_nan() { f64::INFINITY } else { value } }, used)
    };
    let mut corners = vec![evaluate(start).0];
    for i in 0..N {
        let mut point = start;
        point[i] += size;
        corners.push(evaluate(point).0);
    }
    loop {
        corners.sort_by(|a, b| a.value.total_cmp(&b.value));
        let (best, worst) = (corners[0], corners[N]);
        let spread = worst.value - best.value;
        if spread <= tolerance * best.value.abs() {
            return best;
        }
        let centre: [f64; N] = std::array::from_fn(|k| {
            corners[..N].iter().map(|c| c.point[k]).sum::<f64>() / N as f64
        });
        let along = |t: f64| std::array::from_fn(|k| centre[k] + t * (worst.point[k] - centre[k]));
        let (reflected, mut count) = evaluate(along(-1.0));
        let replacement = if reflected.value < best.value {
            let (expanded, now) = evaluate(along(-2.0));
            count = now;
            Some(if expanded.value < reflected.value { expanded } else { reflected })
        } else if reflected.value < corners[N - 1].value {
            Some(reflected)
        } else {
            let outside = reflected.value < worst.value;
            let (contracted, now) = evaluate(along(if outside { -0.5 } else { 0.5 }));
            count = now;
            (contracted.value < worst.value.min(reflected.value)).then_some(contracted)
        };
        match replacement {
            Some(corner) => corners[N] = corner,
            None => {
                for corner in &mut corners[1..] {
                    let shrunk = std::array::from_fn(|k| 0.5 * (corner.point[k] + best.point[k]));
                    (*corner, count) = evaluate(shrunk);
                }
            }
        }
        if count >= evaluations {
            return corners.into_iter().fold(best, |a, b| if b.value < a.value { b } else { a });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_minimum_of_a_curved_valley_and_of_a_kink() {
        let rosenbrock = |x: &[f64; 2]| (1.0 - x[0]).powi(2) + 100.0 * (x[1] - x[0] * x[0]).powi(2);
        let found = minimise(|x| 1.0 + rosenbrock(x), [-1.2, 1.0], 0.5, 1e-14, 1000);
        assert!((found.point[0] - 1.0).abs() < 1e-5 && (found.point[1] - 1.0).abs() < 1e-5);
        let kink =
            |x: &[f64; 3]| 1.0 + (x[0] - 2.0).abs() + 2.0 * x[1].abs() + (x[2] + 1.0).powi(2);
        let found = minimise(kink, [0.0, 1.0, 1.0], 0.3, 1e-12, 2000);
        assert!((found.value - 1.0).abs() < 1e-6);
    }

    #[test]
    fn walks_around_points_without_a_value_and_stops_in_time() {
        let mut calls = 0;
        let found = minimise(
            |x: &[f64; 2]| {
                calls += 1;
                if x[0] < 0.0 { f64::NAN } else { x[0] + x[1] * x[1] + 1.0 }
            },
            [3.0, 3.0],
            1.0,
            0.0,
            300,
        );
        assert!(found.value < 1.01 && calls < 310);
    }
}
