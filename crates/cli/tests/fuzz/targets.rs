//! The fuzz targets: each reader with valid seed inputs and its keywords.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use clap::Parser;
use ridgewalk::coefficients::{Coefficients, FreeFlow, OrnsteinUhlenbeck, Parameters};
use ridgewalk::frame::{
    Column, Condition, DataError, Description, FamilyName, Formula, Frame, Question, Table,
    split_names,
};
use ridgewalk::lyapunov::laws::{KernelKind, Scheme};
use ridgewalk::pipeline::{Auxiliary, Config, Groups, ModelPriors, Priors, Settings};
use ridgewalk::potentials::Chebyshev;
use ridgewalk::prelude::*;
use ridgewalk::report::write_report;
use ridgewalk::sampler::Snapshot;
use ridgewalk::sampler::automatic::Wanted;
use ridgewalk::sampler::{Ensemble, SavedRun, SavedWarmUp, SinkError, Ula};
use ridgewalk::store::{
    Checkpoint, Error as StoreError, RunDirectory, StoredDraws, read_every_draw, read_summary,
    replay,
};
use ridgewalk_cli::fit::options::FitOptions;
use sha2::{Digest, Sha256};

/// The answer of a target.
pub(crate) enum Answer {
    /// The input was accepted; the number distinguishes how.
    Taken(u64),
    /// The input was refused with a message.
    Refused(String),
}

/// Reads an input.
pub(crate) type Reader = fn(&[u8]) -> Answer;

/// A reader with its inputs.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    pub(crate) words: &'static [&'static [u8]],
    pub(crate) run: Reader,
    /// Memory allowed per input, in addition to 4096 times its length, over all requests.
    pub(crate) bytes: usize,
    /// Number of inputs in ordinary tests.
    pub(crate) quick: u64,
}

const fn target(
    name: &'static str, quick: u64, run: fn(&[u8]) -> Answer, seeds: fn() -> Vec<Vec<u8>>,
    words: &'static [&'static [u8]],
) -> Target {
    Target { name, seeds, words, run, bytes: 1 << 20, quick }
}

pub(crate) const TARGETS: &[Target] = &[
    target(
        "csv",
        20_000,
        csv,
        csv_seeds,
        &[
            b",",
            b";",
            b"\t",
            b"\"",
            b"\"\"",
            b"\n",
            b"\r\n",
            b"\r",
            b" ",
            b"NA",
            b"\xef\xbb\xbf",
            b"\0",
            b"y",
            b"a,b",
            b"\xc3",
            b"\n\n",
        ],
    ),
    target(
        "svm",
        20_000,
        svm,
        svm_seeds,
        &[
            b" ",
            b":",
            b"#",
            b"\n",
            b"\r\n",
            b"qid:",
            b"-1",
            b"1:1",
            b" 4000000000:1",
            b"nan",
            b"1e999",
            b"0:",
            b"\0",
            b"\t",
            b"\xc3",
            b"2147483647:1",
            b"1e-310",
        ],
    ),
    target(
        "names",
        5_000,
        names,
        || vec![b"age,\"height, cm\",sex".to_vec()],
        &[b",", b"\"", b"\n", b" "],
    ),
    Target {
        name: "formula",
        seeds: formula_seeds,
        words: &[
            b"~", b" + ", b" - ", b"*", b":", b"^2", b"(", b")", b"[", b"]", b",", b"`", b"\"",
            b"|", b"%in%", b" & ", b"poly(", b"ns(", b"bs(", b"cut(", b"factor(", b"C(", b"log(",
            b"pair(", b"scale(", b"offset(", b"Surv(", b"cbind(", b"I(", b"c(", b"1e999", b"0x",
            b"TRUE", b"df = ",
        ],
        run: formula,
        bytes: 1 << 26,
        quick: 5_000,
    },
    target(
        "priors",
        10_000,
        priors,
        priors_seeds,
        &[
            b"[",
            b"]",
            b"[[",
            b"\"",
            b"'''",
            b"=",
            b"mean",
            b"scale",
            b"inf",
            b"nan",
            b"{",
            b"}",
            b".",
            b"\n",
            b"#",
            b"\\u",
            b"1979-05-27",
            b"(Intercept)",
        ],
    ),
    target(
        "config",
        3_000,
        config,
        || vec![finished("config.toml")],
        &[b"[", b"]", b"=", b"\"", b"true", b"inf", b"\n", b"{", b"options", b"seed"],
    ),
    target(
        "options",
        1_000,
        options,
        option_seeds,
        &[
            b" --",
            b"=",
            b" -1",
            b" --seed",
            b" --chains",
            b" --draws",
            b" --family",
            b"logistic",
            b" --thin",
            b" --eta",
        ],
    ),
    target(
        "checkpoint",
        5_000,
        checkpoint,
        checkpoint_seeds,
        &[
            b"ridgewalk checkpoint 1\n",
            b"{",
            b"}",
            b"[",
            b"\"parts\":[",
            b",",
            b"\n",
            b"ridgewlk",
            b"null",
        ],
    ),
    target(
        "saved",
        3_000,
        saved,
        saved_seeds,
        &[&[0; 8], &[1], &[0xff; 8], b"third-order", b"symmetric"],
    ),
    target(
        "store",
        1_000,
        store,
        store_seeds,
        &[
            b"\"shape\":[",
            b"[",
            b"]",
            b"{",
            b"}",
            b",",
            b"\"draws_of_chains\":[",
            b"\"chunk_shape\":[",
            b"null",
            b"true",
        ],
    ),
    target(
        "summary",
        200,
        summary,
        || vec![finished("summary.json")],
        &[b"null", b"[", b"]", b"{", b"}", b",", b"\"", b"\"chains\":0", b"true"],
    ),
    target("parameters", 20_000, parameters, parameter_seeds, &[]),
    #[cfg(feature = "parquet")]
    Target {
        name: "parquet",
        seeds: parquet::seeds,
        words: &[&[0x15], &[0x19], &[0xff, 0xff, 0xff, 0xff, 0x0f], b"PAR1", &[0; 4]],
        run: parquet::run,
        bytes: 1 << 30,
        quick: 2_000,
    },
];

