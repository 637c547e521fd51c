//! Posteriors that do not exist, each with its message, and near misses that do.

use proptest::prelude::*;
use ridgewalk_potentials::families::{Family, Logistic, Observation, Poisson, Probit};
use ridgewalk_potentials::{
    Dense, Error, Impropriety, Method, Mode, ModeSearch, Note, Prior, Proof, Properness, Ridge,
    Separability, SeparationKind,
};

use crate::support::*;

fn improper(outcome: Result<Mode, Error>) -> (Impropriety, String) {
    match outcome {
        Err(error) => {
            let text = error.to_string();
            let Error::Improper(impropriety) = error else { panic!("{text}") };
            (impropriety, text)
        }
        Ok(mode) => panic!("{mode:?}"),
    }
}

/// Columns 0 to 4, the first of ones, column 4 = 2 column 1 − column 3 and some noise.
fn related(n: usize, noise: f64) -> Vec<f64> {
    let (x, e) = (numbers(61, 3 * n), numbers(62, n));
    (0..n)
        .flat_map(|i| {
            let [a, b, c] = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
            [1.0, a, b, c, 2.0 * a - c + noise * e[i]]
        })
        .collect()
}

#[test]
fn collinear_columns_are_named_with_their_relation() {
    let n = 80;
    let y = responses(63, n);
    for family in families() {
        let name = family.name();
        let design = Dense::new(n, 5, related(n, 0.0)).unwrap();
        let (_, text) = improper(Ridge::new(design, family, &y, Prior::flat(5)).unwrap().mode());
        assert_eq!(
            text,
            "the posterior is improper: columns 1, 3 and 4 of the design are collinear: column 4 = 2 column 1 - column 3, and the \
             prior is flat along that direction",
            "{name}"
        );
    }
    // Noise of 1e-6 is information.
    let near =
        Ridge::new(Dense::new(n, 5, related(n, 1e-6)).unwrap(), Logistic, &y, Prior::flat(5))
            .unwrap();
    let mode = near.mode().unwrap();
    assert!(mode.notes.is_empty(), "{mode:?}");
    assert!(distance(&near, &mode.point) < 1e-8);
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    // A proper prior on one of the columns is enough; the relation becomes a note.
    for k in [1, 3, 4] {
        let mut scales = [f64::INFINITY; 5];
        scales[k] = 10.0;
        let prior = Prior::normal(&[0.0; 5], &scales).unwrap();
        let model =
            Ridge::new(Dense::new(n, 5, related(n, 0.0)).unwrap(), Logistic, &y, prior).unwrap();
        let mode = model.mode().unwrap();
        assert_eq!(mode.properness, Properness::Proper(Proof::Curvature), "column {k}");
        assert!(matches!(&mode.notes[..], [Note::Collinear(_)]));
        assert_eq!(
            mode.notes[0].to_string(),
            "columns 1, 3 and 4 of the design are collinear: column 4 = 2 column 1 - column 3; along that direction the prior \
             alone decides"
        );
        assert!(distance(&model, &mode.point) < 1e-8);
    }
    // One on another column is not.
    let prior =
        Prior::normal(&[0.0; 5], &[1.0, f64::INFINITY, 1.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let other =
        Ridge::new(Dense::new(n, 5, related(n, 0.0)).unwrap(), Logistic, &y, prior).unwrap();
    assert!(improper(other.mode()).1.contains("column 4 = 2 column 1 - column 3"));
}

#[test]
fn relations_survive_scales_and_come_in_numbers() {
    let n = 50;
    let y = responses(64, n);
    // Columns 1e9 and 1e-9 times as large: 4 = 2e18 column 1 - ..., and a zero column, and a copy.
    let factors = [1.0, 1e9, 1.0, 1e-9, 1e3];
    let mut values: Vec<f64> =
        related(n, 0.0).iter().enumerate().map(|(at, x)| x * factors[at % 5]).collect();
    let wide = |values: &[f64]| Dense::new(n, 5, values.to_vec()).unwrap();
    let (_, text) = improper(Ridge::new(wide(&values), Probit, &y, Prior::flat(5)).unwrap().mode());
    assert!(text.contains("column 4 = 0.000002 column 1 - 1000000000000 column 3"), "{text}");
    values.iter_mut().skip(2).step_by(5).for_each(|x| *x = 0.0);
    let (found, text) =
        improper(Ridge::new(wide(&values), Probit, &y, Prior::flat(5)).unwrap().mode());
    assert!(text.contains("column 2 of the design is zero (and 1 more such relation)"), "{text}");
    assert!(matches!(found, Impropriety::Collinear(relations) if relations.len() == 2));
    // More columns than rows: as many relations as columns too many.
    let model = |prior| {
        Ridge::new(
            Dense::new(8, 20, numbers(65, 160)).unwrap(),
            Logistic,
            &[0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0],
            prior,
        )
        .unwrap()
    };
    let (found, text) = improper(model(Prior::flat(20)).mode());
    assert!(matches!(found, Impropriety::Collinear(relations) if relations.len() == 12), "{text}");
    let mode = model(Prior::centred(20, 1.0).unwrap()).mode().unwrap();
    assert!(
        matches!(&mode.notes[..], [Note::Collinear(relations)] if relations.len() == 12),
        "{mode:?}"
    );
    // A trap of dummies: the three levels of a factor add up to the intercept.
    let levels: Vec<f64> = (0..30)
        .flat_map(|i| {
            [
                1.0,
                f64::from(u8::from(i % 3 == 0)),
                f64::from(u8::from(i % 3 == 1)),
                f64::from(u8::from(i % 3 == 2)),
            ]
        })
        .collect();
    let trap = Ridge::new(Dense::new(30, 4, levels).unwrap(), Poisson, &[2.0; 30], Prior::flat(4))
        .unwrap();
    assert!(improper(trap.mode()).1.contains("column 3 = column 0 - column 1 - column 2"));
}

/// Rows (1, x) with a threshold at 0.
fn threshold(x: &[f64]) -> Dense<'static> {
    Dense::new(x.len(), 1, x.to_vec()).unwrap().with_intercept()
}

#[test]
fn complete_separation_is_named_and_a_near_miss_is_not() {
    let x = [-3.0, -2.0, -1.5, -0.2, 0.1, 0.4, 1.0, 5.0];
    let y = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    for family in [boxed(Logistic), boxed(Probit)] {
        let name = family.name();
        let model = Ridge::new(threshold(&x), family, &y, Prior::flat(2)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{text}") };
        assert_eq!(
            (separation.kind, separation.separated, separation.rows),
            (SeparationKind::Complete, 8, 8),
            "{name}"
        );
        assert_eq!(separation.columns[0], 1);
        assert_separates(&[x.to_vec()], &y, &separation);
        assert!(
            text.starts_with(
                "the posterior is improper: complete separation: along a direction of chiefly column"
            ),
            "{text}"
        );
        assert!(
            text.ends_with(
                "all 8 rows fit better and better, and the prior is flat along that direction"
            ),
            "{text}"
        );
    }
    // One row moved across, by ever less: the data overlap, and a mode exists.
    for by in [1.0, 1e-2, 1e-4] {
        let mut near = x;
        near[3] = 0.1 + by;
        for family in [boxed(Logistic), boxed(Probit)] {
            let name = family.name();
            let model = Ridge::new(threshold(&near), family, &y, Prior::flat(2)).unwrap();
            let mode = model.mode().unwrap_or_else(|error| panic!("{name}, {by}: {error}"));
            assert_eq!(mode.properness, Properness::Proper(Proof::Curvature), "{name}, {by}");
            assert!(distance(&model, &mode.point) < 1e-7, "{name}, {by}");
            assert_eq!(model.separation().unwrap(), Separability::Overlapping);
        }
    }
    // A proper prior on the slope alone, or on the intercept alone: the direction needs both, but a
    // pure slope separates too.
    let with = |scales: &[f64]| {
        Ridge::new(threshold(&x), Logistic, &y, Prior::normal(&[0.0; 2], scales).unwrap()).unwrap()
    };
    assert_eq!(
        with(&[f64::INFINITY, 3.0]).mode().unwrap().properness,
        Properness::Proper(Proof::Curvature)
    );
    let (found, _) = improper(with(&[3.0, f64::INFINITY]).mode());
    assert!(
        matches!(found, Impropriety::Separation(separation) if separation.direction[0] == 0.0 && separation.columns == [1])
    );
    let proper = with(&[3.0, 3.0]);
    assert_eq!(proper.mode().unwrap().properness, Properness::Proper(Proof::Prior));
    assert!(
        matches!(proper.separation().unwrap(), Separability::Separated(s) if s.kind == SeparationKind::Complete)
    );
}

#[test]
fn quasi_complete_separation_is_named_and_a_near_miss_is_not() {
    // A dummy whose rows are all successes; the others overlap.
    let n = 40;
    let x = numbers(71, n);
    let dummy: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 5 == 0))).collect();
    let mut y = responses(72, n);
    (0..n).step_by(5).for_each(|i| y[i] = 1.0);
    let design = || with_ones(&[x.clone(), dummy.clone()]);
    for family in [boxed(Logistic), boxed(Probit)] {
        let model = Ridge::new(design(), family, &y, Prior::flat(3)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{text}") };
        assert_eq!(separation.direction, [0.0, 0.0, separation.direction[2]]);
        assert!(separation.direction[2] > 0.0);
        assert!(
            text.contains("quasi-complete separation: along a direction of chiefly column 2 8 of 40 rows fit better and better"),
            "{text}"
        );
    }
    let mut near = y.clone();
    near[10] = 0.0;
    let model = Ridge::new(design(), Logistic, &near, Prior::flat(3)).unwrap();
    assert_eq!(model.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    let prior = Prior::normal(&[0.0; 3], &[f64::INFINITY, f64::INFINITY, 2.5]).unwrap();
    let held = Ridge::new(design(), Logistic, &y, prior).unwrap();
    assert_eq!(held.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    assert!(
        matches!(held.separation().unwrap(), Separability::Separated(s) if s.kind == SeparationKind::QuasiComplete)
    );
}

#[test]
fn quasi_complete_separation_by_several_columns_is_found() {
    // Predictors p and q with p + q = 0 on the plane, where responses overlap, and clear of it
    // elsewhere.
    for (seed, family) in [(81, boxed(Logistic)), (82, boxed(Probit)), (83, boxed(Logistic))] {
        let n = 60;
        let noise = numbers(seed, 3 * n);
        let mut columns = vec![Vec::new(), Vec::new(), Vec::new()];
        let mut y = Vec::new();
        for i in 0..n {
            let (p, z) = (noise[3 * i], noise[3 * i + 2]);
            let (q, response) = match i % 3 {
                0 => (-p, f64::from(u8::from(noise[3 * i + 1] > 0.0))),
                1 => (-p + 0.1 + noise[3 * i + 1].abs(), 1.0),
                _ => (-p - 0.1 - noise[3 * i + 1].abs(), 0.0),
            };
            columns[0].push(p);
            columns[1].push(q);
            columns[2].push(z);
            y.push(response);
        }
        let name = family.name();
        let model = Ridge::new(with_ones(&columns), family, &y, Prior::flat(4)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{name}: {text}") };
        assert_eq!(
            (separation.kind, separation.separated),
            (SeparationKind::QuasiComplete, 40),
            "{name}"
        );
        assert_separates(&columns, &y, &separation);
        assert!((separation.direction[1] / separation.direction[2] - 1.0).abs() < 1e-9);
        assert!(
            separation.columns.contains(&1)
                && separation.columns.contains(&2)
                && separation.columns.len() == 2
        );
        // One failure among the successes, near the plane.
        let mut near = y.clone();
        near[1] = 0.0;
        let model = Ridge::new(with_ones(&columns), Logistic, &near, Prior::flat(4)).unwrap();
        assert_eq!(model.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    }
}

#[test]
fn constant_responses_are_their_own_case() {
    let n = 30;
    let columns = [numbers(91, n), numbers(92, n)];
    let cases: [(Box<dyn Family>, f64); 4] = [
        (boxed(Logistic), 0.0),
        (boxed(Logistic), 1.0),
        (boxed(Probit), 1.0),
        (boxed(Poisson), 0.0),
    ];
    for (family, value) in cases {
        let name = family.name();
        let model =
            Ridge::new(with_ones(&columns), family, &vec![value; n], Prior::flat(3)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{text}") };
        assert_eq!(
            (separation.kind, separation.separated),
            (SeparationKind::ConstantResponse, n),
            "{name}"
        );
        assert!(
            text.contains("all 30 responses are equal: along a direction of chiefly column 0"),
            "{text}"
        );
    }
    let proper =
        Ridge::new(with_ones(&columns), Logistic, &vec![1.0; n], Prior::centred(3, 2.0).unwrap())
            .unwrap();
    assert_eq!(proper.mode().unwrap().notes, [Note::ConstantResponse]);
    // Without an intercept nothing is wrong: no direction moves all rows one way.
    let plain = Dense::new(n, 1, numbers(93, n)).unwrap();
    let model = Ridge::new(plain, Logistic, &vec![1.0; n], Prior::flat(1)).unwrap();
    let mode = model.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    // Equal counts above 0 are no extreme.
    let counts = Ridge::new(with_ones(&columns), Poisson, &vec![4.0; n], Prior::flat(3))
        .unwrap()
        .mode()
        .unwrap();
    assert!(counts.notes.is_empty() && (counts.point[0] - 4.0_f64.ln()).abs() < 1e-10);
}

#[test]
fn poisson_zeros_can_separate() {
    // Column 1 is positive only where counts are 0: its coefficient goes to minus infinity.
    let columns =
        vec![vec![1.0, 0.5, 2.0, 0.0, 0.0, 0.0, 0.0], vec![0.3, -0.2, 0.9, 0.1, -1.0, 0.7, 0.2]];
    let y = [0.0, 0.0, 0.0, 3.0, 1.0, 0.0, 2.0];
    let (found, text) =
        improper(Ridge::new(with_ones(&columns), Poisson, &y, Prior::flat(3)).unwrap().mode());
    let Impropriety::Separation(separation) = found else { panic!("{text}") };
    assert_eq!((separation.kind, separation.separated), (SeparationKind::QuasiComplete, 3));
    assert!(separation.direction[1] < 0.0 && separation.columns == [1]);
    // One count there, or a negative entry where counts are positive, holds it.
    let mut counted = y;
    counted[1] = 1.0;
    assert!(
        Ridge::new(with_ones(&columns), Poisson, &counted, Prior::flat(3)).unwrap().mode().is_ok()
    );
    let mut other = columns.clone();
    other[0][3] = -0.1;
    let held = Ridge::new(with_ones(&other), Poisson, &y, Prior::flat(3)).unwrap();
    // Whether or not another direction separates, the verdict must be right: a mode has no
    // gradient.
    match held.mode() {
        Ok(mode) => assert!(distance(&held, &mode.point) < 1e-8),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn one_far_row_or_uncentred_times_are_not_mistaken_for_separation() {
    // A row of leverage 1e8 that fits its side: its predictor runs away, the others hold the slope.
    let n = 40;
    let mut x = numbers(101, n);
    let mut y = responses(102, n);
    (x[7], y[7]) = (1e8, if slope_of(&x[..7], &y[..7]) > 0.0 { 1.0 } else { 0.0 });
    let model = Ridge::new(threshold(&x), Logistic, &y, Prior::flat(2)).unwrap();
    match model.mode() {
        Ok(mode) => assert_eq!(mode.properness, Properness::Proper(Proof::Curvature)),
        Err(error) => panic!("{error}"),
    }
    // Times in seconds since 1970 over a week.
    let times: Vec<f64> = numbers(103, n).iter().map(|t| (1.7e9 + 3e5 * t).round()).collect();
    let late: Vec<f64> = times
        .iter()
        .zip(&numbers(104, n))
        .map(|(t, e)| f64::from(u8::from(t - 1.7e9 + 2e5 * e > 0.0)))
        .collect();
    let overlap = Ridge::new(threshold(&times), Logistic, &late, Prior::flat(2)).unwrap();
    let mode = overlap.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    let centred: Vec<f64> = times.iter().map(|t| t - 1.7e9).collect();
    let same =
        Ridge::new(threshold(&centred), Logistic, &late, Prior::flat(2)).unwrap().mode().unwrap();
    assert!(
        (mode.point[1] / same.point[1] - 1.0).abs() < 1e-6,
        "{} and {}",
        mode.point[1],
        same.point[1]
    );
    let split: Vec<f64> = times.iter().map(|t| f64::from(u8::from(*t > 1.7e9))).collect();
    let (found, _) =
        improper(Ridge::new(threshold(&times), Logistic, &split, Prior::flat(2)).unwrap().mode());
    assert!(matches!(found, Impropriety::Separation(s) if s.kind == SeparationKind::Complete));
}

fn slope_of(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * (y - 0.5)).sum()
}

#[test]
fn limits_of_slopes_are_slopes_far_out() {
    let binomial = Observation { response: 3.0, trials: 7.0 };
    for family in families() {
        let observations: Vec<Observation> = [Observation::of(0.0), Observation::of(1.0), binomial]
            .into_iter()
            .filter(|y| family.objection(*y).is_none())
            .collect();
        assert!(!observations.is_empty());
        for y in observations {
            let [down, up] = family.slope_limits(y);
            for (limit, s) in [(down, -1e9), (up, 1e9)] {
                let slope = family.slope(s, y);
                let agree = if limit.is_infinite() {
                    slope.signum() == limit.signum() && slope.abs() > 1e8
                } else {
                    (slope - limit).abs() < 1e-12
                };
                assert!(agree, "{}: {limit} and {slope}", family.name());
            }
            // The default finds the same zeros.
            let zeros = Plain(&*family).slope_limits(y).map(|limit| limit == 0.0);
            assert_eq!(zeros, [down == 0.0, up == 0.0], "{}", family.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random small data, often separated: whatever the verdict, it is checked by other means.
    #[test]
    fn verdicts_are_right(seed in 0_u64..100_000, n in 4_usize..14, d in 1_usize..4, coarse in any::<bool>()) {
        let mut values = numbers(seed, n * d);
        if coarse {
            values.iter_mut().for_each(|x| *x = (2.0 * *x).round());
        }
        let columns: Vec<Vec<f64>> = (0..d).map(|k| (0..n).map(|i| values[i * d + k]).collect()).collect();
        let y = responses(seed + 1, n);
        let model = Ridge::new(with_ones(&columns), Logistic, &y, Prior::flat(d + 1)).unwrap();
        match model.mode() {
            Ok(mode) => {
                prop_assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
                prop_assert!(distance(&model, &mode.point) < 1e-8);
                // The next step of Newton's method stays: a true minimum, not a slope that
                // flattens.
                prop_assert!(largest(&mode.point) < 1e6);
            }
            Err(Error::Improper(Impropriety::Separation(separation))) => assert_separates(&columns, &y, &separation),
            Err(Error::Improper(Impropriety::Collinear(relations))) => {
                for relation in relations {
                    let column = |k: usize, i: usize| if k == 0 { 1.0 } else { columns[k - 1][i] };
                    for i in 0..n {
                        let sum: f64 = relation.terms.iter().map(|&(k, factor)| factor * column(k, i)).sum();
                        prop_assert!((column(relation.column, i) - sum).abs() < 1e-9);
                    }
                }
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// Rows of an intercept and three columns of small integers, with overlap in the three flat
/// columns.
const MIXED: [[f64; 4]; 18] = [
    [1.0, -1.0, 3.0, 3.0],
    [1.0, 0.0, 3.0, -3.0],
    [1.0, -1.0, 3.0, 0.0],
    [1.0, 0.0, -2.0, 1.0],
    [1.0, -3.0, 3.0, -3.0],
    [1.0, 1.0, 2.0, 3.0],
    [1.0, -1.0, 1.0, -1.0],
    [1.0, 2.0, 2.0, -3.0],
    [1.0, 2.0, -3.0, -3.0],
    [1.0, 2.0, 1.0, 3.0],
    [1.0, 3.0, 1.0, -3.0],
    [1.0, 2.0, -1.0, -1.0],
    [1.0, 3.0, 2.0, 0.0],
    [1.0, -1.0, -3.0, 0.0],
    [1.0, 1.0, 2.0, 2.0],
    [1.0, 0.0, 3.0, 1.0],
    [1.0, 2.0, 2.0, 3.0],
    [1.0, 0.0, -2.0, 1.0],
];

#[test]
fn a_direction_that_a_proper_prior_holds_is_no_separation() {
    // Separated with all four columns, and not with the three whose priors are flat, as a linear
    // programme says.
    let y =
        [0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let scales = [f64::INFINITY, 2.0, f64::INFINITY, f64::INFINITY];
    let diagonal = Prior::normal(&[0.0; 4], &scales).unwrap();
    let model =
        Ridge::new(Dense::new(18, 4, MIXED.concat()).unwrap(), Logistic, &y, diagonal).unwrap();
    let mode = model.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    assert!(distance(&model, &mode.point) < 1e-8, "{mode:?}");
}

#[test]
fn no_curvature_is_claimed_where_the_hessian_is_singular_to_rounding() {
    // Noise of 1e-8 is no relation, but its square is rounding.
    let n = 80;
    let design = Dense::new(n, 5, related(n, 1e-8)).unwrap();
    let model = Ridge::new(design, Logistic, &responses(63, n), Prior::flat(5)).unwrap();
    match model.mode() {
        Ok(mode) => assert!(mode.properness.to_string().contains("singular"), "{mode:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn complete_separation_is_preferred_to_a_column_that_separates_a_row() {
    // Column 2 alone separates the last row; columns 0 and 1 together separate all.
    let values = vec![1.0, 1.0, 0.0, 1.0, 2.0, 0.0, 1.0, 3.0, 0.0, 1.0, 4.0, 1.0];
    let model = Ridge::new(
        Dense::new(4, 3, values).unwrap(),
        Logistic,
        &[0.0, 0.0, 1.0, 1.0],
        Prior::flat(3),
    )
    .unwrap();
    let (found, text) = improper(model.mode());
    let Impropriety::Separation(separation) = found else { panic!("{text}") };
    assert_eq!((separation.kind, separation.separated), (SeparationKind::Complete, 4), "{text}");
}

#[test]
fn gradients_alone_do_not_pass_improper_posteriors_off_as_proper() {
    let search = ModeSearch::new().with_method(Method::Lbfgs);
    // Separated by two columns together, completely and all but two rows on the plane.
    let x: Vec<f64> = (1..=8).map(f64::from).collect();
    let complete = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    let model = |x: &[f64], y: &[f64]| {
        Ridge::new(with_ones(&[x.to_vec()]), Logistic, y, Prior::flat(2)).unwrap()
    };
    let (_, text) = improper(search.of_ridge(&model(&x, &complete)));
    assert!(text.contains("complete separation"), "{text}");
    let on_plane = [1.0, 2.0, 3.0, 4.0, 4.0, 6.0, 7.0, 8.0];
    let (_, text) = improper(search.of_ridge(&model(&on_plane, &complete)));
    assert!(text.contains("quasi-complete separation"), "{text}");
    let dummies = [
        1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0,
        1.0, 1.0, 0.0,
    ];
    let cells = Ridge::new(
        Dense::new(7, 3, dummies.to_vec()).unwrap(),
        Logistic,
        &[1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        Prior::flat(3),
    );
    let (_, text) = improper(search.of_ridge(&cells.unwrap()));
    assert!(text.contains("quasi-complete separation"), "{text}");
    let overlap = search.of_ridge(&model(&x, &[0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0])).unwrap();
    assert_eq!(
        (overlap.method, overlap.properness),
        (Method::Lbfgs, Properness::Proper(Proof::Curvature))
    );
    // Too many columns for matrices: counted, or the end of the search is the direction.
    let (n, d) = (50, 2100);
    let wide = Ridge::new(
        Dense::new(n, d, numbers(131, n * d)).unwrap(),
        Logistic,
        &responses(132, n),
        Prior::flat(d),
    );
    let (found, text) = improper(wide.unwrap().mode());
    assert_eq!(found, Impropriety::TooFewRows { columns: d, rows: n });
    assert!(
        text.contains("rank deficient: 2100 columns have flat priors, and there are 50 rows only"),
        "{text}"
    );
    // With two flat columns among them, both of which are needed.
    let n = 400;
    let mut values = numbers(133, n * d);
    let y: Vec<f64> = (0..n).map(|i| f64::from(u8::from(values[i * d + 1] > 0.3))).collect();
    (0..n).for_each(|i| values[i * d] = 1.0);
    let scales: Vec<f64> = (0..d).map(|k| if k < 2 { f64::INFINITY } else { 1e-3 }).collect();
    let prior = Prior::normal(&vec![0.0; d], &scales).unwrap();
    let (found, text) = improper(
        Ridge::new(Dense::new(n, d, values).unwrap(), Logistic, &y, prior).unwrap().mode(),
    );
    assert!(matches!(found, Impropriety::Separation(_)), "{text}");
}

#[test]
fn rounding_far_out_proves_nothing() {
    // Separated along columns 0, 1 and 5, which are flat, by v = (1, -1, 0, 0, 0, 1) in units of
    // 1e7, 1e-9 and 1e7; columns 2 and 3 have units of 1e9 and proper priors, so that they run
    // along for a long way. A full step far out once happened to leave no slope.
    let signs = [
        [1.0, -1.0, -1.0, 0.0, 0.0, -1.0],
        [0.0, -1.0, 1.0, 1.0, 1.0, 1.0],
        [0.0, 1.0, -1.0, -1.0, 0.0, 1.0],
        [1.0, -1.0, 0.0, -1.0, -1.0, 1.0],
        [1.0, 1.0, -1.0, 1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0, 0.0, -1.0, 1.0],
        [-1.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        [0.0, -1.0, 1.0, 1.0, -1.0, 1.0],
    ];
    let units = [1e7, 1e-9, 1e9, 1e9, 1e9, 1e7];
    let values: Vec<f64> =
        signs.concat().iter().enumerate().map(|(at, sign)| sign * units[at % 6]).collect();
    let flat = f64::INFINITY;
    let prior = Prior::normal(&[0.0; 6], &[flat, flat, 2.0, 2.0, flat, flat]).unwrap();
    let y = [1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let outcome =
        Ridge::new(Dense::new(8, 6, values).unwrap(), Logistic, &y, prior).unwrap().mode();
    let proper = matches!(outcome, Ok(Mode { properness: Properness::Proper(_), .. }));
    assert!(!proper, "{outcome:?}");
}
