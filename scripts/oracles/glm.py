#!/usr/bin/env python3
"""Prints what crates/cli/tests/fit_reference.rs compares fits under flat priors with: maximum
likelihood estimates and standard errors by statsmodels, and posterior means and standard deviations
by importance sampling around them.

    python3 -m venv target/glm && target/glm/bin/pip install statsmodels==0.15.0
    target/glm/bin/python scripts/oracles/glm.py

The data: the breast cancer file that ships with the program, standardized (divisor n), and
crates/cli/tests/data/mixed.csv, which is made up (crates/cli/tests/data/README.md). Figures are
printed as Rust constants: estimate, standard error, posterior mean, posterior standard deviation,
effective number of weighted draws. The proposal is a t law of 6 degrees of freedom with the
estimate's covariance; the log likelihood is written out here, not taken from statsmodels. Takes
about half a minute.
"""
import csv
import pathlib

import numpy
import statsmodels
import statsmodels.api as sm
from scipy.special import log_ndtr

ROOT = pathlib.Path(__file__).resolve().parents[2] / "crates" / "cli"


def columns(path, names):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    return [numpy.array([float(row[name]) for row in rows]) for name in names]


DRAWS = 400_000


def posterior(fit, likelihood):
    """Mean and sd of each coefficient under a flat prior, and the effective number of draws, by importance sampling."""
    generator = numpy.random.default_rng(20)
    dimension, freedom = len(fit.params), 6.0
    root = numpy.linalg.cholesky(numpy.asarray(fit.cov_params()))
    normal = generator.standard_normal((DRAWS, dimension))
    t = normal * numpy.sqrt(freedom / generator.chisquare(freedom, DRAWS))[:, None]
    proposal = -0.5 * (freedom + dimension) * numpy.log1p((t**2).sum(axis=1) / freedom)
    points = numpy.asarray(fit.params) + t @ root.T
    target = numpy.concatenate([likelihood(part) for part in numpy.array_split(points, 200)])
    weights = numpy.exp(target - proposal - (target - proposal).max())
    weights /= weights.sum()
    mean = weights @ points
    sd = numpy.sqrt(weights @ (points - mean) ** 2)
    return mean, sd, 1.0 / (weights**2).sum()


def show(name, model, likelihood):
    fit = model.fit(tol=1e-14, maxiter=200)
    mean, sd, effective = posterior(fit, lambda points: likelihood(points @ model.exog.T, fit.scale))
    print(f"/// sqrt(scale) = {float(numpy.sqrt(fit.scale))!r}")
    print(f"const {name}: &[Reference] = &[")
    for row in zip(fit.params, fit.bse, mean, sd):
        print("    (" + ", ".join(repr(float(x)) for x in row) + f", {effective:.0f}.0),")
    print("];")


def binomial(successes, trials, weights=1.0):
    return lambda eta, _: (weights * (successes * eta - trials * numpy.logaddexp(0.0, eta))).sum(axis=1)


def main():
    print(f"// statsmodels {statsmodels.__version__}, numpy {numpy.__version__}")
    predictors = ["mean_radius", "mean_texture", "mean_smoothness", "mean_compactness"]
    y, *x = columns(ROOT / "data" / "breast-cancer.csv", ["y", *predictors])
    design = sm.add_constant(numpy.column_stack([(c - c.mean()) / c.std() for c in x]))
    show("CANCER_LOGIT", sm.GLM(y, design, family=sm.families.Binomial()), binomial(y, 1.0))

    path = ROOT / "tests" / "data" / "mixed.csv"
    names = ["dose", "age", "ill", "count", "exposure", "level", "successes", "trials", "weight"]
    dose, age, ill, count, exposure, level, successes, trials, weight = columns(path, names)
    design = sm.add_constant(numpy.column_stack([dose, age]))
    show("MIXED_PROBIT", sm.GLM(ill, design, family=sm.families.Binomial(sm.families.links.Probit())),
         lambda eta, _: log_ndtr((2.0 * ill - 1.0) * eta).sum(axis=1))
    show("MIXED_POISSON", sm.GLM(count, design, family=sm.families.Poisson(), offset=exposure),
         lambda eta, _: (count * eta - numpy.exp(eta + exposure)).sum(axis=1))
    show("MIXED_GAUSSIAN", sm.GLM(level, design, family=sm.families.Gaussian()),
         lambda eta, scale: (-0.5 * (level - eta) ** 2 / scale).sum(axis=1))
    both = numpy.column_stack([successes, trials - successes])
    show("MIXED_TRIALS", sm.GLM(both, design, family=sm.families.Binomial()), binomial(successes, trials))
    show("MIXED_WEIGHTS", sm.GLM(ill, design, family=sm.families.Binomial(), freq_weights=weight),
         binomial(ill, 1.0, weight))


if __name__ == "__main__":
    main()
