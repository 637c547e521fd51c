"""Measured speeds and memory: benches, steps and their limits, draws to the disk."""
import statistics

from .forms import between, digits, number, read, table

UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
SIZES = (
    ("coefficients/series", "γ = 1.32, ξ = 2.07, η = 0.05 (series branch)"),
    ("coefficients/closed", "η = 2 (closed branch)"),
    ("coefficients/tiny", "η = 1e-6 (series branch)"),
)


def bench(name):
    """Median nanoseconds, by group and case."""
    rows = read(f"bench-{name}")
    return {(row["group"], row["case"]): float(row["median_ns"]) for row in rows}


def cases(name):
    """Median nanoseconds, by case."""
    return {case: nanoseconds for (_, case), nanoseconds in bench(name).items()}


def time(*nanoseconds, least=2, by=", "):
    """Times in the unit of the largest of them."""
    longest = max(nanoseconds)
    unit, size = next((unit, size) for unit, size in UNITS if longest >= size or size == 1.0)
    return by.join(digits(one / size, least) for one in nanoseconds) + f" {unit}"


def coefficients():
    found = bench("coefficients")
    rows = []
    for group, label in SIZES:
        stable, printed = found[group, "stable"], found[group, "printed"]
        rows.append([label, time(stable), time(printed), f"{stable / printed:.1f}"])
    return table(["parameters", "stable forms", "printed formulas", "ratio"], rows)


def line_rule():
    found = cases("quadrature")
    nodes = sorted(int(case.removeprefix("new/")) for case in found if case.startswith("new/"))
    rules = time(*(found[f"new/{n}"] for n in nodes))
    rows = [
        [f"making a rule of {', '.join(map(str, nodes))} nodes", rules],
        ["integral of a 200-dimensional function, 4 nodes", time(found["integrate/4x200"])],
        ["the function's four values alone", time(found["values alone/4x200"])],
    ]
    return table(["what", "time"], rows)


def certificates():
    found = cases("certificates")

    def searches(what):
        start = f"{what}, best gamma and xi, kappa "
        return sorted(
            (int(case.removeprefix(start)), nanoseconds)
            for case, nanoseconds in found.items()
            if case.startswith(start)
        )

    rows = []
    labels = (("diffusion", "the diffusion"), ("algorithm", "Algorithm 1 at η = 0.5"))
    for what, label in labels:
        kappas, times = zip(*searches(what))
        label = f"best γ, ξ and S for {label}, κ = {', '.join(map(str, kappas))}"
        rows.append([label, time(*times)])
    checks = (found[f"check alone, {what}"] for what in ("diffusion", "algorithm", "symmetric"))
    label = "the exact check alone: diffusion, Algorithm 1, symmetric splitting"
    rows.append([label, time(*checks)])
    rows.append(["a plan, κ = 10", time(found["plan, kappa 10"])])
    return table(["what", "time"], rows)


def line_integrals():
    found = bench("potentials")
    rows = []
    start = "line integral, "
    for group in dict.fromkeys(group for group, _ in found if group.startswith(start)):
        dense = [case for of, case in found if of == group and case.startswith("dense, ")]
        for count in sorted(int(case.split()[1]) for case in dense):
            whats = ("dense", "two products", "dense gradient", "sparse 1 %")
            dense, products, gradient, sparse = (
                found[group, f"{what}, {count} chains"] for what in whats
            )
            times = (dense, products, gradient, sparse)
            ms = [f"{digits(one / 1e6, 3)} ms" for one in times]
            rows.append(
                [
                    group.removeprefix(start), str(count), *ms[:2], f"{products / dense:.2f}",
                    *ms[2:], digits(dense / sparse),
                ]
            )
    head = [
        "design", "chains", "integral, dense", "two products alone", "products / integral",
        "gradient, dense", "integral, sparse 1 %", "dense / sparse",
    ]
    return table(head, rows)


