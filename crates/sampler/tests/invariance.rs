//! Trajectories that are accepted or rejected leave the target as it is, at steps so long that half
//! of them are rejected: from a million exact draws two trajectories make a million exact draws, and
//! ranks of simulation-based calibration are uniform. The same tests catch trajectories that are
//! all accepted, trajectories that are charged for what the step of (p, r) does to the energy, and
//! rejections after which p goes on as before.

use crate::adjusted::Setting;
use crate::common::{critical, step_of_its_own};
use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_figures::{Figures, Near};
use ridgewalk_lyapunov::laws::Drift;
use ridgewalk_potentials::families::Logistic;
use ridgewalk_potentials::{
    Chebyshev, Dense, Gradient, GradientError, LineIntegral, Prior, Ridge, Scratch,
};
use ridgewalk_sampler::{Adjusted, Batch, Error, Kernel, Noise, Step, Stream, Workspace};

/// Exact draws of each test, two trajectories each.
const DRAWS: usize = 1_000_000;
/// False alarms of each Kolmogorov-Smirnov and each energy test. There are fewer than a hundred in
/// this file.
const LEVEL: f64 = 1e-6;

/// A law with exact draws: d independent variables, a minimum's Gumbel law and the logistic law in
/// turn, mixed by a matrix.
#[derive(Debug, Clone)]
struct Mixed {
    /// θ = `map` z.
    map: Vec<Vec<f64>>,
    /// z = `back` θ.
    back: Vec<Vec<f64>>,
}

impl Mixed {
    /// One Gumbel variable, as it is.
    fn one() -> Self {
        Self { map: vec![vec![1.0]], back: vec![vec![1.0]] }
    }

    /// Five variables, each a sum of its own and of others: θ_k = s_k (z_k + 0.6 θ_(k−1)), with
    /// correlations up to 0.5.
    fn five() -> Self {
        let scales = [1.0, 0.7, 1.3, 0.8, 1.1];
        let (mut map, mut back) = (vec![vec![0.0; 5]; 5], vec![vec![0.0; 5]; 5]);
        for k in 0..5 {
            map[k][k] = scales[k];
            (back[k][k], back[k.max(1)][k.max(1) - 1]) = (1.0 / scales[k], -0.6);
            for j in 0..k {
                map[k][j] = 0.6 * scales[k] * map[k - 1][j];
            }
        }
        Self { map, back }
    }

    fn dimension(&self) -> usize {
        self.map.len()
    }

    fn image(matrix: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
        matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    /// The distribution function of z_k.
    fn cdf(k: usize, z: f64) -> f64 {
        if k.is_multiple_of(2) { -(-z.exp()).exp_m1() } else { 1.0 / (1.0 + (-z).exp()) }
    }

    /// Exact draws of θ, one after the other.
    fn draws(&self, seed: u64) -> Vec<f64> {
        let d = self.dimension();
        let mut uniforms = vec![0.0; d * DRAWS];
        Stream::new(seed, 0).uniforms(&mut uniforms);
        let inverse = |(k, u): (usize, &f64)| {
            let u = u.clamp(1e-300, 1.0 - 1e-16);
            if k.is_multiple_of(2) { (-(-u).ln_1p()).ln() } else { (u / (1.0 - u)).ln() }
        };
        let draw = |u: &[f64]| {
            Self::image(&self.map, &u.iter().enumerate().map(inverse).collect::<Vec<_>>())
        };
        uniforms.chunks_exact(d).flat_map(draw).collect()
    }
}

impl Gradient for Mixed {
    fn dimension(&self) -> usize {
        self.map.len()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        self.value_and_gradient(point, gradient).map(|_| ())
    }

    /// Minus the logarithms of e^z exp(−e^z) and of e^−z/(1 + e^−z)².
    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        gradient.fill(0.0);
        let mut value = 0.0;
        for (k, row) in self.back.iter().enumerate() {
            let z: f64 = row.iter().zip(point).map(|(a, x)| a * x).sum();
            let e = z.exp();
            let slope = if k.is_multiple_of(2) {
                value += e - z;
                e - 1.0
            } else {
                value += z + 2.0 * (-z).exp().ln_1p();
                1.0 - 2.0 / (1.0 + e)
            };
            gradient.iter_mut().zip(row).for_each(|(g, a)| *g += a * slope);
        }
        Ok(Some(value))
    }
}

