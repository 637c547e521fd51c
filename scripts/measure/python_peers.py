#!/usr/bin/env python3
"""Compares the Python package with bambi on six analyses: writes docs/results/python-peers.csv.

    python3 -m venv peers && peers/bin/pip install bambi nutpie arviz pandas
    scripts/measure/python_peers.py --ours VENV/bin/python --bambi peers/bin/python [ANALYSIS ...]

VENV has ridgewalk and pandas. With names of analyses only these are run, and the table is printed
instead of written. Takes about nine minutes on two idle cores, most of it bambi's compiling.

scripts/measure/python_peers has two scripts for each analysis, as a user of either package would
write them. Priors are the same: where defaults differ, they are stated. run.py runs a script in a
fresh process, with the data in the current directory. bambi samples by PyMC's NUTS and by nutpie's,
4 chains of 1,000 draws after 1,000 of tuning, two at a time; left alone on a machine with two
cores, PyMC makes 2 chains, one after the other. The first run of each has an empty directory for
compiled code, the second run that of the first. ridgewalk, 8 chains of 1,000 draws, is run twice as
well, with nothing to keep.

Columns: seconds from the start of the process to its end, without the time run.py takes to keep the
draws; seconds of the fit alone, which compiles in bambi; the smallest effective sample size (ess)
and its ratio to both; the peak memory of all processes of the script together, the larger of both
runs; lines of code without blank lines and comments; and the agreement with ridgewalk's results.
compare.py says how the effective sample size and the agreement are defined.
"""
import argparse
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = pathlib.Path(__file__).resolve().with_suffix("")
# Data file, and bambi's names of parameters that have other names here.
ANALYSES = {
    "wells": ("crates/cli/tests/data/wells.csv", {}),
    "visits": ("crates/cli/tests/data/patients.csv", {"alpha": "size"}),
    "wages": ("crates/fit/tests/data/families/wages.csv", {}),
    "prices": ("crates/fit/tests/data/families/prices.csv", {}),
    "pain": (
        "crates/cli/tests/data/patients.csv",
        {"threshold[0]": "none|mild", "threshold[1]": "mild|severe"},
    ),
    "costs": ("crates/fit/tests/data/families/costs.csv", {"alpha": "shape"}),
}
# Package, inference method, and the packages whose versions matter.
PEERS = (
    ("ridgewalk", "", ["ridgewalk"]),
    ("bambi", "pymc", ["bambi", "pymc", "pytensor"]),
    ("bambi", "nutpie", ["bambi", "nutpie", "pymc", "pytensor"]),
)
# Without compiled code, and with that of the first run.
TURNS = ("first", "again")
SAMPLING_PERIOD = 0.2


