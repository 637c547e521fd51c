#!/usr/bin/env python3
"""Writes crates/potentials/tests/data/likelihoods.csv: u = -log density and its derivatives in the
linear predictors and the parameters, for every likelihood, at random and extreme places.

    python3 -m venv target/oracles && target/oracles/bin/pip install mpmath==1.3.0
    target/oracles/bin/python scripts/oracles/likelihoods.py

Densities are written from their textbook definitions and evaluated with up to 1,000 digits, so that
nothing has to be arranged to avoid cancellation. Derivatives are central differences with steps of
1e-24 or less. Takes about five minutes.

A line of the file: likelihood, setting, parameters psi, predictors s, response, trials (for
survival models the upper end), results, sizes. Results are u, the derivatives in s and those in
psi. An error is measured against the size of its result: the largest of the result itself and of
what a relative change of 1 in a rounded intermediate number does to it. Those numbers are e^psi
and, by likelihood, s - y, e^s, or log t - s, which is rounded to the digits of the larger term.
"""
import pathlib
import random

from mpmath import mp, mpf

FILE = pathlib.Path(__file__).resolve().parents[2] / "crates/potentials/tests/data/likelihoods.csv"


def normal(_, psi, s, y, __):
    sigma = mp.exp(psi[0])
    return mp.exp(-(((s[0] - y) / sigma) ** 2) / 2) / (sigma * mp.sqrt(2 * mp.pi))


def logistic_noise(_, psi, s, y, __):
    sigma = mp.exp(psi[0])
    e = mp.exp(-(s[0] - y) / sigma)
    return e / (sigma * (1 + e) ** 2)


def huber_noise(delta, psi, s, y, _):
    sigma, delta = mp.exp(psi[0]), mpf(delta)
    z = abs(s[0] - y) / sigma
    rho = z**2 / 2 if z <= delta else delta * z - delta**2 / 2
    middle = mp.sqrt(2 * mp.pi) * (mp.ncdf(delta) - mp.ncdf(-delta))
    return mp.exp(-rho) / (sigma * (middle + 2 * mp.exp(-(delta**2) / 2) / delta))


def student_t(degrees, psi, s, y, _):
    sigma = mp.exp(psi[0])
    nu = mpf(degrees) if degrees else mp.exp(psi[1])
    z = (s[0] - y) / sigma
    norm = mp.loggamma((nu + 1) / 2) - mp.loggamma(nu / 2)
    return mp.exp(norm) / (sigma * mp.sqrt(nu * mp.pi)) * (1 + z**2 / nu) ** (-(nu + 1) / 2)


def negative_binomial(_, psi, s, y, __):
    r, mu = mp.exp(psi[0]), mp.exp(s[0])
    binomial = mp.loggamma(y + r) - mp.loggamma(r) - mp.loggamma(y + 1)
    return mp.exp(binomial) * (r / (r + mu)) ** r * (mu / (r + mu)) ** y


def gamma(_, psi, s, y, __):
    a, mu = mp.exp(psi[0]), mp.exp(s[0])
    return mp.exp(a * mp.log(a / mu) + (a - 1) * mp.log(y) - a * y / mu - mp.loggamma(a))


SURVIVAL = {
    "weibull": (lambda z: mp.exp(-mp.exp(z)), lambda z: mp.exp(z - mp.exp(z))),
    "log-logistic": (lambda z: 1 / (1 + mp.exp(z)), lambda z: mp.exp(z) / (1 + mp.exp(z)) ** 2),
    "log-normal": (lambda z: mp.erfc(z / mp.sqrt(2)) / 2, lambda z: mp.npdf(z)),
}


def survival(kind):
    above, density = SURVIVAL[kind]

    def of(shape, psi, s, lower, upper):
        k = mpf(shape) if shape else mp.exp(psi[0])
        z = lambda time: k * (mp.log(time) - s[0])
        if lower == upper:
            return density(z(lower)) * k / lower
        if upper == mp.inf:
            return above(z(lower))
        if kind == "log-normal" and z(upper) < 0:
            below = lambda time: above(-z(time)) if time > 0 else 0
            return below(upper) - below(lower)
        return (above(z(lower)) if lower > 0 else 1) - above(z(upper))

    return of