fn refused(error: impl std::fmt::Display) -> Answer {
    Answer::Refused(error.to_string())
}

fn answer<T>(result: Result<T, impl std::fmt::Display>, taken: impl FnOnce(T) -> u64) -> Answer {
    match result {
        Ok(value) => Answer::Taken(taken(value)),
        Err(error) => refused(error),
    }
}

/// Reads a table and asks a question about it, of a kind that depends on the input.
fn csv(input: &[u8]) -> Answer {
    answer(Table::from_bytes("f.csv", input), |table| frame(&table, input.len()))
}

/// Reads sparse rows, makes their frame, and codes the same rows as new ones.
fn svm(input: &[u8]) -> Answer {
    answer(Table::from_bytes("f.svm", input), |table| {
        let families = [FamilyName::Logistic, FamilyName::Poisson, FamilyName::Gaussian];
        let formula = ["label ~ x", "label ~ 0 + x", "label ~ ."][input.len() / 3 % 3];
        let question = Question::of_formula(formula.parse().unwrap(), families[input.len() % 3]);
        let Ok(frame) = Frame::new(&table, &question) else { return 1 };
        if let Ok(rows) = frame.coding.rows(&table) {
            assert_eq!(rows.design, frame.design);
        }
        2 + frame.columns as u64 % 8
    })
}

fn svm_seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 5] = [
        b"1 1:0.5 3:1\n-1 2:1 # a comment\n1 1:2 2:1\n-1 3:0.25\n",
        b"# head\n3 qid:1 1:1 2:1\n\n2 qid:1 2:0\n1 qid:2 7:1e-3\r\n0 qid:2\n",
        b"+1 2147483647:1\n0 1:1\n",
        b"1.5\n2.5 1:1\n",
        b"1 4000000000:1\n",
    ];
    texts.map(<[u8]>::to_vec).to_vec()
}

fn frame(table: &Table, by: usize) -> u64 {
    let families =
        [FamilyName::Logistic, FamilyName::Poisson, FamilyName::Gaussian, FamilyName::RobustHuber];
    let name = |at: usize| {
        table.columns().get(at % table.columns().len()).map(|column| column.name().to_owned())
    };
    let mut question = Question::new(&name(by).unwrap_or_default(), families[by % 4]);
    question.standardize = by & 4 != 0;
    if by & 8 == 0 {
        question.formula = question.formula.without_intercept();
    }
    question.drop_missing = by & 16 != 0;
    if by & 32 != 0 {
        question.trials = name(by + 1);
    }
    if by & 64 != 0 {
        question.weights = name(by + 2);
    }
    match Frame::new(table, &question) {
        Ok(frame) => 1 + frame.columns as u64 % 8,
        Err(error) => {
            let _ = error.to_string();
            100 + u64::from(
                std::mem::discriminant(&error)
                    == std::mem::discriminant(&DataError::NoCoefficients),
            )
        }
    }
}

