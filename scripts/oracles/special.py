#!/usr/bin/env python3
"""Prints what the tests of crates/potentials/src/special.rs compare with, as Rust tables.

    python3 -m venv target/oracles && target/oracles/bin/pip install mpmath==1.3.0
    target/oracles/bin/python scripts/oracles/special.py > crates/potentials/src/special/reference.rs

Every function is written from its definition and evaluated with 120 digits.
"""
from mpmath import mp, mpf

mp.dps = 120


def table(name, doc, f, arguments):
    print(f"\n/// {doc}")
    print(f"pub(super) const {name}: &[(f64, f64)] = &[")
    for x in arguments:
        print(f"    ({float(x)!r}, {float(f(mpf(float(x))))!r}),")
    print("];")


POSITIVE = [1e-9, 1e-6, 0.003, 0.11, 0.5, 0.99, 1.0, 1.2, 1.5, 1.999, 2.0, 3.7, 6.2, 9.99, 10.0, 10.01, 17.3, 123.4, 9.7e4, 3e8, 1e12]
SMALL = [1e-300, 1e-18, 1e-9, 1e-5, 0.003, 0.1, 0.24, 0.249999, 0.25, 0.250001, 0.3, 0.69, 0.7, 0.9, 1.0, 1.1, 3.0, 20.0, 40.0, 700.0, 1e4]
SIGNED = [-0.99, -0.7, -0.26, -0.25, -0.2499, -0.1, -1e-4, -1e-10]

print("//! From `scripts/oracles/special.py`: arguments and values.")
print("#![allow(clippy::excessive_precision, clippy::unreadable_literal)]")
table("DIGAMMA", "ψ(x).", mp.digamma, POSITIVE)
table("STIRLING", "log Γ(x) − (x − ½) log x + x − log √(2π).", lambda x: mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2, POSITIVE)
table("SCALED_GAMMA", "log Γ(a) − a log a + a.", lambda a: mp.loggamma(a) - a * mp.log(a) + a, POSITIVE)
table("SCALED_GAMMA_SLOPE", "a (ψ(a) − log a).", lambda a: a * (mp.digamma(a) - mp.log(a)), POSITIVE)
table("HALF_STEP", "log Γ(a + ½) − log Γ(a) − ½ log a.", lambda a: mp.loggamma(a + 0.5) - mp.loggamma(a) - mp.log(a) / 2, POSITIVE)
table("HALF_STEP_SLOPE", "Its derivative in log a.", lambda a: a * (mp.digamma(a + 0.5) - mp.digamma(a)) - mpf(1) / 2, POSITIVE)
table("LOG_1M_EXP", "log(1 − e^-x).", lambda x: mp.log(-mp.expm1(-x)) if x < 100 else mp.log1p(-mp.exp(-x)), SMALL)
table("OVER_EXPM1", "x/(e^x − 1).", lambda x: x / mp.expm1(x), SMALL[:-1])
table("LOG_1P_MINUS", "log(1 + x) − x.", lambda x: mp.log1p(x) - x if abs(x) > 1e-100 else -x * x / 2, SIGNED + SMALL)
table("LOG_1P_MINUS_SHARE", "log(1 + x) − x/(1 + x).", lambda x: mp.log1p(x) - x / (1 + x) if x > 1e-100 else x * x / 2, SMALL)
table("DEVIANCE", "(1 + x) log(1 + x) − x.", lambda x: (1 + x) * mp.log1p(x) - x if abs(x) > 1e-100 else x * x / 2, SIGNED + SMALL)
print("\n/// r, n and r (log(1 + n/r) − ψ(r + n) + ψ(r)).")
print("pub(super) const SHORTFALLS: &[(f64, f64, f64)] = &[")
for r in (1e-6, 0.02, 0.7, 1.0, 3.3, 9.9, 10.0, 31.0, 1e5, 1e12):
    for n in (1, 2, 9, 60, 1000, 10**6):
        r = mpf(r)
        value = r * (mp.log1p(n / r) - mp.digamma(r + n) + mp.digamma(r))
        print(f"    ({float(r)!r}, {float(n)!r}, {float(value)!r}),")
print("];")
