#!/usr/bin/env python3
"""Compares rw.sample with numpyro's NUTS on densities in jax, for docs/results/python-sample.csv.

    python3 -m venv VENV && VENV/bin/pip install jax numpyro arviz, and ridgewalk
    scripts/measure/python_sample.py [--python VENV/bin/python] [TARGET ...]

With names of targets only these are run, and the table is printed instead of written. Takes about
five minutes on two idle cores, nearly all of it numpyro's.

Each target is one log density of 50 coordinates in jax with 64 bits, which both samplers get:

- logistic: 500 rows, an intercept and 49 predictors with correlations of 0.9 between neighbours,
  Student-t(4) priors of scale 2.5;
- robust: 120 rows with Student-t noise, whose logarithmic scale is unknown, and 49 predictors with
  correlations of 0.95 whose scales differ by a factor of 1000. Not log-concave, and wider than its
  mode shows;
- robust-few: the same with 80 rows, and still wider.

numpyro has its defaults: 1,000 draws of warm-up and 1,000 more on each of 4 chains, diagonal mass
matrix, starts within 2 of 0; chains one after the other or together. ridgewalk has its own: 8
chains of 1,000 draws, from 0, with a function of one point or of all chains together.

Every run has a fresh process. Columns:

- seconds: from the start of the process until the draws are there, with imports and compilation;
  seconds_compiled: a second run with the same seed in the same process, which compiles nothing;
- ess: the smallest effective sample size over all coordinates of theta and of (theta - mean)^2, by
  ArviZ's method "mean"; and its ratio to both times;
- gradients: at single points, in all, and how many of them were for the warm-up; for numpyro its
  leapfrog steps;
- mean_z, sd_z: the largest difference from the reference in its Monte Carlo standard errors. The
  largest of 50 independent ones is above 3.7 in 1 % of right runs;
- rhat: the largest R-hat; warnings: those of the sampler, or why there are no draws;
- reference_ess: that of the reference.

The reference is a long run of numpyro's NUTS in coordinates that an earlier run has made nearly
round: 64 chains of 1,250 draws after 300 of warm-up.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIMENSION = 50
TARGETS = ("logistic", "robust", "robust-few")
# Sampler and method.
RUNS = (
    ("ridgewalk", "vectorized"),
    ("ridgewalk", "pointwise"),
    ("numpyro", "vectorized"),
    ("numpyro", "sequential"),
)
REFERENCE_CHAINS = 64


def correlated(rng, rows, columns, correlation):
    """Standard normal predictors, each correlated with the one before it."""
    x = rng.standard_normal((rows, columns))
    for k in range(1, columns):
        x[:, k] = correlation * x[:, k - 1] + (1 - correlation**2) ** 0.5 * x[:, k]
    return x


def log_density(target):
    import jax
    import jax.numpy as jnp
    import numpy as np

    jax.config.update("jax_enable_x64", True)

    def student(x, df):
        return -0.5 * (df + 1) * jnp.log1p(x * x / df)

    def logistic(rows=500):
        rng = np.random.default_rng(1)
        x = np.column_stack([np.ones(rows), correlated(rng, rows, DIMENSION - 1, 0.9)])
        chance = 1 / (1 + np.exp(-x @ rng.normal(0, 0.5, DIMENSION)))
        sign = np.where(rng.random(rows) < chance, 1.0, -1.0)

        def logp(theta):
            likelihood = -jnp.logaddexp(0.0, -sign * (x @ theta)).sum()
            return likelihood + student(theta / 2.5, 4).sum()

        return logp

    def robust(rows):
        rng = np.random.default_rng(2)
        size = 10.0 ** np.linspace(-1.5, 1.5, DIMENSION - 1)
        x = correlated(rng, rows, DIMENSION - 1, 0.95) * size
        y = x @ (rng.standard_normal(DIMENSION - 1) / size) + rng.standard_t(2, rows)

        def logp(theta):
            beta, log_scale = theta[:-1], theta[-1]
            residuals = (y - x @ beta) * jnp.exp(-log_scale)
            likelihood = student(residuals, 3).sum() - rows * log_scale
            prior = student(beta * size / 2.5, 4).sum() + student(log_scale / 2.5, 4)
            return likelihood + prior

        return logp

    if target == "logistic":
        return logistic()
    return robust({"robust": 120, "robust-few": 80}[target])


def timed(run):
    began = time.perf_counter()
    found = run()
    return found, time.perf_counter() - began


def by_ridgewalk(target, method):
    import warnings

    import jax
    import numpy as np
    import ridgewalk as rw

    # They are kept with the results.
    warnings.simplefilter("ignore", rw.FitWarning)
    vectorized = method == "vectorized"
    function = jax.value_and_grad(log_density(target))
    function = jax.jit(jax.vmap(function) if vectorized else function)

    def run():
        try:
            samples = rw.sample(function, np.zeros(DIMENSION), vectorized=vectorized, seed=0)
            return samples, samples.draws
        except rw.RunError as error:
            return error, None

    (samples, draws), _ = timed(run)
    kept = {"ready": time.monotonic()}
    _, kept["seconds_compiled"] = timed(run)
    if draws is None:
        return draws, kept | {"warnings": f"no draws: {samples}"}
    facts = samples.sampler
    names = dict.fromkeys(name for name, _ in samples.warnings)
    warmup = facts["warmup_gradients"]
    kept |= {"warmup_gradients": warmup, "gradients": facts["gradients"] + warmup}
    return draws, kept | {"warnings": ", ".join(names)}


def by_numpyro(target, method):
    import jax
    import numpy as np
    from numpyro.infer import MCMC, NUTS

    logp = log_density(target)
    mcmc = MCMC(
        NUTS(potential_fn=lambda theta: -logp(theta)), num_warmup=1000, num_samples=1000,
        num_chains=4, chain_method=method, progress_bar=False,
    )  # fmt: skip
    key, starts = jax.random.PRNGKey(0), jax.random.PRNGKey(1)
    starts = jax.random.uniform(starts, (4, DIMENSION), minval=-2.0, maxval=2.0)
    fields = {"extra_fields": ("num_steps", "diverging"), "init_params": starts}

    def run():
        mcmc.run(key, **fields)
        return np.asarray(mcmc.get_samples(group_by_chain=True))

    draws, _ = timed(run)
    kept = {"ready": time.monotonic()}
    again, kept["seconds_compiled"] = timed(run)
    extra = {name: int(values.sum()) for name, values in mcmc.get_extra_fields().items()}
    mcmc.warmup(key, collect_warmup=True, **fields)
    warmup = int(mcmc.get_extra_fields()["num_steps"].sum())
    assert (again == draws).all(), "the second run differs from the first"
    kept |= {"warmup_gradients": warmup, "gradients": extra["num_steps"] + warmup}
    diverging = extra["diverging"]
    return draws, kept | {"warnings": f"{diverging} divergences" if diverging else ""}


def reference(target, earlier):
    """A long run in coordinates in which the draws of an earlier one are round."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from numpyro.infer import MCMC, NUTS

    logp = log_density(target)
    draws = np.load(earlier).reshape(-1, DIMENSION)
    mean, factor = draws.mean(0), np.linalg.cholesky(np.cov(draws.T))
    chosen = np.random.default_rng(3).choice(len(draws), REFERENCE_CHAINS, replace=False)
    starts = np.linalg.solve(factor, (draws[chosen] - mean).T).T
    mcmc = MCMC(
        NUTS(potential_fn=lambda z: -logp(mean + factor @ z)), num_warmup=300, num_samples=1250,
        num_chains=REFERENCE_CHAINS, chain_method="vectorized", progress_bar=False,
    )  # fmt: skip
    mcmc.run(jax.random.PRNGKey(2), init_params=jnp.asarray(starts))
    return mean + np.asarray(mcmc.get_samples(group_by_chain=True)) @ factor.T


