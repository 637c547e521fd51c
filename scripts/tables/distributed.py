"""Several processes: how far they scale, and what kills cost."""
from .forms import about, digits, read, table


def scaling():
    shown = ("1", "10000", "1000", "100000", "1000000", "64")
    rows = [
        [
            row["line"], f'{int(row["n"]):.0e}', row["d"], row["processes"], row["step_seconds"], row["strong_efficiency"],
            row["weak_efficiency"], row["half_at"], row["stops_at"],
        ]
        for row in read("mpi-scaling")
        if row["processes"] in shown
    ]
    head = ["between processes", "n", "d", "processes", "s a step", "strong", "weak", "half is lost at", "no faster beyond"]
    return table(head, rows)


def kills():
    """How many trials of each kind, and what they lost."""
    kinds = {}
    for row in read("mpi-kills"):
        kinds.setdefault((row["row_shards"], row["found"]), []).append(row)
    rows = [
        [shards, found, str(len(some)), " ".join(row["killed_rank"] for row in some), str(sum(row["identical"] != "yes" for row in some))]
        for (shards, found), some in sorted(kinds.items())
    ]
    return table(["row shards", "found", "trials", "killed processes", "draws that differ"], rows)


def median(file, group, case):
    return next(float(row["median_ns"]) for row in read(file) if row["group"].endswith(group) and row["case"] == case)


def problem(n, processes=None):
    """Rows of the model for the problem with so many rows, over so many processes if given."""
    return [row for row in read("mpi-scaling") if int(row["n"]) == n and processes in (None, int(row["processes"]))]


def half(n, of=lambda processes: processes):
    """Where half of the time is lost, on the slowest and on the fastest line between processes."""
    found = sorted(of(float(row["half_at"])) for row in problem(n, 1))
    return found[0], found[-1]


def far():
    one, many = (problem(10**9, processes)[0]["step_seconds"] for processes in (1, 1000))
    return f"{float(one):.0f} s on one core and {float(many):.1f} s on 1,000"


def millions():
    low, high = half(10**9)
    return f"{digits(low / 1e6)} to {digits(high / 1e6)} million"


def large_sum():
    """The quickest of the largest sums between two processes."""
    row = max(read("mpi-latency"), key=lambda row: int(row["bytes"]))
    return f'{digits(float(row["best_us"]) / 1e3)} ms for {int(row["bytes"]) / 1e6:.1f} MB'


TABLES = {
    "scaling": ("distributed.md", scaling),
    "kills": ("distributed.md", kills),
}

VALUES = {
    "entry": lambda: f'{median("bench-potentials", "2000 x 2000", "dense gradient, 8 chains") / (2000 * 2000 * 8):.2f} ns',
    "coordinate": lambda: f'{median("bench-sampler", "10000 x 200", "symmetric, the rest") / (200 * 8):.1f} ns',
    "scaling-far": far,
    "scaling-half-far": millions,
    "scaling-rows-left": lambda: "{} to {}".format(*map(about, half(10**9, lambda processes: 1e9 / processes))),
    "scaling-half-near": lambda: "{} to {}".format(*map(about, half(10**6))),
    "large-sum": large_sum,
}
