//! Plans: how many steps they need, how that grows, and that the true distance never exceeds their
//! bound.

use std::sync::{Mutex, PoisonError};

use proptest::prelude::*;
use ridgewalk_coefficients::{Coefficients, Parameters};
use ridgewalk_figures::{Figures, Near};
use ridgewalk_lyapunov::certificate::Certificate;
use ridgewalk_lyapunov::laws::{self, Evolution, Scheme, Spectrum};
use ridgewalk_lyapunov::planner::{DerivativeBound, IntegralRule, Plan, Problem, plan};

/// The plan for a problem. Several tests use the same ones, and a search takes a quarter of a
/// second: each is made once.
fn found(problem: Problem) -> Plan {
    static KNOWN: Mutex<Vec<(Problem, Plan)>> = Mutex::new(Vec::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let hit = known().iter().find(|(other, _)| *other == problem).map(|(_, plan)| *plan);
    hit.unwrap_or_else(|| {
        let plan = plan(&problem).unwrap().unwrap_or_else(|| panic!("no plan: {problem:?}"));
        known().push((problem, plan));
        plan
    })
}

fn planned(convexity: f64, smoothness: f64, dimension: u64, accuracy: f64) -> Plan {
    let rule = IntegralRule::Exact;
    found(Problem::new(convexity, smoothness, dimension, accuracy, rule).unwrap())
}

/// Nodes, and bounds (α, L_α) on derivatives.
fn nodes(nodes: usize, bounds: &[(u32, f64)]) -> IntegralRule {
    let each = |&(alpha, constant): &(u32, f64)| DerivativeBound::new(alpha, constant).unwrap();
    IntegralRule::Nodes { nodes, derivatives: bounds.iter().map(each).collect() }
}

fn planned_nodes(nodes: usize, lipschitz_hessian: Option<f64>) -> Plan {
    let bounds = lipschitz_hessian.map(DerivativeBound::lipschitz_hessian);
    let derivatives = bounds.into_iter().map(Result::unwrap).collect();
    let rule = IntegralRule::Nodes { nodes, derivatives };
    found(Problem::new(0.1, 1.0, 100, 0.2, rule).unwrap())
}

/// A start: the displacement of every coordinate from the minimiser, and whether p = r = 0.
type Start = (f64, bool);

/// The plan with exact line integrals from a start.
fn planned_from(
    convexity: f64, smoothness: f64, dimension: u64, accuracy: f64, (displacement, at_rest): Start,
) -> Plan {
    let rule = IntegralRule::Exact;
    let problem = Problem::new(convexity, smoothness, dimension, accuracy, rule).unwrap();
    // Enlarged by its own rounding.
    let distance = displacement.abs() * (dimension as f64).sqrt() * (1.0 + 1e-15);
    let problem = problem.with_start_distance(distance).unwrap();
    found(if at_rest { problem.started_at_rest() } else { problem })
}

/// Mean and variance of θ after some steps of Algorithm 1 on a quadratic of curvature `l` times
/// `smoothness`, by plain iteration of the moments: nothing is shared with the planner.
fn theta_after(
    plan: &Plan, smoothness: f64, l: f64, (displacement, at_rest): Start, steps: u64,
) -> (f64, f64) {
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
    let own = if at_rest { 0.0 } else { 1.0 / smoothness };
    let mut covariance = [[0.0, 0.0, 0.0], [0.0, own, 0.0], [0.0, 0.0, own]];
    let mut mean = [displacement, 0.0, 0.0];
    for _ in 0..steps {
        let half: [[f64; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..3).map(|k| f[i][k] * covariance[k][j]).sum())
        });
        covariance = std::array::from_fn(|i| {
            std::array::from_fn(|j| noise[i][j] + (0..3).map(|k| half[i][k] * f[j][k]).sum::<f64>())
        });
        mean = std::array::from_fn(|i| (0..3).map(|k| f[i][k] * mean[k]).sum());
    }
    (mean[0], covariance[0][0])
}

