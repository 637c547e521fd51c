#!/usr/bin/env python3
"""Predicts how a step scales over processes that share the rows, from what was measured:
docs/results/mpi-scaling.csv and .svg.

Measured: the gradient of 8 chains (bench-potentials.csv), the rest of a step (bench-sampler.csv),
sums between two processes of one machine (mpi-latency.csv). Assumed: a network of 2 µs a message
and 10 GB/s. docs/distributed.md derives the formula.
"""
import csv
import math
import pathlib

RESULTS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"
CHAINS = 8
SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 10**4, 10**5, 10**6, 10**7]
# n, d; and the rows of each process where these stay the same.
PROBLEMS = [(10**9, 1000, 10**6), (10**6, 100, 10**3)]
NETWORK = {"network (assumed)": (2e-6, 1e-10)}


def read(name):
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def measured():
    """Seconds for an entry and a chain, for a coordinate and a chain; for a message and for each of its bytes."""
    gradient = next(r for r in read("bench-potentials") if r["group"].endswith("2000 x 2000") and r["case"] == "dense gradient, 8 chains")
    rest = next(r for r in read("bench-sampler") if r["case"] == "symmetric, the rest")
    sums = {int(r["bytes"]): float(r["best_us"]) * 1e-6 for r in read("mpi-latency") if r["processes"] == "2"}
    per_byte = (sums[64000] - sums[64]) / (64000 - 64)
    entry = float(gradient["median_ns"]) * 1e-9 / (2000 * 2000 * 8)
    return entry, float(rest["median_ns"]) * 1e-9 / (200 * 8), (sums[64] - 64 * per_byte, per_byte)


def step(n, d, processes, costs):
    """Seconds of a step: the rows of one process, what every process does alike, the rounds of the sum."""
    entry, rest, (message, byte) = costs
    rounds = math.floor(math.log2(processes)) + (2 if processes & (processes - 1) else 0)
    return entry * n * d * CHAINS / processes + rest * d * CHAINS + rounds * (message + byte * 8 * d * CHAINS)


def stops(n, d, costs):
    """Processes at which half of the time is not the rows', and beyond which a step takes longer."""
    entry, rest, (message, byte) = costs
    rows, round_ = entry * n * d * CHAINS, message + byte * 8 * d * CHAINS
    low, high = 0.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if rows / 2**middle > rest * d * CHAINS + middle * round_ else (low, middle)
    return 2**low, rows * math.log(2) / round_


def main():
    entry, rest, here = measured()
    rows = []
    for name, line in {"one machine (measured)": here, **NETWORK}.items():
        costs = (entry, rest, line)
        for n, d, each in PROBLEMS:
            half, end = stops(n, d, costs)
            for processes in SIZES:
                strong, weak = step(n, d, processes, costs), step(each * processes, d, processes, costs)
                rows.append(
                    {
                        "line": name, "n": n, "d": d, "processes": processes, "step_seconds": f"{strong:.4g}",
                        "strong_efficiency": f"{step(n, d, 1, costs) / strong / processes:.4g}", "rows_each": each,
                        "weak_efficiency": f"{step(each, d, 1, costs) / weak:.4g}", "half_at": f"{half:.3g}", "stops_at": f"{end:.3g}",
                    }
                )
    with (RESULTS / "mpi-scaling.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (RESULTS / "mpi-scaling.svg").write_text(drawn(rows))


def drawn(rows):
    """Efficiencies over processes, strong and weak, side by side."""
    width, height, left, top, across, down = 860, 360, 60, 40, 330, 250
    colours = ["#1b6ca8", "#d1495b", "#3b8b5a", "#8a5fb0"]
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">']
    lines.append(f'<rect width="{width}" height="{height}" fill="white"/>')
    series = {}
    for row in rows:
        series.setdefault((row["line"], row["n"], row["d"], row["rows_each"]), []).append(row)
    for panel, (key, title) in enumerate([("strong_efficiency", "strong scaling: the same rows"), ("weak_efficiency", "weak scaling: the same rows for each process")]):
        x0 = left + panel * (across + 80)

        def place(processes, value):
            return x0 + across * math.log10(processes) / 7, top + down * (1 - value)

        lines.append(f'<text x="{x0}" y="{top - 14}" font-size="13">{title}</text>')
        for power in range(8):
            x, _ = place(10**power, 0)
            lines.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{top + down}" stroke="#ddd"/>')
            lines.append(f'<text x="{x:.1f}" y="{top + down + 14}" text-anchor="middle">10<tspan dy="-4" font-size="8">{power}</tspan></text>')
        for tenth in range(0, 11, 2):
            _, y = place(1, tenth / 10)
            lines.append(f'<line x1="{x0}" y1="{y:.1f}" x2="{x0 + across}" y2="{y:.1f}" stroke="#ddd"/>')
            lines.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>')
        lines.append(f'<text x="{x0 + across / 2}" y="{top + down + 30}" text-anchor="middle">processes</text>')
        x, y = x0 - 36, top + down / 2
        lines.append(f'<text x="{x}" y="{y}" text-anchor="middle" transform="rotate(-90 {x} {y})">efficiency</text>')
        for at, (colour, found) in enumerate(zip(colours, series.values())):
            # What is assumed is dashed: where it falls on what was measured both are seen.
            dashes = ' stroke-dasharray="6 5"' if at > 1 else ""
            points = " ".join("{:.1f},{:.1f}".format(*place(r["processes"], float(r[key]))) for r in found)
            lines.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"{dashes}/>')
    for at, (colour, (line, n, d, _)) in enumerate(zip(colours, series)):
        x, y = left + (at % 2) * 400, height - 26 + 16 * (at // 2)
        dashes = ' stroke-dasharray="6 5"' if at > 1 else ""
        lines.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 22}" y2="{y - 4}" stroke="{colour}" stroke-width="2"{dashes}/>')
        lines.append(f'<text x="{x + 28}" y="{y}">{line}, n = {n:.0e}, d = {d}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


if __name__ == "__main__":
    main()
