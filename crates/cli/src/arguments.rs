//! The command line: every subcommand and its options, for clap.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use ridgewalk::theory::SteppedKernel;

/// Bayesian generalized linear models: from a data file to a posterior with a report
#[derive(Debug, Parser)]
#[command(name = "ridgewalk", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a model to a data file: draws, summary and report in a run directory
    #[command(after_help = "Examples:\n  ridgewalk fit\n  \
                      ridgewalk fit wells.csv --response switched --standardize --out wells\n  \
                      ridgewalk fit wells.csv 'switched ~ poly(dist100, 2) * log(arsenic)' --out crossed\n\n\
                      The first fits data that ship with the program. A run directory holds config.toml, draws.zarr,\n\
                      summary.json and report.html. Exit code 1 if the run failed, 2 for wrong usage or data, 130 if\n\
                      stopped by Ctrl-C; the draws so far are kept. `ridgewalk resume DIR` continues a run that was\n\
                      interrupted for any reason.")]
    Fit(Box<crate::fit::options::FitOptions>),
    /// Show what is in a data file, and with a formula the design, its rank and the priors
    #[command(after_help = "Examples:\n  ridgewalk describe wells.csv\n  \
                      ridgewalk describe wells.csv 'switched ~ dist100 * arsenic'\n\n\
                      Nothing is fitted. A formula, or --response, adds the columns of the model.")]
    Describe(Box<crate::describe::DescribeOptions>),
    /// Write a data file as a packed one: faster to read, and for data larger than memory
    #[command(after_help = "Example:\n  ridgewalk pack clicks.csv clicks.pack\n\n\
                      Columns with their types in blocks of rows, every byte covered by a checksum. All commands read it\n\
                      like the source. Text files of any length are packed in little memory. OUT must not exist.")]
    Pack(crate::pack::PackOptions),
    /// Continue an interrupted run: the draws are bit for bit those of an uninterrupted one
    #[command(after_help = "Example:\n  ridgewalk resume ridgewalk-run\n\n\
                      Works after Ctrl-C, a kill, a crash or a full disk. Changed data or options, another version of\n\
                      the program and a damaged checkpoint are refused with exit code 2, naming what differs.\n\
                      A finished run is left unchanged.")]
    Resume(crate::fit::options::ResumeOptions),
    /// Print the table of a run again: other intervals, ratios, or a format for a publication
    #[command(after_help = "Examples:\n  ridgewalk summary ridgewalk-run\n  \
                      ridgewalk summary ridgewalk-run --exp --interval 0.95 --top 5\n  \
                      ridgewalk summary ridgewalk-run --format latex --hdi\n\n\
                      Ratios are computed draw by draw. Families without ratios are refused with exit code 2.")]
    Summary(crate::fit::summary::SummaryOptions),
    /// Write the report of a run, report.html, again
    #[command(after_help = "Example:\n  ridgewalk report ridgewalk-run")]
    Report(crate::fit::summary::ReportOptions),
    /// Predict new rows: expected responses, probabilities, survival, or responses drawn at random
    #[command(after_help = "Examples:\n  ridgewalk predict wells new.csv\n  \
                      ridgewalk predict wells new.csv --kind response --interval 0.5 --out predicted.csv\n\n\
                      New rows are coded like those of the fit. A level that the fit has not seen is refused.\n\
                      Files of any length are read and written some rows at a time.")]
    Predict(crate::after::predict::PredictOptions),
    /// Average effects of a column on the expected response, and a plot
    #[command(after_help = "Examples:\n  ridgewalk effects wells --by arsenic\n  \
                      ridgewalk effects wells --by arsenic --at dist100=0.5,2 --plot arsenic.svg\n\n\
                      Slopes for numbers; differences from the first value for texts, factors and columns of 0\n\
                      and 1. All other columns keep their values.")]
    Effects(crate::after::effects::EffectsOptions),
    /// How well a fit predicts rows that it has not seen: leave-one-out cross-validation
    #[command(
        after_help = "Examples:\n  ridgewalk loo wells\n  ridgewalk loo wells --folds 10\n  \
                      ridgewalk loo herds --groups herd\n\n\
                      By importance sampling (PSIS); rows for which that is not reliable are refitted."
    )]
    Loo(crate::after::loo::LooOptions),
    /// Compare fits of the same responses by how well they predict
    #[command(after_help = "Example:\n  ridgewalk compare wells crossed")]
    Compare(crate::after::compare::CompareOptions),
    /// Write a store for ArviZ: draws, log likelihood, replicated responses, data and prior
    #[command(after_help = "Example:\n  ridgewalk export wells --arviz wells.zarr\n\n\
                      Opens in Python with arviz.from_zarr (ArviZ 1.x) or xarray.open_datatree.")]
    Export(crate::after::export::ExportOptions),
    /// Print the means, noise covariance and Cholesky factor of one step of Algorithm 1
    #[command(after_help = "Example:\n  ridgewalk coefficients --gamma 2 --xi 4 --eta 0.1\n\n\
                      The step takes (theta, p, r) to a Gaussian with mean\n  \
                      theta - (eta/2) dU + mu12 p + mu13 r,  -dU + mu22 p + mu23 r,  mu31 dU + mu32 p + mu33 r\n\
                      and covariance sigma/L; chol is the lower Cholesky factor of sigma/L.")]
    Coefficients(CoefficientOptions),
    /// Check the claims of the paper: each holds, is a misprint or fails, with its margin
    #[command(after_help = "Example:\n  ridgewalk verify --kappa 2 --kappa 1e6\n\n\
                      Identities and the inequalities of the continuous-time proof are decided in exact arithmetic\n\
                      for every kappa >= 1. Lemma 8 is decided in floating point; Lemma 9, Proposition 2 and the\n\
                      theorems are checked in floating point, with explicit constants, at 11 values of kappa from\n\
                      1 to 1e6. A statement whose bound is above its constant is not shown, and counts as a\n\
                      failure. Each --kappa adds rows that compare computed eigenvalues with the closed forms and give the\n\
                      margin of each lemma there. Exit code 1 if a claim fails; a misprint, true once\n\
                      corrected, is not a failure.")]
    Verify(VerifyOptions),
    /// Prove a contraction rate of the diffusion or of the algorithm itself
    #[command(after_help = "Examples:\n  ridgewalk certify --kappa 10\n  \
                            ridgewalk certify --kappa 10 --gamma 2.09 --xi 4 --eta 0.5\n\n\
                            Exit code 3 if refuted or not found.")]
    Certify(CertifyOptions),
    /// Find parameters and a number of steps that guarantee a Wasserstein accuracy
    #[command(
        after_help = "Examples:\n  ridgewalk plan --convexity 0.1 --smoothness 1 --dimension 100 --accuracy 0.2\n  \
                            ridgewalk plan --convexity 1 --smoothness 2 --dimension 9 --accuracy 1 --higher-smoothness 4,1\n  \
                            ridgewalk plan --convexity 1 --smoothness 2 --dimension 9 --accuracy 1 --start-distance 3\n\n\
                            Line integrals are exact, as for regressions, unless --nodes or --higher-smoothness is given:\n\
                            then they use gradients alone. Of several bounds on derivatives the best counts.\n\
                            Exit code 3 if no plan is found."
    )]
    Plan(PlanOptions),
    /// Compare kernels, exactly on Gaussian targets and by coupled chains otherwise, and the growth
    /// of plans: tables, CSV and SVG
    #[command(after_help = "Example:\n  ridgewalk lab iact --kappa 1,5,20,100")]
    Lab(crate::lab::LabOptions),
}