/// The exact W2 distance of θ to a Gaussian target after some steps. The eigenvalues of the Hessian
/// have equal multiplicities that add up to the dimension.
fn true_distance(
    plan: &Plan, smoothness: f64, eigenvalues: &[f64], dimension: u64, start: Start, steps: u64,
) -> f64 {
    let each = dimension as f64 / eigenvalues.len() as f64;
    let squares = eigenvalues.iter().map(|&eigenvalue| {
        let l = eigenvalue / smoothness;
        let (mean, variance) = theta_after(plan, smoothness, l, start, steps);
        each * (mean * mean + (variance.sqrt() - 1.0 / eigenvalue.sqrt()).powi(2))
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

/// More nodes pay where quadrature dominates, and hardly elsewhere.
#[test]
fn more_nodes_save_steps_where_quadrature_dominates() {
    let test = concat!(file!(), "::more_nodes_save_steps_where_quadrature_dominates");
    let mut figures = Figures::of("lyapunov", test);
    for (dimension, least, most) in [(100, 1.0, 1.4), (1_000_000, 3.0, 1e3)] {
        let question = |rule| found(Problem::new(0.1, 1.0, dimension, 0.2, rule).unwrap());
        let exact = question(IntegralRule::Exact).steps();
        let mut before = u64::MAX;
        for (count, alpha) in [(1, 3), (2, 3), (3, 5), (5, 7), (9, 11)] {
            let now = question(nodes(count, &[(alpha, 1.0)])).steps();
            assert!(now <= before && now >= exact, "{count} nodes: {now}");
            figures.add(&format!("d = {dimension}"), &format!("{count} nodes"), now as f64);
            if count == 1 {
                assert!((least..most).contains(&(now as f64 / exact as f64)), "{now}, {exact}");
            }
            before = now;
        }
        figures.add(&format!("d = {dimension}"), "exact", exact as f64);
        assert!((before as f64) < 1.2 * exact as f64, "{before} and {exact}");
    }
    figures.hold(Near::Same);
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
        let derivatives = vec![DerivativeBound::lipschitz_hessian(constant).unwrap()];
        let line_integral = IntegralRule::Nodes { nodes: 1, derivatives };
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
    let with = |rule| Problem::new(0.5, 1.0, 1, 0.1, rule).unwrap_err().to_string();
    assert_eq!(with(nodes(0, &[])), "nodes = 0: need 1 to 1024");
    let few = |alpha, count| with(nodes(count, &[(3, 1.0), (alpha, 1.0)]));
    let need = |alpha, count, needed| {
        format!(
            "alpha = {alpha} with nodes = {count}: need at least {needed} nodes, or a smaller alpha"
        )
    };
    assert_eq!(few(4, 2), need(4, 2, 3));
    assert_eq!(few(5, 2), need(5, 2, 3));
    assert_eq!(few(6, 4), need(6, 4, 5));
    assert_eq!(few(32, 9), need(32, 9, 31));
    for (alpha, count) in [(2, 1), (3, 1), (4, 3), (5, 3), (6, 5), (7, 5), (32, 31)] {
        assert!(Problem::new(0.5, 1.0, 1, 0.1, nodes(count, &[(alpha, 1.0)])).is_ok());
    }
    let bound = |alpha, constant| DerivativeBound::new(alpha, constant).unwrap_err().to_string();
    assert_eq!(bound(1, 1.0), "alpha = 1: need 2 to 32");
    assert_eq!(bound(33, 1.0), "alpha = 33: need 2 to 32");
    assert_eq!(bound(3, f64::NAN), "L_alpha = NaN: need a finite number of at least 0");
    assert_eq!(
        DerivativeBound::lipschitz_hessian(-1.0).unwrap_err().to_string(),
        "lipschitz_hessian = -1: need a finite number of at least 0"
    );
    let start = |distance| {
        let problem = Problem::new(0.5, 1.0, 1, 0.1, IntegralRule::Exact).unwrap();
        problem.with_start_distance(distance).unwrap_err().to_string()
    };
    assert_eq!(start(-1.0), "start_distance = -1: need a finite number of at least 0");
    assert!(start(f64::INFINITY).starts_with("start_distance = inf: need"));
    assert!(start(1e200).ends_with("need at most 1e100"));
}

#[test]
fn a_lipschitz_hessian_is_a_bound_on_the_third_derivative() {
    for (constant, root) in [(0.25, 0.5), (4.0, 2.0), (0.0, 0.0)] {
        let by_root = Problem::new(0.1, 1.0, 100, 0.2, nodes(2, &[(3, root)])).unwrap();
        assert_eq!(planned_nodes(2, Some(constant)), found(by_root));
    }
    // The root is never rounded down.
    for constant in [0.3, 2.0, 7.0, 1e-9, 1e300] {
        let root = DerivativeBound::lipschitz_hessian(constant).unwrap().constant();
        assert!(root.mul_add(root, -constant) >= 0.0, "{constant}");
    }
    // Of several bounds the best counts: a useless one changes nothing.
    let problem =
        |bounds: &[(u32, f64)]| Problem::new(0.1, 1.0, 100, 0.2, nodes(3, bounds)).unwrap();
    let one = found(problem(&[(4, 0.5)]));
    assert_eq!(found(problem(&[(4, 0.5), (3, 1e9), (5, 1e9)])), one);
    assert_eq!(found(problem(&[(3, 1e9), (4, 0.5)])), one);
    assert!(found(problem(&[(3, 1e9)])).steps() > 2 * one.steps());
}

#[test]
fn exact_laws_from_rest_are_the_steps_taken_one_by_one() {
    let plan = planned(0.1, 1.0, 100, 0.2);
    let scheme = Scheme::third_order(plan.gamma(), plan.xi(), plan.eta()).unwrap();
    let target = Spectrum::new(&[(1.0, 1), (0.1, 1)]).unwrap();
    let displacements = vec![0.7, 0.7];
    for (start, at_rest) in [
        (laws::Start::Displaced(displacements.clone()), false),
        (laws::Start::AtRest(displacements), true),
    ] {
        let evolution = Evolution::new(&scheme, &target, &start).unwrap();
        for steps in [0, 1, 2, 7, 100] {
            let law = evolution.after(steps);
            for (mode, l) in law.modes().iter().zip([1.0, 0.1]) {
                let (mean, variance) = theta_after(&plan, 1.0, l, (0.7, at_rest), steps);
                assert!((mode.mean[0] - mean).abs() < 1e-12, "{steps} steps");
                assert!((mode.covariance[0][0] - variance).abs() < 1e-12, "{steps} steps");
            }
        }
    }
    let wrong = laws::Start::AtRest(vec![0.0]);
    assert!(Evolution::new(&scheme, &target, &wrong).is_err());
}

/// √((S⁻¹)₁₁) a_0, the part of the bound that contracts.
fn start_of(plan: &Plan) -> f64 {
    (plan.bound_after(1) - plan.bound_after(u64::MAX)) / plan.certificate().speed()
}

#[test]
fn a_worse_start_never_has_a_shorter_plan_and_the_exact_start_has_the_same() {
    let (m, d, accuracy) = (0.1, 100, 0.2);
    for rule in [IntegralRule::Exact, nodes(2, &[(3, 0.5)])] {
        let problem = || Problem::new(m, 1.0, d, accuracy, rule.clone()).unwrap();
        let exact = found(problem());
        assert_eq!(found(problem().with_start_distance(0.0).unwrap()), exact);
        let resting = found(problem().started_at_rest());
        let mut before = [exact, resting];
        for distance in [1e-9, 0.1, 3.0, 100.0, 1e8] {
            let drawn = problem().with_start_distance(distance).unwrap();
            let now = [found(drawn.clone()), found(drawn.started_at_rest())];
            assert!(now[1].steps() >= now[0].steps(), "{distance} at rest");
            for (now, before) in now.iter().zip(&before) {
                assert!(now.steps() >= before.steps(), "{distance}");
                for steps in [0, 1, 10, 1000] {
                    assert!(now.bound_after(steps) >= before.bound_after(steps), "{distance}");
                }
                assert!(now.bound() <= accuracy);
            }
            before = now;
        }
        assert!(before[0].steps() > exact.steps() + 100 && resting.steps() > exact.steps());
    }
}

#[test]
fn the_distance_at_the_start_is_attained_and_without_any_of_its_terms_it_would_be_too_small() {
    let (m, l, d) = (0.1, 1.0, 50_u64);
    let dimension = d as f64;
    let in_norm = |plan: &Plan| {
        let s = plan.certificate().s();
        let adjugate = s[1][1] * s[2][2] - s[1][2] * s[1][2];
        let determinant = s[0][0] * adjugate - s[0][1] * (s[0][1] * s[2][2] - s[1][2] * s[0][2])
            + s[0][2] * (s[0][1] * s[1][2] - s[1][1] * s[0][2]);
        (start_of(plan) / (adjugate / determinant).sqrt(), s)
    };
    // A point mass at the minimiser, at rest, and the Gaussian of curvature m everywhere: W2 in the
    // norm of S is the root of the trace of S times the covariance.
    let plan = planned_from(m, l, d, 0.2, (0.0, true));
    let (found, s) = in_norm(&plan);
    let truth = (dimension * (s[0][0] / m + (s[1][1] + s[2][2]) / l)).sqrt();
    assert!(found >= truth && found < truth * (1.0 + 1e-8), "{found} and {truth}");
    // Without the terms of p and r it would be too small.
    let (planted, _) = in_norm(&planned_from(m, l, d, 0.2, (0.0, false)));
    assert!(planted < 0.99 * truth, "{planted} and {truth}");

    // κ = 1 and a displaced start, with p and r drawn.
    let plan = planned_from(l, l, d, 0.2, (0.7, false));
    let (found, s) = in_norm(&plan);
    let truth = (s[0][0] * dimension * (0.49 + 1.0 / l)).sqrt();
    assert!(found >= truth && found < truth * (1.0 + 1e-8), "{found} and {truth}");

    // Curvature L on the left of the minimiser and m on its right, start on the left.
    for (m, l) in [(1e-3_f64, 1.0_f64), (0.1, 1.0), (0.5, 2.0)] {
        let masses = [1.0 / l.sqrt(), 1.0 / m.sqrt()];
        let mass = masses[0] + masses[1];
        let mean = (2.0 / std::f64::consts::PI).sqrt() * (1.0 / m - 1.0 / l) / mass;
        let square = (masses[0] / l + masses[1] / m) / mass;
        for delta in [0.1, 1.0, 30.0] {
            let plan = planned_from(m, l, 1, 0.2, (-delta, false));
            let truth = (square + 2.0 * delta * mean + delta * delta).sqrt();
            assert!(plan.bound_after(0) >= truth, "{} and {truth}", plan.bound_after(0));
            let without = (1.0 / m + delta * delta).sqrt();
            assert!(m > 1e-3 || delta < 1.0 || without < truth, "{without} and {truth}");
        }
    }
}

/// The slope of the regression line through the points (ln x, ln y).
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = logs.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / count, m.1 + p.1 / count));
    let product: f64 = logs.iter().map(|p| (p.0 - mean.0) * (p.1 - mean.1)).sum();
    product / logs.iter().map(|p| (p.0 - mean.0).powi(2)).sum::<f64>()
}

