//! What a fit says about its priors and about the spread of counts: no alarm where all is well, and
//! an alarm where it is not.

use ridgewalk_fit::{Fitted, Settings, fit};
use ridgewalk_frame::{Column, FamilyName, Table};
use ridgewalk_sampler::Stream;

/// Normal numbers.
fn normals(seed: u64, count: usize) -> Vec<f64> {
    let mut list = vec![0.0; count];
    Stream::new(seed, 0).normals(&mut list);
    list
}

fn table(columns: &[(&str, Vec<f64>)]) -> Table {
    let columns = columns.iter().map(|(name, values)| Column::from_numbers(name, values));
    Table::from_columns("t", columns.collect()).unwrap()
}

fn warned(fit: &Fitted, name: &str) -> Option<String> {
    fit.warnings().iter().find(|warning| warning.name == name).map(|w| w.text.clone())
}

fn settings(family: FamilyName) -> Settings {
    Settings { draws: 300, chains: 4, ..Settings::new("y", family) }
}

/// A response in grams that grows by 400 from one group to the other, and a predictor without
/// effect.
fn grams(seed: u64) -> Table {
    let group: Vec<f64> = (0..80).map(|i| f64::from(i % 2)).collect();
    let noise = normals(seed, 80);
    let y = noise.iter().zip(&group).map(|(z, g)| 4000.0 + 400.0 * g + 300.0 * z).collect();
    table(&[("y", y), ("group", group), ("other", normals(seed + 100, 80))])
}

#[test]
fn a_prior_in_the_wrong_units_is_never_under_a_green_badge() {
    let narrow = Settings { prior_scale: Some(2.5), ..settings(FamilyName::Gaussian) };
    let fit = fit(&grams(1), &narrow).unwrap();
    let text = warned(&fit, "prior_conflict").unwrap();
    assert!(text.contains("`group` (prior 0 ± 2.5, data alone"), "{text}");
    assert!(!text.contains("`other`"), "{text}");
    assert!(fit.document().sampler.status.contains("prior_conflict"));
    assert!(fit.document().text.notes.iter().any(|n| n.starts_with("the data say little about")));
}

#[test]
fn the_default_prior_follows_the_units_and_does_not_move_the_estimate() {
    for seed in 1..=5 {
        let fit = fit(&grams(seed), &settings(FamilyName::Gaussian)).unwrap();
        let group = fit.parameter("group").unwrap();
        assert!((group.mean - 400.0).abs() < 5.0 * group.sd && group.sd < 100.0, "{group:?}");
        assert_eq!(fit.document().sampler.status, "ok", "seed {seed}");
        let little = fit.document().text.notes.iter().any(|note| note.contains("say little"));
        assert!(!little, "seed {seed}");
    }
}

#[test]
fn sigma_does_not_depend_on_the_scale_of_the_prior_of_the_slopes() {
    let sigma = |scale: f64| {
        let wide = Settings { prior_scale: Some(scale), ..settings(FamilyName::Gaussian) };
        fit(&grams(2), &wide).unwrap().parameter("sigma").unwrap().mean
    };
    let found = [1e3, 1e4, 1e6].map(sigma);
    assert!(found.iter().all(|sigma| (sigma / found[2] - 1.0).abs() < 0.03), "{found:?}");
}

#[test]
fn coefficients_about_which_the_data_say_little_are_named() {
    // Separated: the data alone have no estimate, so that prior and data cannot disagree.
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let y = x.iter().map(|x| f64::from(u8::from(*x > 5.5))).collect();
    let wide = Settings { prior: Some("normal(0, 0.01)".into()), ..settings(FamilyName::Logistic) };
    let fit = fit(&table(&[("y", y), ("x", x)]), &wide).unwrap();
    let notes = &fit.document().text.notes;
    assert!(
        notes
            .iter()
            .any(|n| n == "the data say little about `x`: its posterior is mostly the prior")
    );
    assert!(warned(&fit, "prior_conflict").is_none());
}

