//! Makes a run directory from synthetic draws, to look at the report and to try the checks in
//! `scripts/`:
//!
//! ```text
//! cargo run --release -p ridgewalk-report --example synthetic_run -- \
//!     DIR [COEFFICIENTS [CHAINS [DRAWS [LAST]]]]
//! ```
//!
//! The draws are autoregressive, with a different scale and memory per coefficient. With five
//! coefficients or fewer the last chain is stuck for a while, so that there is a warning. LAST is
//! the number of draws after which the last chain ends.

use ridgewalk_fit::{
    BiasDetails, Fact, Parameter, ProblemFacts, SamplerFacts, SummaryDocument, Text, WarningEntry,
};
use ridgewalk_report::write_report;
use ridgewalk_sampler::{Sink, SinkError};
use ridgewalk_store::{
    CsvDraws, RunDirectory, ZarrDraws, read_draws, write_atomically, write_summary,
};

/// Uniform numbers from a linear congruential generator: quality does not matter, reproducibility
/// does.
struct Numbers(u64);

impl Numbers {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn main() -> Result<(), SinkError> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("which directory?")?;
    let mut count = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let (d, chains, draws) = (count(5)?, count(8)?, count(1000)?);
    let last = count(draws)?;
    let names: Vec<String> = (0..d).map(name).collect();
    let directory = RunDirectory::create(&path)?;
    let mut zarr = ZarrDraws::create(&directory.draws(), &names, 4)?;
    let mut csv = CsvDraws::create(&directory.csv(), &names)?;
    let mut numbers = Numbers(1);
    for sink in [&mut zarr as &mut dyn Sink, &mut csv] {
        sink.begin(chains, d)?;
    }
    let mut state: Vec<Vec<f64>> =
        (0..chains).map(|_| (0..d).map(|_| numbers.normal()).collect()).collect();
    for draw in 0..draws {
        for (chain, state) in state.iter_mut().enumerate() {
            let stuck =
                d <= 5 && chain + 1 == chains && (2 * draws / 5..3 * draws / 5).contains(&draw);
            for (j, x) in state.iter_mut().enumerate() {
                let memory = 0.2 + 0.6 * ((j * 7) % 11) as f64 / 11.0;
                let memory = if stuck && j == 2 { 0.9995 } else { memory };
                *x = memory * *x + (1.0 - memory * memory).sqrt() * numbers.normal();
            }
            let point: Vec<f64> =
                state.iter().enumerate().map(|(j, x)| location(j) + scale(j) * x).collect();
            if chain + 1 < chains || draw < last {
                zarr.keep(chain, draw as u64, &point)?;
                csv.keep(chain, draw as u64, &point)?;
            }
        }
        zarr.flush()?;
    }
    let draws = zarr.finish(last >= draws)?;
    csv.finish()?;
    let config =
        format!("[fit]\nfamily = \"logistic\"\nchains = {chains}\ndraws = {draws}\nseed = 0\n");
    write_atomically(&directory.config(), config.as_bytes())?;
    let summaries = read_draws(&directory.draws())?.summary()?;
    let parameters = names.iter().zip(&summaries);
    let parameters = parameters.map(|(name, summary)| Parameter::new(name, summary)).collect();
    let sampler = sampler(chains, draws);
    let document = SummaryDocument::new(parameters, sampler, problem(d), text(d));
    write_summary(&document, &directory.summary())?;
    write_report(&directory)?;
    Ok(())
}

fn name(j: usize) -> String {
    let some = [
        "(Intercept)",
        "mean radius",
        "worst concave points",
        "texture (standard error)",
        "größe [cm]",
        "age × income, within <90 days> of the \"first\" visit & before the last: a name as long as some people like them",
    ];
    some.get(j).map_or_else(|| format!("x{j}"), |name| (*name).to_owned())
}

fn location(j: usize) -> f64 {
    1.5 * ((j as f64) * 1.7).sin()
}

fn scale(j: usize) -> f64 {
    0.15 + 0.5 * ((j * 5) % 13) as f64 / 13.0
}

fn sampler(chains: usize, draws: u64) -> SamplerFacts {
    SamplerFacts {
        kernel: "symmetric".to_owned(),
        gamma: 1.2,
        xi: 2.0,
        eta: 0.42,
        chains,
        draws,
        thin: 4,
        warmup_gradients: 18_240,
        gradients: chains as u64 * draws * 4,
        seconds: 1.273,
        bias_estimate: 0.0131,
        status: String::new(),
        bias_details: Some(BiasDetails {
            mean: 0.0131,
            mean_error: 0.0022,
            sd: 0.0084,
            sd_error: 0.0019,
            quantile: 0.021,
            quantile_error: 0.004,
            tolerance: 0.05,
        }),
        trajectories: None,
    }
}

fn problem(d: usize) -> ProblemFacts {
    let family = "logistic".to_owned();
    ProblemFacts { n: 569, d, family, convexity: 0.16, smoothness: 402.7, condition_number: 2516.9 }
}

fn text(d: usize) -> Text {
    let stuck = WarningEntry {
        name: "high_rhat".to_owned(),
        text: "The chains disagree about 1 coefficient (R-hat 1.02 at most, 1.01 is usually accepted): more draws, or a longer warm-up."
            .to_owned(),
    };
    let history = [
        "mode found in 7 iterations, gradient 3.1e-9 left",
        "pilot of 800 draws: the posterior is 1.08 times as wide as its normal approximation",
        "coordinates made anew from 16 Hessians, shrinkage 0.04",
        "symmetric, gamma 1.2, xi 2.0, eta 0.60: bias 0.061 ± 0.004, 0.21 effective draws per gradient",
        "symmetric, gamma 1.2, xi 2.0, eta 0.42: bias 0.013 ± 0.002, 0.17 effective draws per gradient: chosen",
    ];
    Text {
        title: "Wisconsin breast cancer: malignant against the measurements of 30 features".to_owned(),
        command: "ridgewalk fit --standardize --seed 0 --out ridgewalk-run".to_owned(),
        warnings: if d <= 5 { vec![stuck] } else { Vec::new() },
        guarantee: "No proof covers this step: at this condition number the certificate needs eta at most 0.02. The bias estimate below is \
                    what there is."
            .to_owned(),
        notes: vec!["Predictors were centred and divided by their standard deviation; coefficients are on that scale.".to_owned()],
        history: history.map(str::to_owned).to_vec(),
        facts: vec![
            Fact { name: "data".to_owned(), value: "wdbc.csv, shipped with the program".to_owned() },
            Fact { name: "response".to_owned(), value: "diagnosis, 212 of 569 are 1".to_owned() },
            Fact { name: "prior".to_owned(), value: "normal(0, 2.5) for every coefficient".to_owned() },
        ],
    }
}