def chains_and_threads():
    """One chain compared with eight, one thread with two."""
    found = bench("potentials")
    threads = {
        (chains, count): found["threads, 10000 x 200", f"dense, {chains} chains, {count} threads"]
        for chains in (1, 8)
        for count in (1, 2)
    }
    group = "line integral, 10000 x 200"
    alone, eight = (found[group, f"dense, {count} chains"] for count in (1, 8))
    apart = 8 * threads[1, 1] / threads[8, 1]
    rows = [
        ["one chain alone / a chain among eight, table above", f"{8 * alone / eight:.1f}", ""],
        ["the same, in the runs with one thread below", f"{apart:.1f}", ""],
    ]
    for chains, label in ((1, "one chain"), (8, "eight chains")):
        one, two = threads[chains, 1], threads[chains, 2]
        times = time(one, two, least=3, by=" and ")
        rows.append([f"one thread / two threads, {label}", f"{one / two:.2f}", times])
    return table(["what", "ratio", "times"], rows)


def mean_slopes():
    found = bench("potentials")
    group = "mean slope of 1000 segments"
    rows = []
    for family in dict.fromkeys(case.split(", ")[0] for of, case in found if of == group):
        alone, together = (
            found[group, f"{family}, {how}"] / 1000 for how in ("one by one", "together")
        )
        times = [f"{digits(one)} ns" for one in (alone, together)]
        rows.append([family, *times, f"{alone / together:.1f}"])
    return table(["family", "one by one", "in a list", "ratio"], rows)


def step_parts():
    found = cases("sampler")

    def share(kernel):
        rest, step = found[f"{kernel}, the rest"], found[f"{kernel}, step"]
        return f"{time(rest)}: {100 * rest / step:.1f} %"

    rows = [
        ["a step of the third-order kernel", time(found["third-order, step"], least=3)],
        ["its line integral alone", time(found["line integral"], least=3)],
        ["the rest of the third-order step", share("third-order")],
        ["a step of the symmetric kernel", time(found["symmetric, step"], least=3)],
        ["the rest of the symmetric step", share("symmetric")],
        ["a normal random number", time(found["normals"] / 1000)],
        [
            "64 bits of the bare generator, ChaCha8",
            time(found["bare generator, 64 bits each"] / 1000),
        ],
    ]
    return table(["what", "time"], rows)


def soak():
    """Speed over half of the time and all of it; memory over the last 80 % of it, as in
    benches/src/bin/soak.rs."""
    rows = [[float(cell) for cell in row.values()] for row in read("soak")]
    end, values, _ = rows[-1]
    half = [row for row in rows if row[0] <= end / 2][-1]
    late = [row for row in rows if row[0] >= 0.2 * end]

    def minute(seconds, values):
        return f"{digits(60e-6 * values / seconds, 3)} million"

    _, x, y = (sum(column) / len(late) for column in zip(*late))
    growth = sum((row[1] - x) * (row[2] - y) for row in late)
    growth /= sum((row[1] - x) ** 2 for row in late)
    ratios = store_ratios()
    lines = [
        ["values kept per minute, first half of the time", minute(*half[:2])],
        ["values kept per minute, all of it", minute(end, values)],
        [
            "resident memory over the last 80 %",
            between([row[2] / 2**20 for row in late], "{:.1f}", " MiB"),
        ],
        [
            "its growth, by least squares",
            f"{growth * 1e6 / 1024:.1f} KiB for a million values, which are {8e6 / 2**20:.1f} MiB",
        ],
        [
            f"speed with a store / without, median and range of {len(ratios)} rounds",
            f"{100 * statistics.median(ratios):.0f} %"
            f" ({between([100 * one for one in ratios], '{:.0f}')} %)",
        ],
    ]
    return table(["what", "measured"], lines)


def store_ratios():
    """Speeds of sampling into a store, relative to the round's speed of sampling into nothing."""
    speeds = {
        (row["round"], row["sink"]): float(row["values_per_second"]) for row in read("soak-share")
    }
    return [
        speed / speeds[turn, "nothing"]
        for (turn, sink), speed in speeds.items()
        if sink == "zarr"
    ]


