"""Samplers compared: compare.csv, rivals.csv, bias.csv and energy-error.csv."""
import math

from .forms import between, number, read, span, table

RIVALS = (
    "BAOAB", "UBU", "KLMC", "ULA", "randomized midpoint", "QUICSORT", "ShOULD", "ALIGN",
    "unadjusted HMC",
)
BY_ENERGY = "unadjusted HMC by energy error"
PACKAGES = ("nuts-rs", "mini-mcmc")


def compared():
    """The rows of compare.csv by target."""
    targets = {}
    for row in read("compare"):
        row["sampler"] = row["sampler"].replace(";", ",")
        targets.setdefault(row["target"], []).append(row)
    return targets


def with_noise(row, moment, form="{:.3f}", unit=""):
    """An error and the standard error that it has itself."""
    bias, noise = (number(row[f"{moment}_{what}"], form) for what in ERRORS[moment])
    return f"{bias} ± {noise}{unit}"


ERRORS = {"mean": ("bias_sd", "noise_sd"), "sd": ("bias_percent", "noise_percent")}


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
    head = [
        "target", "sampler", "E per gradient", "with warm-up", "warm-up gradients",
        "warm-up / run", "error of means, sd", "error of sds", "R-hat",
    ]
    return table(head, rows)


def ratio(text):
    """How many times better ridgewalk is; bold where it is worse."""
    if not text:
        return ""
    value = float(text)
    form = f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
    return f"**{form}**" if value < 1 else form


def both(row):
    return f'{ratio(row["ratio"])} ({ratio(row["ratio_with_warm_up"])})'


def goals():
    """ridgewalk, by effective draws per second, over nuts-rs with its defaults, over the best
    setting of any other package, and over the best rival kernel."""
    rows = []
    for target, samplers in compared().items():
        ours = next(row for row in samplers if row["sampler"] == "ridgewalk")
        usable = [
            row
            for row in samplers
            if row["within"] == "true" and row["ratio"] and row is not ours
        ]
        usable.sort(key=lambda row: float(row["ratio"]))
        packages = [row for row in usable if row["sampler"].startswith(PACKAGES)]
        kernels = [row for row in usable if row["sampler"].startswith(RIVALS)]
        usual = [
            both(row) for row in samplers if row["sampler"] == "nuts-rs diagonal" and row["ratio"]
        ]
        # Draws take a whole number of gradients each; the rest confirms the bias.
        gradients, draws = float(ours["gradients"]), int(ours["chains"]) * int(ours["draws"])
        speeds = [
            number(ours[f"ess_per_second{end}"], "{:.0f}") for end in ("", "_with_warm_up")
        ]
        rows.append(
            [
                target,
                "{} ({})".format(*speeds),
                "".join(usual),
                *(
                    f'{both(best[0])}: {best[0]["sampler"].split(",")[0]}' if best else ""
                    for best in (packages, kernels)
                ),
                f"{100 * (gradients % draws) / gradients:.1f} %",
            ]
        )
    head = [
        "target", "E per second", "over nuts-rs diagonal", "over the best of other packages",
        "over the best rival kernel", "gradients that confirm the bias",
    ]
    return table(head, rows)


def headline():
    """The same in fewer columns, for readers who do not know what E is."""
    rows = []
    for target, samplers in compared().items():
        usable = [row for row in samplers if row["within"] == "true" and row["ratio"]]

        def find(name):
            row = next(row for row in samplers if row["sampler"] == name)
            if row["within"] == "true" and not row["ratio"]:
                return "not timed"
            return cell(row if row["within"] == "true" else None)

        def speed(row):
            return float(row["ess_per_second_with_warm_up"]) if row else math.nan

        def best(starts):
            some = [row for row in usable if row["sampler"].startswith(starts)]
            return max(some, key=speed) if some else None

        def cell(row, name=False):
            if not row:
                return "beyond"
            return f"{speed(row):,.0f}" + (f' ({row["sampler"].split(",")[0]})' if name else "")

        rows.append(
            [
                target,
                *map(find, ("ridgewalk adjusted", "ridgewalk", "nuts-rs diagonal")),
                cell(best(PACKAGES), True),
                cell(best(RIVALS), True),
            ]
        )
    head = [
        "posterior", "`ridgewalk`, exact", "`--bias-tolerance 0.05`", "nuts-rs, defaults",
        "best other package", "best rival kernel, tuned with hindsight",
    ]
    return table(head, rows)


