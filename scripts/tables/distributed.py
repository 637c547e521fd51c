"""Several processes: how far they scale, and what kills cost."""
from .forms import about, digits, read, table


def scaling():
    shown = ("1", "10000", "1000", "100000", "1000000", "64")
    rows = [
        [
            row["line"], f'{int(row["n"]):.0e}', row["d"], row["processes"], row["step_seconds"],
            row["strong_efficiency"], row["weak_efficiency"], row["half_at"],
            about(int(row["n"]) / float(row["half_at"])), row["stops_at"],
        ]
        for row in read("mpi-scaling")
        if row["processes"] in shown
    ]
    head = [
        "between processes", "n", "d", "processes", "seconds per step", "strong", "weak",
        "half is lost at", "rows each, there", "no faster beyond",
    ]
    return table(head, rows)


def kills():
    """How many trials of each kind, and what they lost."""
    kinds = {}
    for row in read("mpi-kills"):
        kinds.setdefault((row["row_shards"], row["found"]), []).append(row)
    rows = [
        [
            shards, found, str(len(some)), " ".join(row["killed_rank"] for row in some),
            str(sum(row["identical"] != "yes" for row in some)),
        ]
        for (shards, found), some in sorted(kinds.items())
    ]
    return table(["row shards", "found", "trials", "killed processes", "draws that differ"], rows)


def median(file, group, case):
    return next(
        float(row["median_ns"])
        for row in read(file)
        if row["group"].endswith(group) and row["case"] == case
    )


def costs():
    """The measured constants of the model in scripts/measure/mpi_model.py, and the largest sum."""
    gradient = median("bench-potentials", "2000 x 2000", "dense gradient, 8 chains")
    rest = median("bench-sampler", "10000 x 200", "symmetric, the rest")
    latency = [row for row in read("mpi-latency") if row["processes"] == "2"]
    best = {int(row["bytes"]): float(row["best_us"]) for row in latency}
    byte = (best[64000] - best[64]) / (64000 - 64)
    largest = max(best)
    latency = "`mpi-latency.csv`: two processes of this machine"
    rows = [
        ["a, per entry and chain", f"{gradient / (2000 * 2000 * 8):.2f} ns", GRADIENT],
        ["b, per coordinate and chain", f"{rest / (200 * 8):.1f} ns", REST],
        ["α, per message", f"{digits(1e3 * (best[64] - 64 * byte))} ns", latency],
        ["β, per byte", f"{digits(1e3 * byte)} ns", f"{latency}, 64 bytes to 64 kB"],
        [f"a sum of {largest / 1e6:.1f} MB", f"{digits(best[largest] / 1e3)} ms", latency],
    ]
    return table(["what", "measured", "from"], rows)


GRADIENT = "`bench-potentials.csv`: the gradient of 8 chains, 2000 x 2000"
REST = "`bench-sampler.csv`: the rest of a symmetric step"

TABLES = {
    "scaling": ("distributed.md", scaling),
    "costs": ("distributed.md", costs),
    "kills": ("distributed.md", kills),
}