/// Priors that are right give a warning in one fit of twenty at most: here 60 data sets whose
/// slopes come from the prior. More than 9 warnings have a probability of 1e-3.
#[test]
fn priors_that_are_right_rarely_conflict_with_the_data() {
    let mut warnings = 0;
    for seed in 0..60 {
        let (truth, x, noise) =
            (normals(seed, 4), normals(seed + 1000, 4 * 40), normals(seed + 2000, 40));
        let column = |k: usize| x[40 * k..40 * (k + 1)].to_vec();
        let y = (0..40).map(|i| noise[i] + (0..4).map(|k| truth[k] * x[40 * k + i]).sum::<f64>());
        let names = ["a", "b", "c", "d"];
        let mut columns = vec![("y", y.collect())];
        columns.extend((0..4).map(|k| (names[k], column(k))));
        let right =
            Settings { prior_scale: Some(1.0), draws: 100, ..settings(FamilyName::Gaussian) };
        let fit = fit(&table(&columns), &right).unwrap();
        warnings += usize::from(warned(&fit, "prior_conflict").is_some());
    }
    assert!(warnings <= 9, "{warnings} of 60");
}

/// Counts of mean e^(1 + x/2), times the mean of so many exponential variables, or 1.
fn counts(seed: u64, parts: u32) -> Table {
    counts_with_slope(seed, parts, 0.5)
}

fn counts_with_slope(seed: u64, parts: u32, slope: f64) -> Table {
    let x = normals(seed, 200);
    let mut source = Stream::new(seed + 50, 0);
    let mut uniform = || {
        let mut u = [0.0];
        source.uniforms(&mut u);
        u[0].max(1e-12)
    };
    let y = x.iter().map(|x| {
        // The factor is a mean of exponentials; the count is the number of arrivals in its time.
        let factor = if parts == 0 {
            1.0
        } else {
            (0..parts).map(|_| -uniform().ln()).sum::<f64>() / f64::from(parts)
        };
        let (mut left, mut count) = ((1.0 + slope * x).exp() * factor, 0.0);
        loop {
            left += uniform().ln();
            if left < 0.0 {
                return count;
            }
            count += 1.0;
        }
    });
    table(&[("y", y.collect()), ("x", x.clone())])
}

#[test]
fn overdispersed_counts_are_reported_with_the_family_that_suits_them() {
    for seed in 1..=10 {
        let poisson = settings(FamilyName::Poisson);
        let even = fit(&counts(seed, 0), &poisson).unwrap();
        assert!(warned(&even, "overdispersion").is_none(), "seed {seed}");
        let wild = fit(&counts(seed, 2), &poisson).unwrap();
        let text = warned(&wild, "overdispersion").unwrap();
        assert!(text.contains("--family negative-binomial"), "{text}");
        let right = fit(&counts(seed, 2), &settings(FamilyName::NegativeBinomial)).unwrap();
        assert!(right.warnings().is_empty(), "{:?}", right.warnings());
    }
}

/// Counts that are proportional to an exposure e^x. The exposure itself is no offset of a model with
/// a logarithmic link; its logarithm is, also where it is positive throughout.
#[test]
fn an_offset_that_was_not_logged_is_found_and_one_that_was_is_not() {
    for seed in 1..=10 {
        for (family, parts) in [(FamilyName::Poisson, 0), (FamilyName::NegativeBinomial, 3)] {
            let counts = counts_with_slope(seed, parts, 1.0);
            let logs: Vec<f64> = counts.column("x").unwrap().numbers().unwrap().to_vec();
            let columns = [
                ("y", counts.column("y").unwrap().numbers().unwrap().to_vec()),
                ("n", logs.iter().map(|x| x.exp()).collect()),
                ("log_n", logs.iter().map(|x| x + 6.0).collect()),
                ("z", normals(seed + 300, 200)),
            ];
            let data = table(&columns);
            let fit = |formula: &str| {
                let asked =
                    Settings { draws: 100, chains: 4, ..Settings::of_formula(formula, family) };
                fit(&data, &asked).unwrap()
            };
            let text = warned(&fit("y ~ z + offset(n)"), "unlogged_offset").unwrap();
            assert!(text.contains("offset(log(n))"), "{text}");
            for right in ["y ~ z + offset(log(n))", "y ~ z + offset(log_n)"] {
                assert_eq!(warned(&fit(right), "unlogged_offset"), None, "{right}, seed {seed}");
            }
        }
    }
}
