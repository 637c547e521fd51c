//! Certificates: how good they are, that wrong ones are rejected, and that their promises hold for
//! the algorithms.

use proptest::prelude::*;
use ridgewalk_coefficients::{Coefficients, OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::Error;
use ridgewalk_lyapunov::certificate::{
    Certificate, Process, Refusal, Setting, Verdict, certify, certify_setting,
};

type Matrix = [[f64; 3]; 3];

fn certified(kappa: f64, process: Process, gamma: Option<f64>, xi: Option<f64>) -> Certificate {
    match certify(kappa, process, gamma, xi).unwrap().status {
        Verdict::Certified(certificate) => certificate,
        other => panic!("kappa {kappa}, {process:?}: {other:?}"),
    }
}

fn exact_integral(eta: f64) -> Process {
    Process::ThirdOrder { eta, nodes: None }
}

/// vᵀ S v.
fn squared_norm(s: &Matrix, v: &[f64; 3]) -> f64 {
    (0..3).map(|i| (0..3).map(|j| v[i] * s[i][j] * v[j]).sum::<f64>()).sum()
}

/// The mean of one step of Algorithm 1: for two copies with the same noise only the means differ.
/// `integral(θ, p)` is L ΔU.
fn third_order_step(
    c: &Coefficients, x: &[f64; 3], integral: impl Fn(f64, f64) -> f64,
) -> [f64; 3] {
    let [theta, p, r] = *x;
    let delta_u = integral(theta, p);
    [
        theta - 0.5 * c.parameters().eta() * delta_u + c.mu12() * p + c.mu13() * r,
        -delta_u + c.mu22() * p + c.mu23() * r,
        c.mu31() * delta_u + c.mu32() * p + c.mu33() * r,
    ]
}

/// Half drift, Ornstein-Uhlenbeck step, half drift, full kick, without noise.
fn symmetric_step(parameters: Parameters, x: &[f64; 3], gradient: impl Fn(f64) -> f64) -> [f64; 3] {
    let eta = parameters.eta();
    let [[a, b], [c, d]] = OrnsteinUhlenbeck::new(parameters, 1.0).unwrap().flow();
    let [theta, p, r] = *x;
    let theta = theta + 0.5 * eta * p;
    let (p, r) = (a * p + b * r, c * p + d * r);
    let theta = theta + 0.5 * eta * p;
    [theta, p - eta * gradient(theta), r]
}

fn difference(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| a[i] - b[i])
}

#[test]
fn rates_of_the_diffusion_are_those_that_were_promised() {
    for (kappa, rate) in
        [(1.5, 0.89), (2.0, 0.65), (5.0, 0.256), (10.0, 0.1285), (100.0, 0.0128), (1e4, 1.2e-4)]
    {
        let certificate = certified(kappa, Process::Diffusion, None, None);
        assert!(certificate.speed() >= rate, "kappa {kappa}: {}", certificate.speed());
        let paper = 1.0 / (2.0 * (5.0 * kappa * kappa + 50.0));
        assert!(certificate.speed() > 50.0 * paper);
    }
}

#[test]
fn no_rate_beats_the_slowest_mode() {
    // At l = 1/κ alone the best rate over γ and ξ is that of a triple root, √3 √l; a certificate
    // for more would be false.
    for kappa in [1.0, 1.5, 2.0, 10.0, 1e3, 1e6] {
        let certificate = certified(kappa, Process::Diffusion, None, None);
        assert!(certificate.speed() <= 3f64.sqrt() / kappa.sqrt());
    }
}

