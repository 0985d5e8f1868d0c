"""A history of 10,000 records, each 200 queries x 5 measures, in SQLite: storing one, and the commands over all.

Prints JSON: seconds to store one record (median), and of the whole processes of list, show and trend.
"""

from __future__ import annotations

import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge.history.store import History
from rankgauge.record import InputFile, Provenance, Record

RECORDS, QUERIES, TOGETHER, ALONE, ROUNDS = 10_000, 200, 500, 50, 3
MEASURES = ("nDCG@10", "AP", "RR", "R@10", "P@10")
START = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
OWN = str(Path(sys.executable).with_name("rankgauge"))


def template() -> Record:
    """A record as `evaluate` makes it, of scores drawn at random."""
    import rankgauge

    random = np.random.default_rng(0)
    qrels = {f"q{q}": {f"d{d}": int(random.integers(0, 3)) for d in range(10)} for q in range(QUERIES)}
    run = {f"q{q}": {f"d{d}": float(random.random()) for d in range(20)} for q in range(QUERIES)}
    record = rankgauge.evaluate(qrels, run, MEASURES, name="search").record
    return replace(record, provenance=Provenance({"judgments": InputFile("qrels.txt", "a" * 64)}))


def varied(record: Record, number: int, random: np.random.Generator) -> Record:
    """The next day's record: other scores, other means."""
    scores = random.random((len(MEASURES), QUERIES)).round(4)
    means = record.systems[0].means
    system = replace(
        record.systems[0],
        per_query=dict(zip(MEASURES, scores.tolist(), strict=True)),
        means={m: replace(means[m], value=float(row.mean())) for m, row in zip(MEASURES, scores, strict=True)},
    )
    created = (START + datetime.timedelta(hours=6 * number)).isoformat(timespec="seconds")
    return replace(record, created=created, systems=[system])


def filled(path: Path) -> list[float]:
    """Store all records; the seconds that each of the last ones took in a transaction of its own."""
    record, random, seconds = template(), np.random.default_rng(1), []
    with History.open(path) as history:
        for first in range(0, RECORDS - ALONE, TOGETHER):
            with history.begin() as connection:
                for number in range(first, min(first + TOGETHER, RECORDS - ALONE)):
                    history.add(varied(record, number, random), label="nightly", connection=connection)
        for number in range(RECORDS - ALONE, RECORDS):
            made = varied(record, number, random)
            start = time.perf_counter()
            history.add(made, label="nightly")
            seconds.append(time.perf_counter() - start)
        assert len(history.records()) == RECORDS
    return seconds


def process(*arguments: str) -> float:
    """Seconds of a whole process with compiled modules, as an installed package has them; best of several."""
    best = float("inf")
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir()) / "rankgauge-bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(ROUNDS):
        start = time.perf_counter()
        subprocess.run([OWN, "history", *arguments], capture_output=True, check=True, env=environment)
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        seconds = filled(path)
        place = ("--history", str(path))
        found = {
            "store_one_record_s": statistics.median(seconds),
            "store_one_record_worst_s": max(seconds),
            "list_s": process("list", *place),
            "list_system_measure_s": process("list", "--system", "search", "-m", "ndcg_cut_10", *place),
            "show_s": process("show", "latest~5000", *place),
            "trend_s": process("trend", "nDCG@10", *place),
            "trend_all_csv_s": process("trend", "nDCG@10", "-o", str(Path(folder) / "trend.csv"), *place),
            "megabytes": path.stat().st_size / 1e6,
        }
    print(json.dumps({key: round(value, 4) for key, value in found.items()}, indent=2))


if __name__ == "__main__":
    main()
