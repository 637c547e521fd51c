//! Streaming accumulators against two passes: means, variances and covariances of draws near zero
//! and far from it.

use ridgewalk_diagnostics::{Covariance, Error, Moments};

use crate::common::{ar1, generator};

const DIMENSION: usize = 4;

/// Draws with correlated coordinates of different scales, on a grid of 2^-20 so that shifting them
/// is exact.
fn draws(seed: u64, count: usize, origin: f64) -> Vec<Vec<f64>> {
    let columns = ar1(&mut generator(seed), DIMENSION, count, 0.5);
    let grid = 2.0_f64.powi(20);
    (0..count)
        .map(|t| {
            (0..DIMENSION)
                .map(|i| {
                    let x = (i + 1) as f64 * (columns[i][t] + 0.5 * columns[0][t]);
                    origin + (x * grid).round() / grid
                })
                .collect()
        })
        .collect()
}

/// Mean (relative to the origin) and covariance in two passes, after subtracting the origin
/// exactly.
fn two_pass(draws: &[Vec<f64>], origin: f64) -> (Vec<f64>, Vec<f64>) {
    let n = draws.len() as f64;
    let shifted: Vec<Vec<f64>> =
        draws.iter().map(|draw| draw.iter().map(|x| x - origin).collect()).collect();
    let mean: Vec<f64> =
        (0..DIMENSION).map(|i| shifted.iter().map(|draw| draw[i]).sum::<f64>() / n).collect();
    let mut covariance = vec![0.0; DIMENSION * DIMENSION];
    for i in 0..DIMENSION {
        for j in 0..DIMENSION {
            let sum: f64 =
                shifted.iter().map(|draw| (draw[i] - mean[i]) * (draw[j] - mean[j])).sum();
            covariance[i * DIMENSION + j] = sum / (n - 1.0);
        }
    }
    (mean, covariance)
}

/// Accumulates pieces of different sizes separately and merges them.
fn streamed(draws: &[Vec<f64>], pieces: usize) -> (Moments, Covariance) {
    let mut moments = Moments::new(DIMENSION);
    let mut covariance = Covariance::new(DIMENSION);
    let mut rest = draws;
    for piece in 0..pieces {
        let take =
            if piece + 1 == pieces { rest.len() } else { rest.len() * (piece + 1) / (2 * pieces) };
        let (now, later) = rest.split_at(take);
        let (mut some_moments, mut some_covariance) =
            (Moments::new(DIMENSION), Covariance::new(DIMENSION));
        for draw in now {
            some_moments.push(draw).expect("right dimension");
            some_covariance.push(draw).expect("right dimension");
        }
        moments.merge(&some_moments).expect("right dimension");
        covariance.merge(&some_covariance).expect("right dimension");
        rest = later;
    }
    (moments, covariance)
}

#[test]
fn one_pass_equals_two() {
    for origin in [0.0, 1e3, 1e9, -1e9] {
        let draws = draws(1, 100_000, origin);
        let (mean, covariance) = two_pass(&draws, origin);
        for pieces in [1, 2, 8] {
            let (moments, full) = streamed(&draws, pieces);
            assert_eq!((moments.count(), full.count()), (100_000, 100_000));
            let mut matrix = vec![0.0; DIMENSION * DIMENSION];
            full.write_into(&mut matrix).expect("right size");
            for i in 0..DIMENSION {
                let variance = covariance[i * DIMENSION + i];
                let off = (moments.variance(i) / variance - 1.0).abs();
                assert!(off < 1e-12, "origin {origin}, {pieces} pieces: variance off by {off:e}");
                for got in [moments.mean(i), full.mean(i)] {
                    let want = origin + mean[i];
                    // A mean may be zero: relative to the mean or the sd, whichever is larger.
                    let scale = want.abs().max(variance.sqrt());
                    assert!(
                        (got - want).abs() <= 1e-12 * scale,
                        "origin {origin}: mean {got}, need {want}"
                    );
                }
                for j in 0..DIMENSION {
                    let scale = (variance * covariance[j * DIMENSION + j]).sqrt();
                    let off =
                        (matrix[i * DIMENSION + j] - covariance[i * DIMENSION + j]).abs() / scale;
                    assert!(off < 1e-12, "origin {origin}: covariance {i} {j} off by {off:e}");
                }
            }
        }
    }
}