def compare():
    parts = []
    head = [
        "sampler", "chains x draws", "E per gradient", "with warm-up", "E per second",
        "with warm-up", "ours / this", "with warm-up", "error of means, sd", "error of sds",
        "bias", "R-hat", "peak MiB",
    ]
    for target, samplers in compared().items():
        rows = []
        for row in samplers:
            size = f'{row["chains"]} x {row["draws"]}'
            if not row["ess"]:
                why = "not run" if "no parameters" in row["note"] else row["note"]
                rows.append([row["sampler"], size, why, *[""] * 10])
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
                    with_noise(row, "mean"),
                    with_noise(row, "sd", "{:.1f}", " %"),
                    "within" if row["within"] == "true" else "**beyond**",
                    number(row["rhat"], "{:.4f}"),
                    number(row["memory_mib"], "{:.0f}"),
                ]
            )
        first = samplers[0]
        loaded = number(first["memory_loaded_mib"], "{:.0f}")
        ours = next((row["note"] for row in samplers if row["sampler"] == "ridgewalk"), "")
        words = f'Seeds: {first["seeds"]}. The target alone takes {loaded} MiB.'
        words += f"\nridgewalk chose, with seed 1: {ours}."
        parts.append(f"### {target}\n\n{words}\n\n{table(head, rows)}")
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
                with_noise(row, "mean") if found else "",
                with_noise(row, "sd", "{:.1f}", " %") if found else "",
                row["tried"] if found else "",
            ]
        )
    head = [
        "target", "kernel", "coordinates", "γ", "ξ", "η", "E per gradient", "error of means, sd",
        "error of sds", "runs tried",
    ]
    return table(head, rows)


def bias():
    rows = []
    for row in read("bias"):
        step = f'{row["kernel"]}, {float(row["eta"]):.2f}'
        step += " (picked)" if row["automatic"] == "true" else ""
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
    head = [
        "target", "kernel, η", "of", "reported", "true", "measurable", "ratio", "covered",
        "order", "plain", "extrapolated", "noise",
    ]
    return table(head, rows)


def bias_ratios():
    """How many measurable cases have a median report between half and twice the truth."""
    rows = []
    for moment, name in (("mean", "means"), ("sd", "sds")):
        found = [row for row in read("bias") if row["moment"] == moment and row["ratio"]]
        others = [row for row in found if not 0.5 <= float(row["ratio"]) <= 2]
        words = [
            f'{row["target"]}, {row["kernel"]} at {float(row["eta"]):.2f}: '
            f'{float(row["ratio"]):.2f}'
            for row in others
        ]
        good = str(len(found) - len(others))
        rows.append([name, str(len(found)), good, "; ".join(words) or "none"])
    head = ["bias of", "measurable cases", "within a factor of 2", "the others, report / truth"]
    return table(head, rows)


def ahead(rows, key):
    """On how many targets some of the rows beat ridgewalk, and by how much the best of them."""
    gains = {}
    for row in rows:
        if row["within"] == "true" and row[key] and float(row[key]) < 1:
            gain = 100 / float(row[key]) - 100
            gains[row["target"]] = max(gain, gains.get(row["target"], 0.0))
    by = between(gains.values(), "{:.0f}", " %") if gains else ""
    return [f"{len(gains)} of {len(compared())}", by]


