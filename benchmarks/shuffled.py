"""Rows in no order, with the compiled module and by NumPy and polars, which did this work before it:
`python -m benchmarks.shuffled QRELS RUN` scores two files of Parquet as data frames in memory.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.bars import Bars
from benchmarks.costs import ASKED, OWN, WITHOUT_NATIVE, best
from benchmarks.peers import MEASURES
from benchmarks.sizes import files_of

__all__ = ["ROWS", "in_no_order"]

ROWS = 10_000_000
FASTER, MEMORY = 3, 0.5
"""How many times faster than without the module, in what share of its memory."""
ROUNDS = 3

Found = dict[str, Any]


def in_no_order(bars: Bars, rows: int = ROWS, rounds: int = ROUNDS) -> Found:
    """Parquet as the whole process, beside one that holds and sorts it without the module, as was done before there was
    one; and data frames as the call alone, beside the frames."""
    subprocess.run([sys.executable, "-m", "benchmarks.shapes", str(rows), "shuffled"], check=True)
    files = files_of("shuffled", rows)
    whole = [*OWN, *files, *ASKED]
    plain = [*WITHOUT_NATIVE, sys.executable, "-m", "benchmarks.shuffled", *files]
    parquet = best({"rankgauge": whole, "by the disk": [*WITHOUT_NATIVE, *whole], "no module": plain}, rounds)
    figures = {"Parquet": {name: vars(cost) for name, cost in parquet.items()}, "frames": _frames(files, rounds)}
    for what, found in figures.items():
        for name, cost in found.items():
            print(f"    {what:<8} {name:<11} {cost['seconds']:7.2f} s {cost['megabytes']:7.0f} MB")
        own, without = found["rankgauge"], found["no module"]
        told = f"shuffled {what}, {rows:,} rows"
        print(f"             {bars.times(told, without['seconds'] / own['seconds'], FASTER)}", end="; memory ")
        print(bars.most(f"{told}, memory", own["megabytes"] / without["megabytes"], MEMORY, "x"))
    return figures


def _frames(files: list[str], rounds: int) -> dict[str, dict[str, float]]:
    """The least seconds and the largest peak of several processes, in turns."""
    command = [sys.executable, "-m", "benchmarks.shuffled", *files]
    found: dict[str, dict[str, float]] = {}
    for _ in range(rounds):
        for name, before in {"rankgauge": [], "no module": WITHOUT_NATIVE}.items():
            done = subprocess.run([*before, *command], stdout=subprocess.PIPE, text=True, check=True)
            cost = json.loads(done.stdout)
            known = found.setdefault(name, cost)
            known["seconds"] = min(known["seconds"], cost["seconds"])
            known["megabytes"] = max(known["megabytes"], cost["megabytes"])
    return found


def _peak() -> float:
    """MB of resident memory at most since the peak was last forgotten; where that cannot be, since the start."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _forget_peak() -> None:
    if (clear := Path("/proc/self/clear_refs")).exists():
        clear.write_text("5")


def main(qrels: str, run: str) -> None:
    import polars as pl

    from rankgauge import evaluate

    evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, list(MEASURES))  # so that nothing is imported in the time
    judged, listed = pl.read_parquet(qrels), pl.read_parquet(run)
    _forget_peak()
    before, start = _peak(), time.perf_counter()
    dict(evaluate(judged, listed, list(MEASURES)).mean)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": _peak() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
