"""The Python package next to bambi: speed, memory, lines of code, and whether the results agree."""
from .forms import between, digits, listed, number, read, table

ANALYSES = {
    "wells": "logistic, with an interaction",
    "visits": "negative-binomial, with an offset",
    "wages": "gaussian, with a factor",
    "prices": "student-t",
    "pain": "ordinal",
    "costs": "gamma",
}


def peer(row):
    return f'{row["package"]}, {row["method"]}' if row["method"] else row["package"]


def speed():
    """Seconds of a first run and of a second one, which finds compiled code."""
    lines = []
    for row in read("python-peers"):
        runs = [
            " / ".join(digits(float(row[f"{what}_{turn}"])) for turn in ("first", "again"))
            for what in ("seconds", "fit_seconds", "ess_per_second", "ess_per_fit_second")
        ]
        name = row["analysis"]
        ess, peak = number(row["ess"], "{:,.0f}"), number(row["peak_mib"], "{:,.0f}")
        lines.append([f"`{name}`: {ANALYSES[name]}", peer(row), row["lines"], *runs[:2], ess])
        lines[-1] += [*runs[2:], peak]
    head = [
        "analysis", "package", "lines", "seconds", "seconds, fit alone", "E", "E per second",
        "E per second, fit alone", "peak MiB",
    ]
    return table(head, lines)


def agreement():
    """Differences from ridgewalk's results, the largest over all parameters of an analysis."""
    lines = []
    for row in read("python-peers"):
        if row["package"] == "ridgewalk":
            continue
        ratios = between([float(row[f"sd_ratio_{end}"]) for end in ("low", "high")])
        differences = [row["mean_difference_mcse"], row["sd_difference_mcse"]]
        differences = [number(one, "{:.1f}") for one in differences]
        lines.append([f'`{row["analysis"]}`', row["parameters"], peer(row), *differences, ratios])
    head = [
        "analysis", "parameters", "compared with", "means, MCSE", "standard deviations, MCSE",
        "ratio of standard deviations",
    ]
    return table(head, lines)


def densities():
    """Densities of 50 dimensions, by any gradient."""
    lines = []
    for row in read("python-sample"):
        who = f'{row["sampler"]}, {row["method"]}'
        if not row["ess"]:
            lines.append([row["target"], who, digits(float(row["seconds"])), "refused", *[""] * 6])
            continue
        numbers = [digits(float(row[key])) for key in ("seconds", "seconds_compiled")]
        rates = [number(row[key], "{:,.0f}") for key in ("ess", "ess_per_second", "ess_per_second_compiled")]
        errors = [number(row[key], "{:.1f}") for key in ("mean_z", "sd_z")]
        lines.append([row["target"], who, *numbers, *rates, number(row["gradients"], "{:,.0f}"), *errors])
    head = [
        "density", "sampler", "seconds", "seconds, compiled", "E", "E per second",
        "E per second, compiled", "gradients", "means, errors", "sds, errors",
    ]
    return table(head, lines)


def versions():
    found = [one for row in read("python-peers") for one in row["versions"].split(", ")]
    return f"Versions: {listed(list(dict.fromkeys(found)))}."


TABLES = {
    "python-sample": ("python.md", densities),
    "python-peers": ("python.md", speed),
    "python-agreement": ("python.md", agreement),
    "python-versions": ("python.md", versions),
}
