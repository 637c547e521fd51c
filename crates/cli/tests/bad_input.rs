//! The error message for every kind of bad input: each row of the table in docs/guide.md is run and
//! must end with the exit code and message shown there, and leave no files behind.
//!
//! `RIDGEWALK_WRITE_DOCS=1 cargo test -p ridgewalk-cli --test tests bad_input` rewrites the table;
//! read it before you commit it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const BEGIN: &str = "<!-- bad input: begin; RIDGEWALK_WRITE_DOCS=1 cargo test -p ridgewalk-cli --test tests bad_input -->\n";
const END: &str = "<!-- bad input: end -->\n";

/// Eight rows without separation.
const GOOD: &str =
    "y,age,dose\n0,31,1.5\n1,42,0.5\n0,27,2.5\n1,35,1.0\n0,44,2.0\n1,29,3.0\n1,51,1.2\n0,38,0.7\n";

/// One bad input.
struct Case {
    /// What is wrong.
    what: &'static str,
    /// The arguments of `ridgewalk fit`.
    typed: &'static str,
    /// Writes the files.
    make: fn(&Path),
}

const fn case(what: &'static str, typed: &'static str, make: fn(&Path)) -> Case {
    Case { what, typed, make }
}

/// A function that writes this text, or these bytes, to `data.csv`.
macro_rules! data {
    ($text:expr) => {
        |place| fs::write(place.join("data.csv"), $text).unwrap()
    };
}

const PLAIN: &str = "data.csv --response y";
const FLAT: &str = "data.csv --response y --prior-scale inf --intercept-prior-scale inf";