/// The largest distance of an empirical distribution function from the true one, over the one that
/// a true sample exceeds with probability [`LEVEL`] (Kolmogorov's limit, 2 exp(−2 x²)).
fn kolmogorov(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let off = |(i, x): (usize, &f64)| {
        let f = cdf(*x);
        (f - i as f64 / n).max((i + 1) as f64 / n - f)
    };
    let largest = sample.iter().enumerate().map(off).fold(0.0, f64::max);
    largest * n.sqrt() / (0.5 * (2.0 / LEVEL).ln()).sqrt()
}

/// The energy distance 2 E|X − Y| − E|X − X'| − E|Y − Y'| = 2 ∫ (F − G)² of two samples of equal
/// size, over its critical value at [`LEVEL`]. For samples of the same law n/2 times it, over E|X −
/// Y|, is at most as large as a squared standard normal, as far out as that (Székely and Bakirov
/// 2003).
fn energy(mut x: Vec<f64>, mut y: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    y.sort_by(f64::total_cmp);
    let n = x.len();
    let (mut i, mut j, mut last, mut distance, mut spread) = (0, 0, x[0].min(y[0]), 0.0, 0.0);
    while i < n || j < n {
        let next = if j == n || (i < n && x[i] <= y[j]) { x[i] } else { y[j] };
        let (f, g) = (i as f64 / n as f64, j as f64 / n as f64);
        distance += 2.0 * (f - g) * (f - g) * (next - last);
        spread += (f * (1.0 - g) + g * (1.0 - f)) * (next - last);
        if j == n || (i < n && x[i] <= y[j]) {
            i += 1
        } else {
            j += 1
        }
        last = next;
    }
    0.5 * n as f64 * distance / spread / critical(LEVEL).powi(2)
}

/// How far some points are from being draws of a law: the largest of the tests' statistics over
/// their critical values. Above 1 is a failure.
fn verdict(law: &Mixed, points: &[f64], seed: u64) -> [f64; 2] {
    let d = law.dimension();
    let z: Vec<f64> = points.chunks_exact(d).flat_map(|x| Mixed::image(&law.back, x)).collect();
    let coordinate = |k: usize| z.iter().skip(k).step_by(d).copied().collect();
    let largest =
        (0..d).map(|k| kolmogorov(coordinate(k), |x| Mixed::cdf(k, x))).fold(0.0, f64::max);
    // Other exact draws, in random directions of θ.
    let others = law.draws(seed);
    let mut directions = vec![0.0; d * if d == 1 { 1 } else { 3 }];
    Stream::new(seed, 1).normals(&mut directions);
    let energies = directions.chunks_exact(d).map(|direction| {
        let project = |points: &[f64]| {
            points
                .chunks_exact(d)
                .map(|x| x.iter().zip(direction).map(|(x, v)| x * v).sum())
                .collect()
        };
        energy(project(points), project(&others))
    });
    [largest, energies.fold(0.0, f64::max)]
}

/// What a trajectory is made of, one chain at a time; and what may be wrong with it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Composed {
    Right,
    /// Everything is accepted.
    AllAccepted,
    /// Energy errors are the change of the whole energy, with what the step of (p, r) does to it.
    ChargedForNoise,
    /// p is as it was after a rejection.
    NotTurned,
}

