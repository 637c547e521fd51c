//! The report, from synthetic draws.

use std::fs;

use ridgewalk_fit::{
    BiasDetails, DrawReader, Error, Fact, TakeColumns, TakePoint, Text, WarningEntry,
};
use ridgewalk_report::{report, write_report};
use ridgewalk_sampler::Draws;
use ridgewalk_store::{RunDirectory, StoredDraws, read_draws, write_atomically, write_summary};

use crate::made_up::*;

/// Checks that tags are balanced, every attribute is quoted, and every link goes to an element of
/// the page.
pub(crate) fn well_formed(page: &str) {
    let page = page.split_once("<html").unwrap().1;
    // Style sheets and scripts are not HTML.
    let mut body = format!("<html{page}");
    for raw in ["style", "script"] {
        let (before, rest) = body.split_once(&format!("<{raw}>")).unwrap();
        let (_, after) = rest.split_once(&format!("</{raw}>")).unwrap();
        body = format!("{before}{after}");
    }
    let mut open: Vec<&str> = Vec::new();
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("every tag ends");
        assert!(!text.contains('>'), "a bare > in {text:.60}");
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag:.80}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{piece:.80}");
        } else if !tag.ends_with('/') {
            let name = tag.split([' ', '\n']).next().unwrap();
            if !["meta", "!doctype"].contains(&name) {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for link in body.split("href=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0) {
        let id = link.strip_prefix('#').unwrap_or_else(|| panic!("a link out of the page: {link}"));
        assert!(body.contains(&format!("id=\"{id}\"")), "a link to nowhere: {link}");
    }
}

#[test]
fn a_report_is_whole_needs_no_network_and_shows_names_as_they_are() {
    let draws = made_up(3, 400, 6);
    let hostile = "</pre><script>alert('x')</script>";
    let text = Text {
        title: hostile.to_owned(),
        command: hostile.to_owned(),
        warnings: vec![WarningEntry { name: hostile.to_owned(), text: hostile.to_owned() }],
        guarantee: hostile.to_owned(),
        notes: vec![hostile.to_owned()],
        history: vec![hostile.to_owned()],
        facts: vec![Fact { name: hostile.to_owned(), value: hostile.to_owned() }],
    };
    let mut summary = document(&draws, text);
    summary.sampler.bias_details = Some(BiasDetails {
        mean: 0.01,
        mean_error: 0.001,
        sd: 0.01,
        sd_error: f64::NAN,
        quantile: 0.021,
        quantile_error: 0.004,
        tolerance: 0.05,
    });
    summary.sampler.kernel = hostile.to_owned();
    summary.problem.family = hostile.to_owned();
    let page = report(&summary, &draws, hostile, None).unwrap();
    well_formed(&page);
    for outside in ["http", "//www", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert_eq!(page.matches("<script").count(), 1, "our own");
    assert!(!page.contains("alert('x')") && !page.contains("alert(\"x\")"));
    assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;"));
    assert!(page.contains(&"l".repeat(300)) && page.contains("größe 身長 🌡"));
    // Density and trace of each, effects, R-hat, effective sample sizes, and ten pairs.
    assert_eq!(page.matches("<svg").count(), 2 * 6 + 1 + 2 + 10);
    assert!(page.contains("data-plots=\"25\""));
    let content = page.split_once("<script>").unwrap().0;
    assert!(
        !content.contains("NaN") && !content.contains("inf"),
        "numbers that are none are dashes"
    );
}

/// Draws of an incomplete run.
struct Incomplete(Draws);

impl DrawReader for Incomplete {
    fn chains(&self) -> usize {
        self.0.chains()
    }

    fn draws(&self) -> usize {
        self.0.common()
    }

    fn made(&self) -> Vec<u64> {
        self.0.made()
    }

    fn incomplete(&self) -> bool {
        true
    }

    fn points(&self, take: TakePoint<'_>) -> Result<(), Error> {
        self.0.points(take)
    }

    fn columns(&self, take: TakeColumns<'_>) -> Result<(), Error> {
        self.0.columns(take)
    }
}

#[test]
fn draws_that_cannot_be_plotted_are_noted_in_the_report() {
    let names: Vec<String> = ["constant", "wild", "fine", "tiny"].map(str::to_owned).to_vec();
    let row = |i: u64| {
        [3.0, if i == 5 { 1e308 } else { -1e308 }, value(0, i, 0), 1e-300 * value(1, i, 0)]
    };
    let table: Vec<f64> = (0..50).flat_map(row).collect();
    let draws = Draws::from_chains(names.clone(), vec![table; 2]).unwrap();
    let summary = document(&draws, Text::default());
    let page = report(&summary, &Incomplete(draws), "", None).unwrap();
    well_formed(&page);
    assert!(page.contains("no density") && page.contains("before it had made all its draws"));
    // No draws at all.
    let none = Incomplete(Draws::from_chains(names, vec![Vec::new(); 2]).unwrap());
    let mut summary = summary;
    summary.parameters.iter_mut().for_each(|p| p.mean = f64::NAN);
    well_formed(&report(&summary, &none, "", None).unwrap());
    // Nothing to plot.
    summary.parameters.clear();
    well_formed(&report(&summary, &none, "", None).unwrap());
}

#[test]
fn a_large_report_stays_small_and_can_be_made_from_the_directory_again() {
    let place = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create(place.path().join("run")).unwrap();
    write_atomically(&directory.config(), b"seed = 0\n").unwrap();
    let (d, made) = (200, [1000; 8]);
    store(&directory.draws(), &made, d);
    let draws = read_draws(&directory.draws()).unwrap();
    let summary = document(&draws, Text::default());
    write_summary(&summary, &directory.summary()).unwrap();
    write_report(&directory).unwrap();
    let page = fs::read_to_string(directory.report()).unwrap();
    assert!(page.len() < 6_000_000, "{} bytes", page.len());
    assert_eq!(page, report(&summary, &draws, "seed = 0\n", None).unwrap());
    well_formed(&page);
}

#[test]
fn a_report_says_that_chains_have_different_numbers_of_draws() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("draws.zarr");
    store(&path, &[1500, 7, 1100], 2);
    let summary = document(&read_draws(&path).unwrap(), Text::default());
    let page = report(&summary, &StoredDraws::open(&path).unwrap(), "", None).unwrap();
    assert!(
        page.contains("The chains made 1500, 7, 1100 draws. This report uses the first 7 of each")
    );
}
