#!/usr/bin/env python3
"""Components of the noise of the free flow along Legendre's polynomials, at 60 digits.

Noise that enters at the time u of a step of length t, as a fraction, reaches theta by the factor
(1 - exp(-z (1 - u)))/z and p by exp(-z (1 - u)), z = xi t. The values are the integrals of these
against sqrt(2j + 1) P_j(2u - 1) over [0, 1], j = 0, 1, 2, by Gauss-Legendre quadrature, with none
of the closed forms of crates/coefficients.

    python3 -m venv venv && venv/bin/pip install mpmath==1.3.0
    venv/bin/python scripts/oracles/polynomial_path.py > crates/coefficients/tests/golden/polynomial_path.json
"""
import json

from mpmath import exp, expm1, legendre, linspace, mp, mpf, nstr, quad, sqrt

mp.dps = 60


def components(z, kernel):
    pieces = linspace(0, 1, 1 + max(1, int(z)))
    value = lambda j: quad(lambda u: kernel(1 - u) * legendre(j, 2 * u - 1), pieces)
    return [nstr(sqrt(mpf(2 * j + 1)) * value(j), 30) for j in range(3)]


cases = []
for z in ("1e-9", "1e-6", "1e-4", "0.003", "0.05", "0.3", "1", "2", "2.499", "2.501", "4", "9", "30", "200"):
    z = mpf(z)
    cases.append(
        {
            "z": nstr(z, 20),
            "theta": components(z, lambda s: -expm1(-z * s) / z),
            "p": components(z, lambda s: exp(-z * s)),
        }
    )
print(json.dumps({"made by": "scripts/oracles/polynomial_path.py, mpmath 1.3.0, 60 digits", "cases": cases}, indent=1))
