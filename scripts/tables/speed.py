"""Measured speeds and memory: benches, steps beside their ceilings, draws to the disk."""
import statistics

from .forms import between, digits, number, read, table

UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))
SIZES = ("coefficients/series", "γ = 1.32, ξ = 2.07, η = 0.05 (series branch)"), ("coefficients/closed", "η = 2 (closed branch)"), ("coefficients/tiny", "η = 1e-6 (series branch)")


def bench(name):
    """Median nanoseconds, by group and case."""
    return {(row["group"], row["case"]): float(row["median_ns"]) for row in read(f"bench-{name}")}


def time(*nanoseconds, least=2, by=", "):
    """Times in the unit of the largest of them."""
    unit, size = next((unit, size) for unit, size in UNITS if max(nanoseconds) >= size or size == 1.0)
    return by.join(digits(one / size, least) for one in nanoseconds) + f" {unit}"


def coefficients():
    found = bench("coefficients")
    rows = []
    for group, label in SIZES:
        stable, printed = found[group, "stable"], found[group, "printed"]
        rows.append([label, time(stable), time(printed), f"{stable / printed:.1f}"])
    return table(["parameters", "stable forms", "printed formulas", "ratio"], rows)


def line_rule():
    found = {case: nanoseconds for (_, case), nanoseconds in bench("quadrature").items()}
    nodes = sorted(int(case.removeprefix("new/")) for case in found if case.startswith("new/"))
    rows = [
        [f"a rule of {', '.join(map(str, nodes))} nodes", time(*(found[f"new/{n}"] for n in nodes))],
        ["integral of a 200-dimensional function, 4 nodes", time(found["integrate/4x200"])],
        ["the function's four values alone", time(found["values alone/4x200"])],
    ]
    return table(["what", "time"], rows)


def certificates():
    found = {case: nanoseconds for (_, case), nanoseconds in bench("certificates").items()}

    def searches(what):
        start = f"{what}, best gamma and xi, kappa "
        return sorted((int(case.removeprefix(start)), nanoseconds) for case, nanoseconds in found.items() if case.startswith(start))

    rows = []
    for what, label in (("diffusion", "the diffusion"), ("algorithm", "Algorithm 1 at η = 0.5")):
        kappas, times = zip(*searches(what))
        rows.append([f"best γ, ξ and S for {label}, κ = {', '.join(map(str, kappas))}", time(*times)])
    checks = (found[f"check alone, {what}"] for what in ("diffusion", "algorithm", "symmetric"))
    rows.append(["the exact check alone: diffusion, Algorithm 1, symmetric splitting", time(*checks)])
    rows.append(["a plan, κ = 10", time(found["plan, kappa 10"])])
    return table(["what", "time"], rows)


def line_integrals():
    found = bench("potentials")
    rows = []
    for group in dict.fromkeys(group for group, _ in found if group.startswith("line integral, ")):
        chains = sorted(int(case.split()[1]) for of, case in found if of == group and case.startswith("dense, "))
        for count in chains:
            dense, products, gradient, sparse = (found[group, f"{what}, {count} chains"] for what in ("dense", "two products", "dense gradient", "sparse 1 %"))
            ms = [f"{digits(one / 1e6, 3)} ms" for one in (dense, products, gradient, sparse)]
            rows.append([group.removeprefix("line integral, "), str(count), *ms[:2], f"{products / dense:.2f}", *ms[2:], digits(dense / sparse)])
    head = ["design", "chains", "integral, dense", "two products alone", "products / integral", "gradient, dense", "integral, sparse 1 %", "dense / sparse"]
    return table(head, rows)


def mean_slopes():
    found = bench("potentials")
    group = "mean slope of 1000 segments"
    rows = []
    for family in dict.fromkeys(case.split(", ")[0] for of, case in found if of == group):
        alone, together = (found[group, f"{family}, {how}"] / 1000 for how in ("one by one", "together"))
        rows.append([family, f"{digits(alone)} ns", f"{digits(together)} ns", f"{alone / together:.1f}"])
    return table(["family", "one by one", "in a list", "ratio"], rows)


def step_parts():
    found = {case: nanoseconds for (_, case), nanoseconds in bench("sampler").items()}
    share = lambda kernel: f'{time(found[f"{kernel}, the rest"])}: {100 * found[f"{kernel}, the rest"] / found[f"{kernel}, step"]:.1f} %'
    rows = [
        ["a step of the third-order kernel", time(found["third-order, step"], least=3)],
        ["its line integral alone", time(found["line integral"], least=3)],
        ["the rest of the third-order step", share("third-order")],
        ["a step of the symmetric kernel", time(found["symmetric, step"], least=3)],
        ["the rest of the symmetric step", share("symmetric")],
        ["a normal random number", time(found["normals"] / 1000)],
        ["64 bits of the bare generator, ChaCha8", time(found["bare generator, 64 bits each"] / 1000)],
    ]
    return table(["what", "time"], rows)


