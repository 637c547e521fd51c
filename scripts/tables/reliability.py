"""Faults, hostile and bent input, calibration."""
from .forms import ROOT, number, read, table


def faults():
    """The rows as they are, and their sum."""
    rows = [list(row.values()) for row in read("faults")]
    sums = [str(sum(int(row[k]) for row in rows)) for k in range(1, 6)]
    head = ["fault", "injected", "draws kept", "draws compared", "lost", "twice"]
    return table(head, [*rows, ["all", *sums]])


def calibration():
    """For each sampler and model the smallest probability of all tests; those that fail stand out."""
    rows = {}
    for row in read("calibration"):
        least = min((float(row[f"{test}_p"]), row["quantity"]) for test in ("chi_square", "ecdf"))
        found = rows.setdefault(row["sampler"], {}).setdefault(row["model"], [])
        found.append((*least, float(row["level"])))
    models = list(next(iter(rows.values())))
    lines = []
    for sampler, found in rows.items():
        least = {model: min(found[model]) for model in models}
        cells = [f"**{p:.0e}**" if p < level else f"{p:.2g}" for p, _, level in (least[model] for model in models)]
        p, quantity, level = least["all"]
        verdict = f"**fails**: {quantity}" if any(q < limit for q, _, limit in least.values()) else "passes"
        lines.append([sampler, *cells, verdict])
    return table(["sampler", *models, "verdict"], lines)


def power():
    """How often an error is found, by a model alone and by all together."""
    rows = {}
    for row in read("calibration-power"):
        rows.setdefault(row["error_percent"], []).append(f'{100 * float(row["found"]):.0f} %')
    sizes = list(dict.fromkeys(row["replications"] for row in read("calibration-power")))
    return table(["every sd off by", *(f"found, {size} replications" for size in sizes)], [[f"{error} %", *found] for error, found in rows.items()])


def fuzz():
    rows = []
    for row in read("fuzz"):
        rows.append([FUZZED[row["target"]], f'{int(row["runs"]):,}', number(row["seconds"], "{:.0f}"), number(row["slowest_ms"], "{:.0f}"), number(row["peak_mib"], "{:.0f}"), row["crashes"]])
    total = sum(int(row["runs"]) for row in read("fuzz"))
    rows.append(["all", f"{total:,}", number(sum(float(row["seconds"]) for row in read("fuzz")), "{:.0f}"), "", "", str(sum(int(row["crashes"]) for row in read("fuzz")))])
    return table(["reader", "inputs", "seconds", "slowest, ms", "peak MiB", "crashes"], rows)


FUZZED = {
    "csv": "data files (CSV), and a question put to each",
    "names": "lists of names on the command line",
    "priors": "files of priors (TOML)",
    "config": "`config.toml`",
    "options": "options of `fit`",
    "checkpoint": "checkpoints",
    "saved": "saved chains, runs and warm-ups, restored and gone on with",
    "store": "stores of draws (Zarr)",
    "summary": "`summary.json`, and the report made from it",
    "parameters": "γ, ξ, η, L: coefficients and exact laws of every kernel",
    "parquet": "data files (Parquet)",
}


def hostile():
    rows = []
    for row in read("hostile"):
        message = row["message"] or "ended by the signal, as it should"
        if len(message) > 150:
            message = message[:150].rsplit(" ", 1)[0] + " ..."
        rows.append([row["input"], row["exit_code"], number(row["seconds"], "{:.1f}"), row["peak_mib"], message.replace("|", "\\|")])
    return table(["input", "exit code", "seconds", "peak MiB", "message"], rows)


