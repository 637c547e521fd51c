"""Faults, malicious and mutated input, calibration, dependencies."""
from .forms import ROOT, number, read, table


def faults():
    """The rows as they are, and their sum."""
    rows = [list(row.values()) for row in read("faults")]
    sums = [str(sum(int(row[k]) for row in rows)) for k in range(1, 6)]
    head = ["fault", "injected", "draws kept", "draws compared", "lost", "twice"]
    return table(head, [*rows, ["all", *sums]])


def least(row):
    """The smaller p-value of the two tests of one quantity."""
    return min(float(row[f"{test}_p"]) for test in ("chi_square", "ecdf"))


def calibration():
    """The smallest p-value of all tests, by sampler and model; bold where a test fails."""
    rows, tests, levels = {}, {}, set()
    for row in read("calibration"):
        found = rows.setdefault(row["sampler"], {}).setdefault(row["model"], [])
        found.append((least(row), row["quantity"], float(row["level"])))
        tests[row["sampler"]] = tests.get(row["sampler"], 0) + 2
        levels.add(float(row["level"]))
    (count,), (level,) = set(tests.values()), levels
    models = list(next(iter(rows.values())))
    lines = []
    for sampler, found in rows.items():
        worst = {model: min(found[model]) for model in models}
        cells = [f"**{p:.0e}**" if p < level else f"{p:.2g}" for p, _, _ in worst.values()]
        fails = any(p < level for p, _, _ in worst.values())
        lines.append([sampler, *cells, f'**fails**: {worst["all"][1]}' if fails else "passes"])
    verdict = f"{count} tests at {level:.1e}".replace("e-0", "e-")
    return table(["sampler", *models, verdict], lines)


def power():
    """How often an error is found, by the number of replications."""
    rows = {}
    for row in read("calibration-power"):
        found = f'{100 * float(row["found"]):.0f} %'
        rows.setdefault(row["error_percent"], []).append(found)
    sizes = list(dict.fromkeys(row["replications"] for row in read("calibration-power")))
    head = ["every sd off by", *(f"found, {size} replications" for size in sizes)]
    return table(head, [[f"{error} %", *found] for error, found in rows.items()])


def fuzz():
    found = read("fuzz")
    rows = []
    for row in found:
        times = [number(row[name], "{:.0f}") for name in ("seconds", "slowest_ms", "peak_mib")]
        rows.append([FUZZED[row["target"]], f'{int(row["runs"]):,}', *times, row["crashes"]])
    inputs, crashes = (sum(int(row[name]) for row in found) for name in ("runs", "crashes"))
    seconds = sum(float(row["seconds"]) for row in found)
    rows.append(["all", f"{inputs:,}", f"{seconds:.0f}", "", "", str(crashes)])
    return table(["reader", "inputs", "seconds", "slowest, ms", "peak MiB", "crashes"], rows)