def fit_memory():
    rows = [
        [
            f'{int(row["draws_per_chain"]):,}', f'{8 * int(row["values"]) / 2**20:.1f}',
            number(row["peak_mib"], "{:.0f}"),
        ]
        for row in read("fit-memory")
    ]
    return table(["draws of each chain", "values, MiB", "peak, MiB"], rows)


def packed():
    rows = [
        [
            row["what"], f'{int(row["rows"]):,}', row["chains"], row["seconds_per_pass"],
            f'{float(row["gb_per_second"]):.2f}', f'{float(row["peak_mib"]):.0f}' if row["peak_mib"] else "",
        ]
        for row in read("packed")
    ]
    return table(["", "rows", "chains", "a step, s", "GB/s", "peak, MiB"], rows)


def sparse():
    rows = [
        [
            row["data"], f'{int(row["rows"]):,}', f'{int(row["columns"]):,}', row["file_mib"],
            row["seconds"], row["peak_mib"], f'{int(row["ess"]):,}', row["status"].replace("_", " "),
        ]
        for row in read("sparse")
    ]
    return table(["", "rows", "columns", "file, MiB", "seconds", "peak, MiB", "E", "status"], rows)


def fewer():
    rows = [
        [
            row["family"] + (f', streamed within {row["memory"]}' if row["memory"] else ""),
            f'{int(row["rows"]):,}', f'`{row["kernel"]}`', row["warm_up_s"],
            f'{float(row["sampling_s"]):.2f}', f'{int(row["draws"]):,}', f'{100 * float(row["acceptance"]):.0f} %',
            f'{int(row["ess"]):,}', f'{float(row["ess_per_second"]):,.0f}',
        ]
        for row in read("fewer")
    ]
    heads = ["", "rows", "kernel", "warm-up, s", "sampling, s", "draws", "accepted", "E", "E per second"]
    return table(heads, rows)


def tennis():
    rows = [
        [
            f'{int(row["matches"]):,}', f'{int(row["players"]):,}', f'{row["chains"]} x {row["draws"]}',
            row["warm_up_seconds"], row["seconds"], f'{int(row["ess_bulk"]):,}', row["ess_per_second"],
        ]
        for row in read("tennis")
    ]
    return table(["matches", "players", "draws", "warm-up, s", "all, s", "E", "E per second"], rows)


def packed_formats():
    rows = [
        [row["format"], f'{float(row["bytes"]) / 1e6:.0f}', row["seconds"]]
        for row in read("packed-formats")
    ]
    return table(["", "MB", "seconds to read"], rows)


def framing():
    rows = [
        [
            f'`{row["formula"]}`' if len(row["formula"]) < 80 else "18 columns of numbers",
            row["columns"], row["threads"], f'{float(row["design_mb"]):,.0f}',
            f'{float(row["peak_mb"]):,.0f}',
            f'{float(row["peak_mb"]) / float(row["design_mb"]):.2f}',
            f'{row["read_s"]} + {row["frame_s"]}',
        ]
        for row in read("framing")
    ]
    heads = ["formula", "coefficients", "threads", "design, MB", "peak, MB", "peak / design"]
    return table(heads + ["seconds to read + frame"], rows)


def after():
    rows = [
        [
            f'`{row["command"]}`', f'{int(row["rows"]):,}', row["file_mb"], row["seconds"],
            row["cpu_seconds"], row["peak_mb"],
        ]
        for row in read("after")
    ]
    heads = ["command", "rows", "file, MB", "seconds", "CPU seconds", "peak, MB"]
    return table(heads, rows)