/// All kinds of bad input, in the order in which a user meets them.
const CASES: &[Case] = &[
    case("a missing file", PLAIN, |_| {}),
    case("a directory instead of a file", PLAIN, |place| {
        fs::create_dir(place.join("data.csv")).unwrap()
    }),
    case("an empty file", PLAIN, data!("")),
    case("a header and nothing below", PLAIN, data!("y,age,dose\n")),
    case("one row", PLAIN, data!("y,age,dose\n1,31,1.5\n")),
    case("numbers without a header", PLAIN, data!("0,31,1.5\n1,42,0.5\n0,27,2.5\n")),
    case("two columns with the same name", PLAIN, data!(GOOD.replace("dose", "age"))),
    case("2 million columns", "data.csv --response c0", |place| {
        let names: Vec<String> = (0..2_000_000).map(|column| format!("c{column}")).collect();
        fs::write(place.join("data.csv"), format!("{}\n", names.join(","))).unwrap();
    }),
    case("a formula with an unknown column", "data.csv 'y ~ age + doze'", data!(GOOD)),
    case("a formula that breaks off", "data.csv 'y ~ age +'", data!(GOOD)),
    case("a power that is no power", "data.csv 'y ~ age^2'", data!(GOOD)),
    case("an unknown function", "data.csv 'y ~ lg(age)'", data!(GOOD)),
    case("a logarithm of 0", "data.csv 'y ~ log(dose - 1.5)'", data!(GOOD)),
    case("a condition that no row fulfils", "data.csv 'y ~ age' --where 'age > 99'", data!(GOOD)),
    case(
        "a base level that does not occur",
        "data.csv 'y ~ city' --base city=Olso",
        data!("y,city\n0,Oslo\n1,Bergen\n0,Oslo\n1,Oslo\n0,Bergen\n"),
    ),
    case("a row that is too short", PLAIN, data!(GOOD.replace("0,27,2.5", "0,27"))),
    case("an unusual delimiter", PLAIN, data!(GOOD.replace(',', "|"))),
    case("text that is not UTF-8", PLAIN, data!(b"y,age,dose\n0,31,1.5\n1,42,\xe90\n0,27,2.5\n")),
    case("no response named", "data.csv", data!(GOOD)),
    case("an unknown response", "data.csv --response Y", data!(GOOD)),
    case("an unknown predictor", "data.csv --response y --predictors age,doze", data!(GOOD)),
    case(
        "a response of 1 and 2",
        PLAIN,
        data!(GOOD.replace("\n1,", "\n2,").replace("\n0,", "\n1,")),
    ),
    case(
        "a negative count",
        "data.csv --response y --family poisson",
        data!(GOOD.replace("\n0,27", "\n-3,27")),
    ),
    case(
        "fewer trials than successes",
        "data.csv --response y --trials n",
        data!("y,n,age\n2,5,31\n6,5,42\n1,4,27\n3,4,35\n"),
    ),
    case(
        "a negative weight",
        "data.csv --response y --weights dose",
        data!(GOOD.replace("0.5", "-1")),
    ),
    case("text in a column of numbers", PLAIN, data!(GOOD.replace("0,27,", "0,27 years,"))),
    case("decimal commas", PLAIN, data!(GOOD.replace(',', ";").replace('.', ","))),
    case("missing values", PLAIN, data!(GOOD.replace("0,27,", "0,,").replace("3.0", "NA"))),
    case("NaN", PLAIN, data!(GOOD.replace("2.5", "NaN"))),
    case("an infinite value", PLAIN, data!(GOOD.replace("2.5", "inf"))),
    case("1e308", PLAIN, data!(GOOD.replace("2.5", "1e308"))),
    case(
        "a constant predictor",
        PLAIN,
        data!("y,age,site\n0,31,7\n1,42,7\n0,27,7\n1,35,7\n0,44,7\n1,29,7\n"),
    ),
    case(
        "an identifier among the predictors",
        PLAIN,
        data!("y,age,id\n0,31,ann\n1,42,bo\n0,27,cy\n1,35,dee\n0,44,eve\n1,29,flo\n"),
    ),
    case("collinear predictors, flat priors", FLAT, data!(COLLINEAR)),
    case("collinear predictors, proper priors", PLAIN, data!(COLLINEAR)),
    case("complete separation, flat priors", FLAT, data!(SEPARATED)),
    case("complete separation, proper priors", PLAIN, data!(SEPARATED)),
    case(
        "more coefficients than rows, flat priors",
        FLAT,
        data!("y,a,b,c\n0,1,2,5\n1,2,1,3\n0,4,4,1\n"),
    ),
    case("a negative prior scale", "data.csv --response y --prior-scale -1", data!(GOOD)),
    case("a prior scale that overflows", "data.csv --response y --prior-scale 1e309", data!(GOOD)),
    case("a prior mean of 1e308", "data.csv --response y --priors priors.toml", |place| {
        fs::write(place.join("data.csv"), GOOD).unwrap();
        fs::write(place.join("priors.toml"), "[dose]\nmean = 1e308\nscale = 1.0\n").unwrap();
    }),
    case(
        "an offset of 800",
        "data.csv --response y --family poisson --predictors age --offset dose",
        data!(GOOD.replace("2.5", "800")),
    ),
    case(
        "a step that is too long",
        "data.csv --response y --kernel third-order --eta 5",
        data!(GOOD),
    ),
    case(
        "a limit of draws beside their number",
        "data.csv --response y --draws 100 --max-draws 200",
        data!(GOOD),
    ),
    case(
        "a prior for an unknown coefficient",
        "data.csv --response y --priors priors.toml",
        |place| {
            fs::write(place.join("data.csv"), GOOD).unwrap();
            fs::write(place.join("priors.toml"), "[dose]\nscale = 1.0\n\n[agee]\nscale = 2.5\n")
                .unwrap();
        },
    ),
    case(
        "accelerated gradients with flat priors",
        "data.csv --response y --prior-scale inf --mode-search accelerated",
        data!(GOOD),
    ),
    case(
        "accelerated gradients without a bound of the curvature",
        "data.csv --response y --family poisson --mode-search accelerated",
        data!(GOOD),
    ),
    case("an unknown search for the mode", "data.csv --response y --mode-search sgd", data!(GOOD)),
    case("no chains", "data.csv --response y --chains 0", data!(GOOD)),
    case("10^18 chains", "data.csv --response y --chains 1000000000000000000", data!(GOOD)),
    case("10^18 draws", "data.csv --response y --draws 1000000000000000000", data!(GOOD)),
    case("an unknown family", "data.csv --response y --family binomial", data!(GOOD)),
    case("an invalid number", "data.csv --response y --draws many", data!(GOOD)),
    case("a misspelt option", "data.csv --respones y", data!(GOOD)),
    case("an output that exists: a run", PLAIN, |place| {
        fs::write(place.join("data.csv"), GOOD).unwrap();
        fs::create_dir(place.join("ridgewalk-run")).unwrap();
        fs::write(place.join("ridgewalk-run/config.toml"), "version = \"0.1.0\"\n").unwrap();
        fs::write(place.join("ridgewalk-run/summary.json"), "{}\n").unwrap();
    }),
    case("an output that exists: an interrupted run", PLAIN, |place| {
        fs::write(place.join("data.csv"), GOOD).unwrap();
        fs::create_dir(place.join("ridgewalk-run")).unwrap();
        fs::write(place.join("ridgewalk-run/config.toml"), "version = \"0.1.0\"\n").unwrap();
        fs::write(place.join("ridgewalk-run/checkpoint"), "").unwrap();
    }),
    case("an output that exists: something else", "data.csv --response y --out thesis", |place| {
        fs::write(place.join("data.csv"), GOOD).unwrap();
        fs::create_dir(place.join("thesis")).unwrap();
        fs::write(place.join("thesis/chapter1.tex"), "\\section{}\n").unwrap();
    }),
    case(
        "an output that cannot be written",
        "data.csv --response y --out data.csv/run",
        data!(GOOD),
    ),
    case("sparse rows: an empty file", "data.svm", |place| {
        fs::write(place.join("data.svm"), "").unwrap();
    }),
    case("sparse rows: an index that is too large", "data.svm", |place| {
        fs::write(place.join("data.svm"), "0 1:1\n1 4000000000:1\n").unwrap();
    }),
    case("sparse rows: an index of 0", "data.svm", |place| {
        fs::write(place.join("data.svm"), "0 0:1 2:1\n").unwrap();
    }),
    case("sparse rows: indices that do not rise", "data.svm", |place| {
        fs::write(place.join("data.svm"), "0 1:1\n1 3:1 2:1\n").unwrap();
    }),
    case("sparse rows: a missing value", "data.svm", |place| {
        fs::write(place.join("data.svm"), "0 1:1\n1 2:nan\n").unwrap();
    }),
    case("sparse rows: no label", "data.svm", |place| {
        fs::write(place.join("data.svm"), "0 1:1\n2:1 3:1\n").unwrap();
    }),
    case("sparse rows: a label that does not fit the family", "data.svm", |place| {
        fs::write(place.join("data.svm"), "1 1:1\n2 2:1\n1 3:1\n").unwrap();
    }),
    case(
        "a player against himself",
        "data.csv '1 ~ 0 + (1 | pair(winner, loser))'",
        data!("winner,loser\nann,bo\nbo,bo\n"),
    ),
    case("a name of 300 characters", PLAIN, data!(GOOD.replace("dose", &"d".repeat(300)))),
];

