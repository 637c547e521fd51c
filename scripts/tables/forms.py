"""Shared by all modules here: reading a result file, formatting numbers and tables."""
import csv
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


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


def slope(points):
    """The slope of the least-squares line through the points (log x, log y)."""
    logs = [(math.log(float(x)), math.log(float(y))) for x, y in points]
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    return sum((a - x) * (b - y) for a, b in logs) / sum((a - x) ** 2 for a, _ in logs)


def fitted(points):
    """The same slope, and its standard error from the scatter around the line."""
    points = list(points)
    logs = [(math.log(float(x)), math.log(float(y))) for x, y in points]
    value = slope(points)
    x, y = (sum(column) / len(logs) for column in zip(*logs))
    rest = sum((b - y - value * (a - x)) ** 2 for a, b in logs)
    spread = sum((a - x) ** 2 for a, _ in logs)
    return value, math.sqrt(rest / max(len(logs) - 2, 1) / spread)


def measured(points):
    """The slope through points (x, y, standard error of y), and the error that follows."""
    points = [(float(x), float(y), float(error)) for x, y, error in points]
    mean = sum(math.log(x) for x, _, _ in points) / len(points)
    spread = sum((math.log(x) - mean) ** 2 for x, _, _ in points)
    parts = [(math.log(x) - mean) / spread * error / y for x, y, error in points]
    return slope([(x, y) for x, y, _ in points]), math.hypot(*parts)


def power(value, error):
    """A fitted exponent with its standard error."""
    return f"{value + 0.0:.3f} ± {error:.3f}".replace("-0.000", "0.000")


def exponent(value):
    return "" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00")


def digits(value, least=2):
    """At least `least` significant digits, and all digits before the point."""
    places = least - 1 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{max(places, 0)}f}"


def about(value, least=2):
    """Rounded to `least` significant digits."""
    unit = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - least) if value else 1.0
    return digits(round(value / unit) * unit, least)


def between(values, form="{:.2f}", unit=""):
    """The smallest to the largest, or one number if they print the same."""
    low, high = form.format(min(values)), form.format(max(values))
    return (low if low == high else f"{low} to {high}") + unit


def listed(words):
    """a, b and c; "none" if the list is empty."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]])) or "none"
