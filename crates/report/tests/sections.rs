//! The sections of the report, from small documents: what is said for each family, and what the
//! checks of the model say.

use ridgewalk_fit::{
    CalibrationGroup, Checks, Densities, FamilyName, FrequencyCheck, LooCheck, Roc, Settings,
    StatisticCheck, SurvivalCheck, Text, fit,
};
use ridgewalk_frame::Table;
use ridgewalk_report::report;

use crate::made_up::*;
use crate::report::well_formed;

/// Checks of a model that fits, with every kind of plot.
fn checks() -> Checks {
    let statistic = |name: &str, observed: f64, range: [f64; 2], tail: f64| StatisticCheck {
        name: name.into(),
        observed,
        expected: 0.5 * (range[0] + range[1]),
        range,
        tail,
    };
    let group = |p: f64| CalibrationGroup {
        predicted: p,
        observed: p + 0.01,
        range: [p - 0.1, p + 0.1],
        trials: 20.0,
    };
    let x: Vec<f64> = (0..10).map(f64::from).collect();
    Checks {
        rows: [40, 100],
        prior: false,
        replicates: 7,
        densities: Some(Densities {
            logarithm: false,
            observed: x.clone(),
            replicated: vec![x.clone(); 50],
            x: x.clone(),
        }),
        frequencies: Some(FrequencyCheck {
            names: vec!["<none>".into(), "some".into()],
            observed: vec![3.0, 4.0],
            expected: vec![3.5, 3.5],
            ranges: vec![[1.0, 6.0]; 2],
        }),
        calibration: [0.2, 0.4, 0.6, 0.8].map(group).to_vec(),
        roc: None,
        survival: Some(SurvivalCheck {
            times: vec![1.0, 2.0],
            observed: vec![0.8, 0.5],
            expected: vec![0.8, 0.5],
            ranges: vec![[0.7, 0.9], [0.4, 0.6]],
        }),
        statistics: vec![
            statistic("mean", 1.0, [0.5, 1.5], 0.5),
            statistic("share of zeros", 0.15, [0.12, 0.18], 0.4),
        ],
        residuals: (0..40).map(|i| [f64::from(i), f64::from(i % 5) / 2.0 - 1.0]).collect(),
        pit: vec![2; 20],
        loo: Some(LooCheck {
            elpd: -20.0,
            se: 1.0,
            p: 2.0,
            pareto_k: vec![0.1; 40],
            limit: 0.7,
            influential: Vec::new(),
        }),
        groups: Vec::new(),
    }
}

fn page_with(checks: &Checks) -> String {
    let draws = made_up(2, 200, 3);
    let page = report(&document(&draws, Text::default()), &draws, "", Some(checks)).unwrap();
    well_formed(&page);
    page
}

#[test]
fn a_model_that_fits_has_every_plot_and_no_complaint() {
    let page = page_with(&checks());
    assert!(page.contains("Nothing that was checked speaks against the model."));
    assert!(page.contains("40 of 100 rows, evenly spaced, were checked."));
    assert!(page.contains("No row decides the result on its own"));
    for heading in [
        "Distribution of the responses",
        "How often each value occurs",
        "Are predicted probabilities right?",
        "Share without an event",
        "Residuals",
        "Where responses lie in their predictions",
        "Influence of single rows",
    ] {
        assert!(page.contains(&format!("<h3>{heading}</h3>")), "{heading}");
    }
    assert!(page.contains("&lt;none&gt;") && !page.contains("<none>"));
    // Without checks there is no such section.
    let draws = made_up(2, 200, 3);
    let page = report(&document(&draws, Text::default()), &draws, "", None).unwrap();
    assert!(!page.contains("id=\"checks\""));
}

