//! Results and settings through JSON and back.

use std::fmt::Debug;
use std::time::Duration;

use ridgewalk_diagnostics::Summary;
use ridgewalk_lyapunov::laws::KernelKind;
use ridgewalk_potentials::FromValueFn;
use ridgewalk_sampler::automatic::{
    Bias, BlackBox, Decision, Length, Look, Sampled, Wanted, WarmUp, Warning,
};
use ridgewalk_sampler::{
    Budget, ChainReport, Difference, Draws, Exhausted, Outcome, Progress, Sampler,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
}

#[test]
fn everything_that_a_run_returns_comes_back() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g[0] = x[0] + x[0].powi(3);
        Ok(0.5 * x[0] * x[0] + 0.25 * x[0].powi(4))
    };
    let target = BlackBox::new(FromValueFn::new(1, gradient), 3, &[0.5]).unwrap();
    for tolerance in [0.05, 0.0] {
        let mut warm = WarmUp::new(&target).tolerance(tolerance).seed(1).run().unwrap();
        let mut draws = Draws::named(["x"]);
        let mut last = None;
        let length = Length::Ess { target: 300.0, most: 1000 };
        let run = warm.run(length).progress(|progress, _| last = Some(*progress));
        let sampled: Sampled = run.keep(&mut draws).unwrap();
        there_and_back::<Vec<Decision>>(&warm.history);
        there_and_back::<Progress>(&last.unwrap());
        there_and_back::<Outcome>(&sampled.outcome);
        there_and_back::<Vec<ChainReport>>(&sampled.outcome.chains);
        there_and_back::<Bias>(&sampled.bias);
        there_and_back::<Vec<Difference>>(&sampled.differences);
        there_and_back::<Vec<Look>>(&sampled.looks);
        there_and_back::<Draws>(&draws);
        let summary: Vec<Summary> = draws.summary().unwrap();
        there_and_back(&summary);
        there_and_back(&sampled);
    }
}

#[test]
fn settings_and_warnings_come_back() {
    for kernel in [None, Some(KernelKind::Adjusted), Some(KernelKind::Averaged)] {
        there_and_back(&Wanted { kernel, eta: Some(0.1), ..Wanted::default() });
    }
    there_and_back(&[Length::Draws(5), Length::Ess { target: 400.0, most: 7 }]);
    there_and_back(&Budget { gradients: Some(7), time: Some(Duration::from_millis(1500)) });
    there_and_back(&[Exhausted::Gradients, Exhausted::Time]);
    let excursion = Warning::Excursion { draws: 3, allowed: 1e-4, farthest: 40.0 };
    let few =
        Warning::LowEss { parameter: "x".into(), ess: 12.5, least: 400.0, suggested_draws: 4000 };
    there_and_back(&[Warning::Stopped, Warning::OneChain, excursion, few]);
    let infinite = [f64::INFINITY, f64::NEG_INFINITY].map(|ess| Look { draws: 1, ess });
    there_and_back(&infinite);
    let unknown = serde_json::to_string(&Look { draws: 1, ess: f64::NAN }).unwrap();
    assert!(serde_json::from_str::<Look>(&unknown).unwrap().ess.is_nan(), "{unknown}");
    assert!(serde_json::from_str::<Look>("{\"draws\": 1, \"ess\": \"many\"}").is_err());
    assert!(serde_json::from_str::<Wanted>("{\"kernel\": \"nuts\"}").is_err());
}

#[test]
fn the_end_of_a_chain_comes_back() {
    let failing = |x: &[f64], g: &mut [f64]| {
        g[0] = x[0];
        if x[0] > 1.0 { Err("beyond".into()) } else { Ok(0.5 * x[0] * x[0]) }
    };
    let target = ridgewalk_potentials::Chebyshev::new(FromValueFn::new(1, failing), 3).unwrap();
    let scheme = ridgewalk_lyapunov::laws::Scheme::symmetric(1.0, 2.0, 0.5).unwrap();
    let kernel = ridgewalk_sampler::from_scheme(&scheme, 1.0).unwrap();
    let outcome = Sampler::new(&target, &kernel).draws(500).run(&mut Draws::default()).unwrap();
    assert!(outcome.ended().count() > 0);
    there_and_back(&outcome);
}
