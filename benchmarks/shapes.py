"""Judgments and runs of three shapes, made from a fixed seed: many documents, many queries, many judgments."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

__all__ = ["SHAPES", "Files", "Shape", "make", "make_long", "make_sized"]

FOLDER = Path(__file__).parent / "data"
LONG = 4
WHOLE = 10_000_000
"""Rows that are made, and hence in memory, at once."""
_DOCUMENTS = 8_841_823


@dataclass(frozen=True)
class Shape:
    name: str
    queries: int
    depth: int
    judged: int
    found: float
    """Chance that a judged document is in the list."""


SHAPES = (
    Shape("marco", 6_980, 1_000, 1, 0.85),
    Shape("rag", 100_000, 10, 3, 0.6),
    Shape("robust", 250, 1_000, 1_250, 0.3),
)


@dataclass(frozen=True)
class Files:
    qrels: Path
    run: Path


def make(shape: Shape) -> Files:
    """The two TREC files of a shape; made once."""
    FOLDER.mkdir(exist_ok=True)
    files = Files(FOLDER / f"{shape.name}.qrels", FOLDER / f"{shape.name}.run")
    if files.qrels.exists() and files.run.exists():
        return files
    rng = np.random.default_rng(20_240_607)
    documents = np.empty((shape.queries, shape.depth), dtype=np.int64)
    for i in range(shape.queries):
        documents[i] = _distinct(rng, shape.depth)
    scores = -np.sort(-rng.gamma(2, 5, documents.shape).round(6), axis=1)
    ids = np.arange(shape.queries) * 37 + 1037
    pl.DataFrame(
        {
            "query": np.repeat(ids, shape.depth),
            "q0": pl.Series(["Q0"]).new_from_index(0, documents.size),
            "doc": documents.ravel(),
            "rank": np.tile(np.arange(1, shape.depth + 1), shape.queries),
            "score": scores.ravel(),
            "tag": pl.Series(["bench"]).new_from_index(0, documents.size),
        }
    ).write_csv(files.run, separator=" ", include_header=False)
    judged = [_judged(rng, documents[i], shape) for i in range(shape.queries)]
    counts = [len(docs) for docs in judged]
    grades = rng.integers(0, 3, sum(counts)) if shape.judged > 1 else np.ones(sum(counts), dtype=np.int64)
    pl.DataFrame(
        {
            "query": np.repeat(ids, counts),
            "zero": np.zeros(sum(counts), np.int64),
            "doc": np.concatenate(judged),
            "grade": grades,
        }
    ).write_csv(files.qrels, separator=" ", include_header=False)
    return files


def _distinct(rng: np.random.Generator, n: int) -> np.ndarray:
    drawn = np.unique(rng.integers(0, _DOCUMENTS, n + n // 10 + 5))
    return rng.permutation(drawn)[:n]


def _judged(rng: np.random.Generator, documents: np.ndarray, shape: Shape) -> np.ndarray:
    found = min(int(rng.binomial(shape.judged, shape.found)), shape.depth)
    inside = rng.choice(documents, found, replace=False)
    outside = _DOCUMENTS + rng.choice(1_000_000, shape.judged - found, replace=False)
    return np.concatenate((inside, outside))


def make_long(times: int = LONG) -> Files:
    """The marco run several times over, under new query ids: for the memory of streaming."""
    short = make(SHAPES[0])
    long = FOLDER / f"marco_x{times}.run"
    if not long.exists():
        _repeat(short.run, long, times)
    return Files(short.qrels, long)


def _repeat(file: Path, target: Path, times: int) -> None:
    """The lines of a TREC file several times over, under new query ids."""
    text = file.read_bytes().rstrip(b"\n")
    with target.open("wb") as written:
        for copy in range(times):
            mark = b"" if copy == 0 else b"%d-" % copy
            written.write(mark + text.replace(b"\n", b"\n" + mark) + b"\n")


def make_sized(kind: str, rows: int) -> Files:
    """A shape with as many rows in the run; "shuffled" is Parquet of the first shape, its rows in no order.

    More than `WHOLE` rows are that many several times over, so that no more than those are in memory at once.
    """
    ending = ".parquet" if kind == "shuffled" else ""
    files = Files(FOLDER / f"{kind}_{rows}.qrels{ending}", FOLDER / f"{kind}_{rows}.run{ending}")
    if files.qrels.exists():  # which is written last
        return files
    FOLDER.mkdir(exist_ok=True)
    if rows > WHOLE:
        once = make_sized(kind, WHOLE)
        (_repeat_shuffled if ending else _repeat)(once.run, files.run, rows // WHOLE)
        if ending:
            copies = [_copy(pl.read_parquet(once.qrels), copy) for copy in range(rows // WHOLE)]
            pl.concat(copies).write_parquet(files.qrels)
        else:
            _repeat(once.qrels, files.qrels, rows // WHOLE)
        return files
    if not ending:
        shape = next(shape for shape in SHAPES if shape.name == kind)
        return make(replace(shape, name=f"{kind}_{rows}", queries=max(1, rows // shape.depth)))
    ordered = make_sized(SHAPES[0].name, rows)
    for source, target, number, columns in (
        (ordered.run, files.run, "score", ["query", "q0", "doc", "rank", "score", "tag"]),
        (ordered.qrels, files.qrels, "grade", ["query", "zero", "doc", "grade"]),
    ):
        frame = pl.read_csv(source, separator=" ", has_header=False, new_columns=columns)
        frame = frame.select(pl.col("query", "doc").cast(pl.String), number)
        frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(target)
    return files


def _copy(frame: pl.DataFrame, copy: int) -> pl.DataFrame:
    return frame.with_columns(query=pl.lit(f"{copy}-") + pl.col("query"))


def _repeat_shuffled(file: Path, target: Path, times: int, parts: int = 50) -> None:
    """A folder whose every part has rows of every copy."""
    target.mkdir(exist_ok=True)
    frame = pl.read_parquet(file)
    size = -(-len(frame) // parts)
    for part in range(parts):
        # Each copy is a part further than the one before, so that copies of a row are not neighbours.
        pieces = [_copy(frame.slice((part + copy) % parts * size, size), copy) for copy in range(times)]
        mixed = pl.concat(pieces).sample(fraction=1, shuffle=True, seed=part)
        mixed.write_parquet(target / f"part-{part:05}.parquet")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for kind in sys.argv[2:]:
            make_sized(kind, int(sys.argv[1]))
    else:
        for each in SHAPES:
            make(each)
        make_long()
