//! The checks on chains whose law is exact, and on chains with a planted fault.
//!
//! A chain jumps to a new, independent point of the law with a probability that does not depend on
//! where it is, or stays: the law is exact, and rejections are as independent as they can be.

use super::{Checks, t_quantile, t_tail};
use crate::acceptance::{Acceptance, Proposal};
use crate::automatic::{Warning, counted_heights};
use crate::noise::Stream;
use crate::outcome::{ChainReport, ChainStatus, Outcome};
use crate::vitals::{Reference, Vitals};

/// Laws of one coordinate, with mode 0: U, its derivative and exact draws.
#[derive(Debug, Clone, Copy)]
enum Law {
    Normal,
    /// The logarithm of an exponential number, as the intercept of a Poisson model: U = e^z − z.
    Skewed,
    /// U = z + 2 log(1 + e^−z).
    Logistic,
    /// U = |z|: the largest variance of U that a log-concave law has.
    Laplace,
}

impl Law {
    const ALL: [Self; 4] = [Self::Normal, Self::Skewed, Self::Logistic, Self::Laplace];

    /// U − min U and U'.
    fn at(self, z: f64) -> [f64; 2] {
        match self {
            Self::Normal => [0.5 * z * z, z],
            Self::Skewed => [z.exp() - z - 1.0, z.exp() - 1.0],
            Self::Logistic => {
                let tail = 2.0 * ((-z.abs()).exp().ln_1p() - std::f64::consts::LN_2);
                [z.abs() + tail, (0.5 * z).tanh()]
            }
            Self::Laplace => [z.abs(), z.signum()],
        }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        let [mut normal, mut uniform] = [[0.0], [0.0]];
        stream.normals(&mut normal);
        stream.uniforms(&mut uniform);
        let u = uniform[0].max(1e-300);
        match self {
            Self::Normal => normal[0],
            Self::Skewed => (-u.ln()).ln(),
            Self::Logistic => (u / (1.0 - u)).ln(),
            Self::Laplace => u.ln() * normal[0].signum(),
        }
    }
}

/// Eight chains of `draws` draws, one in three trajectories, in `d` dimensions.
#[derive(Debug, Clone, Copy)]
struct Run {
    law: Law,
    d: usize,
    draws: u64,
    seed: u64,
    fault: Fault,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// One chain stays where it is for this many trajectories, in the middle.
    Freezes(u64),
    /// Jumps away from far out are rejected as often as this, and the law is no longer exact.
    Sticky(f64),
    /// A chain begins at this height and comes down slowly.
    FarStart(f64),
    /// All chains have a law with standard deviations this much too large.
    TooWide(f64),
    /// One chain has it.
    OneTooWide(f64),
}

const THIN: u64 = 3;

impl Run {
    fn outcome(&self) -> Outcome {
        let reference = Reference {
            mode: vec![0.0; self.d],
            value: 0.0,
            far: Reference::far_out(self.d, &[0.5 * self.d as f64; 8]),
            bounds: counted_heights(self.d),
            segments: 8,
            every: 1,
        };
        let chains = (0..8).map(|chain| self.chain(chain, &reference)).collect();
        Outcome { chains, stopped: false, exhausted: None, seconds: 0.0 }
    }

    fn chain(&self, number: u64, reference: &Reference) -> ChainReport {
        let mut stream = Stream::new(self.seed, number);
        let mut vitals = Vitals::new(reference.clone());
        let mut acceptance = Acceptance::default();
        let own = number == 3;
        let scale = match self.fault {
            Fault::TooWide(scale) => scale,
            Fault::OneTooWide(scale) if own => scale,
            _ => 1.0,
        };
        let mut point: Vec<f64> = (0..self.d).map(|_| self.law.draw(&mut stream)).collect();
        match self.fault {
            Fault::FarStart(height) if own => point[0] = height,
            _ => {}
        }
        let (steps, mut uniform) = (self.draws * THIN, [0.0]);
        let mut p = vec![0.0; self.d];
        for step in 0..steps {
            let at: Vec<[f64; 2]> = point.iter().map(|z| self.law.at(*z)).collect();
            let height: f64 = at.iter().map(|[u, _]| u).sum();
            stream.normals(&mut p);
            stream.uniforms(&mut uniform);
            let kinetic = 0.5 * p.iter().map(|p| p * p).sum::<f64>();
            let mut probability: f64 = 0.75;
            match self.fault {
                Fault::Freezes(long) if own && step.abs_diff(steps / 2) <= long / 2 => {
                    probability = 1e-9;
                }
                Fault::Sticky(less) if height > reference.far => probability = less,
                _ => {}
            }
            let proposal =
                Proposal::begun(height, height + kinetic).decided(-probability.ln(), uniform[0]);
            acceptance.count(&proposal);
            vitals.count(&proposal);
            if proposal.accepted {
                if matches!(self.fault, Fault::FarStart(_)) && point[0] > 10.0 {
                    point[0] *= 0.995;
                } else {
                    point.iter_mut().for_each(|z| *z = scale * self.law.draw(&mut stream));
                }
            }
            if (step + 1) % THIN == 0 {
                let now: Vec<[f64; 2]> = point.iter().map(|z| self.law.at(*z)).collect();
                let gradient: Vec<f64> = now.iter().map(|[_, g]| *g).collect();
                vitals.draw(&point, &gradient, Some(now.iter().map(|[u, _]| u).sum()));
            }
        }
        let status = ChainStatus::Complete;
        let (draws, gradients) = (self.draws, steps);
        ChainReport { status, steps, draws, gradients, acceptance, vitals: Some(vitals) }
    }

