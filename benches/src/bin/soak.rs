//! A long run that writes its draws to a Zarr store: how fast it is, and whether memory stays
//! constant. `cargo run --release -p ridgewalk-benches --bin soak [--minutes 10]`.
//!
//! A run like that of `ridgewalk fit` (warm-up, then draws to a store), with 8 chains on a logistic
//! regression with 500 rows and 10 columns. Every second, another thread reads the resident memory
//! of the process (`VmRSS`). Writes docs/results/soak.csv and soak.svg, and prints kept values per
//! minute and the growth of memory: the slope of the least-squares line over the last 80 % of the
//! time. The store is removed at the end.
//!
//! `--share` measures the cost of writing instead: the same run, with every step a draw,
//! alternately into a store and into nothing; writes docs/results/soak-share.csv.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use plotters::prelude::*;
use ridgewalk::prelude::*;
use ridgewalk::sampler::SinkError;
use ridgewalk::sampler::automatic::{Length, Target, WarmUp, WarmedUp};
use ridgewalk::store::ZarrDraws;
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::results;
use ridgewalk_benches::data::{numbers, responses};
use ridgewalk_benches::runs::median;

const ROWS: usize = 500;
const COLUMNS: usize = 10;
const CHAINS: usize = 8;
/// Rounds of `--share`, and seconds of each half of one.
const ROUNDS: usize = 7;
const HALF: f64 = 3.0;

/// A long run that writes its draws to a Zarr store: its speed and memory.
#[derive(Debug, Parser)]
struct Arguments {
    /// How long to sample, after the warm-up.
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Steps from one draw to the next.
    #[arg(long, default_value_t = 1)]
    thin: u64,
    /// Where to put the store; by default a temporary directory.
    #[arg(long)]
    directory: Option<PathBuf>,
    /// Measure the cost of writing.
    #[arg(long)]
    share: bool,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let design = Dense::new(ROWS, COLUMNS, numbers(1, ROWS * COLUMNS, 1.0))?;
    let model = Ridge::new(design, Logistic, &responses(ROWS), Prior::centred(COLUMNS, 2.5)?)?;
    let mut warm = WarmUp::new(&model).chains(CHAINS).seed(1).run()?;
    println!("{} chains, {} kernel, eta {:.3}", CHAINS, warm.scheme.name(), warm.scheme.eta());
    if arguments.share {
        share::<Ridge<'_, Logistic>>(&arguments, &mut warm)
    } else {
        soak::<Ridge<'_, Logistic>>(&arguments, &mut warm)
    }
}

/// Counts values and passes them on to a store, if there is one.
struct Counted<'a> {
    store: Option<ZarrDraws>,
    values: &'a AtomicU64,
}

impl Sink for Counted<'_> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.store.as_mut().map_or(Ok(()), |store| store.begin(chains, dimension))
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        if let Some(store) = &mut self.store {
            store.keep(chain, draw, point)?;
        }
        self.values.fetch_add(point.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.store.as_mut().map_or(Ok(()), Sink::flush)
    }
}

/// Samples for about `seconds` and returns the time until the chains ended. `watch` is called every
/// second.
fn run<T: Target>(
    warm: &mut WarmedUp<T::White>, thin: u64, seconds: f64, store: Option<&Path>,
    values: &AtomicU64, watch: impl FnMut(f64) -> Result<(), Failure> + Send,
) -> Result<f64, Failure> {
    let names: Vec<String> = (1..=COLUMNS).map(|k| format!("x{k}")).collect();
    let store = store.map(|path| ZarrDraws::create(path, &names, thin)).transpose()?;
    let mut sink = Counted { store, values };
    let stop = AtomicBool::new(false);
    let began = Instant::now();
    let took = std::thread::scope(|scope| -> Result<f64, Failure> {
        let clock = scope.spawn(|| tick(began, seconds, &stop, watch));
        warm.begin_anew();
        let sampled = warm.run(Length::Draws(1 << 40)).thin(thin).stop(&stop).keep(&mut sink);
        let took = began.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        clock.join().map_err(|_| "the clock's thread panicked")??;
        sampled?;
        Ok(took)
    })?;
    if let Some(store) = sink.store {
        store.finish(false)?;
    }
    Ok(took)
}