const COLLINEAR: &str = "y,age,dose,both\n0,31,1.5,34\n1,42,0.5,43\n0,27,2.5,32\n1,35,1.0,37\n0,44,2.0,48\n1,29,3.0,35\n1,51,1.2,53.4\n0,38,0.7,39.4\n";
const SEPARATED: &str =
    "y,age,dose\n0,31,1.5\n1,42,0.5\n0,27,2.5\n1,45,1.0\n0,34,2.0\n1,49,3.0\n1,51,1.2\n0,38,0.7\n";

/// A row of the table: exit code and message.
type Said = (i32, String);

/// Runs a case, checks the files that it leaves, and returns exit code and message.
fn run(case: &Case) -> Said {
    let place = tempfile::tempdir().unwrap();
    (case.make)(place.path());
    let before = tree(place.path());
    let output = Command::new(env!("CARGO_BIN_EXE_ridgewalk"))
        .arg("fit")
        .args(shlex::split(case.typed).unwrap())
        .current_dir(place.path())
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let what = case.what;
    assert!(!err.contains("panicked"), "{what}: {err}");
    let code = output.status.code().unwrap_or_else(|| panic!("{what}: killed"));
    if code == 0 {
        // The run succeeds: the notes are the message.
        assert!(place.path().join("ridgewalk-run/summary.json").is_file(), "{what}");
        // Long notes are broken into lines, of which all but the first are indented.
        let unbroken = out.replace("\n  ", " ");
        let notes: Vec<&str> = unbroken.lines().filter(|line| line.starts_with("note: ")).collect();
        return (code, if notes.is_empty() { "none: it works".into() } else { notes.join(" ") });
    }
    assert_eq!(out, "", "{what}");
    assert!(tree(place.path()) == before, "{what}: left {:?}", tree(place.path()).keys());
    // Progress may come before the message; nothing follows it.
    let (above, message) = err.split_once("error: ").unwrap_or_else(|| panic!("{what}: {err}"));
    assert!(above.is_empty() || above.ends_with('\n'), "{what}: {err}");
    // A formula and the marks below it need their lines: they are tested in the frame crate.
    let message = message.split("\n  y ~ ").next().unwrap_or_default();
    let message: Vec<&str> =
        message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let message = message.join(" ");
    let here = place.path().to_str().unwrap();
    assert!(!message.contains(here), "{what}: {message}");
    (code, message)
}

