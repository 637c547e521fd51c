#!/usr/bin/env python3
"""The exact step of (p, r) at 120 digits: the map and the noise covariance of dp = gamma r dt, dr =
-gamma p dt - xi r dt + sqrt(2 xi) dB.

The map is a matrix exponential, the noise covariance Van Loan's block exponential of the same
generator. Neither the series and doublings of crates/coefficients nor the identity Sigma = I - E
E^T is used; that identity is checked here instead.

    python3 -m venv venv && venv/bin/pip install mpmath==1.3.0
    venv/bin/python scripts/oracles/ornstein_uhlenbeck.py > crates/coefficients/tests/golden/ornstein_uhlenbeck.json

Cases: xi*eta from 1e-9 to 50 with gamma*eta below xi*eta/2 (overdamped), at it (critical) and above
it (oscillating), and parameters at which an entry of the map, or the covariance of the noises of p
and r, passes through zero. "terms" gives for each entry that can cancel the size of what cancels:
e^(-xi eta/2) times the larger of the two terms of its closed form for the map, and the geometric
mean of the two variances for the covariance.
"""
import json
import random

from mpmath import cos, cosh, exp, expm, findroot, matrix, mp, mpf, pi, sin, sinh, sqrt

mp.dps = 120


def step(gamma, xi, eta):
    """E and Sigma (L = 1) of one step."""
    gamma, xi, eta = mpf(gamma), mpf(xi), mpf(eta)
    generator = matrix([[0, gamma], [-gamma, -xi]])
    flow = expm(generator * eta)
    block = matrix(4, 4)
    for i in range(2):
        for j in range(2):
            block[i, j] = -generator[i, j]
            block[i + 2, j + 2] = generator[j, i]
    block[1, 3] = 2 * xi
    block = expm(block * eta)
    sigma = block[2:4, 2:4].T * block[0:2, 2:4]
    left = flow * flow.T + sigma
    for i in range(2):
        for j in range(2):
            assert abs(left[i, j] - (i == j)) < mpf(10) ** -60
    return flow, sigma


def values(gamma, xi, eta):
    flow, sigma = step(gamma, xi, eta)
    l11 = sqrt(sigma[0, 0])
    l21 = sigma[0, 1] / l11
    return {
        "flow_pp": flow[0, 0], "flow_pr": flow[0, 1], "flow_rp": flow[1, 0], "flow_rr": flow[1, 1],
        "sigma_pp": sigma[0, 0], "sigma_pr": sigma[0, 1], "sigma_rr": sigma[1, 1],
        "chol11": l11, "chol21": l21, "chol22": sqrt(sigma[1, 1] - l21**2),
    }


def terms(gamma, xi, eta, v):
    """exp(-xi t/2) (c + (xi/2) s), -(...) and so on, with c, s = cos and sin(w t)/w or their hyperbolic twins."""
    gamma, xi, eta = mpf(gamma), mpf(xi), mpf(eta)
    square = gamma**2 - xi**2 / 4
    w = sqrt(abs(square))
    if w == 0:
        c, s = mpf(1), eta
    elif square > 0:
        c, s = abs(cos(w * eta)), abs(sin(w * eta)) / w
    else:
        c, s = cosh(w * eta), sinh(w * eta) / w
    decay = exp(-xi * eta / 2)
    # A zero of sin(w t) is no cancellation of two terms but of the sine itself: its argument is
    # known to a relative rounding.
    phase = decay * min(gamma * eta, gamma / w if square > 0 else gamma * eta)
    mixed = decay * max(c, xi / 2 * s, min(w * eta, 1) if square > 0 else 0)
    return {
        "flow_pp": mixed, "flow_pr": max(phase, abs(v["flow_pr"])), "flow_rp": max(phase, abs(v["flow_rp"])), "flow_rr": mixed,
        "sigma_pr": sqrt(v["sigma_pp"] * v["sigma_rr"]), "chol21": sqrt(v["sigma_rr"]),
    }


def text(number):
    return mp.nstr(number, 25, strip_zeros=False)


def case(kind, gamma, xi, eta):
    v = values(gamma, xi, eta)
    return {
        "kind": kind, "gamma": gamma.hex(), "xi": xi.hex(), "eta": eta.hex(),
        "values": {name: text(value) for name, value in v.items()},
        "terms": {name: text(term) for name, term in terms(gamma, xi, eta, v).items()},
    }


def zero_of(name, xi, eta, near):
    """The double nearest a gamma at which an entry vanishes; the diagonal entries are even in gamma."""
    return abs(float(findroot(lambda gamma: values(gamma, xi, eta)[name], mpf(near), tol=mpf(10) ** -40)))


def main():
    rng = random.Random(20261116)
    cases = []
    for kind, ratio in (("overdamped", lambda: 10 ** rng.uniform(-2, -0.32)), ("oscillating", lambda: 10 ** rng.uniform(-0.28, 0.8))):
        for _ in range(24):
            z = 10 ** rng.uniform(-9, 1.69897)
            xi = 10 ** rng.uniform(-3, 3)
            cases.append(case(kind, xi * ratio(), xi, z / xi))
    for z in (1e-9, 1e-6, 1e-3, 0.1, 0.25, 0.26, 0.5, 1.0, 2.5, 7.0, 20.0, 50.0):
        # Powers of two: exactly critical in binary, and one rounding to either side of it.
        cases.append(case("critical", 2.0, 4.0, z / 4))
        cases.append(case("nearly critical", 2.0 * (1 + 2**-52), 4.0, z / 4))
        cases.append(case("nearly critical", 2.0 * (1 - 2**-53), 4.0, z / 4))
    for z, g in ((1e-6, 10.0), (1e-3, 30.0), (0.3, 20.0), (2.0, 40.0)):
        cases.append(case("many turns", 2 * g / z, 2.0, z / 2))
    for z in (1e-4, 0.1, 0.4, 1.5, 4.0):
        xi, eta = 2.0, z / 2
        half = float(pi / 2)
        cases.append(case("zero of flow_pp", zero_of("flow_pp", xi, eta, sqrt((half * (1 + z / 8)) ** 2 + z**2 / 4) / eta), xi, eta))
        cases.append(case("zero of flow_rr", zero_of("flow_rr", xi, eta, sqrt((half * (1 - z / 16)) ** 2 + z**2 / 4) / eta), xi, eta))
        cases.append(case("zero of flow_pr", float(sqrt(mp.pi**2 + mpf(z) ** 2 / 4) / mpf(eta)), xi, eta))
    document = {
        "convention": "L = 1; values are decimal strings; gamma, xi, eta are hexadecimal doubles",
        "made by": "scripts/oracles/ornstein_uhlenbeck.py, mpmath at 120 digits",
        "cases": cases,
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
