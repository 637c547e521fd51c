"""Runs a script of this directory as a user would, and keeps what python_peers.py measures. Usage:
run.py SCRIPT OUT [INFERENCE_METHOD]

Writes the draws to OUT.npy (chain, draw, parameter), and to OUT.json the names of the parameters,
the seconds of the fit, the peak memory of this process, and the seconds all this writing took. The
fit is `ridgewalk.fit`, or `bambi.Model` and its `fit` together, which gets INFERENCE_METHOD.
"""
import json
import re
import runpy
import sys
import time

script, out, *method = sys.argv[1:]
seconds = []


def timed(call, **more):
    def calling(*positional, **named):
        began = time.perf_counter()
        try:
            return call(*positional, **named, **more)
        finally:
            seconds.append(time.perf_counter() - began)

    return calling


def ridgewalk_draws(fit):
    return list(fit.names), fit.draws


def bambi_draws(idata):
    """The parameters one by one, those of a factor or with thresholds as `name[level]`."""
    names, columns = [], []
    for name, values in idata["posterior"].data_vars.items():
        values = values.transpose("chain", "draw", ...)
        for dimension in values.dims[2:]:
            levels = [f"{name}[{level}]" for level in values[dimension].values]
        names += levels if values.ndim == 3 else [name]
        columns.append(values.values.reshape(*values.shape[:2], -1))
    return names, numpy.concatenate(columns, axis=2)


if script.endswith("_bambi.py"):
    import bambi

    bambi.Model.__init__ = timed(bambi.Model.__init__)
    bambi.Model.fit = timed(bambi.Model.fit, **({"inference_method": method[0]} if method else {}))
    found, draws = "idata", bambi_draws
else:
    import ridgewalk

    ridgewalk.fit = timed(ridgewalk.fit)
    found, draws = "fit", ridgewalk_draws

result = runpy.run_path(script, run_name="__main__")[found]
began = time.perf_counter()
import numpy

with open("/proc/self/status") as status:
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", status.read())[1]) / 1024
names, values = draws(result)
numpy.save(out + ".npy", values)
kept = {"names": names, "fit_seconds": sum(seconds), "peak_mib": peak}
with open(out + ".json", "w") as file:
    json.dump(kept | {"writing_seconds": time.perf_counter() - began}, file)
