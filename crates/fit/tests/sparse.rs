//! Sparse designs, of factors with many levels: against exact laws, and against the same model with
//! every entry stored.

use ridgewalk_diagnostics::ess_moments;
use ridgewalk_fit::{Fitted, KernelChoice, Parameter, Settings, fit};
use ridgewalk_frame::{Column, FamilyName, Frame, Question, Table};
use ridgewalk_sampler::Stream;

/// Standard errors that an estimate may be off by: a normal number is farther off with probability
/// 5.7e-7, one of the 1,600 in this file, with other seeds, once in 1,000 runs.
const ERRORS: f64 = 5.0;
const LEVELS: usize = 300;
const ROWS: usize = 1_200;
/// The prior of the intercept, narrow: where it holds must matter.
const INTERCEPT: (f64, f64) = (1.0, 0.02);

/// A number, a factor of many levels, and a response.
fn table(family: FamilyName) -> Table {
    let mut stream = Stream::new(11, 0);
    let mut normals = |count: usize| {
        let mut list = vec![0.0; count];
        stream.normals(&mut list);
        list
    };
    let (x, effects, noise) = (normals(ROWS), normals(LEVELS), normals(ROWS));
    let level = |row: usize| if row < LEVELS { row } else { row * row * 7 % LEVELS };
    let s = |row: usize| 0.4 + 0.7 * x[row] + effects[level(row)];
    let y: Vec<f64> = (0..ROWS)
        .map(|row| match family {
            FamilyName::Gaussian => s(row) + noise[row],
            _ => f64::from(u8::from(s(row) + 1.7 * noise[row] > 0.0)),
        })
        .collect();
    let names: Vec<String> = (0..ROWS).map(|row| format!("l{}", level(row))).collect();
    // The same factor as numbers, one column for each level but the base.
    let numbers = (1..LEVELS).map(|k| {
        let column: Vec<f64> = (0..ROWS).map(|row| f64::from(u8::from(level(row) == k))).collect();
        Column::from_numbers(&format!("n{k}"), &column)
    });
    let own = [
        Column::from_numbers("y", &y),
        Column::from_numbers("x", &x),
        Column::from_texts("g", &names),
    ];
    Table::from_columns("made", own.into_iter().chain(numbers).collect()).unwrap()
}

fn settings(formula: &str, family: FamilyName) -> Settings {
    Settings {
        prior: Some("normal(0, 1.5)".into()),
        intercept_prior: Some(format!("normal({}, {})", INTERCEPT.0, INTERCEPT.1)),
        seed: 5,
        ..Settings::of_formula(formula, family)
    }
}

/// Means and standard deviations of the coefficients for a noise of 1, by the normal equations.
/// `at_means` is where the prior of the intercept holds.
fn law(table: &Table, at_means: bool) -> Vec<(f64, f64)> {
    let question = Question::of_formula("y ~ x + g".parse().unwrap(), FamilyName::Gaussian);
    let frame = Frame::new(table, &question).unwrap();
    assert!(frame.design.is_sparse());
    let d = frame.columns;
    let rows: Vec<Vec<f64>> = (0..frame.rows).map(|row| frame.row(row)).collect();
    let mut at = vec![0.0; d];
    at[0] = 1.0;
    if at_means {
        for k in 1..d {
            at[k] = rows.iter().map(|row| row[k]).sum::<f64>() / ROWS as f64;
        }
    }
    let (mut precision, mut linear) = (vec![vec![0.0; d]; d], vec![0.0; d]);
    for (row, y) in rows.iter().zip(&frame.response) {
        for i in (0..d).filter(|i| row[*i] != 0.0) {
            linear[i] += row[i] * y;
            (0..d).for_each(|j| precision[i][j] += row[i] * row[j]);
        }
    }
    let weight = INTERCEPT.1.powi(-2);
    for i in 0..d {
        linear[i] += weight * INTERCEPT.0 * at[i];
        (0..d).for_each(|j| precision[i][j] += weight * at[i] * at[j]);
        if i > 0 {
            precision[i][i] += 1.5_f64.powi(-2);
        }
    }
    let inverse = inverse(precision);
    let mean = |row: &Vec<f64>| row.iter().zip(&linear).map(|(a, b)| a * b).sum::<f64>();
    inverse.iter().enumerate().map(|(k, row)| (mean(row), row[k].sqrt())).collect()
}