def effective(draws):
    import arviz

    squares = (draws - draws.mean((0, 1))) ** 2
    columns = [kind[..., k] for kind in (draws, squares) for k in range(draws.shape[2])]
    return min(float(arviz.ess(column, method="mean")) for column in columns)


def moment(draws, what):
    """Means or standard deviations, and their Monte Carlo standard errors."""
    import arviz
    import numpy as np

    value = getattr(draws, {"mean": "mean", "sd": "std"}[what])((0, 1))
    columns = np.moveaxis(draws, 2, 0)
    return value, np.array([float(arviz.mcse(column, method=what)) for column in columns])


def judge(right, *paths):
    """For each run: effective draws, R-hat and the distance from the reference `right`."""
    import arviz
    import numpy as np

    right = np.load(right)
    known = {what: moment(right, what) for what in ("mean", "sd")}
    results = [{"reference_ess": effective(right)} for _ in paths]
    for path, result in zip(paths, results):
        if not os.path.exists(path):
            continue
        draws = np.load(path)
        result |= {"chains": draws.shape[0], "draws": draws.shape[1], "ess": effective(draws)}
        result["rhat"] = max(float(arviz.rhat(draws[..., k])) for k in range(DIMENSION))
        for what, (value, error) in known.items():
            ours, its = moment(draws, what)
            result[f"{what}_z"] = float((abs(ours - value) / np.hypot(error, its)).max())
    return results


