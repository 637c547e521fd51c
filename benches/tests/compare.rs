//! The comparison: biases are detected, the search finds good parameters, and no row is lost on the
//! way to the files.

use std::process::Command;

use ridgewalk::lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_benches::comparison::{
    Child, LOADED, PER_GRADIENT, PER_SECOND, PER_SECOND_ALL, Plan, Row, Sampler, Table, head,
    in_a_child, merged,
};
use ridgewalk_benches::parameters::{BEST_HEAD, Best};
use ridgewalk_benches::plots::Plot;
use ridgewalk_benches::problems::on;
use ridgewalk_benches::rivals::{Coordinates, run, settling};
use ridgewalk_benches::runs::{Bias, Cost, Measured, median};
use ridgewalk_benches::tuning::{Effort, tune};
use ridgewalk_gallery::{Reference, huber, reference};

/// A run of a kernel on the small robust regression, 8 chains of 2000 draws.
fn small(scheme: &Scheme) -> Measured {
    let run = run(&huber().unwrap(), Coordinates::Mode, scheme, [100, 2000], 1).unwrap();
    assert_eq!(run.sampling.gradients, 8 * 2000 * u64::from(scheme.gradients_per_step()));
    run.measured(6, None).unwrap()
}

#[test]
fn a_step_that_is_too_long_is_biased_and_a_short_one_is_not() {
    let truth = reference("huber").unwrap();
    let bias = |scheme| Bias::of(&[small(&scheme)], &truth);
    // On a normal law of variance 1 the variance of ULA is 1/(1 - η/2): sds are 2.6 % and 41 % too
    // large.
    let (short, long) = (bias(Scheme::ula(0.1).unwrap()), bias(Scheme::ula(1.0).unwrap()));
    assert!(short.within(), "{short:?}");
    assert!(!long.within() && (0.3..0.55).contains(&long.largest[1]), "{long:?}");
    let midpoint = bias(Scheme::randomized_midpoint(2.0, 0.5).unwrap());
    assert!(midpoint.within(), "{midpoint:?}");
}

#[test]
fn a_run_made_again_changes_the_seconds_alone_and_by_their_median() {
    let known = small(&Scheme::baoab(1.0, 1.0).unwrap());
    let again = |seconds: [f64; 2]| {
        let mut run = known.clone();
        [run.warm_up.seconds, run.sampling.seconds] = seconds;
        run
    };
    let runs = [again([2.0, 3.0]), again([1.0, 9.0]), again([7.0, 4.0])];
    let one = Measured::with_usual_seconds(&runs).unwrap();
    assert_eq!(one, again([2.0, 4.0]));
    assert_eq!(one.seconds(), 6.0);
    assert!(Measured::with_usual_seconds(&[]).is_err());
}

#[test]
fn draws_that_break_out_are_no_excuse_for_a_bias() {
    let truth = Reference {
        means: vec![0.0],
        sds: vec![1.0],
        mean_errors: vec![0.0],
        sd_errors: vec![0.0],
    };
    let mut run = small(&Scheme::baoab(1.0, 1.0).unwrap());
    run.ess = 4000.0;
    run.means = vec![[0.01, 0.015]];
    run.sds = vec![[1.3, 0.5]];
    let bias = Bias::of(std::slice::from_ref(&run), &truth);
    assert!(!bias.within(), "{bias:?}");
    run.sds = vec![[1.01, 0.01]];
    assert!(Bias::of(&[run.clone()], &truth).within());
    // The average of two runs with opposite errors has a smaller bias.
    let mut other = run.clone();
    (run.means[0][0], other.means[0][0]) = (0.2, -0.2);
    assert!(!Bias::of(&[run.clone()], &truth).within());
    assert!(Bias::of(&[run, other], &truth).within());
}

#[test]
fn the_search_finds_long_steps_for_good_kernels_and_short_ones_for_others() {
    let (problem, truth) = (huber().unwrap(), reference("huber").unwrap());
    let effort = Effort { glance: 100, look: 300, proof: 1e4 };
    let found = |kernel| tune(&problem, &truth, kernel, effort).unwrap();
    let (baoab, ula) = (found(KernelKind::Baoab), found(KernelKind::Ula));
    // On nearly normal targets a step of BAOAB near 1.9 is worth about 0.9 independent draws, and a
    // step of ULA within 5 % about 0.1.
    assert!(baoab.best.bias.within() && ula.best.bias.within());
    assert!(baoab.best.efficiency > 0.6 && baoab.best.point.eta > 1.4, "{baoab:?}");
    assert!(ula.best.efficiency < 0.2 && ula.best.point.eta < 0.4, "{ula:?}");
    assert!(baoab.tried > 40);
    assert!(settling(0.5) == 10 && settling(0.01) == 500);
}

