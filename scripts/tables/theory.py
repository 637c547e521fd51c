"""Experiments, certificates, plans and exact laws."""
from .forms import about, between, digits, exponent, listed, read, slope, table

KERNELS = ("third-order", "symmetric", "averaged", "ula", "klmc", "ubu", "baoab", "randomized-midpoint")
# Exponents of d and of 1/accuracy in published guarantees of W2 <= accuracy.
PROVED = {"third-order": (1 / 4, 1 / 2), "ubu": (1 / 4, 1 / 2), "ula": (1, 2), "klmc": (1 / 2, 1), "randomized-midpoint": (1 / 3, 2 / 3)}
# With which power of the step the variance on Gaussians is off, by tests/laws.rs.
ORDERS = {"third-order": 3, "averaged": 2, "ula": 1, "klmc": 1, "ubu": 2, "randomized-midpoint": 3}


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


def diffusion():
    rows = [
        [row["kappa"], f'{float(row["paper_rate"]):.3g}', f'{float(row["best_rate_at_paper_parameters"]):.3g}', f'{float(row["best_rate"]):.4g}',
         f'({float(row["gamma"]):.2f}, {float(row["xi"]):.2f})']
        for row in read("certify-diffusion")
    ]
    return table(["κ", "paper's rate", "best rate at the paper's γ, ξ", "best rate", "at (γ, ξ)"], rows)


def algorithm():
    cells = {}
    for row in read("certify-algorithm"):
        found = f'{float(row["gap"]):.4g}' if row["gap"] else row["status"]
        cells.setdefault((row["kappa"], f'{row["gamma"]}, {row["xi"]}', row["eta"]), {})[row["kernel"]] = found
    rows = [[*given, found["third-order"], found["symmetric"]] for given, found in cells.items()]
    return table(["κ", "γ, ξ", "η", "Algorithm 1: gap 1 − r", "symmetric splitting"], rows)


def planned():
    """Steps by dimension and by accuracy, both from the first row on, by κ."""
    rows = read("plan")
    first = rows[0]
    kappas = list(dict.fromkeys(row["kappa"] for row in rows))
    steps = {(row["kappa"], row["dimension"], row["accuracy"]): int(row["steps"]) for row in rows}
    dimensions = list(dict.fromkeys(row["dimension"] for row in rows))
    accuracies = list(dict.fromkeys(row["accuracy"] for row in rows))
    return first, kappas, dimensions, accuracies, steps


def plans():
    first, kappas, dimensions, accuracies, steps = planned()
    of = lambda d, accuracy: [f"{steps[kappa, d, accuracy]:,}" for kappa in kappas]
    rows = [[d, *of(d, first["accuracy"]), accuracy, *of(first["dimension"], accuracy)] for d, accuracy in zip(dimensions, accuracies, strict=True)]
    labels = [f"κ = {kappa}" for kappa in kappas]
    return table([f'd (ε = {first["accuracy"]})', *labels, f'ε (d = {first["dimension"]})', *labels], rows)


def plan_powers(along):
    """Fitted to the steps of a plan, for each κ."""
    first, kappas, dimensions, accuracies, steps = planned()
    if along == "dimension":
        return listed([exponent(slope([(d, steps[kappa, d, first["accuracy"]]) for d in dimensions])) for kappa in kappas])
    return listed([exponent(-slope([(accuracy, steps[kappa, first["dimension"], accuracy]) for accuracy in accuracies])) for kappa in kappas])


def draw_costs(file, kernels):
    cells = {(row["kappa"], row["kernel"]): digits(float(row["gradients_per_draw"]), 3).replace(",", "") for row in read(file)}
    kappas = list(dict.fromkeys(kappa for kappa, _ in cells))
    return table(["κ", *kernels], [[kappa, *(cells[kappa, kernel] for kernel in kernels)] for kappa in kappas])


def draw_cost(kernel):
    """Gradients for a draw, by κ."""
    return {row["kappa"]: float(row["gradients_per_draw"]) for row in read("iact") if row["kernel"] == kernel}


def stability_cost():
    """What kernels without bias pay for a step that stays stable, where one gradient could make a draw."""
    return between([100 * (draw_cost(kernel)["1"] - 1) for kernel in ("symmetric", "baoab")], "{:.1f}", " %")


def ula_beside_klmc():
    klmc = draw_cost("klmc")
    return between([100 * abs(cost / klmc[kappa] - 1) for kappa, cost in draw_cost("ula").items()], "{:.1f}", " %")


def draw_parameters():
    kernels = KERNELS[:3]
    cells = {(row["kappa"], row["kernel"]): f'({float(row["gamma"]):.2f}, {float(row["xi"]):.2f}, {float(row["eta"]):.3f})' for row in read("iact") if row["kernel"] in kernels}
    kappas = list(dict.fromkeys(kappa for kappa, _ in cells))
    return table(["κ", *(f"{kernel} (γ, ξ, η)" for kernel in kernels)], [[kappa, *(cells[kappa, kernel] for kernel in kernels)] for kappa in kappas])


def contraction():
    """The best certified rate times κ, at the largest κ."""
    last = read("certify-diffusion")[-1]
    return f'{float(last["best_rate"]) * float(last["kappa"]):.1f}'


def one_node():
    """What the step size does beside what a single node does."""
    found = {(row["nodes"], float(row["eta"])): float(row["distance"]) for row in read("nodes")}
    etas = sorted(eta for _, eta in found)
    times = lambda eta: f'{found["halved step", eta] / found["1", eta]:.0f} times'
    return f"{times(etas[-1])} as much as a single node does at η = {etas[-1]:g} and {times(etas[0])} at {etas[0]:g}"


def floors():
    """What remains after the most steps, for each κ: the bound, and the exact distance on spread eigenvalues."""
    last = {row["kappa"]: row for row in read("bound")}
    return [(float(row["bound"]), float(row["spread"])) for row in last.values()]


def bound_factors():
    factors = [bound / exact for bound, exact in floors()]
    return f"{about(min(factors))} to {about(max(factors))}"


TABLES = {
    "diffusion": ("certificates.md", diffusion),
    "algorithm": ("certificates.md", algorithm),
    "plans": ("certificates.md", plans),
    "draw-costs": ("laws.md", lambda: draw_costs("iact", KERNELS)),
    "draw-costs-near": ("laws.md", lambda: draw_costs("iact-near", KERNELS[:3])),
    "draw-parameters": ("laws.md", draw_parameters),
    "mixing": ("experiments.md", mixing),
    "coupling": ("experiments.md", coupling),
    "nodes": ("experiments.md", nodes),
}

VALUES = {
    "contraction": contraction,
    "plan-powers-dimension": lambda: plan_powers("dimension"),
    "plan-powers-accuracy": lambda: plan_powers("accuracy"),
    "coupling-kappa": lambda: between([float(row["kappa"]) for row in read("coupling")], "{:.1f}"),
    "one-node": one_node,
    "bound-floors": lambda: between([bound for bound, _ in floors()]),
    "bound-factors": bound_factors,
    "stability-cost": stability_cost,
    "ula-beside-klmc": ula_beside_klmc,
}