def losses():
    """Where others give more effective draws per second than the automatic run."""
    every = sum(compared().values(), [])
    packages = [row for row in every if row["sampler"].startswith(PACKAGES)]
    rivals = [row for row in every if row["sampler"] == "BAOAB, best parameters"]
    rows = [
        ["any setting of another package", *ahead(packages, "ratio")],
        ["the same, with warm-up", *ahead(packages, "ratio_with_warm_up")],
        ["BAOAB with its best parameters", *ahead(rivals, "ratio")],
        ["the same, with warm-up", *ahead(rivals, "ratio_with_warm_up")],
    ]
    return table(["sampler", "targets on which it is ahead", "by"], rows)


def per_gradient():
    """Effective draws per gradient of ridgewalk and of rival kernels on all targets; the most in
    bold."""
    targets = compared()
    names = ["ridgewalk", BY_ENERGY, *(f"{name}, best parameters" for name in RIVALS)]
    rows = {name: [name] for name in names}
    for samplers in targets.values():
        found = {row["sampler"]: row for row in samplers if row["ess"]}
        good = [
            float(row["ess_per_gradient"])
            for name, row in found.items()
            if name in names and row["within"] == "true"
        ]
        for name in names:
            row = found.get(name)
            cell = number(row["ess_per_gradient"]) if row else "not run"
            if row and row["within"] != "true":
                cell += " (beyond)"
            elif row and float(row["ess_per_gradient"]) == max(good):
                cell = f"**{cell}**"
            rows[name].append(cell)
    return table(["sampler", *targets], list(rows.values()))


def designs():
    """Trajectories of several designs: effective draws per gradient and the longest run of
    rejections."""
    rows = {}
    for row in read("designs"):
        design = (row["drift"], f'{row["eta"]} x {row["steps"]}', row["momenta"], row["short"])
        cell = f'{float(row["ess_per_gradient"]):.3f} ({row["longest_rejections"]})'
        rows.setdefault(design, {})[row["target"]] = cell
    targets = list(dict.fromkeys(row["target"] for row in read("designs")))
    lines = [[*design, *(cells.get(name, "") for name in targets)] for design, cells in rows.items()]
    return table(["drift", "step x steps", "p and r", "short", *targets], lines)


def energy_error():
    """The bias that two automatic choices of a step reach."""
    rows = []
    for row in read("energy-error"):
        if not row["variance_rms"]:
            rows.append([row["target"], row["method"], row["tolerance"], row["note"], *[""] * 7])
            continue
        value = {key: row[key] for key in ("tolerance", "seeds", "claims")}
        errors = [
            f'{number(row[name])} ± {number(row[noise])}'
            for name, noise in (
                ("variance_rms", "variance_noise"),
                ("mean_bias", "mean_noise"),
                ("sd_bias", "sd_noise"),
            )
        ]
        kept = "yes" if row["kept"] == "true" else "**no**"
        if value["claims"] != value["seeds"]:
            kept += f' ({value["claims"]} of {value["seeds"]} runs claim it)'
        length = int(row["length_gradients"])
        tuning = row["tuning_gradients"] + (f" ({length})" if length else "")
        rows.append(
            [
                row["target"],
                row["method"],
                value["tolerance"],
                *errors,
                kept,
                "yes" if row["within_sd"] == "true" else "**no**",
                number(row["ess_per_gradient"]),
                tuning,
                row["note"].split(" in ")[0],
            ]
        )
    head = [
        "target", "method", "tolerance", "variances, rms", "largest error of a mean, sd",
        "largest error of an sd", "own promise kept", "within in our sense", "E per gradient",
        "tuning gradients", "step, seed 1",
    ]
    return table(head, rows)


TABLES = {
    "efficiency": ("sampler.md", efficiency),
    "bias": ("sampler.md", bias),
    "bias-ratios": ("sampler.md", bias_ratios),
    "headline": ("README.md", headline),
    "goals": ("benchmarks.md", goals),
    "losses": ("benchmarks.md", losses),
    "compare": ("benchmarks.md", compare),
    "rivals": ("benchmarks.md", rivals),
    "per-gradient": ("benchmarks.md", per_gradient),
    "designs": ("sampler.md", designs),
    "energy-error": ("benchmarks.md", energy_error),
}
