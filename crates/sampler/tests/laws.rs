//! The code that runs against the exact laws: its one-step matrix and noise read off by unit states
//! and unit noises, and its chains' means and covariances by z-scores. Deliberately wrong kernels
//! must fail both.

use crate::common::{Quadratic, all_kernels, critical, kernels, parameters, step_of_its_own};
use ridgewalk_coefficients::{Coefficients, OrnsteinUhlenbeck, Parameters};
use ridgewalk_figures::{Figures, Near};
use ridgewalk_lyapunov::laws::{
    Autocorrelation, Drift, Evolution, Law, Scheme, Spectrum, Start, Trajectory,
};
use ridgewalk_potentials::families::Gaussian;
use ridgewalk_potentials::{Chebyshev, Dense, FromFn, LineIntegral, Prior, Ridge, Scratch};
use ridgewalk_quadrature::LineRule;
use ridgewalk_sampler::{
    Adjusted, Averaged, Batch, Ensemble, Error, Kernel, LinearKernel, Noise, Step, ThirdOrder,
    Workspace, from_scheme,
};

/// False alarms in all Monte Carlo tests of this file together. The estimates' tails are not quite
/// normal (those of variances are of χ² with more than 10⁴ degrees of freedom, about twice as heavy
/// this far out), which 1e-6 leaves room for.
const FALSE_ALARMS: f64 = 1e-6;
/// The most z-scores that are looked at in all of them.
const MOST_SCORES: usize = 10_000;

type Matrix = [[f64; 3]; 3];

/// The matrix of a step and the covariance of its noise, for a potential of one dimension.
fn probe(kernel: &dyn Kernel, potential: &dyn LineIntegral, uniform: f64) -> (Matrix, Matrix) {
    let normals = kernel.normals();
    let chains = 3 + normals;
    let mut from = Batch::new(1, chains).unwrap();
    let fields = from.fields_mut();
    (fields.theta[0], fields.p[1], fields.r[2]) = (1.0, 1.0, 1.0);
    let mut noise = vec![0.0; chains * normals];
    (0..normals).for_each(|j| noise[(3 + j) * normals + j] = 1.0);
    let uniforms = vec![uniform; chains * kernel.uniforms()];
    let mut to = Batch::new(1, chains).unwrap();
    let given = Noise { normals: &noise, uniforms: &uniforms };
    let (noise, workspace) = (given, &mut Workspace::default());
    kernel.step(Step { potential, from: &from, noise, to: &mut to, workspace }).unwrap();
    let result = |variable: usize, chain: usize| [to.theta(), to.p(), to.r()][variable][chain];
    let matrix = std::array::from_fn(|i| std::array::from_fn(|j| result(i, j)));
    let covariance = std::array::from_fn(|i| {
        std::array::from_fn(|j| (3..chains).map(|chain| result(i, chain) * result(j, chain)).sum())
    });
    (matrix, covariance)
}

/// The largest differences from the linear form, of the matrix and, relative to the variances, of
/// the noise; over all branches.
fn distance_from_form(
    kernel: &dyn LinearKernel, potential: &dyn LineIntegral, curvature: f64,
) -> [f64; 2] {
    let form = kernel.scheme().linear_form(curvature / kernel.smoothness()).unwrap();
    let branches = form.branches();
    let rule = LineRule::new(branches.len(), 1.0).unwrap();
    let mut worst = [0.0_f64; 2];
    for (branch, &alpha) in branches.iter().zip(rule.nodes()) {
        let (matrix, covariance) = probe(kernel, potential, alpha);
        for i in 0..form.dimension() {
            for j in 0..form.dimension() {
                worst[0] = worst[0].max((matrix[i][j] - branch.matrix[i][j]).abs());
                let scale = (branch.noise[i][i] * branch.noise[j][j]).sqrt();
                if scale > 0.0 {
                    let difference = covariance[i][j] * kernel.smoothness() - branch.noise[i][j];
                    worst[1] = worst[1].max((difference / scale).abs());
                }
            }
        }
    }
    worst
}