#[test]
fn gaps_of_the_algorithm_are_those_that_were_promised() {
    for (kappa, gamma, xi, eta, gap) in [
        (10.0, 2.09, 4.0, 0.1, 0.0095),
        (10.0, 2.09, 4.0, 0.5, 0.046),
        (10.0, 2.09, 4.0, 1.0, 0.088),
        (2.0, 2.0, 4.0, 0.1, 0.043),
        (100.0, 1.26, 2.0, 0.1, 0.0012),
        (100.0, 1.26, 2.0, 1.0, 0.0125),
    ] {
        let certificate = certified(kappa, exact_integral(eta), Some(gamma), Some(xi));
        assert!(
            1.0 - certificate.speed() >= gap,
            "kappa {kappa}, eta {eta}: {}",
            1.0 - certificate.speed()
        );
    }
}

#[test]
fn a_small_step_contracts_at_the_rate_of_the_diffusion() {
    for kappa in [2.0, 10.0, 100.0] {
        let diffusion = certified(kappa, Process::Diffusion, None, None);
        let (gamma, xi) = (diffusion.setting().gamma(), diffusion.setting().xi());
        for process in [exact_integral(1e-3), Process::Symmetric { eta: 1e-3 }] {
            let step = certified(kappa, process, Some(gamma), Some(xi));
            let rate = -step.speed().ln() / 1e-3;
            assert!(
                (rate / diffusion.speed() - 1.0).abs() < 0.02,
                "kappa {kappa}, {process:?}: {rate}"
            );
        }
    }
}

#[test]
fn the_papers_own_certificate_checks_and_its_rate_is_not_the_best() {
    for kappa in [1.0, 1.5, 2.0, 3.0, 10.0, 64.0, 1000.0] {
        let k = |power: i32| f64::powi(kappa, power);
        let s11 = (k(7) + 3.0 * k(4) + 5.0 * k(3) + kappa + 1.0) / (4.0 * k(5));
        let s13 = 0.25 * (1.0 - k(-3) - k(-4)) * kappa;
        let s22 = (4.0 * k(4) + 6.0 * k(3) + kappa + 1.0) / (4.0 * k(4));
        let s23 = (kappa + 1.0) / (2.0 * kappa);
        let s33 = (kappa + 2.0) / (4.0 * kappa);
        let s = [[s11, 0.5 * kappa, s13], [0.5 * kappa, s22, s23], [s13, s23, s33]];
        let setting = Setting::new(kappa, kappa, 2.0 * kappa, Process::Diffusion).unwrap();
        let rate = 1.0 / (2.0 * (5.0 * kappa * kappa + 50.0));
        assert!(Certificate::check(setting, s, 0.0, rate).is_ok(), "kappa {kappa}");
        let Verdict::Certified(best) = certify_setting(&setting).unwrap() else {
            panic!("kappa {kappa}")
        };
        assert!(best.speed() > 10.0 * rate);
    }
}

