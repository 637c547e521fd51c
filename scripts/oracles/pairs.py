#!/usr/bin/env python3
"""Posteriors of paired comparisons (Bradley-Terry), by numpy alone.

    python3 -m venv venv && venv/bin/pip install numpy==2.5.4
    venv/bin/python scripts/oracles/pairs.py crates/fit/tests/data/pairs

Made with Python 3.12. Writes matches.csv, a small tournament made from a seed, and pairs.json: for
each model mean and standard deviation of each parameter, with the standard errors of both. Nothing
of ridgewalk is used: the designs are made here, entry by entry, and the moments are those of
importance sampling. Proposals are Student's t around the mode of the posterior, whose covariance is
the inverse of its Hessian; for abilities with a common standard deviation there is one proposal for
each of many standard deviations, and the sum over them is a quadrature. Takes half a minute.
"""
import csv
import json
import pathlib
import sys

import numpy as np

PLAYERS = ["Ada", "Bea", "Cleo", "Dora", "Eve", "Flo"]
MATCHES = 90
DRAWS = 400_000
DEGREES = 8


def matches(rng):
    """Who hosted, who visited, who won. The host has an advantage."""
    ability = np.array([1.2, 0.6, 0.1, -0.2, -0.7, -1.0])
    rows = []
    for _ in range(MATCHES):
        home, away = rng.choice(len(PLAYERS), 2, replace=False)
        p = 1 / (1 + np.exp(-(0.5 + ability[home] - ability[away])))
        won = rng.random() < p
        winner, loser = (home, away) if won else (away, home)
        rows.append([PLAYERS[home], PLAYERS[away], int(won), PLAYERS[winner], PLAYERS[loser]])
    return rows


def difference(rows, first, second, left_out):
    """A column for each player but those left out: +1 where the first, -1 where the second."""
    players = [p for p in PLAYERS if p not in left_out]
    design = np.zeros((len(rows), len(players)))
    for i, row in enumerate(rows):
        for j, player in enumerate(players):
            design[i, j] = (row[first] == player) - (row[second] == player)
    return players, design


def log_posterior(theta, design, y, precision):
    """For each row of theta: logistic likelihood and normal priors around 0, normalised."""
    eta = theta @ design.T
    likelihood = (eta * y - np.logaddexp(0, eta)).sum(axis=1)
    prior = -0.5 * theta**2 @ precision + 0.5 * np.log(precision / (2 * np.pi)).sum()
    return likelihood + prior


def mode(design, y, precision):
    theta = np.zeros(design.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (y - p) - precision * theta
        hessian = (design.T * (p * (1 - p))) @ design + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        theta = theta + step
        if np.abs(step).max() < 1e-12:
            break
    return theta, hessian


def importance(rng, design, y, precision, draws):
    """Draws and their log weights, whose mean is the marginal likelihood."""
    theta, hessian = mode(design, y, precision)
    d = len(theta)
    factor = np.linalg.cholesky(np.linalg.inv(hessian))
    z = rng.standard_normal((draws, d))
    u = rng.chisquare(DEGREES, draws) / DEGREES
    t = z / np.sqrt(u)[:, None]
    from math import lgamma, log, pi
    constant = lgamma((DEGREES + d) / 2) - lgamma(DEGREES / 2) - d / 2 * log(DEGREES * pi)
    proposal = constant - (DEGREES + d) / 2 * np.log1p((t**2).sum(axis=1) / DEGREES)
    proposal -= np.log(np.diag(factor)).sum()
    x = theta + t @ factor.T
    return x, log_posterior(x, design, y, precision) - proposal


def moments(names, x, log_weights):
    """Mean and standard deviation of each column, with their standard errors."""
    w = np.exp(log_weights - log_weights.max())
    w /= w.sum()
    found = {}
    for name, values in zip(names, x.T):
        mean = w @ values
        sd = np.sqrt(w @ (values - mean) ** 2)
        mean_error = np.sqrt(w**2 @ (values - mean) ** 2)
        sd_error = np.sqrt(w**2 @ ((values - mean) ** 2 - sd**2) ** 2) / (2 * sd)
        numbers = {"mean": mean, "sd": sd, "mean_error": mean_error, "sd_error": sd_error}
        found[name] = {key: float(value) for key, value in numbers.items()}
    return found


def fixed(rng, names, design, y, scale):
    precision = np.full(design.shape[1], scale**-2.0)
    x, log_weights = importance(rng, design, y, precision, DRAWS)
    return moments(names, x, log_weights)


def varying(rng, names, design, y, sd_scale):
    """Effects of one normal distribution, whose standard deviation is half-normal."""
    # The midpoint rule in log sd.
    grid = np.linspace(np.log(0.02), np.log(sd_scale * 6), 121)
    xs, weights = [], []
    for log_sd in (grid[:-1] + grid[1:]) / 2:
        sd = np.exp(log_sd)
        x, log_weights = importance(rng, design, y, np.full(design.shape[1], sd**-2.0), DRAWS // 20)
        prior = -0.5 * (sd / sd_scale) ** 2 + log_sd
        xs.append(np.column_stack([np.full(len(x), sd), x]))
        weights.append(log_weights + prior)
    return moments(names, np.concatenate(xs), np.concatenate(weights))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(20)
    rows = matches(rng)
    with open(folder / "matches.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["home", "away", "won", "winner", "loser"])
        writer.writerows(rows)
    wins = np.ones(len(rows))
    won = np.array([row[2] for row in rows], float)
    cases = []

    players, design = difference(rows, 3, 4, ["Ada"])
    names = [f"pair(winner, loser)[{p}]" for p in players]
    cases.append(("wins", "1 ~ 0 + pair(winner, loser)", fixed(rng, names, design, wins, 1.5)))

    players, design = difference(rows, 0, 1, ["Cleo"])
    names = [f"pair(home, away, base = \"Cleo\")[{p}]" for p in players]
    design = np.column_stack([np.ones(len(rows)), design])
    formula = "won ~ pair(home, away, base = \"Cleo\")"
    cases.append(("base", formula, fixed(rng, ["(Intercept)", *names], design, won, 1.5)))

    players, design = difference(rows, 3, 4, [])
    names = ["sd_pair(winner, loser)__(Intercept)"]
    names += [f"r_pair(winner, loser)[{p},(Intercept)]" for p in players]
    found = varying(rng, names, design, wins, 1.0)
    cases.append(("abilities", "1 ~ 0 + (1 | pair(winner, loser))", found))
    document = [{"name": n, "formula": f, "parameters": p} for n, f, p in cases]
    (folder / "pairs.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