/// Every file and directory below a place, with its content.
fn tree(place: &Path) -> BTreeMap<String, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut left = vec![place.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(place).unwrap().display().to_string();
            let content = (!path.is_dir()).then(|| fs::read(&path).unwrap());
            if content.is_none() {
                left.push(path);
            }
            all.insert(name, content);
        }
    }
    all
}

/// A row of the table.
fn row(case: &Case, (code, message): &Said) -> String {
    let message = message.replace('|', "\\|").replace('<', "&lt;");
    let typed = case.typed.replace('|', "\\|");
    format!("| {}: `fit {typed}` | {code} | {message} |\n", case.what)
}

/// The expected exit codes, independent of the page: rewriting the page cannot hide that a bad
/// input is accepted.
fn promised(what: &str) -> i32 {
    match what {
        "a name of 300 characters"
        | "collinear predictors, proper priors"
        | "complete separation, proper priors" => 0,
        // An error of the disk, not of the user.
        "an output that cannot be written" => 1,
        _ => 2,
    }
}

#[test]
fn the_guide_shows_the_message_for_each_bad_input() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md");
    let text = fs::read_to_string(&page).unwrap();
    let (above, rest) = text.split_once(BEGIN).expect("the marker at the start of the table");
    let (table, below) = rest.split_once(END).expect("the marker at the end of the table");
    let said: Vec<Said> = CASES.iter().map(run).collect();
    for (case, (code, message)) in CASES.iter().zip(&said) {
        assert_eq!(*code, promised(case.what), "{}: {message}", case.what);
    }
    let mut fresh = String::from("| input | exit code | message |\n| --- | --- | --- |\n");
    for (case, said) in CASES.iter().zip(&said) {
        fresh.push_str(&row(case, said));
    }
    if std::env::var_os("RIDGEWALK_WRITE_DOCS").is_some() {
        fs::write(&page, format!("{above}{BEGIN}{fresh}{END}{below}")).unwrap();
        return;
    }
    let mut differ = String::new();
    for (line, need) in fresh.lines().zip(table.lines().chain(std::iter::repeat(""))) {
        if line != need {
            let _ = writeln!(differ, "the page:    {need}\nthe program: {line}");
        }
    }
    assert!(
        table == fresh,
        "docs/guide.md and the program differ; RIDGEWALK_WRITE_DOCS=1 rewrites the page\n{differ}"
    );
}
