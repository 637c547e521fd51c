#!/usr/bin/env python3
"""Posterior means, standard deviations and 5, 50 and 95 % quantiles for all families of
crates/fit, each with its Monte Carlo error, by numpyro's NUTS.

    python3 -m venv venv && venv/bin/pip install numpyro==0.22.0 jax==0.10.2 scipy==1.17.1 \\
        pandas==3.1.1
    venv/bin/python scripts/oracles/families.py crates/fit/tests/data [PART OF A CASE...]

Reads the CSV files in DIRECTORY/families, which data.py makes, and writes DIRECTORY/families.json.
With further arguments, only cases with one of them in "family file" are made again; the others
stay as they are. No code of ridgewalk is used: the likelihoods are written out below. Seeds are
fixed. Four chains; float64. Takes about fifteen minutes on one core.

Models. s = intercept + x'b, with treatment coding and the alphabetically first level as the base.
Priors: b_k ~ normal(0, 2.5 sy / sd(x_k)) and intercept at the means of x ~ normal(m, 2.5 sy), where
sd has the divisor n - 1. sy = sd(y) and m = mean(y) for gaussian, student-t, robust-logistic and
robust-huber; the same of log t for survival families; sy = 1 and m = 0 otherwise. sigma has an
exponential prior of mean sy; size and shape one of mean 1; nu ~ gamma(2, rate 0.1). The thresholds
of the ordinal model have a flat Dirichlet prior on the probabilities of the levels at the means of
x. Reported intercepts and thresholds are those of the model with x as it is in the file. A survival
time between `lower` and `upper` counts as `lower` in sy and m, or as `upper` if `lower` is empty.

Checks: R-hat below 1.003 and no divergence in any case. Gaussian cases are compared with
quadrature over sigma, given which coefficients are normal. Maximum likelihood estimates, by the
same likelihoods, are printed beside the posteriors; modes.R gets them independently.
"""
import json
import os
import pathlib
import platform
import sys
import time
import zlib

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
import numpy
import numpyro
import numpyro.distributions as dist
import pandas
import scipy.optimize
import scipy.stats
from jax.scipy.special import gammaln, log_ndtr, logsumexp
from numpyro.diagnostics import effective_sample_size, split_gelman_rubin
from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()

CHAINS, WARM_UP, DRAWS = 4, 2000, 10_000
DELTA = 1.345
LOG_2PI = numpy.log(2 * numpy.pi)
HUBER_MASS = (
    numpy.sqrt(2 * numpy.pi) * (2 * scipy.stats.norm.cdf(DELTA) - 1)
    + 2 * numpy.exp(-(DELTA**2) / 2) / DELTA
)

CASES = [
    ("gaussian", "stackloss.csv"), ("gaussian", "wages.csv"), ("gaussian", "growth.csv"),
    ("student-t", "prices.csv"), ("student-t", "clocks.csv"),
    ("robust-logistic", "prices.csv"), ("robust-logistic", "clocks.csv"),
    ("robust-huber", "prices.csv"), ("robust-huber", "clocks.csv"),
    ("negative-binomial", "visits.csv"), ("negative-binomial", "claims.csv"),
    ("gamma", "costs.csv"), ("gamma", "rain.csv"),
    ("weibull", "relapse.csv"), ("weibull", "bearings.csv"), ("weibull", "inspections.csv"),
    ("log-logistic", "relapse.csv"), ("log-logistic", "bearings.csv"),
    ("log-logistic", "inspections.csv"),
    ("log-normal", "relapse.csv"), ("log-normal", "bearings.csv"), ("log-normal", "seedlings.csv"),
    ("exponential", "relapse.csv"), ("exponential", "bearings.csv"),
    ("exponential", "inspections.csv"),
    ("ordinal", "opinions.csv"), ("ordinal", "pain.csv"),
    ("multinomial", "travel.csv"), ("multinomial", "habitat.csv"),
]
LOCATION_SCALE = ["gaussian", "student-t", "robust-logistic", "robust-huber"]
SURVIVAL = ["weibull", "log-logistic", "log-normal", "exponential"]
AUXILIARY = {
    "gaussian": ["sigma"], "student-t": ["sigma", "nu"], "robust-logistic": ["sigma"],
    "robust-huber": ["sigma"], "negative-binomial": ["size"], "gamma": ["shape"],
    "weibull": ["shape"], "log-logistic": ["shape"], "log-normal": ["shape"], "exponential": [],
}


# Log likelihoods. `z` is the standardised residual of the family.


def gaussian(z):
    return -0.5 * z**2 - 0.5 * LOG_2PI