#[test]
fn every_step_has_the_matrix_and_the_noise_of_its_linear_form() {
    let mut worst = [0.0_f64; 2];
    for (smoothness, curvature) in [(1.0, 1.0), (4.0, 4.0), (4.0, 0.3), (250.0, 1.0), (0.02, 0.01)]
    {
        let design = Dense::new(1, 1, vec![1.0]).unwrap();
        let family = Gaussian::new((1.0_f64 / curvature).sqrt()).unwrap();
        let ridge = Ridge::new(design, family, &[0.0], Prior::flat(1)).unwrap();
        let gradient = move |x: &[f64], g: &mut [f64]| {
            g[0] = curvature * x[0];
            Ok(())
        };
        let black_box = |nodes| Chebyshev::new(FromFn::new(1, gradient), nodes).unwrap();
        let own = Quadratic { curvature: vec![curvature] };
        let (one, two, five) = (black_box(1), black_box(2), black_box(5));
        let potentials: [&dyn LineIntegral; 5] = [&own, &ridge, &one, &two, &five];
        for (gamma, xi, eta) in
            [(1.66, 3.18, 0.415), (0.44, 2.0, 0.47), (1.0, 2.0, 1e-3), (2.0, 1.0, 1.5)]
        {
            for kernel in kernels(gamma, xi, eta, smoothness) {
                for potential in potentials {
                    let [matrix, noise] = distance_from_form(kernel.as_ref(), potential, curvature);
                    assert!(
                        matrix < 1e-13 && noise < 1e-13,
                        "{} at L = {smoothness}, eta = {eta}: {matrix:e} and {noise:e}",
                        kernel.name()
                    );
                    worst = [worst[0].max(matrix), worst[1].max(noise)];
                }
            }
        }
    }
    println!("largest differences: matrix {:e}, noise {:e}", worst[0], worst[1]);
    let mut figures = Figures::of(
        "sampler",
        concat!(file!(), "::every_step_has_the_matrix_and_the_noise_of_its_linear_form"),
    );
    figures.add("all kernels", "largest difference of the matrix", worst[0]);
    figures.add("all kernels", "largest difference of the noise", worst[1]);
    figures.hold(Near::Rounding);
}

#[test]
fn an_accepted_trajectory_has_the_matrix_and_the_noise_of_its_linear_form() {
    // A uniform number of 0 accepts.
    for (smoothness, curvature) in [(1.0, 1.0), (4.0, 4.0), (4.0, 0.3), (0.02, 0.01)] {
        let potential = Quadratic { curvature: vec![curvature] };
        for (steps, drift) in
            [(1, Drift::Straight), (4, Drift::Straight), (1, Drift::Rotating), (5, Drift::Rotating)]
        {
            let trajectory = Trajectory::new(steps, drift);
            let kernel = Adjusted::new(parameters(1.2, 2.0, 0.6), trajectory, smoothness).unwrap();
            let form = kernel.scheme().linear_form(curvature / smoothness).unwrap();
            let (matrix, covariance) = probe(&kernel, &potential, 0.0);
            for (i, j) in (0..9).map(|at| (at / 3, at % 3)) {
                let [found, noise] = [matrix[i][j], covariance[i][j] * smoothness];
                assert!((found - form.mean_matrix()[i][j]).abs() < 1e-13, "{steps} {drift:?}");
                assert!((noise - form.mean_noise()[i][j]).abs() < 1e-13, "{steps} {drift:?}");
            }
        }
    }
}