/// Calls `watch` every second, and stops the run after `seconds`.
fn tick(
    began: Instant, seconds: f64, stop: &AtomicBool,
    mut watch: impl FnMut(f64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut next = 1.0;
    while !stop.load(Ordering::Relaxed) {
        let now = began.elapsed().as_secs_f64();
        if now >= seconds {
            stop.store(true, Ordering::Relaxed);
        } else if now >= next {
            watch(now).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            next += 1.0;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// A measurement at one moment.
#[derive(Debug, Clone, Copy)]
struct Seen {
    seconds: f64,
    values: f64,
    rss: f64,
}

fn soak<T: Target>(arguments: &Arguments, warm: &mut WarmedUp<T::White>) -> Result<(), Failure> {
    let place = place(arguments)?;
    let values = AtomicU64::new(0);
    let mut seen: Vec<Seen> = Vec::with_capacity(100_000);
    let watch = |seconds: f64| {
        let rss = resident()?;
        seen.push(Seen { seconds, values: values.load(Ordering::Relaxed) as f64, rss });
        if seen.len() % 30 == 1 {
            println!(
                "{seconds:6.0} s  {:>12} values  {:8.2} MiB",
                values.load(Ordering::Relaxed),
                rss / MIB
            );
        }
        Ok(())
    };
    let store = place.path().join("draws.zarr");
    let took =
        run::<T>(warm, arguments.thin, 60.0 * arguments.minutes, Some(&store), &values, watch)?;
    let kept = values.load(Ordering::Relaxed) as f64;
    let late: Vec<Seen> = seen.iter().copied().filter(|s| s.seconds >= 0.2 * took).collect();
    let slope = slope(&late);
    let (low, high) =
        late.iter().fold((f64::MAX, 0.0_f64), |(a, b), s| (a.min(s.rss), b.max(s.rss)));
    println!(
        "{kept:.3e} values in {took:.1} s: {:.3e} per minute; memory between {:.2} and {:.2} MiB over the last 80 %, growing by {:.0} \
         bytes per million values",
        60.0 * kept / took,
        low / MIB,
        high / MIB,
        1e6 * slope
    );
    if !arguments.dry {
        let mut text = "seconds,values,rss_bytes\n".to_owned();
        for s in &seen {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{:.2},{:.0},{:.0}", s.seconds, s.values, s.rss);
        }
        std::fs::write(results("soak.csv"), text)?;
        plot(&results("soak.svg"), &seen)?;
    }
    Ok(())
}

const MIB: f64 = 1_048_576.0;

fn place(arguments: &Arguments) -> Result<tempfile::TempDir, Failure> {
    let place = match &arguments.directory {
        Some(directory) => tempfile::tempdir_in(directory)?,
        None => tempfile::tempdir()?,
    };
    Ok(place)
}

/// The resident memory of the process, in bytes.
fn resident() -> Result<f64, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .ok_or("no VmRSS in /proc/self/status")?;
    Ok(1024.0 * number.trim().parse::<f64>()?)
}

/// Bytes per value, by least squares.
fn slope(seen: &[Seen]) -> f64 {
    let n = seen.len() as f64;
    let mean = |of: fn(&Seen) -> f64| seen.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|s| s.values), mean(|s| s.rss));
    let (xy, xx) = seen.iter().fold((0.0, 0.0), |(xy, xx), s| {
        (xy + (s.values - x) * (s.rss - y), xx + (s.values - x) * (s.values - x))
    });
    xy / xx
}

/// The plotted value of a measurement.
type Value = fn(&Seen) -> f64;

/// Memory and kept values over time.
fn plot(path: &Path, seen: &[Seen]) -> Result<(), Failure> {
    let minutes = seen.last().map_or(1.0, |s| s.seconds / 60.0);
    let rss = seen.iter().map(|s| s.rss / MIB).fold(0.0, f64::max);
    let millions = seen.last().map_or(1.0, |s| s.values / 1e6);
    let lines: [(&str, f64, RGBColor, Value); 2] = [
        ("resident memory, MiB", rss, RGBColor(213, 94, 0), |s| s.rss / MIB),
        ("kept values, millions", millions, RGBColor(0, 114, 178), |s| s.values / 1e6),
    ];
    let root = SVGBackend::new(path, (1000, 360)).into_drawing_area();
    root.fill(&WHITE)?;
    for (area, (title, top, colour, value)) in root.split_evenly((1, 2)).iter().zip(lines) {
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 18))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(56)
            .build_cartesian_2d(0.0..minutes, 0.0..1.15 * top)?;
        chart
            .configure_mesh()
            .x_desc("minutes")
            .axis_desc_style(("sans-serif", 15))
            .label_style(("sans-serif", 13))
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .light_line_style(WHITE)
            .bold_line_style(RGBColor(215, 215, 215))
            .draw()?;
        let points = seen.iter().map(|s| (s.seconds / 60.0, value(s)));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
    }
    root.present()?;
    Ok(())
}

/// Samples alternately into a store and into nothing.
fn share<T: Target>(arguments: &Arguments, warm: &mut WarmedUp<T::White>) -> Result<(), Failure> {
    let mut text = "round,sink,values_per_second\n".to_owned();
    let mut rates: [Vec<f64>; 2] = Default::default();
    for round in 1..=ROUNDS {
        for (rates, name) in rates.iter_mut().zip(["nothing", "zarr"]) {
            let place = place(arguments)?;
            let path = place.path().join("draws.zarr");
            let values = AtomicU64::new(0);
            let store = (name == "zarr").then_some(path.as_path());
            let took = run::<T>(warm, 1, HALF, store, &values, |_| Ok(()))?;
            let rate = values.load(Ordering::Relaxed) as f64 / took;
            let _ = writeln!(text, "{round},{name},{rate:.0}");
            rates.push(rate);
        }
    }
    let ratios: Vec<f64> =
        rates[1].iter().zip(&rates[0]).map(|(zarr, nothing)| zarr / nothing).collect();
    let [nothing, zarr] = rates.map(median);
    println!(
        "{:.3e} values per minute into nothing, {:.3e} into a store; ratio {:.3}",
        60.0 * nothing,
        60.0 * zarr,
        median(ratios)
    );
    if !arguments.dry {
        std::fs::write(results("soak-share.csv"), text)?;
    }
    Ok(())
}
