"""Cost against size: the whole process for files of 10,000 to 10 million rows, in every shape."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import polars as pl

from benchmarks.costs import ASKED, OWN, Cost, best
from benchmarks.shapes import FOLDER, SHAPES, Files, make

__all__ = ["KINDS", "ROWS", "costs"]

ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
KINDS = {
    "marco": "lists of 1,000, 1 judged",
    "rag": "lists of 10, 3 judged",
    "robust": "lists of 1,000, 1,250 judged",
    "shuffled": "Parquet, lists of 1,000, rows in no order",
}
_ROUNDS = 3


def costs(rows: int, kinds: tuple[str, ...] = tuple(KINDS)) -> dict[str, Cost]:
    """What each shape costs at a size."""
    # In a process of its own: a child's peak of memory starts at its parent's.
    subprocess.run([sys.executable, "-m", "benchmarks.sizes", str(rows), *kinds], check=True)
    places = {kind: _place(kind, rows) for kind in kinds}
    commands = {kind: [*OWN, str(files.qrels), str(files.run), *ASKED] for kind, files in places.items()}
    return best(commands, _ROUNDS if rows <= 1_000_000 else 1)


def _place(kind: str, rows: int) -> Files:
    ending = ".parquet" if kind == "shuffled" else ""
    return Files(FOLDER / f"{kind}_{rows}.qrels{ending}", FOLDER / f"{kind}_{rows}.run{ending}")


def _write(kind: str, rows: int) -> None:
    """The files of a shape at a size; made once."""
    if kind != "shuffled":
        shape = next(shape for shape in SHAPES if shape.name == kind)
        make(replace(shape, name=f"{kind}_{rows}", queries=max(1, rows // shape.depth)))
        return
    files, sorted_files = _place(kind, rows), _place("marco", rows)
    if files.run.exists():
        return
    _write("marco", rows)
    for source, target, columns in (
        (sorted_files.qrels, files.qrels, ["query", "zero", "doc", "grade"]),
        (sorted_files.run, files.run, ["query", "q0", "doc", "rank", "score", "tag"]),
    ):
        frame = pl.read_csv(source, separator=" ", has_header=False, new_columns=columns)
        shuffled = frame.select(pl.col("query", "doc").cast(pl.String), columns[3] if len(columns) == 4 else "score")
        shuffled.sample(fraction=1, shuffle=True, seed=1).write_parquet(target)


if __name__ == "__main__":
    for each in sys.argv[2:]:
        _write(each, int(sys.argv[1]))