fn csv_seeds() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 8] = [
        b"y,age,dose\n0,31,1.5\n1,42,0.5\n0,27,2.5\n1,35,1.0\n0,44,2.0\n1,29,3.0\n",
        b"\xef\xbb\xbfy;n;\"a;b\"\r\n1;2;x\r\n0;3;\"y\"\"z\"\r\n1;9;\"two\nlines\"\r\n",
        b"y\tw\n1\tNA\n\n0\t2e3\n1\t-inf\n",
        b"y\n1\n\n0\n1\n",
        b"0,1,2\n1,2,3\n4,5,6\n",
        "größe,y\n1,2\n\u{1f321},3\n".as_bytes(),
        b"\"y\",\"x\"\n\"1\",\"open\n",
        b"a|b\n1|2\n",
    ];
    texts.map(<[u8]>::to_vec).to_vec()
}

/// Reads a formula and makes its frame, or a condition and selects rows. What was read is written
/// and read again, and new rows are coded as the old ones.
fn formula(input: &[u8]) -> Answer {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let text = b"y,x,z,f,g,d,n\n0,1.5,2,a,u,2024-01-01,5\n1,2,1,b,v,2024-02-03,6\n1,0.5,3,a,u,2024-03-09,7\n\
                     0,4,1,c,v,2024-01-01,8\n1,3,2,b,u,2024-02-03,9\n0,2.5,4,c,v,2024-03-09,9\n";
        Table::from_bytes("f.csv", text).unwrap()
    });
    let text = String::from_utf8_lossy(input);
    if !text.contains('~') {
        let Ok(condition) = text.parse::<Condition>() else { return Answer::Taken(0) };
        let again: Condition = condition.to_string().parse().unwrap();
        assert_eq!(again.to_string(), condition.to_string());
        return answer(Description::new(table, Some(&condition)), |found| found.rows as u64);
    }
    let formula = match text.parse::<Formula>() {
        Ok(formula) => formula,
        Err(error) => return refused(error),
    };
    let again: Formula = formula.to_string().parse().unwrap();
    assert_eq!(again.to_string(), formula.to_string());
    let families = [FamilyName::Logistic, FamilyName::Gaussian, FamilyName::Weibull];
    let question = Question::of_formula(formula, families[input.len() % 3]);
    answer(Frame::new(table, &question), |frame| {
        assert!(frame.design.dense().iter().all(|entry| entry.is_finite()));
        if let Ok(rows) = frame.coding.rows(table) {
            assert_eq!(rows.design, frame.design);
        }
        10 + frame.columns as u64 % 8
    })
}

fn formula_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "y ~ x * f + poly(z, 2) - 1",
        "log(x) ~ ns(z, df = 3):g + bs(x, knots = c(1, 2)) + offset(log(n))",
        "cbind(y, n - y) ~ (x + f + g)^2 - f:g",
        "y | trials(n) ~ C(f, sum) + C(g, base = \"v\", levels = [\"v\", \"u\"])",
        "Surv(x, y == 1) ~ cut(z, c(0, 2, Inf)) / scale(x) + factor(z)",
        "y ~ . + I(x^2 %% 3) + days(d) + `x`:pmin(x, z) %in% f + (1 + x | g) + s(x)",
        "x >= 1 & !(f == 'a' | g %in% c(\"u\", 'v')) | is.na(z)",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

fn names(input: &[u8]) -> Answer {
    answer(split_names(&String::from_utf8_lossy(input)), |names| names.len() as u64 % 8)
}