def student_t(z, nu):
    normalise = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * jnp.log(nu * jnp.pi)
    return normalise - (nu + 1) / 2 * jnp.log1p(z**2 / nu)


def logistic(z):
    return -z - 2 * jnp.logaddexp(0.0, -z)


def huber(z):
    size = jnp.abs(z)
    inside = jnp.minimum(size, DELTA)
    # z^2 / 2 inside; beyond delta, inside = delta and the second term is delta (|z| - delta).
    return -(inside**2 / 2 + DELTA * (size - inside)) - numpy.log(HUBER_MASS)


def negative_binomial(y, s, size):
    log_total = jnp.logaddexp(jnp.log(size), s)
    choose = gammaln(y + size) - gammaln(size) - gammaln(y + 1)
    return choose + size * (jnp.log(size) - log_total) + y * (s - log_total)


def gamma(y, s, shape):
    power = (shape - 1) * jnp.log(y) - shape * y * jnp.exp(-s)
    return shape * (jnp.log(shape) - s) - gammaln(shape) + power


def log1m_exp(x):
    """log(1 - e^-x) for x > 0."""
    small = x < 0.6931471805599453
    return jnp.where(small, jnp.log(-jnp.expm1(-jnp.where(small, x, 0.5))),
                     jnp.log1p(-jnp.exp(-jnp.where(small, 1.0, x))))


def logistic_between(low, high):
    """log(F(high) - F(low)) of the logistic law, from F(h) - F(l) = F(h) F(-l) (1 - e^(l - h))."""
    return -jnp.logaddexp(0.0, -high) - jnp.logaddexp(0.0, low) + log1m_exp(high - low)


def normal_between(low, high):
    """log(Phi(high) - Phi(low)), mirrored to the lower tail, where logarithms are accurate."""
    flip = low > 0
    low, high = jnp.where(flip, -high, low), jnp.where(flip, -low, high)
    return log_ndtr(high) + log1m_exp(log_ndtr(high) - log_ndtr(low))


# For z = k (log t - s): log density of z, log P(Z > z), log P(Z < z) and log P(low < Z < high).
SHAPES = {
    "weibull": (
        lambda z: z - jnp.exp(z),
        lambda z: -jnp.exp(z),
        lambda z: log1m_exp(jnp.exp(z)),
        lambda low, high: -jnp.exp(low) + log1m_exp(jnp.exp(high) - jnp.exp(low)),
    ),
    "log-logistic": (
        logistic,
        lambda z: -jnp.logaddexp(0.0, z),
        lambda z: -jnp.logaddexp(0.0, -z),
        logistic_between,
    ),
    "log-normal": (gaussian, lambda z: log_ndtr(-z), log_ndtr, normal_between),
}
SHAPES["exponential"] = SHAPES["weibull"]


def survival(family, times, s, k):
    """The sum over rows seen exactly, right-censored, left-censored, and between two times."""
    density, above, below, between = SHAPES[family]
    lower, upper = times
    has_lower, has_upper = numpy.isfinite(lower), numpy.isfinite(upper)
    exact = has_lower & has_upper & (lower == upper)
    inside = has_lower & has_upper & (lower < upper)
    right, left = has_lower & ~has_upper, has_upper & ~has_lower
    assert (exact.astype(int) + inside + right + left == 1).all()

    def z(time, rows):
        return k * (numpy.log(time[rows]) - s[rows])

    log_t = numpy.log(lower[exact])
    total = jnp.sum(density(z(lower, exact)) + jnp.log(k) - log_t)
    total += jnp.sum(above(z(lower, right))) + jnp.sum(below(z(upper, left)))
    return total + jnp.sum(between(z(lower, inside), z(upper, inside)))


def ordinal(level, s, cuts):
    """P(y <= j) = logistic(c_j - s), levels from 0, s without an intercept."""
    count = len(cuts)
    first, last = level == 0, level == count
    middle = ~first & ~last
    total = -jnp.sum(jnp.logaddexp(0.0, -(cuts[0] - s[first])))
    total -= jnp.sum(jnp.logaddexp(0.0, cuts[-1] - s[last]))
    inner = level[middle]
    return total + jnp.sum(logistic_between(cuts[inner - 1] - s[middle], cuts[inner] - s[middle]))


def multinomial(level, s):
    """One column of s per level but the first, whose score is 0."""
    scores = jnp.concatenate([jnp.zeros((len(level), 1)), s], axis=1)
    return jnp.sum(scores[numpy.arange(len(level)), level] - logsumexp(scores, axis=1))


