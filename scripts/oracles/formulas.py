#!/usr/bin/env python3
"""Model matrices of formulaic for the formulas of formulas.R, where the two agree.

    python3 -m venv venv && venv/bin/pip install formulaic==1.2.2 pandas==3.1.1 numpy==2.4.6
    venv/bin/python scripts/oracles/formulas.py crates/frame/tests/data/formulas

Reads data.csv and formulas.json in DIRECTORY, which formulas.R makes, and writes formulaic.json. No
code of ridgewalk is used. Each formula is translated into formulaic's syntax where it has one. A
matrix is recorded if its columns are R's to 1e-9, in any order; its columns are then in R's order.
The other formulas are listed, with the reason, under `differ` and `untranslated`.
"""
import collections
import json
import pathlib
import re
import sys

import formulaic
import numpy
import pandas

TOLERANCE = 1e-9

# What formulaic has no call for: its natural splines have another basis, and `&` is Python's.
MISSING = re.compile(r"\b(ns|cut|offset)\(|&")
# Functions that it takes from numpy under numpy's name.
NUMPY = re.compile(r"\b(sqrt|abs|log1p)\(")


def calls(text, name):
    """The spans of the calls of one function, outermost only."""
    for found in re.finditer(rf"\b{name}\(", text):
        depth, end = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield found.start(), end


def translate(formula):
    """The right-hand side in formulaic's syntax, or None."""
    text = formula.split("~", 1)[1].strip()
    if MISSING.search(text):
        return None
    for start, end in reversed(list(calls(text, "I"))):
        inside = text[start:end].replace("^", "**")
        # A comparison is a factor in R, a number in formulaic.
        if re.search("[<>=]", inside):
            inside = f"C({inside})"
        text = text[:start] + inside + text[end:]
    text = re.sub(r"\bfactor\((\w+)(, levels = c\(([^)]*)\))?\)",
                  lambda m: f"C({m[1]}, levels=[{m[3]}])" if m[2] else f"C({m[1]})", text)
    text = re.sub(r"\bC\((\w+), (sum|helmert|treatment)\)", r"C(\1, contr.\2)", text)
    text = re.sub(r'\bC\((\w+), base = ("\w+")\)', r"C(\1, contr.treatment(base=\2))", text)
    text = re.sub(r"knots ?= ?c\(([^)]*)\)", r"knots=[\1]", text)
    return NUMPY.sub(r"np.\1(", text).replace("TRUE", "True")


def match(wanted, columns):
    """For each column of R's matrix, the number of an equal column; None unless all have one."""
    free, order = list(range(columns.shape[1])), []
    for column in wanted.T:
        scale = max(1.0, numpy.abs(column).max())
        found = [j for j in free if numpy.abs(columns[:, j] - column).max() <= TOLERANCE * scale]
        if not found:
            return None
        order.append(found[0])
        free.remove(found[0])
    return None if free else order


def reason(case, columns):
    """Why two matrices differ."""
    names = case["names"]
    if "%in%" in case["formula"]:
        return "formulaic reads `a %in% b` as `b/a`, R as `a:b`"
    if case.get("rank", len(names)) < len(names) and columns.shape[1] == case["rank"]:
        return "R's columns are dependent, formulaic's are not"
    if columns.shape[1] > len(names):
        return "R uses contrasts, since the rest of the term is part of an earlier term"
    sys.exit(f"{case['formula']}: no reason known for the difference")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: formulas.py DIRECTORY")
    folder = pathlib.Path(sys.argv[1])
    data = pandas.read_csv(folder / "data.csv").drop(columns="y")
    reference = json.loads((folder / "formulas.json").read_text())
    cases, differ, untranslated = [], [], []
    for case in reference["cases"]:
        formula, text = case["formula"], translate(case["formula"])
        if text is None:
            untranslated.append(formula)
            continue
        exclude = case.get("exclude", [])
        found = formulaic.model_matrix(text, data.drop(columns=exclude))
        columns = found.to_numpy(dtype=float)[reference["rows"]]
        order = match(numpy.array(case["matrix"]), columns)
        described = {"formula": formula} | ({"exclude": exclude} if exclude else {})
        if order is None:
            differ.append(described | {"why": reason(case, columns)})
        else:
            matrix = [[int(v) if v.is_integer() else v for v in row]
                      for row in columns[:, order].tolist()]
            cases.append(described | {"formulaic": text, "matrix": matrix})

    versions = {"formulaic": formulaic.__version__, "pandas": pandas.__version__,
                "numpy": numpy.__version__}
    lines = [f' "{key}": {json.dumps(value)}' for key, value in versions.items()]
    lines += [f' "rows": {json.dumps(reference["rows"])}']
    for key, items in (("cases", cases), ("differ", differ), ("untranslated", untranslated)):
        rows = ",\n  ".join(json.dumps(item, separators=(",", ":")) for item in items)
        lines.append(f' "{key}": [\n  {rows}]')
    command = "scripts/oracles/formulas.py crates/frame/tests/data/formulas"
    (folder / "formulaic.json").write_text(
        f'{{"script": "{command}",\n' + ",\n".join(lines) + "}\n")
    print(len(cases), "agree,", len(untranslated), "have no translation")
    for why, count in collections.Counter(item["why"] for item in differ).items():
        print(f"{count} differ: {why}")


main()