#[test]
fn the_search_for_hmc_is_over_whole_numbers_of_steps() {
    let (problem, truth) = (huber().unwrap(), reference("huber").unwrap());
    let effort = Effort { glance: 100, look: 300, proof: 1e4 };
    let hmc = tune(&problem, &truth, KernelKind::Hmc, effort).unwrap().best;
    // On a standard normal, sds are 5 % too large at a step of 0.61, and a quarter of a period is
    // between two and three such steps.
    let scheme = hmc.point.scheme(KernelKind::Hmc).unwrap();
    let steps = scheme.trajectory().unwrap().steps;
    assert!(hmc.bias.within() && (0.5..0.75).contains(&hmc.point.eta), "{hmc:?}");
    assert!((2..=4).contains(&steps) && hmc.efficiency > 0.2, "{steps}: {hmc:?}");
    assert_eq!(hmc.point.xi, scheme.xi().unwrap());
    // As a line of the file, with four decimals, it is the same trajectory.
    let line = format!("huber,hmc,mode,,{:.4},{:.4},0.1,0,0,0,0,9\n", hmc.point.xi, hmc.point.eta);
    let back = &Best::read(&format!("{BEST_HEAD}{line}")).unwrap()[0];
    let again = back.point.scheme(KernelKind::Hmc).unwrap();
    assert_eq!(again.trajectory().unwrap().steps, steps);
    assert!((back.per_step - 0.1 * f64::from(steps)).abs() < 1e-12);
}

#[test]
fn rows_without_seconds_keep_everything_else() {
    let table = sample_table();
    let row = table.rows[1].clone().without_seconds();
    assert!(row.figure(PER_SECOND).unwrap().is_nan());
    assert_eq!(row.figure(PER_GRADIENT), table.rows[1].figure(PER_GRADIENT));
    let plot = Plot { title: "E", places: [PER_SECOND, PER_SECOND_ALL] };
    let rows = vec![table.rows[0].clone(), row];
    let svg = plot.svg(&[Table { rows, ..table.clone() }]);
    assert!(svg.matches(">not measured<").count() == 1 && !svg.contains("NaN"));
}

#[test]
fn parameters_are_read_as_they_are_written() {
    let line = "huber,baoab,mode,,1.2000,1.9000,0.8000,0.0100,0.0050,0.700,0.400,99\n";
    let none = "huber,klmc,,,,,,,,,,none\n";
    let all = Best::read(&format!("{BEST_HEAD}{line}{none}")).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].point.xi, all[0].point.eta, all[0].per_step), (1.2, 1.9, 0.8));
    assert!(Best::read(&format!("{BEST_HEAD}huber,another,mode,,1,1,1,1,1,1,1,1\n")).is_err());
    assert!(Best::read("").unwrap().is_empty());
    let child = |best| Child { target: "huber", sampler: "BAOAB, best parameters", seed: 1, best };
    assert!(on("huber", child(&all)).unwrap().ess > 3000.0);
    assert!(on("huber", child(&[])).unwrap_err().to_string().contains("--tune"));
}

/// Rows of ours, of a slower package, of a faster one with a bias, and of one that could not be
/// built.
fn sample_table() -> Table {
    let truth = reference("huber").unwrap();
    let good = |seconds: f64| Measured {
        ess: 5000.0,
        warm_up: Cost { gradients: 1000, seconds: 0.1 },
        sampling: Cost { gradients: 8000, seconds },
        rhat: 1.0,
        divergences: 0,
        means: truth.means.iter().map(|mean| [*mean, 1e-3]).collect(),
        sds: truth.sds.iter().map(|sd| [*sd, 1e-3]).collect(),
        memory: Some(12.0),
        note: "a note".into(),
    };
    let mut biased = good(0.1);
    biased.sds[3][0] *= 1.2;
    let plan = Plan { seeds: 1, ..Plan::of("huber") };
    let all = Sampler::all();
    let rows =
        [Ok(vec![good(1.0)]), Ok(vec![good(4.0)]), Ok(vec![biased]), Err("no, not today".into())];
    let rows = rows
        .into_iter()
        .zip(all)
        .map(|(runs, sampler)| Row::new("huber", sampler, plan, runs).unwrap());
    Table { target: "huber".into(), rows: rows.collect(), loaded: 5.0 }
}