#[test]
fn a_rejected_trajectory_turns_p_round_in_its_law_too() {
    let scheme = Scheme::adjusted(1.2, 2.0, 0.7, Trajectory::new(3, Drift::Rotating)).unwrap();
    let form = |acceptance: f64, l: f64| scheme.with_acceptance(l, acceptance).unwrap().unwrap();
    let [all, none] = [1.0, 0.0].map(|a| form(a, 0.8).mean_matrix());
    assert_eq!(all, scheme.linear_form(0.8).unwrap().mean_matrix());
    // θ stays, and p is that of the step of (p, r) with a minus.
    let parameters = Parameters::new(1.2, 2.0, 2.1).unwrap();
    let [[pp, pr], [rp, rr]] = OrnsteinUhlenbeck::new(parameters, 1.0).unwrap().flow();
    let turned = [[1.0, 0.0, 0.0], [0.0, -pp, -pr], [0.0, rp, rr]];
    for (found, expected) in none.as_flattened().iter().zip(turned.as_flattened()) {
        assert!((found - expected).abs() < 1e-14, "{none:?}");
    }
    for acceptance in [0.3, 0.8] {
        let mixed = form(acceptance, 0.8).mean_matrix();
        for (i, j) in (0..9).map(|at| (at / 3, at % 3)) {
            let expected = acceptance * all[i][j] + (1.0 - acceptance) * none[i][j];
            assert!((mixed[i][j] - expected).abs() < 1e-15);
        }
        // Rotations and turns keep a standard normal.
        let stationary = form(acceptance, 1.0).stationary().unwrap();
        for (i, j) in (0..9).map(|at| (at / 3, at % 3)) {
            let expected = f64::from(u8::from(i == j));
            assert!((stationary[i][j] - expected).abs() < 1e-12, "{stationary:?}");
        }
        // Fewer accepted, longer memory.
        let time = |a: f64| Autocorrelation::new(&form(a, 1.0)).unwrap().longer();
        assert!(time(acceptance) > time(1.0));
    }
    assert!(
        scheme.with_acceptance(1.0, 1.5).is_err() && scheme.with_acceptance(-1.0, 0.5).is_err()
    );
    assert!(Scheme::baoab(1.0, 0.5).unwrap().with_acceptance(1.0, 0.5).unwrap().is_none());
}

#[test]
fn a_kernel_made_from_a_scheme_is_that_of_the_scheme() {
    for kernel in all_kernels(1.2, 2.0, 0.5, 3.0) {
        let again = from_scheme(kernel.scheme(), 3.0).unwrap();
        assert_eq!((again.name(), again.scheme()), (kernel.name(), kernel.scheme()));
        let potential = Quadratic { curvature: vec![2.0] };
        assert_eq!(probe(again.as_ref(), &potential, 0.3), probe(kernel.as_ref(), &potential, 0.3));
    }
}

/// What may be wrong with Algorithm 1.
#[derive(Debug, Clone, Copy)]
enum Mistake {
    None,
    SignOfMu32,
    SmoothnessInSigma12,
    UncorrelatedNoise,
}

/// Algorithm 1 written a second time, with a mistake. It claims to be the right one.
#[derive(Debug)]
struct Mistaken {
    right: ThirdOrder,
    coefficients: Coefficients,
    mistake: Mistake,
}

impl Mistaken {
    fn new(mistake: Mistake, gamma: f64, xi: f64, eta: f64, smoothness: f64) -> Self {
        let parameters = parameters(gamma, xi, eta);
        Self {
            right: ThirdOrder::new(parameters, smoothness).unwrap(),
            coefficients: Coefficients::new(parameters, smoothness).unwrap(),
            mistake,
        }
    }