#[test]
fn broken_certificates_are_refused() {
    for process in [
        Process::Diffusion,
        exact_integral(0.3),
        Process::ThirdOrder { eta: 0.3, nodes: Some(2) },
        Process::Symmetric { eta: 0.3 },
    ] {
        let good = certified(10.0, process, None, None);
        let (setting, s, tau, speed) = (good.setting(), good.s(), good.tau(), good.speed());
        let check =
            |s: Matrix, tau: f64, speed: f64| Certificate::check(setting, s, tau, speed).map(drop);
        assert_eq!(check(s, tau, speed), Ok(()));

        // 1 % more speed than the best.
        let faster =
            if process == Process::Diffusion { 1.01 * speed } else { 1.0 - 1.01 * (1.0 - speed) };
        assert_eq!(check(s, tau, faster), Err(Refusal::Inequality), "{process:?}");
        // Each entry of S off by 1 %, up or down; at the best S at least one of the two fails.
        for i in 0..3 {
            for j in 0..=i {
                let moved = |by: f64| {
                    let mut s = s;
                    s[i][j] *= by;
                    s[j][i] = s[i][j];
                    s
                };
                let refused = [0.99, 1.01].map(|by| check(moved(by), tau, speed).is_err());
                assert!(refused.contains(&true), "{process:?}: S{i}{j}");
            }
        }
        let mut lopsided = s;
        lopsided[0][1] *= 1.0 + 1e-15;
        assert_eq!(check(lopsided, tau, speed), Err(Refusal::NotSymmetric));
        let mut indefinite = s;
        indefinite[2][2] = -indefinite[2][2];
        assert_eq!(check(indefinite, tau, speed), Err(Refusal::NotPositive));
        for (s, speed) in
            [(s.map(|row| row.map(|_| f64::NAN)), speed), (s, f64::NAN), (s, f64::INFINITY)]
        {
            assert_eq!(check(s, tau, speed), Err(Refusal::NotFinite));
        }
        assert_eq!(check(s, tau, -0.1), Err(Refusal::NoContraction));
        assert_eq!(check(s, tau, 0.0), Err(Refusal::NoContraction));
        if process != Process::Diffusion {
            assert_eq!(check(s, tau, 1.0), Err(Refusal::NoContraction));
        }
        // The same S for another κ, γ or ξ. Another η is tested below.
        for other in [
            Setting::new(11.0, setting.gamma(), setting.xi(), process),
            Setting::new(10.0, 1.05 * setting.gamma(), setting.xi(), process),
            Setting::new(10.0, setting.gamma(), 0.95 * setting.xi(), process),
        ] {
            assert_eq!(
                Certificate::check(other.unwrap(), s, tau, speed),
                Err(Refusal::Inequality),
                "{process:?}"
            );
        }
    }
    let good = certified(10.0, exact_integral(0.3), None, None);
    for tau in [0.5 * good.tau(), 2.0 * good.tau(), 0.0, -good.tau()] {
        let refused = Certificate::check(good.setting(), good.s(), tau, good.speed());
        assert_eq!(refused, Err(Refusal::Inequality), "tau {tau}");
    }
}

#[test]
fn a_step_past_the_limit_is_refuted_and_its_certificate_refused() {
    let (kappa, gamma, xi) = (10.0, 2.09, 4.0);
    let good = certified(kappa, exact_integral(1.0), Some(gamma), Some(xi));
    let doubled = Setting::new(kappa, gamma, xi, exact_integral(2.0)).unwrap();
    assert_eq!(
        Certificate::check(doubled, good.s(), good.tau(), good.speed()),
        Err(Refusal::Inequality)
    );
    let Verdict::Refuted(witness) = certify_setting(&doubled).unwrap() else {
        panic!("eta = 2 is past the limit")
    };
    // The witness is correct: iterating the step on its quadratic, the state grows.
    let c = Coefficients::new(Parameters::new(gamma, xi, 2.0).unwrap(), 1.0).unwrap();
    let l = witness.curvature;
    assert!((1.0 / kappa..=1.0).contains(&l));
    let mut x = [1.0, 0.3, -0.2];
    let mut growth = 1.0;
    for _ in 0..50 {
        let next = third_order_step(&c, &x, |theta, p| l * (2.0 * theta + 2.0 * p));
        let size = next.iter().map(|v| v * v).sum::<f64>().sqrt();
        growth = size / x.iter().map(|v| v * v).sum::<f64>().sqrt();
        x = next.map(|v| v / size);
    }
    assert!(
        (growth / witness.spectral_radius - 1.0).abs() < 1e-6,
        "{growth} and {}",
        witness.spectral_radius
    );
    assert!(growth > 1.0);
}

#[test]
fn certified_refuted_and_unknown_are_told_apart() {
    let status =
        |eta: f64| certify(10.0, exact_integral(eta), Some(2.09), Some(4.0)).unwrap().status;
    assert!(matches!(status(0.5), Verdict::Certified(_)));
    assert!(matches!(status(5.0), Verdict::Refuted(_)));
    // γ = κ, ξ = 2κ for κ = 100 in the symmetric splitting: stable on every quadratic, but no
    // common S for all curvatures.
    let found =
        certify(100.0, Process::Symmetric { eta: 1.0 }, Some(1.26), Some(2.0)).unwrap().status;
    assert_eq!(found, Verdict::Unknown);
}

