#!/usr/bin/env python3
"""Exact posteriors of gaussian mixed models, by linear algebra and quadrature.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1 numpyro==0.22.0
    venv/bin/python scripts/oracles/mixed.py crates/fit/tests/data/mixed [--check]

Reads the data sets of mixed_data.R in DIRECTORY, simulates balanced.csv, unbalanced.csv, crossed.csv
and slopes.csv there and writes exact.json. No code of ridgewalk is used. Takes about five minutes.

The model is y_i ~ N(x_i b + z_i u, sigma^2 / w_i), with independent normal priors on b, where the
intercept's prior is that of the linear predictor at the means of the columns (`intercept_at` means)
or at 0 (zero); u_g ~ N(0, L L') for each level g, L the Cholesky factor of the covariance with the
given standard deviations and correlation. Priors are written as ridgewalk writes them. `noise_scale`
is a known sigma, `weights` the column of w. lkj(1) is uniform on (-1, 1) for one correlation.

Given the hyperparameters (sigma, standard deviations, correlation), theta = (b, u) is normal, and
their own marginal density is known: with theta = S phi, where S holds L in the place of each level
and phi has the prior N(m, P^-1), Q = P + S'M'WMS / sigma^2, h = Pm + S'M'Wy / sigma^2,

    log p(y | .) = const - n log sigma - log det(Q) / 2 - (y'Wy / sigma^2 - h'Q^-1 h) / 2.

The form with S stays regular as standard deviations go to 0. y is taken relative to a least-squares
fit, so that the quadratic terms do not cancel.

Hyperparameters are integrated by the trapezoidal rule in coordinates where their density is smooth
and dies out fast at both ends: sigma = m e^t, sd = m exp(t - e^-t), correlation = tanh(sinh t).
There the rule converges exponentially in 1 / spacing. The number of points
by axis grows by a factor of 1.3 until no mean, standard deviation or quantile changes by more than
1e-8 standard deviations of its parameter (1e-7 with three hyperparameters, 1e-4 with four); `error`
is the largest change of the last step, far above the error that remains.
Quantiles of theta are roots of the distribution function of the mixture of normals; those of
hyperparameters are roots of the integral of the sinc interpolant of their marginal density.

`cases` have priors that ridgewalk can be given. `relative_cases` have rstanarm's prior for gaussian
models, sd | sigma ~ exponential with mean sigma: they are there to be compared with
rstanarm-sleepstudy.json and rstanarm-radon.json. With --check this is done instead, with the files
that exist, and the laws with correlated slopes are compared with draws of numpyro's NUTS, which does
not integrate anything out. Both comparisons stop at differences above 5 standard errors.
"""
import csv
import json
import pathlib
import sys

import numpy
import scipy
from scipy import optimize, special

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
# By the number of hyperparameters: the largest change in the last step, and the depth: densities below
# e^-depth of the largest are left out.
RULES = {1: (1e-8, 42.0), 2: (1e-8, 42.0), 3: (1e-7, 36.0), 4: (1e-4, 30.0)}
# The first spacing of points by axis, their least number, and how many times as many there are on an
# axis for its own marginal law.
SPACING, POINTS, FINER = {"sigma": 0.1, "sd": 0.11, "cor": 0.15}, 26, 2
INTERCEPT = "(Intercept)"


# Data

def text(values):
    return [f"{value:.6g}" for value in values]


def zero_mean(generator, n, scale):
    """Multiples of 0.01 whose sum is 0: the intercept is the same at 0 and at the mean."""
    x = numpy.rint(100 * generator.normal(0, scale, n)).astype(int)
    x -= x.sum() // n
    x[: x.sum()] -= 1
    assert x.sum() == 0
    return x / 100