/// Two trajectories from every start, with p and r drawn before the first, and the mean probability
/// of acceptance.
fn composed(law: &Mixed, starts: &[f64], at: Setting, kind: Composed) -> (Vec<f64>, f64) {
    let (d, mut source) = (law.dimension(), Stream::new(77, 5));
    let time = f64::from(at.steps) * at.eta;
    let whole =
        OrnsteinUhlenbeck::new(Parameters::new(at.gamma, at.xi, time).unwrap(), 1.0).unwrap();
    let ([[pp, pr], [rp, rr]], [l11, l21, l22]) = (whole.flow(), whole.cholesky());
    let (mut points, mut accepted) = (starts.to_vec(), 0.0);
    let [mut p, mut r, mut gradient] = [vec![0.0; d], vec![0.0; d], vec![0.0; d]];
    let mut normals = vec![0.0; 2 * d];
    let squares = |list: &[f64]| 0.5 * list.iter().map(|x| x * x).sum::<f64>();
    for point in points.chunks_exact_mut(d) {
        source.normals(&mut p);
        source.normals(&mut r);
        for _ in 0..2 {
            let mut value = law.value_and_gradient(point, &mut gradient).unwrap().unwrap();
            let charged = value + squares(&p) + squares(&r);
            source.normals(&mut normals);
            for k in 0..d {
                let (n1, n2) = (normals[k], normals[d + k]);
                (p[k], r[k]) =
                    (pp * p[k] + pr * r[k] + l11 * n1, rp * p[k] + rr * r[k] + l21 * n1 + l22 * n2);
            }
            let before = value + squares(&p);
            let (old, mut theta) = (p.clone(), point.to_vec());
            for _ in 0..at.steps {
                p.iter_mut().zip(&gradient).for_each(|(p, g)| *p -= 0.5 * at.eta * g);
                theta.iter_mut().zip(&p).for_each(|(x, p)| *x += at.eta * p);
                value = law.value_and_gradient(&theta, &mut gradient).unwrap().unwrap();
                p.iter_mut().zip(&gradient).for_each(|(p, g)| *p -= 0.5 * at.eta * g);
            }
            let error = if kind == Composed::ChargedForNoise {
                value + squares(&p) + squares(&r) - charged
            } else {
                value + squares(&p) - before
            };
            let mut uniform = [0.0];
            source.uniforms(&mut uniform);
            let probability = if error <= 1000.0 { (-error).exp().min(1.0) } else { 0.0 };
            accepted += 0.5 * probability;
            let all = kind == Composed::AllAccepted && error.is_finite();
            if all || uniform[0] < probability {
                point.copy_from_slice(&theta);
            } else {
                let sign = if kind == Composed::NotTurned { 1.0 } else { -1.0 };
                p.iter_mut().zip(&old).for_each(|(p, old)| *p = sign * old);
            }
        }
    }
    (points, accepted / DRAWS as f64)
}

/// A kernel with a mistake: every trajectory that does not diverge is accepted, or p goes on as before
/// where one is rejected.
#[derive(Debug)]
struct Mistaken {
    right: Adjusted,
    all_accepted: bool,
}

step_of_its_own!(
    Mistaken,
    right,
    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        let Step { potential, from, noise, to, workspace } = step;
        let mut uniforms = noise.uniforms.to_vec();
        if self.all_accepted {
            uniforms.iter_mut().skip(1).step_by(2).for_each(|u| *u = 0.0);
        }
        let noise = Noise { uniforms: &uniforms, ..noise };
        let spent = self.right.step(Step { potential, from, noise, to, workspace })?;
        let d = to.dimension();
        let rejected: Vec<usize> = (0..to.chains())
            .filter(|chain| !self.all_accepted && !to.proposals()[*chain].accepted)
            .collect();
        let p = to.fields_mut().p;
        for chain in rejected {
            p[chain * d..(chain + 1) * d].iter_mut().for_each(|p| *p = -*p);
        }
        Ok(spent)
    }
);

/// Two trajectories from every start, as the kernel makes them, and how many of the proposals were
/// accepted.
fn moved(law: &Mixed, starts: &[f64], kernel: &dyn Kernel) -> (Vec<f64>, f64) {
    let (d, potential) = (law.dimension(), Chebyshev::new(law.clone(), 1).unwrap());
    let together = 1000;
    let mut source = Stream::new(3, 9);
    let [mut from, mut to] = [(); 2].map(|()| Batch::new(d, together).unwrap());
    let mut normals = vec![0.0; kernel.normals() * d * together];
    let mut uniforms = vec![0.0; kernel.uniforms() * together];
    let (mut points, mut moved) = (Vec::with_capacity(starts.len()), 0.0);
    let mut workspace = Workspace::default();
    for starts in starts.chunks_exact(d * together) {
        let fields = from.fields_mut();
        fields.theta.copy_from_slice(starts);
        source.normals(fields.p);
        source.normals(fields.r);
        for _ in 0..2 {
            source.normals(&mut normals);
            source.uniforms(&mut uniforms);
            let noise = Noise { normals: &normals, uniforms: &uniforms };
            let (potential, to, workspace) = (&potential, &mut to, &mut workspace);
            kernel.step(Step { potential, from: &from, noise, to, workspace }).unwrap();
            let stays = |(old, new): &(&f64, &f64)| old == new;
            let stayed = from.theta().iter().zip(to.theta()).step_by(d).filter(stays).count();
            moved += 0.5 * (together - stayed) as f64;
            std::mem::swap(&mut from, to);
        }
        points.extend_from_slice(from.theta());
    }
    (points, moved / DRAWS as f64)
}