    fn found(&self) -> Vec<&'static str> {
        let checks = Checks { log_concave: true, tolerance: 0.0 };
        checks.troubles(&self.outcome()).iter().map(Warning::name).collect()
    }
}

const GOOD: Run = Run { law: Law::Normal, d: 4, draws: 1000, seed: 1, fault: Fault::None };

/// 1,440 runs of exact chains without an alarm: with a rate of one in 300 there would be one with a
/// probability of 99 %. The rates by design are far smaller.
#[test]
fn exact_chains_raise_no_alarm() {
    let mut alarms = Vec::new();
    for law in Law::ALL {
        for (d, draws) in [(1, 1000), (2, 100), (6, 400), (40, 150)] {
            for seed in 0..90 {
                let run = Run { law, d, draws, seed, fault: Fault::None };
                let found = run.found();
                if !found.is_empty() {
                    alarms.push((run, found));
                }
            }
        }
    }
    assert!(alarms.is_empty(), "{} alarms: {alarms:?}", alarms.len());
}

#[test]
fn many_trajectories_at_seventy_percent_acceptance_are_no_stuck_chain() {
    let run = Run { draws: 20_000, ..GOOD };
    let outcome = run.outcome();
    assert!(outcome.acceptance().proposals == 480_000);
    assert_eq!(run.found(), [""; 0]);
}

/// Every planted fault is caught in 20 runs of 20, by the check that is meant for it.
#[test]
fn planted_faults_are_caught() {
    let cases = [
        (Fault::Freezes(298), "stuck_chain"),
        (Fault::Freezes(3000), "stuck_chain"),
        (Fault::Freezes(3000), "unequal_chains"),
        (Fault::Sticky(0.01), "rejected_far_out"),
        (Fault::Sticky(0.05), "rejected_far_out"),
        (Fault::FarStart(60.0), "excursion"),
        (Fault::FarStart(60.0), "low_bfmi"),
        (Fault::TooWide(1.15), "wrong_moments"),
        (Fault::OneTooWide(1.4), "unequal_chains"),
        (Fault::OneTooWide(3.0), "excursion"),
    ];
    for (fault, name) in cases {
        for seed in 0..20 {
            let found = Run { fault, seed, ..GOOD }.found();
            assert!(found.contains(&name), "{fault:?}, seed {seed}: {found:?}, need {name}");
        }
    }
}

/// A kernel that leaves gradients without values, on a target whose density does not decay.
#[test]
fn an_improper_target_is_caught_by_gradients_alone() {
    let reference = Reference {
        mode: vec![0.0],
        value: 0.0,
        far: f64::MAX,
        bounds: [f64::MAX; 3],
        segments: 8,
        every: 1,
    };
    let chain = |number: u64| {
        let mut stream = Stream::new(5, number);
        let mut vitals = Vitals::new(reference.clone());
        let (mut z, mut normal) = (0.0, [0.0]);
        for _ in 0..1000 {
            // A walk on the flat side of a wall: the gradient is a sigmoid.
            stream.normals(&mut normal);
            z += normal[0];
            let gradient = 1.0 / (1.0 + f64::exp(-z));
            z = if z > 3.0 { z - 2.0 } else { z };
            vitals.draw(&[z], &[gradient], None);
        }
        let (status, acceptance) = (ChainStatus::Complete, Acceptance::default());
        let vitals = Some(vitals);
        ChainReport { status, steps: 1000, draws: 1000, gradients: 1000, acceptance, vitals }
    };
    let chains = (0..8).map(chain).collect();
    let outcome = Outcome { chains, stopped: false, exhausted: None, seconds: 0.0 };
    for tolerance in [0.0, 0.05] {
        let found = Checks { log_concave: false, tolerance }.troubles(&outcome);
        assert!(matches!(found[..], [Warning::WrongMoments { .. }]), "{found:?}");
    }
}

#[test]
fn tails_of_t_are_those_of_tables() {
    // Two-sided, by quadrature of the density.
    for (t, freedom, need) in [
        (12.706_204_736_432_1, 1, 0.05),
        (4.302_652_729_911_28, 2, 0.05),
        (3.182_446_305_284_26, 3, 0.05),
        (2.364_624_251_592_79, 7, 0.05),
        (2.0, 10, 0.073_388_034_770_79),
        (5.0, 30, 2.329_67e-5),
        (4.0, 63, 1.690_53e-4),
    ] {
        let found = t_tail(t, freedom);
        assert!((found / need - 1.0).abs() < 1e-4, "{t}, {freedom}: {found} for {need}");
    }
    for (p, freedom) in [(0.05, 1), (1e-4, 7), (1e-7, 63), (1e-6, 1000)] {
        assert!((t_tail(t_quantile(p, freedom), freedom) / p - 1.0).abs() < 1e-6);
    }
}
