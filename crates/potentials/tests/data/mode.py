#!/usr/bin/env python3
"""The mode of the breast cancer regression, by Newton's method in 40 digits: python3 mode.py > breast-cancer.mode.csv (mpmath 1.3)

Predictors are centred and divided by their standard deviation (divisor n) in doubles, as a program would; the rest is exact to 1e-30.
"""
import csv
import math
import pathlib

from mpmath import exp, lu_solve, matrix, mp, mpf

mp.dps = 40
rows = list(csv.reader((pathlib.Path(__file__).parent / "breast-cancer.csv").open()))
names, data = rows[0], [[float(x) for x in row] for row in rows[1:]]
n, d = len(data), len(names)
a = [[mpf(1)] + [None] * (d - 1) for _ in range(n)]
for k in range(d - 1):
    column = [row[k] for row in data]
    mean = math.fsum(column) / n
    sd = math.sqrt(math.fsum((x - mean) ** 2 for x in column) / n)
    for i in range(n):
        a[i][k + 1] = mpf((column[i] - mean) / sd)
y = [row[-1] for row in data]
theta = matrix(d, 1)
for _ in range(30):
    gradient, hessian = theta / mpf(6.25), matrix(d, d)
    for k in range(d):
        hessian[k, k] = 1 / mpf(6.25)
    for i in range(n):
        p = 1 / (1 + exp(-sum(a[i][k] * theta[k] for k in range(d))))
        for k in range(d):
            gradient[k] += (p - y[i]) * a[i][k]
            c = p * (1 - p) * a[i][k]
            for l in range(d):
                hessian[k, l] += c * a[i][l]
    step = lu_solve(hessian, gradient)
    theta -= step
    if max(abs(x) for x in step) < mpf(10) ** -25:
        break
print("coefficient,mode")
for name, value in zip(["(Intercept)"] + names[:-1], theta):
    print(f"{name},{float(value)!r}")