/// Steps so long that about half of the trajectories are rejected.
fn settings(law: &Mixed) -> [Setting; 2] {
    let straight = Setting { gamma: 0.3, xi: 2.0, eta: 1.25, steps: 3, drift: Drift::Straight };
    let rotating = Setting { eta: 1.4, drift: Drift::Rotating, ..straight };
    if law.dimension() == 1 {
        [Setting { eta: 1.75, ..straight }, Setting { eta: 2.3, ..rotating }]
    } else {
        [Setting { eta: 1.2, ..straight }, Setting { eta: 1.35, ..rotating }]
    }
}

fn leaves_the_law_unchanged(law: &Mixed, mut figures: Figures) {
    let mut keep = |case: &str, acceptance: f64, ks: f64, energy: f64| {
        for (figure, value) in
            [("acceptance", acceptance), ("Kolmogorov-Smirnov", ks), ("energy", energy)]
        {
            figures.add(case, figure, value);
        }
    };
    let starts = law.draws(1);
    let [ks, energy] = verdict(law, &starts, 2);
    assert!(ks < 1.0 && energy < 1.0, "the exact draws themselves: {ks} and {energy}");
    for setting in settings(law) {
        let (points, acceptance) = moved(law, &starts, &setting.kernel(1.0));
        let [ks, energy] = verdict(law, &points, 2);
        println!(
            "{setting:?}: acceptance {acceptance:.3}, KS {ks:.2}, energy {energy:.2} of critical"
        );
        assert!((0.35..0.65).contains(&acceptance), "{setting:?}: acceptance {acceptance}");
        assert!(ks < 1.0 && energy < 1.0, "{setting:?}: {ks} and {energy}");
        keep(&format!("{:?}", setting.drift), acceptance, ks, energy);
        for all_accepted in [true, false] {
            let what = if all_accepted { "all accepted" } else { "not turned" };
            let mistaken = Mistaken { right: setting.kernel(1.0), all_accepted };
            let (points, acceptance) = moved(law, &starts, &mistaken);
            let [ks, energy] = verdict(law, &points, 2);
            println!("  {what}: KS {ks:.2}, energy {energy:.2}");
            assert!(ks > 1.5, "{what}, {setting:?}: {ks} and {energy}");
            keep(&format!("{:?} {what}", setting.drift), acceptance, ks, energy);
        }
    }
    let setting = settings(law)[0];
    use Composed::{AllAccepted, ChargedForNoise, NotTurned, Right};
    for kind in [Right, AllAccepted, ChargedForNoise, NotTurned] {
        let (points, acceptance) = composed(law, &starts, setting, kind);
        let [ks, energy] = verdict(law, &points, 2);
        println!(
            "{kind:?}: acceptance {acceptance:.3}, KS {ks:.2}, energy {energy:.2} of critical"
        );
        if kind == Composed::Right {
            assert!(
                ks < 1.0 && energy < 1.0 && (0.2..0.6).contains(&acceptance),
                "{ks} and {energy}"
            );
        } else {
            assert!(ks > 1.5, "{kind:?}: {ks} and {energy}");
        }
        keep(&format!("composed {kind:?}"), acceptance, ks, energy);
    }
    figures.hold(Near::Same);
}

#[test]
fn a_skewed_law_stays_as_it_is() {
    let figures = Figures::of("sampler", concat!(file!(), "::a_skewed_law_stays_as_it_is"));
    leaves_the_law_unchanged(&Mixed::one(), figures);
}

#[test]
fn a_correlated_law_of_five_dimensions_stays_as_it_is() {
    let test = concat!(file!(), "::a_correlated_law_of_five_dimensions_stays_as_it_is");
    leaves_the_law_unchanged(&Mixed::five(), Figures::of("sampler", test));
}

/// One chain of two coefficients, stepped by hand.
struct Chain<'a> {
    potential: &'a dyn LineIntegral,
    now: Batch,
    source: Stream,
    workspace: Workspace,
    accepted: f64,
}

