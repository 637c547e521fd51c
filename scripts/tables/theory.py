"""Tables of the theory pages: proofs, certificates, plans, exact laws and experiments."""
import math

from .forms import about, digits, exponent, fitted, measured, power, read, slope, table
from .tests import measured as figures_of
from .tests import of

KERNELS = (
    "third-order",
    "symmetric",
    "averaged",
    "ula",
    "klmc",
    "ubu",
    "baoab",
    "randomized-midpoint",
    "quicsort",
    "should",
    "align",
    "hmc",
)
# Kernels that follow paths of kinetic Langevin dynamics, and exponents of the lower bound for them.
KINETIC = ("klmc", "ubu", "baoab", "randomized-midpoint", "quicsort", "should", "align")
LOWER = (1 / 3, 2 / 3)
# Exponents of d and of 1/accuracy in published guarantees of W2 <= accuracy.
PROVED = {
    "third-order": (1 / 4, 1 / 2),
    "ubu": (1 / 4, 1 / 2),
    "ula": (1, 2),
    "klmc": (1 / 2, 1),
    "randomized-midpoint": (1 / 3, 2 / 3),
    "quicsort": (1 / 2, 1 / 3),
    "hmc": (1 / 4, 1 / 2),
    "ideal-hmc": (0, 0),
}
# Order in the step size of the error of the variance on Gaussian targets, which
# crates/lyapunov/tests/laws.rs checks. Kernels that are not listed have no such error.
ORDERS = {
    "third-order": 3,
    "averaged": 2,
    "ula": 1,
    "klmc": 1,
    "ubu": 2,
    "randomized-midpoint": 3,
    "quicsort": 3,
    "should": 3,
    "align": 2,
    "hmc": 2,
}


def one_step():
    """The largest error of one step, as a share of its bound."""
    test = "one_step_differs_from_the_diffusion_by_no_more_than_the_bounds"
    found = of("lyapunov", test, "largest share of the bound")
    symbols = {"theta": "θ", "p": "p", "r": "r"}
    row = [f"{found[name]:.2f}" for name in symbols]
    return table(["error of one step", *symbols.values()], [["largest share of its bound", *row]])


def statements():
    """Constants of the paper's statements by condition number: enough for all, needed by some."""
    test = "constants_that_are_enough_are_above_those_that_quadratics_need_at_every_kappa"
    names = {"lemma 8": "Lemma 8", "lemma 9": "Lemma 9",
             "proposition 2 d/L": "Proposition 2, term of d/L",
             "proposition 2 Delta": "Proposition 2, term of Δ",
             "theorem 1": "Theorem 1", "theorem 2": "Theorem 2"}
    rows, kappas = [], []
    shown = lambda value: about(value, 3) if value > 1e-3 else f"{value:.1e}"
    for name, title in names.items():
        for kind in ["enough", "needed"]:
            found = of("lyapunov", test, f"{name} {kind}")
            if found:
                kappas = sorted(found, key=float)
                rows.append([title, kind, *(shown(found[kappa]) for kappa in kappas)])
    powers = {"10000": "10⁴", "1000000": "10⁶"}
    heads = [f"κ = {powers.get(kappa, kappa)}" for kappa in kappas]
    return table(["statement", "C", *heads], rows)


def quadrature_shares():
    """The largest quadrature error of one step, as a share of its bound."""
    test = "quadrature_errors_are_within_their_bounds_and_nearly_attain_them"
    found = figures_of("lyapunov", test)
    nodes = sorted({int(case.split()[0]) for case, _ in found})
    alphas = [n + n % 2 + 1 for n in nodes]
    shares = [f'{found[f"{n} nodes", f"alpha {alpha}"]:.2f}' for n, alpha in zip(nodes, alphas)]
    rows = [["α", *map(str, alphas)], ["largest share of its bound", *shares]]
    return table(["n", *map(str, nodes)], rows)