/// Exponents in x of 1/η and of the steps over the theorem's logarithm, ln(d κ/ε), for κ = 4 and
/// three powers of ten. `question` gives d and ε from x.
fn exponents(rule: &IntegralRule, first: f64, question: impl Fn(f64) -> (u64, f64)) -> [f64; 2] {
    let plans: Vec<(f64, f64, f64)> = (0..3)
        .map(|i| first * 10f64.powi(i))
        .map(|x| {
            let (d, accuracy) = question(x);
            let plan = found(Problem::new(0.25, 1.0, d, accuracy, rule.clone()).unwrap());
            let logarithm = (d as f64 * 4.0 / accuracy).ln();
            (x, 1.0 / plan.eta(), plan.steps() as f64 / logarithm)
        })
        .collect();
    let of = |value: fn(&(f64, f64, f64)) -> f64| {
        slope(&plans.iter().map(|plan| (plan.0, value(plan))).collect::<Vec<_>>())
    };
    [of(|plan| plan.1), of(|plan| plan.2)]
}

#[test]
fn exponents_in_accuracy_and_dimension_are_those_of_the_theorems() {
    let mut all = Vec::new();
    let test = concat!(file!(), "::exponents_in_accuracy_and_dimension_are_those_of_the_theorems");
    let mut figures = Figures::of("lyapunov", test);
    let mut hold = |case: String, found: [f64; 2], expected: f64| {
        figures.add(&case, "of 1/eta", found[0]);
        figures.add(&case, "of steps over the logarithm", found[1]);
        figures.add(&case, "of the theorem", expected);
        all.push((case, found, expected));
    };
    // The first term: exact line integrals.
    let exact = IntegralRule::Exact;
    hold("1/accuracy; first term".into(), exponents(&exact, 1e4, |x| (1, 1.0 / x)), 0.5);
    let whole = |d: f64| format!("{d}").parse::<u64>().unwrap();
    hold("dimension; first term".into(), exponents(&exact, 1e6, |d| (whole(d), 0.01)), 0.25);
    // The second term, with α − 1 nodes and L_α so large that it dominates.
    for (alpha, constant, first) in [(2, 1.0, 1e3), (3, 1e3, 1e7), (4, 1e4, 1e9), (5, 1e5, 1e10)] {
        let rule = nodes(alpha as usize - 1, &[(alpha, constant)]);
        let found = exponents(&rule, first, |x| (1, 1.0 / x));
        hold(format!("1/accuracy; alpha {alpha}"), found, 1.0 / f64::from(alpha - 1));
    }
    for (alpha, constant, accuracy) in [(3, 30.0, 1e-6), (4, 100.0, 1e-6), (5, 1e3, 1e-5)] {
        let rule = nodes(alpha as usize - 1, &[(alpha, constant)]);
        let found = exponents(&rule, 1e4, |d| (whole(d), accuracy));
        hold(format!("dimension; alpha {alpha}"), found, 0.5);
    }
    for (case, found, expected) in all {
        println!("{case}: {found:?}, {expected}");
        assert!(found.iter().all(|x| (x - expected).abs() < 0.02), "{case}: {found:?}");
    }
    figures.hold(Near::Same);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_exact_law_never_exceeds_the_bound(
        log_kappa in 0.0..1.5_f64, smoothness in 0.2..5.0_f64, log_d in 0.0..4.0_f64,
        relative in 0.01..0.5_f64, shares in prop::collection::vec(0.0..=1.0_f64, 1..5),
        distance in prop_oneof![Just(0.0), 0.0..3.0_f64], at_rest in any::<bool>(),
    ) {
        let kappa = 10f64.powf(log_kappa);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let dimension = 10f64.powf(log_d) as u64;
        let accuracy = relative * (dimension as f64 * kappa / smoothness).sqrt();
        let eigenvalues: Vec<f64> = shares.iter().map(|share| smoothness * kappa.powf(-share)).collect();
        let start = (distance / smoothness.sqrt(), at_rest);
        let plan = planned_from(smoothness / kappa, smoothness, dimension, accuracy, start);
        for steps in [0, 1, 3, 10, plan.steps() / 3, plan.steps(), 2 * plan.steps()] {
            let truth = true_distance(&plan, smoothness, &eigenvalues, dimension, start, steps);
            let bound = plan.bound_after(steps);
            prop_assert!(truth <= bound, "{steps} steps from {start:?}: {truth} above {bound}");
        }
        prop_assert!(plan.bound() <= accuracy);
    }
}