class Case:
    """Data, scales and names of a case."""

    def __init__(self, folder, family, file):
        self.family, self.file = family, file
        data = pandas.read_csv(folder / file)
        extra = [name for name in ["event", "lower", "upper"] if name in data]
        self.extra = {name: name for name in extra}
        self.response = None if "lower" in extra else data.columns[0]
        self.predictors = [c for c in data.columns if c != self.response and c not in extra]
        self.matrix(data)
        self.centre, self.scale = 0.0, 1.0
        if family in SURVIVAL:
            self.times = self.bounds(data)
            log_t = numpy.log(numpy.where(numpy.isfinite(self.times[0]), *self.times))
            self.centre, self.scale = log_t.mean(), log_t.std(ddof=1)
        elif family in ["ordinal", "multinomial"]:
            self.levels = sorted(data[self.response].unique())
            self.y = numpy.searchsorted(self.levels, data[self.response].to_numpy())
            self.levels = [str(level) for level in self.levels]
        else:
            self.y = data[self.response].to_numpy(float)
            if family in LOCATION_SCALE:
                self.centre, self.scale = self.y.mean(), self.y.std(ddof=1)

    def matrix(self, data):
        columns = {}
        for name in self.predictors:
            if pandas.api.types.is_numeric_dtype(data[name]):
                columns[name] = data[name].to_numpy(float)
            else:
                for level in sorted(data[name].unique())[1:]:
                    columns[f"{name}[{level}]"] = (data[name] == level).to_numpy(float)
        self.names = list(columns)
        self.x = numpy.column_stack(list(columns.values()))
        self.mean, self.sd = self.x.mean(axis=0), self.x.std(axis=0, ddof=1)
        self.z = (self.x - self.mean) / self.sd

    def bounds(self, data):
        if "event" not in data:
            return data["lower"].to_numpy(float), data["upper"].to_numpy(float)
        time = data[self.response].to_numpy(float)
        return time, numpy.where(data["event"].to_numpy() == 1, time, numpy.nan)

    def likelihood(self, p):
        """Of standardised parameters: s = centre + scale (a + z'beta), sigma in units of scale."""
        family = self.family
        if family == "ordinal":
            return ordinal(self.y, self.z @ p["beta"], p["cuts"])
        if family == "multinomial":
            return multinomial(self.y, p["a"] + self.z @ p["beta"].T)
        s = self.centre + self.scale * (p["a"] + self.z @ p["beta"])
        if family in SURVIVAL:
            return survival(family, self.times, s, p.get("shape", 1.0))
        if family == "negative-binomial":
            return jnp.sum(negative_binomial(self.y, s, p["size"]))
        if family == "gamma":
            return jnp.sum(gamma(self.y, s, p["shape"]))
        sigma = self.scale * p["sigma"]
        residual = (self.y - s) / sigma
        law = {"gaussian": gaussian, "robust-logistic": logistic, "robust-huber": huber}
        log_density = student_t(residual, p["nu"]) if "nu" in p else law[family](residual)
        return jnp.sum(log_density - jnp.log(sigma))

    def model(self):
        d = len(self.names)
        p = {}
        if self.family == "ordinal":
            chances = numpyro.sample("chances", dist.Dirichlet(jnp.ones(len(self.levels))))
            below = jnp.cumsum(chances)[:-1]
            p["cuts"] = numpyro.deterministic("cuts", jnp.log(below) - jnp.log1p(-below))
        else:
            shape = (len(self.levels) - 1,) if self.family == "multinomial" else ()
            p["a"] = numpyro.sample("a", dist.Normal(0, 2.5).expand(shape).to_event(len(shape)))
        shape = (len(self.levels) - 1, d) if self.family == "multinomial" else (d,)
        p["beta"] = numpyro.sample("beta", dist.Normal(0, 2.5).expand(shape).to_event(len(shape)))
        for name in AUXILIARY.get(self.family, []):
            prior = dist.Gamma(2.0, 0.1) if name == "nu" else dist.Exponential(1.0)
            p[name] = numpyro.sample(name, prior)
        numpyro.factor("likelihood", self.likelihood(p))

    def report(self, p):
        """Parameters in the units of the file, by name, from standardised ones."""
        slopes = self.scale * p["beta"] / self.sd
        named = {}
        if self.family == "multinomial":
            start = p["a"] - slopes @ self.mean
            for j, level in enumerate(self.levels[1:]):
                named[f"{level}:(Intercept)"] = start[..., j]
                for k, name in enumerate(self.names):
                    named[f"{level}:{name}"] = slopes[..., j, k]
            return named
        if self.family != "ordinal":
            named["(Intercept)"] = self.centre + self.scale * p["a"] - slopes @ self.mean
        named |= {name: slopes[..., k] for k, name in enumerate(self.names)}
        if self.family == "ordinal":
            for j, (low, high) in enumerate(zip(self.levels, self.levels[1:])):
                named[f"{low}|{high}"] = p["cuts"][..., j] + slopes @ self.mean
        for name in AUXILIARY.get(self.family, []):
            named[name] = p[name] * (self.scale if name == "sigma" else 1.0)
        return named

    def unpack(self, flat):
        """Standardised parameters from an unconstrained vector, for the maximum of likelihood."""
        d, p, at = len(self.names), {}, 0
        others = len(self.levels) - 1 if self.family in ["ordinal", "multinomial"] else 1
        if self.family == "ordinal":
            steps = jnp.concatenate([flat[:1], jnp.exp(flat[1:others])])
            p["cuts"], at = jnp.cumsum(steps), others
        else:
            p["a"], at = (flat[:others] if self.family == "multinomial" else flat[0]), others
        size = others * d if self.family == "multinomial" else d
        p["beta"] = flat[at : at + size]
        if self.family == "multinomial":
            p["beta"] = p["beta"].reshape(others, d)
        for k, name in enumerate(AUXILIARY.get(self.family, [])):
            p[name] = jnp.exp(flat[at + size + k])
        return p, at + size + len(AUXILIARY.get(self.family, []))

    def maximum(self):
        """Maximum likelihood estimates and the log likelihood there."""
        length = self.unpack(jnp.zeros(1000))[1]
        minus = jax.jit(lambda flat: -self.likelihood(self.unpack(flat)[0]))
        slope, bend = jax.jit(jax.grad(minus)), jax.jit(jax.hessian(minus))
        start = scipy.optimize.minimize(minus, numpy.zeros(length), jac=slope, method="BFGS").x
        for _ in range(20):
            step = numpy.linalg.lstsq(bend(start), slope(start))[0]
            if minus(start - step) <= minus(start) + 1e-9:
                start = start - step
        point = {key: numpy.asarray(value) for key, value in self.unpack(start)[0].items()}
        return self.report(point), -float(minus(start))