def ordinal(_, psi, s, y, __):
    thresholds = [psi[0]]
    for log_gap in psi[1:]:
        thresholds.append(thresholds[-1] + mp.exp(log_gap))
    below = lambda j: 0 if j == 0 else 1 if j > len(psi) else 1 / (1 + mp.exp(s[0] - thresholds[j - 1]))
    return below(int(y) + 1) - below(int(y))


def multinomial(_, __, s, y, ___):
    weights = [mpf(1)] + [mp.exp(x) for x in s]
    return weights[int(y)] / sum(weights)


def derivatives(f, x, step):
    """The gradient of f, by central differences."""
    gradient = []
    for i in range(len(x)):
        move = lambda h: f([v + h if j == i else v for j, v in enumerate(x)])
        gradient.append((move(step) - move(-step)) / (2 * step))
    return gradient


def line(name, setting, density, digits, psi, s, y, trials, reach):
    """One line of the file; reach: what a relative rounding of the predictors changes them by."""
    mp.dps = digits
    step = mpf(10) ** (-digits // 5)
    width = len(s)
    point = [mpf(v) for v in list(s) + list(psi)]
    response, upper = mpf(y), mpf(trials)
    u = lambda x: -mp.log(density(setting, x[width:], x[:width], response, upper))
    results = [lambda x: u(x)]
    results += [lambda x, i=i: derivatives(u, x, step)[i] for i in range(len(point))]
    weights = [mpf(reach)] * width + [mpf(1)] * len(psi)
    gradient = derivatives(u, point, step)
    columns = [derivatives(lambda x, i=i: derivatives(u, x, step)[i], point, step) for i in range(len(point))]
    values = [u(point)] + gradient
    sizes = []
    for value, changes in zip(values, [gradient] + columns):
        sizes.append(max(abs(value), sum(w * abs(c) for w, c in zip(weights, changes))))
    numbers = lambda list, digits: " ".join(mp.nstr(v, digits, strip_zeros=True, min_fixed=-3, max_fixed=3) for v in list)
    floats = lambda list: " ".join(repr(float(v)) for v in list)
    cells = [name, str(setting), floats(psi), floats(s), repr(float(y)), repr(float(trials))]
    return ",".join(cells + [numbers(values, 20), numbers(sizes, 4)])


random.seed(20)
uniform = random.uniform


def noises():
    """log sigma, s, y: residuals from 0 to far out."""
    for log_sigma, s, y in [
        (0.0, 0.0, 0.0), (0.0, 1.345, 0.0), (-3.0, 1.0, 1.0), (2.0, 1e3, 0.5), (0.5, -1e3, 0.5),
        (-20.0, 0.3, 0.25), (20.0, 3.0, -1.0), (0.1, 1e-9, 0.0), (0.0, 35.0, -4.0), (0.0, 1e8, 0.0),
    ]:
        yield log_sigma, s, y
    for _ in range(18):
        log_sigma, y = uniform(-4, 4), uniform(-10, 10)
        yield log_sigma, y + random.choice([-1, 1]) * 10 ** uniform(-6, 3), y


def lines():
    for log_sigma, s, y in noises():
        far = abs(s - y)
        yield line("normal", "", normal, 120, [log_sigma], [s], y, 1, far)
        if far * mp.exp(-log_sigma) < 1e5:
            yield line("logistic", "", logistic_noise, 120, [log_sigma], [s], y, 1, far)
        for delta in ("1.345", "0.001", "60"):
            if far * mp.exp(-log_sigma) != float(delta):
                yield line("huber", delta, huber_noise, 120, [log_sigma], [s], y, 1, far)
        for degrees in ("4", "0.3"):
            yield line("student", degrees, student_t, 120, [log_sigma], [s], y, 1, far)
        for degrees in (uniform(-3, 0), uniform(0, 3), uniform(3, 8), uniform(8, 28)):
            yield line("student", "", student_t, 120, [log_sigma, degrees], [s], y, 1, far)
    for log_nu in (-14.0, 40.0):
        yield line("student", "", student_t, 150, [0.3, log_nu], [1.7], 0.2, 1, 1.5)

    sizes = [-13.8, -5.0, -0.7, 0.0, 1.1, 2.29, 2.4, 4.0, 7.0, 14.0, 20.0, 27.6]
    counts = [0, 1, 2, 7, 15, 16, 17, 40, 300, 10**6]
    for log_r in sizes:
        for y in random.sample(counts, 5) + [10**4 + 3]:
            centre = mp.log(y) if y else 0
            for s in (float(centre) + random.choice([-1, 1]) * 10 ** uniform(-6, 0.5), uniform(-20, 20)):
                yield line("negative-binomial", "", negative_binomial, 150, [log_r], [s], y, 1, 1)
    for s in (-1e3, -700.0, 700.0, 1e3):
        for y, log_r in ((0, 1.0), (5, -3.0), (400, 9.0)):
            yield line("negative-binomial", "", negative_binomial, 1000, [log_r], [s], y, 1, 1)

    for log_a in (-15.0, -3.0, -0.5, 0.0, 0.6, 1.8, 2.29, 2.31, 3.0, 5.0, 9.0, 16.0, 27.6):
        for _ in range(6):
            y = 10 ** uniform(-6, 6)
            yield line("gamma", "", gamma, 150, [log_a], [float(mp.log(y)) + random.choice([-1, 1]) * 10 ** uniform(-7, 1)], y, 1, 1)
    for s, y in ((-500.0, 1e-3), (300.0, 2.0), (1e3, 7.0), (-690.0, 1e-300), (700.0, 1e300)):
        yield line("gamma", "", gamma, 150, [0.4], [s], y, 1, 1)

    for kind in SURVIVAL:
        for case in range(64):
            s, t, log_k = uniform(-5, 5), 10 ** uniform(-3, 3), uniform(-2, 2)
            if case % 3 == 0:
                t = float(mp.exp(s + 3 * uniform(-1, 1) / mp.exp(log_k)))
            upper = t * (1 + 10 ** uniform(-9, 2))
            if case % 16 == 15:
                s = random.choice([-1, 1]) * uniform(20, 100)
            interval = [(t, t), (t, float("inf")), (0.0, t), (t, upper)][case % 4]
            yield survival_line(kind, "", [log_k], s, interval)
        for shape in ("1", "2.5"):
            for interval in ((0.7, 0.7), (3.0, float("inf")), (0.0, 0.2), (1.0, 1.5), (0.02, 900.0)):
                yield survival_line(kind, shape, [], uniform(-3, 3), interval)
        # Both tails, far out, and intervals that hold nearly everything or next to nothing.
        for s in (-600.0, -30.0, 30.0, 600.0):
            for interval in ((1.5, 1.5), (2.0, float("inf")), (0.0, 2.0), (2.0, 2.001), (0.5, 8.0)):
                yield survival_line(kind, "", [0.1], s, interval)
        for interval in ((1e-6, 1e6), (1e-3, 1e9), (1e-9, 10.0), (1.0, 1.0 + 1e-12), (1e-300, 1e300)):
            yield survival_line(kind, "", [0.5], 0.25, interval)

    for levels in (2, 3, 5):
        for case in range(24):
            psi = [uniform(-3, 3)] + [uniform(-3, 2) for _ in range(levels - 2)]
            s = uniform(-5, 5)
            if case % 6 == 5:
                s = random.choice([-1, 1]) * uniform(30, 1000)
            if case % 8 == 7:
                psi[-1] = random.choice([-20.0, 4.0])
            reach = max(abs(s), abs(psi[0])) + sum(float(mp.exp(v)) for v in psi[1:])
            yield line("ordinal", str(levels), ordinal, 1000, psi, [s], case % levels, 1, reach)

    for levels in (2, 3, 5):
        for case in range(20):
            size = [1.0, 5.0, 40.0, 600.0][case % 4]
            s = [uniform(-size, size) for _ in range(levels - 1)]
            yield line("multinomial", str(levels), multinomial, 1000, [], s, case % levels, 1, max(map(abs, s)))


def survival_line(kind, shape, psi, s, interval):
    times = [t for t in interval if 0 < t < float("inf")]
    reach = max([1.0, abs(s)] + [abs(float(mp.log(t))) for t in times])
    return line(kind, shape, survival(kind), 1000, psi, [s], interval[0], interval[1], reach)


with open(FILE, "w") as file:
    file.write("likelihood,setting,psi,s,response,trials,results,sizes\n")
    for text in lines():
        file.write(text + "\n")
