"""What tests measure: docs/results/tests-*.csv, written by the tests if RIDGEWALK_WRITE_DOCS is
set."""
from .forms import between, digits, read, table


def measured(name, test):
    """The figures of one test, by case and figure."""
    rows = [row for row in read(f"tests-{name}") if row["test"].endswith(f"::{test}")]
    if not rows:
        raise LookupError(f"tests-{name}.csv has nothing of the test {test}")
    return {(row["case"], row["figure"]): float(row["value"]) for row in rows}


def of(name, test, figure):
    """The values of one figure in all cases of a test, by case."""
    return {case: value for (case, what), value in measured(name, test).items() if what == figure}


# Planted mistakes of tests/laws.rs, as the page names them.
MISTAKES = {
    "SignOfMu32": "wrong sign of μ32",
    "SmoothnessInSigma12": "σ12 as misprinted in the paper",
    "UncorrelatedNoise": "uncorrelated noise",
    "AlongP": "averaged kernel, segment along p",
    "WithoutDenominator": "averaged kernel, q without its denominator",
}


def exact_laws():
    """Kernels compared with their exact laws, and the scores of planted mistakes."""
    form = measured("sampler", "every_step_has_the_matrix_and_the_noise_of_its_linear_form")
    test = "chains_have_the_mean_and_covariance_of_the_exact_law_at_every_time"
    law = {figure: value for (_, figure), value in measured("sampler", test).items()}
    scores = of("sampler", "the_same_scores_catch_mistakes", "largest score")
    rows = [
        ["matrix and noise of a step, largest difference", short(max(form.values()))],
        ["number of z-scores", f'{law["scores"]:,.0f}'],
        ["largest z-score", f'{law["largest"]:.1f}'],
        *(
            [f"largest z-score, planted: {MISTAKES[case]}", f"{score:.0f}"]
            for case, score in scores.items()
        ),
    ]
    return table(["what", "found"], rows)


# Cases of tests/strong_order.rs, as the page names them.
PATHS = {
    "paths_of_algorithm_1_converge_like_the_square_of_the_step": {
        "exact line integral": "`ThirdOrder`, exact line integral",
        "2 nodes": "`ThirdOrder`, 2 nodes",
        "3 nodes": "`ThirdOrder`, 3 nodes",
        "5 nodes": "`ThirdOrder`, 5 nodes",
    },
    "the_test_sees_a_gradient_of_lower_order_and_a_wrong_path": {
        "gradient at the start": "`ThirdOrder`, gradient at the start instead of the line integral",
    },
    "paths_of_the_symmetric_splitting_converge_too": {"symmetric": "`Symmetric`"},
    "paths_of_the_averaged_kernel_are_a_shift_apart_and_beyond_it_like_the_square_of_the_step": {
        "from one state": "`Averaged`, both step sizes from the same state",
        "in step": "`Averaged`, both θ at the same time of the path",
    },
}


def orders():
    rows = []
    for test, labels in PATHS.items():
        found = of("sampler", test, "order")
        rows += [[label, f"{found[case]:.2f}"] for case, label in labels.items()]
    return table(["kernel", "order in η"], rows)


def twins():
    """Standard errors with twins, relative to those without."""
    test = "twins_leave_the_differences_as_they_are_and_their_errors_honest_and_smaller"
    found = [
        of("sampler", test, f"standard errors of {what} of those without twins")
        for what in ("means", "variances")
    ]
    rows = [[kernel, *(f"{one[kernel]:.2f}" for one in found)] for kernel in found[0]]
    return table(["kernel", "of means", "of variances"], rows)


# Cases of tests/invariance.rs by what is done to the trajectories.
TRAJECTORIES = {
    "as they are": ("Straight", "Rotating", "composed Right"),
    "all accepted": ("Straight all accepted", "Rotating all accepted", "composed AllAccepted"),
    "charged for the step of (p, r)": ("composed ChargedForNoise",),
    "p not turned round": ("Straight not turned", "Rotating not turned", "composed NotTurned"),
}


