#!/usr/bin/env python3
"""Time, memory and effective draws of crossed mixed models by rows and levels. Usage:
scripts/measure/mixed_size.py OUT.csv

Needs target/release/ridgewalk. Data are drawn with fixed seeds. The last line has the size of a large
rating study: 100,000 rows, 5,000 and 2,000 levels.
"""
import csv
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(ROOT, "target", "release", "ridgewalk")
# Rows, and levels of the two factors.
SIZES = [(10_000, 100, 40), (30_000, 100, 40), (100_000, 100, 40), (100_000, 500, 200),
         (100_000, 1_500, 600), (100_000, 5_000, 2_000), (100_000, 30_000, 40)]
FIELDS = ["rows", "levels_a", "levels_b", "seconds", "wall_seconds", "peak_mib", "ess_sd_a",
          "ess_sd_b", "status"]


def write(path, rows, a, b):
    """A gaussian response with effects of sd 0.8 and 0.5, and noise of 1."""
    rng = random.Random(1)
    first = [rng.gauss(0, 0.8) for _ in range(a)]
    second = [rng.gauss(0, 0.5) for _ in range(b)]
    with open(path, "w", encoding="utf-8") as file:
        file.write("y,x,a,b\n")
        for _ in range(rows):
            i, j, x = rng.randrange(a), rng.randrange(b), rng.gauss(0, 1)
            y = 0.3 + 0.5 * x + first[i] + second[j] + rng.gauss(0, 1)
            file.write(f"{y:.5f},{x:.4f},a{i},b{j}\n")


def measure(rows, a, b):
    """One line. Usage of resources is that of one child, in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        data, out = os.path.join(directory, "data.csv"), os.path.join(directory, "run")
        write(data, rows, a, b)
        command = [PROGRAM, "fit", data, "y ~ x + (1 | a) + (1 | b)", "--family", "gaussian",
                   "--draws", "200", "--quiet", "--out", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as summary:
            found = json.load(summary)
    ess = {p["name"]: p["ess_bulk"] for p in found["parameters"] if p["name"].startswith("sd_")}
    return {"rows": rows, "levels_a": a, "levels_b": b,
            "seconds": round(used.ru_utime + used.ru_stime, 2),
            "wall_seconds": round(found["sampler"]["seconds"], 2),
            "peak_mib": round(used.ru_maxrss / 1024), "ess_sd_a": round(ess["sd_a__(Intercept)"]),
            "ess_sd_b": round(ess["sd_b__(Intercept)"]), "status": found["sampler"]["status"]}


def main():
    """One process for each size, so that its peak is its own."""
    if len(sys.argv) == 5:
        print(json.dumps(measure(*map(int, sys.argv[2:]))))
        return
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for size in SIZES:
            command = [sys.executable, __file__, "-", *map(str, size)]
            out = subprocess.run(command, check=True, capture_output=True, text=True)
            writer.writerow(json.loads(out.stdout))
            file.flush()


main()
