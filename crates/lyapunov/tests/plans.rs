//! Plans: how many steps they need, how that grows, and that the true distance never exceeds their
//! bound.

use std::sync::{Mutex, PoisonError};

use proptest::prelude::*;
use ridgewalk_coefficients::{Coefficients, Parameters};
use ridgewalk_lyapunov::certificate::Certificate;
use ridgewalk_lyapunov::planner::{IntegralRule, Plan, Problem, plan};

/// The plan for a problem. Several tests use the same ones, and a search takes a quarter of a
/// second: each is made once.
fn found(problem: Problem) -> Plan {
    static KNOWN: Mutex<Vec<(Problem, Plan)>> = Mutex::new(Vec::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let hit = known().iter().find(|(other, _)| *other == problem).map(|(_, plan)| *plan);
    hit.unwrap_or_else(|| {
        let plan = plan(&problem).unwrap().expect("a plan");
        known().push((problem, plan));
        plan
    })
}

fn planned(convexity: f64, smoothness: f64, dimension: u64, accuracy: f64) -> Plan {
    let rule = IntegralRule::Exact;
    found(Problem::new(convexity, smoothness, dimension, accuracy, rule).unwrap())
}

fn planned_nodes(nodes: usize, lipschitz_hessian: Option<f64>) -> Plan {
    let rule = IntegralRule::Nodes { nodes, lipschitz_hessian };
    found(Problem::new(0.1, 1.0, 100, 0.2, rule).unwrap())
}

/// The variance of θ after some steps of Algorithm 1 on a quadratic of curvature `l` times
/// `smoothness`, from the minimiser with stationary p and r, by plain iteration of the covariance:
/// nothing is shared with the planner.
fn variance_after(plan: &Plan, smoothness: f64, l: f64, steps: u64) -> f64 {
    let eta = plan.eta();
    let c = Coefficients::new(Parameters::new(plan.gamma(), plan.xi(), eta).unwrap(), smoothness)
        .unwrap();
    let delta = [l * eta, 0.5 * l * eta * eta];
    let f = [
        [1.0 - 0.5 * eta * delta[0], c.mu12() - 0.5 * eta * delta[1], c.mu13()],
        [-delta[0], c.mu22() - delta[1], c.mu23()],
        [c.mu31() * delta[0], c.mu32() + c.mu31() * delta[1], c.mu33()],
    ];
    let noise = c.covariance();
    let mut covariance =
        [[0.0, 0.0, 0.0], [0.0, 1.0 / smoothness, 0.0], [0.0, 0.0, 1.0 / smoothness]];
    for _ in 0..steps {
        let half: [[f64; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..3).map(|k| f[i][k] * covariance[k][j]).sum())
        });
        covariance = std::array::from_fn(|i| {
            std::array::from_fn(|j| noise[i][j] + (0..3).map(|k| half[i][k] * f[j][k]).sum::<f64>())
        });
    }
    covariance[0][0]
}

/// The exact W2 distance of θ to a Gaussian target after some steps. The eigenvalues of the Hessian
/// have equal multiplicities that add up to the dimension.
fn true_distance(
    plan: &Plan, smoothness: f64, eigenvalues: &[f64], dimension: u64, steps: u64,
) -> f64 {
    let each = dimension as f64 / eigenvalues.len() as f64;
    let squares = eigenvalues.iter().map(|&eigenvalue| {
        let sd = variance_after(plan, smoothness, eigenvalue / smoothness, steps).sqrt();
        each * (sd - 1.0 / eigenvalue.sqrt()).powi(2)
    });
    squares.sum::<f64>().sqrt()
}

#[test]
fn plans_need_no_more_steps_than_promised() {
    let ten = planned(0.1, 1.0, 100, 0.2);
    assert!(ten.steps() <= 2600, "{}", ten.steps());
    assert!(ten.bound() <= 0.2);
    let two = planned(0.5, 1.0, 100, 0.2);
    assert!(two.steps() <= 230, "{}", two.steps());
}

#[test]
fn every_plan_carries_a_certificate_that_checks() {
    for plan in
        [planned(0.1, 1.0, 100, 0.2), planned(3.0, 3.0, 1, 0.01), planned_nodes(3, Some(0.4))]
    {
        let c = plan.certificate();
        assert!(Certificate::check(c.setting(), c.s(), c.tau(), c.speed()).is_ok());
        assert_eq!(c.setting().process().eta(), Some(plan.eta()));
    }
}

#[test]
fn units_do_not_matter() {
    // θ in other units: m and L times 9, ε divided by 3.
    let (a, b) = (planned(0.1, 1.0, 50, 0.3), planned(0.9, 9.0, 50, 0.1));
    assert!(
        (a.steps() as f64 / b.steps() as f64 - 1.0).abs() < 0.01,
        "{} and {}",
        a.steps(),
        b.steps()
    );
    assert!((a.bound() / b.bound() / 3.0 - 1.0).abs() < 0.01);
}

#[test]
fn steps_grow_like_the_fourth_root_of_d_and_the_inverse_root_of_the_accuracy() {
    let steps = |d, accuracy| planned(0.1, 1.0, d, accuracy).steps() as f64;
    // 16 times the dimension gives a factor of 2, 1/16 of the accuracy a factor of 4, times the
    // growth of the logarithm, which is between 1 and 1.6 here.
    for (ratio, power) in [
        (steps(1600, 0.2) / steps(100, 0.2), 2.0),
        (steps(25_600, 0.2) / steps(1600, 0.2), 2.0),
        (steps(100, 0.2 / 16.0) / steps(100, 0.2), 4.0),
        (steps(100, 0.2 / 256.0) / steps(100, 0.2 / 16.0), 4.0),
    ] {
        assert!((1.0..1.6).contains(&(ratio / power)), "{ratio} for {power}");
    }
    // d and ε enter only as ε/√d.
    assert!((steps(400, 0.2) / steps(100, 0.1) - 1.0).abs() < 0.01);
}