impl Chain<'_> {
    /// A trajectory; without its step of (p, r) if `undone` has that step. Then it begins with what
    /// this step leads to the present p and r from.
    fn step(&mut self, kernel: &dyn Kernel, undone: Option<&OrnsteinUhlenbeck>) {
        let (mut normals, mut uniforms) = ([0.0; 4], [0.0; 2]);
        self.source.normals(&mut normals);
        self.source.uniforms(&mut uniforms);
        if let Some(step) = undone {
            let ([[pp, pr], [rp, rr]], [l11, l21, l22]) = (step.flow(), step.cholesky());
            let fields = self.now.fields_mut();
            for k in 0..2 {
                let (n1, n2) = (normals[k], normals[2 + k]);
                let (p, r) = (fields.p[k] - l11 * n1, fields.r[k] - l21 * n1 - l22 * n2);
                let det = pp * rr - pr * rp;
                (fields.p[k], fields.r[k]) = ((rr * p - pr * r) / det, (pp * r - rp * p) / det);
            }
        }
        let mut to = self.now.clone();
        let noise = Noise { normals: &normals, uniforms: &uniforms };
        let (potential, from, workspace) = (self.potential, &self.now, &mut self.workspace);
        kernel.step(Step { potential, from, noise, to: &mut to, workspace }).unwrap();
        self.accepted += f64::from(u8::from(to.theta() != self.now.theta()));
        self.now = to;
    }
}

