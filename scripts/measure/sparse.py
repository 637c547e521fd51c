#!/usr/bin/env python3
"""Time, memory and effective draws of fits with wide factors, sparse rows and paired comparisons, and
of a large dense table. Usage:
scripts/measure/sparse.py OUT.csv [PROGRAM [CASE ...]]

Each line is one whole process of `ridgewalk fit` with its default settings but for the draws: reading,
mode, warm-up, 8 chains of 500 draws, summary, checks and report. Seconds are those of the processor,
of all threads. Data are drawn with fixed seeds. E is the smallest bulk effective sample size of the
coefficients, or of all parameters and abilities where there are no coefficients. PROGRAM is
target/release/ridgewalk unless given. With names of cases, only these are measured, and their lines
take the place of those of the same name in OUT.csv.
"""
import csv
import json
import math
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


def tennis(path, rng):
    """The shape of all matches of the men's tour in 50 years: who won, and against whom. Careers begin
    over 50 years and last some, and a few players have most matches, as in benches/src/bin/tennis.rs."""
    players, matches, years = 4_804, 160_420, 50.0
    skills = [rng.gauss(0, 0.8) for _ in range(players)]
    activity = [math.exp(1.2 * (rng.gauss(0, 1) + skill)) for skill in skills]
    starts = [years * rng.random() for _ in range(players)]
    ends = [start + 2 + rng.expovariate(0.2) for start in starts]
    found = 0
    with open(path, "w", encoding="utf-8") as file:
        file.write("winner,loser\n")

        def play(a, b):
            wins = rng.random() < 1 / (1 + math.exp(skills[b] - skills[a]))
            first, second = (a, b) if wins else (b, a)
            file.write(f"p{first},p{second}\n")

        # Everybody plays, so that there are as many players.
        for k in range(players):
            play(k, (k + 1) % players)
            found += 1
        while found < matches:
            year = years * rng.random()
            active = [k for k in range(players) if starts[k] <= year <= ends[k]]
            drawn = rng.choices(active, [activity[k] for k in active], k=128)
            for a, b in zip(drawn[::2], drawn[1::2]):
                if a != b and found < matches:
                    play(a, b)
                    found += 1


def rows_of_words(path, rows, columns, entries, rng):
    """Sparse rows: so many words of each, a few of which are frequent, and a response of -1 and 1."""
    beta = [rng.gauss(0, 0.5) for _ in range(columns)]
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(rows):
            own = sorted({int(columns * rng.random() ** 3) for _ in range(entries)})
            s = sum(beta[k] for k in own)
            y = 1 if s + rng.gauss(0, 1.7) > 0 else -1
            file.write(f"{y:+d} " + " ".join(f"{k + 1}:1" for k in own) + "\n")


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
    "160,420 matches of 4,804 players, logistic":
        (tennis, "1 ~ 0 + (1 | pair(winner, loser))", ["--group-prior", "half_normal(1)"]),
    "an SVMlight file of 20 words a row, logistic, normal(0, 1)":
        (lambda path, rng: rows_of_words(path, 20_000, 1_000, 20, rng), None, ["--prior", "normal(0, 1)"]),
    "the shape of Covertype, logistic": (lambda path, rng: covtype(path, 400_000, rng), "y ~ . - x13 - x53", []),
}


def measure(program, name, make, formula, options):
    """One line. Usage of resources is that of one child, in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "data.csv" if formula else "data.svm")
        out = os.path.join(directory, "run")
        make(path, random.Random(1))
        command = [program, "fit", path, *([formula] if formula else []), "--draws", "500", "--seed", "1", "--quiet",
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
        return {"data": name, "rows": summary["problem"]["n"],
                "columns": summary["problem"]["d"],
                "file_mib": round(os.path.getsize(path) / 2**20, 1), "seconds": round(seconds, 1),
                "wall_seconds": round(wall, 1), "peak_mib": round(peak / 1024),
                "ess": round(min(p["ess_bulk"] for p in summary["parameters"])),
                "status": summary["sampler"]["status"]}


def main():
    out = sys.argv[1]
    program = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "target", "release", "ridgewalk")
    found = {}
    if sys.argv[3:] and os.path.exists(out):
        with open(out, newline="", encoding="utf-8") as file:
            found = {row["data"]: row for row in csv.DictReader(file)}
    for name in sys.argv[3:] or CASES:
        found[name] = measure(os.path.abspath(program), name, *CASES[name])
        with open(out, "w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, FIELDS, lineterminator="\n")
            table.writeheader()
            table.writerows(found[name] for name in CASES if name in found)


if __name__ == "__main__":
    main()