def summary(draws):
    """Mean, sd and quantiles of draws, chains in rows, and their Monte Carlo errors. The error of
    a quantile is that of its level, with the effective size of the indicator, carried over by the
    order statistics one standard error to either side."""
    flat = numpy.sort(draws.ravel())
    mean, sd = flat.mean(), flat.std(ddof=1)
    squares = (draws - mean) ** 2
    found = {
        "mean": mean,
        "mean_error": sd / numpy.sqrt(effective_sample_size(draws)),
        "sd": sd,
        "sd_error": squares.std() / numpy.sqrt(effective_sample_size(squares)) / (2 * sd),
    }
    for level in [0.05, 0.5, 0.95]:
        value = numpy.quantile(flat, level)
        size = effective_sample_size((draws <= value).astype(float))
        beta = scipy.stats.beta(size * level + 1, size * (1 - level) + 1)
        ends = numpy.quantile(flat, beta.ppf(scipy.stats.norm.cdf([-1, 1])))
        name = f"q{round(100 * level):02d}"
        found |= {name: value, f"{name}_error": (ends[1] - ends[0]) / 2}
    return {key: float(value) for key, value in found.items()}


def quadrature(case):
    """Mean, sd and quantiles of a gaussian case: a mixture of normal laws over a grid of log sigma.
    """
    x = numpy.column_stack([numpy.ones(len(case.y)), case.z])
    y = (case.y - case.centre) / case.scale
    count, d = x.shape
    gram, product = x.T @ x, x.T @ y
    logs = numpy.linspace(-8, 3, 4001)
    weights, means, covariances = [], [], []
    for log_sigma in logs:
        sigma = numpy.exp(log_sigma)
        precision = gram / sigma**2 + numpy.eye(d) / 2.5**2
        mean = numpy.linalg.solve(precision, product / sigma**2)
        # log evidence of y given sigma, then the exponential prior and d sigma = sigma d log sigma
        log_weight = -count * log_sigma - 0.5 * (y @ y / sigma**2 - mean @ precision @ mean)
        log_weight += -0.5 * numpy.linalg.slogdet(precision)[1] - sigma + log_sigma
        weights.append(log_weight)
        means.append(mean)
        covariances.append(numpy.linalg.inv(precision))
    weights = numpy.exp(numpy.array(weights) - max(weights))
    weights /= weights.sum()
    # In units of the file: slopes by their scales, the intercept at x = 0.
    change = numpy.diag(numpy.concatenate([[1.0], 1 / case.sd])) * case.scale
    change[0, 1:] = -case.scale * case.mean / case.sd
    means = numpy.array(means) @ change.T + numpy.eye(d)[0] * case.centre
    sds = numpy.sqrt(numpy.einsum("ij,njk,ik->ni", change, numpy.array(covariances), change))
    exact = {}
    for k, name in enumerate(["(Intercept)"] + case.names):
        mean = weights @ means[:, k]
        sd = numpy.sqrt(weights @ (sds[:, k] ** 2 + (means[:, k] - mean) ** 2))
        exact[name] = {"mean": mean, "sd": sd}
        for level in [0.05, 0.5, 0.95]:
            def excess(value, k=k, level=level):
                return weights @ scipy.stats.norm.cdf(value, means[:, k], sds[:, k]) - level
            exact[name][f"q{round(100 * level):02d}"] = scipy.optimize.brentq(
                excess, mean - 9 * sd, mean + 9 * sd, xtol=1e-13 * sd)
    sigmas = numpy.exp(logs) * case.scale
    mean = weights @ sigmas
    exact["sigma"] = {"mean": mean, "sd": numpy.sqrt(weights @ (sigmas - mean) ** 2)}
    # The midpoint of each cell of the grid has half of the weight of that cell below it.
    below = numpy.cumsum(weights) - weights / 2
    for level in [0.05, 0.5, 0.95]:
        exact["sigma"][f"q{round(100 * level):02d}"] = numpy.interp(level, below, sigmas)
    plugged = numpy.interp(mean, sigmas, sds[:, 1])
    print(f"    sd of {case.names[0]}: {exact[case.names[0]]['sd']:.6g} by quadrature, "
          f"{plugged:.6g} with sigma at its mean")
    return exact