/// Ranks of simulation-based calibration, exactly uniform if the kernel is reversible and leaves
/// the posterior as it is, whether or not it mixes: a prior draw and its data are a posterior draw,
/// which is put at a random place among 63 others that are made from it in both directions (Gandy
/// and Scott 2021). Backwards in time p has the other sign, and trajectories come before the steps
/// of (p, r): the first is without its own. How far ranks are from uniform: the largest χ² of 16
/// bins over its critical value, for both coefficients and the log-density; and the share of the
/// trajectories that were accepted.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks and places are at most 63"
)]
fn calibration(
    kernel: &dyn Kernel, refresh: &OrnsteinUhlenbeck, replications: u64, rows: usize,
    seen_as: impl Fn(&Ridge<'static, Logistic>) -> Box<dyn LineIntegral>,
) -> [f64; 2] {
    const OTHERS: u64 = 63;
    const THIN: u64 = 2;
    let mut counts = [[0.0_f64; 16]; 3];
    let mut acceptance = 0.0;
    for replication in 0..replications {
        let mut source = Stream::new(1234, replication);
        let (mut theta, mut design) = ([0.0; 2], vec![0.0; 2 * rows]);
        let mut uniforms = vec![0.0; rows + 4];
        source.normals(&mut theta);
        theta.iter_mut().for_each(|x| *x *= 2.0);
        source.normals(&mut design);
        source.uniforms(&mut uniforms);
        let success = |(row, u): (&[f64], &f64)| {
            let predictor = row[0] * theta[0] + row[1] * theta[1];
            f64::from(u8::from(*u < 1.0 / (1.0 + (-predictor).exp())))
        };
        let responses: Vec<f64> = design.chunks_exact(2).zip(&uniforms).map(success).collect();
        let design = Dense::new(rows, 2, design).unwrap();
        let model =
            Ridge::new(design, Logistic, &responses, Prior::centred(2, 2.0).unwrap()).unwrap();
        let potential = &*seen_as(&model);
        let place = (uniforms[rows] * (OTHERS + 1) as f64) as u64;
        let own = [theta[0], theta[1], model.value(&theta).unwrap()];
        let mut momenta = [0.0; 4];
        source.normals(&mut momenta);
        let (mut below, mut equal) = ([0.0; 3], [0.0; 3]);
        for (direction, draws) in [(0, place), (1, OTHERS - place)] {
            let mut now = Batch::new(2, 1).unwrap();
            let fields = now.fields_mut();
            fields.theta.copy_from_slice(&theta);
            fields.p.copy_from_slice(&momenta[..2]);
            fields.r.copy_from_slice(&momenta[2..]);
            if direction == 0 {
                fields.p.iter_mut().for_each(|p| *p = -*p);
            }
            let workspace = Workspace::default();
            let source = Stream::new(2 * replication + direction, 0);
            let mut chain = Chain { potential, now, source, workspace, accepted: 0.0 };
            for made in 0..draws * THIN {
                chain.step(kernel, (direction == 0 && made == 0).then_some(refresh));
                if made % THIN < THIN - 1 {
                    continue;
                }
                let draw = chain.now.theta();
                let found = [draw[0], draw[1], model.value(draw).unwrap()];
                for k in 0..3 {
                    below[k] += f64::from(u8::from(found[k] < own[k]));
                    equal[k] += f64::from(u8::from(found[k] == own[k]));
                }
            }
            acceptance += chain.accepted / (replications * OTHERS * THIN) as f64;
        }
        for k in 0..3 {
            // Among draws that stayed where it is, at random.
            let rank = below[k] + (uniforms[rows + 1 + k] * (equal[k] + 1.0)).floor();
            counts[k][rank as usize / 4] += 1.0;
        }
    }
    // χ² with 15 degrees of freedom by Wilson and Hilferty; three tests, one side.
    let z = critical(2.0 * LEVEL / 3.0);
    let most = 15.0 * (1.0 - 2.0 / 135.0 + z * (2.0_f64 / 135.0).sqrt()).powi(3);
    let expected = replications as f64 / 16.0;
    let of =
        |counts: &[f64; 16]| counts.iter().map(|n| (n - expected).powi(2) / expected).sum::<f64>();
    [counts.iter().map(of).fold(0.0, f64::max) / most, acceptance]
}

#[test]
fn ranks_of_simulation_based_calibration_are_uniform() {
    let setting = Setting { gamma: 1.2, xi: 2.0, eta: 1.2, steps: 2, drift: Drift::Straight };
    let refresh = OrnsteinUhlenbeck::new(Parameters::new(1.2, 2.0, 2.4).unwrap(), 1.0).unwrap();
    let plain = |model: &Ridge<'static, Logistic>| Box::new(model.clone()) as Box<dyn LineIntegral>;
    let [off, acceptance] = calibration(&setting.kernel(1.0), &refresh, 3000, 12, plain);
    println!("acceptance {acceptance:.3}: {off:.2} of the critical value");
    assert!(off < 1.0, "{off}");
    assert!((0.62..0.78).contains(&acceptance), "{acceptance}");
    let mut figures = Figures::of(
        "sampler",
        concat!(file!(), "::ranks_of_simulation_based_calibration_are_uniform"),
    );
    figures.add("right", "acceptance", acceptance);
    figures.add("right", "chi-square of critical", off);
    let mistaken = Mistaken { right: setting.kernel(1.0), all_accepted: true };
    let [off, _] = calibration(&mistaken, &refresh, 3000, 12, plain);
    println!("all accepted: {off:.2}");
    assert!(off > 2.0, "{off}");
    figures.add("all accepted", "chi-square of critical", off);
    figures.hold(Near::Same);
}

/// A posterior whose stiff rows draw chains in: their motion does not keep volumes.
#[derive(Debug)]
struct Shrinking(Ridge<'static, Logistic>);

impl LineIntegral for Shrinking {
    fn dimension(&self) -> usize {
        LineIntegral::dimension(&self.0)
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        self.0.integrate(length, positions, momenta, integrals, scratch)
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        self.0.gradients(positions, gradients, scratch)
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        self.0.values_and_gradients(positions, values, gradients, scratch)
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.0.add_stiff(eta, per_l, z, p);
        z.iter_mut().for_each(|z| *z *= 0.95);
    }
}

/// The same with 64 rows, two of which are split off, and a prior that is about as wide as the
/// coordinates assume.
#[test]
fn ranks_are_uniform_with_stiff_rows_split_off() {
    let setting = Setting { gamma: 1.2, xi: 2.0, eta: 0.5, steps: 2, drift: Drift::Split };
    let refresh = OrnsteinUhlenbeck::new(Parameters::new(1.2, 2.0, 1.0).unwrap(), 1.0).unwrap();
    let plain = |model: &Ridge<'static, Logistic>| {
        assert_eq!(LineIntegral::stiff(model), 2);
        Box::new(model.clone()) as Box<dyn LineIntegral>
    };
    let kernel = setting.kernel(1.0);
    let [off, acceptance] = calibration(&kernel, &refresh, 2000, 64, plain);
    println!("acceptance {acceptance:.3}: {off:.2} of the critical value");
    assert!(off < 1.0, "{off}");
    assert!((0.3..0.95).contains(&acceptance), "{acceptance}");
    let planted = |model: &Ridge<'static, Logistic>| {
        Box::new(Shrinking(model.clone())) as Box<dyn LineIntegral>
    };
    let [off, _] = calibration(&kernel, &refresh, 2000, 64, planted);
    println!("shrinking: {off:.2}");
    assert!(off > 2.0, "{off}");
}
