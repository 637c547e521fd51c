//! Invalid parameters: an error with name and value, and never a NaN in the result.

use proptest::prelude::*;
use ridgewalk_coefficients::{Coefficients, Error, Parameters};

#[test]
fn each_bad_parameter_is_named_with_its_value() {
    for bad in [0.0, -0.0, -1.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (name, result) in [
            ("gamma", Parameters::new(bad, 1.0, 1.0).map(drop)),
            ("xi", Parameters::new(1.0, bad, 1.0).map(drop)),
            ("eta", Parameters::new(1.0, 1.0, bad).map(drop)),
            (
                "smoothness",
                Coefficients::new(Parameters::new(1.0, 1.0, 1.0).unwrap(), bad).map(drop),
            ),
        ] {
            let Err(Error::NotPositive { name: named, value }) = result else {
                panic!("{name} = {bad} gave {result:?}")
            };
            assert_eq!(named, name);
            assert_eq!(value.to_bits(), bad.to_bits());
        }
    }
    let error = Parameters::new(1.0, -2.5, 1.0).unwrap_err();
    assert_eq!(error.to_string(), "xi = -2.5: need a positive, finite number");
}

#[test]
fn products_that_leave_the_range_are_named() {
    let quantity = |error| match error {
        Error::OutOfRange { quantity, .. } => quantity,
        other => panic!("{other:?}"),
    };
    assert_eq!(quantity(Parameters::new(1.0, 1e200, 1e200).unwrap_err()), "xi * eta");
    assert_eq!(quantity(Parameters::new(1.0, 1e-200, 1e-200).unwrap_err()), "xi * eta");
    assert_eq!(quantity(Parameters::new(1e200, 1.0, 1e200).unwrap_err()), "gamma * eta");
    let small = Parameters::new(1.0, 1.0, 1e-70).unwrap();
    assert_eq!(quantity(Coefficients::new(small, 1.0).unwrap_err()), "sigma11");
    let large = Parameters::new(1e150, 1.0, 1.0).unwrap();
    assert_eq!(quantity(Coefficients::new(large, 1.0).unwrap_err()), "sigma33");
    let fine = Parameters::new(1.0, 1.0, 1e-50).unwrap();
    assert_eq!(quantity(Coefficients::new(fine, 1e200).unwrap_err()), "sigma11 / L");
    let message = Coefficients::new(small, 1.0).unwrap_err().to_string();
    assert!(
        message.starts_with("sigma11 = 0e0 is outside the range of double precision"),
        "{message}"
    );
    assert!(message.contains("eta = 1e-70"), "{message}");
}

proptest! {
    #[test]
    fn whatever_bits_come_in_no_nan_goes_out(gamma: u64, xi: u64, eta: u64, smoothness: u64) {
        let [gamma, xi, eta, smoothness] = [gamma, xi, eta, smoothness].map(f64::from_bits);
        check(gamma, xi, eta, smoothness)?;
    }

    #[test]
    fn nor_over_the_whole_range_of_exponents(e in prop::array::uniform4(-300.0..300.0_f64)) {
        let [gamma, xi, eta, smoothness] = e.map(|power| 10f64.powf(power));
        check(gamma, xi, eta, smoothness)?;
    }

    #[test]
    fn nor_over_the_range_where_most_are_good(e in prop::array::uniform4(-25.0..25.0_f64)) {
        let [gamma, xi, eta, smoothness] = e.map(|power| 10f64.powf(power));
        check(gamma, xi, eta, smoothness)?;
    }
}

fn check(gamma: f64, xi: f64, eta: f64, smoothness: f64) -> Result<(), TestCaseError> {
    let Ok(parameters) = Parameters::new(gamma, xi, eta) else { return Ok(()) };
    let Ok(c) = Coefficients::new(parameters, smoothness) else { return Ok(()) };
    prop_assert!(c.named().iter().all(|(_, value)| value.is_finite()));
    prop_assert!(c.covariance().iter().flatten().all(|entry| entry.is_finite()));
    prop_assert!(c.cholesky()[0] > 0.0 && c.cholesky()[2] > 0.0 && c.cholesky()[5] > 0.0);
    Ok(())
}