/// The inverse of a positive definite matrix, by elimination.
fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let d = a.len();
    let mut out: Vec<Vec<f64>> =
        (0..d).map(|i| (0..d).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for k in 0..d {
        let pivot = 1.0 / a[k][k];
        a[k].iter_mut().chain(&mut out[k]).for_each(|x| *x *= pivot);
        for i in (0..d).filter(|i| *i != k) {
            let factor = a[i][k];
            if factor != 0.0 {
                for j in 0..d {
                    a[i][j] -= factor * a[k][j];
                    out[i][j] -= factor * out[k][j];
                }
            }
        }
    }
    out
}

/// The largest distance of means and standard deviations from a law, in standard errors.
fn farthest(fitted: &Fitted, law: &[(f64, f64)]) -> f64 {
    let one = |(found, (mean, sd)): (&Parameter, &(f64, f64))| {
        let traces = fitted.draws().traces_of(&found.name).unwrap();
        let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
        let of_sd = sd / (2.0 * ess_moments(&chains).unwrap()).sqrt();
        ((found.mean - mean) / found.mcse_mean).abs().max(((found.sd - sd) / of_sd).abs())
    };
    fitted.summary().iter().zip(law).map(one).fold(0.0, f64::max)
}

#[test]
fn a_factor_of_300_levels_has_its_exact_posterior() {
    let table = table(FamilyName::Gaussian);
    let settings =
        Settings { noise_scale: Some(1.0), ..settings("y ~ x + g", FamilyName::Gaussian) };
    let fitted = fit(&table, &settings).unwrap();
    assert!(fitted.warnings().is_empty(), "{:?}", fitted.warnings());
    let off = farthest(&fitted, &law(&table, true));
    println!("{off:.2}");
    assert!(off < ERRORS, "{off:.1} errors");
    // A prior of the intercept of the base level is another model.
    let planted = farthest(&fitted, &law(&table, false));
    println!("planted: {planted:.0}");
    assert!(planted > 4.0 * ERRORS, "{planted:.1} errors");
}

#[test]
fn sparse_and_dense_designs_have_one_posterior() {
    for family in [FamilyName::Logistic, FamilyName::Gaussian] {
        let table = table(family);
        let numbers: Vec<String> = (1..LEVELS).map(|k| format!("n{k}")).collect();
        let dense = format!("y ~ x + {}", numbers.join(" + "));
        let [sparse, dense] =
            ["y ~ x + g", &dense].map(|formula| fit(&table, &settings(formula, family)).unwrap());
        let place = |k: usize| {
            // The levels of text are in natural order, and so are these.
            let (a, b) = (&sparse.summary()[k].name, &dense.summary()[k].name);
            assert!(!(2..=LEVELS).contains(&k) || a[3..a.len() - 1] == b[1..], "{a} and {b}");
            k
        };
        let pairs = (0..sparse.summary().len()).map(place);
        let off = |k: usize| {
            let (a, b) = (&sparse.summary()[k], &dense.summary()[k]);
            let error = a.mcse_mean.hypot(b.mcse_mean);
            (((a.mean - b.mean) / error).abs(), (a.sd / b.sd).ln().abs())
        };
        let (mean, sd) =
            pairs.map(off).fold((0.0_f64, 0.0_f64), |(a, b), (mean, sd)| (a.max(mean), b.max(sd)));
        println!("{family}: {mean:.2} errors, sds {sd:.3}");
        assert!(mean < ERRORS, "{family}: {mean:.1} errors");
        assert!(sd < 0.12, "{family}: sds differ by {sd:.2}");
    }
}

/// The bias that kernels without acceptance may have here, in standard deviations.
const BIAS: f64 = 0.05;

/// The largest distance of means and standard deviations from those of a law, in standard errors,
/// beyond the bias that is allowed.
fn beyond_bias(fitted: &Fitted, law: &[(f64, f64)]) -> f64 {
    let one = |(found, (mean, sd)): (&Parameter, &(f64, f64))| {
        let traces = fitted.draws().traces_of(&found.name).unwrap();
        let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
        let of_sd = sd / (2.0 * ess_moments(&chains).unwrap()).sqrt();
        let off = [(found.mean - mean) / found.mcse_mean, (found.sd - sd) / of_sd];
        let allowed = [BIAS * sd / found.mcse_mean, BIAS * sd / of_sd];
        (off[0].abs() - allowed[0]).max(off[1].abs() - allowed[1])
    };
    fitted.summary().iter().zip(law).map(one).fold(0.0, f64::max)
}

