#!/usr/bin/env python3
"""High-precision coefficients of one step of Algorithm 1, straight from the stochastic differential
equations.

Nothing here uses the paper's closed forms, nor those of crates/coefficients. The three stages of
the discretisation are one linear system with constant coefficients (a state of six numbers per
coordinate), so that the means are a matrix exponential and the noise covariance is Van Loan's block
exponential, both at 120 digits. The Cholesky factor is taken of that.

    python3 -m venv venv && venv/bin/pip install mpmath==1.3.0
    venv/bin/python scripts/oracles/coefficients.py > crates/coefficients/tests/golden/oracle.json

Cases: random ones over xi*eta from 1e-9 to 50, both sides of the threshold 2.5 between the two
branches, gamma*eta far above xi*eta, and parameters at which mu12, mu22, mu32, mu33, sigma13,
sigma23, chol31 or chol32 passes through zero. For those eight, "terms" gives the larger of the two
terms whose difference they are (the value has the form A - gamma^2 B up to powers of eta and gamma;
A and B follow from the values at gamma and at gamma * 1e-30).
"""
import json
import random

from mpmath import cholesky, expm, matrix, mp, mpf, sqrt

mp.dps = 120

# State: theta, p_hat, r_tilde, r_hat, and two constants, p at the start and minus Delta U / eta.
THETA, P, R, R_HAT, P_START, KICK = range(6)


def system(gamma, xi):
    """Generator of the six-dimensional system: the three stages that the paper derives its discretisation from."""
    a = matrix(6, 6)
    a[THETA, P] = 1
    a[P, R_HAT] = gamma
    a[P, KICK] = 1
    a[R, P] = -gamma
    a[R, R] = -xi
    a[R_HAT, P_START] = -gamma
    a[R_HAT, R_HAT] = -xi
    return a


def coefficients(gamma, xi, eta):
    gamma, xi, eta = mpf(gamma), mpf(xi), mpf(eta)
    a = system(gamma, xi)
    flow = expm(a * eta)
    # The copies of p and of r start together.
    p_in = [flow[i, P] + flow[i, P_START] for i in (THETA, P, R)]
    r_in = [flow[i, R] + flow[i, R_HAT] for i in (THETA, P, R)]
    values = {
        "mu12": p_in[0], "mu13": r_in[0], "mu22": p_in[1], "mu23": r_in[1],
        "mu31": -flow[R, KICK] / eta, "mu32": p_in[2], "mu33": r_in[2],
    }
    assert abs(flow[THETA, KICK] / eta - eta / 2) < mpf(10) ** -100 * eta
    # One Brownian motion drives both copies of r: Van Loan's block matrix for the covariance
    # integral.
    noise = matrix(6, 6)
    for i in (R, R_HAT):
        for j in (R, R_HAT):
            noise[i, j] = 2 * xi
    block = matrix(12, 12)
    for i in range(6):
        for j in range(6):
            block[i, j] = -a[i, j]
            block[i, j + 6] = noise[i, j]
            block[i + 6, j + 6] = a[j, i]
    block = expm(block * eta)
    upper, lower = block[0:6, 6:12], block[6:12, 6:12]
    covariance = lower.T * upper
    kept = (THETA, P, R)
    sigma = matrix(3, 3)
    for i in range(3):
        for j in range(3):
            sigma[i, j] = (covariance[kept[i], kept[j]] + covariance[kept[j], kept[i]]) / 2
            if j >= i:
                values[f"sigma{i + 1}{j + 1}"] = sigma[i, j]
    # Scaled by its diagonal first: mpmath's positivity test is absolute.
    scale = [sqrt(sigma[i, i]) for i in range(3)]
    scaled = matrix(3, 3)
    for i in range(3):
        for j in range(3):
            scaled[i, j] = sigma[i, j] / (scale[i] * scale[j])
    factor = cholesky(scaled)
    for i in range(3):
        for j in range(i + 1):
            values[f"chol{i + 1}{j + 1}"] = factor[i, j] * scale[i]
    return values


# The power of gamma that multiplies A - gamma^2 B.
SIGNED = {"mu12": 0, "mu22": 0, "mu32": 1, "mu33": 0, "sigma13": 1, "sigma23": 1, "chol31": 0, "chol32": 0}


def larger_terms(gamma, xi, eta, values):
    tiny = mpf(10) ** -30
    at_small = coefficients(mpf(gamma) * tiny, xi, eta)
    terms = {}
    for name, power in SIGNED.items():
        first = at_small[name] / tiny**power
        terms[name] = max(abs(first), abs(first - values[name]))
    return terms


def text(number):
    return mp.nstr(number, 25, strip_zeros=False)


def case(kind, gamma, xi, eta):
    values = coefficients(gamma, xi, eta)
    terms = larger_terms(gamma, xi, eta, values)
    return {
        "kind": kind, "gamma": gamma.hex(), "xi": xi.hex(), "eta": eta.hex(),
        "values": {name: text(value) for name, value in values.items()},
        "terms": {name: text(term) for name, term in terms.items()},
    }


def zero_of(name, xi, eta):
    """The double nearest the gamma at which the named coefficient vanishes: A = gamma^2 B is linear in gamma^2."""
    tiny = mpf(10) ** -30
    power = SIGNED[name]
    first = coefficients(tiny, xi, eta)[name] / tiny**power
    at_one = coefficients(1, xi, eta)[name]
    return float(sqrt(first / (first - at_one)))


def main():
    rng = random.Random(20261116)
    cases = []
    for _ in range(40):
        z = 10 ** rng.uniform(-9, 1.69897)
        xi = 10 ** rng.uniform(-3, 3)
        gamma = xi * 10 ** rng.uniform(-1.5, 0.7)
        cases.append(case("random", gamma, xi, z / xi))
    for z in (2.4, 2.4999999999999996, 2.5, 2.5000000000000004, 2.6):
        for ratio in (0.3, 1.1):
            cases.append(case("threshold", 4 * ratio, 4.0, z / 4))
    for z, g in ((1e-6, 10.0), (1e-3, 300.0), (0.3, 40.0), (2.4, 1e3), (2.6, 200.0), (40.0, 1e4)):
        cases.append(case("large gamma", 2 * g / z, 2.0, z / 2))
    for name in SIGNED:
        for z in (1e-4, 0.2, 1.5, 2.4, 2.6, 20.0):
            xi, eta = 2.0, z / 2
            cases.append(case(f"zero of {name}", zero_of(name, xi, eta), xi, eta))
    document = {
        "convention": "L = 1; Sigma = sigma/L; values are decimal strings; gamma, xi, eta are hexadecimal doubles",
        "made by": "scripts/oracles/coefficients.py, mpmath at 120 digits",
        "cases": cases,
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
