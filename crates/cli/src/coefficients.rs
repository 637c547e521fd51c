//! `ridgewalk coefficients`: the numbers of one step, as a table or as JSON.

use comfy_table::Table;
use ridgewalk::coefficients::{Coefficients, Parameters};
use serde::{Serialize, Serializer};

use crate::arguments::CoefficientOptions;
use crate::failure::Failure;
use crate::output;

/// The JSON document; its keys are a promise to scripts.
struct Document<'a>(&'a Coefficients);

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (c, p) = (self.0, self.0.parameters());
        let given = [
            ("gamma", p.gamma()),
            ("xi", p.xi()),
            ("eta", p.eta()),
            ("smoothness", c.smoothness()),
        ];
        serializer.collect_map(given.into_iter().chain(c.named()))
    }
}

/// Runs the subcommand.
pub(crate) fn run(options: &CoefficientOptions) -> Result<(), Failure> {
    let parameters = Parameters::new(options.gamma, options.xi, options.eta)?;
    let coefficients = Coefficients::new(parameters, options.smoothness)?;
    if options.json {
        output::json(&Document(&coefficients))
    } else {
        output::text(&tables(&coefficients))
    }
}

/// Three small tables, laid out as the matrices they are.
fn tables(c: &Coefficients) -> String {
    let eta_half = -0.5 * c.parameters().eta();
    let [sigma12, sigma13, sigma23] = [c.sigma12(), c.sigma13(), c.sigma23()];
    let [l11, l21, l22, l31, l32, l33] = c.cholesky();
    let means = table(
        ["mean of", "theta", "p", "r", "dU"],
        [
            ("theta", [Some(1.0), Some(c.mu12()), Some(c.mu13()), Some(eta_half)]),
            ("p", [None, Some(c.mu22()), Some(c.mu23()), Some(-1.0)]),
            ("r", [None, Some(c.mu32()), Some(c.mu33()), Some(c.mu31())]),
        ],
    );
    let sigma = table(
        ["sigma", "theta", "p", "r"],
        [
            ("theta", [Some(c.sigma11()), Some(sigma12), Some(sigma13)]),
            ("p", [Some(sigma12), Some(c.sigma22()), Some(sigma23)]),
            ("r", [Some(sigma13), Some(sigma23), Some(c.sigma33())]),
        ],
    );
    let cholesky = table(
        ["chol", "1", "2", "3"],
        [
            ("theta", [Some(l11), None, None]),
            ("p", [Some(l21), Some(l22), None]),
            ("r", [Some(l31), Some(l32), Some(l33)]),
        ],
    );
    let p = c.parameters();
    format!(
        "One step of Algorithm 1: gamma = {}, xi = {}, eta = {}, L = {}\n\n\
         Mean (mu12 is the entry of theta and p, mu31 that of r and dU, and so on):\n{means}\n\n\
         Noise covariance is sigma / L:\n{sigma}\n\n\
         Lower Cholesky factor of sigma / L:\n{cholesky}",
        p.gamma(),
        p.xi(),
        p.eta(),
        c.smoothness()
    )
}

fn table<const H: usize, const C: usize>(
    header: [&str; H], rows: [(&str, [Option<f64>; C]); 3],
) -> Table {
    let rows = rows.map(|(name, values)| {
        let cells =
            values.iter().map(|value| value.map_or_else(String::new, |v| format!("{v:.15e}")));
        std::iter::once(name.to_owned()).chain(cells).collect()
    });
    output::table(header, rows)
}
