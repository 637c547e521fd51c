//! `ridgewalk lab bound`: the guarantee of a plan compared with the exact distance on Gaussian
//! targets.

use clap::Args;
use ridgewalk::lyapunov::laws::{Evolution, KernelKind, Scheme, Spectrum, Start, tune_mixing};
use ridgewalk::lyapunov::planner::{IntegralRule, Plan};
use serde::Serialize;

use super::{Destination, Planned, exact, plan_for, short};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Panel, Series};

/// A number of steps after which a chain has forgotten its start.
const FOREVER: u64 = 1 << 60;

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    planned: Planned,
    /// Number of step counts, evenly spaced on a logarithmic scale
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(2..=1000))]
    points: u16,
    #[command(flatten)]
    to: Destination,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    dimension: u64,
    accuracy: f64,
    results: Vec<Row>,
    plans: Vec<Compared>,
}

/// The bound on W2 after some steps, and the exact distances.
#[derive(Debug, Serialize)]
struct Row {
    kappa: f64,
    steps: u64,
    bound: f64,
    /// Eigenvalues of the target evenly spaced on a logarithmic scale.
    spread: f64,
    /// All eigenvalues but one at 1/κ.
    narrow: f64,
}

/// A plan, and the behaviour of its parameters on both targets.
#[derive(Debug, Serialize)]
struct Compared {
    kappa: f64,
    gamma: f64,
    xi: f64,
    eta: f64,
    /// Steps that guarantee the accuracy, steps that the same parameters need on the narrow and on
    /// the spread target, and steps with the best parameters for the spread target.
    certified_steps: u64,
    narrow_steps: Option<u64>,
    spread_steps: Option<u64>,
    tuned_steps: Option<u64>,
    /// The certified contraction of one step, and the exact one at the slowest eigenvalue, as
    /// 1 − factor.
    certified_gap: f64,
    true_gap: Option<f64>,
    /// The remaining distance: the bound, and the exact one on the spread target.
    certified_floor: f64,
    true_floor: Option<f64>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let Planned { kappa, dimension: d, accuracy } = &options.planned;
    let (d, accuracy) = (*d, *accuracy);
    let (mut results, mut plans) = (Vec::new(), Vec::new());
    for &kappa in kappa {
        let found =
            plan_for(kappa, d, accuracy, IntegralRule::Exact)?.ok_or(Failure::NotCertified)?;
        let [spread, narrow] = [Spectrum::log_spaced(kappa, d)?, narrow(kappa, d)?];
        let scheme = Scheme::third_order(found.gamma(), found.xi(), found.eta())?;
        let on = |target: &Spectrum| Evolution::new(&scheme, target, &Start::AtMode);
        let chains = [on(&spread)?, on(&narrow)?];
        for steps in numbers_of_steps(2 * found.steps().max(1), options.points) {
            let [spread, narrow] = [0, 1].map(|i| chains[i].after(steps).w2_to_target());
            results.push(Row { kappa, steps, bound: found.bound_after(steps), spread, narrow });
        }
        let tuned = tune_mixing(KernelKind::ThirdOrder, &spread, accuracy)?;
        let tuned_steps = tuned.map(|tuned| tuned.steps);
        plans.push(Compared { tuned_steps, ..compare(kappa, accuracy, &found, &scheme, &chains)? });
    }
    let document = Document { dimension: d, accuracy, results, plans };
    let rows = document.results.iter().map(|r| {
        let values = [r.bound, r.spread, r.narrow].map(|value| exact(Some(value)));
        [r.kappa.to_string(), r.steps.to_string()].into_iter().chain(values).collect()
    });
    options.to.write(
        (&["kappa", "steps", "bound", "spread", "narrow"], rows),
        || panels(&options.planned, &document),
        &document,
        || text(&document),
    )
}