def exponents():
    """Fitted exponents of plans beside those of the theorems."""
    found = figures_of("lyapunov", "exponents_in_accuracy_and_dimension_are_those_of_the_theorems")
    cases = list(dict.fromkeys(case for case, _ in found))
    names = {"1/accuracy": "1/ε", "dimension": "d"}
    rows = []
    for case in cases:
        variable, term = case.split("; ")
        term = "exact integrals" if term == "first term" else term.replace("alpha", "α =")
        figures = ("of 1/eta", "of steps over the logarithm", "of the theorem")
        rows.append([term, names[variable], *(f"{found[case, figure]:.3f}" for figure in figures)])
    head = ["line integrals", "in", "power in 1/η", "power in steps/log(dκ/ε)", "theorem"]
    return table(head, rows)


def mixing():
    """Gradients by dimension, accuracy and condition number: the first, the middle and the last of
    each; fitted powers."""
    rows = read("mixing")
    symbols = {"dimension": "d", "accuracy": "ε", "kappa": "κ"}
    parts = []
    for key, symbol in symbols.items():
        fixed = [other for other in symbols if other != key]
        chosen = [row for row in rows if all(row[other] == rows[0][other] for other in fixed)]
        parts.append(mixing_along(key, symbol, chosen))
    return "\n\n".join(parts)


