#!/usr/bin/env python3
"""Polynomials for e^r and the logarithm of a ratio, near-minimax by interpolation in Chebyshev
points.

    python3 -m venv venv && venv/bin/pip install mpmath==1.3.0
    venv/bin/python scripts/constants/elementary.py

prints the tables in crates/potentials/src/elementary.rs, lowest power first, and the largest error
of each relative to the function:

    e^r - 1 = r + r^2 q(r)             for |r| <= 0.3467 (half of log 2)
    2 artanh(f) = 2 f + f^3 w(f^2)     for f^2 <= 0.0445 (ratios between 0.65 and 1.54)
    the same                           for f^2 <= 0.1112 (ratios between 1 and 2)
"""
from mpmath import atanh, cos, expm1, matrix, lu_solve, mp, mpf, pi, sqrt

mp.dps = 60


def q(r):
    return (expm1(r) - r) / r**2


def w(z):
    f = sqrt(z)
    return (2 * atanh(f) - 2 * f) / f**3


def fit(function, low, high, degree):
    count = degree + 1
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (mpf(j) + mpf(1) / 2) / count) for j in range(count)]
    powers = matrix(count, count)
    values = matrix(count, 1)
    for i, x in enumerate(nodes):
        values[i] = function(x)
        for j in range(count):
            powers[i, j] = x**j
    return [float(c) for c in lu_solve(powers, values)]


def table(name, coefficients):
    print(f"const {name}: [f64; {len(coefficients)}] = [")
    for c in coefficients:
        print(f"    {c!r},")
    print("];")


def largest(error, low, high):
    points = [low + (high - low) * mpf(j) / 2000 for j in range(2001)]
    return float(max(abs(error(x)) for x in points if abs(x) > mpf("1e-9")))


def value(coefficients, x):
    return sum(mpf(c) * x**j for j, c in enumerate(coefficients))


def main():
    reach = mpf("0.3467")
    c = fit(q, -reach, reach, 9)
    table("EXPM1", c)
    print("//", largest(lambda r: (r + r**2 * value(c, r)) / expm1(r) - 1, -reach, reach))
    for name, reach, degree in [("ARTANH", mpf("0.0445"), 7), ("ARTANH_TO_THIRD", mpf("0.1112"), 9)]:
        c = fit(w, mpf("1e-30"), reach, degree)
        table(name, c)
        print("//", largest(lambda z: (2 * sqrt(z) + sqrt(z) ** 3 * value(c, z)) / (2 * atanh(sqrt(z))) - 1, mpf(0), reach))


if __name__ == "__main__":
    main()