/// Kernels that need line integrals, against the exact law.
#[test]
fn kernels_without_acceptance_sample_a_factor_of_300_levels() {
    let table = table(FamilyName::Gaussian);
    let known = Settings { noise_scale: Some(1.0), ..settings("y ~ x + g", FamilyName::Gaussian) };
    let kernels = [
        Settings { bias_tolerance: Some(BIAS), ..known.clone() },
        Settings { kernel: KernelChoice::ThirdOrder, ..known },
    ];
    let (wanted, planted) = (law(&table, true), law(&table, false));
    for settings in kernels {
        let fitted = fit(&table, &settings).unwrap();
        assert!(fitted.warnings().is_empty(), "{:?}", fitted.warnings());
        let [off, elsewhere] = [&wanted, &planted].map(|law| beyond_bias(&fitted, law));
        println!("{}: {off:.2}, planted: {elsewhere:.0}", settings.kernel);
        assert!(off < ERRORS, "{}: {off:.1} errors", settings.kernel);
        assert!(elsewhere > 4.0 * ERRORS, "{}: {elsewhere:.1} errors", settings.kernel);
    }
}

/// The same for a posterior that is not normal, against the kernel that is exact and uses no
/// integrals.
#[test]
fn kernels_without_acceptance_agree_with_the_exact_one() {
    let table = table(FamilyName::Logistic);
    let settings = settings("y ~ x + g", FamilyName::Logistic);
    let exact = fit(&table, &settings).unwrap();
    let settings = Settings { kernel: KernelChoice::ThirdOrder, ..settings };
    let fitted = fit(&table, &settings).unwrap();
    let off = |fitted: &Fitted, by: f64| {
        let pairs = fitted.summary().iter().zip(exact.summary());
        let one = |(a, b): (&Parameter, &Parameter)| {
            let away = (a.mean - b.mean + by * b.sd).abs() - BIAS * b.sd;
            away / a.mcse_mean.hypot(b.mcse_mean)
        };
        pairs.map(one).fold(0.0, f64::max)
    };
    let sds = exact.summary().iter().zip(fitted.summary());
    let sds = sds.map(|(a, b)| (a.sd / b.sd).ln().abs()).fold(0.0, f64::max);
    println!("{:.2} errors, sds {sds:.3}", off(&fitted, 0.0));
    assert!(off(&fitted, 0.0) < ERRORS, "{:.1} errors", off(&fitted, 0.0));
    assert!(sds < 0.12 + BIAS, "sds differ by {sds:.2}");
    // Planted: all means off by half a standard deviation.
    assert!(off(&fitted, 0.5) > 2.0 * ERRORS);
}

/// What has no line integrals says what would.
#[test]
fn noise_of_unknown_scale_has_no_line_integrals() {
    let table = table(FamilyName::Gaussian);
    let settings = settings("y ~ x + g", FamilyName::Gaussian);
    let settings = Settings { kernel: KernelChoice::ThirdOrder, ..settings };
    let error = fit(&table, &settings).unwrap_err().to_string();
    assert!(error.contains("a known --noise-scale"), "{error}");
}

/// What follows a fit takes sparse rows as it takes dense ones.
#[test]
fn predictors_of_sparse_rows_are_those_of_all_entries() {
    let table = table(FamilyName::Logistic);
    let question = Question::of_formula("y ~ x * g".parse().unwrap(), FamilyName::Logistic);
    let frame = Frame::new(&table, &question).unwrap();
    assert!(frame.design.is_sparse());
    assert_eq!(frame.columns, 2 * LEVELS);
    // Intercept, x, a level and its slope.
    assert!(frame.design.stored() <= 4 * ROWS);
    let again = frame.coding.rows(&table).unwrap();
    assert_eq!(again.design, frame.design);
    let observed = |rows: &[usize]| frame.select(rows).design.dense().into_owned();
    let wanted: Vec<f64> = [7, 3].iter().flat_map(|&row| frame.row(row)).collect();
    assert_eq!(observed(&[7, 3]), wanted);
}
