//! `ridgewalk predict`: predictions of new rows, written as they are made.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use ridgewalk::frame::Table;
use ridgewalk::pipeline::{
    PredictionKind, PredictionRequest, Predictor, Summarized, unknown_columns, unseen_levels,
};
use serde_json::json;

use super::{Counter, MemoryOption, open};
use crate::failure::Failure;
use crate::fit::options::Voice;
use crate::fit::progress::write_line;
use crate::numbers::{alike, decimals};
use crate::output;

/// Rows shown on a terminal.
const SHOWN: usize = 20;

/// Options of `ridgewalk predict`.
#[derive(Debug, Args)]
pub(crate) struct PredictOptions {
    /// The run directory
    directory: PathBuf,
    /// The file with new rows (CSV, Parquet, SVMlight or packed), with the columns of the predictors
    data: PathBuf,
    /// What to predict: linear (the linear predictor), mean (the expected response, or
    /// probabilities), response (a response drawn at random, with the spread of the data)
    #[arg(long, value_name = "KIND", default_value = "mean")]
    kind: PredictionKind,
    /// Width of the intervals
    #[arg(long, value_name = "P", default_value_t = 0.9, allow_negative_numbers = true)]
    interval: f64,
    /// Survival families: times, separated by commas, at which to predict the probability of living
    /// longer
    #[arg(long, value_name = "T,T", value_delimiter = ',', allow_negative_numbers = true)]
    times: Vec<f64>,
    /// Survival families: shares of events, separated by commas, whose times are predicted [default:
    /// 0.5, the median]
    #[arg(long, value_name = "P,P", value_delimiter = ',', allow_negative_numbers = true)]
    quantiles: Vec<f64>,
    /// Write every draw instead of a summary of them
    #[arg(long)]
    draws: bool,
    /// The seed of responses drawn at random
    #[arg(long, value_name = "S", default_value_t = 0)]
    seed: u64,
    /// Write a CSV file, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    voice: Voice,
}

