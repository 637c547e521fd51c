#!/usr/bin/env python3
"""Leave-one-out predictive densities without sampling: in closed form and by quadrature.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1
    venv/bin/python scripts/oracles/exact_loo.py crates/fit/tests/data

Made with Python 3.11. Writes DIRECTORY/exact-loo.json: small data sets of one predictor, each with
one row far from the others, and for each row

- elpd: the log density of its response given the other rows;
- spread: sd(p) / E(p) of its density p over the posterior without the row, from which the Monte
  Carlo error of a refit follows;
- ratio_spread: the same of 1/p over the posterior of all rows, for importance sampling;
- wrong: elpd with a mistake that the test must catch.

Integrals over the two coefficients are sums over a grid of 1201 x 1201 points within 12 standard
deviations of the mode, where the trapezoidal rule is exact to rounding; the gaussian case has its
closed form as well, and both must agree to 1e-10. No code of ridgewalk is used.
"""
import json
import pathlib
import sys

import numpy
import scipy
from scipy import optimize, special, stats

POINTS, WIDTH = 1201, 12.0


def posterior(log_density):
    """Points and log weights of a grid around the mode."""
    minus = lambda theta: -float(log_density(theta[0], theta[1]))
    start = optimize.minimize(minus, [0.0, 0.0], method="Nelder-Mead",
                              options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 20000})
    mode, h = start.x, 1e-3 * (1 + abs(start.x))
    e = numpy.eye(2) * h
    hessian = numpy.array([[(minus(mode + e[i] + e[j]) - minus(mode + e[i] - e[j])
                             - minus(mode - e[i] + e[j]) + minus(mode - e[i] - e[j]))
                            / (4 * h[i] * h[j]) for j in range(2)] for i in range(2)])
    factor = numpy.linalg.cholesky(numpy.linalg.inv(hessian))
    axis = numpy.linspace(-WIDTH, WIDTH, POINTS)
    u, v = numpy.meshgrid(axis, axis)
    a = mode[0] + factor[0, 0] * u
    b = mode[1] + factor[1, 0] * u + factor[1, 1] * v
    weights = log_density(a, b)
    return a, b, weights - special.logsumexp(weights)


def case(name, x, y, settings, log_likelihood, log_prior, wrong):
    rows = range(len(x))
    terms = lambda a, b, keep: sum(log_likelihood(y[j], a + b * x[j]) for j in keep)
    without = []
    for i in rows:
        keep = [j for j in rows if j != i]
        a, b, weights = posterior(lambda a, b: terms(a, b, keep) + log_prior(a, b))
        own = log_likelihood(y[i], a + b * x[i])
        first, second = special.logsumexp(weights + own), special.logsumexp(weights + 2 * own)
        without.append((first, numpy.sqrt(numpy.expm1(second - 2 * first))))
    a, b, weights = posterior(lambda a, b: terms(a, b, rows) + log_prior(a, b))
    ratios = []
    for i in rows:
        own = -log_likelihood(y[i], a + b * x[i])
        first, second = special.logsumexp(weights + own), special.logsumexp(weights + 2 * own)
        ratios.append(numpy.sqrt(numpy.expm1(second - 2 * first)))
        # 1/E(1/p) over all rows is the density given the others. Where its tail is heavy, the grid
        # cuts some of it off.
        assert ratios[i] > 10 or abs(-first - without[i][0]) < 1e-9 * (1 + abs(first)), (name, i)
    found = {"name": name, "x": list(x), "y": list(y), "settings": settings,
             "elpd": [float(e) for e, _ in without], "spread": [float(s) for _, s in without],
             "ratio_spread": [float(r) for r in ratios],
             "wrong": [float(wrong(i)) for i in rows]}
    print(name)
    for i in rows:
        print(f"  {x[i]:7.3f} {y[i]:7.3f} " + " ".join(f"{found[k][i]:9.5f}" for k in
              ("elpd", "spread", "ratio_spread", "wrong")))
    return found


def closed(x, y, noise, centre, mean, scales, i, keep, known=False):
    """Normal likelihood and priors: the predictive density of row i given others. If the
    coefficients are `known`, at their posterior mean."""
    design = numpy.stack([numpy.ones(len(x)), x - centre], axis=1)
    used = design[keep]
    precision = used.T @ used / noise**2 + numpy.diag(1 / numpy.array(scales) ** 2)
    covariance = numpy.linalg.inv(precision)
    point = covariance @ (used.T @ y[keep] / noise**2 + numpy.array([mean / scales[0] ** 2, 0]))
    sd = noise if known else numpy.sqrt(noise**2 + design[i] @ covariance @ design[i])
    return stats.norm.logpdf(y[i], design[i] @ point, sd)


def others(x, i):
    return numpy.array([j for j in range(len(x)) if j != i])


