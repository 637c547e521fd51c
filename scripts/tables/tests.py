"""What tests measure: docs/results/tests-*.csv, which they write where RIDGEWALK_WRITE_DOCS is set."""
from .forms import between, digits, listed, read, table


def measured(name, test):
    """The figures of one test, by case and figure."""
    rows = [row for row in read(f"tests-{name}") if row["test"].endswith(f"::{test}")]
    if not rows:
        raise LookupError(f"tests-{name}.csv has nothing of the test {test}")
    return {(row["case"], row["figure"]): float(row["value"]) for row in rows}


def of(name, test, figure):
    """The values of one figure in all cases of a test, by case."""
    return {case: value for (case, what), value in measured(name, test).items() if what == figure}


def mistakes(*cases):
    scores = of("sampler", "the_same_scores_catch_mistakes", "largest score")
    return listed([f"{scores[case]:.0f}" for case in cases])


ORDERS = {
    "order-third": "paths_of_algorithm_1_converge_like_the_square_of_the_step",
    "order-symmetric": "paths_of_the_symmetric_splitting_converge_too",
    "order-start": "the_test_sees_a_gradient_of_lower_order_and_a_wrong_path",
}


def order(test):
    return between(of("sampler", test, "order").values())


def averaged_order(case):
    return f'{of("sampler", "paths_of_the_averaged_kernel_are_a_shift_apart_and_beyond_it_like_the_square_of_the_step", "order")[case]:.2f}'


def twins():
    """Standard errors with twins over those without."""
    return between(measured("sampler", "twins_leave_the_differences_as_they_are_and_their_errors_honest_and_smaller").values())


def trajectories(kind, figure):
    """A figure in both tests of laws that stay as they are, of trajectories that are right, all accepted or charged for noise."""
    values = []
    for test in ("a_skewed_law_stays_as_it_is", "a_correlated_law_of_five_dimensions_stays_as_it_is"):
        found = of("sampler", test, figure)
        kinds = {
            "right": [case for case in found if case in ("Straight", "Rotating", "composed Right")],
            "all accepted": [case for case in found if "all accepted" in case or "AllAccepted" in case],
            "charged": [case for case in found if "ChargedForNoise" in case],
        }
        values += [found[case] for case in kinds[kind]]
    return values


def ranks(case, figure):
    return measured("sampler", "ranks_of_simulation_based_calibration_are_uniform")[case, figure]


LAWS = ("a_posterior_far_from_normal_has_its_law", "a_posterior_of_counts_has_its_law", "a_skewed_posterior_has_its_law", "a_posterior_whose_curvature_jumps_has_its_law")


def posteriors():
    """What was found of each posterior, by its name."""
    found = {}
    for test in LAWS:
        for (case, figure), value in measured("sampler", test).items():
            found.setdefault(case, {})[figure] = value
    return found


# Energy tests fail at this share of shuffles.
LEVEL = 1e-3


def distributions():
    rows = []
    for name, found in posteriors().items():
        count = lambda figure: f"{found[figure]:.0f}"
        planted = lambda figure, by: f"found by {by}" if found[figure] else "not found"
        energy = lambda figure, good, bad: good if found[figure] > LEVEL else bad
        rows.append(
            [
                name,
                *map(count, ("coordinates", "quantiles", "covariances", "beyond their limits")),
                energy("share of shuffles", "passes", "**fails**"),
                planted("covariance planted: covariances found", "covariances"),
                planted("tail cut: quantiles found", "quantiles"),
                energy("sds +20 %: share of shuffles", "not found", "found by the energy test"),
            ]
        )
    head = ["posterior", "coordinates", "quantiles", "covariances", "beyond their limits", "energy test"]
    planted = ["a covariance of 0.25 more", "tail cut at 1.8 sd", "all sds +20 %"]
    return table(head + [f"planted: {what}" for what in planted], rows)


def half_seen(seen):
    """The dimensions in which the energy test sees standard deviations that are 10 % off, or does not."""
    sizes = [found["coordinates"] for found in posteriors().values() if (found["sds +10 %: share of shuffles"] <= LEVEL) == seen]
    return between(sizes, "{:.0f}")


# A family by the program's name: as the page calls it, the largest curvature, the test, and when it
# has a certificate.
FAMILIES = {
    "logistic": ("`Logistic`, 0/1 and counts", "n/4", "with a proper prior"),
    "probit": ("`Probit`, 0/1 and counts", "n", "with a proper prior"),
    "poisson": ("`Poisson`, log link", "unbounded", "none: no global smoothness"),
    "gaussian": ("`Gaussian`, known scale σ", "1/σ²", "yes"),
    "logistic_noise": ("`LogisticNoise` (`robust-logistic`)", "1/(2σ²)", "with a proper prior"),
    "huber": ("`Huber` (`robust-huber`)", "1/σ²", "with a proper prior"),
}


def ulps():
    rows = []
    for family, (name, curvature, certificate) in FAMILIES.items():
        found = {figure: value for (_, figure), value in measured("potentials", f"{family}_is_good_to_a_few_ulps").items()}
        cells = []
        for what in ("mean slope", "slope", "value"):
            ways = ("one by one", "in a list", "in a list without fused multiply-add")
            cells.append(", ".join(f'{found[f"{what} {way}"]:.1f}' for way in ways))
        rows.append([name, curvature, *cells, certificate])
    return table(["family", "u″ at most", "worst error of the mean slope", "of the slope", "of the value", "existence of a certificate"], rows)