#[test]
fn what_the_model_does_not_reproduce_is_said_in_words() {
    let mut bad = checks();
    bad.statistics[1].observed = 0.35;
    bad.statistics[1].tail = 0.0;
    bad.statistics[0].observed = 9.0;
    bad.statistics[0].tail = 0.001;
    bad.calibration.iter_mut().for_each(|group| group.range = [0.9, 1.0]);
    bad.pit = vec![0; 20];
    bad.pit[0] = 40;
    bad.loo.as_mut().unwrap().pareto_k[3] = 0.9;
    bad.loo.as_mut().unwrap().influential = vec![("line <5>".into(), 0.9)];
    let page = page_with(&bad);
    for said in [
        "The data have more zeros (35 %) than the model produces (12 % to 18 %).",
        "The mean of the data, 9, is higher than the model produces (0.5 to 1.5).",
        "In 4 of 4 groups of rows the predicted probability is outside",
        "The responses are not spread over their predictions as they should be",
        "1 row has a strong influence on the fit, or fit badly: line &lt;5&gt;. Look at them.",
    ] {
        assert!(page.contains(said), "{said}");
    }
    assert!(!page.contains("speaks against the model"));
    // 0/1 responses have a mean alone: the others cannot differ.
    bad.roc = Some(Roc { points: vec![[0.0, 0.0], [0.2, 0.7], [1.0, 1.0]], area: 0.75 });
    let page = page_with(&bad);
    assert!(!page.contains("more zeros") && page.contains("in <b>75 %</b> of all cases"));
}

#[test]
fn checks_that_make_no_sense_are_drawn_as_far_as_possible() {
    let mut odd = checks();
    odd.densities = Some(Densities {
        x: vec![f64::NAN; 3],
        logarithm: true,
        observed: vec![f64::INFINITY],
        replicated: vec![vec![], vec![1.0]],
    });
    odd.frequencies = Some(FrequencyCheck {
        names: vec!["a".into()],
        observed: vec![],
        expected: vec![1.0; 5],
        ranges: vec![],
    });
    odd.calibration[0].predicted = f64::NAN;
    odd.survival = Some(SurvivalCheck {
        times: vec![0.0],
        observed: vec![],
        expected: vec![],
        ranges: vec![],
    });
    odd.statistics[0].tail = f64::NAN;
    odd.residuals = vec![[f64::NAN, 0.0], [f64::INFINITY, 1.0]];
    odd.pit = vec![];
    odd.loo.as_mut().unwrap().pareto_k = vec![f64::NAN; 4];
    let content = page_with(&odd);
    let content = content.split_once("<script>").unwrap().0;
    assert!(!content.contains("NaN"), "numbers that are none are dashes");
}

/// The page of a fit of made-up rows: y falls with `low`, rises with `high`, and `no` is noise.
fn page_of(formula: &str, family: FamilyName, change: impl Fn(&mut Settings)) -> String {
    let mut text = "y,n,count,time,event,size,level,low,high,no,site\n".to_owned();
    for i in 0_u32..160 {
        let [low, high, no] = [7, 11, 13].map(|k| f64::from((i * k) % 17) / 17.0);
        let noise = f64::from((i * 37) % 101) / 101.0;
        let s = 4.0 * (high - low);
        let y = u8::from(s + 3.0 * (noise - 0.5) > 0.0);
        let count = (1.0 + s + 3.0 * noise).exp().min(60.0).floor().max(0.0);
        let time = (0.4 * s + noise).exp();
        let level =
            ["small", "medium", "large"][usize::from(s + noise > -0.5) + usize::from(s > 1.0)];
        let site = ["east", "west"][usize::from(i % 3 == 0)];
        text.push_str(&format!(
            "{y},{},{count},{time},{},{},{level},{low},{high},{no},{site}\n",
            y + 2,
            u8::from(i % 5 > 0),
            s + noise
        ));
    }
    let table = Table::from_bytes("made.csv", text.as_bytes()).unwrap();
    let mut settings = Settings { draws: 300, chains: 4, ..Settings::of_formula(formula, family) };
    change(&mut settings);
    let fitted = fit(&table, &settings).unwrap();
    let config = fitted.config().to_toml().unwrap();
    let page =
        report(fitted.document(), fitted.draws(), &config, fitted.checks().unwrap().as_ref())
            .unwrap();
    well_formed(&page);
    page
}

/// What the page says about the clearest coefficient of each direction.
#[track_caller]
fn says(page: &str, all: &[&str]) {
    let found = page.split_once("id=\"found\"").unwrap().1.split_once("</div>").unwrap().0;
    for said in all {
        assert!(found.contains(said), "{said}\n{found}");
    }
}

