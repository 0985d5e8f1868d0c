"""Cost against size: the whole process for files of 10,000 to 100 million rows, in every shape."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.costs import ASKED, OWN, Cost, best

__all__ = ["KINDS", "ROWS", "costs", "files_of", "rows_that_fit"]

FOLDER = Path(__file__).parent / "data"
ROWS = (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
DISK = 20e9
"""Bytes that the largest take, with what rankgauge puts in order on the disk."""
KINDS = {
    "marco": "lists of 1,000, 1 judged",
    "rag": "lists of 10, 3 judged",
    "robust": "lists of 1,000, 1,250 judged",
    "shuffled": "Parquet, lists of 1,000, rows in no order",
}
_ROUNDS = 3


def rows_that_fit() -> tuple[int, ...]:
    """The sizes that the disk has room for."""
    fits = (FOLDER / f"shuffled_{ROWS[-1]}.qrels.parquet").exists() or shutil.disk_usage(FOLDER.parent).free > DISK
    return ROWS if fits else ROWS[:-1]


def costs(rows: int, kinds: tuple[str, ...] = tuple(KINDS)) -> dict[str, Cost]:
    """What each shape costs at a size."""
    # In a process of its own, which takes numpy and polars: a child's peak of memory starts at its parent's.
    subprocess.run([sys.executable, "-m", "benchmarks.shapes", str(rows), *kinds], check=True)
    commands = {kind: [*OWN, *files_of(kind, rows), *ASKED] for kind in kinds}
    return best(commands, _ROUNDS if rows <= 1_000_000 else 1)


def files_of(kind: str, rows: int) -> list[str]:
    """Judgments and run of a shape in a size."""
    ending = ".parquet" if kind == "shuffled" else ""
    return [str(FOLDER / f"{kind}_{rows}.{side}{ending}") for side in ("qrels", "run")]