def diagnostics():
    found = cases("diagnostics")
    summary = "a summary of one parameter: mean, sd, quantiles, their errors, both effective sizes"
    summary += ", R-hat"
    streaming = (found[f"{what}, one draw/200"] for what in ("moments", "covariance"))
    rows = [
        [summary, time(found["summary/8x1000"])],
        [
            "R-hat alone; sorting the draws alone",
            time(found["rhat/8x1000"], found["sorting alone/8x1000"], by="; "),
        ],
        ["effective size of the mean alone", time(found["ess of the mean/8x1000"])],
        [
            "streaming moments; covariance, of one draw of 200 parameters",
            time(*streaming, by="; "),
        ],
    ]
    return table(["what", "time"], rows)


def limits():
    rows = []
    names = ("step", "products", "reading", "normals", "slopes")
    for row in read("limits"):
        times = [number(row[f"{name}_us"], "{:.1f}") for name in names]
        shape = f'{row["rows"]} x {row["columns"]}'
        shares = [number(row[name], "{:.2f}") for name in ("products_per_step", "limit_per_step")]
        rows.append([row["design"], shape, row["chains"], *times, *shares])
    head = [
        "design", "n x d", "chains", "step, µs", "products", "reading", "normals", "slopes",
        "products / step", "limit / step",
    ]
    return table(head, rows)


def limits_found():
    rows = read("limits")
    ahead = sum(float(row["products_per_step"]) > 1 for row in rows)
    fewest = min(int(row["columns"]) for row in rows)
    shares = [
        100 * float(row["slopes_us"]) / float(row["step_us"])
        for row in rows
        if int(row["columns"]) == fewest
    ]
    slopes = [
        1000 * float(row["slopes_us"]) / int(row["rows"]) / int(row["chains"]) for row in rows
    ]
    lines = [
        ["cases in which a step is faster than the products alone", f"{ahead} of {len(rows)}"],
        [f"slopes, of the time of a step, d = {fewest}", between(shares, "{:.0f}", " %")],
        ["one slope, median", f"{digits(statistics.median(slopes))} ns"],
    ]
    return table(["what", "found"], lines)


def growth():
    series = {}
    for row in read("growth"):
        series.setdefault((row["design"], row["along"]), []).append(row)
    rows = []
    for (design, along), found in series.items():
        sizes = (("n", "rows"), ("d", "columns"), ("C", "chains"))
        fixed = [f"{name} {found[0][key]}" for name, key in sizes if key != along]
        times = ", ".join(f'{row[along]}: {float(row["step_us"]):.0f}' for row in found)
        exponent = number(found[0]["exponent"], "{:.2f}")
        rows.append([design, along, ", ".join(fixed), times, exponent])
    return table(["design", "along", "at", "µs per step", "exponent"], rows)


def steps():
    rows = [
        [
            row["what"].replace(" beside ", " compared with "),
            f'{row["rows"]} x {row["columns"]}', row["chains"],
            number(row["us"], "{:.1f}"), number(row["beside_us"], "{:.1f}"), row["ratio"],
        ]
        for row in read("steps")
    ]
    return table(["what", "n x d", "chains", "µs", "compared with, µs", "ratio"], rows)


TABLES = {
    "coefficients": ("benchmarks.md", coefficients),
    "line-rule": ("benchmarks.md", line_rule),
    "certificates": ("benchmarks.md", certificates),
    "line-integrals": ("benchmarks.md", line_integrals),
    "chains-and-threads": ("benchmarks.md", chains_and_threads),
    "mean-slopes": ("benchmarks.md", mean_slopes),
    "step-parts": ("benchmarks.md", step_parts),
    "soak": ("benchmarks.md", soak),
    "fit-memory": ("benchmarks.md", fit_memory),
    "packed": ("large.md", packed),
    "packed-formats": ("large.md", packed_formats),
    "sparse": ("large.md", sparse),
    "fewer": ("large.md", fewer),
    "tennis": ("large.md", tennis),
    "framing": ("benchmarks.md", framing),
    "after": ("benchmarks.md", after),
    "diagnostics": ("benchmarks.md", diagnostics),
    "limits": ("benchmarks.md", limits),
    "limits-found": ("benchmarks.md", limits_found),
    "growth": ("benchmarks.md", growth),
    "steps": ("benchmarks.md", steps),
}