def promises():
    """What was tried and what came out, beside what others promise for the same event."""
    faults, hostile, fuzzed = read("faults"), read("hostile"), read("fuzz")

    def injected(*starts):
        rows = [row for row in faults if row["fault"].startswith(starts)]
        lost = sum(int(row["lost"]) + int(row["twice"]) for row in rows)
        return f'{sum(int(row["injected"]) for row in rows)} faults', f"lost or doubled draws: {lost}"

    inputs = sum(int(row["runs"]) for row in fuzzed)
    crashes = sum(int(row["crashes"]) for row in fuzzed)
    refused = sum(row["exit_code"] in ("1", "2") for row in hostile)
    most = max(int(row["peak_mib"]) for row in hostile)
    none = "none known to us"
    faulty = "`scripts/faults/resume`"
    rows = [
        ["kill -9 at a random moment", *injected("kill -9"), "no resume", none, "resume was an open pull request", faulty],
        ["Ctrl-C, SIGTERM", *injected("Ctrl-C", "SIGTERM"), none, "nutpie, built on it, pads with NaN", "keeps and trims", faulty],
        ["a full disk", *injected("full disk", "a file that"), "none; a run went on into nothing (cmdstan #714)", "no fsync in its writers", none, faulty],
        ["bent input", f"{inputs:,} inputs", f"panics, hangs, memory beyond the bound: {crashes}", none, none, none, "`scripts/faults/fuzz`"],
        ["input that means harm", f"{len(hostile)} files and options", f"refused: {refused}, ended by its signal: {len(hostile) - refused}, with at most {most} MiB", none, none, none, "`scripts/faults/hostile PROGRAM`"],
    ]
    if (ROOT / "docs/results/calibration.csv").exists():
        found, fails = {}, set()
        for row in read("calibration"):
            if row["model"] != "all":
                found[row["sampler"], row["model"]] = int(row["replications"])
            if min(float(row["chi_square_p"]), float(row["ecdf_p"])) < float(row["level"]):
                fails.add(row["sampler"])
        samplers = list(dict.fromkeys(sampler for sampler, _ in found))
        right = [sampler for sampler in samplers if sampler.startswith(("right", "default"))]
        count = sum(number for (sampler, _), number in found.items() if sampler in right)
        planted = [sampler for sampler in samplers if sampler not in right]
        out = f"tests failed: {sum(name in fails for name in right)}; planted errors found: {sum(name in fails for name in planted)} of {len(planted)}"
        none_found = "no such test in its sources"
        rows.append(["is the posterior the posterior?", f"{count:,} replications", out, none_found, none_found, none_found, "`cargo run --release -p ridgewalk-benches --bin calibrate`"])
    return table(["event", "tried", "came out", "Stan", "nuts-rs", "PyMC", "again with"], rows)


def sees():
    """The smallest error that more than half of the largest calibrations find, and how large these are."""
    rows = read("calibration-power")
    most = max(int(row["replications"]) for row in rows)
    errors = [row["error_percent"] for row in rows if int(row["replications"]) == most and float(row["found"]) > 0.5]
    return f"{most:,} replications can see, which is about {min(errors, key=float)} %"


def calibrated():
    """How many tests one sampler is put to, and at which level each."""
    rows = [row for row in read("calibration") if row["sampler"] == "right"]
    return 2 * len(rows), {float(row["level"]) for row in rows}.pop()


def crates(build, column="crates"):
    return next(row[column] for row in read("dependencies") if row["build"] == build)


TABLES = {
    "faults": ("reliability.md", faults),
    "fuzz": ("reliability.md", fuzz),
    "hostile": ("reliability.md", hostile),
    "promises": ("reliability.md", promises),
    "calibration": ("reliability.md", calibration),
    "power": ("reliability.md", power),
}

VALUES = {
    "calibration-tests": lambda: str(calibrated()[0]),
    "calibration-level": lambda: f"{calibrated()[1]:.1e}".replace("e-0", "e-"),
    "crates": lambda: crates("default"),
    "crates-ours": lambda: crates("default", "ours"),
    "crates-parquet": lambda: crates("parquet"),
    "calibration-sees": sees,
    "hostile-least": lambda: str(min(int(row["peak_mib"]) for row in read("hostile"))),
}