fn priors(input: &[u8]) -> Answer {
    let settings = Settings::new("y", FamilyName::Gaussian);
    let columns = ["y", "age", "a.b"].map(|name| Column::from_numbers(name, &[1.0, 2.0, 4.0]));
    let table = Table::from_columns("t", columns.to_vec()).unwrap();
    let frame = Frame::new(&table, &settings.question(&table).unwrap()).unwrap();
    let sizes = frame.sizes(settings.family, |_, _| {});
    let auxiliary = Auxiliary::new(&settings, &frame);
    let read = Priors::from_settings(&settings)
        .and_then(|priors| priors.with_toml("p.toml", &String::from_utf8_lossy(input)));
    let found =
        read.and_then(|priors| priors.resolve(&frame, &sizes, &auxiliary, &Groups::default()));
    answer(found, |found| {
        let ModelPriors { coefficients, parameters, .. } = found;
        assert_eq!((coefficients.len(), parameters.len()), (3, 1));
        coefficients.iter().filter(|prior| !prior.is_proper()).count() as u64
    })
}

fn priors_seeds() -> Vec<Vec<u8>> {
    let texts = [
        "[age]\nmean = 0.0\nscale = 2.5\n\n[\"(Intercept)\"]\nscale = inf\n",
        "\"a.b\" = { scale = 1, mean = -3e2 }\n# said\n[age]\nscale = 1_000.5\n",
        "a.b.c.d.e = [[[1, 2], '''x'''], \"\\u00e9\"]\n",
        "[\"*\"]\nprior = \"student_t(3, 0, 2.5, autoscale)\"\n[sigma]\nprior = \"gamma(2, 1)\"\n",
    ];
    texts.map(|text| text.as_bytes().to_vec()).to_vec()
}

static RUN: OnceLock<PathBuf> = OnceLock::new();

/// A run directory, made once by the program itself.
fn run_directory() -> &'static PathBuf {
    RUN.get_or_init(|| {
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap().keep();
        fs::write(place.join("d.csv"), csv_seeds().swap_remove(0)).unwrap();
        let words = "fit d.csv --response y --chains 2 --draws 12 --thin 1 --eta 0.5 --kernel symmetric --quiet --out run";
        let done = Command::new(env!("CARGO_BIN_EXE_ridgewalk")).args(words.split(' ')).current_dir(&place).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        place.join("run")
    })
}

/// Removes it again.
pub(crate) fn clean() {
    if let Some(place) = RUN.get().and_then(|run| run.parent()) {
        fs::remove_dir_all(place).unwrap();
    }
}

/// A file of that run.
fn finished(name: &str) -> Vec<u8> {
    fs::read(run_directory().join(name)).unwrap()
}

fn config(input: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(input);
    answer(toml::from_str::<Config>(&text).map_err(|error| error.message().to_owned()), |config| {
        // A document that was read can be written.
        toml::to_string(&config).unwrap().len() as u64 % 4
    })
}

/// Only the options of `fit`.
#[derive(Parser)]
struct Words {
    #[command(flatten)]
    options: FitOptions,
}

/// Command-line arguments, and their round trip through `config.toml`.
fn options(input: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(input);
    match Words::try_parse_from(std::iter::once("fit").chain(text.split_whitespace())) {
        Err(error) => Answer::Refused(format!("{:?}", error.kind())),
        Ok(words) => {
            let Ok(settings) = words.options.settings() else {
                return Answer::Refused("predictors".to_owned());
            };
            let written = toml::to_string(&settings);
            let back = written.as_deref().map(|text| toml::from_str::<Settings>(text).is_ok());
            Answer::Taken(u64::from(back == Ok(true)))
        }
    }
}

fn option_seeds() -> Vec<Vec<u8>> {
    let words = [
        "d.csv --response y --family probit --prior-scale 2.5 --chains 4 --draws 100 --seed 7",
        "--target-ess 400 --max-draws 1000 --gamma 1 --xi 2 --eta 0.5 --kernel third-order --nodes 3 --thin 2 --threads 2",
        "d.csv --response y --predictors a,b --trials n --offset o --weights w --standardize --original-scale --csv",
    ];
    words.map(|words| words.as_bytes().to_vec()).to_vec()
}

