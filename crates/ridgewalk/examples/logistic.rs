//! Fits a logistic regression: hours of study, and who passed.
//! `cargo run --release -p ridgewalk --example logistic`

use std::error::Error;

use ridgewalk::diagnostics::{Summary, summaries_of_table};
use ridgewalk::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let hours = vec![0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
    let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let design = Dense::new(hours.len(), 1, hours)?.with_intercept();
    let posterior = Ridge::new(design, Logistic, &passed, Prior::centred(2, 2.5)?)?;

    let mut warm = WarmUp::new(&posterior).seed(1).run()?;
    for decision in &warm.history {
        println!("{decision}");
    }
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(1000)).keep(&mut draws)?;

    println!(
        "{:9} {:>7} {:>7} {:>7} {:>7} {:>6} {:>6}",
        "", "mean", "sd", "5 %", "95 %", "ESS", "R-hat"
    );
    for (name, s) in ["intercept", "hours"].into_iter().zip(summaries_of_table(&draws.tables(), 2)?)
    {
        let Summary { mean, sd, q05, q95, ess_bulk, rhat, .. } = s;
        println!("{name:9} {mean:7.3} {sd:7.3} {q05:7.3} {q95:7.3} {ess_bulk:6.0} {rhat:6.3}");
    }
    let (bias, outcome) = (sampled.bias, &sampled.outcome);
    println!("bias of means {:.3} ± {:.3} sd, measured", bias.mean, bias.mean_error);
    println!(
        "{} draws, {} gradients, {:.2} s",
        outcome.draws(),
        sampled.gradients(),
        outcome.seconds
    );
    Ok(())
}