def trajectories():
    """Statistics relative to their critical values: the largest of trajectories that are right,
    the smallest of those with a planted mistake."""
    tests = ("a_skewed_law_stays_as_it_is", "a_correlated_law_of_five_dimensions_stays_as_it_is")
    ranks = measured("sampler", "ranks_of_simulation_based_calibration_are_uniform")
    rows = []
    for kind, cases in TRAJECTORIES.items():
        def found(figure):
            every = [of("sampler", test, figure) for test in tests]
            return [one[case] for one in every for case in cases]

        right = kind == "as they are"
        accepted = between([100 * share for share in found("acceptance")], "{:.0f}", " %")
        accepted += f'; {100 * ranks["right", "acceptance"]:.0f} % for the ranks'
        pick, words = (max, "at most") if right else (min, "at least")
        statistics = ("Kolmogorov-Smirnov", "energy")
        cells = [f"{words} {digits(pick(found(test)))}" for test in statistics]
        rank = ranks.get(("right" if right else kind, "chi-square of critical"))
        cells.append("" if rank is None else digits(rank))
        rows.append([kind, accepted if right else "", *cells])
    head = ["trajectories", "accepted", "Kolmogorov-Smirnov", "energy", "ranks, χ²"]
    return table(head, rows)


LAWS = (
    "a_posterior_far_from_normal_has_its_law",
    "a_posterior_of_counts_has_its_law",
    "a_skewed_posterior_has_its_law",
    "a_posterior_whose_curvature_jumps_has_its_law",
)
# Energy tests fail at this share of shuffles.
LEVEL = 1e-3


def distributions():
    """How each posterior compares with its reference, and which planted errors are found."""
    posteriors = {}
    for test in LAWS:
        for (case, figure), value in measured("sampler", test).items():
            posteriors.setdefault(case, {})[figure] = value

    def row(name, found):
        def planted(figure, by):
            return f"found by {by}" if found[figure] else "not found"

        def energy(figure, good, bad):
            return good if found[figure] > LEVEL else bad

        counts = ("coordinates", "quantiles", "covariances", "beyond their limits")
        return [
            name,
            *(f"{found[figure]:.0f}" for figure in counts),
            energy("share of shuffles", "passes", "**fails**"),
            planted("covariance planted: covariances found", "covariances"),
            planted("tail cut: quantiles found", "quantiles"),
            *(
                energy(f"sds +{size} %: share of shuffles", "not found", "found by the energy test")
                for size in (10, 20)
            ),
        ]

    head = [
        "posterior", "coordinates", "quantiles", "covariances", "beyond their limits",
        "energy test", "planted: a covariance of 0.25 more", "planted: tail cut at 1.8 sd",
        "planted: all sds +10 %", "planted: all sds +20 %",
    ]
    return table(head, [row(name, found) for name, found in posteriors.items()])


# Kernels of the test of planted errors, as the page names them.
PLANTED = {
    "averaged at 0.3": "averaged, η = 0.3",
    "averaged at 0.6": "averaged, η = 0.6",
    "symmetric at 1.86": "symmetric, η = 1.86",
}


def planted():
    """By how many per cent the planted errors make standard deviations too large."""
    test = "planted_errors_of_two_per_cent_make_standard_deviations_too_large"
    found = measured("lyapunov", test)
    errors = ("p to p", "noise of p")
    rows = [
        [label, *(f"{found[case, error]:.1f} %" for error in errors)]
        for case, label in PLANTED.items()
    ]
    return table(["kernel", *(f"{error} +2 %" for error in errors)], rows)