def mixing_along(key, symbol, rows):
    """One part of the table: only `key` varies in these rows."""
    values = sorted({row[key] for row in rows}, key=float, reverse=key == "accuracy")
    middle = values[len(values) // 2]
    cells = {(row["kernel"], row[key]): row for row in rows}
    count = lambda row: int(row["gradients"] or row["steps"])
    shown = lambda value: f"{int(value):,}" if key == "dimension" else f"{float(value):.6g}"
    along = lambda kernel, y: [
        (1 / float(value) if key == "accuracy" else value, y(cells[kernel, value])) for value in values
    ]
    which = 0 if key == "dimension" else 1
    lines = []
    for kernel in (*KERNELS, "ideal-hmc"):
        line = [kernel, *(f"{count(cells[kernel, value]):,}" for value in (values[0], middle, values[-1]))]
        line.append(power(*fitted(along(kernel, count))))
        if key != "kappa":
            ideal = kernel == "ideal-hmc"
            eta = lambda row: 1 / float(row["eta"])
            line.append("" if ideal else power(*fitted(along(kernel, eta))))
            order = ORDERS.get(kernel)
            line.append("" if ideal else exponent((1 / 2, 1)[which] / order) if order else "0")
            line.append(exponent(PROVED[kernel][which]) if kernel in PROVED else "")
            line.append(exponent(LOWER[which]) if kernel in KINETIC else "")
        lines.append(line)
    inverse = "1/ε" if key == "accuracy" else symbol
    head = ["gradients", *(f"{symbol} = {shown(value)}" for value in (values[0], middle, values[-1]))]
    head.append(f"power of {inverse}")
    if key != "kappa":
        head += [f"power of {inverse} in 1/η", "expected", "proved", "lower bound"]
    return table(head, lines)


def coupling_powers(rows, kernel):
    """Powers of D in the step and in d, and of gradients in d and in 1/accuracy, with errors."""
    own = [row for row in rows if row["kernel"] == kernel]
    largest = max(int(row["dimension"]) for row in own)
    shortest = min(float(row["eta"]) for row in own)
    point = lambda x, row: (row[x], row["distance"], row["error"])
    order = measured([point("eta", row) for row in own if int(row["dimension"]) == largest])
    growth = measured([point("dimension", row) for row in own if float(row["eta"]) == shortest])
    inverse = (1 / order[0], order[1] / order[0] ** 2)
    error = math.hypot(growth[1] * inverse[0], inverse[1] * growth[0])
    return order, growth, (growth[0] * inverse[0], error), inverse


def coupling():
    """Gradients bounded by coupled chains, and powers of the distance between step sizes."""
    rows = read("coupling")
    dimensions = sorted({int(row["dimension"]) for row in rows})
    shortest = min(float(row["eta"]) for row in rows)
    find = {(row["kernel"], int(row["dimension"]), float(row["eta"])): row for row in rows}
    star = {"true": "*", "false": ""}
    shown = lambda row: f'{float(row["gradients"]):.0f}{star[row["extrapolated"]]}'
    lines = [["κ", *(f'{float(find[KERNELS[0], d, shortest]["kappa"]):.1f}' for d in dimensions)]]
    lines += [[kernel, *(shown(find[kernel, d, shortest]) for d in dimensions)] for kernel in KERNELS]
    powers = []
    for kernel in KERNELS:
        proved = PROVED.get(kernel, (None, None))
        order, growth, in_dimension, in_accuracy = coupling_powers(rows, kernel)
        cells = [power(*order), power(*growth), power(*in_dimension), exponent(proved[0])]
        powers.append([kernel, *cells, power(*in_accuracy), exponent(proved[1])])
    head = ["kernel", "D in η", "D in d", "gradients in d", "proved", "gradients in 1/ε", "proved"]
    return table(["gradients", *(f"d = {d}" for d in dimensions)], lines) + "\n\n" + table(head, powers)


# The order of paths in published guarantees, by what is Lipschitz: gradient, Hessian, third derivative.
PROVED_ORDERS = {
    "third-order": (2, 2, 2),
    "ula": (1 / 2, 1, 1),
    "klmc": (1, 1, 1),
    "ubu": (1, 2, 2),
    "randomized-midpoint": (3 / 2, 3 / 2, 3 / 2),
    "quicsort": (1, 2, 3),
}


def order_of(rows, kernel, lipschitz):
    """The order of a kernel's paths on one class of potentials, with its error."""
    own = [row for row in rows if (row["kernel"], row["lipschitz"]) == (kernel, lipschitz)]
    return measured([(row["eta"], row["distance"], row["error"]) for row in own])


def orders():
    """Orders of paths by the smoothness of the potential."""
    rows = read("orders")
    classes = list(dict.fromkeys(row["lipschitz"] for row in rows))
    lines = []
    for kernel in KERNELS:
        line = [kernel]
        for at, lipschitz in enumerate(classes):
            line.append(power(*order_of(rows, kernel, lipschitz)))
            if at < 3:
                line.append(f"{PROVED_ORDERS[kernel][at]:g}" if kernel in PROVED_ORDERS else "")
        lines.append(line)
    head = ["kernel", "Lipschitz gradient", "proved", "Lipschitz Hessian", "proved"]
    return table([*head, "Lipschitz third derivative", "proved", "smooth"], lines)


def nodes():
    """Distance from exact line integrals, beside the effect of the step size."""
    rows = read("nodes")
    etas = sorted({float(row["eta"]) for row in rows}, reverse=True)
    find = {(row["nodes"], float(row["eta"])): float(row["distance"]) for row in rows}
    kinds = list(dict.fromkeys(row["nodes"] for row in rows))
    shown = lambda value: f"{value:.2g}" if value > 1e-12 else "rounding"
    lines = [[kind, *(shown(find[kind, eta]) for eta in etas)] for kind in kinds]
    ratios = [f'{find["halved step", eta] / find["1", eta]:.0f}' for eta in etas]
    lines.append(["halved step, over 1 node", *ratios])
    return table(["nodes", *(f"η = {eta:g}" for eta in etas)], lines)


def start():
    """Gradients of the accelerated start beside their bound, for each target; fitted powers."""
    rows = read("start")
    targets = list(dict.fromkeys(row["target"] for row in rows))
    parts = []
    for target in targets:
        own = [row for row in rows if row["target"] == target]
        lines = [
            [
                f'{int(row["kappa"]):,}',
                f'{int(row["gradients"]):,}',
                f'{int(row["bound"]):,}',
                f'{float(row["growth"]):,.0f}',
                f'{float(row["ratio"]):.2f}',
                f'{int(row["plain"]):,}' if row["plain"] else "",
                f'{float(row["distance"]):.2f}',
            ]
            for row in own
        ]
        power = lambda key: exponent(slope([(row["kappa"], row[key]) for row in own if row[key]]))
        bare = [(row["kappa"], float(row["ratio"]) * float(row["kappa"]) ** 0.5) for row in own]
        powers = [power("gradients"), power("bound"), power("growth"), "", power("plain"), ""]
        lines.append(["power of κ", *powers])
        lines.append(["power of κ, without log(dκ)", exponent(slope(bare)), "", "1/2", "", "", ""])
        head = ["gradients", "bound", "√κ log(dκ)", "ratio", "plain descent", "√L distance"]
        parts.append(table([f"{target}: κ", *head], lines))
    return "\n\n".join(parts)


def nodes_dimension():
    """Errors of nodes on separable targets: the largest case, and fitted powers."""
    rows = read("nodes-dimension")
    kinds = list(dict.fromkeys((row["target"], row["nodes"]) for row in rows))
    most = max(int(row["dimension"]) for row in rows)
    least = min(float(row["eta"]) for row in rows)
    lines = []
    for target, nodes in kinds:
        own = [row for row in rows if (row["target"], row["nodes"]) == (target, nodes)]
        along = {
            "dimension": [row for row in own if float(row["eta"]) == least],
            "eta": [row for row in own if int(row["dimension"]) == most][-2:],
        }
        alpha = 2 if target == "huber" else int(nodes) + int(nodes) % 2 + 1
        powers = []
        for key, bound in (("dimension", (alpha - 1) / 2), ("eta", alpha - 1)):
            powers += [power_with_error(along[key], key, value) for value in ("one_step", "distance")]
            powers.append(f"{bound:g}")
        last = along["eta"][-1]
        lines.append([target, nodes, str(alpha), f'{float(last["distance"]):.2g}', *powers])
    in_d = ["one step in d", "chain in d", "bound"]
    in_eta = ["one step in η", "chain in η", "bound"]
    head = ["target", "n", "α", f"chain, d = {most:,}, η = {least:g}", *in_d, *in_eta]
    return table(head, lines)


def power_with_error(rows, key, value):
    """A fitted power with its standard error, from those of the points."""
    points = [(float(row[key]), float(row[value]), float(row[value + "_error"])) for row in rows]
    logs = [math.log(x) for x, _, _ in points]
    mean = sum(logs) / len(logs)
    spread = sum((x - mean) ** 2 for x in logs)
    error = math.sqrt(sum(((x - mean) * e / y) ** 2 for x, (_, y, e) in zip(logs, points))) / spread
    return f"{slope([(x, y) for x, y, _ in points]):.3f} ± {error:.3f}"


def diffusion():
    rows = []
    for row in read("certify-diffusion"):
        best = float(row["best_rate"])
        rows.append(
            [
                row["kappa"],
                f'{float(row["paper_rate"]):.3g}',
                f'{float(row["best_rate_at_paper_parameters"]):.3g}',
                f"{best:.4g}",
                f'{best * float(row["kappa"]):.2f}',
                f'({float(row["gamma"]):.2f}, {float(row["xi"]):.2f})',
            ]
        )
    paper = ["paper's rate", "best rate at the paper's γ, ξ"]
    return table(["κ", *paper, "best rate", "best rate times κ", "at (γ, ξ)"], rows)


def algorithm():
    cells = {}
    for row in read("certify-algorithm"):
        found = f'{float(row["gap"]):.4g}' if row["gap"] else row["status"]
        given = (row["kappa"], f'{row["gamma"]}, {row["xi"]}', row["eta"])
        cells.setdefault(given, {})[row["kernel"]] = found
    rows = [[*given, found["third-order"], found["symmetric"]] for given, found in cells.items()]
    return table(["κ", "γ, ξ", "η", "Algorithm 1: gap 1 − r", "symmetric splitting: gap"], rows)


def plans():
    """Steps by dimension and by accuracy, each with the fitted power in the last row."""
    rows = read("plan")
    first = rows[0]
    kappas, dimensions, accuracies = (
        list(dict.fromkeys(row[key] for row in rows)) for key in ("kappa", "dimension", "accuracy")
    )
    steps = {(row["kappa"], row["dimension"], row["accuracy"]): int(row["steps"]) for row in rows}
    by_dimension = {d: [steps[kappa, d, first["accuracy"]] for kappa in kappas] for d in dimensions}
    by_accuracy = {e: [steps[kappa, first["dimension"], e] for kappa in kappas] for e in accuracies}
    shown = lambda counts: [f"{count:,}" for count in counts]
    lines = [
        [d, *shown(by_dimension[d]), e, *shown(by_accuracy[e])]
        for d, e in zip(dimensions, accuracies, strict=True)
    ]
    fitted = lambda counts, sign: [
        exponent(sign * slope(zip(counts, column))) for column in zip(*counts.values())
    ]
    powers = ["power of d", *fitted(by_dimension, 1), "power of 1/ε", *fitted(by_accuracy, -1)]
    labels = [f"κ = {kappa}" for kappa in kappas]
    head = [f'd (ε = {first["accuracy"]})', *labels, f'ε (d = {first["dimension"]})', *labels]
    return table(head, [*lines, powers])


def plans_alpha():
    """Steps by dimension for each order of smoothness, with the powers of d in 1/η between rows."""
    rows = read("plan-alpha")
    rows = [row for row in rows if row["accuracy"] == rows[0]["accuracy"]]
    find = {(row["alpha"], int(row["dimension"])): row for row in rows}
    alphas = list(dict.fromkeys(row["alpha"] for row in rows))
    dimensions = sorted({d for _, d in find})[::4]
    lines = []
    for before, d in zip([None, *dimensions], dimensions):
        cells = []
        for alpha in alphas:
            power = ""
            if before:
                ends = [(at, 1 / float(find[alpha, at]["eta"])) for at in (before, d)]
                power = exponent(slope(ends))
            cells += [f'{int(find[alpha, d]["steps"]):,}', power]
        lines.append([f"{d:,}", *cells])
    head = ["d", *(text for alpha in alphas for text in (f"α = {alpha}: steps", "power"))]
    return table(head, lines)


def plan_nodes():
    """Steps by the number of nodes, in few and in many dimensions."""
    found = figures_of("lyapunov", "more_nodes_save_steps_where_quadrature_dominates")
    cases, rules = (list(dict.fromkeys(column)) for column in zip(*found))
    shown = lambda rule: rule.replace("1 nodes", "1 node").replace("exact", "exact integrals")
    name = lambda case: f"steps, d = {int(case.removeprefix('d = ')):,}"
    lines = [[name(case), *(f"{found[case, rule]:,.0f}" for rule in rules)] for case in cases]
    return table(["", *map(shown, rules)], lines)


def draw_costs(file, kernels):
    shown = lambda cost: digits(float(cost), 3).replace(",", "")
    cells = {(row["kappa"], row["kernel"]): shown(row["gradients_per_draw"]) for row in read(file)}
    kappas = list(dict.fromkeys(kappa for kappa, _ in cells))
    lines = [[kernel, *(cells[kappa, kernel] for kappa in kappas)] for kernel in kernels]
    return table(["gradients per draw", *(f"κ = {kappa}" for kappa in kappas)], lines)


def draw_parameters():
    kernels = KERNELS[:3]
    rows = [row for row in read("iact") if row["kernel"] in kernels]
    cells = {}
    for row in rows:
        gamma, xi, eta = (float(row[name]) for name in ("gamma", "xi", "eta"))
        cells[row["kappa"], row["kernel"]] = f"({gamma:.2f}, {xi:.2f}, {eta:.3f})"
    kappas = list(dict.fromkeys(row["kappa"] for row in rows))
    head = ["κ", *(f"{kernel} (γ, ξ, η)" for kernel in kernels)]
    return table(head, [[kappa, *(cells[kappa, kernel] for kernel in kernels)] for kappa in kappas])


TABLES = {
    "one-step": ("theory.md", one_step),
    "statements": ("theory.md", statements),
    "quadrature-shares": ("theory.md", quadrature_shares),
    "exponents": ("theory.md", exponents),
    "diffusion": ("certificates.md", diffusion),
    "algorithm": ("certificates.md", algorithm),
    "plans": ("certificates.md", plans),
    "plan-nodes": ("certificates.md", plan_nodes),
    "plans-alpha": ("certificates.md", plans_alpha),
    "draw-costs": ("laws.md", lambda: draw_costs("iact", KERNELS)),
    "draw-costs-near": ("laws.md", lambda: draw_costs("iact-near", KERNELS[:3])),
    "draw-parameters": ("laws.md", draw_parameters),
    "mixing": ("experiments.md", mixing),
    "coupling": ("experiments.md", coupling),
    "orders-by-smoothness": ("experiments.md", orders),
    "nodes": ("experiments.md", nodes),
    "start": ("experiments.md", start),
    "nodes-dimension": ("experiments.md", nodes_dimension),
}
