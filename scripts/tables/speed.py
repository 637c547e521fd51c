"""Measured speeds and memory: benches, steps beside their ceilings, draws to the disk."""
from .forms import number, read, table


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
    "limits": ("benchmarks.md", limits),
    "growth": ("benchmarks.md", growth),
    "steps": ("benchmarks.md", steps),
}

VALUES = {}