#[test]
fn every_family_is_read_as_its_coefficients_are_meant() {
    use FamilyName::*;
    let cases: [(&str, FamilyName, [&str; 3]); 11] = [
        (
            "y ~ low + high + no",
            Logistic,
            [
                "<b>low</b>: higher values go with a lower probability of y = 1.",
                "<b>high</b>: higher values go with a higher probability of y = 1.",
                "One more unit multiplies the odds by",
            ],
        ),
        (
            "y | trials(n) ~ low + high",
            Logistic,
            ["with a lower share of y.", "with a higher share of y.", "multiplies the odds by"],
        ),
        (
            "y ~ low + high",
            Probit,
            [
                "with a lower probability of y = 1.",
                "with a higher probability of y = 1.",
                "On the scale of a normal curve, the coefficient is",
            ],
        ),
        (
            "count ~ low + high",
            NegativeBinomial,
            ["with a lower mean of count.", "with a higher mean of count.", "multiplies it by"],
        ),
        (
            "count ~ low + high + offset(log(n))",
            Poisson,
            [
                "with a lower rate of count.",
                "with a higher rate of count.",
                "multiplies the rate by",
            ],
        ),
        (
            "size ~ low + high",
            Gaussian,
            ["with lower size.", "with higher size.", "One more unit changes it by \u{2212}"],
        ),
        (
            "size ~ low + high",
            StudentT,
            ["with lower size.", "with higher size.", "One more unit changes it by"],
        ),
        (
            "time ~ low + high",
            Gamma,
            ["with a lower mean of time.", "with a higher mean of time.", "multiplies it by"],
        ),
        (
            "Surv(time, event) ~ low + high",
            Weibull,
            ["with shorter times (time).", "with longer times (time).", "multiplies times by"],
        ),
        (
            "level ~ low + high",
            Ordinal,
            [
                "<b>low</b>: higher values go with lower levels of level.",
                "<b>high</b>: higher values go with higher levels of level.",
                "multiplies the odds of higher levels by",
            ],
        ),
        (
            "level ~ low + high",
            Multinomial,
            [
                "<b>large:low</b>: higher values go with lower odds of large against small.",
                "<b>large:high</b>: higher values go with higher odds of large against small.",
                "multiplies these odds by",
            ],
        ),
    ];
    for (formula, family, need) in cases {
        let page = page_of(formula, family, |settings| {
            if family.has_levels() {
                settings.levels = Some(["small", "medium", "large"].map(str::to_owned).to_vec());
            }
        });
        says(&page, &need);
        assert!(page.contains("How does "), "{family}");
    }
}

#[test]
fn terms_that_belong_together_are_not_read_one_by_one() {
    let logistic = FamilyName::Logistic;
    let page = page_of("y ~ low * high + no", logistic, |_| {});
    says(&page, &["<b>low</b>, <b>high</b> and <b>low:high</b> describe", "ridgewalk effects"]);
    assert!(!page.contains("<b>low</b>: higher values"));
    let page = page_of("size ~ low + poly(high, 2)", FamilyName::Gaussian, |_| {});
    says(&page, &["<b>low</b>: higher values", "<b>poly(high, 2)[1]</b> and"]);
    let page = page_of("size ~ low + high + I(high^2)", FamilyName::Gaussian, |_| {});
    says(&page, &["<b>high</b> and <b>I(high^2)</b> describe"]);
    let page = page_of("size ~ C(site, sum) + high", FamilyName::Gaussian, |_| {});
    says(&page, &["describes interactions or curves"]);
    // Levels are compared with the base level; without an intercept they are no comparisons.
    let page = page_of("no ~ site + low", FamilyName::Gaussian, |_| {});
    says(&page, &["<b>site[west]</b>"]);
    let page = page_of("size ~ 0 + site + high", FamilyName::Gaussian, |_| {});
    assert!(!page.contains("<b>site[east]</b>") && !page.contains("<b>site[west]</b>"));
}