/// Adds a valid checksum to a checkpoint's body, unless its length says not to; then reads its
/// parts.
fn checkpoint(input: &[u8]) -> Answer {
    let mut bytes = input.to_vec();
    if input.len() % 8 != 3 {
        let digits: String =
            Sha256::digest(input).iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.extend(digits.bytes());
        bytes.push(b'\n');
    }
    match Checkpoint::from_bytes(&bytes) {
        Err(found) => Answer::Refused(found),
        Ok(read) => {
            assert_eq!(
                Checkpoint::from_bytes(&read.to_bytes().unwrap()).as_ref(),
                Ok(&read),
                "comes back"
            );
            let [warm_up, run] = [
                SavedWarmUp::from_bytes(&read.warm_up).is_ok(),
                SavedRun::from_bytes(&read.run).is_ok(),
            ];
            let config = toml::from_str::<Config>(&read.config).is_ok();
            Answer::Taken(u64::from(warm_up) + 2 * u64::from(run) + 4 * u64::from(config))
        }
    }
}

fn checkpoint_seeds() -> Vec<Vec<u8>> {
    let (warm_up, run) = states();
    let mut made = Checkpoint::new("seed = \"0\"\n");
    let without = |made: &Checkpoint| {
        let bytes = made.to_bytes().unwrap();
        bytes[..bytes.len() - 65].to_vec()
    };
    let first = without(&made);
    made.head.draws = vec![12, 12];
    (made.warm_up, made.run) = (warm_up.clone(), run.clone());
    vec![first, without(&made)]
}

const CHAINS: usize = 2;
const DRAWS: u64 = 6;

/// A small problem: 2 dimensions.
fn small() -> BlackBox<impl Gradient + Sync + Clone> {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).for_each(|(g, x)| *g = x.tanh() + x);
        Ok(())
    };
    BlackBox::new(FromFn::new(2, gradient), 2, &[0.5, 0.5]).unwrap()
}

fn question<G: Gradient>(target: &BlackBox<G>) -> WarmUp<'_, BlackBox<G>>
where
    BlackBox<G>: ridgewalk::sampler::automatic::Target,
{
    let wanted =
        Wanted { kernel: Some(KernelKind::Symmetric), eta: Some(0.5), ..Wanted::default() };
    WarmUp::new(target).seed(11).chains(CHAINS).wanted(wanted)
}

/// A sink that keeps the last state.
#[derive(Default)]
struct Last(Option<SavedRun>);

impl Sink for Last {
    fn begin(&mut self, _: usize, _: usize) -> Result<(), SinkError> {
        Ok(())
    }

    fn keep(&mut self, _: usize, _: u64, _: &[f64]) -> Result<(), SinkError> {
        Ok(())
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.0 = Some(state);
        Ok(())
    }
}

/// A warm-up and a run towards an effective sample size, as bytes.
fn states() -> &'static (Vec<u8>, Vec<u8>) {
    static MADE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    MADE.get_or_init(|| {
        let target = small();
        let mut warm = question(&target).run().unwrap();
        let mut last = Last::default();
        let length = Length::Ess { target: 4.0, most: DRAWS };
        let every = std::time::Duration::ZERO;
        warm.run(length).thin(1).checkpoints(every).keep(&mut last).unwrap();
        (warm.saved().to_bytes(), last.0.unwrap().to_bytes())
    })
}

/// A frame with valid length and checksum. Kind and content come from the input; the first byte
/// selects the kind.
fn saved(input: &[u8]) -> Answer {
    let (first, content) = input.split_first().unwrap_or((&0, &[]));
    let kinds = ["chains  ", "run     ", "warm-up "];
    let mut bytes = b"ridgewlk".to_vec();
    bytes.extend(kinds[usize::from(*first) % 3].bytes());
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend((content.len() as u64).to_le_bytes());
    bytes.extend(content);
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    let target = small();
    match *first % 3 {
        0 => match Snapshot::from_bytes(&bytes) {
            Ok(snapshot) => restored(snapshot),
            Err(error) => refused(error),
        },
        1 => match SavedRun::from_bytes(&bytes) {
            Ok(run) => {
                let _ = run.draws();
                gone_on(run)
            }
            Err(error) => refused(error),
        },
        _ => match SavedWarmUp::from_bytes(&bytes) {
            Ok(found) => {
                assert_eq!(found.to_bytes(), bytes, "comes back");
                answer(question(&target).restore(found), |_| 7)
            }
            Err(error) => refused(error),
        },
    }
}