    fn factor(&self) -> Matrix {
        let mut a = self.coefficients.covariance();
        match self.mistake {
            Mistake::SmoothnessInSigma12 => {
                a[0][1] /= self.coefficients.smoothness();
                a[1][0] = a[0][1];
            }
            Mistake::UncorrelatedNoise => {
                a = std::array::from_fn(|i| {
                    std::array::from_fn(|j| if i == j { a[i][i] } else { 0.0 })
                });
            }
            Mistake::None | Mistake::SignOfMu32 => {}
        }
        let mut l = [[0.0; 3]; 3];
        for i in 0..3 {
            for j in 0..=i {
                let rest: f64 = a[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
                l[i][j] = if i == j { rest.sqrt() } else { rest / l[j][j] };
            }
        }
        assert!(l.iter().flatten().all(|x| x.is_finite()), "the mistake must leave a covariance");
        l
    }
}

step_of_its_own!(
    Mistaken,
    right,
    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        step.check(self)?;
        let Step { potential, from, noise, to, workspace } = step;
        let c = &self.coefficients;
        let eta = c.parameters().eta();
        let mu32 = if matches!(self.mistake, Mistake::SignOfMu32) { -c.mu32() } else { c.mu32() };
        let l = self.factor();
        let room = workspace.room(from);
        potential.integrate(eta, from.theta(), from.p(), room.first, room.scratch)?;
        let (d, fields) = (from.dimension(), to.fields_mut());
        for i in 0..from.theta().len() {
            let n: [f64; 3] = std::array::from_fn(|j| noise.normals[(3 * (i / d) + j) * d + i % d]);
            let noise = |row: usize| (0..=row).map(|j| l[row][j] * n[j]).sum::<f64>();
            let (delta, p, r) = (room.first[i] / c.smoothness(), from.p()[i], from.r()[i]);
            fields.theta[i] =
                from.theta()[i] - 0.5 * eta * delta + c.mu12() * p + c.mu13() * r + noise(0);
            fields.p[i] = -delta + c.mu22() * p + c.mu23() * r + noise(1);
            fields.r[i] = c.mu31() * delta + mu32 * p + c.mu33() * r + noise(2);
        }
        Ok(1)
    }
);

/// A potential whose segments have the velocity a q + b θ in place of q.
struct OtherSegment<'a> {
    potential: &'a dyn LineIntegral,
    a: f64,
    b: f64,
}

impl LineIntegral for OtherSegment<'_> {
    fn dimension(&self) -> usize {
        self.potential.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        self.potential.gradients_per_integral()
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        let other: Vec<f64> =
            momenta.iter().zip(positions).map(|(q, x)| self.a * q + self.b * x).collect();
        self.potential.integrate(length, positions, &other, integrals, scratch)
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        self.potential.gradients(positions, gradients, scratch)
    }
}

/// The averaged kernel along another segment. It claims to be the right one.
#[derive(Debug)]
struct AlongOther {
    right: Averaged,
    a: f64,
    b: f64,
}

impl AlongOther {
    fn new([a, b]: [f64; 2], gamma: f64, xi: f64, eta: f64, smoothness: f64) -> Self {
        Self { right: Averaged::new(parameters(gamma, xi, eta), smoothness).unwrap(), a, b }
    }

    /// With p in place of q, as Algorithm 1 has it; and q without its denominator.
    fn mistakes(eta: f64) -> [[f64; 2]; 2] {
        let denominator = 1.0 + eta * eta / 4.0;
        [[denominator, eta / 2.0], [denominator, 0.0]]
    }
}

step_of_its_own!(
    AlongOther,
    right,
    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let other = OtherSegment { potential: step.potential, a: self.a, b: self.b };
        let Step { from, noise, to, workspace, .. } = step;
        self.right.step(Step { potential: &other, from, noise, to, workspace })
    }
);

#[test]
fn the_probe_tells_a_mistaken_kernel_from_the_right_one() {
    let potential = Quadratic { curvature: vec![1.0] };
    let distance = |mistake| {
        let kernel = Mistaken::new(mistake, 1.0, 2.0, 0.8, 4.0);
        let [matrix, noise] = distance_from_form(&kernel, &potential, 1.0);
        matrix.max(noise)
    };
    assert!(distance(Mistake::None) < 1e-13);
    for mistake in [Mistake::SignOfMu32, Mistake::SmoothnessInSigma12, Mistake::UncorrelatedNoise] {
        assert!(distance(mistake) > 0.1, "{mistake:?}: {}", distance(mistake));
    }
    let along = |other| {
        let [matrix, noise] =
            distance_from_form(&AlongOther::new(other, 1.0, 2.0, 0.8, 1.0), &potential, 1.0);
        matrix.max(noise)
    };
    assert!(along([1.0, 0.0]) < 1e-13);
    for mistake in AlongOther::mistakes(0.8) {
        assert!(along(mistake) > 0.01, "{mistake:?}: {}", along(mistake));
    }
}