#[test]
fn scales_and_intervals_are_named() {
    let change = |settings: &mut Settings| {
        settings.standardize = true;
        settings.interval = 0.5;
    };
    let page = page_of("y ~ low + high", FamilyName::Logistic, change);
    says(&page, &["One more standard deviation multiplies the odds by", "(50 % interval"]);
    assert!(page.contains("the thin line 50 %") && page.contains(">25 %</th>"));
    assert!(
        page.contains("<th scope=\"col\" title=\"e to the power of the median\">odds ratio</th>")
    );
    // Priors are those of the standardized predictors, and the intercept is at their means anyway.
    assert!(page.contains("<h3>(Intercept)</h3><p class=\"small\">prior normal(0, 2.5)</p>"));
    // Back on the scale of the data, the prior of the intercept is still that at the means.
    let page = page_of("y ~ low + high", FamilyName::Logistic, |settings| {
        settings.standardize = true;
        settings.original_scale = true;
    });
    assert!(page.contains("<h3>(Intercept), at the means of the predictors</h3>"));
    says(&page, &["One more unit multiplies the odds by"]);
    // Means have no ratios, thresholds have no prior of their own.
    let page = page_of("size ~ low + high", FamilyName::Gaussian, |_| {});
    assert!(!page.contains("odds ratio") && page.contains("<h3>sigma</h3>"));
    let page = page_of("level ~ low + high", FamilyName::Ordinal, |_| {});
    assert!(!page.contains("<h3>large|medium</h3><p class=\"small\">prior"));
}

#[test]
fn the_guarantee_says_what_is_exact_measured_and_proved() {
    let page = page_of("y ~ low + high", FamilyName::Logistic, |_| {});
    assert!(page.contains("<dt>Exact</dt><dd>The method: each move is accepted or rejected"));
    assert!(page.contains("<dt>Measured</dt><dd>The draws are worth at least"));
    assert!(page.contains("<dt>Proved</dt><dd>Nothing about this run"));
    let page = page_of("size ~ low + high", FamilyName::Gaussian, |settings| {
        settings.bias_tolerance = Some(0.05);
        settings.noise_scale = Some(0.3);
    });
    assert!(page.contains("<dt>Exact</dt><dd>Nothing: without an accept step"));
    assert!(page.contains("<dt>Proved</dt><dd>Chains that share their random numbers"));
}

/// A response that depends on a curve and on one of so many groups.
fn grouped(levels: usize, formula: &str) -> (ridgewalk_fit::Fitted, Table) {
    let mut text = "y,x,g\n".to_owned();
    for row in 0..2 * levels {
        let (x, g) = ((row * 7 % 40) as f64, row % levels);
        let y = (x / 6.0).sin() + (g * g % 11) as f64 / 4.0 + (row * 13 % 17) as f64 / 20.0;
        text.push_str(&format!("{y},{x},<g{g}>\n"));
    }
    let table = Table::from_bytes("d.csv", text.as_bytes()).unwrap();
    let settings = Settings::of_formula(formula, FamilyName::Gaussian);
    let fitted = fit(&table, &Settings { chains: 2, draws: 60, ..settings }).unwrap();
    (fitted, table)
}

fn page_of_groups(fitted: &ridgewalk_fit::Fitted, table: &Table) -> String {
    let config = fitted.config().to_toml().unwrap();
    let checks = fitted.checks_with(table).unwrap();
    report(fitted.document(), fitted.draws(), &config, checks.as_ref()).unwrap()
}

#[test]
fn groups_have_a_section() {
    let (fitted, table) = grouped(20, "y ~ s(x, k = 6) + (1 + x | g)");
    let page = page_of_groups(&fitted, &table);
    well_formed(&page);
    for part in [
        "Groups and curves",
        "The 20 levels of <b>g</b> differ: the intercept with a standard deviation of",
        "of the variance that <b>x</b> leaves.",
        "The correlation of <b>(Intercept)</b> and <b>x</b> is",
        "the estimate from the rows of this level alone",
        "Table of 40 effects",
        "Wiggles about the straight line",
        "class=\"ring\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Effects have no cards.
    assert_eq!(page.matches("<article").count(), fitted.document().before_effects());
}

#[test]
fn many_levels_are_shown_in_part() {
    let (fitted, table) = grouped(600, "y ~ (1 | g)");
    let page = page_of_groups(&fitted, &table);
    well_formed(&page);
    assert!(
        page.contains("Of 600 levels these are the 20 highest, the 20 lowest, and 60 at equal")
    );
    // The 100 that are drawn, each with a name and two titles, and the 400 in the table.
    let named = page.matches("&lt;g").count();
    assert!(named < 1500, "{named}");
    assert!(page.contains("The first 400;"));
}