/// Runs `ridgewalk predict`.
pub(crate) fn run(options: &PredictOptions) -> Result<(), Failure> {
    let request = PredictionRequest {
        kind: options.kind,
        interval: options.interval,
        times: options.times.clone(),
        shares: options.quantiles.clone(),
        seed: options.seed,
    };
    let predictor = open(&options.directory, options.memory)?.predictor()?;
    let quantities = predictor.quantities(&request)?;
    let shape = Shape { request, quantities, levels: predictor.law().levels().to_vec() };
    let mut sink = Sink::open(options)?;
    let counter = Counter::new(options.voice);
    let done = write(options, &predictor, &shape, &mut sink, &counter);
    counter.end();
    let done = match done {
        Ok((rows, unseen, unknown)) => {
            let done = sink.finish(rows, options.voice);
            let unknown = unknown.map(|(entries, first)| unknown_columns(entries, &first));
            unknown.into_iter().for_each(|note| write_line(&format!("note: {note}")));
            let notes = unseen.iter().map(|(name, rows)| unseen_levels(name, *rows));
            notes.for_each(|note| write_line(&format!("note: {note}")));
            done
        }
        Err(failure) => {
            sink.abandon();
            Err(failure)
        }
    };
    match done {
        // The reader has enough, as in `| head`.
        Err(Failure::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

/// What the rows of the output contain.
struct Shape {
    request: PredictionRequest,
    quantities: Vec<String>,
    levels: Vec<String>,
}

/// Rows of each grouping factor with levels that the fit has not seen.
type Unseen = Vec<(String, usize)>;

/// Entries in columns that the fit has not seen, and the first of these columns.
type Unknown = Option<(usize, String)>;

/// Predicts the file some rows at a time. Returns the number of rows, of those with new levels, and
/// of entries in new columns.
fn write(
    options: &PredictOptions, predictor: &Predictor, shape: &Shape, sink: &mut Sink,
    counter: &Counter,
) -> Result<(usize, Unseen, Unknown), Failure> {
    let (mut rows, mut unseen, mut unknown) = (0, Unseen::new(), Unknown::None);
    sink.begin(options, shape)?;
    Table::read_in_turn(&options.data, &mut |table: Table| -> Result<(), Failure> {
        for (name, count) in predictor.unseen(&table)? {
            match unseen.iter_mut().find(|(other, _)| *other == name) {
                Some((_, all)) => *all += count,
                None => unseen.push((name, count)),
            }
        }
        if let Some((count, first)) = predictor.unknown_entries(&table) {
            unknown.get_or_insert((0, first)).0 += count;
        }
        if options.draws {
            draws(predictor, shape, &table, rows, sink)?;
        } else {
            let found = predictor.predict(&table, rows, &shape.request)?;
            for (at, one) in found.rows.iter().enumerate() {
                let (row, quantity) = (at / shape.quantities.len(), at % shape.quantities.len());
                sink.summary(rows + row + 1, &shape.quantities[quantity], one, &shape.levels)?;
            }
        }
        rows += table.rows();
        counter.show("rows", rows as u64, None);
        Ok(())
    })?;
    Ok((rows, unseen, unknown))
}

/// Writes every draw. Rows are predicted a few at a time, because each has thousands of draws.
fn draws(
    predictor: &Predictor, shape: &Shape, table: &Table, first: usize, sink: &mut Sink,
) -> Result<(), Failure> {
    const ROWS: usize = 256;
    let columns: Vec<String> = table.columns().iter().map(|c| c.name().to_owned()).collect();
    let each = predictor.draws() / predictor.chains().max(1);
    for from in (0..table.rows()).step_by(ROWS) {
        let some: Vec<usize> = (from..(from + ROWS).min(table.rows())).collect();
        let part = table.select(&some, &columns);
        let found = predictor.predict_draws(&part, first + from, &shape.request)?;
        for (at, values) in found.iter().enumerate() {
            let (row, quantity) = (at / shape.quantities.len(), at % shape.quantities.len());
            for (draw, value) in values.iter().enumerate() {
                let place = [draw / each.max(1), draw % each.max(1)];
                sink.draw(first + from + row + 1, &shape.quantities[quantity], place, *value)?;
            }
        }
    }
    Ok(())
}

/// Where predictions go.
enum Sink {
    /// A file, written under another name until it is whole.
    File { out: BufWriter<File>, path: PathBuf, partial: PathBuf },
    /// Standard output, as CSV.
    Text(BufWriter<std::io::Stdout>),
    /// Standard output, as one JSON document; whether an entry was written.
    Json(BufWriter<std::io::Stdout>, bool),
    /// A terminal: the first rows as a table.
    Table { heads: Vec<String>, rows: Vec<Vec<String>>, more: bool },
}

impl Sink {
    fn open(options: &PredictOptions) -> Result<Self, Failure> {
        if let Some(path) = &options.out {
            if options.voice.json {
                return Err(Failure::Usage(
                    "--json writes to standard output: need one of --json and --out".into(),
                ));
            }
            if path.exists() {
                let path = path.display();
                return Err(Failure::Usage(format!(
                    "{path} already exists: need the name of a new file"
                )));
            }
            let mut name = std::ffi::OsString::from(".");
            name.push(path.file_name().unwrap_or_default());
            name.push(format!(".{}.partial", std::process::id()));
            let partial = path.with_file_name(name);
            let file = OpenOptions::new().write(true).create_new(true).open(&partial);
            let file = file.map_err(|source| Failure::File { path: path.clone(), source })?;
            let out = BufWriter::with_capacity(1 << 20, file);
            return Ok(Self::File { out, path: path.clone(), partial });
        }
        let out = BufWriter::with_capacity(1 << 16, std::io::stdout());
        Ok(if options.voice.json {
            Self::Json(out, false)
        } else if std::io::stdout().is_terminal() && !options.draws {
            Self::Table { heads: Vec::new(), rows: Vec::new(), more: false }
        } else {
            Self::Text(out)
        })
    }

    fn begin(&mut self, options: &PredictOptions, shape: &Shape) -> Result<(), Failure> {
        let heads: Vec<String> = match options.draws {
            true => ["row", "quantity", "chain", "draw", "value"].map(str::to_owned).to_vec(),
            false => {
                let mut heads: Vec<&str> = vec!["row", "quantity", "mean", "sd"];
                heads.extend(["lower", "median", "upper"]);
                if !shape.levels.is_empty() && shape.request.kind == PredictionKind::Response {
                    heads.push("level");
                }
                heads.into_iter().map(str::to_owned).collect()
            }
        };
        match self {
            Self::Table { heads: own, .. } => {
                *own = heads;
                Ok(())
            }
            Self::Json(out, _) => {
                let PredictionRequest { kind, interval, .. } = shape.request;
                let kind = kind.name();
                Ok(write!(
                    out,
                    "{{\"kind\": {}, \"interval\": {interval}, \"predictions\": [",
                    json!(kind)
                )?)
            }
            _ => self.line(&heads),
        }
    }

    fn summary(
        &mut self, row: usize, quantity: &str, one: &Summarized, levels: &[String],
    ) -> Result<(), Failure> {
        let level = one.level.and_then(|level| levels.get(level));
        if let Self::Json(..) = self {
            let mut entry = json!({"row": row, "quantity": quantity});
            let numbers = [
                ("mean", one.mean),
                ("sd", one.sd),
                ("lower", one.lower),
                ("median", one.median),
                ("upper", one.upper),
            ];
            numbers.into_iter().for_each(|(key, value)| entry[key] = json!(value));
            if let Some(level) = level {
                entry["level"] = json!(level);
            }
            return self.entry(&entry);
        }
        let numbers = [one.mean, one.sd, one.lower, one.median, one.upper];
        let numbers = match self {
            Self::Table { .. } => alike(numbers, decimals(&[one.sd])[0]),
            _ => numbers.map(|x| if x.is_nan() { String::new() } else { x.to_string() }),
        };
        let mut cells = vec![row.to_string(), quantity.to_owned()];
        cells.extend(numbers);
        cells.extend(level.cloned());
        self.line(&cells)
    }

    fn draw(
        &mut self, row: usize, quantity: &str, [chain, draw]: [usize; 2], value: f64,
    ) -> Result<(), Failure> {
        if let Self::Json(..) = self {
            let place = json!({"row": row, "quantity": quantity, "chain": chain, "draw": draw, "value": value});
            return self.entry(&place);
        }
        let number = |count: usize| count.to_string();
        let cells =
            [number(row), quantity.to_owned(), number(chain), number(draw), value.to_string()];
        self.line(&cells)
    }

    fn entry(&mut self, entry: &serde_json::Value) -> Result<(), Failure> {
        if let Self::Json(out, begun) = self {
            write!(out, "{}\n  {entry}", if *begun { "," } else { "" })?;
            *begun = true;
        }
        Ok(())
    }

    /// A line of CSV, or a row of the table.
    fn line(&mut self, cells: &[String]) -> Result<(), Failure> {
        let quoted = |cell: &String| match cell.contains([',', '"', '\n']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        let text = |cells: &[String]| cells.iter().map(quoted).collect::<Vec<_>>().join(",");
        match self {
            Self::Table { rows, more, .. } => {
                *more = rows.len() >= SHOWN;
                if !*more {
                    rows.push(cells.to_vec());
                }
            }
            Self::File { out, path, .. } => {
                let cannot = |source| Failure::File { path: path.clone(), source };
                writeln!(out, "{}", text(cells)).map_err(cannot)?;
            }
            Self::Text(out) => writeln!(out, "{}", text(cells))?,
            Self::Json(..) => {}
        }
        Ok(())
    }

    /// Ends the output. What was written to a file appears under its name.
    fn finish(self, rows: usize, voice: Voice) -> Result<(), Failure> {
        match self {
            Self::File { mut out, path, partial } => {
                let cannot = |source| Failure::File { path: path.clone(), source };
                out.flush().and_then(|()| out.get_ref().sync_all()).map_err(cannot)?;
                fs::rename(&partial, &path).map_err(cannot)?;
                if !voice.quiet {
                    write_line(&format!("{rows} rows predicted: {}", path.display()));
                }
                Ok(())
            }
            Self::Text(mut out) => Ok(out.flush()?),
            Self::Json(mut out, _) => {
                writeln!(out, "\n]}}")?;
                Ok(out.flush()?)
            }
            Self::Table { heads, rows: shown, more } => {
                let mut text = output::plain(&heads, &shown);
                if more {
                    let said = format!("The beginning of {rows} rows; --out FILE.csv writes all.");
                    text.push_str(&format!("\n\n{said}"));
                }
                output::text(&text)
            }
        }
    }

    fn abandon(self) {
        if let Self::File { out, partial, .. } = self {
            drop(out);
            let _: Result<(), _> = fs::remove_file(Path::new(&partial));
        }
    }
}
