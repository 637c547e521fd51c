#!/usr/bin/env python3
"""LOO of small fits by ArviZ, with likelihoods by SciPy, for the tests of crates/fit.

    python3 -m venv venv && venv/bin/pip install arviz==0.23.4 numpy==2.4.6 scipy==1.17.1
    venv/bin/python scripts/oracles/loo_fits.py draws target/checks/ridgewalk crates/fit/tests/data
    venv/bin/python scripts/oracles/loo_fits.py arviz crates/fit/tests/data

Made with Python 3.11. The first step makes the input: DIRECTORY/loo/NAME.csv, draws of ridgewalk of
each model, rounded to 7 digits, without repetitions: ArviZ leaves ratios that equal the cutoff out
of the tail, loo does not. Both sides of the test use these draws, so their quality does not matter.
The second step uses no code of ridgewalk: it reads draws and data (DIRECTORY/families, made
by data.py), computes log likelihoods with SciPy's densities, and writes DIRECTORY/loo/arviz.json:
the cases, ArviZ's relative efficiency, and its elpd_loo, standard error, Pareto k and pointwise
values. scripts/oracles/loo_fits.R reads the cases and adds the numbers of R's package loo.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

CHAINS, DRAWS = 4, 50

# name, data, family, formula, options
CASES = [
    ("logistic", "alarms.csv", "logistic", "alarm ~ current + indoor", {}),
    ("trials", "germination.csv", "logistic", "germinated ~ warmth + soil", {"trials": "seeds"}),
    ("probit", "germination.csv", "probit", "germinated ~ warmth + soil", {"trials": "seeds"}),
    ("poisson", "accidents.csv", "poisson", "accidents ~ traffic + weather + offset(log(hours))",
     {}),
    ("negative-binomial", "claims.csv", "negative-binomial", "claims ~ hours + city", {}),
    ("gaussian", "stackloss.csv", "gaussian", "stack.loss ~ Air.Flow + Water.Temp + Acid.Conc.",
     {}),
    ("gaussian-two", "stackloss.csv", "gaussian", "stack.loss ~ Air.Flow + Water.Temp", {}),
    ("gaussian-one", "stackloss.csv", "gaussian", "stack.loss ~ Air.Flow", {}),
    ("student-t", "clocks.csv", "student-t", "drift ~ altitude", {}),
    ("robust-logistic", "growth.csv", "robust-logistic", "rate ~ temperature + treated", {}),
    ("gamma", "rain.csv", "gamma", "rain ~ altitude + year", {}),
    ("weibull", "bearings.csv", "weibull", "time ~ load + oiled", {"event": "event"}),
    ("log-logistic", "seedlings.csv", "log-logistic", "lower ~ water + shade", {"upper": "upper"}),
    ("ordinal", "pain.csv", "ordinal", "pain ~ dose + pulse", {}),
    ("multinomial", "habitat.csv", "multinomial", "habitat ~ altitude + warmth", {}),
    ("weights", "assays.csv", "gaussian", "reading ~ dose + lab", {"weights": "readings"}),
]


def make_draws(program, folder):
    """Input of both sides: draws, rounded."""
    (folder / "loo").mkdir(exist_ok=True)
    for name, file, family, formula, options in CASES:
        with tempfile.TemporaryDirectory() as out:
            command = [program, "fit", folder / "families" / file, formula, "--family", family]
            command += [text for key, value in options.items() for text in (f"--{key}", value)]
            command += ["--chains", CHAINS, "--draws", 4 * DRAWS, "--seed", 1, "--csv", "--out",
                        f"{out}/run"]
            subprocess.run([str(part) for part in command], check=False, capture_output=True)
            with open(f"{out}/run/draws.csv", newline="") as source:
                rows = list(csv.reader(source))
        with open(folder / "loo" / f"{name}.csv", "w", newline="") as target:
            writer = csv.writer(target, lineterminator="\n")
            writer.writerow(rows[0][2:])
            for chain in range(CHAINS):
                own = [row[2:] for row in rows[1:] if row[0] == str(chain)]
                new = [row for row, before in zip(own, [None] + own) if row != before]
                writer.writerows([f"{float(x):.7g}" for x in row] for row in new[:DRAWS])


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}


def reference(case, folder):
    import arviz
    import numpy
    from scipy import special, stats

    name, file, family, formula, options = case
    text = read(folder / "families" / file)
    number = lambda column: numpy.array([float(x) if x else numpy.nan for x in text[column]])
    draws = {key: numpy.array(list(map(float, values)))
             for key, values in read(folder / "loo" / f"{name}.csv").items()}
    response = formula.split(" ~ ")[0]
    rows = len(text[response])

    def column(coefficient):
        """A column of the design, from the coefficient's name."""
        if coefficient == "(Intercept)":
            return numpy.ones(rows)
        if coefficient.endswith("]"):
            factor, level = coefficient[:-1].split("[")
            return numpy.array([float(x == level) for x in text[factor]])
        return number(coefficient)

    def linear(prefix=""):
        """A row for each draw."""
        own = [key for key in draws if key.startswith(prefix)] if prefix else [
            key for key in draws if "|" not in key and key not in ("sigma", "nu", "size", "shape")]
        return sum(numpy.outer(draws[key], column(key[len(prefix):])) for key in own)

    one = lambda parameter: draws[parameter][:, None]
    if family == "multinomial":
        levels = sorted(set(text[response]))
        scores = [numpy.zeros((CHAINS * DRAWS, rows))] + [linear(f"{x}:") for x in levels[1:]]
        scores = numpy.stack(scores)
        chosen = numpy.array([levels.index(x) for x in text[response]])
        found = scores[chosen, :, numpy.arange(rows)].T - special.logsumexp(scores, axis=0)
    elif family == "ordinal":
        s, y = linear(), number(response).astype(int)
        cuts = [key for key in draws if "|" in key]
        upto = [0 * s] + [special.expit(one(key) - s) for key in cuts] + [0 * s + 1]
        probability = numpy.diff(numpy.stack(upto), axis=0)
        found = numpy.log(probability[y - 1, :, numpy.arange(rows)].T)
    elif family == "log-logistic":
        s, k = linear(), one("shape")
        low, high = number("lower"), number("upper")
        low, high = numpy.nan_to_num(low, nan=0.0), numpy.nan_to_num(high, nan=numpy.inf)
        with numpy.errstate(divide="ignore"):
            below = lambda t: special.expit(k * (numpy.log(t) - s))
            above = lambda t: special.expit(-k * (numpy.log(t) - s))
            found = numpy.log(numpy.where(below(low) > 0.5, above(low) - above(high),
                                          below(high) - below(low)))
        same = low == high
        density = stats.fisk.logpdf(low[same], k, scale=numpy.exp(s[:, same]))
        found[:, same] = density
    else:
        s, y = linear(), number(response)
        match family:
            case "logistic" | "probit":
                p = special.expit(s) if family == "logistic" else stats.norm.cdf(s)
                trials = number(options["trials"]) if options else numpy.ones(rows)
                found = stats.binom.logpmf(y, trials, p)
            case "poisson":
                found = stats.poisson.logpmf(y, numpy.exp(s) * number("hours"))
            case "negative-binomial":
                found = stats.nbinom.logpmf(y, one("size"), one("size") / (one("size") + numpy.exp(s)))
            case "gaussian":
                found = stats.norm.logpdf(y, s, one("sigma"))
            case "student-t":
                found = stats.t.logpdf(y, one("nu"), s, one("sigma"))
            case "robust-logistic":
                found = stats.logistic.logpdf(y, s, one("sigma"))
            case "gamma":
                found = stats.gamma.logpdf(y, one("shape"), scale=numpy.exp(s) / one("shape"))
            case "weibull":
                law = stats.weibull_min(one("shape"), scale=numpy.exp(s))
                found = numpy.where(number("event") == 1, law.logpdf(y), law.logsf(y))
    if "weights" in options:
        found = found * number(options["weights"])

    chains = lambda values: values.reshape(CHAINS, DRAWS, *values.shape[1:])
    data = arviz.from_dict(posterior={key: chains(value) for key, value in draws.items()},
                           log_likelihood={response: chains(found)})
    ess = arviz.ess(data.posterior, method="mean")
    r_eff = float(numpy.mean([float(ess[key]) for key in ess.data_vars])) / (CHAINS * DRAWS)
    loo = arviz.loo(data, pointwise=True)
    short = lambda values: [float(f"{x:.13g}") for x in numpy.ravel(values)]
    return {"name": name, "file": file, "family": family, "formula": formula, "options": options,
            "r_eff": r_eff, "elpd_loo": float(loo.elpd_loo), "se_divisor_n": float(loo.se),
            "p_loo": float(loo.p_loo), "pareto_k": short(loo.pareto_k),
            "pointwise": short(loo.loo_i)}


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "draws":
        return make_draws(sys.argv[2], pathlib.Path(sys.argv[3]))
    if len(sys.argv) != 3 or sys.argv[1] != "arviz":
        sys.exit(__doc__)
    import arviz
    import numpy
    import scipy

    warnings.simplefilter("ignore")
    folder = pathlib.Path(sys.argv[2])
    versions = {"arviz": arviz.__version__, "numpy": numpy.__version__, "scipy": scipy.__version__}
    lines = []
    for case in CASES:
        found = reference(case, folder)
        print(found["name"], found["r_eff"], found["elpd_loo"], max(found["pareto_k"]))
        lines.append(json.dumps(found, allow_nan=False))
    lines = ",\n".join(lines)
    text = f'{{"versions": {json.dumps(versions)},\n"cases": [\n{lines}\n]}}\n'
    (folder / "loo" / "arviz.json").write_text(text)


if __name__ == "__main__":
    main()
