//! One Brownian path, two step sizes: the coupling is what it claims, and the error of a path falls
//! like η².

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use ridgewalk_coefficients::{Coefficients, OrnsteinUhlenbeck, Parameters};
use ridgewalk_figures::{Figures, Near};
use ridgewalk_lyapunov::laws;
use ridgewalk_potentials::families::Logistic;
use ridgewalk_potentials::{Chebyshev, Dense, Error, LineIntegral, Prior, Ridge, Scratch};
use ridgewalk_sampler::{
    Averaged, Batch, CoupledChains, Coupling, Kernel, Noise, Step, Symmetric, ThirdOrder, Workspace,
};

fn normals(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| StandardNormal.sample(rng)).collect()
}

/// The noise kernels of Algorithm 1 in closed form, for L = 1.
fn kernels(gamma: f64, xi: f64, tau: f64) -> [f64; 3] {
    let e = (-xi * tau).exp();
    [
        (2.0 * gamma * gamma / xi).sqrt() * (tau - (1.0 - e) / xi),
        (2.0 * gamma * gamma / xi).sqrt() * (1.0 - e),
        (2.0 * xi).sqrt() * (e - gamma * gamma / xi * ((1.0 - e) / xi - tau * e)),
    ]
}

/// ∫₀^h f by Simpson's rule on 2,000 pieces.
fn simpson(h: f64, f: impl Fn(f64) -> f64) -> f64 {
    let pieces = 2000_u32;
    let step = h / f64::from(pieces);
    let piece = |i: u32| {
        let a = f64::from(i) * step;
        f(a) + 4.0 * f(a + 0.5 * step) + f(a + step)
    };
    (0..pieces).map(piece).sum::<f64>() * step / 6.0
}

fn lower([l11, l21, l22, l31, l32, l33]: [f64; 6]) -> [[f64; 3]; 3] {
    [[l11, 0.0, 0.0], [l21, l22, 0.0], [l31, l32, l33]]
}

const SETTINGS: [(f64, f64); 4] = [(1.0, 2.0), (0.44, 2.0), (5.0, 10.0), (2.0, 0.3)];

#[test]
fn the_normals_of_a_long_step_are_standard_and_correlated_with_the_short_ones_as_the_path_says() {
    for (gamma, xi) in SETTINGS {
        for h in [0.05, 0.2, 0.7, 2.0] {
            let short = Parameters::new(gamma, xi, h).unwrap();
            let long = Parameters::new(gamma, xi, 2.0 * h).unwrap();
            let coupling = Coupling::third_order(short).unwrap();
            let matrix = coupling.matrix();
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                let square: f64 = (0..7).map(|k| matrix[7 * i + k] * matrix[7 * j + k]).sum();
                let wanted = if i == j { 1.0 } else { 0.0 };
                assert!((square - wanted).abs() < 1e-12, "{gamma}, {xi}, {h}: {square}");
            }
            let fine = lower(Coefficients::new(short, 1.0).unwrap().cholesky());
            let coarse = lower(Coefficients::new(long, 1.0).unwrap().cholesky());
            // E[n'_i n_j] with the first short step's noise: ∫ k_i(h + τ) k_j(τ); with the
            // second's: ∫ k_i(τ) k_j(τ).
            for (at, shift) in [(0, h), (3, 0.0)] {
                for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    let wanted = simpson(h, |tau| {
                        kernels(gamma, xi, tau + shift)[i] * kernels(gamma, xi, tau)[j]
                    });
                    let entry =
                        |a: usize, b: usize| coarse[i][a] * matrix[7 * a + at + b] * fine[j][b];
                    let found: f64 = (0..3)
                        .flat_map(|a| (0..3).map(move |b| (a, b)))
                        .map(|(a, b)| entry(a, b))
                        .sum();
                    let scale = coarse[i].iter().chain(&fine[j]).map(|x| x * x).sum::<f64>();
                    assert!(
                        (found - wanted).abs() < 1e-10 * scale,
                        "{gamma}, {xi}, {h}, {i}, {j}: {found}, {wanted}"
                    );
                }
            }
        }
    }
}

