//! The rows of a fit that are read again block by block from a packed file, against those in memory.

use std::path::Path;

use ridgewalk_fit::{Config, Data, EffectsRequest, FitRows, Memory, Predictor, Settings, prepare};
use ridgewalk_frame::{Column, FamilyName, PackWriter, Table};
use ridgewalk_sampler::{Draws, Sink};

/// Two blocks of a file.
const ROWS: usize = 70_000;
const CHAINS: usize = 2;
const DRAWS: usize = 3;
/// Sums in another order.
const ROUNDING: f64 = 1e-12;

fn packed(path: &Path) {
    let numbers = |name: &str, of: &dyn Fn(usize) -> f64| {
        Column::from_numbers(name, &(0..ROWS).map(of).collect::<Vec<f64>>())
    };
    let city: Vec<&str> = (0..ROWS)
        .map(|row| if row > 66_000 { "Moss" } else { ["Oslo", "Bergen"][row % 2] })
        .collect();
    let grade: Vec<&str> = (0..ROWS).map(|row| ["low", "mid", "top"][row * 7 % 11 % 3]).collect();
    let columns = vec![
        numbers("y", &|row| f64::from(u8::from(row * 7919 % 13 < 5))),
        numbers("count", &|row| (row * 31 % 7) as f64),
        numbers("time", &|row| 0.5 + (row * 17 % 101) as f64),
        numbers("x", &|row| if row % 1000 == 3 { f64::NAN } else { (row as f64 * 0.7).sin() }),
        numbers("weight", &|row| (row % 4) as f64),
        numbers("hours", &|row| 1.0 + (row % 9) as f64),
        Column::from_texts("city", &city),
        Column::from_texts("grade", &grade),
    ];
    let mut writer = PackWriter::create(path).unwrap();
    writer.push(&Table::from_columns("d", columns).unwrap()).unwrap();
    writer.finish().unwrap();
}

/// Draws for a model, which need not be of its posterior; thresholds are in order.
fn draws(config: &Config) -> Draws {
    let names = config.resolved.names();
    let mut draws = Draws::named(names.clone());
    draws.begin(CHAINS, names.len()).unwrap();
    for draw in 0..DRAWS {
        for chain in 0..CHAINS {
            let at =
                |k: usize| 0.1 + 0.05 * ((k * 5 + draw * 3 + chain) as f64).sin() + k as f64 * 0.2;
            let point: Vec<f64> = (0..names.len()).map(at).collect();
            draws.keep(chain, draw as u64, &point).unwrap();
        }
    }
    draws
}

fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// Everything that is made of rows, for models of all kinds.
#[test]
fn rows_in_blocks_are_those_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.pack");
    packed(&path);
    let of = |formula: &str, family: FamilyName| Settings {
        data: Some(path.clone()),
        drop_missing: true,
        ..Settings::of_formula(formula, family)
    };
    let cases = [
        Settings {
            standardize: true,
            weights: Some("weight".into()),
            condition: Some("hours > 1".into()),
            ..of("y ~ x * city", FamilyName::Logistic)
        },
        of("count ~ x + offset(log(hours))", FamilyName::Poisson),
        Settings { event: Some("y".into()), ..of("time ~ poly(x, 2)", FamilyName::Weibull) },
        of("grade ~ x + city", FamilyName::Multinomial),
        of("grade ~ x", FamilyName::Ordinal),
    ];
    let table = Table::read(&path).unwrap();
    for settings in cases {
        let config = Config::new(&settings, &prepare(&table, &settings, None).unwrap(), &table);
        let draws = draws(&config);
        let predictor = Predictor::new(&config, &draws).unwrap();
        let whole = FitRows::new(&config, Data::from(&table)).unwrap();
        let little = Settings { memory: Some(Memory(70 << 20)), ..settings.clone() };
        let parts = FitRows::new(&config, Data::open(&little).unwrap()).unwrap();
        assert!(parts.streamed() && !whole.streamed());
        assert_eq!(parts.rows(), whole.rows());
        assert_eq!(parts.responses().unwrap(), whole.responses().unwrap());
        // Across the ends of blocks, with rows left out or not; and backwards.
        for rows in [69_000..69_010, 65_000..66_000, 0..20, 48_000..48_001] {
            let rows = rows.start * whole.rows() / ROWS..rows.end * whole.rows() / ROWS;
            let both = [&whole, &parts].map(|data| {
                let likelihood =
                    |of: &ridgewalk_fit::Observed, rows| predictor.log_likelihood(of, rows);
                let drawn = |of: &ridgewalk_fit::Observed, rows| predictor.replicates(of, rows, 7);
                let place = data.place(rows.start).unwrap();
                (
                    data.with(rows.clone(), likelihood).unwrap(),
                    data.with(rows.clone(), drawn).unwrap(),
                    place,
                )
            });
            assert!(both[0] == both[1], "{:?}, {rows:?}", settings.formula);
        }
        let by = ["x", "city"].map(str::to_owned);
        let known = config.resolved.coding.columns().unwrap();
        for by in by.into_iter().filter(|by| known.contains(by)) {
            let request = EffectsRequest { by, at: Vec::new(), interval: 0.9 };
            let both =
                [&whole, &parts].map(|data| predictor.effects_of_fit(data, &request).unwrap());
            assert_eq!(both[0].1, both[1].1);
            let numbers = both.map(|(found, _)| {
                let effects = found.effects.iter().map(|e| &e.effect);
                let all = effects.chain(found.curve.iter().map(|point| &point.response));
                all.flat_map(|s| [s.mean, s.sd, s.lower, s.upper]).collect::<Vec<f64>>()
            });
            for (a, b) in numbers[0].iter().zip(&numbers[1]) {
                assert!(near(*a, *b), "{:?}: {a} for {b}", settings.formula);
            }
        }
    }
}

/// Data with another value are not those of the fit.
#[test]
fn other_data_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.pack");
    packed(&path);
    let table = Table::read(&path).unwrap();
    let settings = Settings {
        data: Some(path.clone()),
        drop_missing: true,
        memory: Some(Memory(70 << 20)),
        ..Settings::of_formula("y ~ x", FamilyName::Logistic)
    };
    let plain = Settings { memory: None, ..settings.clone() };
    let mut config = Config::new(&plain, &prepare(&table, &plain, None).unwrap(), &table);
    config.data.sha256 = "0".repeat(64);
    let error = FitRows::new(&config, Data::open(&settings).unwrap()).unwrap_err().to_string();
    assert!(error.contains("d.pack"), "{error}");
}
