//! Draws in memory: chains of unequal length, names, moments, export.

use ridgewalk_diagnostics::Summary;
use ridgewalk_sampler::{Draws, Error, Sink};

/// Two chains in two dimensions, the second of which ended early.
fn uneven() -> Draws {
    let first: Vec<f64> = (0..40).map(|k| (f64::from(k) * 1.7).sin()).collect();
    let second = first.iter().take(24).map(|x| 1.0 - x).collect();
    Draws::from_chains(vec!["a".into(), "b".into()], vec![first, second]).unwrap()
}

#[test]
fn chains_of_unequal_length_are_summarised_over_the_draws_that_all_have() {
    let draws = uneven();
    assert_eq!((draws.chains(), draws.dimension(), draws.common(), draws.len()), (2, 2, 12, 32));
    let summary = draws.summary().unwrap();
    for (k, found) in summary.iter().enumerate() {
        let traces = [0, 1].map(|chain| draws.trace(chain, k)[..12].to_vec());
        let need = Summary::of(&[&traces[0], &traces[1]]).unwrap();
        assert_eq!(found, &need);
    }
    assert_eq!(draws.iter().count(), 32);
    assert_eq!(draws.iter().last().unwrap(), (1, 11, draws.point(1, 11).unwrap()));
    assert_eq!((draws.point(1, 12), draws.point(2, 0)), (None, None));
    assert_eq!(draws.trace(0, 2), Vec::<f64>::new());
    assert!(draws.traces_of("c").is_none());
}

#[test]
fn the_covariance_is_that_of_all_draws() {
    let draws = uneven();
    let found = draws.covariance().unwrap();
    let (means, n) = (draws.means(), draws.len() as f64);
    for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let sum: f64 = draws.iter().map(|(_, _, x)| (x[i] - means[i]) * (x[j] - means[j])).sum();
        assert!((found[2 * i + j] - sum / (n - 1.0)).abs() < 1e-14);
    }
}

#[test]
fn csv_has_every_digit_and_quotes_where_they_are_needed() {
    let values = vec![0.1 + 0.2, -1e300, 1e-300, f64::MIN_POSITIVE / 3.0];
    let names = vec!["a, b".to_owned(), "the \"c\"".to_owned()];
    let draws = Draws::from_chains(names, vec![values.clone()]).unwrap();
    let mut bytes = Vec::new();
    draws.write_csv(&mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("chain,draw,\"a, b\",\"the \"\"c\"\"\""));
    let numbers: Vec<u64> = lines
        .flat_map(|line| line.split(',').skip(2))
        .map(|field| field.parse::<f64>().unwrap().to_bits())
        .collect();
    assert_eq!(numbers, values.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
}

#[test]
fn names_are_made_where_none_are_given_and_must_fit_where_they_are() {
    let mut draws = Draws::default();
    draws.begin(1, 2).unwrap();
    assert_eq!(draws.names(), ["x[0]", "x[1]"]);
    let message = Draws::named(["a"]).begin(1, 2).unwrap_err().to_string();
    assert_eq!(message, "names of 1 coordinates: need 2");
    let message = draws.begin(2, 2).unwrap_err().to_string();
    assert_eq!(message, "draws of 1 chains in 2 dimensions: need 2 chains in 2");
    let odd = Draws::from_chains(vec!["a".into(), "b".into()], vec![vec![1.0; 3]]);
    assert!(matches!(odd, Err(Error::Length { got: 3, need: 4, .. })));
    assert!(Draws::from_chains(Vec::new(), Vec::new()).is_err());
    let none = Draws::default();
    assert!(none.is_empty() && none.iter().next().is_none() && none.mean(0).is_nan());
    assert!(none.summary().is_err());
}