# A family by its name in the test: its name on the page, its largest curvature, and when a
# certificate exists.
FAMILIES = {
    "logistic": ("`Logistic`, 0/1 and counts", "n/4", "with a proper prior"),
    "probit": ("`Probit`, 0/1 and counts", "n", "with a proper prior"),
    "poisson": ("`Poisson`, log link", "unbounded", "none: no global smoothness"),
    "gaussian": ("`Gaussian`, known scale σ", "1/σ²", "yes"),
    "logistic_noise": ("`LogisticNoise` (`robust-logistic`)", "1/(2σ²)", "with a proper prior"),
    "huber": ("`Huber` (`robust-huber`)", "1/σ²", "with a proper prior"),
    "negative_binomial": ("`NegativeBinomial`, known size r", "(y + r)/4", "with a proper prior"),
    "gamma": ("`Gamma`, known shape", "unbounded", "none: no global smoothness"),
    "weibull": ("`Survival`, Weibull, known shape k", "unbounded", "none: no global smoothness"),
    "log_logistic": ("`Survival`, log-logistic", "k²/2", "with a proper prior"),
    "log_normal": ("`Survival`, log-normal, without intervals", "k²", "with a proper prior"),
}
WAYS = ("one by one", "in a list", "in a list without fused multiply-add")


def ulps():
    rows, counts = [], {"segments": set(), "points": set()}
    for family, (name, curvature, certificate) in FAMILIES.items():
        test = measured("potentials", f"{family}_is_good_to_a_few_ulps")
        found = {figure: value for (_, figure), value in test.items()}
        for what, seen in counts.items():
            seen.add(found[what])
        cells = [
            ", ".join(f'{found[f"{what} {way}"]:.1f}' for way in WAYS)
            for what in ("mean slope", "slope", "value")
        ]
        rows.append([name, curvature, *cells, certificate])
    segments, points = (between(counts[what], "{:,.0f}") for what in counts)
    head = [
        "family", "u″ at most", f"mean slope, {segments} segments", f"slope, {points} points",
        f"value, {points} points", "certificate",
    ]
    return table(head, rows)


def spectrum():
    """Bounds of a largest eigenvalue of 100, over the matrices of the test."""
    test = "lanczos_bounds_a_spectrum_where_the_power_iteration_falls_short"
    rows = [
        [label, between(of("potentials", test, how).values(), form)]
        for label, how, form in (
            ("twenty power steps (no bound)", "power iteration", "{:.1f}"),
            ("Lanczos bound", "Lanczos", "{:.1f}"),
            ("best certain bound", "without chance", "{:.0f}"),
        )
    ]
    return table(["method", "found for 100"], rows)


# A row of the comparison with ArviZ, and its fixtures.
ARVIZ = {
    "good, 4 x 1000": ("good",),
    "one chain stuck elsewhere": ("stuck",),
    "anti-correlated, −0.7 and −0.99": ("anticorrelated", "alternating"),
    "constant": ("constant",),
    "one constant chain among others": ("one_constant",),
    "each chain constant elsewhere": ("levels",),
    "one chain": ("one_chain",),
    "odd lengths, 3 x 333 and 5 x 77": ("odd", "odd_five_chains"),
    "Cauchy, 4 x 500": ("cauchy",),
    "Student t with 2 degrees of freedom": ("student_2",),
    "with a NaN": ("nan",),
    "1 to 12 draws": tuple(f"short_{count}" for count in (1, 3, 4, 5, 6, 8, 9, 10, 11, 12)),
    "ties, two values, quantiles next to a draw": (
        "ties", "ties_tenths", "two_values", "rounding_641", "ties_rounding",
    ),
    "near unit root, 8 x 2000": ("near_unit_root",),
    "trend, different scales": ("trend", "scales"),
    "mean 1e5, sd 1": ("far_from_zero",),
}


def short(value):
    """One digit, as 4e-15."""
    if value == 0:
        return "0"
    digit, power = f"{value:.0e}".split("e")
    return f"{digit}e{int(power)}"


