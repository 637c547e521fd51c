#!/usr/bin/env python3
"""Chebyshev coefficients of (v + 1) M(v), M(v) = (1 - Phi(v))/phi(v) Mills's ratio, in t = (v - 5)/(v + 5), for v >= 0.

    python3 -m venv venv && venv/bin/pip install mpmath==1.3.0
    venv/bin/python scripts/fit_mills_ratio.py

prints the table in crates/potentials/src/normal.rs. The function is smooth on the whole of [-1, 1] (it tends to 1 as v grows), so the
coefficients fall below 1e-17 after 26 terms. They are discrete cosine sums over 80 Chebyshev points at 40 digits.
"""
from mpmath import cos, erfc, exp, mp, mpf, pi, sqrt

mp.dps = 40
POINTS, TERMS = 80, 26


def mills(v):
    if v < 60:
        return exp(v * v / 2) * erfc(v / sqrt(2)) * sqrt(pi / 2)
    tail = mpf(0)
    for i in range(200, 0, -1):
        tail = i / (v + tail)
    return 1 / (v + tail)


def main():
    angles = [pi * (mpf(j) + mpf(1) / 2) / POINTS for j in range(POINTS)]
    values = []
    for angle in angles:
        t = cos(angle)
        v = 5 * (1 + t) / (1 - t)
        values.append((v + 1) * mills(v))
    for i in range(TERMS):
        c = sum(value * cos(i * angle) for value, angle in zip(values, angles)) * 2 / POINTS
        print(f"    {float(c / 2 if i == 0 else c)!r},")


if __name__ == "__main__":
    main()
