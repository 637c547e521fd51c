#!/usr/bin/env python3
"""Renders docs/results/efficiency.csv and bias.csv as the tables of docs/sampler.md, between its markers. Usage: scripts/tables.py [--check] [NAME ...]

With --check nothing is written, and the exit code is 1 if a table is not what its file says.
"""
import csv
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sampler.md"


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


def efficiency():
    rows = []
    for row in read("efficiency"):
        share = float(row["warm_up_gradients"]) / float(row["gradients"])
        rows.append(
            [
                row["target"],
                row["sampler"],
                number(row["ess_per_gradient"]),
                number(row["ess_per_gradient_with_warm_up"]),
                number(row["warm_up_gradients"], "{:.0f}"),
                f"{100 * share:.1f} %",
                number(row["mean_error_sd"]),
                number(row["sd_error_percent"], "{:.1f} %"),
                number(row["rhat"], "{:.4f}"),
            ]
        )
    head = ["target", "sampler", "E", "E, warm-up counted", "warm-up gradients", "of the run", "mean off, sd", "sd off", "R-hat"]
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


def main():
    old = new = PAGE.read_text()
    makers = {"efficiency": efficiency, "bias": bias}
    names = [name for name in sys.argv[1:] if name != "--check"] or list(makers)
    unknown = [name for name in names if name not in makers]
    if unknown:
        sys.exit(f"unknown table {unknown[0]!r}: need one of {', '.join(makers)}")
    for name in names:
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = new.partition(begin)
        _, found, after = rest.partition(end)
        if not found:
            sys.exit(f"{PAGE.name}: no markers for the table `{name}`")
        new = before + begin + makers[name]() + "\n" + end + after
    if "--check" in sys.argv[1:]:
        sys.exit(int(new != old))
    PAGE.write_text(new)


if __name__ == "__main__":
    main()