def arviz():
    found = of("diagnostics", "equal_to_arviz", "worst relative difference")
    named = {name for names in ARVIZ.values() for name in names}
    missing = set(found).symmetric_difference(named)
    if missing:
        raise LookupError(f"only in the file or only in the table: {sorted(missing)}")
    cells = []
    for label, names in ARVIZ.items():
        worst = short(max(found[name] for name in names))
        cells.append([label, "same NaN" if label == "with a NaN" and worst == "0" else worst])
    half = len(cells) // 2
    rows = [[*cells[k], *cells[half + k]] for k in range(half)]
    return table(["case", "worst", "case", "worst"], rows)


def arviz_differs():
    """Where ArviZ gives another number, and both numbers."""
    levels = of("diagnostics", "equal_to_arviz", "R-hat by ArviZ")["levels"]
    test = "chains_with_a_spread_of_1e_minus_9_keep_their_effective_size"
    draws, ess = (of("diagnostics", test, what)["near_unit_root"] for what in ("draws", "ess_sd"))
    rows = [
        ["each half stuck at its own value", "`rhat`", f"about {short(levels)}", "∞"],
        ["near unit root, scaled to sd 1e-9", "`ess_sd`", f"{draws:.0f}", f"{ess:.1f}"],
    ]
    return table(["case", "function", "ArviZ", "here"], rows)


PSIS = {
    "well behaved, k from 0.1 to 0.6": "well_behaved",
    "heavy tails, k from 0.3 to 1.1": "heavy",
    "relative efficiency 0.5, 1 and 1.7": "efficiency",
    "100 draws": "few_draws",
    "light tails, k below 0": "light",
    "constant, and a constant tail": "constant",
    "equal draws": "ties",
    "20 draws: no tail": "tail_of_four",
    "21 draws: a tail of five": "tail_of_five",
    "log likelihoods over a range of 1000 and more": "wide",
    "log likelihoods with an sd of 1e-3": "narrow",
    "log likelihoods near −2000": "far_from_zero",
}


def psis():
    """Worst differences of PSIS weights, and of LOO and WAIC, from loo and from ArviZ."""
    test = "weights_equal_loo_and_arviz"
    columns = [
        of("diagnostics", test, "worst difference from loo"),
        of("diagnostics", test, "worst difference from ArviZ"),
        of("diagnostics", "pointwise_and_totals_equal_loo", "worst difference from loo"),
    ]
    missing = set(columns[0]).symmetric_difference(PSIS.values())
    if missing:
        raise LookupError(f"only in the file or only in the table: {sorted(missing)}")
    rows = [[label, *(short(column[name]) for column in columns)] for label, name in PSIS.items()]
    head = ["case", "weights and k, from loo", "from ArviZ", "LOO and WAIC, from loo"]
    return table(head, rows)


def special():
    """Errors of the functions from statrs."""
    test = "normal_quantiles_are_where_the_error_function_has_its_value"
    normal = of("diagnostics", test, "largest error")["normal quantiles"]
    beta = of("diagnostics", "the_incomplete_beta_function_is_the_integral", "largest error")
    rows = [["normal quantiles", short(normal)]]
    rows += [[f"incomplete beta function, {case}", short(error)] for case, error in beta.items()]
    return table(["function", "largest error"], rows)


def household():
    """The probability in the guide's example, and 90 % of its law."""
    found = measured("cli", "the_household_of_the_guide_switches_with_the_probability_of_the_page")
    figures = ("mean", "5 %", "95 %")
    return table(list(figures), [[f'{found["household", figure]:.2f}' for figure in figures]])


TABLES = {
    "exact-laws": ("sampler.md", exact_laws),
    "orders": ("sampler.md", orders),
    "twins": ("sampler.md", twins),
    "trajectories": ("sampler.md", trajectories),
    "distributions": ("reliability.md", distributions),
    "planted": ("reliability.md", planted),
    "ulps": ("potentials.md", ulps),
    "spectrum": ("potentials.md", spectrum),
    "arviz": ("diagnostics.md", arviz),
    "arviz-differs": ("diagnostics.md", arviz_differs),
    "psis": ("diagnostics.md", psis),
    "special": ("diagnostics.md", special),
    "household": ("guide.md", household),
}