def gaussian():
    """Priors of absolute scale, the intercept where the predictor is 0."""
    generator = numpy.random.default_rng(1)
    x = numpy.round(generator.uniform(-2, 2, 12), 2)
    y = numpy.round(0.5 + 1.2 * x + generator.normal(0, 1, 12), 2)
    x[7], y[7] = 8.0, 7.0
    noise, scales = 1.0, (5.0, 2.0)
    normal = lambda value, mean, sd: -0.5 * ((value - mean) / sd) ** 2 - numpy.log(
        sd * numpy.sqrt(2 * numpy.pi))
    prior = lambda a, b: normal(a, 0, scales[0]) + normal(b, 0, scales[1])
    exact = lambda i: closed(x, y, noise, 0.0, 0.0, scales, i, others(x, i))
    settings = {"noise_scale": noise, "intercept_prior_scale": scales[0], "prior_scale": scales[1]}
    # Without the variance of the coefficients.
    narrow = lambda i: closed(x, y, noise, 0.0, 0.0, scales, i, others(x, i), known=True)
    found = case("gaussian", x, y, settings, lambda y, s: normal(y, s, noise), prior, narrow)
    assert max(abs(exact(i) - found["elpd"][i]) for i in range(len(x))) < 1e-10
    return found


def autoscaled():
    """Default priors: scaled by all rows, the intercept at the mean of all of them. Wrong: scaled
    and centred without the row that is left out."""
    generator = numpy.random.default_rng(2)
    x = numpy.round(generator.uniform(-1, 1, 7), 2)
    y = numpy.round(2 + 1.5 * x + generator.normal(0, 1.5, 7), 2)
    x[3], y[3] = 3.0, 40.0
    noise = 6.0

    def priors(x, y):
        spread = numpy.std(y, ddof=1)
        return x.mean(), y.mean(), (2.5 * spread, 2.5 * spread / numpy.std(x, ddof=1))

    normal = lambda value, mean, sd: -0.5 * ((value - mean) / sd) ** 2 - numpy.log(
        sd * numpy.sqrt(2 * numpy.pi))
    centre, mean, scales = priors(x, y)
    prior = lambda a, b: normal(a + b * centre, mean, scales[0]) + normal(b, 0, scales[1])

    def wrong(i):
        keep = others(x, i)
        return closed(x, y, noise, *priors(x[keep], y[keep]), i, keep)

    found = case("autoscaled", x, y, {"noise_scale": noise}, lambda y, s: normal(y, s, noise),
                 prior, wrong)
    exact = lambda i: closed(x, y, noise, centre, mean, scales, i, others(x, i))
    assert max(abs(exact(i) - found["elpd"][i]) for i in range(len(x))) < 1e-10
    return found


def discrete(name, x, y, likelihood, scales):
    normal = lambda value, sd: -0.5 * (value / sd) ** 2
    prior = lambda a, b: normal(a, scales[0]) + normal(b, scales[1])

    def wrong(i):
        """At the mode of all rows: the row has been seen."""
        minus = lambda t: -sum(likelihood(y[j], t[0] + t[1] * x[j]) for j in range(len(x))) - prior(*t)
        mode = optimize.minimize(minus, [0.0, 0.0], method="Nelder-Mead").x
        return likelihood(y[i], mode[0] + mode[1] * x[i])

    settings = {"intercept_prior_scale": scales[0], "prior_scale": scales[1]}
    return case(name, x, y, settings, likelihood, prior, wrong)


def logistic():
    generator = numpy.random.default_rng(3)
    x = numpy.round(generator.uniform(-2, 2, 14), 2)
    y = (generator.uniform(size=14) < special.expit(0.3 + 2 * x)).astype(float)
    x[5], y[5] = 4.0, 0.0
    return discrete("logistic", x, y, lambda y, s: special.log_expit((2 * y - 1) * s), (3.0, 2.0))


def poisson():
    generator = numpy.random.default_rng(4)
    x = numpy.round(generator.uniform(-1, 1.5, 12), 2)
    y = generator.poisson(numpy.exp(0.8 + 0.7 * x)).astype(float)
    x[9], y[9] = 3.5, 10.0
    return discrete("poisson", x, y, lambda y, s: y * s - numpy.exp(s) - special.gammaln(y + 1),
                    (3.0, 1.5))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    cases = [gaussian(), autoscaled(), logistic(), poisson()]
    versions = {"numpy": numpy.__version__, "scipy": scipy.__version__}
    lines = ",\n".join(json.dumps(found, allow_nan=False) for found in cases)
    text = (f'{{"made_by": "python scripts/oracles/exact_loo.py crates/fit/tests/data",\n'
            f'"versions": {json.dumps(versions)},\n"cases": [\n{lines}\n]}}\n')
    (pathlib.Path(sys.argv[1]) / "exact-loo.json").write_text(text)


if __name__ == "__main__":
    main()