def soak():
    """Speed over half of the time and all of it; memory over the last 80 % of it, as benches/src/bin/soak.rs has it."""
    rows = [[float(cell) for cell in row.values()] for row in read("soak")]
    end, values, _ = rows[-1]
    half = [row for row in rows if row[0] <= end / 2][-1]
    late = [row for row in rows if row[0] >= 0.2 * end]
    minute = lambda seconds, values: f"{digits(60e-6 * values / seconds, 3)} million"
    mean = [sum(column) / len(late) for column in zip(*late)]
    growth = sum((row[1] - mean[1]) * (row[2] - mean[2]) for row in late) / sum((row[1] - mean[1]) ** 2 for row in late)
    lines = [
        ["values kept, a minute", f"{minute(*half[:2])} over the first half of the time, {minute(end, values)} over all of it"],
        ["resident memory over the last 80 %", between([row[2] / 2**20 for row in late], "{:.1f}", " MiB")],
        ["its growth, by least squares", f"{growth * 1e6 / 1024:.1f} KiB for a million values, which are {8e6 / 2**20:.1f} MiB"],
    ]
    return table(["what", "measured"], lines)


def fit_memory():
    rows = [[f'{int(row["draws_per_chain"]):,}', f'{8 * int(row["values"]) / 2**20:.1f}', number(row["peak_mib"], "{:.0f}")] for row in read("fit-memory")]
    return table(["draws of each chain", "values, MiB", "peak, MiB"], rows)


def diagnostics():
    found = {case: nanoseconds for (_, case), nanoseconds in bench("diagnostics").items()}
    rows = [
        ["a summary of one parameter: mean, sd, quantiles, their errors, both effective sizes, R-hat", time(found["summary/8x1000"])],
        ["R-hat alone; sorting the draws alone", time(found["rhat/8x1000"], found["sorting alone/8x1000"], by="; ")],
        ["effective size of the mean alone", time(found["ess of the mean/8x1000"])],
        ["streaming moments, and covariance, of one draw of 200 parameters", time(found["moments, one draw/200"], found["covariance, one draw/200"], by="; ")],
    ]
    return table(["what", "time"], rows)


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


def limits_ahead():
    """Cases in which a step takes less time than the products alone."""
    rows = read("limits")
    return f'{sum(float(row["products_per_step"]) > 1 for row in rows)} of {len(rows)}'


def slopes_share():
    """What slopes are of a step where rows have the fewest columns."""
    rows = read("limits")
    fewest = min(int(row["columns"]) for row in rows)
    return between([100 * float(row["slopes_us"]) / float(row["step_us"]) for row in rows if int(row["columns"]) == fewest], "{:.0f}", " %")


def among_eight(group, end):
    found = bench("potentials")
    return f'{8 * found[group, f"dense, 1 chains{end}"] / found[group, f"dense, 8 chains{end}"]:.1f}'


def dense_over_sparse(design):
    """How many times as fast sparse is, by the number of chains."""
    found = bench("potentials")
    group = f"line integral, {design}"
    counts = [int(case.split()[1]) for of, case in found if of == group and case.startswith("dense, ")]
    return {count: found[group, f"dense, {count} chains"] / found[group, f"sparse 1 %, {count} chains"] for count in counts}


def two_threads():
    found = bench("potentials")
    parts = []
    for count, label in ((1, "one chain"), (8, "eight")):
        one, two = (found["threads, 10000 x 200", f"dense, {count} chains, {threads} threads"] for threads in (1, 2))
        parts.append(f"{one / two:.2f} times as fast for {label} ({time(one, two, least=3, by=' and ')})")
    return ", ".join(parts)


def store_ratios():
    speeds = {(row["round"], row["sink"]): float(row["values_per_second"]) for row in read("soak-share")}
    return [speed / speeds[turn, "nothing"] for (turn, sink), speed in speeds.items() if sink == "zarr"]


def store_share():
    return f"{100 * statistics.median(store_ratios()):.0f} %"


TABLES = {
    "coefficients": ("benchmarks.md", coefficients),
    "line-rule": ("benchmarks.md", line_rule),
    "certificates": ("benchmarks.md", certificates),
    "line-integrals": ("benchmarks.md", line_integrals),
    "mean-slopes": ("benchmarks.md", mean_slopes),
    "step-parts": ("benchmarks.md", step_parts),
    "soak": ("benchmarks.md", soak),
    "fit-memory": ("benchmarks.md", fit_memory),
    "diagnostics": ("benchmarks.md", diagnostics),
    "limits": ("benchmarks.md", limits),
    "growth": ("benchmarks.md", growth),
    "steps": ("benchmarks.md", steps),
}

VALUES = {
    "limits-ahead": limits_ahead,
    "slopes-share": slopes_share,
    "slope-alone": lambda: digits(statistics.median(1000 * float(row["slopes_us"]) / int(row["rows"]) / int(row["chains"]) for row in read("limits"))),
    "growth-exponents": lambda: between([float(row["exponent"]) for row in read("growth")]),
    "chain-among-eight": lambda: among_eight("line integral, 10000 x 200", ""),
    "chain-among-eight-last": lambda: among_eight("threads, 10000 x 200", ", 1 threads"),
    "sparse-wide": lambda: digits(dense_over_sparse("2000 x 2000")[1]),
    "sparse-narrow": lambda: between(dense_over_sparse("10000 x 200").values(), "{:.1f}"),
    "two-threads": two_threads,
    "store-share": store_share,
    "store-rounds": lambda: str(len(store_ratios())),
}
