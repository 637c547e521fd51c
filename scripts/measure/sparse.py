#!/usr/bin/env python3
"""Time, memory and effective draws of fits with wide factors and of a large dense table. Usage:
scripts/measure/sparse.py OUT.csv [PROGRAM]

Each line is one whole process of `ridgewalk fit` with its default settings but for the draws: reading,
mode, warm-up, 8 chains of 500 draws, summary, checks and report. Seconds are those of the processor,
of all threads. Data are drawn with fixed seeds. E is the smallest bulk effective sample size of the
coefficients. PROGRAM is target/release/ridgewalk unless given.
"""
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FIELDS = ["data", "rows", "columns", "file_mib", "seconds", "wall_seconds", "peak_mib", "ess", "status"]


def factors(path, rows, levels, binary, rng):
    """A number and factors of so many levels, with effects of sd 0.5 together."""
    effects = [[rng.gauss(0, 0.5 / len(levels) ** 0.5) for _ in range(n)] for n in levels]
    with open(path, "w", encoding="utf-8") as file:
        file.write("y,x," + ",".join(f"g{k}" for k in range(len(levels))) + "\n")
        for _ in range(rows):
            own = [rng.randrange(n) for n in levels]
            x = rng.gauss(0, 1)
            s = 0.3 + 0.5 * x + sum(e[k] for e, k in zip(effects, own))
            y = int(s + rng.gauss(0, 1.7) > 0) if binary else round(s + rng.gauss(0, 1), 4)
            file.write(f"{y},{x:.4f}," + ",".join(f"l{k}" for k in own) + "\n")


def covtype(path, rows, rng):
    """The shape of Covertype: 10 numbers and 44 dummies of which 2 are 1, and a response of 0 and 1."""
    beta = [rng.gauss(0, 0.3) for _ in range(54)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("y," + ",".join(f"x{k}" for k in range(54)) + "\n")
        for _ in range(rows):
            x = [round(rng.gauss(0, 1), 3) for _ in range(10)] + [0] * 44
            x[10 + rng.randrange(4)] = 1
            x[14 + rng.randrange(40)] = 1
            s = sum(a * b for a, b in zip(x, beta))
            y = int(s + rng.gauss(0, 1.7) > 0)
            file.write(f"{y}," + ",".join(map(str, x)) + "\n")


CASES = {
    "a factor of 20,000 levels, gaussian":
        (lambda path, rng: factors(path, 200_000, [20_000], False, rng), "y ~ x + g0",
         ["--family", "gaussian"]),
    "a factor of 20,000 levels, logistic, normal(0, 2.5)":
        (lambda path, rng: factors(path, 200_000, [20_000], True, rng), "y ~ x + g0",
         ["--prior", "normal(0, 2.5)"]),
    "five factors of 1,000 levels, gaussian":
        (lambda path, rng: factors(path, 100_000, [1_000] * 5, False, rng),
         "y ~ x + g0 + g1 + g2 + g3 + g4", ["--family", "gaussian"]),
    "the shape of Covertype, logistic": (lambda path, rng: covtype(path, 400_000, rng), "y ~ . - x13 - x53", []),
}


def measure(program, name, make, formula, options):
    """One line. Usage of resources is that of one child, in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        path, out = os.path.join(directory, "data.csv"), os.path.join(directory, "run")
        make(path, random.Random(1))
        command = [program, "fit", path, formula, "--draws", "500", "--seed", "1", "--quiet",
                   "--out", out, *options]
        code = ("import json, resource, subprocess, sys, time; t = time.time(); "
                "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; "
                "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
                "print(json.dumps([done, u.ru_utime + u.ru_stime, time.time() - t, u.ru_maxrss]))")
        found = subprocess.run([sys.executable, "-c", code, *command], check=True,
                               capture_output=True, text=True)
        done, seconds, wall, peak = json.loads(found.stdout)
        if done:
            sys.exit(f"{name}: {program} ended with {done}")
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        return {"data": name, "rows": summary["problem"]["n"], "columns": summary["problem"]["d"],
                "file_mib": round(os.path.getsize(path) / 2**20, 1), "seconds": round(seconds, 1),
                "wall_seconds": round(wall, 1), "peak_mib": round(peak / 1024),
                "ess": round(min(p["ess_bulk"] for p in summary["parameters"])),
                "status": summary["sampler"]["status"]}


def main():
    out = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "target", "release", "ridgewalk")
    with open(out, "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for name, (make, formula, options) in CASES.items():
            table.writerow(measure(os.path.abspath(program), name, make, formula, options))
            file.flush()


if __name__ == "__main__":
    main()
