"""`make bench-large`: runs larger than memory, in no order, in bounded memory. Bar: 100 million rows under 1 GB.

A row of the shuffled run stands where a permutation puts it, i -> i * step modulo the number of rows, so that no more
than a piece of the run is in memory while it is written. `ROWS=20000000 make bench-large` is a smaller one.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.bars import Bars
from benchmarks.costs import ASKED, OWN, machine, measure
from benchmarks.run import keep

FOLDER = Path(__file__).parent / "data"
ROWS = int(os.environ.get("ROWS", 100_000_000))
DEPTH, JUDGED = 1_000, 10
MOST = 1_000  # MB
_PIECE = 2_000_000
_DOCUMENTS, _STRIDE = 8_841_823, 7_919


def pieces() -> Iterator[pl.DataFrame]:
    """The rows in their shuffled order."""
    step = int(ROWS * 0.618)
    while math.gcd(step, ROWS) > 1:
        step += 1
    for first in range(0, ROWS, _PIECE):
        place = np.arange(first, min(first + _PIECE, ROWS)) * step % ROWS
        query, rank = np.divmod(place, DEPTH)
        yield pl.DataFrame(
            {
                "query": pl.Series(query * 37 + 1037).cast(pl.String),
                "doc": pl.Series((query * 104_729 + rank * _STRIDE) % _DOCUMENTS).cast(pl.String),
                "score": 30 - rank * 0.03 + (place % 7) * 0.01,
            }
        )


def write() -> None:
    """Judgments, and the run as TREC text, JSON Lines, CSV and a folder of Parquet; made once."""
    FOLDER.mkdir(exist_ok=True)
    if (FOLDER / f"large_{ROWS}.qrels").exists():
        return
    dataset = FOLDER / f"large_{ROWS}"
    dataset.mkdir(exist_ok=True)
    with (FOLDER / f"large_{ROWS}.run").open("wb") as text:
        for number, piece in enumerate(pieces()):
            piece.write_parquet(dataset / f"part-{number:05}.parquet")
            piece = piece.with_columns(q0=pl.lit("Q0"), rank=pl.lit("0"), tag=pl.lit("bench"))
            columns = piece.select("query", "q0", "doc", "rank", "score", "tag")
            columns.write_csv(text, separator=" ", include_header=False)
    rng = np.random.default_rng(20_240_607)
    queries = np.repeat(np.arange(ROWS // DEPTH), JUDGED)
    ranks = rng.integers(0, 2 * DEPTH, len(queries))
    judged = pl.DataFrame(
        {
            "query": queries * 37 + 1037,
            "zero": np.zeros(len(queries), dtype=np.int64),
            "doc": (queries * 104_729 + ranks * _STRIDE) % _DOCUMENTS,
            "grade": rng.integers(0, 3, len(queries)),
        }
    ).unique(["query", "doc"], maintain_order=True)
    judged.write_csv(FOLDER / f"large_{ROWS}.qrels", separator=" ", include_header=False)


def main() -> None:
    if sys.argv[1:] == ["write"]:
        write()
        return
    # In a process of its own: a child's peak of memory starts at its parent's.
    measure([sys.executable, "-m", "benchmarks.large", "write"])
    results, bars = {}, Bars()
    print(f"{ROWS:,} rows in no order: seconds and peak memory")
    for ending in (".run", ""):
        run = FOLDER / f"large_{ROWS}{ending}"
        size = sum(file.stat().st_size for file in run.iterdir()) if run.is_dir() else run.stat().st_size
        cost = measure([*OWN, str(FOLDER / f"large_{ROWS}.qrels"), str(run), *ASKED])
        kind = "TREC text" if ending else "Parquet folder"
        held = bars.most(f"{ROWS:,} rows in no order, {kind}", cost.megabytes, MOST, " MB")
        print(f"    {kind:<15} {size / 1e6:6.0f} MB: {cost.seconds:.0f} s, {held}")
        results[kind] = {"rows": ROWS, "bytes": size, **vars(cost)}
    print(bars.told())
    print(f"written: {keep({'machine': machine(), 'figures': {'large': results}, 'bars': bars.to_list()})}")


if __name__ == "__main__":
    main()