/// Sums over coordinates of one eigenvalue.
struct Moments {
    count: f64,
    mean: [f64; 3],
    /// About the mean that is expected.
    second: Matrix,
    /// Of the squares of those products.
    fourth: Matrix,
}

fn moments(
    ensemble: &Ensemble<'_>, coordinates: std::ops::Range<usize>, about: [f64; 3],
) -> Moments {
    let mut sums =
        Moments { count: 0.0, mean: [0.0; 3], second: [[0.0; 3]; 3], fourth: [[0.0; 3]; 3] };
    for saved in ensemble.snapshot().chains {
        assert!(saved.end.is_none());
        for k in coordinates.clone() {
            let x = [
                saved.state.theta[k] - about[0],
                saved.state.p[k] - about[1],
                saved.state.r[k] - about[2],
            ];
            sums.count += 1.0;
            for i in 0..3 {
                sums.mean[i] += x[i];
                for j in 0..3 {
                    sums.second[i][j] += x[i] * x[j];
                    sums.fourth[i][j] += (x[i] * x[j]).powi(2);
                }
            }
        }
    }
    sums
}

/// z-scores of means and covariances against a law. Standard errors are those of a Gaussian law
/// where it is one (all kernels but the randomized midpoint, whose law is a mixture), else the
/// empirical ones.
fn scores(ensemble: &Ensemble<'_>, law: &Law, variables: usize, gaussian: bool) -> Vec<f64> {
    let mut scores = Vec::new();
    let mut first = 0;
    for mode in law.modes() {
        let last = first + usize::try_from(mode.multiplicity).unwrap();
        let sums = moments(ensemble, first..last, mode.mean);
        first = last;
        let (n, s) = (sums.count, mode.covariance);
        for i in 0..variables {
            // At step 1 from a fixed point every variable has already noise of its own.
            scores.push(sums.mean[i] / (n * s[i][i]).sqrt());
            for j in 0..=i {
                let variance = if gaussian {
                    s[i][i] * s[j][j] + s[i][j] * s[i][j]
                } else {
                    sums.fourth[i][j] / n - (sums.second[i][j] / n).powi(2)
                };
                scores.push((sums.second[i][j] / n - s[i][j]) / (variance / n).sqrt());
            }
        }
    }
    scores
}

/// All z-scores of a kernel's chains at steps 1, 2, 5 and at stationarity.
fn all_scores(kernel: &dyn LinearKernel, spectrum: &[(f64, u64)], seed: u64) -> Vec<f64> {
    const CHAINS: usize = 4096;
    let target = Spectrum::new(spectrum).unwrap();
    assert_eq!(target.smoothness(), kernel.smoothness());
    let displacements: Vec<f64> =
        spectrum.iter().map(|(curvature, _)| 1.5 / curvature.sqrt()).collect();
    let each = |f: &dyn Fn(usize) -> f64| -> Vec<f64> {
        (0..spectrum.len())
            .flat_map(|k| vec![f(k); usize::try_from(spectrum[k].1).unwrap()])
            .collect()
    };
    let potential = Quadratic { curvature: each(&|k| spectrum[k].0) };
    let starts = each(&|k| displacements[k]).repeat(CHAINS);
    let form = |l: f64| kernel.scheme().linear_form(l).unwrap();
    let variables = form(1.0).dimension();
    let gaussian = form(1.0).branches().len() == 1;
    let evolution =
        Evolution::new(kernel.scheme(), &target, &Start::Displaced(displacements)).unwrap();

    let mut ensemble = Ensemble::new(&potential, seed, &starts, kernel.smoothness()).unwrap();
    let mut found = Vec::new();
    for steps in [1, 2, 5] {
        ensemble.advance(kernel, steps - ensemble.steps());
        found.extend(scores(&ensemble, &evolution.after(steps), variables, gaussian));
    }
    // Until what is left of the start is far below the standard error of a mean.
    let radius = |(curvature, _): &(f64, u64)| {
        form(curvature / kernel.smoothness()).spectral_radius().unwrap()
    };
    let slowest = spectrum.iter().map(radius).fold(0.0, f64::max);
    let mut steps = 5;
    while slowest.powf(steps as f64) > 1e-4 {
        steps += 5;
    }
    ensemble.advance(kernel, steps - ensemble.steps());
    found.extend(scores(&ensemble, &evolution.stationary().unwrap(), variables, gaussian));
    found
}

