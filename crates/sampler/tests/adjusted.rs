//! Trajectories that are accepted or rejected: each is what the definition says, divergences are
//! counted, and what a warm-up makes of them. That they leave the target as it is is in
//! `invariance.rs`.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::laws::{Drift, KernelKind, Trajectory};
use ridgewalk_potentials::{Chebyshev, FromFn, FromValueFn, LineIntegral, Scratch};
use ridgewalk_sampler::automatic::{BlackBox, Decision, Length, Wanted, WarmUp};
use ridgewalk_sampler::{
    Adjusted, Batch, Draws, Kernel, Noise, Proposal, Sampler, Step, Stream, Why, Workspace,
};

/// How often steps are shorter in these tests.
pub(crate) const SHORT: f64 = 0.25;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) gamma: f64,
    pub(crate) xi: f64,
    pub(crate) eta: f64,
    pub(crate) steps: u32,
    pub(crate) drift: Drift,
}

impl Setting {
    pub(crate) fn kernel(self, smoothness: f64) -> Adjusted {
        let parameters = Parameters::new(self.gamma, self.xi, self.eta).unwrap();
        let trajectory = Trajectory { steps: self.steps, drift: self.drift, short: SHORT };
        Adjusted::new(parameters, trajectory, smoothness).unwrap()
    }
}

/// θ, p and r of a chain of one dimension after the step of (p, r), by the definition.
fn refreshed(setting: Setting, smoothness: f64, [theta, p, r]: [f64; 3], n: &[f64]) -> [f64; 3] {
    let time = f64::from(setting.steps) * setting.eta;
    let parameters = Parameters::new(setting.gamma, setting.xi, time).unwrap();
    let whole = OrnsteinUhlenbeck::new(parameters, smoothness).unwrap();
    let ([[pp, pr], [rp, rr]], [l11, l21, l22]) = (whole.flow(), whole.cholesky());
    [theta, pp * p + pr * r + l11 * n[0], rp * p + rr * r + l21 * n[0] + l22 * n[1]]
}

/// The same after the steps of η, and the energy error.
fn stepped(setting: Setting, smoothness: f64, start: [f64; 3], curvature: f64) -> ([f64; 3], f64) {
    let eta = setting.eta;
    let kick = |x: f64| {
        let gradient = curvature * x + 0.4 * x.powi(3);
        0.5 * eta * (gradient / smoothness - if setting.drift == Drift::Straight { 0.0 } else { x })
    };
    let [mut theta, mut p, r] = start;
    for _ in 0..setting.steps {
        p -= kick(theta);
        (theta, p) = match setting.drift {
            Drift::Straight => (theta + eta * p, p),
            Drift::Rotating | Drift::Split => {
                let (s, c) = eta.sin_cos();
                (c * theta + s * p, c * p - s * theta)
            }
        };
        p -= kick(theta);
    }
    let energy =
        |[x, p, _]: [f64; 3]| 0.5 * curvature * x * x + 0.1 * x.powi(4) + 0.5 * smoothness * p * p;
    let end = [theta, p, r];
    (end, energy(end) - energy(start))
}

#[test]
fn a_trajectory_is_what_the_definition_says() {
    let (curvature, smoothness) = (2.0, 3.0);
    let potential = FromValueFn::new(1, move |x: &[f64], g: &mut [f64]| {
        g[0] = curvature * x[0] + 0.4 * x[0].powi(3);
        Ok(0.5 * curvature * x[0] * x[0] + 0.1 * x[0].powi(4) + 1e3)
    });
    let potential = Chebyshev::new(potential, 1).unwrap();
    let lengths = [(0.9, 1.0), (SHORT, 1.0), (0.5 * SHORT, 32.0_f64.sqrt().recip()), (0.0, 1.0)];
    for (drift, (length, factor)) in Drift::ALL.into_iter().flat_map(|d| lengths.map(|l| (d, l))) {
        for steps in [1, 2, 5] {
            let setting = Setting { gamma: 1.2, xi: 2.0, eta: 0.7, steps, drift };
            let kernel = setting.kernel(smoothness);
            let mut normals = vec![0.0; 2];
            Stream::new(5, u64::from(steps)).normals(&mut normals);
            let start = [0.8, 0.4, -0.3];
            let mut from = Batch::new(1, 1).unwrap();
            let fields = from.fields_mut();
            (fields.theta[0], fields.p[0], fields.r[0]) = start.into();
            // The step of (p, r) does not become shorter.
            let begun = refreshed(setting, smoothness, start, &normals);
            let short = Setting { eta: factor * setting.eta, ..setting };
            let (end, error) = stepped(short, smoothness, begun, curvature);
            // Just accepted, and just not.
            let probability = (-error).exp().min(1.0);
            for (uniform, accepted) in [(probability - 1e-9, true), (probability + 1e-9, false)] {
                let mut to = from.clone();
                let uniforms = [length, uniform];
                let noise = Noise { normals: &normals, uniforms: &uniforms };
                let (potential, workspace) = (&potential, &mut Workspace::default());
                let step = Step { potential, from: &from, noise, to: &mut to, workspace };
                let spent = kernel.step(step).unwrap();
                let proposal = to.proposals()[0];
                let expected = (u64::from(steps) + 1, accepted);
                assert_eq!((spent, proposal.accepted), expected, "{setting:?}");
                assert!(
                    (proposal.energy_error - error).abs() < 1e-11,
                    "{setting:?}: {proposal:?} for {error}"
                );
                let [theta, p, r] = begun;
                let expected = if accepted { end } else { [theta, -p, r] };
                let found = [to.theta()[0], to.p()[0], to.r()[0]];
                for (found, expected) in found.into_iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-13, "{setting:?}: {found}");
                }
                // Value and gradient belong to where the chain is.
                let (mut value, mut gradient) = ([0.0], [0.0]);
                let scratch = &mut Scratch::default();
                potential
                    .values_and_gradients(to.theta(), &mut value, &mut gradient, scratch)
                    .unwrap();
                assert_eq!((to.values(), to.gradient()), (Some(&value[..]), Some(&gradient[..])));
            }
        }
    }
}

