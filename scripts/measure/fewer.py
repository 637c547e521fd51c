#!/usr/bin/env python3
"""Effective draws per second of moves decided by a few rows, next to trajectories over all rows. Usage:
scripts/measure/fewer.py DIRECTORY OUT.csv [ROWS ...], where DIRECTORY has `ridgewalk` and
`examples/packed_rows`, from `cargo build --profile checks -p ridgewalk-cli` and `cargo build --profile
checks -p ridgewalk-frame --example packed_rows`.

Each line is one process of `ridgewalk fit` on packed data of 20 predictors, with 8 chains. The stages are
those that it prints. Trajectories get fewer draws, because their time per draw is what is measured. E
is the smallest bulk effective sample size of the coefficients.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PREDICTORS = 20
DRAWS = {"adjusted": 50, "subsampled": 1000}
STAGES = ["finding the mode", "warming up", "sampling", "summary and report"]
FIELDS = ["family", "rows", "kernel", "memory", "reading_s", "mode_s", "warm_up_s", "sampling_s", "summary_s", "draws", "ess",
          "ess_per_second", "acceptance", "warm_up_gradients", "gradients", "peak_mib", "status"]


def measure(program, place, data, family, rows, kernel, memory):
    out = f"{place}/run-{time.monotonic_ns()}"
    words = [program, "fit", data, "--response", "y", "--family", family, "--kernel", kernel, "--seed", "1",
             "--draws", str(DRAWS[kernel]), "--out", out]
    words += ["--memory", memory] if memory else []
    began = time.monotonic()
    fit = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    at = {}
    for line in fit.stderr:
        at.setdefault(line.strip(), time.monotonic())
    _, status, usage = os.wait4(fit.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(words)} failed")
    moments = [began, *(at[stage] for stage in STAGES), time.monotonic()]
    reading, mode, warm, sampling, rest = (after - before for before, after in zip(moments, moments[1:]))
    summary = json.loads(pathlib.Path(out, "summary.json").read_text())
    sampler = summary["sampler"]
    ess = min(p["ess_bulk"] for p in summary["parameters"])
    return {"family": family, "rows": rows, "kernel": kernel, "memory": memory or "",
            "reading_s": f"{reading:.2f}", "mode_s": f"{mode:.2f}", "warm_up_s": f"{warm:.2f}",
            "sampling_s": f"{sampling:.3f}", "summary_s": f"{rest:.2f}", "draws": 8 * DRAWS[kernel],
            "ess": round(ess), "ess_per_second": f"{ess / sampling:.1f}",
            "acceptance": f"{sampler['trajectories']['acceptance']:.3f}",
            "warm_up_gradients": sampler["warmup_gradients"], "gradients": sampler["gradients"],
            "peak_mib": round(usage.ru_maxrss / 1024), "status": sampler["status"]}


def main():
    program, make = (str(pathlib.Path(sys.argv[1]).resolve() / name) for name in ("ridgewalk", "examples/packed_rows"))
    sizes = [int(rows) for rows in sys.argv[3:]] or [10_000, 100_000, 1_000_000]
    with open(sys.argv[2], "w", newline="", encoding="utf-8") as file, tempfile.TemporaryDirectory() as place:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        for rows in sizes:
            for family, word in [("logistic", []), ("poisson", ["counts"])]:
                data = f"{place}/{family}-{rows}.pack"
                subprocess.run([make, data, str(rows), str(PREDICTORS), *word], check=True, stdout=subprocess.DEVNULL)
                cases = [("adjusted", None), ("subsampled", None)]
                cases += [("subsampled", "300MiB")] if rows >= 1_000_000 else []
                for kernel, memory in cases:
                    table.writerow(measure(program, place, data, family, rows, kernel, memory))
                    file.flush()
                os.remove(data)


if __name__ == "__main__":
    main()
