"""Experiments, certificates, plans and exact laws."""
from .forms import exponent, read, slope, table

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


TABLES = {
    "mixing": ("experiments.md", mixing),
    "coupling": ("experiments.md", coupling),
    "nodes": ("experiments.md", nodes),
}

VALUES = {}