/// The test above is able to fail: Welford's recursion without an origin misses the tolerance at
/// 1e9 by far.
#[test]
fn plain_welford_is_not_enough() {
    let draws = draws(1, 100_000, 1e9);
    let (_, covariance) = two_pass(&draws, 1e9);
    let (mut mean, mut squares) = (0.0, 0.0);
    for (n, draw) in draws.iter().enumerate() {
        let step = draw[0] - mean;
        mean += step / (n + 1) as f64;
        squares += step * (draw[0] - mean);
    }
    let off = (squares / 99_999.0 / covariance[0] - 1.0).abs();
    assert!(off > 1e-11, "{off:e}");
}

#[test]
fn few_draws() {
    let mut moments = Moments::new(2);
    let mut covariance = Covariance::new(2);
    assert!(moments.mean(0).is_nan() && moments.range(0).0.is_nan() && covariance.mean(0).is_nan());
    moments.push(&[1.0, 5.0]).expect("right dimension");
    covariance.push(&[1.0, 5.0]).expect("right dimension");
    assert_eq!((moments.mean(1), covariance.mean(1), moments.range(1)), (5.0, 5.0, (5.0, 5.0)));
    assert!(moments.variance(1).is_nan() && covariance.covariance(0, 1).is_nan());
    moments.push(&[3.0, 1.0]).expect("right dimension");
    covariance.push(&[3.0, 1.0]).expect("right dimension");
    let mut out = [0.0; 2];
    moments.means_into(&mut out).expect("right size");
    assert_eq!(out, [2.0, 3.0]);
    moments.variances_into(&mut out).expect("right size");
    assert_eq!(out, [2.0, 8.0]);
    assert_eq!((covariance.covariance(0, 1), covariance.covariance(1, 0)), (-4.0, -4.0));
    assert_eq!(moments.range(1), (1.0, 5.0));
    assert_eq!(moments.sd(0), 2.0_f64.sqrt());
    assert!(moments.mean(2).is_nan() && covariance.covariance(0, 2).is_nan());
}

#[test]
fn wrong_dimensions_are_errors_and_change_nothing() {
    let mut moments = Moments::new(2);
    let mut covariance = Covariance::new(2);
    let wrong = Err(Error::Dimension { got: 3, need: 2 });
    assert_eq!(moments.push(&[0.0; 3]), wrong);
    assert_eq!(covariance.push(&[0.0; 3]), wrong);
    assert_eq!(moments.merge(&Moments::new(3)), wrong);
    assert_eq!(covariance.merge(&Covariance::new(3)), wrong);
    assert_eq!(moments.means_into(&mut [0.0; 3]), wrong);
    assert_eq!(covariance.write_into(&mut [0.0; 3]), Err(Error::Dimension { got: 3, need: 4 }));
    assert_eq!((moments.count(), covariance.count()), (0, 0));
}

/// Merges of empty accumulators, on either side or on both.
#[test]
fn merging_nothing() {
    let mut some = Moments::new(1);
    some.push(&[2.5]).expect("right dimension");
    let mut none = Moments::new(1);
    none.merge(&Moments::new(1)).expect("right dimension");
    assert_eq!(none.count(), 0);
    none.merge(&some).expect("right dimension");
    assert_eq!(none, some);
    some.merge(&Moments::new(1)).expect("right dimension");
    assert_eq!(none, some);
}

#[test]
fn a_draw_that_is_not_finite_shows() {
    let mut moments = Moments::new(2);
    for draw in [[1.0, 1.0], [f64::INFINITY, 2.0], [3.0, 3.0]] {
        moments.push(&draw).expect("right dimension");
    }
    assert!(moments.mean(0).is_nan() && moments.variance(0).is_nan());
    assert_eq!((moments.mean(1), moments.variance(1)), (2.0, 1.0));
}