#[test]
fn quadrature_costs_and_smoothness_helps() {
    let exact = planned(0.1, 1.0, 100, 0.2).steps() as f64;
    let with = |nodes, constant| planned_nodes(nodes, constant).steps() as f64;
    assert!(with(2, None) > 2.0 * exact, "without a Lipschitz Hessian two nodes guarantee little");
    assert!(with(8, None) < with(2, None));
    assert!(with(2, Some(0.5)) < 0.5 * with(2, None));
    assert!(with(3, Some(0.0)) < 1.02 * exact, "a quadratic potential is integrated exactly");
    assert_eq!(planned_nodes(3, Some(0.5)).gradients(), 3 * planned_nodes(3, Some(0.5)).steps());
}

#[test]
fn badly_conditioned_problems_have_plans_too() {
    let plan = planned(1e-6, 1.0, 10, 1.0);
    assert!(plan.bound() <= 1.0 && plan.steps() > 1_000_000_000);
    let plan = planned(1e-6, 1.0, 10, 0.1);
    assert!(plan.bound() <= 0.1);
}

#[test]
fn the_condition_number_of_a_plan_is_not_below_the_true_one() {
    // 1/m rounds down here: the certificate must be for the next double.
    let m = 0.221_788_518_111_783_32_f64;
    let plan = planned(m, 1.0, 10, 1.0);
    let kappa = plan.certificate().setting().kappa();
    assert!(m.mul_add(kappa, -1.0) >= 0.0, "m kappa - 1 = {:e}", m.mul_add(kappa, -1.0));
    assert_eq!(planned(0.3, 0.3, 10, 1.0).certificate().setting().kappa(), 1.0);
}

#[test]
fn no_steps_are_planned_where_the_start_is_near_enough() {
    // W2 between the minimiser and any target is at most √(d/m).
    let plan = planned(0.1, 1.0, 1, 3.2);
    assert_eq!(plan.steps(), 0);
    assert!((plan.bound() - 10f64.sqrt()).abs() < 1e-9);
    assert!(planned(0.1, 1.0, 1, 3.1).steps() > 0);
}

#[test]
fn extreme_units_change_nothing() {
    // The same problem in units in which L is 3.3e205: a power of L alone would overflow.
    let in_units = |scale: f64, accuracy: f64, constant: f64| {
        let line_integral = IntegralRule::Nodes { nodes: 1, lipschitz_hessian: Some(constant) };
        plan(&Problem::new(scale, 10.0 * scale, 1, accuracy, line_integral).unwrap())
            .unwrap()
            .expect("a plan")
    };
    let scale = 3.3e204_f64;
    let usual = in_units(
        0.1,
        5e-105 * (10.0 * scale).sqrt(),
        9.8e307 / (10.0 * scale) / (10.0 * scale).sqrt(),
    );
    let extreme = in_units(scale, 5e-105, 9.8e307);
    assert!(
        (usual.steps() as f64 / extreme.steps() as f64 - 1.0).abs() < 0.02,
        "{} and {}",
        usual.steps(),
        extreme.steps()
    );
}

#[test]
fn bad_problems_are_named() {
    let error =
        |m, l, d, eps| Problem::new(m, l, d, eps, IntegralRule::Exact).unwrap_err().to_string();
    assert_eq!(error(0.0, 1.0, 1, 1.0), "convexity = 0: need a positive, finite number");
    assert_eq!(error(2.0, 1.0, 1, 1.0), "convexity = 2: need at most the smoothness, 1");
    assert_eq!(error(0.5, f64::NAN, 1, 1.0), "smoothness = NaN: need a positive, finite number");
    assert_eq!(error(0.5, 1.0, 0, 1.0), "dimension = 0: need at least 1");
    assert_eq!(error(0.5, 1.0, 1, -0.1), "accuracy = -0.1: need a positive, finite number");
    assert!(error(1e-300, 1e300, 1, 1.0).starts_with("smoothness / convexity = inf: need"));
    let nodes = |nodes, lipschitz_hessian| {
        let line_integral = IntegralRule::Nodes { nodes, lipschitz_hessian };
        Problem::new(0.5, 1.0, 1, 0.1, line_integral).unwrap_err().to_string()
    };
    assert_eq!(nodes(0, None), "nodes = 0: need 1 to 1024");
    assert_eq!(nodes(2, Some(-1.0)), "lipschitz_hessian = -1: need a finite number of at least 0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_exact_law_never_exceeds_the_bound(
        log_kappa in 0.0..1.5_f64, smoothness in 0.2..5.0_f64, log_d in 0.0..4.0_f64, relative in 0.01..0.5_f64,
        shares in prop::collection::vec(0.0..=1.0_f64, 1..5),
    ) {
        let kappa = 10f64.powf(log_kappa);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let dimension = 10f64.powf(log_d) as u64;
        let accuracy = relative * (dimension as f64 * kappa / smoothness).sqrt();
        let plan = planned(smoothness / kappa, smoothness, dimension, accuracy);
        let eigenvalues: Vec<f64> = shares.iter().map(|share| smoothness * kappa.powf(-share)).collect();
        for steps in [0, 1, plan.steps() / 3, plan.steps(), 2 * plan.steps()] {
            let truth = true_distance(&plan, smoothness, &eigenvalues, dimension, steps);
            let bound = plan.bound_after(steps);
            prop_assert!(truth <= bound, "{steps} steps: {truth} above {bound}");
        }
        prop_assert!(plan.bound() <= accuracy);
    }
}