/// Options of `ridgewalk coefficients`.
#[derive(Debug, Args)]
pub(crate) struct CoefficientOptions {
    /// Coupling gamma of momentum and auxiliary variable
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) gamma: f64,
    /// Friction xi
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) xi: f64,
    /// Step size eta
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) eta: f64,
    /// Smoothness L of the potential
    #[arg(long, value_name = "L", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) smoothness: f64,
    /// Write one JSON document, with numbers that read back to the same doubles
    #[arg(long)]
    pub(crate) json: bool,
}

/// Kernels that have certificates.
fn stepped_kernels() -> impl TypedValueParser<Value = SteppedKernel> {
    PossibleValuesParser::new(SteppedKernel::ALL.map(SteppedKernel::name))
        .try_map(|name| name.parse::<SteppedKernel>())
}

/// Options of `ridgewalk certify`.
#[derive(Debug, Args)]
pub(crate) struct CertifyOptions {
    /// Condition number L/m of the potential
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    pub(crate) kappa: f64,
    /// Coupling gamma [default: the best found]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) gamma: Option<f64>,
    /// Friction xi [default: the best found]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) xi: Option<f64>,
    /// Step size eta: certify the algorithm instead of the diffusion
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) eta: Option<f64>,
    /// Line integral by N Chebyshev nodes [default: exact]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<usize>,
    /// The algorithm; the symmetric one is seen after each whole kick [default: third-order]
    #[arg(long, value_parser = stepped_kernels())]
    pub(crate) kernel: Option<SteppedKernel>,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `ridgewalk plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanOptions {
    /// Strong convexity m of the potential
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    pub(crate) convexity: f64,
    /// Smoothness L of the potential
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub(crate) smoothness: f64,
    /// Dimension d
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub(crate) dimension: u64,
    /// Wasserstein-2 accuracy to be guaranteed
    #[arg(long, value_name = "EPS", allow_negative_numbers = true)]
    pub(crate) accuracy: f64,
    /// Line integral by N Chebyshev nodes [default: exact]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) nodes: Option<usize>,
    /// With --nodes: Lipschitz constant of the Hessian [default: bound by the smoothness alone]
    #[arg(long, value_name = "LH", allow_negative_numbers = true)]
    pub(crate) lipschitz_hessian: Option<f64>,
    /// The ALPHA-th derivative of the potential is at most L_ALPHA^(ALPHA - 1) in tensor norm; can
    /// be repeated, and without --nodes there are ALPHA - 1 of them
    #[arg(long, value_name = "ALPHA,L_ALPHA", value_parser = order_and_constant)]
    pub(crate) higher_smoothness: Vec<(u32, f64)>,
    /// The start is within DELTA of the minimiser
    #[arg(long, value_name = "DELTA", default_value_t = 0.0, allow_negative_numbers = true)]
    pub(crate) start_distance: f64,
    /// Start with p = r = 0 [default: p and r drawn from N(0, I/L)]
    #[arg(long)]
    pub(crate) start_at_rest: bool,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// ALPHA,L_ALPHA.
fn order_and_constant(text: &str) -> Result<(u32, f64), String> {
    let need = "need ALPHA,L_ALPHA, such as 4,0.5";
    let (order, constant) = text.split_once(',').ok_or(need)?;
    Ok((order.parse().map_err(|_| need)?, constant.parse().map_err(|_| need)?))
}

/// Options of `ridgewalk verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyOptions {
    /// Condition numbers, from 1 to 1e100, at which to compute too
    #[arg(long, value_name = "K", num_args = 1.., allow_negative_numbers = true)]
    pub(crate) kappa: Vec<f64>,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}
