#!/usr/bin/env python3
"""Renders files of docs/results as tables of docs/sampler.md, benchmarks.md and reliability.md, between markers. Usage:
scripts/tables.py [--check] [NAME ...]

With --check nothing is written, and the exit code is 1 if a table is not what its file says.
"""
import csv
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


def compare():
    parts = []
    head = ["sampler", "chains x draws", "E a gradient", "warm-up counted", "E a second", "warm-up counted", "ours / this", "warm-up counted",
            "mean off, sd", "sd off", "bias", "R-hat", "peak MiB"]
    for target, samplers in compared().items():
        rows = []
        for row in samplers:
            size = f'{row["chains"]} x {row["draws"]}'
            if not row["ess"]:
                rows.append([row["sampler"], size, row["note"], *[""] * 10])
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


TABLES = {
    "faults": ("reliability.md", faults),
    "calibration": ("reliability.md", calibration),
    "power": ("reliability.md", power),
    "limits": ("benchmarks.md", limits),
    "growth": ("benchmarks.md", growth),
    "steps": ("benchmarks.md", steps),
    "efficiency": ("sampler.md", efficiency),
    "bias": ("sampler.md", bias),
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
        wrong |= new != old
        if "--check" not in sys.argv[1:]:
            page.write_text(new)
    if "--check" in sys.argv[1:]:
        sys.exit(int(wrong))


if __name__ == "__main__":
    main()