def memory(session):
    """MiB of all processes of a session: shared pages are divided among those that share them."""
    members = []
    for entry in os.scandir("/proc"):
        try:
            stat = pathlib.Path(entry.path, "stat").read_text() if entry.name.isdigit() else ""
        except OSError:
            continue
        if stat and int(stat.rpartition(")")[2].split()[3]) == session:
            members.append(entry.path)
    total = 0
    # A single process reports its own peak, which is exact.
    for member in members if len(members) > 1 else []:
        try:
            lines = pathlib.Path(member, "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def run(python, script, place, out, cache, method):
    """Seconds, seconds of the fit, and peak MiB of one run; its draws are in the files OUT.*."""
    words = [python, SCRIPTS / "run.py", script, out, *([method] if method else [])]
    flags = {"PYTENSOR_FLAGS": f"base_compiledir={cache}", "NUMBA_CACHE_DIR": f"{cache}/numba"}
    peak, over = [0.0], threading.Event()

    def watch(session):
        while not over.wait(SAMPLING_PERIOD):
            peak[0] = max(peak[0], memory(session))

    with open(f"{out}.log", "w") as log:
        began = time.monotonic()
        process = subprocess.Popen(
            words, cwd=place, env=os.environ | flags, stdout=log, stderr=log, start_new_session=True
        )
        watcher = threading.Thread(target=watch, args=[process.pid])
        watcher.start()
        status = process.wait()
        seconds = time.monotonic() - began
        over.set()
        watcher.join()
    if status != 0:
        sys.exit(f"{script.name} failed:\n{pathlib.Path(f'{out}.log').read_text()}")
    kept = json.loads(pathlib.Path(f"{out}.json").read_text())
    peak = max(peak[0], kept["peak_mib"])
    return seconds - kept["writing_seconds"], kept["fit_seconds"], peak


def lines_of_code(script):
    lines = [line.strip() for line in script.read_text().splitlines()]
    return sum(bool(line) and not line.startswith("#") for line in lines)


def versions(python, packages, cache):
    """The packages with their versions. Imports the first: then its files have been read once."""
    code = (
        f"import {packages[0]}, importlib.metadata as m;"
        f"print(', '.join(f'{{p}} {{m.version(p)}}' for p in {packages}))"
    )
    flags = {"PYTENSOR_FLAGS": f"base_compiledir={cache}"}
    words = [python, "-c", code]
    return subprocess.check_output(words, env=os.environ | flags, text=True).strip()


def study(name, pythons, known, place):
    """A row for each peer."""
    data, same = ANALYSES[name]
    shutil.copy(ROOT / data, place)
    rows, outs = [], []
    for package, method, _ in PEERS:
        script = SCRIPTS / f"{name}_{package}.py"
        stem = f"{place}/{name}-{package}{method}"
        times = []
        for turn in TURNS:
            outs.append(f"{stem}-{turn}")
            times.append(run(pythons[package], script, place, outs[-1], f"{stem}-cache", method))
            print(f"{name}, {method or package}, {turn}: {times[-1][0]:.1f} s", flush=True)
        row = {"analysis": name, "package": package, "method": method}
        row |= {"lines": lines_of_code(script), "versions": known[package, method]}
        for turn, (whole, fit, _) in zip(TURNS, times):
            row |= {f"seconds_{turn}": whole, f"fit_seconds_{turn}": fit}
        rows.append(row | {"peak_mib": max(peak for _, _, peak in times)})
    same = json.dumps({"Intercept": "(Intercept)"} | same)
    words = [pythons["bambi"], SCRIPTS / "compare.py", same, *outs]
    results = json.loads(subprocess.check_output(words))
    for row, result, again in zip(rows, results[::2], results[1::2]):
        row |= result
        for turn, ess in zip(TURNS, (result["ess"], again["ess"])):
            row[f"ess_per_second_{turn}"] = ess / row[f"seconds_{turn}"]
            row[f"ess_per_fit_second_{turn}"] = ess / row[f"fit_seconds_{turn}"]
    return rows


COLUMNS = {
    "analysis": "", "package": "", "method": "", "lines": "d", "parameters": "d", "chains": "d",
    "draws": "d", "seconds_first": ".2f", "seconds_again": ".2f", "fit_seconds_first": ".3f",
    "fit_seconds_again": ".3f", "ess": ".0f", "ess_per_second_first": ".1f",
    "ess_per_second_again": ".1f", "ess_per_fit_second_first": ".1f",
    "ess_per_fit_second_again": ".1f", "peak_mib": ".0f", "mean_difference_mcse": ".2f",
    "sd_difference_mcse": ".2f", "sd_ratio_low": ".3f", "sd_ratio_high": ".3f", "versions": "",
}


def write(rows, out):
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(format(row[column], form) for column, form in COLUMNS.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--bambi", required=True)
    parser.add_argument("analyses", nargs="*", metavar="ANALYSIS")
    options = parser.parse_args()
    unknown = set(options.analyses) - set(ANALYSES)
    if unknown:
        parser.error(f"unknown analysis {unknown.pop()!r}: need one of {', '.join(ANALYSES)}")
    pythons = {"ridgewalk": os.path.abspath(options.ours), "bambi": os.path.abspath(options.bambi)}
    with tempfile.TemporaryDirectory() as place:
        known = {
            (package, method): versions(pythons[package], packages, f"{place}/versions")
            for package, method, packages in PEERS
        }
        rows = []
        for name in options.analyses or ANALYSES:
            rows += study(name, pythons, known, place)
    if options.analyses:
        write(rows, sys.stdout)
    else:
        with (ROOT / "docs/results/python-peers.csv").open("w", newline="") as out:
            write(rows, out)


main()