/// Restores chains, takes a snapshot and makes a step.
fn restored(snapshot: Snapshot) -> Answer {
    let potential = Chebyshev::new(
        FromFn::new(2, |x: &[f64], g: &mut [f64]| {
            g.copy_from_slice(x);
            Ok(())
        }),
        1,
    )
    .unwrap();
    let kernel = Ula::new(0.1, 1.0).unwrap();
    match Ensemble::restore(&potential, snapshot) {
        Ok(mut ensemble) => {
            let _ = (ensemble.gradients(), ensemble.running(), ensemble.snapshot());
            if ensemble.steps() < u64::MAX {
                ensemble.advance(&kernel, 1);
            }
            Answer::Taken(ensemble.running() as u64)
        }
        Err(error) => refused(error),
    }
}

/// Resumes a run, unless it claims millions of gradients: measuring its bias would take a share of
/// these.
fn gone_on(run: SavedRun) -> Answer {
    let made = |chain: &ridgewalk::sampler::SavedChain| chain.gradients.max(chain.steps) < 1000;
    if run.ensemble.chains.len() > 64 || !run.ensemble.chains.iter().all(made) {
        return Answer::Taken(1);
    }
    let target = small();
    let mut warm = SavedWarmUp::from_bytes(&states().0)
        .and_then(|saved| question(&target).restore(saved))
        .unwrap();
    let length = Length::Ess { target: 4.0, most: DRAWS };
    answer(warm.run(length).thin(1).from_saved(run).keep(&mut Last::default()), |sampled| {
        2 + sampled.draws % 4
    })
}

fn saved_seeds() -> Vec<Vec<u8>> {
    let (warm_up, run) = states();
    let content = |kind: u8, bytes: &[u8]| [&[kind], &bytes[28..bytes.len() - 32]].concat();
    let snapshot = SavedRun::from_bytes(run).unwrap().ensemble;
    // Found by fuzzing: a gradient count that overflows, now refused.
    let mut endless = snapshot.clone();
    endless.chains[0].gradients = u64::MAX;
    let [snapshot, endless] = [snapshot, endless].map(|snapshot| snapshot.to_bytes());
    vec![content(0, &snapshot), content(0, &endless), content(1, run), content(2, warm_up)]
}

/// The store's document; after a zero byte, the list of names.
fn store(input: &[u8]) -> Answer {
    let at = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let store = run_directory().join("draws.zarr");
    fs::write(store.join("zarr.json"), &input[..at]).unwrap();
    fs::write(store.join("posterior/coef/c.0"), input.get(at + 1..).unwrap_or_default()).unwrap();
    let mut memory = Draws::default();
    let replayed = replay(&store, &mut memory).is_ok();
    let columns = StoredDraws::open(&store).and_then(|draws| {
        let mut seen = 0;
        draws.columns(|_, columns| {
            seen += columns.len();
            Ok::<(), StoreError>(())
        })?;
        Ok(seen)
    });
    let place = store.display().to_string();
    match read_every_draw(&store) {
        Ok(draws) => Answer::Taken(
            u64::from(replayed)
                + 2 * columns.unwrap_or_default() as u64
                + 64 * (draws.chains() as u64 % 4),
        ),
        Err(error) => Answer::Refused(error.to_string().replace(&place, "")),
    }
}

fn store_seeds() -> Vec<Vec<u8>> {
    vec![
        [finished("draws.zarr/zarr.json"), vec![0], finished("draws.zarr/posterior/coef/c.0")]
            .concat(),
    ]
}

/// A summary, and the report made from it.
fn summary(input: &[u8]) -> Answer {
    let directory = RunDirectory::open(run_directory()).unwrap();
    fs::write(directory.summary(), input).unwrap();
    let place = run_directory().display().to_string();
    match read_summary(&directory.summary()).and_then(|_| write_report(&directory)) {
        Ok(()) => Answer::Taken(fs::metadata(directory.report()).unwrap().len() / 4096),
        Err(error) => Answer::Refused(error.to_string().replace(&place, "")),
    }
}

