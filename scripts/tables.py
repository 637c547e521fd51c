#!/usr/bin/env python3
"""Renders files of docs/results as tables of docs/sampler.md, benchmarks.md, reliability.md, experiments.md and distributed.md, and of
README.md, between markers. Usage:
scripts/tables.py [--check] [NAME ...]

With --check nothing is written, and the exit code is 1 if a table is not what its file says.
"""
import csv
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RIVALS = ("BAOAB", "UBU", "KLMC", "ULA", "randomized midpoint")


def read(name):
    with (ROOT / "docs" / "results" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(text, form="{:.3f}", factor=1.0):
    return form.format(factor * float(text)) if text else ""


def span(row, name, form="{:.2f}"):
    """The median, with the smallest and the largest in brackets."""
    middle, low, high = (number(row[name + end], form) for end in ("", "_low", "_high"))
    return f"{middle} ({low} to {high})" if middle else ""


def compared():
    """Rows of compare.csv that were run, target by target."""
    targets = {}
    for row in read("compare"):
        row["sampler"] = row["sampler"].replace(";", ",")
        targets.setdefault(row["target"], []).append(row)
    return targets


def efficiency():
    rows = []
    for row in sum(compared().values(), []):
        if not row["ess"] or not row["sampler"].startswith(("ridgewalk", "nuts-rs")):
            continue
        share = float(row["warm_up_gradients"]) / float(row["gradients"])
        rows.append(
            [
                row["target"],
                row["sampler"],
                number(row["ess_per_gradient"]),
                number(row["ess_per_gradient_with_warm_up"]),
                number(row["warm_up_gradients"], "{:.0f}"),
                f"{100 * share:.1f} %",
                number(row["mean_bias_sd"]),
                number(row["sd_bias_percent"], "{:.1f} %"),
                number(row["rhat"], "{:.4f}"),
            ]
        )
    head = ["target", "sampler", "E", "E, warm-up counted", "warm-up gradients", "of the run", "mean off, sd", "sd off", "R-hat"]
    return table(head, rows)


def ratio(text):
    """How many times better ours is; what we lose stands out."""
    if not text:
        return ""
    value = float(text)
    form = f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"**{form}**" if value < 1 else form


def both(row):
    return f'{ratio(row["ratio"])} ({ratio(row["ratio_with_warm_up"])})'


def goals():
    """Ours beside the defaults of nuts-rs, the best setting of any other package and the best rival kernel, by effective draws a second."""
    rows = []
    for target, samplers in compared().items():
        ours = next(row for row in samplers if row["sampler"] == "ridgewalk")
        usable = [row for row in samplers if row["within"] == "true" and row is not ours]
        usable.sort(key=lambda row: float(row["ratio"]))
        packages = [row for row in usable if row["sampler"].startswith(("nuts-rs", "mini-mcmc"))]
        kernels = [row for row in usable if row["sampler"].startswith(RIVALS)]
        usual = [both(row) for row in samplers if row["sampler"] == "nuts-rs diagonal" and row["ratio"]]
        rows.append(
            [
                target,
                number(ours["ess_per_second"], "{:.0f}") + f' ({number(ours["ess_per_second_with_warm_up"], "{:.0f}")})',
                "".join(usual),
                *(f'{both(best[0])}: {best[0]["sampler"].split(",")[0]}' if best else "" for best in (packages, kernels)),
            ]
        )
    head = ["target", "E a second", "over nuts-rs diagonal", "over the best of other packages", "over the best rival kernel"]
    return table(head, rows)


def headline():
    """The same in few columns, for who has not read what E is."""
    rows = []
    for target, samplers in compared().items():
        usable = [row for row in samplers if row["within"] == "true"]
        find = lambda name: next((row for row in usable if row["sampler"] == name), None)
        ours, exact, usual = find("ridgewalk"), find("ridgewalk adjusted"), find("nuts-rs diagonal")
        packages = [row for row in usable if row["sampler"].startswith(("nuts-rs", "mini-mcmc"))]
        rivals = [row for row in usable if row["sampler"].startswith(RIVALS)]
        speed = lambda row: float(row["ess_per_second_with_warm_up"]) if row else math.nan
        best = lambda some: max(some, key=speed) if some else None
        cell = lambda row, name=False: (f"{speed(row):,.0f}" + (f' ({row["sampler"].split(",")[0]})' if name else "")) if row else "beyond"
        rows.append([target, cell(ours), cell(exact), cell(usual), cell(best(packages), True), cell(best(rivals), True)])
    head = ["posterior", "`ridgewalk`", "`--kernel adjusted`", "nuts-rs, defaults", "best other package", "best rival kernel, tuned with hindsight"]
    return table(head, rows)


def compare():
    parts = []
    head = ["sampler", "chains x draws", "E a gradient", "warm-up counted", "E a second", "warm-up counted", "ours / this", "warm-up counted",
            "mean off, sd", "sd off", "bias", "R-hat", "peak MiB"]
    for target, samplers in compared().items():
        rows = []
        for row in samplers:
            size = f'{row["chains"]} x {row["draws"]}'
            if not row["ess"]:
                rows.append([row["sampler"], size, "not run" if "no parameters" in row["note"] else row["note"], *[""] * 10])
                continue
            rows.append(
                [
                    row["sampler"],
                    size,
                    number(row["ess_per_gradient"]),
                    number(row["ess_per_gradient_with_warm_up"]),
                    number(row["ess_per_second"], "{:.0f}"),
                    number(row["ess_per_second_with_warm_up"], "{:.0f}"),
                    ratio(row["ratio"]),
                    ratio(row["ratio_with_warm_up"]),
                    f'{number(row["mean_bias_sd"])} ± {number(row["mean_noise_sd"])}',
                    f'{number(row["sd_bias_percent"], "{:.1f}")} ± {number(row["sd_noise_percent"], "{:.1f}")} %',
                    "within" if row["within"] == "true" else "**beyond**",
                    number(row["rhat"], "{:.4f}"),
                    number(row["memory_mib"], "{:.0f}"),
                ]
            )
        seeds, loaded = samplers[0]["seeds"], number(samplers[0]["memory_loaded_mib"], "{:.0f}")
        ours = next((row["note"] for row in samplers if row["sampler"] == "ridgewalk"), "")
        parts.append(f"### {target}\n\nSeeds: {seeds}. The target alone takes {loaded} MiB. Ours, seed 1: {ours}.\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def rivals():
    rows = []
    for row in read("rivals"):
        found = row["tried"] != "none"
        rows.append(
            [
                row["target"],
                row["kernel"],
                row["coordinates"] if found else "none within the tolerance",
                *(number(row[name]) for name in ("gamma", "xi", "eta", "ess_per_gradient")),
                f'{number(row["mean_bias_sd"])} ± {number(row["mean_noise_sd"])}' if found else "",
                f'{number(row["sd_bias_percent"], "{:.1f}")} ± {number(row["sd_noise_percent"], "{:.1f}")} %' if found else "",
                row["tried"] if found else "",
            ]
        )
    head = ["target", "kernel", "coordinates", "γ", "ξ", "η", "E a gradient", "mean off, sd", "sd off", "tried"]
    return table(head, rows)


def bias():
    rows = []
    for row in read("bias"):
        step = f'{row["kernel"]}, {float(row["eta"]):.2f}' + (" (picked)" if row["automatic"] == "true" else "")
        rows.append(
            [
                row["target"],
                step,
                row["moment"],
                span(row, "reported", "{:.3f}"),
                span(row, "true", "{:.3f}") + f' ± {number(row["true_error"])}',
                number(row["measurable"], "{:.0f}"),
                span(row, "ratio"),
                number(row["coverage"], "{:.0f} %", 100),
                number(row["order"], "{:.1f}"),
                number(row["plain_rms"], "{:.4f}"),
                number(row["extrapolated_rms"], "{:.4f}"),
                number(row["noise_rms"], "{:.4f}"),
            ]
        )
    head = ["target", "kernel, η", "of", "reported", "true", "measurable", "ratio", "covered", "order", "plain", "extrapolated", "noise"]
    return table(head, rows)


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
    faulty = "`scripts/faults`"
    rows = [
        ["kill -9 at a random moment", *injected("kill -9"), "no resume", none, "resume was an open pull request", faulty],
        ["Ctrl-C, SIGTERM", *injected("Ctrl-C", "SIGTERM"), none, "nutpie, built on it, pads with NaN", "keeps and trims", faulty],
        ["a full disk", *injected("full disk", "a file that"), "none; a run went on into nothing (cmdstan #714)", "no fsync in its writers", none, faulty],
        ["bent input", f"{inputs:,} inputs", f"panics, hangs, memory beyond the bound: {crashes}", none, none, none, "`scripts/fuzz`"],
        ["input that means harm", f"{len(hostile)} files and options", f"refused: {refused}, ended by its signal: {len(hostile) - refused}, with at most {most} MiB", none, none, none, "`scripts/hostile PROGRAM`"],
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


def limits():
    rows = []
    for row in read("limits"):
        times = [number(row[f"{name}_us"], "{:.1f}") for name in ("step", "products", "reading", "normals", "slopes")]
        shape = f'{row["rows"]} x {row["columns"]}'
        shares = [number(row[name], "{:.2f}") for name in ("products_per_step", "limit_per_step")]
        rows.append([row["design"], shape, row["chains"], *times, *shares])
    head = ["design", "n x d", "chains", "step, µs", "products", "reading", "normals", "slopes", "products / step", "limit / step"]
    return table(head, rows)


def growth():
    series = {}
    for row in read("growth"):
        series.setdefault((row["design"], row["along"]), []).append(row)
    rows = []
    for (design, along), found in series.items():
        fixed = [f'{name} {found[0][key]}' for name, key in (("n", "rows"), ("d", "columns"), ("C", "chains")) if key != along]
        times = ", ".join(f'{row[along]}: {float(row["step_us"]):.0f}' for row in found)
        rows.append([design, along, ", ".join(fixed), times, number(found[0]["exponent"], "{:.2f}")])
    return table(["design", "along", "at", "µs a step", "exponent"], rows)


def steps():
    rows = [
        [row["what"], f'{row["rows"]} x {row["columns"]}', row["chains"], number(row["us"], "{:.1f}"), number(row["beside_us"], "{:.1f}"), row["ratio"]]
        for row in read("steps")
    ]
    return table(["what", "n x d", "chains", "µs", "beside it, µs", "ratio"], rows)


KERNELS = ("third-order", "symmetric", "averaged", "ula", "klmc", "ubu", "baoab", "randomized-midpoint")
# Exponents of d and of 1/accuracy in published guarantees of W2 <= accuracy.
PROVED = {"third-order": (1 / 4, 1 / 2), "ubu": (1 / 4, 1 / 2), "ula": (1, 2), "klmc": (1 / 2, 1), "randomized-midpoint": (1 / 3, 2 / 3)}
# With which power of the step the variance on Gaussians is off, by tests/laws.rs.
ORDERS = {"third-order": 3, "averaged": 2, "ula": 1, "klmc": 1, "ubu": 2, "randomized-midpoint": 3}


def slope(points):
    """Of the straight line nearest to the points (log x, log y)."""
    logs = [(math.log(float(x)), math.log(float(y))) for x, y in points]
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def exponent(value):
    return "" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def mixing():
    """Gradients along dimension, accuracy and condition number, every other row, and the fitted powers."""
    rows = read("mixing")
    first = rows[0]
    along = {"dimension": "d", "accuracy": "ε", "kappa": "κ"}
    parts = []
    for key, symbol in along.items():
        fixed = [other for other in along if other != key]
        chosen = [row for row in rows if all(row[other] == first[other] for other in fixed)]
        values = sorted({row[key] for row in chosen}, key=float, reverse=key == "accuracy")
        cells = {(row["kernel"], row[key]): row for row in chosen}
        lines = [[f"{symbol} = {float(value):.6g}" if key != "dimension" else f"d = {int(value):,}", *(cells[kernel, value]["gradients"] for kernel in KERNELS)] for value in values[::2]]
        sign = -1 if key == "accuracy" else 1
        of = lambda y: [exponent(sign * slope([(value, y(cells[kernel, value])) for value in values])) for kernel in KERNELS]
        power = {"dimension": "d", "accuracy": "1/ε", "kappa": "κ"}[key]
        lines.append([f"power of {power}", *of(lambda row: row["gradients"])])
        if key != "kappa":
            lines.append([f"power of {power} in 1/η", *of(lambda row: 1 / float(row["eta"]))])
            which = 0 if key == "dimension" else 1
            orders = [exponent((1 / 2 if which == 0 else 1) / ORDERS[kernel]) if kernel in ORDERS else "0" for kernel in KERNELS]
            lines.append(["that by the order of the bias", *orders])
            lines.append(["proved in general", *(exponent(PROVED[kernel][which]) if kernel in PROVED else "" for kernel in KERNELS)])
        parts.append(table(["gradients", *KERNELS], lines))
    return "\n\n".join(parts)


def coupling():
    """Gradients that couplings bound, and the powers of the distance between step sizes."""
    rows = read("coupling")
    dimensions = sorted({int(row["dimension"]) for row in rows})
    shortest = min(float(row["eta"]) for row in rows)
    find = {(row["kernel"], int(row["dimension"]), float(row["eta"])): row for row in rows}
    lines = []
    for d in dimensions:
        cells = [find[kernel, d, shortest] for kernel in KERNELS]
        lines.append([f"d = {d}", *(f'{float(row["gradients"]):.0f}' + ("*" if row["extrapolated"] == "true" else "") for row in cells)])
    powers = []
    for kernel in KERNELS:
        order = slope([(row["eta"], row["distance"]) for row in rows if row["kernel"] == kernel and int(row["dimension"]) == dimensions[-1]])
        growth = slope([(d, find[kernel, d, shortest]["distance"]) for d in dimensions])
        proved = PROVED.get(kernel, (None, None))
        powers.append([kernel, *map(exponent, (order, growth, growth / order, proved[0], 1 / order, proved[1]))])
    head = ["kernel", "D in η", "D in d", "gradients in d", "proved", "gradients in 1/ε", "proved"]
    return table(["gradients", *KERNELS], lines) + "\n\n" + table(head, powers)


def nodes():
    rows = read("nodes")
    etas = sorted({float(row["eta"]) for row in rows}, reverse=True)
    find = {(row["nodes"], float(row["eta"])): float(row["distance"]) for row in rows}
    kinds = list(dict.fromkeys(row["nodes"] for row in rows))
    digits = lambda value: f"{value:.2g}" if value > 1e-12 else "rounding"
    lines = [[kind, *(digits(find[kind, eta]) for eta in etas)] for kind in kinds]
    return table(["nodes", *(f"η = {eta:g}" for eta in etas)], lines)


def scaling():
    shown = ("1", "10000", "1000", "100000", "1000000", "64")
    rows = [
        [
            row["line"], f'{int(row["n"]):.0e}', row["d"], row["processes"], row["step_seconds"], row["strong_efficiency"],
            row["weak_efficiency"], row["half_at"], row["stops_at"],
        ]
        for row in read("mpi-scaling")
        if row["processes"] in shown
    ]
    head = ["between processes", "n", "d", "processes", "s a step", "strong", "weak", "half is lost at", "no faster beyond"]
    return table(head, rows)


def kills():
    """How many trials of each kind, and what they lost."""
    kinds = {}
    for row in read("mpi-kills"):
        kinds.setdefault((row["row_shards"], row["found"]), []).append(row)
    rows = [
        [shards, found, str(len(some)), " ".join(row["killed_rank"] for row in some), str(sum(row["identical"] != "yes" for row in some))]
        for (shards, found), some in sorted(kinds.items())
    ]
    return table(["row shards", "found", "trials", "killed processes", "draws that differ"], rows)


TABLES = {
    "mixing": ("experiments.md", mixing),
    "coupling": ("experiments.md", coupling),
    "nodes": ("experiments.md", nodes),
    "scaling": ("distributed.md", scaling),
    "kills": ("distributed.md", kills),
    "faults": ("reliability.md", faults),
    "fuzz": ("reliability.md", fuzz),
    "hostile": ("reliability.md", hostile),
    "promises": ("reliability.md", promises),
    "calibration": ("reliability.md", calibration),
    "power": ("reliability.md", power),
    "limits": ("benchmarks.md", limits),
    "growth": ("benchmarks.md", growth),
    "steps": ("benchmarks.md", steps),
    "efficiency": ("sampler.md", efficiency),
    "bias": ("sampler.md", bias),
    "headline": ("../README.md", headline),
    "goals": ("benchmarks.md", goals),
    "compare": ("benchmarks.md", compare),
    "rivals": ("benchmarks.md", rivals),
}


def main():
    names = [name for name in sys.argv[1:] if name != "--check"] or list(TABLES)
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        sys.exit(f"unknown table {unknown[0]!r}: need one of {', '.join(TABLES)}")
    wrong = False
    for name in names:
        file, make = TABLES[name]
        page = ROOT / "docs" / file
        old = page.read_text()
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = old.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"{file}: no markers for the table `{name}`")
        new = before + begin + make() + "\n" + end + after
        if new != old and "--check" in sys.argv[1:]:
            print(f"{file}: the table `{name}` is not what its file says; scripts/tables.py {name} writes it")
        wrong |= new != old
        if "--check" not in sys.argv[1:]:
            page.write_text(new)
    if "--check" in sys.argv[1:]:
        sys.exit(int(wrong))


if __name__ == "__main__":
    main()
