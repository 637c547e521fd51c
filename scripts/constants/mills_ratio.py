#!/usr/bin/env python3
"""Mills's ratio M(v) = (1 - Phi(v))/phi(v), as the two tables in crates/potentials/src/normal.rs.

    python3 -m venv venv && venv/bin/pip install mpmath==1.3.0
    venv/bin/python scripts/constants/mills_ratio.py

MILLS: Chebyshev coefficients of (v + 1) M(v) in t = (v - 5)/(v + 5), for v >= 0. The function is
smooth on the whole of [-1, 1] (it tends to 1 as v grows), so the coefficients fall below 1e-17
after 26 terms. They are discrete cosine sums over 80 Chebyshev points at 40 digits.

NEAR: powers, lowest first, of x = 9/(v + 9/2) - 9/16, for (v + 9/2) M(v) with v between -3/4 and
25, fitted to a little more because divided differences are taken of it and derivatives of a fit are
worst at its ends. x goes from -0.27 to 1.92, not from -1 to 1: placed so, the terms hardly cancel
at either end (the sum of their sizes is printed relative to the function, and that of the terms of
its derivative relative to M').
"""
from mpmath import cos, erfc, exp, lu_solve, matrix, mp, mpf, pi, sqrt

mp.dps = 40
POINTS, TERMS = 80, 26
SHIFT, SCALE, START = mpf(9) / 2, mpf(9), mpf(9) / 16
NEAREST, FARTHEST, POWERS = mpf(-7) / 8, mpf(26), 26


def mills(v):
    if v < 60:
        return exp(v * v / 2) * erfc(v / sqrt(2)) * sqrt(pi / 2)
    tail = mpf(0)
    for i in range(200, 0, -1):
        tail = i / (v + tail)
    return 1 / (v + tail)


def chebyshev():
    angles = [pi * (mpf(j) + mpf(1) / 2) / POINTS for j in range(POINTS)]
    values = []
    for angle in angles:
        t = cos(angle)
        v = 5 * (1 + t) / (1 - t)
        values.append((v + 1) * mills(v))
    print("MILLS")
    for i in range(TERMS):
        c = sum(value * cos(i * angle) for value, angle in zip(values, angles)) * 2 / POINTS
        print(f"    {float(c / 2 if i == 0 else c)!r},")


def place(v):
    return SCALE / (v + SHIFT) - START


def near():
    low, high = place(FARTHEST), place(NEAREST)
    powers, values = matrix(POWERS, POWERS), matrix(POWERS, 1)
    for i in range(POWERS):
        x = (low + high) / 2 + (high - low) / 2 * cos(pi * (mpf(i) + mpf(1) / 2) / POWERS)
        factor = SCALE / (x + START)
        values[i] = factor * mills(factor - SHIFT)
        for j in range(POWERS):
            powers[i, j] = x**j
    coefficients = [float(c) for c in lu_solve(powers, values)]
    print("NEAR")
    for c in coefficients:
        print(f"    {c!r},")
    worst, sizes, slopes = mpf(0), mpf(0), mpf(0)
    for i in range(2001):
        v = NEAREST + (FARTHEST - NEAREST) * (mpf(i) / 2000) ** 2
        x, value, fall = place(v), (v + SHIFT) * mills(v), 1 - v * mills(v)
        terms = [mpf(c) * x**j for j, c in enumerate(coefficients)]
        parts = [abs(j * mpf(c) * x ** (j - 1)) for j, c in enumerate(coefficients) if j]
        worst = max(worst, abs(sum(terms) / value - 1))
        sizes = max(sizes, sum(abs(term) for term in terms) / value)
        slopes = max(slopes, (value + SCALE * sum(parts) / (v + SHIFT)) / (v + SHIFT) ** 2 / fall)
    print(f"error {float(worst):.2g}, sizes of terms {float(sizes):.3g}, of those of the derivative {float(slopes):.3g}")


if __name__ == "__main__":
    chebyshev()
    near()