/// The number at a position of the input; 1 beyond its end.
fn number(input: &[u8], at: usize) -> f64 {
    input.get(8 * at..8 * at + 8).map_or(1.0, |bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
}

/// Coefficients of a step, and the exact law of every kernel, for any numbers. Results must be
/// finite.
fn parameters(input: &[u8]) -> Answer {
    let [gamma, xi, eta, smoothness] = [0, 1, 2, 3].map(|at| number(input, at));
    let mut answers = 0;
    let taken = Parameters::new(gamma, xi, eta);
    let mut message = taken.as_ref().err().map(ToString::to_string);
    if let Ok(parameters) = taken {
        match Coefficients::new(parameters, smoothness) {
            Ok(found) => {
                let numbers = [
                    found.mu12(),
                    found.mu13(),
                    found.mu22(),
                    found.mu23(),
                    found.mu31(),
                    found.mu32(),
                    found.mu33(),
                ];
                assert!(
                    numbers.iter().chain(&found.cholesky()).all(|x| x.is_finite()),
                    "{found:?}"
                );
                answers |= 1;
            }
            Err(error) => message = Some(error.to_string()),
        }
        if let Ok(found) = OrnsteinUhlenbeck::new(parameters, smoothness) {
            assert!(
                found.flow().iter().flatten().chain(&found.cholesky()).all(|x| x.is_finite()),
                "{found:?}"
            );
            answers |= 2;
        }
    }
    if let Ok(found) = FreeFlow::new(xi, eta, smoothness) {
        assert!(found.cholesky().iter().all(|x| x.is_finite()), "{found:?}");
        answers |= 4;
    }
    let all = [
        KernelKind::ThirdOrder,
        KernelKind::Symmetric,
        KernelKind::Averaged,
        KernelKind::Ula,
        KernelKind::Klmc,
        KernelKind::Ubu,
        KernelKind::Baoab,
        KernelKind::RandomizedMidpoint,
        KernelKind::Quicsort,
        KernelKind::Should,
        KernelKind::Align,
        KernelKind::Hmc,
    ];
    let kernel = all[usize::from(input.last().copied().unwrap_or_default()) % all.len()];
    if let Ok(form) =
        Scheme::new(kernel, gamma, xi, eta).and_then(|scheme| scheme.linear_form(number(input, 4)))
    {
        answers |= 8 + 16 * u64::from(form.is_stable());
        let _ = (form.stationary(), form.spectral_radius());
    }
    match message {
        Some(message) if answers == 0 => Answer::Refused(message),
        _ => Answer::Taken(answers + 32 * u64::from(input.last().copied().unwrap_or_default() % 8)),
    }
}

fn parameter_seeds() -> Vec<Vec<u8>> {
    let of = |numbers: [f64; 5]| numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    vec![
        of([2.0, 4.0, 0.1, 1.0, 0.5]),
        of([1e-8, 1e8, 1e-3, 1e6, 1.0]),
        of([50.0, 1e-9, 30.0, 1e-12, 1e-3]),
        // Found by fuzzing: a free flow of infinite variance, now refused.
        of([2.0, 4.0, 0.1, 5e-324, 0.5]),
        of([1.0, 1e-300, 1e250, 1.0, 0.5]),
        // Found by fuzzing: a variance of p of one bit before the division by L, and no Cholesky
        // factor.
        of([2.4e-123, 1.75e-78, 1.0, 2e-76, 0.5]),
    ]
}

/// Parquet files from the crate's own writer.
#[cfg(feature = "parquet")]
mod parquet {
    use std::sync::Arc;

    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use ridgewalk::frame::Table;

    use super::{Answer, answer, frame};

    pub(super) fn run(input: &[u8]) -> Answer {
        answer(Table::from_bytes("f.parquet", &[b"PAR1", input].concat()), |table| {
            frame(&table, input.len())
        })
    }

    pub(super) fn seeds() -> Vec<Vec<u8>> {
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())]
            .map(written)
            .to_vec()
    }

    fn written(compression: Compression) -> Vec<u8> {
        let text =
            "message m { required double x; optional int32 y; optional binary city (STRING); }";
        let schema = Arc::new(parse_message_type(text).unwrap());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        for number in 0..3 {
            let mut column = rows.next_column().unwrap().unwrap();
            let texts = ["Oslo", "Aas"].map(ByteArray::from);
            match number {
                0 => column.typed::<DoubleType>().write_batch(&[1.5, 2.5, 3e10, 1.5], None, None),
                1 => column.typed::<Int32Type>().write_batch(&[0, 1, 1], Some(&[1, 0, 1, 1]), None),
                _ => column.typed::<ByteArrayType>().write_batch(&texts, Some(&[1, 1, 0, 0]), None),
            }
            .unwrap();
            column.close().unwrap();
        }
        rows.close().unwrap();
        writer.close().unwrap();
        bytes.split_off(4)
    }
}