/// All eigenvalues but one at 1/κ: the mode is as far from the target as it can be, and all of the
/// distance contracts at the slowest rate.
fn narrow(kappa: f64, dimension: u64) -> Result<Spectrum, Failure> {
    Ok(Spectrum::new(&[(1.0, 1), (1.0 / kappa, dimension.saturating_sub(1))])?)
}

/// Distinct numbers from 1 to `last`, evenly spaced on a logarithmic scale.
fn numbers_of_steps(last: u64, points: u16) -> Vec<u64> {
    let at = |i: u16| (last as f64).powf(f64::from(i) / f64::from(points - 1)).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 1 and 2e15"
    )]
    let mut all: Vec<u64> = (0..points).map(|i| at(i) as u64).collect();
    all.dedup();
    all
}

/// A plan compared with its chains on the spread and on the narrow target; without tuned steps.
fn compare(
    kappa: f64, accuracy: f64, plan: &Plan, scheme: &Scheme, chains: &[Evolution; 2],
) -> Result<Compared, Failure> {
    let slowest = scheme.linear_form(1.0 / kappa)?.spectral_radius();
    Ok(Compared {
        kappa,
        gamma: plan.gamma(),
        xi: plan.xi(),
        eta: plan.eta(),
        certified_steps: plan.steps(),
        narrow_steps: chains[1].mixing_time(accuracy)?,
        spread_steps: chains[0].mixing_time(accuracy)?,
        tuned_steps: None,
        certified_gap: 1.0 - plan.certificate().speed(),
        true_gap: slowest.map(|radius| 1.0 - radius),
        certified_floor: plan.bound_after(FOREVER),
        true_floor: chains[0].stationary().map(|law| law.w2_to_target()),
    })
}

fn panels(planned: &Planned, document: &Document) -> Vec<Panel> {
    let panel = |&kappa: &f64| {
        let series = |name: &str, value: fn(&Row) -> f64| {
            let rows = document.results.iter().filter(|row| row.kappa == kappa);
            Series {
                name: name.to_owned(),
                points: rows.map(|row| (row.steps as f64, value(row))).collect(),
            }
        };
        Panel {
            title: format!("Plan for W2 at most {}, condition number {kappa}", document.accuracy),
            x_label: "steps".to_owned(),
            y_label: "W2 to the target".to_owned(),
            series: vec![
                series("certified bound", |row| row.bound),
                series("truth, narrow", |row| row.narrow),
                series("truth, spread", |row| row.spread),
            ],
        }
    };
    planned.kappa.iter().map(panel).collect()
}

fn text(document: &Document) -> String {
    let count =
        |steps: Option<u64>| steps.map_or_else(|| "-".to_owned(), |steps| steps.to_string());
    let rows = document.plans.iter().map(|p| {
        let mut cells = vec![p.kappa.to_string()];
        cells.extend([p.gamma, p.xi, p.eta].map(|value| short(Some(value))));
        cells.extend(
            [Some(p.certified_steps), p.narrow_steps, p.spread_steps, p.tuned_steps].map(count),
        );
        let values = [Some(p.certified_gap), p.true_gap, Some(p.certified_floor), p.true_floor];
        cells.extend(values.map(short));
        cells
    });
    let header = [
        "kappa",
        "gamma",
        "xi",
        "eta",
        "certified",
        "narrow",
        "spread",
        "tuned",
        "certified gap",
        "true gap",
        "certified floor",
        "true floor",
    ];
    format!(
        "Steps to W2 <= {} in {} dimensions (L = 1), from the mode: certified for every potential of the condition number; those that the\n\
         same parameters take on Gaussians with all eigenvalues but one at 1/kappa (narrow) or spread from 1/kappa to 1 (spread); and the\n\
         fewest on the latter with parameters tuned for it.\n{}\n\
         gap: what one step takes off the distance, 1 - factor. floor: the distance that remains after any number of steps.",
        document.accuracy,
        document.dimension,
        output::table(header, rows)
    )
}