def work(role, *words):
    """What a fresh process does: draws go to a file, all else to the standard output."""
    import numpy as np

    if role == "judge":
        print(json.dumps(judge(*words)))
        return
    out, *words = words
    if role == "reference":
        np.save(out, reference(*words))
        return
    draws, kept = {"ridgewalk": by_ridgewalk, "numpyro": by_numpyro}[role](*words)
    if draws is not None:
        np.save(out, draws)
    print(json.dumps(kept))


def process(python, *words):
    """The standard output of this program in a fresh process, and when that began."""
    began = time.monotonic()
    command = [python, __file__, "--work", *words]
    done = subprocess.run(
        command, env=os.environ | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)} failed:\n{done.stderr}")
    return done.stdout, began


def versions(python, sampler):
    packages = [sampler, "jax", "arviz"]
    code = (
        "import importlib.metadata as m;"
        f"print(', '.join(f'{{p}} {{m.version(p)}}' for p in {packages}))"
    )
    return subprocess.check_output([python, "-c", code], text=True).strip()


def study(target, python, place):
    """A row for each run."""
    rows, paths = [], []
    for sampler, method in RUNS:
        paths.append(f"{place}/{target}-{sampler}-{method}.npy")
        answer, began = process(python, sampler, paths[-1], target, method)
        row = {"target": target, "dimension": DIMENSION, "sampler": sampler, "method": method}
        row |= json.loads(answer) | {"versions": versions(python, sampler)}
        row["seconds"] = row.pop("ready") - began
        print(f"{target}, {sampler} {method}: {row['seconds']:.1f} s", file=sys.stderr, flush=True)
        rows.append(row)
    right = f"{place}/{target}-reference.npy"
    process(python, "reference", right, target, paths[RUNS.index(("numpyro", "vectorized"))])
    answer, _ = process(python, "judge", right, *paths)
    for row, result in zip(rows, json.loads(answer)):
        row |= result
        if "ess" in row:
            for kind in ("", "_compiled"):
                row[f"ess_per_second{kind}"] = row["ess"] / row[f"seconds{kind}"]
    return rows


COLUMNS = {
    "target": "", "dimension": "d", "sampler": "", "method": "", "chains": "d", "draws": "d",
    "seconds": ".2f", "seconds_compiled": ".3f", "ess": ".0f", "ess_per_second": ".1f",
    "ess_per_second_compiled": ".1f", "gradients": "d", "warmup_gradients": "d", "mean_z": ".2f",
    "sd_z": ".2f", "rhat": ".4f", "warnings": "", "reference_ess": ".0f", "versions": "",
}  # fmt: skip


def write(rows, out):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        forms = COLUMNS.items()
        writer.writerow(format(row[name], form) if name in row else "" for name, form in forms)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    if options.work:
        work(*options.work)
        return
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"unknown target {unknown.pop()!r}: need one of {', '.join(TARGETS)}")
    # Files of the packages have then been read once, whichever sampler comes first.
    subprocess.run([options.python, "-c", "import arviz, numpyro.infer, ridgewalk"], check=True)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for target in options.targets or TARGETS:
            rows += study(target, options.python, place)
    if options.targets:
        write(rows, sys.stdout)
    else:
        with (ROOT / "docs/results/python-sample.csv").open("w", newline="") as out:
            write(rows, out)


main()