def looked_at(figure):
    """Segments or points, the same for all families."""
    return between([of("potentials", f"{family}_is_good_to_a_few_ulps", figure).popitem()[1] for family in FAMILIES], "{:,.0f}")


def spectrum(how, form):
    return between(of("potentials", "lanczos_bounds_a_spectrum_where_the_power_iteration_falls_short", how).values(), form)


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
    "ties, two values, quantiles beside a draw": ("ties", "ties_tenths", "two_values", "rounding_641", "ties_rounding"),
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
    missing = set(found).symmetric_difference(name for names in ARVIZ.values() for name in names)
    if missing:
        raise LookupError(f"cases that are in the file or in the table alone: {sorted(missing)}")
    cells = [[label, short(max(found[name] for name in names))] for label, names in ARVIZ.items()]
    cells = [[label, "same NaN" if label == "with a NaN" and worst == "0" else worst] for label, worst in cells]
    half = len(cells) // 2
    return table(["case", "worst", "case", "worst"], [[*cells[k], *cells[half + k]] for k in range(half)])


def small_spread(figure):
    return of("diagnostics", "chains_with_a_spread_of_1e_minus_9_keep_their_effective_size", figure)["near_unit_root"]


def beta_errors(sizes):
    errors = of("diagnostics", "the_incomplete_beta_function_is_the_integral", "largest error")
    return short(max(error for case, error in errors.items() if float(case.split()[-1]) in sizes))


def planted(case):
    """By how many per cent the planted errors make standard deviations too large."""
    found = measured("lyapunov", "planted_errors_of_two_per_cent_make_standard_deviations_too_large")
    return listed([f"{found[case, what]:.1f}" for what in ("p to p", "noise of p")])


def household():
    """The probability in the guide's example, and 90 % of its law."""
    found = measured("cli", "the_household_of_the_guide_switches_with_the_probability_of_the_page")
    mean, low, high = (f'{found["household", figure]:.2f}' for figure in ("mean", "5 %", "95 %"))
    return f"{mean}, with 90 % between {low} and {high},"


TABLES = {
    "distributions": ("reliability.md", distributions),
    "ulps": ("potentials.md", ulps),
    "arviz": ("diagnostics.md", arviz),
}

VALUES = {
    "household": household,
    "form-difference": lambda: short(max(measured("sampler", "every_step_has_the_matrix_and_the_noise_of_its_linear_form").values())),
    "law-scores": lambda: f'{measured("sampler", "chains_have_the_mean_and_covariance_of_the_exact_law_at_every_time")["all kernels", "scores"]:,.0f}',
    "law-mistakes": lambda: mistakes("SignOfMu32", "SmoothnessInSigma12", "UncorrelatedNoise"),
    "law-mistakes-averaged": lambda: mistakes("AlongP", "WithoutDenominator"),
    **{name: lambda test=test: order(test) for name, test in ORDERS.items()},
    "order-averaged": lambda: averaged_order("from one state"),
    "order-averaged-in-step": lambda: averaged_order("in step"),
    "twins": twins,
    "trajectories-accepted": lambda: between([100 * share for share in trajectories("right", "acceptance")], "{:.0f}", " %"),
    "trajectories-ks": lambda: f'{max(trajectories("right", "Kolmogorov-Smirnov")):.2f}',
    "trajectories-energy": lambda: f'{max(trajectories("right", "energy")):.2f}',
    "all-accepted": lambda: listed([digits(min(trajectories("all accepted", test))) for test in ("Kolmogorov-Smirnov", "energy")]),
    "charged-for-noise": lambda: listed([digits(min(trajectories("charged", test))) for test in ("Kolmogorov-Smirnov", "energy")]),
    "ranks-acceptance": lambda: f'{ranks("right", "acceptance"):.2f}',
    "ranks-right": lambda: f'{ranks("right", "chi-square of critical"):.2f}',
    "ranks-all-accepted": lambda: f'{ranks("all accepted", "chi-square of critical"):.1f}',
    "energy-sees": lambda: half_seen(True),
    "energy-does-not-see": lambda: half_seen(False),
    "ulp-segments": lambda: looked_at("segments"),
    "ulp-points": lambda: looked_at("points"),
    "spectrum-power": lambda: spectrum("power iteration", "{:.1f}"),
    "spectrum-lanczos": lambda: spectrum("Lanczos", "{:.1f}"),
    "spectrum-certain": lambda: spectrum("without chance", "{:.0f}"),
    "levels-arviz": lambda: short(of("diagnostics", "equal_to_arviz", "R-hat by ArviZ")["levels"]),
    "small-draws": lambda: f'{small_spread("draws"):.0f}',
    "small-ess": lambda: f'{small_spread("ess_sd"):.1f}',
    "normal-quantiles": lambda: short(of("diagnostics", "normal_quantiles_are_where_the_error_function_has_its_value", "largest error")["normal quantiles"]),
    "beta-errors": lambda: beta_errors((1e2, 1e3, 1e4, 1e5)),
    "beta-errors-large": lambda: beta_errors((1e7,)),
    "planted-averaged-short": lambda: planted("averaged at 0.3"),
    "planted-averaged": lambda: planted("averaged at 0.6"),
    "planted-symmetric": lambda: planted("symmetric at 1.86"),
}
