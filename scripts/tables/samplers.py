"""Samplers side by side: compare.csv, rivals.csv and bias.csv."""
import math
import statistics

from .forms import between, listed, number, read, span, table

RIVALS = ("BAOAB", "UBU", "KLMC", "ULA", "randomized midpoint")


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


def row_of(target, sampler):
    return next(row for row in compared()[target] if row["sampler"] == sampler)


def a_gradient(target, sampler):
    return number(row_of(target, sampler)["ess_per_gradient"], "{:.2f}")


def draws(target, sampler):
    return f'{a_gradient(target, sampler)} effective draws a gradient and {number(row_of(target, sampler)["ess_per_second"], "{:,.0f}")} a second'


def packages_ahead():
    """Targets on which a setting of another package gives more draws a second than ours, within the tolerance."""
    better = lambda row: row["sampler"].startswith(("nuts-rs", "mini-mcmc")) and row["within"] == "true" and float(row["ratio"]) < 1
    return sum(any(map(better, samplers)) for samplers in compared().values())


def ahead(sampler, key):
    """On how many targets a sampler gives more draws a second than ours, and by how much."""
    rows = [row for samplers in compared().values() for row in samplers if row["sampler"] == sampler and row["within"] == "true"]
    gains = [100 / float(row[key]) - 100 for row in rows if float(row[key]) < 1]
    targets = f"{len(gains)} of {len(compared())} targets"
    return f"{targets}, by {between(gains, '{:.0f}', ' %')}" if gains else targets


def confirmation():
    """Gradients beyond those of the draws, each of which takes a whole number of them, in a run of ours."""
    ours = [row for samplers in compared().values() for row in samplers if row["sampler"] == "ridgewalk"]
    shares = [float(row["gradients"]) % (int(row["chains"]) * int(row["draws"])) / float(row["gradients"]) for row in ours]
    return f"{100 * statistics.median(shares):.0f} %"


def not_compared():
    """Kernels that have parameters and were not run with them."""
    run = {(target, row["sampler"].split(",")[0].lower().replace(" ", "-")) for target, samplers in compared().items() for row in samplers if row["ess"]}
    return listed([f'{row["kernel"]} on {row["target"]}' for row in read("rivals") if row["tried"] != "none" and (row["target"], row["kernel"]) not in run])


def reported(moment):
    """Measurable cases whose median report is within half and twice the truth, and all of them."""
    ratios = [float(row["ratio"]) for row in read("bias") if row["moment"] == moment and row["ratio"]]
    return sum(0.5 <= ratio <= 2 for ratio in ratios), len(ratios)


def misreported():
    rows = [row for row in read("bias") if row["ratio"] and not 0.5 <= float(row["ratio"]) <= 2]
    return listed([f'{row["target"]} with {row["kernel"]} at {float(row["eta"]):.2f} ({row["moment"]}: {float(row["ratio"]):.2f})' for row in rows])


TABLES = {
    "efficiency": ("sampler.md", efficiency),
    "bias": ("sampler.md", bias),
    "headline": ("README.md", headline),
    "goals": ("benchmarks.md", goals),
    "compare": ("benchmarks.md", compare),
    "rivals": ("benchmarks.md", rivals),
}

VALUES = {
    "packages-ahead": lambda: f"{packages_ahead()} of {len(compared())}",
    "baoab-ahead": lambda: ahead("BAOAB, best parameters", "ratio"),
    "baoab-ahead-warm": lambda: ahead("BAOAB, best parameters", "ratio_with_warm_up"),
    "baoab-longest-step": lambda: f'{max(float(row["eta"]) for row in read("rivals") if row["kernel"] == "baoab" and row["eta"]):.2f}',
    "confirmation": confirmation,
    "breast-cancer-symmetric": lambda: draws("breast-cancer", "symmetric, best parameters"),
    "breast-cancer-automatic": lambda: draws("breast-cancer", "ridgewalk"),
    "not-compared": not_compared,
    "adjusted-correlated": lambda: f'{a_gradient("correlated-logistic", "ridgewalk adjusted")} instead of {a_gradient("correlated-logistic", "ridgewalk")}',
    "adjusted-breast-cancer": lambda: f'{a_gradient("breast-cancer", "ridgewalk adjusted")} instead of {a_gradient("breast-cancer", "ridgewalk")}',
    "bias-means": lambda: "{} of {}".format(*reported("mean")),
    "bias-sds": lambda: "{} of {}".format(*reported("sd")),
    "bias-others": misreported,
}
