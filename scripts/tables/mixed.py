"""Mixed models: speed next to rstanarm, and growth with rows and levels."""
from .forms import digits, number, read, table

MODELS = {
    "cbpp": "cbpp: binomial, 15 herds",
    "sleepstudy": "sleepstudy: gaussian, 18 intercepts",
    "slopes": "sleepstudy: 18 intercepts and slopes, correlated",
    "radon": "radon: gaussian, 85 counties",
    "VerbAgg": "VerbAgg: logistic, 316 persons and 24 items, crossed",
    "eight-schools": "Eight Schools: gaussian, known variances",
}


def peers():
    """Effective draws per second, here and by rstanarm."""
    lines = []
    for row in read("mixed-peers"):
        theirs = [digits(float(row[key])) if row[key] else "" for key in (
            "rstanarm_seconds", "rstanarm_e_per_second")]
        ours = [digits(float(row["seconds"])), number(row["e"], "{:,.0f}")]
        rate = number(row["e_per_second"], "{:,.0f}")
        ratio = number(row["ratio"], "{:,.0f}") if row["ratio"] else ""
        lines.append([MODELS[row["model"]], *ours, rate, f'`{row["slowest"]}`', *theirs, ratio])
    head = ["model", "seconds", "E", "E per second", "slowest", "rstanarm: seconds of sampling",
            "rstanarm: E per second", "ratio"]
    return table(head, lines)


def size():
    """Time and memory by rows and levels."""
    lines = []
    for row in read("mixed-size"):
        counts = [number(row[key], "{:,.0f}") for key in ("rows", "levels_a", "levels_b")]
        rest = [digits(float(row["seconds"])), number(row["peak_mib"], "{:,.0f}")]
        rest += [number(row[key], "{:,.0f}") for key in ("ess_sd_a", "ess_sd_b")]
        lines.append([*counts, *rest])
    head = ["rows", "levels of a", "of b", "processor seconds", "peak MiB", "ESS of sd a", "of sd b"]
    return table(head, lines)


TABLES = {"mixed-peers": ("mixed.md", peers), "mixed-size": ("mixed.md", size)}
