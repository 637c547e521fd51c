//! `ridgewalk effects`: average effects of a column, and a plot of them.

use std::path::PathBuf;

use clap::Args;
use ridgewalk::pipeline::{Effects, EffectsRequest};

use super::{MemoryOption, effects_plot, open};
use crate::failure::Failure;
use crate::fit::options::Voice;
use crate::numbers::{alike, decimals, short};
use crate::output::{self, wrapped};

/// Options of `ridgewalk effects`.
#[derive(Debug, Args)]
pub(crate) struct EffectsOptions {
    /// The run directory
    directory: PathBuf,
    /// The column whose effect is wanted
    #[arg(long, value_name = "COLUMN")]
    by: String,
    /// Give another column these values in every row, one after the other; can be repeated
    #[arg(long, value_name = "COLUMN=V,V", value_parser = column_and_values)]
    at: Vec<(String, Vec<String>)>,
    /// Width of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.9, allow_negative_numbers = true)]
    interval: f64,
    /// Write a plot of the average response, an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    voice: Voice,
}

/// COLUMN=V,V.
fn column_and_values(text: &str) -> Result<(String, Vec<String>), String> {
    let need = "need a column and values, such as age=30,60";
    let (column, values) = text.split_once('=').ok_or(need)?;
    let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
    if column.is_empty() || values.iter().any(String::is_empty) {
        return Err(need.to_owned());
    }
    Ok((column.to_owned(), values))
}

/// Runs `ridgewalk effects`.
pub(crate) fn run(options: &EffectsOptions) -> Result<(), Failure> {
    let run = open(&options.directory, options.memory)?;
    let request = EffectsRequest {
        by: options.by.clone(),
        at: options.at.clone(),
        interval: options.interval,
    };
    let (effects, rows) = run.effects(&request)?;
    if let Some(path) = &options.plot {
        effects_plot::save(path, &effects)?;
    }
    if options.voice.json {
        output::json(&effects)
    } else {
        output::text(&text(&effects, &request, rows))
    }
}

fn text(effects: &Effects, request: &EffectsRequest, rows: usize) -> String {
    let (at, levels) = (!request.at.is_empty(), effects.effects.iter().any(|e| e.level.is_some()));
    let percent = 100.0 * 0.5 * (1.0 - request.interval);
    let mut heads = vec!["effect".to_owned()];
    heads.extend(at.then(|| "at".to_owned()));
    heads.extend(levels.then(|| "level".to_owned()));
    heads.extend(["mean".to_owned(), "sd".to_owned()]);
    heads.extend([percent, 100.0 - percent].map(|p| format!("{} %", short(p))));
    let table: Vec<Vec<String>> = effects
        .effects
        .iter()
        .map(|effect| {
            let mut cells = vec![effect.contrast.clone()];
            cells.extend(at.then(|| effect.at.clone()));
            cells.extend(levels.then(|| effect.level.clone().unwrap_or_default()));
            let found = &effect.effect;
            let numbers = [found.mean, found.sd, found.lower, found.upper];
            cells.extend(alike(numbers, decimals(&[found.sd])[0]));
            cells
        })
        .collect();
    let slope = effects.effects.iter().any(|effect| effect.contrast == "slope");
    let what = match (slope, effects.of == "probability") {
        (true, true) => "How the probability changes per unit of",
        (true, false) => "How the expected response changes per unit of",
        (false, true) => "How the probability differs between values of",
        (false, false) => "How the expected response differs between values of",
    };
    let title = format!("{what} {}, averaged over {rows} rows with all else as it is.", effects.by);
    format!("{}\n\n{}", wrapped(&title, output::width(), 0), output::plain(&heads, &table))
}