FUZZED = {
    "csv": "data files (CSV), with a question about each",
    "names": "lists of names on the command line",
    "formula": "formulas and conditions, framed and written again",
    "priors": "files of priors (TOML)",
    "config": "`config.toml`",
    "options": "options of `fit`",
    "checkpoint": "checkpoints",
    "saved": "saved chains, runs and warm-ups, restored and continued",
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
        seconds, message = number(row["seconds"], "{:.1f}"), message.replace("|", "\\|")
        rows.append([row["input"], row["exit_code"], seconds, row["peak_mib"], message])
    return table(["input", "exit code", "seconds", "peak MiB", "message"], rows)


NONE = "none known to us"


def promised_faults():
    found = read("faults")

    def injected(*starts):
        rows = [row for row in found if row["fault"].startswith(starts)]
        lost = sum(int(row["lost"]) + int(row["twice"]) for row in rows)
        count = sum(int(row["injected"]) for row in rows)
        return f"{count} faults", f"lost or doubled draws: {lost}"

    command = "`scripts/faults/resume`"
    return [
        [
            "kill -9 at a random moment", *injected("kill -9"), "no resume", NONE,
            "resume was an open pull request", command,
        ],
        [
            "Ctrl-C, SIGTERM", *injected("Ctrl-C", "SIGTERM"), NONE,
            "nutpie, built on it, pads with NaN", "keeps and trims", command,
        ],
        [
            "full disk", *injected("full disk", "a file that"),
            "none; a run continued without saving (cmdstan #714)", "no fsync in its writers",
            NONE, command,
        ],
    ]


def promised_inputs():
    hostile, fuzzed = read("hostile"), read("fuzz")
    inputs, crashes = (sum(int(row[name]) for row in fuzzed) for name in ("runs", "crashes"))
    refused = sum(row["exit_code"] in ("1", "2") for row in hostile)
    most = max(int(row["peak_mib"]) for row in hostile)
    ended = f"refused: {refused}, ended by its signal: {len(hostile) - refused}"
    return [
        [
            "mutated input", f"{inputs:,} inputs",
            f"panics, hangs, memory beyond the bound: {crashes}", NONE, NONE, NONE,
            "`scripts/faults/fuzz`",
        ],
        [
            "malicious input", f"{len(hostile)} files and options",
            f"{ended}, with at most {most} MiB", NONE, NONE, NONE, "`scripts/faults/hostile PROGRAM`",
        ],
    ]


def promised_calibration():
    found, fails = {}, set()
    for row in read("calibration"):
        if row["model"] != "all":
            found[row["sampler"], row["model"]] = int(row["replications"])
        if least(row) < float(row["level"]):
            fails.add(row["sampler"])
    samplers = list(dict.fromkeys(sampler for sampler, _ in found))
    right = [sampler for sampler in samplers if sampler.startswith(("right", "tolerance"))]
    planted = [sampler for sampler in samplers if sampler not in right]
    count = sum(number for (sampler, _), number in found.items() if sampler in right)
    failed, caught = (sum(name in fails for name in names) for names in (right, planted))
    none = "no such test in its sources"
    return [
        [
            "draws of another law than the posterior", f"{count:,} replications",
            f"tests failed: {failed}; planted errors found: {caught} of {len(planted)}",
            none, none, none, "`cargo run --release -p ridgewalk-benches --bin calibrate`",
        ]
    ]


def promises():
    """What was tried and what came of it, and what others promise for the same event."""
    rows = promised_faults() + promised_inputs()
    if (ROOT / "docs/results/calibration.csv").exists():
        rows += promised_calibration()
    return table(["event", "tried", "result", "Stan", "nuts-rs", "PyMC", "command"], rows)


TORTURED = {
    "torture-old-default": "before: default tolerance of 0.05",
    "torture-old-adjusted": "before: `--bias-tolerance 0`",
    "torture": "now: defaults",
}
CLASSES = ("right", "false_alarm", "off_with_warning", "silently_wrong", "refused")


def torture():
    """Totals over cases and seeds, by sampler. Samplers without a file are left out."""
    lines = []
    for name, label in TORTURED.items():
        if not (ROOT / "docs/results" / f"{name}.csv").exists():
            continue
        rows = read(name)
        sums = [sum(int(row[part]) for row in rows) for part in ("seeds", *CLASSES)]
        silent = max(float(row["largest_silent_deviation"]) for row in rows)
        gradients = sum(int(row["gradients"]) for row in rows) / len(rows)
        longest = max(int(row["longest_repeat"]) for row in rows)
        cells = [f"{len(rows)}", *(f"{value:,}" for value in sums)]
        lines.append([label, *cells, f"{silent:.2g}", f"{gradients:,.0f}", f"{longest:,}"])
    head = [
        "sampler", "cases", "runs", "right", "right, but warned", "off, and warned",
        "**silently wrong**", "refused", "largest deviation without a warning", "gradients",
        "longest repeat",
    ]
    return table(head, lines)


def dependencies():
    rows = [[row["build"], row["crates"], row["ours"]] for row in read("dependencies")]
    return table(["build", "crates", "of them our own"], rows)


TABLES = {
    "faults": ("reliability.md", faults),
    "fuzz": ("reliability.md", fuzz),
    "hostile": ("reliability.md", hostile),
    "promises": ("reliability.md", promises),
    "calibration": ("reliability.md", calibration),
    "power": ("reliability.md", power),
    "torture": ("reliability.md", torture),
    "dependencies": ("reliability.md", dependencies),
}