#[test]
fn short_steps_keep_all_digits() {
    for h in [1e-8, 1e-5, 1e-3] {
        let coupling = Coupling::third_order(Parameters::new(1.0, 2.0, h).unwrap()).unwrap();
        for row in coupling.matrix().chunks(7) {
            assert!((row.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_noise_of_the_symmetric_kernel_composes() {
    for (gamma, xi) in SETTINGS {
        let short = Parameters::new(gamma, xi, 0.3).unwrap();
        let coupling = Coupling::symmetric(short).unwrap();
        let (fine, coarse) = (
            OrnsteinUhlenbeck::new(short, 1.0).unwrap(),
            OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, 0.6).unwrap(), 1.0).unwrap(),
        );
        let (z1, z2) = ([0.3, -1.1], [0.8, 0.5]);
        let mut z = [0.0; 2];
        coupling.combine(&z1, &z2, &[], &mut z).unwrap();
        let noise = |step: &OrnsteinUhlenbeck, z: [f64; 2]| {
            let [l11, l21, l22] = step.cholesky();
            [l11 * z[0], l21 * z[0] + l22 * z[1]]
        };
        let (n1, n2, e) = (noise(&fine, z1), noise(&fine, z2), fine.flow());
        let found = noise(&coarse, z);
        for i in 0..2 {
            let wanted = e[i][0] * n1[0] + e[i][1] * n1[1] + n2[i];
            assert!((found[i] - wanted).abs() < 1e-13);
        }
    }
}

fn posterior() -> Ridge<'static, Logistic> {
    let (rows, d) = (60, 3);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let values = normals(&mut rng, rows * d);
    let responses: Vec<f64> = (0..rows)
        .map(|i| f64::from(u8::from(values[i * d] + 0.5 * values[i * d + 1] > 0.3)))
        .collect();
    Ridge::new(
        Dense::new(rows, d, values).unwrap(),
        Logistic,
        &responses,
        Prior::centred(d, 1.0).unwrap(),
    )
    .unwrap()
}

/// A bound of the curvature of [`posterior`], rounded up.
const SMOOTHNESS: f64 = 25.0;

/// Makes one step with given normals.
fn step(
    kernel: &dyn Kernel, potential: &dyn LineIntegral, batch: &mut Batch, normals: &[f64],
    workspace: &mut Workspace,
) {
    let mut to = batch.clone();
    let noise = Noise { normals, uniforms: &[] };
    kernel.step(Step { potential, from: batch, noise, to: &mut to, workspace }).unwrap();
    *batch = to;
}

/// The root mean square distance in θ at time 2 between η and η/2 on one path, for η = 2/steps.
fn distance(
    potential: &dyn LineIntegral, steps: u32, make: impl Fn(f64) -> Box<dyn Kernel>,
    couple: impl Fn(f64) -> Coupling,
    combine: impl Fn(
        &Coupling,
        &[f64],
        &[f64],
        &[f64],
        &mut [f64],
    ) -> Result<(), ridgewalk_sampler::Error>,
) -> f64 {
    let (d, chains) = (potential.dimension(), 64);
    let eta = 2.0 / f64::from(steps);
    let (coarse, fine, coupling) = (make(eta), make(0.5 * eta), couple(0.5 * eta));
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut coarse_batch = Batch::new(d, chains).unwrap();
    let fields = coarse_batch.fields_mut();
    let scale = SMOOTHNESS.sqrt().recip();
    fields.theta.copy_from_slice(&normals(&mut rng, d * chains));
    fields.p.iter_mut().zip(normals(&mut rng, d * chains)).for_each(|(p, z)| *p = scale * z);
    fields.r.iter_mut().zip(normals(&mut rng, d * chains)).for_each(|(r, z)| *r = scale * z);
    let mut fine_batch = coarse_batch.clone();
    let mut workspace = Workspace::default();
    let per_chain = fine.normals() * d;
    for _ in 0..steps {
        let (first, second) =
            (normals(&mut rng, per_chain * chains), normals(&mut rng, per_chain * chains));
        let extra = normals(&mut rng, coupling.extra() * d * chains);
        let mut long = vec![0.0; per_chain * chains];
        for c in 0..chains {
            let range = c * per_chain..(c + 1) * per_chain;
            let extra = &extra[c * coupling.extra() * d..(c + 1) * coupling.extra() * d];
            combine(
                &coupling,
                &first[range.clone()],
                &second[range.clone()],
                extra,
                &mut long[range],
            )
            .unwrap();
        }
        step(&*fine, potential, &mut fine_batch, &first, &mut workspace);
        step(&*fine, potential, &mut fine_batch, &second, &mut workspace);
        step(&*coarse, potential, &mut coarse_batch, &long, &mut workspace);
    }
    let squares =
        coarse_batch.theta().iter().zip(fine_batch.theta()).map(|(a, b)| (a - b) * (a - b));
    (squares.sum::<f64>() / chains as f64).sqrt()
}

/// The slope of log distance against log η over three halvings.
fn order(
    potential: &dyn LineIntegral, make: impl Fn(f64) -> Box<dyn Kernel>,
    couple: impl Fn(f64) -> Coupling,
    combine: impl Fn(
        &Coupling,
        &[f64],
        &[f64],
        &[f64],
        &mut [f64],
    ) -> Result<(), ridgewalk_sampler::Error>,
) -> f64 {
    let at = |steps| distance(potential, steps, &make, &couple, &combine);
    (at(8) / at(64)).log2() / 3.0
}

fn parameters(eta: f64) -> Parameters {
    Parameters::new(1.2, 2.0, eta).unwrap()
}

fn third_order(eta: f64) -> Box<dyn Kernel> {
    Box::new(ThirdOrder::new(parameters(eta), SMOOTHNESS).unwrap())
}

fn coupled(eta: f64) -> Coupling {
    Coupling::third_order(parameters(eta)).unwrap()
}

#[test]
fn paths_of_algorithm_1_converge_like_the_square_of_the_step() {
    let mut figures = Figures::of(
        "sampler",
        concat!(file!(), "::paths_of_algorithm_1_converge_like_the_square_of_the_step"),
    );
    let slope = order(&posterior(), third_order, coupled, Coupling::combine);
    println!("exact line integral: {slope:.3}");
    assert!(slope >= 1.9, "{slope}");
    figures.add("exact line integral", "order", slope);
    for nodes in [2, 3, 5] {
        let slope = order(
            &Chebyshev::new(posterior(), nodes).unwrap(),
            third_order,
            coupled,
            Coupling::combine,
        );
        println!("{nodes} nodes: {slope:.3}");
        assert!(slope >= 1.9, "{nodes} nodes: {slope}");
        figures.add(&format!("{nodes} nodes"), "order", slope);
    }
    figures.hold(Near::Same);
}

#[test]
fn paths_of_the_symmetric_splitting_converge_too() {
    let make = |eta: f64| -> Box<dyn Kernel> {
        Box::new(Symmetric::new(parameters(eta), SMOOTHNESS).unwrap())
    };
    let slope = order(
        &posterior(),
        make,
        |eta| Coupling::symmetric(parameters(eta)).unwrap(),
        Coupling::combine,
    );
    println!("symmetric: {slope:.3}");
    assert!(slope >= 1.9, "{slope}");
    let mut figures =
        Figures::of("sampler", concat!(file!(), "::paths_of_the_symmetric_splitting_converge_too"));
    figures.add("symmetric", "order", slope);
    figures.hold(Near::Same);
}

fn averaged(eta: f64) -> Box<dyn Kernel> {
    Box::new(Averaged::new(parameters(eta), SMOOTHNESS).unwrap())
}

/// A state whose next step with noise 0 has made, before its kick, the exact step of (p, r) of this
/// length with these normals.
fn begun(start: &Batch, eta: f64, length: f64, normals: &[f64]) -> Batch {
    let at = |eta| OrnsteinUhlenbeck::new(parameters(eta), SMOOTHNESS).unwrap();
    let ([[a, b], [c, e]], [l11, l21, l22]) = (at(length).flow(), at(length).cholesky());
    let [[pp, pr], [rp, rr]] = at(eta).flow();
    let determinant = pp * rr - pr * rp;
    let d = start.dimension();
    let mut batch = start.clone();
    let fields = batch.fields_mut();
    for i in 0..fields.p.len() {
        let [n1, n2] = [0, 1].map(|j| normals[(2 * (i / d) + j) * d + i % d]);
        let p = a * fields.p[i] + b * fields.r[i] + l11 * n1;
        let r = c * fields.p[i] + e * fields.r[i] + l21 * n1 + l22 * n2;
        (fields.p[i], fields.r[i]) =
            ((rr * p - pr * r) / determinant, (pp * r - rp * p) / determinant);
    }
    batch
}

/// As [`distance`], for the averaged kernel, with θ of both step sizes at the same time of the
/// path: the first exact step of (p, r) is half as long as the others.
fn distance_in_step(potential: &dyn LineIntegral, steps: usize) -> f64 {
    let (d, chains) = (potential.dimension(), 64);
    let eta = 2.0 / steps as f64;
    let [to_half, to_whole] =
        [0.25, 0.5].map(|part| Coupling::symmetric(parameters(part * eta)).unwrap());
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut start = Batch::new(d, chains).unwrap();
    let (fields, scale) = (start.fields_mut(), SMOOTHNESS.sqrt().recip());
    fields.theta.copy_from_slice(&normals(&mut rng, d * chains));
    fields.p.iter_mut().zip(normals(&mut rng, d * chains)).for_each(|(p, z)| *p = scale * z);
    fields.r.iter_mut().zip(normals(&mut rng, d * chains)).for_each(|(r, z)| *r = scale * z);
    // The path in quarters of the long step.
    let quarters: Vec<Vec<f64>> =
        (0..4 * steps).map(|_| normals(&mut rng, 2 * d * chains)).collect();
    let join = |coupling: &Coupling, first: &[f64], second: &[f64]| {
        let mut long = vec![0.0; first.len()];
        let pairs = first.chunks(2 * d).zip(second.chunks(2 * d));
        long.chunks_mut(2 * d).zip(pairs).for_each(|(long, (first, second))| {
            coupling.combine(first, second, &[], long).unwrap()
        });
        long
    };
    let half = |at: usize| join(&to_half, &quarters[at], &quarters[at + 1]);
    let whole = |at: usize| join(&to_whole, &half(at), &half(at + 2));
    let (nothing, mut workspace) = (vec![0.0; 2 * d * chains], Workspace::default());
    let mut coarse = begun(&start, eta, 0.5 * eta, &half(0));
    let mut fine = begun(&start, 0.5 * eta, 0.25 * eta, &quarters[0]);
    for k in 0..steps {
        let noise = if k == 0 { nothing.clone() } else { whole(4 * k - 2) };
        step(&*averaged(eta), potential, &mut coarse, &noise, &mut workspace);
    }
    for k in 0..2 * steps {
        let noise = if k == 0 { nothing.clone() } else { half(2 * k - 1) };
        step(&*averaged(0.5 * eta), potential, &mut fine, &noise, &mut workspace);
    }
    let squares = coarse.theta().iter().zip(fine.theta()).map(|(a, b)| (a - b) * (a - b));
    (squares.sum::<f64>() / chains as f64).sqrt()
}

#[test]
fn paths_of_the_averaged_kernel_are_a_shift_apart_and_beyond_it_like_the_square_of_the_step() {
    let coupled = |eta| Coupling::symmetric(parameters(eta)).unwrap();
    let from_one_state = order(&posterior(), averaged, coupled, Coupling::combine);
    let in_step =
        (distance_in_step(&posterior(), 8) / distance_in_step(&posterior(), 64)).log2() / 3.0;
    println!("averaged: {from_one_state:.3} from one state, {in_step:.3} in step");
    // (p, r) go first: θ is half a step behind the path, which is first order in η; the kernel
    // itself is of second order.
    assert!((0.9..1.1).contains(&from_one_state), "{from_one_state}");
    assert!(in_step >= 1.9, "{in_step}");
    let test = "::paths_of_the_averaged_kernel_are_a_shift_apart_and_beyond_it_like_the_square_of_the_step";
    let mut figures = Figures::of("sampler", &[file!(), test].concat());
    figures.add("from one state", "order", from_one_state);
    figures.add("in step", "order", in_step);
    figures.hold(Near::Same);
}

#[test]
fn paths_of_the_rivals_converge_with_the_orders_that_theory_gives_them() {
    // Euler's step of additive noise, the gradient of the start, and noise that reaches θ by the
    // trapezoid alone: 1. One kick in the middle of an exact flow: 2. A gradient at a random time:
    // 3/2, the mean of its errors over the time being smaller than their spread.
    for (kernel, xi, wanted) in [
        (laws::KernelKind::Ula, 1.0, 1.0),
        (laws::KernelKind::Klmc, 2.0, 1.0),
        (laws::KernelKind::Baoab, 2.0, 1.0),
        (laws::KernelKind::RandomizedMidpoint, 2.0, 1.5),
        (laws::KernelKind::Ubu, 2.0, 2.0),
        (laws::KernelKind::Align, 2.0, 2.0),
        (laws::KernelKind::Quicsort, 2.0, 3.0),
        (laws::KernelKind::Should, 2.0, 3.0),
    ] {
        let potential = posterior();
        let distance = |steps: u32| {
            let scheme = laws::Scheme::new(kernel, 1.0, xi, 2.0 / f64::from(steps)).unwrap();
            let starts = normals(&mut ChaCha8Rng::seed_from_u64(7), 3 * 256);
            let mut pairs =
                CoupledChains::new(&potential, &scheme, SMOOTHNESS, 5, &starts).unwrap();
            pairs.advance(u64::from(steps)).unwrap();
            let apart = pairs
                .coarse()
                .theta()
                .iter()
                .zip(pairs.fine().theta())
                .map(|(a, b)| (a - b) * (a - b));
            (apart.sum::<f64>() / 256.0).sqrt()
        };
        let order = (distance(16) / distance(128)).log2() / 3.0;
        println!("{}: {order:.3}", kernel.name());
        // Paths that have nothing in common are apart by the same whatever the step.
        assert!((order - wanted).abs() < 0.15, "{}: {order}", kernel.name());
    }
}

/// The gradient at the start of the segment in place of the integral.
#[derive(Debug)]
struct LeftEnd(Ridge<'static, Logistic>);

impl LineIntegral for LeftEnd {
    fn dimension(&self) -> usize {
        LineIntegral::dimension(&self.0)
    }
    fn gradients_per_integral(&self) -> u64 {
        1
    }
    fn integrate(
        &self, length: f64, x: &[f64], _: &[f64], out: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.0.gradients(x, out, scratch)?;
        out.iter_mut().for_each(|g| *g *= length);
        Ok(())
    }
    fn gradients(&self, x: &[f64], out: &mut [f64], scratch: &mut Scratch) -> Result<(), Error> {
        self.0.gradients(x, out, scratch)
    }
}

#[test]
fn the_test_sees_a_gradient_of_lower_order_and_a_wrong_path() {
    let slope = order(&LeftEnd(posterior()), third_order, coupled, Coupling::combine);
    println!("gradient at the start: {slope:.3}");
    assert!(slope < 1.5, "{slope}");
    let mut figures = Figures::of(
        "sampler",
        concat!(file!(), "::the_test_sees_a_gradient_of_lower_order_and_a_wrong_path"),
    );
    figures.add("gradient at the start", "order", slope);
    figures.hold(Near::Same);
    // The halves of the path exchanged: standard normals as before, but of another path.
    let exchanged =
        |c: &Coupling, first: &[f64], second: &[f64], extra: &[f64], long: &mut [f64]| {
            c.combine(second, first, extra, long)
        };
    let slope = order(&posterior(), third_order, coupled, exchanged);
    println!("halves exchanged: {slope:.3}");
    assert!(slope < 1.7, "{slope}");
}