fn largest(scores: &[f64]) -> f64 {
    scores
        .iter()
        .fold(0.0, |largest, z| if z.abs() > largest || z.is_nan() { z.abs() } else { largest })
}

const SPECTRA: [&[(f64, u64)]; 3] =
    [&[(4.0, 8)], &[(0.5, 4), (0.1, 4), (0.025, 4)], &[(25.0, 4), (250.0, 4), (100.0, 4)]];

fn threshold() -> f64 {
    critical(FALSE_ALARMS / MOST_SCORES as f64)
}

#[test]
fn chains_have_the_mean_and_covariance_of_the_exact_law_at_every_time() {
    let mut all = Vec::new();
    for (case, spectrum) in SPECTRA.into_iter().enumerate() {
        let smoothness = spectrum.iter().map(|(curvature, _)| *curvature).fold(0.0, f64::max);
        for (gamma, xi, eta) in [(0.7, 2.0, 0.5), (1.5, 3.0, 0.9)] {
            for kernel in kernels(gamma, xi, eta, smoothness) {
                let scores = all_scores(kernel.as_ref(), spectrum, 100 + case as u64);
                let worst = largest(&scores);
                assert!(
                    worst < threshold(),
                    "{} on spectrum {case}, eta = {eta}: {worst}",
                    kernel.name()
                );
                all.extend(scores);
            }
        }
    }
    assert!(all.len() <= MOST_SCORES);
    let square = all.iter().map(|z| z * z).sum::<f64>() / all.len() as f64;
    println!("{} scores, largest {:.2}, mean square {square:.3}", all.len(), largest(&all));
    // They would also be wrong if they were too small: mean square 1, scores of one time and mode
    // being dependent.
    assert!((0.8..1.25).contains(&square));
    let mut figures = Figures::of(
        "sampler",
        concat!(file!(), "::chains_have_the_mean_and_covariance_of_the_exact_law_at_every_time"),
    );
    figures.add("all kernels", "scores", all.len() as f64);
    figures.add("all kernels", "largest", largest(&all));
    figures.add("all kernels", "mean square", square);
    figures.hold(Near::Same);
}

#[test]
fn the_same_scores_catch_mistakes() {
    let kernel = |mistake| Mistaken::new(mistake, 1.5, 3.0, 0.9, 4.0);
    let right = largest(&all_scores(&kernel(Mistake::None), SPECTRA[0], 100));
    assert!(right < threshold());
    let mut figures = Figures::of("sampler", concat!(file!(), "::the_same_scores_catch_mistakes"));
    for mistake in [Mistake::SignOfMu32, Mistake::SmoothnessInSigma12, Mistake::UncorrelatedNoise] {
        let worst = largest(&all_scores(&kernel(mistake), SPECTRA[0], 100));
        println!("{mistake:?}: {worst:.1}");
        assert!(worst > 2.0 * threshold(), "{mistake:?}: {worst}");
        figures.add(&format!("{mistake:?}"), "largest score", worst);
    }
    let along =
        |other| largest(&all_scores(&AlongOther::new(other, 1.5, 3.0, 0.9, 4.0), SPECTRA[0], 100));
    assert!(along([1.0, 0.0]) < threshold());
    for (name, mistake) in
        ["AlongP", "WithoutDenominator"].into_iter().zip(AlongOther::mistakes(0.9))
    {
        let worst = along(mistake);
        println!("{name}: {worst:.1}");
        assert!(worst > 2.0 * threshold(), "{name}: {worst}");
        figures.add(name, "largest score", worst);
    }
    figures.hold(Near::Same);
}
