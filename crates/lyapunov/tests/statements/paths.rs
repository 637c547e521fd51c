//! Coupled paths of the algorithm and of the diffusion on a potential that is not quadratic.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

/// Random numbers of a seed.
pub(super) struct Random(ChaCha8Rng);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(super) fn uniform(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    pub(super) fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }
}

/// U = θ²/6 + (2/3) log cosh θ: curvature between 1/3 and 1, so κ = 3 and L = 1.
pub(super) const CURVATURE: f64 = 1.0 / 3.0;

fn gradient(theta: f64) -> f64 {
    CURVATURE * theta + (1.0 - CURVATURE) * theta.tanh()
}

/// One coupled step: the diffusion and the algorithm on one Brownian path of small pieces. Returns
/// the difference at the end, |p̃|² + |r̃|² at equal times from the start to the end, and the largest
/// slope of the gradient along the segment.
pub(super) struct Coupled {
    pub(super) difference: [f64; 3],
    pub(super) moments: [f64; TIMES],
    pub(super) slope: f64,
}

pub(super) const TIMES: usize = 9;

pub(super) fn coupled_step(x: [f64; 3], tilde: [f64; 3], eta: f64, noise: &mut Random) -> Coupled {
    const PIECES: u32 = 32;
    let (gamma, xi) = (3.0, 6.0);
    let h = eta / f64::from(PIECES);
    let [theta0, p0, r0] = tilde;
    // log cosh, without overflow; the exact line integral.
    let log_cosh = |x: f64| x.abs() + (-2.0 * x.abs()).exp().ln_1p();
    let of_cosh = if p0.abs() > 1e-6 {
        (log_cosh(theta0 + eta * p0) - log_cosh(theta0)) / p0
    } else {
        eta * theta0.tanh()
    };
    let integral = CURVATURE * (eta * theta0 + 0.5 * eta * eta * p0) + (1.0 - CURVATURE) * of_cosh;
    // θ, p, r of the diffusion, and r̂, p̂, θ̃, r̃, p̃ of the algorithm.
    let slope = |t: f64, z: &[f64; 8]| {
        let [theta, p, r, r_hat, p_hat, _, r_tilde, _] = *z;
        [
            p,
            -gradient(theta) + gamma * r,
            -gamma * p - xi * r,
            -gamma * p0 - xi * r_hat,
            -integral / eta + gamma * r_hat,
            p_hat,
            -gamma * p_hat - xi * r_tilde,
            -gradient(theta0 + t * p0) + gamma * r_hat,
        ]
    };
    let mut z = [x[0], x[1], x[2], r0, p0, theta0, r0, p0];
    let mut moments = [p0 * p0 + r0 * r0; TIMES];
    for i in 0..PIECES {
        let t = h * f64::from(i);
        let kick = (2.0 * xi * h).sqrt() * noise.normal();
        // Heun's method; the noise is the same in all three r.
        let first = slope(t, &z);
        let mut ahead: [f64; 8] = std::array::from_fn(|k| z[k] + h * first[k]);
        [2, 3, 6].into_iter().for_each(|k| ahead[k] += kick);
        let second = slope(t + h, &ahead);
        z = std::array::from_fn(|k| z[k] + 0.5 * h * (first[k] + second[k]));
        [2, 3, 6].into_iter().for_each(|k| z[k] += kick);
        if (i + 1).is_multiple_of(4) {
            moments[((i + 1) / 4) as usize] = z[7] * z[7] + z[6] * z[6];
        }
    }
    // U'' falls with |θ|.
    let nearest = if theta0 * (theta0 + eta * p0) <= 0.0 {
        0.0
    } else {
        theta0.abs().min((theta0 + eta * p0).abs())
    };
    let most = CURVATURE + (1.0 - CURVATURE) / nearest.cosh().powi(2);
    Coupled { difference: [z[5] - z[0], z[4] - z[1], z[6] - z[2]], moments, slope: most * p0.abs() }
}

/// Sample means and their standard errors.
pub(super) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, (square / count).sqrt())
}

/// Starts of the algorithm beside a stationary x: the same, at the mode, three times as far out,
/// far away in θ, and with large p and r.
pub(super) fn starts(x: [f64; 3]) -> [[f64; 3]; STARTS] {
    [x, [0.0; 3], x.map(|v| 3.0 * v), [x[0] + 8.0, x[1], x[2]], [x[0], x[1] + 9.0, x[2] + 9.0]]
}

pub(super) const STARTS: usize = 5;

/// For Lemma 8: a mean of |p̃|² + |r̃|² − C (|θ|² + |p|² + |r|² + 1) for each time.
pub(super) fn excess_at_each_time(paths: &[([f64; TIMES], f64)], c: f64) -> [(f64, f64); TIMES] {
    std::array::from_fn(|time| {
        let values: Vec<f64> =
            paths.iter().map(|(moments, start)| moments[time] - c * start).collect();
        mean_and_error(&values)
    })
}