#[test]
fn beyond_the_range_of_doubles_nothing_is_claimed_and_nothing_hangs() {
    // The step's matrix overflows, its true spectral radius is below 1: neither certified nor
    // refuted.
    let found = certify(10.0, exact_integral(1.0), Some(1.35e154), Some(1.7e308)).unwrap().status;
    assert_eq!(found, Verdict::Unknown);
    let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for (gamma, xi) in [(1e120, 1.0), (1.0, 1e300)] {
        let setting = Setting::new(10.0, gamma, xi, Process::Symmetric { eta: 1.0 }).unwrap();
        assert_eq!(Certificate::check(setting, identity, 0.0, 0.5), Err(Refusal::Inequality));
    }
}

#[test]
fn seen_between_the_half_kicks_the_symmetric_splitting_need_not_approach_in_every_step() {
    // The reason why the certificate is about the chain after full kicks.
    let (gamma, xi, eta) = (1.26, 2.0, 0.1);
    let certificate = certified(100.0, Process::Symmetric { eta }, Some(gamma), Some(xi));
    let parameters = Parameters::new(gamma, xi, eta).unwrap();
    let between = [1.0, -1.6251, 1.0831];
    let after_kick = |x: &[f64; 3]| [x[0], x[1] - 0.5 * eta * x[0], x[2]];
    let norm = |x: &[f64; 3]| squared_norm(&certificate.s(), x).sqrt();
    // Half a kick, then a step that ends with a full kick, then half of that undone.
    let step = symmetric_step(parameters, &after_kick(&between), |theta| theta);
    let next = [step[0], step[1] + 0.5 * eta * step[0], step[2]];
    assert!(norm(&next) > norm(&between));
    assert!(norm(&step) <= certificate.speed() * norm(&after_kick(&between)));
}

#[test]
fn few_nodes_have_certificates_of_their_own_and_many_that_of_the_exact_integral() {
    let gap = |nodes| {
        let process = Process::ThirdOrder { eta: 0.8, nodes };
        1.0 - certified(5.0, process, Some(1.5), Some(2.5)).speed()
    };
    let (one, two, three, exact) = (gap(Some(1)), gap(Some(2)), gap(Some(3)), gap(None));
    assert!((three / exact - 1.0).abs() < 1e-9 && (gap(Some(64)) / exact - 1.0).abs() < 1e-9);
    assert!((one / exact - 1.0).abs() > 1e-4 && (two / exact - 1.0).abs() > 1e-4);
}

#[test]
fn bad_arguments_are_named() {
    let error =
        |kappa, process, gamma| certify(kappa, process, gamma, Some(2.0)).unwrap_err().to_string();
    for kappa in [0.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = error(kappa, Process::Diffusion, None);
        assert_eq!(message, format!("kappa = {kappa}: need a finite number of at least 1"));
    }
    assert!(error(2.0, Process::Diffusion, Some(-1.0)).starts_with("gamma = -1: need"));
    assert!(error(2.0, exact_integral(0.0), Some(1.0)).starts_with("eta = 0: need"));
    assert!(
        error(2.0, Process::ThirdOrder { eta: 0.1, nodes: Some(0) }, Some(1.0))
            .starts_with("nodes = 0: need")
    );
    let nan = Setting::new(2.0, 1.0, f64::NAN, Process::Diffusion).unwrap_err();
    assert!(matches!(nan, Error::Coefficients(_)));
}

