#!/usr/bin/env python3
"""Pareto-smoothed importance sampling by ArviZ, for the tests of crates/diagnostics.

    python3 -m venv venv && venv/bin/pip install arviz==0.23.4 numpy==2.4.6 scipy==1.17.1
    venv/bin/python scripts/oracles/loo.py crates/diagnostics/tests/loo

Made with Python 3.11. Reads the log likelihoods in DIRECTORY/loo.json, which scripts/oracles/loo.R
writes, and writes DIRECTORY/arviz.json: the versions used, and for every case what arviz.psislw
gives. Numbers are written with all digits; inf as a string. No code of ridgewalk is used.
"""
import json
import math
import pathlib
import sys
import warnings

import arviz
import numpy
import scipy


def plain(x):
    return float(x) if math.isfinite(x) else str(float(x))


def case(entry):
    """One call for each observation: psislw takes one relative efficiency."""
    out = {"name": entry["name"], "pareto_k": [], "log_weights": []}
    for log_likelihood, r_eff in zip(entry["log_likelihood"], entry["r_eff"]):
        log_weights, k = arviz.psislw(-numpy.array(log_likelihood), reff=r_eff)
        out["pareto_k"].append(plain(k))
        out["log_weights"].append([plain(x) for x in log_weights])
    return out


def main():
    folder = pathlib.Path(sys.argv[1])
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    document = json.loads((folder / "loo.json").read_text())
    cases = [case(entry) for entry in document["psis"]]
    versions = {"arviz": arviz.__version__, "numpy": numpy.__version__, "scipy": scipy.__version__}
    # One line per case.
    lines = ",\n".join(json.dumps(entry, allow_nan=False) for entry in cases)
    text = f'{{"versions": {json.dumps(versions)},\n"psis": [\n{lines}\n]}}\n'
    (folder / "arviz.json").write_text(text)
    for entry, theirs in zip(document["psis"], cases):
        print(entry["name"], entry["pareto_k"], theirs["pareto_k"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: loo.py DIRECTORY")
    main()
