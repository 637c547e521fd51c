#!/usr/bin/env python3
"""Mixed models by ridgewalk and by rstanarm, side by side. Usage:
scripts/measure/mixed.py OUT.csv [MODEL ...]

For each model rstanarm runs by mixed.R (default settings, 4 chains), and then
`ridgewalk fit` with its default settings (8 chains of 1000 draws), as a whole process: reading,
search, warm-up, draws, summary, checks and report. Times are processor seconds, of all threads.
E is the smallest bulk effective sample size over all parameters, effects of levels included.
Needs Rscript with rstanarm and posterior, and target/release/ridgewalk.
"""
import csv
import json
import os
import resource
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "crates", "fit", "tests", "data", "mixed")
PROGRAM = os.path.join(ROOT, "target", "release", "ridgewalk")

# The arguments of `ridgewalk fit`. Priors of gaussian models are those of rstanarm but for that of
# standard deviations of effects, which rstanarm has relative to sigma.
EXPONENTIAL = ["--group-prior", "exponential(1)"]
WIDE = ["--prior", "normal(0, 2.5)", "--intercept-prior", "normal(0, 5)"]
SLEEP = ["--family", "gaussian", "--prior", "normal(0, 50)", "--intercept-prior", "normal(300, 100)",
         "--aux-prior", "exponential(0.02)", "--group-prior", "exponential(0.02)"]
MODELS = {
    "cbpp": ["cbpp.csv", "cbind(incidence, size - incidence) ~ period + (1 | herd)",
             "--factor", "period", *WIDE, *EXPONENTIAL],
    "sleepstudy": ["sleepstudy.csv", "Reaction ~ Days + (1 | Subject)", *SLEEP],
    "slopes": ["sleepstudy.csv", "Reaction ~ Days + (Days | Subject)", *SLEEP],
    "radon": ["radon.csv", "log_radon ~ floor + log_uranium + (1 | county)", "--family", "gaussian",
              "--aux-prior", "exponential(1)", *WIDE, *EXPONENTIAL],
    "VerbAgg": ["VerbAgg.csv", "r2 ~ Anger + Gender + btype + situ + (1 | id) + (1 | item)",
                *WIDE, *EXPONENTIAL],
    "eight-schools": ["eight_schools.csv", "y ~ (1 | school)", "--family", "gaussian",
                      "--noise-scale", "1", "--weights", "weight", "--prior", "normal(0, 20)",
                      "--intercept-prior", "normal(0, 20)", "--group-prior", "half_normal(20)"],
}
FIELDS = ["model", "rstanarm_seconds", "rstanarm_warm_up_seconds", "rstanarm_e",
          "rstanarm_e_per_second", "rstanarm_slowest", "seconds", "e", "e_per_second", "slowest",
          "ratio", "status", "versions"]


def rstanarm(model):
    """The JSON of mixed.R; nothing for a model that rstanarm does not have."""
    if model == "eight-schools":
        # It has no known variances of rows.
        return None
    script = os.path.join(ROOT, "scripts", "measure", "mixed.R")
    out = subprocess.run(["Rscript", script, model], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def ridgewalk(model):
    """Processor seconds of a fit, and its summary."""
    file, *arguments = MODELS[model]
    with tempfile.TemporaryDirectory() as directory:
        out = os.path.join(directory, "run")
        command = [PROGRAM, "fit", os.path.join(DATA, file), *arguments, "--quiet", "--out", out]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(os.path.join(out, "summary.json"), encoding="utf-8") as summary:
            found = json.load(summary)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, found


def row(model):
    """One line of the result."""
    theirs = rstanarm(model)
    # The median of five: a fit takes a fraction of a second.
    runs = sorted((ridgewalk(model) for _ in range(5)), key=lambda run: run[0])
    seconds, found = runs[2]
    slowest = min(found["parameters"], key=lambda parameter: parameter["ess_bulk"])
    ours = slowest["ess_bulk"] / seconds
    line = {"model": model, "seconds": round(seconds, 3), "e": round(slowest["ess_bulk"]),
            "e_per_second": round(ours), "slowest": slowest["name"],
            "status": found["sampler"]["status"]}
    if theirs:
        rate = theirs["ess_bulk_per_second"]
        versions = theirs["versions"]
        line |= {"rstanarm_seconds": round(theirs["sampling_seconds_total"], 3),
                 "rstanarm_warm_up_seconds": round(theirs["warm_up_seconds_total"], 3),
                 "rstanarm_e": round(theirs["ess_bulk"]), "rstanarm_e_per_second": round(rate, 2),
                 "rstanarm_slowest": theirs["slowest"], "ratio": round(ours / rate, 1),
                 "versions": f"rstanarm {versions['rstanarm']} and rstan {versions['rstan']}"}
    return line


def main():
    """Writes the table."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    models = sys.argv[2:] or list(MODELS)
    with open(sys.argv[1], "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        for model in models:
            writer.writerow(row(model))
            file.flush()


main()
