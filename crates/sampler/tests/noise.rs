//! The noise of single steps is normal with the covariance it should have, by Kolmogorov and
//! Smirnov's test; and streams are independent.

use crate::common::{Quadratic, critical, kernels};
use ridgewalk_sampler::{Batch, Kernel, LinearKernel, Noise, Step, Stream, Workspace};

/// False alarms of each test of this file.
const FALSE_ALARMS: f64 = 1e-6;
const SAMPLES: usize = 200_000;

/// The p-value of the largest distance between the empirical distribution function and Φ, by
/// Kolmogorov's limit (good to 1e-3 of itself with this many samples).
fn kolmogorov_smirnov(mut sample: Vec<f64>) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = sample.iter().enumerate().fold(0.0_f64, |most, (i, x)| {
        let phi = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        most.max(phi - i as f64 / n).max((i + 1) as f64 / n - phi)
    });
    let lambda = (n.sqrt() + 0.12 + 0.11 / n.sqrt()) * distance;
    let terms = (1..100).map(|k| {
        let k = f64::from(k);
        let sign = if k % 2.0 == 1.0 { 2.0 } else { -2.0 };
        sign * (-2.0 * k * k * lambda * lambda).exp()
    });
    terms.sum::<f64>().clamp(0.0, 1.0)
}

/// What one step adds to zero states where there is no force: its noise alone, for each of (θ, p,
/// r).
fn single_step_noise(kernel: &dyn Kernel, seed: u64) -> [Vec<f64>; 3] {
    let (dimension, chains) = (100, SAMPLES / 100);
    let potential = Quadratic { curvature: vec![0.0; dimension] };
    let from = Batch::new(dimension, chains).unwrap();
    let mut to = from.clone();
    let mut normals = vec![0.0; chains * dimension * kernel.normals()];
    let mut uniforms = vec![0.0; chains * kernel.uniforms()];
    for chain in 0..chains {
        let mut stream = Stream::new(seed, chain as u64);
        let each = dimension * kernel.normals();
        stream.normals(&mut normals[chain * each..(chain + 1) * each]);
        let each = kernel.uniforms();
        stream.uniforms(&mut uniforms[chain * each..(chain + 1) * each]);
    }
    let noise = Noise { normals: &normals, uniforms: &uniforms };
    let (potential, to, workspace) = (&potential, &mut to, &mut Workspace::default());
    kernel.step(Step { potential, from: &from, noise, to, workspace }).unwrap();
    [to.theta().to_vec(), to.p().to_vec(), to.r().to_vec()]
}

/// p-values of each variable and of sums and differences of two, scaled by what the exact law says
/// of them.
fn p_values(kernel: &dyn Kernel, covariance: [[f64; 3]; 3], seed: u64) -> Vec<f64> {
    let noise = single_step_noise(kernel, seed);
    let used: Vec<usize> = (0..3).filter(|&i| covariance[i][i] > 0.0).collect();
    let mut found = Vec::new();
    for &i in &used {
        let sd = covariance[i][i].sqrt();
        found.push(kolmogorov_smirnov(noise[i].iter().map(|x| x / sd).collect()));
        for &j in used.iter().filter(|&&j| j < i) {
            let other = covariance[j][j].sqrt();
            let correlation = covariance[i][j] / (sd * other);
            for sign in [1.0, -1.0] {
                let scale = (2.0 + 2.0 * sign * correlation).sqrt();
                if scale < 0.01 {
                    // Without a force the splittings' noise of θ is a multiple of that of p: their
                    // difference is rounding.
                    continue;
                }
                let pairs = noise[i].iter().zip(&noise[j]);
                found.push(kolmogorov_smirnov(
                    pairs.map(|(x, y)| (x / sd + sign * y / other) / scale).collect(),
                ));
            }
        }
    }
    found
}

/// The covariance of the noise without a force. That is the same at every time of the randomized
/// midpoint.
fn covariance(kernel: &dyn LinearKernel) -> [[f64; 3]; 3] {
    let noise = kernel.scheme().linear_form(1e-13).unwrap().mean_noise();
    noise.map(|row| row.map(|s| s / kernel.smoothness()))
}

#[test]
fn the_noise_of_every_kernel_is_normal_with_its_covariance() {
    let mut all = Vec::new();
    for (seed, (gamma, xi, eta, smoothness)) in
        [(1.2, 2.0, 0.5, 3.0), (0.5, 3.0, 1.5, 0.1)].into_iter().enumerate()
    {
        for kernel in kernels(gamma, xi, eta, smoothness) {
            let exact = covariance(kernel.as_ref());
            all.extend(
                p_values(kernel.as_ref(), exact, seed as u64)
                    .into_iter()
                    .map(|p| (kernel.name(), p)),
            );
        }
    }
    let smallest = all.iter().map(|(_, p)| *p).fold(1.0, f64::min);
    println!("{} p-values, smallest {smallest:e}", all.len());
    for (name, p) in &all {
        assert!(*p > FALSE_ALARMS / all.len() as f64, "{name}: p = {p:e}");
    }
}

#[test]
fn the_same_test_catches_noise_that_is_a_little_wrong() {
    let kernels = kernels(1.2, 2.0, 0.5, 3.0);
    let kernel = kernels[0].as_ref();
    let right = covariance(kernel);
    let caught = |wrong: [[f64; 3]; 3]| {
        p_values(kernel, wrong, 0).into_iter().any(|p| p < FALSE_ALARMS / 100.0)
    };
    assert!(!caught(right));
    // Variances that are wrong by 10 %, and a correlation that is wrong by 0.1.
    for i in 0..3 {
        let mut wrong = right;
        wrong[i].iter_mut().for_each(|s| *s *= 1.05);
        wrong.iter_mut().for_each(|row| row[i] *= 1.05);
        assert!(caught(wrong), "variance {i}");
    }
    let mut wrong = right;
    wrong[1][2] -= 0.1 * (right[1][1] * right[2][2]).sqrt();
    wrong[2][1] = wrong[1][2];
    assert!(caught(wrong));
    // A sum of twelve uniforms, which has the right mean and variance.
    let mut stream = Stream::new(3, 0);
    let sum = |stream: &mut Stream| {
        let mut twelve = [0.0; 12];
        stream.uniforms(&mut twelve);
        twelve.iter().sum::<f64>() - 6.0
    };
    let sample = (0..20 * SAMPLES).map(|_| sum(&mut stream)).collect();
    assert!(kolmogorov_smirnov(sample) < FALSE_ALARMS);
}

#[test]
fn streams_of_different_chains_and_seeds_are_different_and_uncorrelated() {
    let first = |seed, chain| {
        let mut list = vec![0.0; 50_000];
        Stream::new(seed, chain).normals(&mut list);
        list
    };
    let streams =
        [first(1, 0), first(1, 1), first(1, 2), first(1, 1 << 40), first(2, 0), first(2, 1)];
    let threshold = critical(FALSE_ALARMS / 15.0);
    for (i, a) in streams.iter().enumerate() {
        for b in &streams[..i] {
            let z = a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>() / (a.len() as f64).sqrt();
            assert!(z.abs() < threshold, "{z}");
        }
    }
}

#[test]
fn a_stream_goes_on_from_its_position() {
    let mut stream = Stream::new(5, 7);
    let mut list = [0.0; 1001];
    stream.normals(&mut list);
    stream.uniforms(&mut list[..3]);
    let mut again = Stream::at(5, 7, stream.position());
    let (mut rest, mut rest_again) = ([0.0; 100], [0.0; 100]);
    stream.normals(&mut rest);
    again.normals(&mut rest_again);
    assert_eq!(rest, rest_again);
}
