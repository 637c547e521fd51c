//! The spread of draws: directions that are wider or narrower are found and measured, and those of
//! noise are not.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::{Spread, Whitening};

/// A standard normal number (Box and Muller 1958).
fn normal(source: &mut ChaCha8Rng) -> f64 {
    let [u, v]: [f64; 2] = [source.random(), source.random()];
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// Independent normal draws with these standard deviations along fixed orthogonal directions: the
/// coordinates of an orthogonal matrix of cosines.
fn draws(scales: &[f64], count: usize, seed: u64) -> Vec<f64> {
    let d = scales.len();
    let mut source = ChaCha8Rng::seed_from_u64(seed);
    let entry = |i: usize, j: usize| {
        let angle = std::f64::consts::PI * (i as f64 + 0.5) * j as f64 / d as f64;
        angle.cos() * (if j == 0 { 1.0 } else { 2.0 } / d as f64).sqrt()
    };
    let mut points = Vec::with_capacity(count * d);
    for _ in 0..count {
        let z: Vec<f64> = scales.iter().map(|s| s * normal(&mut source)).collect();
        points.extend((0..d).map(|i| (0..d).map(|j| entry(i, j) * z[j]).sum::<f64>()));
    }
    points
}

#[test]
fn wide_and_narrow_directions_are_told_from_noise() {
    for (d, count) in [(1, 60), (3, 60), (20, 150), (40, 60), (60, 40)] {
        for seed in 0..20 {
            let spread = Spread::of(&draws(&vec![1.0; d], count, seed), d, count as f64).unwrap();
            // Eigenvalues of noise go from 0 to 4.9 here; what is made of them stays near 1.
            assert!(spread.widest() < 2.5, "{d}, {count}: {}", spread.widest());
            assert!(spread.narrowest() > 0.3, "{d}, {count}: {}", spread.narrowest());
            let mut scales = vec![1.0; d];
            scales[d / 2] = 5.0;
            let spread = Spread::of(&draws(&scales, count, seed), d, count as f64).unwrap();
            let found = spread.widest();
            assert!((12.0..45.0).contains(&found), "{d}, {count}: {found} for 25");
        }
    }
    // Narrow directions need more draws than dimensions.
    let mut scales = vec![1.0; 5];
    scales[2] = 0.2;
    let found = Spread::of(&draws(&scales, 200, 1), 5, 200.0).unwrap().narrowest();
    assert!((0.03..0.08).contains(&found), "{found} for 0.04");
}

#[test]
fn new_coordinates_make_draws_round() {
    let scales = [1.0, 6.0, 1.0, 0.3, 1.0, 1.0];
    let points = draws(&scales, 400, 7);
    let spread = Spread::of(&points, 6, 400.0).unwrap();
    let whitening = spread.whitening(spread.mean()).unwrap();
    let mut round = vec![0.0; points.len()];
    for (point, new) in points.chunks_exact(6).zip(round.chunks_exact_mut(6)) {
        whitening.to_whitened(point, new).unwrap();
    }
    let again = Spread::of(&round, 6, 400.0).unwrap();
    assert!(again.widest() < 1.25 && again.narrowest() > 0.8, "{again:?}");
    assert!(spread.whitening(&[0.0; 5]).is_err());
    assert!(Spread::of(&[1.0, f64::NAN], 1, 2.0).is_err());
    assert!(Spread::of(&[1.0, 2.0, 3.0], 2, 2.0).is_err());
}

#[test]
fn a_whitening_knows_its_covariance() {
    let covariance = [4.0, 1.0, 1.0, 9.0];
    let made = Whitening::from_covariance(&[0.0; 2], &covariance).unwrap().covariance();
    assert!(made.iter().zip(covariance).all(|(x, y)| (x - y).abs() < 1e-14), "{made:?}");
    let hessian = [2.0, 0.5, 0.5, 1.0];
    let made = Whitening::from_hessian(&[0.0; 2], &hessian).unwrap().covariance();
    let det = 1.75;
    let inverse = [1.0 / det, -0.5 / det, -0.5 / det, 2.0 / det];
    assert!(made.iter().zip(inverse).all(|(x, y)| (x - y).abs() < 1e-14), "{made:?}");
    let made = Whitening::diagonal(&[0.0; 2], &[3.0, 0.5]).unwrap().covariance();
    assert_eq!(made, [9.0, 0.0, 0.0, 0.25]);
}
