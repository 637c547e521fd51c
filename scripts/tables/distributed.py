"""Several processes: how far they scale, and what kills cost."""
from .forms import read, table


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


TABLES = {
    "scaling": ("distributed.md", scaling),
    "kills": ("distributed.md", kills),
}

VALUES = {}
