#!/usr/bin/env python3
"""Chains with what ArviZ says of them, for the tests of crates/diagnostics.

    python3 -m venv venv && venv/bin/pip install arviz==0.23.4 numpy==2.4.6 scipy==1.17.1
    venv/bin/python scripts/oracles/diagnostics.py

Made with Python 3.11. Writes one JSON file per case into crates/diagnostics/tests/fixtures/: the
versions used, the draws (one list per chain, rounded so that they are short and parse to the same
bits anywhere) and under "arviz" every diagnostic as ArviZ's public functions give it. Numbers are
written with all digits; nan, inf and -inf as strings.

"numpy_quantile" holds the entries that change when ArviZ's quantile, whose position and weights are
rounded so that it can fall just below the draw it should be equal to, is replaced by
numpy.quantile, everything else being ArviZ. Few cases have any; see docs/diagnostics.md.
"""
import json
import logging
import math
import pathlib
import warnings

import arviz
import numpy
import scipy
from arviz.stats import diagnostics

OUT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "diagnostics" / "tests" / "fixtures"
PROBABILITIES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.9, 0.95)


def rounded(draws, digits=8):
    return numpy.array([[float(f"{x:.{digits}g}") for x in chain] for chain in draws])


def ar1(rng, chains, draws, phi):
    """Stationary with unit variance."""
    out = numpy.empty((chains, draws))
    out[:, 0] = rng.standard_normal(chains)
    for t in range(1, draws):
        out[:, t] = phi * out[:, t - 1] + math.sqrt(1 - phi * phi) * rng.standard_normal(chains)
    return out


def cases():
    rng = lambda seed: numpy.random.Generator(numpy.random.PCG64(seed))
    yield "good", rounded(ar1(rng(1), 4, 1000, 0.3))
    stuck = ar1(rng(2), 4, 400, 0.3)
    stuck[3] = 5 + 0.1 * stuck[3]
    yield "stuck", rounded(stuck)
    yield "anticorrelated", rounded(ar1(rng(3), 4, 500, -0.7))
    yield "alternating", rounded(ar1(rng(4), 2, 300, -0.99))
    yield "constant", numpy.full((4, 100), 1.5)
    one_constant = ar1(rng(5), 4, 250, 0.3)
    one_constant[1] = 0.25
    yield "one_constant", rounded(one_constant)
    yield "levels", numpy.repeat([[1.0], [2.0], [4.0]], 60, axis=1)
    yield "one_chain", rounded(ar1(rng(6), 1, 1000, 0.5))
    yield "odd", rounded(ar1(rng(7), 3, 333, 0.5))
    yield "odd_five_chains", rounded(ar1(rng(8), 5, 77, 0.8))
    yield "cauchy", rounded(rng(9).standard_cauchy((4, 500)))
    yield "student_2", rounded(rng(10).standard_t(2, (4, 500)))
    hole = ar1(rng(11), 4, 60, 0.3)
    hole[2, 17] = math.nan
    yield "nan", rounded(hole)
    infinite = ar1(rng(12), 4, 60, 0.3)
    infinite[0, 5] = math.inf
    yield "infinite", rounded(infinite)
    for draws in (1, 3, 4, 5, 6, 8, 9, 10, 11, 12):
        yield f"short_{draws}", rounded(ar1(rng(100 + draws), 4, draws, 0.3))
    yield "ties", rng(13).poisson(3.0, (4, 400)).astype(float)
    yield "ties_tenths", rounded(numpy.round(ar1(rng(14), 3, 401, 0.6), 1))
    yield "two_values", (rng(15).random((4, 200)) < 0.3).astype(float)
    yield "near_unit_root", rounded(ar1(rng(16), 8, 2000, 0.995))
    yield "trend", rounded(ar1(rng(17), 4, 300, 0.3) + numpy.linspace(-1, 1, 300))
    yield "scales", rounded(ar1(rng(18), 4, 300, 0.3) * numpy.array([[1.0], [1.0], [1.0], [4.0]]))
    yield "far_from_zero", rounded(1e5 + ar1(rng(19), 4, 300, 0.3), 13)
    yield "rounding_641", rounded(ar1(rng(20), 1, 641, 0.3))
    # The 95 % quantile lies among equal draws of 1.7, and 1.7 w + 1.7 (1 - w) rounds to less: ArviZ
    # counts none of them as at or below it.
    yield "ties_rounding", rng(21).choice([0.4, 1.7, 2.5], (4, 52), p=[0.7, 0.27, 0.03])


def numbers(draws):
    """Every diagnostic by its name."""
    out = {
        "mean": numpy.mean(draws),
        "sd": numpy.std(draws, ddof=1) if draws.size > 1 else math.nan,
        "rhat": arviz.rhat(draws),
        "ess_bulk": arviz.ess(draws, method="bulk"),
        "ess_tail": arviz.ess(draws, method="tail"),
        "ess_mean": arviz.ess(draws, method="mean"),
        "ess_sd": arviz.ess(draws, method="sd"),
        "mcse_mean": arviz.mcse(draws, method="mean"),
        "mcse_sd": arviz.mcse(draws, method="sd"),
    }
    for p in PROBABILITIES:
        out[f"quantile {p}"] = numpy.quantile(draws, p)
        out[f"ess_quantile {p}"] = arviz.ess(draws, method="quantile", prob=p)
        out[f"mcse_quantile {p}"] = arviz.mcse(draws, method="quantile", prob=p)
    return {name: float(value) for name, value in out.items()}


def differ(a, b):
    return not (a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= 1e-13 * abs(b))


def plain(x):
    return float(x) if math.isfinite(x) else str(float(x))


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    versions = {"arviz": arviz.__version__, "numpy": numpy.__version__, "scipy": scipy.__version__}
    arviz_quantile = diagnostics._quantile
    for name, draws in cases():
        expected = numbers(draws)
        diagnostics._quantile = lambda values, p: numpy.atleast_1d(numpy.quantile(values, p))
        other = numbers(draws)
        diagnostics._quantile = arviz_quantile
        document = {
            "versions": versions,
            "arviz": {key: plain(value) for key, value in expected.items()},
            "numpy_quantile": {key: plain(value) for key, value in other.items() if differ(value, expected[key])},
            "chains": [[plain(x) for x in chain] for chain in draws],
        }
        text = json.dumps(document, indent=1, allow_nan=False)
        # One chain per line.
        head, chains = text.split(' "chains": ')
        lines = ",\n".join("  " + json.dumps(chain) for chain in document["chains"])
        (OUT / f"{name}.json").write_text(f'{head} "chains": [\n{lines}\n ]\n}}\n')
        changed = ", ".join(document["numpy_quantile"]) or "none"
        print(f"{name}: rhat {expected['rhat']:.4f} bulk {expected['ess_bulk']:.1f} tail {expected['ess_tail']:.1f} changed: {changed}")


if __name__ == "__main__":
    main()