/// U = x²/2 up to a wall, beyond which it is what is said.
fn walled(beyond: f64) -> impl LineIntegral + Sync {
    let function = move |x: &[f64], g: &mut [f64]| {
        g[0] = x[0];
        Ok(if x[0] > 1.0 { beyond } else { 0.5 * x[0] * x[0] })
    };
    Chebyshev::new(FromValueFn::new(1, function), 1).unwrap()
}

#[test]
fn a_divergence_is_a_rejection_that_is_counted_and_no_end() {
    let setting = Setting { gamma: 1.2, xi: 2.0, eta: 0.8, steps: 3, drift: Drift::Straight };
    for beyond in [f64::NAN, f64::INFINITY, 1e5] {
        let (potential, mut draws) = (walled(beyond), Draws::default());
        let kernel = setting.kernel(1.0);
        let outcome =
            Sampler::new(&potential, &kernel).chains(2).draws(4000).run(&mut draws).unwrap();
        assert!(outcome.complete(), "{beyond}");
        let all = outcome.acceptance();
        assert!(
            all.divergences > 500 && all.divergences + all.accepted < all.proposals + 1,
            "{all:?}"
        );
        assert!(
            draws.chain(0).iter().all(|x| *x <= 1.0) && draws.chain(0).iter().any(|x| *x > 0.9)
        );
        // Those that do not diverge have ordinary errors.
        assert!(
            all.mean_error().abs() < 0.5 && all.sd_error() < 1.0 && all.largest_error < 20.0,
            "{all:?}"
        );
        // The mean of a normal law below 1 is −φ(1)/Φ(1).
        let mean = 0.5 * (draws.mean(0) + draws.mean(0));
        assert!((mean + 0.287_60).abs() < 0.06, "{mean}");
    }
    assert!(
        Proposal::new(f64::NAN, 0.0).divergent()
            && Proposal::new(f64::NEG_INFINITY, 0.5).divergent()
    );
    assert!(!Proposal::new(1000.0, 0.0).divergent() && Proposal::new(1000.1, 0.0).divergent());
    // A chain that begins where there is no value cannot begin.
    let nowhere = Sampler::new(&walled(f64::NAN), &setting.kernel(1.0))
        .start(&[2.0])
        .run(&mut Draws::default());
    let nowhere = nowhere.unwrap();
    let (_, end) = nowhere.ended().next().unwrap();
    assert!(
        matches!(&end.why, Why::Gradient { message, .. } if message.contains("not finite at [2.0]")),
        "{end:?}"
    );
}

#[test]
fn a_potential_without_values_is_refused_in_words() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        Ok(())
    };
    let target = BlackBox::new(FromFn::new(2, gradient), 3, &[0.5, 0.5]).unwrap();
    let adjusted = Wanted { kernel: Some(KernelKind::Adjusted), ..Wanted::default() };
    for question in [WarmUp::new(&target).tolerance(0.0), WarmUp::new(&target).wanted(adjusted)] {
        let error = question.run().unwrap_err();
        assert!(error.to_string().contains("has no value: need one that has"), "{error}");
    }
    // What needs none is as it was; and a tolerance of 0 is for trajectories alone.
    assert!(WarmUp::new(&target).run().unwrap().within_tolerance);
    let symmetric = Wanted { kernel: Some(KernelKind::Symmetric), ..Wanted::default() };
    let error = WarmUp::new(&target).wanted(symmetric).tolerance(0.0).run().unwrap_err();
    assert_eq!(error.to_string(), "tolerance = 0: need a positive, finite number");
    let kernel =
        Setting { gamma: 1.0, xi: 2.0, eta: 0.5, steps: 2, drift: Drift::Straight }.kernel(1.0);
    let alone = Chebyshev::new(FromFn::new(2, gradient), 3).unwrap();
    let outcome = Sampler::new(&alone, &kernel).run(&mut Draws::default()).unwrap();
    assert!(
        matches!(&outcome.ended().next().unwrap().1.why, Why::Gradient { message, .. } if message.contains("value"))
    );
    for steps in [0, 1025] {
        let trajectory = Trajectory::new(steps, Drift::Straight);
        let error =
            Adjusted::new(Parameters::new(1.0, 2.0, 0.5).unwrap(), trajectory, 1.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("steps = {steps}: need a number of steps between 1 and 1024")
        );
    }
}

