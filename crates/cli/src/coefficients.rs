//! `ridgewalk coefficients`: the numbers of one step, as a table or as JSON.

use comfy_table::Table;
use ridgewalk::coefficients::{Coefficients, Parameters};
use serde::Serialize;

use crate::arguments::CoefficientOptions;
use crate::failure::Failure;
use crate::output;

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    gamma: f64,
    xi: f64,
    eta: f64,
    smoothness: f64,
    mu12: f64,
    mu13: f64,
    mu22: f64,
    mu23: f64,
    mu31: f64,
    mu32: f64,
    mu33: f64,
    sigma11: f64,
    sigma12: f64,
    sigma13: f64,
    sigma22: f64,
    sigma23: f64,
    sigma33: f64,
    chol11: f64,
    chol21: f64,
    chol22: f64,
    chol31: f64,
    chol32: f64,
    chol33: f64,
}

impl Document {
    fn new(c: &Coefficients) -> Self {
        let [chol11, chol21, chol22, chol31, chol32, chol33] = c.cholesky();
        Self {
            gamma: c.parameters().gamma(),
            xi: c.parameters().xi(),
            eta: c.parameters().eta(),
            smoothness: c.smoothness(),
            mu12: c.mu12(),
            mu13: c.mu13(),
            mu22: c.mu22(),
            mu23: c.mu23(),
            mu31: c.mu31(),
            mu32: c.mu32(),
            mu33: c.mu33(),
            sigma11: c.sigma11(),
            sigma12: c.sigma12(),
            sigma13: c.sigma13(),
            sigma22: c.sigma22(),
            sigma23: c.sigma23(),
            sigma33: c.sigma33(),
            chol11,
            chol21,
            chol22,
            chol31,
            chol32,
            chol33,
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(options: &CoefficientOptions) -> Result<(), Failure> {
    let parameters = Parameters::new(options.gamma, options.xi, options.eta)?;
    let document = Document::new(&Coefficients::new(parameters, options.smoothness)?);
    if options.json { output::json(&document) } else { output::text(&tables(&document)) }
}

/// Three small tables, laid out as the matrices they are.
fn tables(d: &Document) -> String {
    let eta_half = -0.5 * d.eta;
    let means = table(
        ["mean of", "theta", "p", "r", "dU"],
        [
            ("theta", [Some(1.0), Some(d.mu12), Some(d.mu13), Some(eta_half)]),
            ("p", [None, Some(d.mu22), Some(d.mu23), Some(-1.0)]),
            ("r", [None, Some(d.mu32), Some(d.mu33), Some(d.mu31)]),
        ],
    );
    let sigma = table(
        ["sigma", "theta", "p", "r"],
        [
            ("theta", [Some(d.sigma11), Some(d.sigma12), Some(d.sigma13)]),
            ("p", [Some(d.sigma12), Some(d.sigma22), Some(d.sigma23)]),
            ("r", [Some(d.sigma13), Some(d.sigma23), Some(d.sigma33)]),
        ],
    );
    let cholesky = table(
        ["chol", "1", "2", "3"],
        [
            ("theta", [Some(d.chol11), None, None]),
            ("p", [Some(d.chol21), Some(d.chol22), None]),
            ("r", [Some(d.chol31), Some(d.chol32), Some(d.chol33)]),
        ],
    );
    format!(
        "One step of Algorithm 1: gamma = {}, xi = {}, eta = {}, L = {}\n\n\
         Mean (mu12 is the entry of theta and p, mu31 that of r and dU, and so on):\n{means}\n\n\
         Noise covariance is sigma / L:\n{sigma}\n\n\
         Lower Cholesky factor of sigma / L:\n{cholesky}",
        d.gamma, d.xi, d.eta, d.smoothness
    )
}

fn table<const H: usize, const C: usize>(
    header: [&str; H],
    rows: [(&str, [Option<f64>; C]); 3],
) -> Table {
    let rows = rows.map(|(name, values)| {
        let cells =
            values.iter().map(|value| value.map_or_else(String::new, |v| format!("{v:.15e}")));
        std::iter::once(name.to_owned()).chain(cells).collect()
    });
    output::table(header, rows)
}