#[test]
fn every_row_reaches_the_table_whether_it_wins_loses_or_fails() {
    let table = sample_table();
    let ratio = |row: usize| table.ratio(&table.rows[row], PER_SECOND).unwrap();
    assert_eq!((ratio(0), ratio(1)), (1.0, 4.0));
    assert!((ratio(2) - 0.1).abs() < 1e-12);
    let csv = table.csv();
    let columns = head().trim_end().split(',').count();
    assert_eq!(csv.lines().count(), 4);
    assert!(csv.lines().all(|line| line.split(',').count() == columns), "{csv}");
    let within: Vec<&str> =
        csv.lines().map(|line| line.split(',').nth(columns - 2).unwrap()).collect();
    assert_eq!(within, ["true", "true", "false", ""]);
    assert!(csv.ends_with("not run: no; not today\n"));
    let back = Table::read(&(head() + &csv)).unwrap();
    assert_eq!(back.len(), 1);
    // Ratios are recomputed from the rounded figures in the file.
    let ratio = head().split(',').position(|name| name == "ratio_with_warm_up").unwrap();
    let others = |csv: &str| -> Vec<Vec<String>> {
        let cells = |line: &str| line.split(',').map(String::from).enumerate().collect::<Vec<_>>();
        csv.lines()
            .map(|line| {
                cells(line).into_iter().filter(|(k, _)| *k != ratio).map(|(_, cell)| cell).collect()
            })
            .collect()
    };
    assert_eq!(others(&back[0].csv()), others(&csv));
    assert!(Table::read("head\nhuber,another,8,1000\n").is_err());
    let text = table.text();
    assert_eq!(text.matches("biased").count(), 1);
    assert!(text.contains("not run: no; not today"));
}

#[test]
fn targets_that_are_not_run_again_keep_their_rows() {
    let old = "head\nhuber,1\nladder,2\nhuber,3\nhuber-large,5\n";
    let keys = ["huber", "huber-large", "ladder"].map(String::from);
    let new = merged(old, "new head\n", &keys, &[("huber".into(), "huber,4\n".into())]);
    assert_eq!(new, "new head\nhuber,4\nhuber-large,5\nladder,2\n");
    assert_eq!(merged("", "head\n", &keys, &[]), "head\n");
    assert_eq!((median(vec![3.0, 1.0, 2.0]), median(vec![1.0, 2.0])), (2.0, 1.5));
}

#[test]
fn plots_show_every_row_and_what_is_biased() {
    let table = sample_table();
    let plot = Plot { title: "E & more", places: [PER_SECOND, PER_SECOND_ALL] };
    let svg = plot.svg(&[table.clone(), table.clone()]);
    assert!(svg.contains("E &amp; more") && svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    assert_eq!(svg.matches("<circle").count(), 6);
    assert_eq!(svg.matches("fill=\"white\" stroke").count(), 2);
    assert_eq!(svg.matches(">not run<").count(), 2);
    for row in &table.rows {
        assert!(svg.contains(&row.sampler.name()));
    }
    assert!(plot.svg(&[]).ends_with("</svg>\n"));
}

#[test]
fn runs_have_processes_of_their_own() {
    let child = |target: &str, sampler: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_compare"));
        in_a_child(command.arg(target).args(["--child", sampler, "1"]))
    };
    let loaded = child("huber", LOADED).unwrap().memory;
    let ours = child("huber", "ridgewalk").unwrap();
    let bias = Bias::of(std::slice::from_ref(&ours), &reference("huber").unwrap());
    assert!(ours.ess > 4000.0 && bias.within() && ours.note.contains("symmetric"), "{ours:?}");
    assert!(
        ours.warm_up.gradients > 0 && ours.sampling.gradients > 8000 && ours.sampling.seconds > 0.0
    );
    // The draws, 8 x 1000 x 6 numbers, take memory.
    if let (Some(loaded), Some(ours)) = (loaded, ours.memory) {
        assert!(ours > loaded + 0.3, "{ours} and {loaded} MiB");
    }
    assert_eq!(child("huber", "another").unwrap_err().to_string(), "no sampler `another`");
    assert!(child("another", "ridgewalk").unwrap_err().to_string().contains("no target"));
}
