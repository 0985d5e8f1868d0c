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
        text = short.run.read_bytes().rstrip(b"\n")
        with long.open("wb") as file:
            for copy in range(times):
                mark = b"" if copy == 0 else b"%d-" % copy
                file.write(mark + text.replace(b"\n", b"\n" + mark) + b"\n")
    return Files(short.qrels, long)


def make_sized(kind: str, rows: int) -> Files:
    """A shape with as many rows in the run; "shuffled" is Parquet of the first shape, its rows in no order."""
    if kind != "shuffled":
        shape = next(shape for shape in SHAPES if shape.name == kind)
        return make(replace(shape, name=f"{kind}_{rows}", queries=max(1, rows // shape.depth)))
    ordered = make_sized(SHAPES[0].name, rows)
    files = Files(FOLDER / f"shuffled_{rows}.qrels.parquet", FOLDER / f"shuffled_{rows}.run.parquet")
    if files.qrels.exists() and files.run.exists():
        return files
    for source, target, number, columns in (
        (ordered.qrels, files.qrels, "grade", ["query", "zero", "doc", "grade"]),
        (ordered.run, files.run, "score", ["query", "q0", "doc", "rank", "score", "tag"]),
    ):
        frame = pl.read_csv(source, separator=" ", has_header=False, new_columns=columns)
        frame = frame.select(pl.col("query", "doc").cast(pl.String), number)
        frame.sample(fraction=1, shuffle=True, seed=1).write_parquet(target)
    return files


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for kind in sys.argv[2:]:
            make_sized(kind, int(sys.argv[1]))
    else:
        for each in SHAPES:
            make(each)
        make_long()