def write(folder, name, columns):
    with open(folder / name, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def simulate(folder):
    letters = "abcdefghijklmnopqrstuvwxyz"

    def one_factor(name, seed, sizes, coefficients, taus, correlation, noise, scale):
        generator = numpy.random.default_rng(seed)
        g = numpy.repeat(numpy.arange(len(sizes)), sizes)
        x = zero_mean(generator, len(g), scale)
        root = numpy.array([[taus[0], 0], [correlation * taus[1],
                                           numpy.sqrt(1 - correlation**2) * taus[1]]])
        u = generator.normal(size=(len(sizes), 2)) @ root.T
        y = coefficients[0] + u[g, 0] + (coefficients[1] + u[g, 1]) * x
        y += generator.normal(0, noise, len(g))
        write(folder, name, {"y": text(y), "x": text(x), "g": [letters[k] for k in g]})

    one_factor("balanced.csv", 71, [5] * 8, (1.5, 0.8), (1.0, 0.0), 0.0, 0.7, 1.0)
    one_factor("unbalanced.csv", 72, [1, 2, 3, 5, 8, 13, 1], (-0.5, 1.2), (0.8, 0.0), 0.0, 1.1, 1.5)
    one_factor("slopes.csv", 73, [2, 3, 4, 5, 6, 7, 8, 9, 1, 10], (2.0, -0.6), (1.2, 0.8), 0.5, 1.0,
               1.2)

    generator = numpy.random.default_rng(74)
    rows, columns = generator.integers(0, 6, 45), generator.integers(0, 5, 45)
    rows[:6], columns[:5] = range(6), range(5)
    x = zero_mean(generator, 45, 1.0)
    y = 0.4 + 0.9 * x + generator.normal(0, 1.3, 6)[rows] + generator.normal(0, 0.5, 5)[columns]
    y += generator.normal(0, 1.0, 45)
    write(folder, "crossed.csv", {"y": text(y), "x": text(x), "g": [letters[k] for k in rows],
                                  "h": [letters[k].upper() for k in columns]})


def read(folder, name):
    with open(folder / name, newline="") as file:
        rows = list(csv.DictReader(file))
    return {key: [row[key] for row in rows] for key in rows[0]}


# Priors

def arguments(prior):
    name, _, rest = prior.partition("(")
    return name, [float(part) for part in rest.rstrip(")").split(",")]


def log_positive(prior, x, sigma):
    """Log density of a positive parameter, without constants."""
    name, values = arguments(prior)
    if name == "relative_exponential":
        return -x / (values[0] * sigma) - numpy.log(sigma)
    if name == "exponential":
        return -values[0] * x
    if name == "half_normal":
        return -0.5 * (x / values[0]) ** 2
    assert name == "half_t", name
    degrees, scale = values
    return -0.5 * (degrees + 1) * numpy.log1p((x / scale) ** 2 / degrees)


# Laws

class Axis:
    """A hyperparameter as a function of its coordinate t."""

    def __init__(self, name, kind, scale):
        self.name, self.kind, self.scale = name, kind, scale
        self.box = {"sigma": (-4.0, 6.0), "sd": (-3.6, 7.0), "cor": (-3.6, 3.6)}[kind]

    def value(self, t):
        if self.kind == "sigma":
            return self.scale * numpy.exp(t)
        if self.kind == "sd":
            return self.scale * numpy.exp(t - numpy.exp(-t))
        return numpy.tanh(numpy.sinh(t))

    def log_jacobian(self, t):
        if self.kind == "sigma":
            return t
        if self.kind == "sd":
            return t - numpy.exp(-t) + numpy.log1p(numpy.exp(-t))
        return numpy.log(numpy.cosh(t)) - 2 * numpy.log(numpy.cosh(numpy.sinh(t)))


class Model:
    """`groups` are pairs of a column of levels and the columns that vary by level: INTERCEPT or a
    predictor."""

    def __init__(self, table, response, predictors, groups, priors, at="means", noise_scale=None,
                 weights=None):
        numbers = lambda name: numpy.array([float(value) for value in table[name]])
        y = numbers(response)
        n = len(y)
        column = lambda name: numpy.ones(n) if name == INTERCEPT else numbers(name)
        self.names = [INTERCEPT, *predictors]
        x = numpy.stack([column(name) for name in self.names], axis=1)
        w = numbers(weights) if weights else numpy.ones(n)
        base = numpy.linalg.lstsq(x, y, rcond=None)[0]
        self.base, self.p, self.n = base, len(predictors) + 1, n
        y = y - x @ base
        # The prior is that of A b, with the intercept at the means or at 0.
        change = numpy.eye(self.p)
        if at == "means":
            change[0, 1:] = x[:, 1:].mean(axis=0)
        laws = [arguments(priors["intercept"])] + [arguments(priors["coefficients"]) for _ in predictors]
        assert all(name == "normal" for name, _ in laws)
        scales = numpy.diag([1 / s**2 for _, (_, s) in laws])
        mean = numpy.array([m for _, (m, _) in laws]) - change @ base
        # phi = (b, v) with v standard normal, and columns of M for u.
        blocks, self.axes, self.priors, self.parts = [x], [], [], []
        size = max(numpy.std(y), 1e-3)
        if noise_scale is None:
            self.axes.append(Axis("sigma", "sigma", size))
            self.priors.append(priors["sigma"])
        self.noise_scale = noise_scale
        for group, terms in groups:
            levels = list(dict.fromkeys(table[group]))
            index = numpy.array([levels.index(value) for value in table[group]])
            place = []
            for term in terms:
                name = f"sd_{group}__{term}"
                place.append(len(self.axes))
                self.axes.append(Axis(name, "sd", size / max(numpy.std(column(term)), 0.5)))
                self.priors.append(priors[name])
            if len(terms) == 2:
                place.append(len(self.axes))
                self.axes.append(Axis(f"cor_{group}__{terms[0]}__{terms[1]}", "cor", 1.0))
                assert priors[f"cor_{group}"] == "lkj(1)"
                self.priors.append(None)
            start = sum(block.shape[1] for block in blocks)
            z = numpy.zeros((n, len(levels), len(terms)))
            for k, term in enumerate(terms):
                z[numpy.arange(n), index, k] = column(term)
            blocks.append(z.reshape(n, -1))
            self.parts.append((start, len(levels), len(terms), place))
            self.names += [f"r_{group}[{level},{term}]" for level in levels for term in terms]
        m = numpy.concatenate(blocks, axis=1)
        self.d = m.shape[1]
        self.gram, self.right = m.T @ (w[:, None] * m), m.T @ (w * y)
        self.square = float(y @ (w * y))
        self.classes = self.classes_of(w, y, x, z, index, levels) if len(groups) == 1 else None
        self.precision = numpy.eye(self.d)
        self.precision[: self.p, : self.p] = change.T @ scales @ change
        self.shift = numpy.zeros(self.d)
        self.shift[: self.p] = change.T @ scales @ mean

    @staticmethod
    def classes_of(w, y, x, z, index, levels):
        """Levels with the same design: their number, Z'WZ, X'WZ, the sum of c = Z'Wy, that of cc'."""
        classes = {}
        for k in range(len(levels)):
            rows = index == k
            weighted = w[rows, None] * z[rows, k]
            gram, mixed, c = weighted.T @ z[rows, k], x[rows].T @ weighted, weighted.T @ y[rows]
            key = gram.tobytes() + mixed.tobytes()
            count, _, _, total, squares = classes.get(key, (0, None, None, 0.0, 0.0))
            classes[key] = (count + 1, gram, mixed, total + c, squares + numpy.outer(c, c))
        return list(classes.values())

    def log_density(self, t):
        """The same as `given`, without the moments. For one term with two columns u is integrated out
        level by level, in closed form, which is much faster: with K = L (I + L'CL / sigma^2)^-1 L', the
        covariance of u_g given b and y, b has the precision D + X'WX / sigma^2 - sum B K B' / sigma^4."""
        if self.classes is None or self.parts[0][2] == 1:
            return self.given(t, False)
        total, values, sigma = self.hyperparameters(t)
        place, p = self.parts[0][3], self.p
        i1, i2 = 1 / sigma**2, 1 / sigma**4
        s0, s1, r = (values[k] for k in place)
        a, b, e = s0, r * s1, s1 / numpy.cosh(numpy.sinh(t[:, place[2]]))
        q = self.gram[:p, :p] * i1[:, None, None] + self.precision[:p, :p]
        h = self.right[:p] * i1[:, None] + self.shift[:p]
        square = self.square * i1
        for count, c, mixed, first, second in self.classes:
            # det(I + L'CL / sigma^2), and K times it, expanded so that nothing cancels.
            ac, area = a * a * c[0, 0] * i1, max(0.0, c[0, 0] * c[1, 1] - c[0, 1] ** 2)
            rest = (2 * a * b * c[0, 1] + (b * b + e * e) * c[1, 1]) * i1
            det = 1 + ac + rest + (a * e) ** 2 * area * i2
            total -= 0.5 * count * numpy.log(det)
            k00 = a * a * (1 + e * e * c[1, 1] * i1) / det
            k01 = a * (b - e * e * a * c[0, 1] * i1) / det
            k11 = (b * b + e * e * (1 + ac)) / det
            k = numpy.stack([k00, k01, k01, k11], axis=1).reshape(-1, 2, 2) * i2[:, None, None]
            q -= count * (mixed @ k @ mixed.T)
            h -= (k @ first) @ mixed.T
            square -= (k * second).sum(axis=(1, 2))
        factor = numpy.linalg.cholesky(q)
        half = numpy.linalg.solve(factor, h[:, :, None])[:, :, 0]
        total -= numpy.log(numpy.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        return total - 0.5 * (square - (half**2).sum(axis=1)) - self.n * numpy.log(sigma)

    def hyperparameters(self, t):
        """Their log prior density in t, their values, and sigma."""
        values = [axis.value(t[:, k]) for k, axis in enumerate(self.axes)]
        log_density = sum(axis.log_jacobian(t[:, k]) for k, axis in enumerate(self.axes))
        sigma = numpy.full(len(t), self.noise_scale) if self.noise_scale else values[0]
        for axis, prior, value in zip(self.axes, self.priors, values):
            if axis.kind != "cor":
                log_density = log_density + log_positive(prior, value, sigma)
        return log_density, values, sigma

    def given(self, t, moments):
        """For points t (nodes by axes): the log density, and if asked for the means and variances
        of theta."""
        log_density, values, sigma = self.hyperparameters(t)
        s = numpy.zeros((len(t), self.d, self.d))
        diagonal = numpy.arange(self.p)
        s[:, diagonal, diagonal] = 1.0
        for start, levels, terms, place in self.parts:
            at = start + terms * numpy.arange(levels)
            s[:, at, at] = values[place[0]][:, None]
            if terms == 2:
                # sqrt(1 - r^2) = sech(sinh(t)) without cancellation.
                r, root = values[place[2]], 1 / numpy.cosh(numpy.sinh(t[:, place[2]]))
                s[:, at + 1, at] = (r * values[place[1]])[:, None]
                s[:, at + 1, at + 1] = (root * values[place[1]])[:, None]
        transposed = s.transpose(0, 2, 1)
        inverse_square = 1 / sigma**2
        q = transposed @ self.gram @ s * inverse_square[:, None, None] + self.precision
        h = (transposed @ self.right) * inverse_square[:, None] + self.shift
        factor = numpy.linalg.cholesky(q)
        log_density = log_density - numpy.log(numpy.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        half = numpy.linalg.solve(factor, h[:, :, None])[:, :, 0]
        log_density -= 0.5 * (self.square * inverse_square - (half**2).sum(axis=1))
        log_density -= self.n * numpy.log(sigma)
        if not moments:
            return log_density
        # theta = S phi: means S Q^-1 h, covariance (F^-1 S')'(F^-1 S').
        spread = numpy.linalg.solve(factor, transposed)
        means = (spread.transpose(0, 2, 1) @ half[:, :, None])[:, :, 0]
        means[:, : self.p] += self.base
        return log_density, means, (spread**2).sum(axis=1)

    def chunks(self, t, moments):
        size = max(1, 5_000_000 // self.d**2)
        if not moments:
            size *= 16 if self.classes else 1
            return numpy.concatenate([self.log_density(t[k : k + size])
                                      for k in range(0, len(t), size)])
        found = [self.given(t[k : k + size], True) for k in range(0, len(t), size)]
        return [numpy.concatenate(parts) for parts in zip(*found)]

    def grid(self, boxes, points):
        lines = [numpy.linspace(low, high, n) for (low, high), n in zip(boxes, points)]
        return lines, numpy.stack(numpy.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))

    def boxes(self):
        """The smallest boxes that hold all points of density above e^-depth of the largest."""
        boxes = [axis.box for axis in self.axes]
        depth = RULES[len(boxes)][1]
        points = [{1: 201, 2: 41, 3: 19, 4: 13}[len(boxes)]] * len(boxes)
        for _ in range(7):
            lines, t = self.grid(boxes, points)
            log_density = self.chunks(t, False)
            kept = t[log_density > log_density.max() - depth]
            steps = [line[1] - line[0] for line in lines]
            boxes = [(max(low, a - step), min(high, b + step)) for (low, high), step, a, b in
                     zip(boxes, steps, kept.min(axis=0), kept.max(axis=0))]
        for axis, (low, high) in zip(self.axes, boxes):
            assert axis.kind != "sigma" and low == axis.box[0] or axis.box[0] < low, axis.name
            assert axis.kind == "cor" and high == axis.box[1] or high < axis.box[1], axis.name
        return boxes

    def law(self, boxes, points):
        limit, found = RULES[len(boxes)][0], {}
        # The interpolant of a marginal density needs a finer grid than integrals do.
        for k, axis in enumerate(self.axes):
            finer = [FINER * n if j == k else n for j, n in enumerate(points)]
            lines, t = self.grid(boxes, finer)
            log_density = self.chunks(t, False)
            table = numpy.exp(log_density - log_density.max()).reshape(finer)
            marginal = table.sum(axis=tuple(j for j in range(len(boxes)) if j != k))
            found[axis.name] = of_axis(axis, lines[k], marginal / marginal.sum())
        _, t = self.grid(boxes, points)
        log_density = self.chunks(t, False)
        weights = numpy.exp(log_density - log_density.max())
        # Points that have a ten-thousandth of the allowed error together are left out.
        increasing = numpy.sort(weights)
        least = numpy.searchsorted(numpy.cumsum(increasing), 1e-4 * limit * weights.sum())
        kept = weights >= increasing[least]
        again, means, variances = self.chunks(t[kept], True)
        assert abs(again - log_density[kept]).max() < 1e-7
        weights = weights[kept] / weights[kept].sum()
        for k, name in enumerate(self.names):
            found[name] = of_mixture(weights, means[:, k], numpy.sqrt(variances[:, k]))
        order = [INTERCEPT, *self.names[1 : self.p], *[axis.name for axis in self.axes],
                 *self.names[self.p :]]
        return {name: found[name] for name in order}


def summary(mean, sd, quantile):
    found = {"mean": float(mean), "sd": float(sd), "mcse": 0.0}
    for level in LEVELS:
        found[f"q{round(100 * level):02d}"] = float(quantile(level))
    return found


def of_axis(axis, line, weights):
    values, step = axis.value(line), line[1] - line[0]
    mean = weights @ values
    sd = numpy.sqrt(weights @ (values - mean) ** 2)
    below = lambda t: weights @ (0.5 + special.sici(numpy.pi * (t - line) / step)[0] / numpy.pi)
    root = lambda level: optimize.brentq(lambda t: below(t) - level, line[0], line[-1], xtol=1e-14,
                                         rtol=1e-14)
    return summary(mean, sd, lambda level: axis.value(numpy.array(root(level))))


def of_mixture(weights, means, sds):
    mean = weights @ means
    sd = numpy.sqrt(weights @ (sds**2 + (means - mean) ** 2))
    below = lambda x: weights @ special.ndtr((x - means) / sds)
    root = lambda level: optimize.brentq(lambda x: below(x) - level, mean - 12 * sd, mean + 12 * sd,
                                         xtol=1e-13 * sd, rtol=1e-14)
    return summary(mean, sd, root)


def difference(one, other):
    return max(abs(one[name][key] - other[name][key]) / other[name]["sd"]
               for name in one for key in one[name])


# Cases

def gaussian(folder, name, data, formula, groups, priors, response="y", predictors=("x",), **options):
    model = Model(read(folder, data), response, list(predictors), groups, priors, **options)
    boxes = model.boxes()
    points = [max(POINTS, round((high - low) / SPACING[axis.kind]))
              for axis, (low, high) in zip(model.axes, boxes)]
    fine, error = model.law(boxes, points), numpy.inf
    while error > RULES[len(boxes)][0]:
        rough, points = fine, [round(1.3 * n) for n in points]
        fine = model.law(boxes, points)
        error = difference(rough, fine)
        print(f"{name}: error {error:.1e}, {model.d} + {len(boxes)} parameters, {points} points by axis",
              flush=True)
    found = {"name": name, "data": data, "formula": formula, "family": "gaussian", "priors": priors,
             "intercept_at": options.get("at", "means")}
    found |= {key: options[key] for key in ("noise_scale", "weights") if key in options}
    return found | {"error": error, "parameters": fine}


def cases(folder):
    one = [("g", [INTERCEPT])]
    basic = {"coefficients": "normal(0, 2.5)", "intercept": "normal(0, 5)", "sigma": "exponential(1)"}
    tau = "sd_g__(Intercept)"
    formula = "y ~ x + (1 | g)"
    half_normal = basic | {tau: "half_normal(2)"}
    yield gaussian(folder, "balanced", "balanced.csv", formula, one, half_normal)
    yield gaussian(folder, "balanced-half-t", "balanced.csv", formula, one,
                   basic | {tau: "half_t(3, 1)"})
    yield gaussian(folder, "balanced-exponential", "balanced.csv", formula, one,
                   basic | {tau: "exponential(1)"})
    yield gaussian(folder, "unbalanced", "unbalanced.csv", formula, one, half_normal)

    subjects = [("Subject", [INTERCEPT])]
    formula = "Reaction ~ Days + (1 | Subject)"
    sleep = {"response": "Reaction", "predictors": ["Days"]}
    priors = {"coefficients": "normal(0, 50)", "intercept": "normal(300, 100)",
              "sigma": "exponential(0.02)", "sd_Subject__(Intercept)": "half_normal(50)"}
    yield gaussian(folder, "sleepstudy", "sleepstudy.csv", formula, subjects, priors, **sleep)
    yield gaussian(folder, "sleepstudy-zero", "sleepstudy.csv", formula, subjects,
                   priors | {"coefficients": "normal(0, 10)", "intercept": "normal(0, 250)"},
                   at="zero", **sleep)

    formula = "log_radon ~ floor + log_uranium + (1 | county)"
    radon = {"response": "log_radon", "predictors": ["floor", "log_uranium"]}
    priors = {"coefficients": "normal(0, 2.5)", "intercept": "normal(0, 5)",
              "sigma": "exponential(1)", "sd_county__(Intercept)": "half_normal(1)"}
    yield gaussian(folder, "radon", "radon.csv", formula, [("county", [INTERCEPT])], priors, **radon)

    tau = "sd_school__(Intercept)"
    schools = {"response": "y", "predictors": [], "noise_scale": 1.0, "weights": "weight"}
    for name, prior in (("", "half_normal(20)"), ("-half-t", "half_t(3, 10)"),
                        ("-exponential", "exponential(0.1)")):
        yield gaussian(folder, f"eight-schools{name}", "eight_schools.csv", "y ~ 1 + (1 | school)",
                       [("school", [INTERCEPT])],
                       {"intercept": "normal(0, 20)", tau: prior}, **schools)

    known = {"coefficients": "normal(0, 2.5)", "intercept": "normal(0, 5)"}
    yield gaussian(folder, "crossed", "crossed.csv", "y ~ x + (1 | g) + (1 | h)",
                   [("g", [INTERCEPT]), ("h", [INTERCEPT])],
                   known | {"sd_g__(Intercept)": "half_normal(1.5)",
                            "sd_h__(Intercept)": "half_normal(1)"}, noise_scale=1.0)
    yield gaussian(folder, "slopes", "slopes.csv", "y ~ x + (1 + x | g)", [("g", [INTERCEPT, "x"])],
                   known | {"sd_g__(Intercept)": "half_normal(2)", "sd_g__x": "half_normal(1)",
                            "cor_g": "lkj(1)"}, noise_scale=1.0)

    formula, subjects = "Reaction ~ Days + (Days | Subject)", [("Subject", [INTERCEPT, "Days"])]
    priors = {"coefficients": "normal(0, 100)", "intercept": "normal(250, 250)",
              "sigma": "exponential(0.02)", "sd_Subject__(Intercept)": "half_normal(50)",
              "sd_Subject__Days": "half_normal(15)", "cor_Subject": "lkj(1)"}
    yield gaussian(folder, "sleepstudy-slopes", "sleepstudy.csv", formula, subjects, priors, **sleep)
    yield gaussian(folder, "sleepstudy-slopes-zero", "sleepstudy.csv", formula, subjects, priors,
                   at="zero", **sleep)


def relative_cases(folder):
    """Those of mixed_models.R."""
    yield gaussian(folder, "sleepstudy", "sleepstudy.csv", "Reaction ~ Days + (1 | Subject)",
                   [("Subject", [INTERCEPT])],
                   {"coefficients": "normal(0, 50)", "intercept": "normal(300, 100)",
                    "sigma": "exponential(0.02)",
                    "sd_Subject__(Intercept)": "relative_exponential(1)"},
                   response="Reaction", predictors=["Days"])
    yield gaussian(folder, "radon", "radon.csv", "log_radon ~ floor + log_uranium + (1 | county)",
                   [("county", [INTERCEPT])],
                   {"coefficients": "normal(0, 2.5)", "intercept": "normal(0, 5)",
                    "sigma": "exponential(1)", "sd_county__(Intercept)": "relative_exponential(1)"},
                   response="log_radon", predictors=["floor", "log_uranium"])


# Checks

def farthest(exact, sampled):
    """The largest difference in Monte Carlo errors, and where."""
    keys = {"mean": "mcse", "sd": "sd_mcse"} | {f"q{q}": f"q{q}_mcse" for q in ("05", "50", "95")}
    keys = {key: error for key, error in keys.items() if error in next(iter(sampled.values()))}
    return max((abs(found[key] - exact[name][key]) / found[error], f"{key} of {name}")
               for name, found in sampled.items() for key, error in keys.items())


def check_rstanarm(folder, case):
    path = folder / f"rstanarm-{case['name']}.json"
    off, place = farthest(case["parameters"], json.loads(path.read_text())["parameters"])
    print(f"rstanarm, {case['name']}: {off:.2f} ({place})", flush=True)
    assert off < 5


def check_nuts(folder, case):
    """The model with correlated slopes as it is written down, u not integrated out."""
    import jax
    import numpyro
    from numpyro import distributions as dist
    from numpyro.diagnostics import effective_sample_size

    numpyro.enable_x64()
    table = read(folder, case["data"])
    response, x, g = ("y", "x", "g") if case["name"] == "slopes" else ("Reaction", "Days", "Subject")
    levels = list(dict.fromkeys(table[g]))
    index = numpy.array([levels.index(value) for value in table[g]])
    y, column = (numpy.array([float(value) for value in table[name]]) for name in (response, x))
    priors = {key: arguments(prior)[1] for key, prior in case["priors"].items()}
    centre = column.mean() if case["intercept_at"] == "means" else 0.0

    def model():
        at = numpyro.sample("at", dist.Normal(*priors["intercept"]))
        slope = numpyro.sample(x, dist.Normal(*priors["coefficients"]))
        sds = [numpyro.sample(f"sd_{g}__{term}", dist.HalfNormal(priors[f"sd_{g}__{term}"][0]))
               for term in (INTERCEPT, x)]
        r = numpyro.sample(f"cor_{g}__{INTERCEPT}__{x}", dist.Uniform(-1, 1))
        sigma = case.get("noise_scale") or numpyro.sample("sigma", dist.Exponential(*priors["sigma"]))
        v = numpyro.sample("v", dist.Normal(0, 1).expand([len(levels), 2]))
        intercepts = sds[0] * v[:, 0]
        slopes = sds[1] * (r * v[:, 0] + jax.numpy.sqrt(1 - r**2) * v[:, 1])
        for k, level in enumerate(levels):
            numpyro.deterministic(f"r_{g}[{level},{INTERCEPT}]", intercepts[k])
            numpyro.deterministic(f"r_{g}[{level},{x}]", slopes[k])
        b = numpyro.deterministic(INTERCEPT, at - slope * centre)
        mean = b + intercepts[index] + (slope + slopes[index]) * column
        numpyro.sample("obs", dist.Normal(mean, sigma), obs=y)

    kernel = numpyro.infer.NUTS(model, target_accept_prob=0.95)
    run = numpyro.infer.MCMC(kernel, num_warmup=1000, num_samples=4000, num_chains=4,
                             chain_method="sequential", progress_bar=False)
    run.run(jax.random.PRNGKey(1))
    sampled, smallest = {}, numpy.inf
    for name, draws in run.get_samples(group_by_chain=True).items():
        if name in case["parameters"]:
            draws = numpy.asarray(draws)
            size, sd = float(effective_sample_size(draws)), draws.std()
            square = float(effective_sample_size((draws - draws.mean()) ** 2))
            kurtosis = ((draws - draws.mean()) ** 4).mean() / sd**4
            smallest = min(smallest, size, square)
            sampled[name] = {"mean": draws.mean(), "mcse": sd / numpy.sqrt(size), "sd": sd,
                             "sd_mcse": sd * numpy.sqrt((kurtosis - 1) / square) / 2}
    assert sampled.keys() == case["parameters"].keys()
    off, place = farthest(case["parameters"], sampled)
    print(f"NUTS, {case['name']}: {off:.2f} ({place}), smallest E {smallest:.0f}", flush=True)
    assert off < 5


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--check"]):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    path = folder / "exact.json"
    if sys.argv[2:]:
        result = json.loads(path.read_text())
        for case in result["relative_cases"]:
            check_rstanarm(folder, case)
        for case in result["cases"]:
            if "slopes" in case["name"]:
                check_nuts(folder, case)
        return
    simulate(folder)
    result = {"made_by": "python scripts/oracles/mixed.py crates/fit/tests/data/mixed",
              "versions": {"numpy": numpy.__version__, "scipy": scipy.__version__},
              "cases": list(cases(folder)), "relative_cases": list(relative_cases(folder))}
    path.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