fn arbitrary_setting() -> impl Strategy<Value = (f64, f64, f64, f64)> {
    (0.0..2.5_f64, 0.5..3.0_f64, 1.0..6.0_f64, 0.01..1.2_f64)
        .prop_map(|(kappa, gamma, xi, eta)| (10f64.powf(kappa), gamma, xi, eta))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn on_every_quadratic_the_step_contracts_at_least_as_promised(
        (kappa, gamma, xi, eta) in arbitrary_setting(), share in 0.0..=1.0_f64, x in prop::array::uniform3(-1.0..1.0_f64),
    ) {
        let parameters = Parameters::new(gamma, xi, eta).unwrap();
        let c = Coefficients::new(parameters, 1.0).unwrap();
        let l = kappa.powf(-share);
        let zero = [0.0; 3];
        if let Verdict::Certified(certificate) = certify(kappa, exact_integral(eta), Some(gamma), Some(xi)).unwrap().status {
            let line = |theta: f64, p: f64| l * eta * (theta + 0.5 * eta * p);
            let moved = difference(&third_order_step(&c, &x, line), &third_order_step(&c, &zero, line));
            let promised = certificate.speed().powi(2) * squared_norm(&certificate.s(), &x);
            prop_assert!(squared_norm(&certificate.s(), &moved) <= promised * (1.0 + 1e-12));
        }
        if let Verdict::Certified(certificate) =
            certify(kappa, Process::Symmetric { eta }, Some(gamma), Some(xi)).unwrap().status
        {
            let moved = symmetric_step(parameters, &x, |theta| l * theta);
            let promised = certificate.speed().powi(2) * squared_norm(&certificate.s(), &x);
            prop_assert!(squared_norm(&certificate.s(), &moved) <= promised * (1.0 + 1e-12));
        }
    }

    #[test]
    fn on_potentials_of_changing_curvature_two_copies_approach_as_promised(
        (kappa, gamma, xi, eta) in arbitrary_setting(),
        w in 0.5..20.0_f64, x in prop::array::uniform3(-3.0..3.0_f64), y in prop::array::uniform3(-3.0..3.0_f64),
        nodes in 1_usize..5,
    ) {
        // U″ = h + g cos(w θ) sweeps the whole range [1/κ, 1], the faster the larger w.
        let (h, g) = (0.5 * (1.0 + 1.0 / kappa), 0.5 * (1.0 - 1.0 / kappa));
        let parameters = Parameters::new(gamma, xi, eta).unwrap();
        let c = Coefficients::new(parameters, 1.0).unwrap();
        let gradient = |theta: f64| h * theta + g * (w * theta).sin() / w;
        let exactly = |theta: f64, p: f64| {
            let wave = if (w * p * eta).abs() < 1e-6 {
                eta * (w * theta).sin()
            } else {
                ((w * theta).cos() - (w * (theta + eta * p)).cos()) / (w * p)
            };
            h * eta * (theta + 0.5 * eta * p) + g * wave / w
        };
        let rule = ridgewalk_quadrature::LineRule::new(nodes, eta).unwrap();
        let by_nodes = |theta: f64, p: f64| {
            let mut sum = [0.0];
            rule.integrate(|t, v| v[0] = gradient(theta + t * p), &mut Vec::new(), &mut sum);
            sum[0]
        };
        let check = |process: Process, step: &dyn Fn(&[f64; 3]) -> [f64; 3]| {
            let status = certify(kappa, process, Some(gamma), Some(xi)).unwrap().status;
            let Verdict::Certified(certificate) = status else { return Ok(()) };
            let (before, after) = (difference(&x, &y), difference(&step(&x), &step(&y)));
            let promised = certificate.speed().powi(2) * squared_norm(&certificate.s(), &before);
            prop_assert!(squared_norm(&certificate.s(), &after) <= promised * (1.0 + 1e-9), "{:?}", process);
            Ok(())
        };
        check(exact_integral(eta), &|x| third_order_step(&c, x, exactly))?;
        check(Process::ThirdOrder { eta, nodes: Some(nodes) }, &|x| third_order_step(&c, x, by_nodes))?;
        check(Process::Symmetric { eta }, &|x| symmetric_step(parameters, x, gradient))?;
    }
}