#[test]
fn a_warm_up_finds_long_steps_on_a_normal_law_and_more_of_them_on_a_steep_one() {
    // Independent coordinates: nearly normal ones, and ones whose potential grows like cosh.
    let flat = FromValueFn::new(10, |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).for_each(|(g, x)| *g = x + 0.02 * x.powi(3));
        Ok(x.iter().map(|x| 0.5 * x * x + 0.005 * x.powi(4)).sum())
    });
    let steep = FromValueFn::new(10, |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).for_each(|(g, x)| *g = 3.0 * (2.0 * x).sinh());
        Ok(x.iter().map(|x| 1.5 * (2.0 * x).cosh()).sum())
    });
    let (flat, steep) =
        (BlackBox::new(flat, 3, &[0.5; 10]).unwrap(), BlackBox::new(steep, 3, &[0.5; 10]).unwrap());
    let mut warm = WarmUp::new(&flat).tolerance(0.0).seed(3).run().unwrap();
    println!("flat: {:?}", warm.history.iter().map(ToString::to_string).collect::<Vec<_>>());
    assert_eq!(
        (warm.scheme.kernel(), warm.scheme.gradients_per_step(), warm.thin),
        (KernelKind::Adjusted, 1, 1)
    );
    assert!(warm.scheme.eta() > 1.5 && warm.within_tolerance && warm.bias.largest() == 0.0);
    assert!(warm.gradients < 1600, "a fifth of 8 x 1000: {}", warm.gradients);
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(1000)).keep(&mut draws).unwrap();
    assert!(sampled.outcome.acceptance().rate() > 0.85 && sampled.confirmation.is_none());
    assert!(
        sampled.within_tolerance
            && sampled.differences.is_empty()
            && sampled.gradients() < 8 * 1001 + 1
    );
    let wanted = Wanted { kernel: Some(KernelKind::Adjusted), ..Wanted::default() };
    let mut warm = WarmUp::new(&steep).wanted(wanted).seed(3).run().unwrap();
    let sampled = warm.run(Length::Draws(500)).keep(&mut Draws::default()).unwrap();
    let rate = sampled.outcome.acceptance().rate();
    println!(
        "steep: {:?} {rate}",
        warm.history.iter().map(ToString::to_string).collect::<Vec<_>>()
    );
    assert!((0.6..0.95).contains(&rate), "{rate}");
    let tried = |decision: &&Decision| matches!(decision, Decision::Trajectories { .. });
    assert!(warm.history.iter().filter(tried).count() >= 1);
    // Parameters that are given are used as they are.
    let wanted = Wanted {
        kernel: Some(KernelKind::Adjusted),
        gamma: Some(0.9),
        xi: Some(2.5),
        eta: Some(0.4),
    };
    let warm = WarmUp::new(&flat).wanted(wanted).run().unwrap();
    let scheme = &warm.scheme;
    assert_eq!((scheme.gamma(), scheme.xi(), scheme.eta()), (Some(0.9), Some(2.5), 0.4));
    assert!(scheme.gradients_per_step() > 1, "steps that short are not enough one at a time");
}

#[test]
fn trajectories_take_the_place_of_kernels_that_are_dear_within_the_tolerance() {
    let target = ridgewalk_gallery::breast_cancer().unwrap();
    let warm = WarmUp::new(&target).tolerance(0.002).seed(1).run().unwrap();
    let told: Vec<String> = warm.history.iter().map(ToString::to_string).collect();
    assert_eq!(
        (warm.scheme.kernel(), warm.within_tolerance),
        (KernelKind::Adjusted, true),
        "{told:?}"
    );
    // Others were tried first, and were too biased.
    assert!(told.iter().filter(|line| line.ends_with("too biased")).count() > 1, "{told:?}");
    assert!(told.last().unwrap().starts_with("chosen: adjusted trajectories of "), "{told:?}");
    // A kernel that was asked for is kept.
    let wanted = Wanted { kernel: Some(KernelKind::Averaged), ..Wanted::default() };
    let warm = WarmUp::new(&target).tolerance(0.002).wanted(wanted).seed(1).run().unwrap();
    assert_eq!(warm.scheme.kernel(), KernelKind::Averaged);
}