def compare(parameters, exact):
    worst = max(
        abs(p[key] - exact[p["name"]][key]) / p[f"{key}_error"]
        for p in parameters for key in ["mean", "sd", "q05", "q50", "q95"]
    )
    print(f"    against quadrature: largest difference {worst:.2f} Monte Carlo errors")
    assert worst < 5


def run(case):
    started = time.time()
    kernel = NUTS(case.model, dense_mass=True, target_accept_prob=0.9)
    sampler = MCMC(kernel, num_warmup=WARM_UP, num_samples=DRAWS, num_chains=CHAINS,
                   chain_method="sequential", progress_bar=False)
    seed = zlib.crc32(f"{case.family} {case.file}".encode())
    sampler.run(jax.random.PRNGKey(seed), extra_fields=("diverging",))
    divergences = int(sampler.get_extra_fields()["diverging"].sum())
    draws = {key: numpy.asarray(value)
             for key, value in sampler.get_samples(group_by_chain=True).items()}
    named = case.report(draws)
    estimate, height = case.maximum()
    parameters, rhat = [], 0.0
    for name, values in named.items():
        parameters.append({"name": name} | summary(values))
        rhat = max(rhat, float(split_gelman_rubin(values)))
    effort = max(p["mean_error"] / p["sd"] for p in parameters)
    print(f"{case.family} {case.file}: n {len(case.x)}, R-hat {rhat:.5f}, divergences "
          f"{divergences}, largest mean_error / sd {effort:.4f}, log likelihood at maximum "
          f"{height:.6f}, {time.time() - started:.0f} s")
    for p in parameters:
        print(f"    {p['name']:24} {p['mean']:13.6g} +- {p['sd']:<12.4g} "
              f"ml {estimate[p['name']]:.6g}")
    assert rhat < 1.003 and divergences == 0 and effort < 0.011, "not accurate enough"
    if case.family == "gaussian":
        compare(parameters, quadrature(case))
    sys.stdout.flush()
    return {"file": case.file, "family": case.family, "response": case.response,
            "predictors": case.predictors} | case.extra | {"parameters": parameters}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder, wanted = pathlib.Path(sys.argv[1]), sys.argv[2:]
    target = folder / "families.json"
    known = {}
    if wanted and target.exists():
        old = json.loads(target.read_text())["cases"]
        known = {(case["family"], case["file"]): case for case in old}
    for key in CASES:
        if not wanted or any(part in " ".join(key) for part in wanted):
            known[key] = run(Case(folder / "families", *key))
            write(target, [known[key] for key in CASES if key in known])


def write(target, cases):
    target.write_text(json.dumps({
        "made_by": "python scripts/oracles/families.py crates/fit/tests/data",
        "versions": {"python": platform.python_version(), "numpyro": numpyro.__version__,
                     "jax": jax.__version__, "numpy": numpy.__version__,
                     "scipy": scipy.__version__},
        "cases": cases,
    }, indent=1) + "\n")


if __name__ == "__main__":
    main()
