"""Runs and judgments with all that can be odd about them, and how results are held against each other."""

from __future__ import annotations

import numpy as np
import polars as pl

from rankgauge.evaluation import Evaluation
from rankgauge.measures import all_definitions, parse_measure

__all__ = ["EVERY", "MEASURES", "MEASURES_OF_ONE_LIST", "assert_same", "world"]

EVERY = [
    definition.name + ("(max_rel=3)" if definition.parameter("max_rel") else "") + depth
    for definition in all_definitions()
    if "characters" not in definition.needs
    for depth in (
        [""] * (not definition.at_required)
        + ([] if definition.at is None else ["@5" if definition.at.kind is int else "@0.5"])
    )
]
"""The whole registry, without what needs texts."""
MEASURES = [name for name in EVERY if parse_measure(name).definition.family != "diversity"]
"""Those that need no subtopics."""
MEASURES_OF_ONE_LIST = [name for name in MEASURES if "subtopics" not in parse_measure(name).definition.needs]
"""Those that know none."""


def world(seed: int, *, queries: int = 12, most: int = 40, whole: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judgments and shuffled rows of a run: ties, queries missing on either side, one in five of them unjudged."""
    rng = np.random.default_rng(seed)
    name = (lambda prefix, n: n) if whole else (lambda prefix, n: f"{prefix}{n}")
    rows, judged = [], []
    for query in range(queries):
        docs = rng.choice(2 * most, int(rng.integers(1, most + 1)), replace=False)
        if query % 5 != 1:
            scores = np.round(rng.normal(size=len(docs)), int(rng.integers(0, 4)))
            rows += [(name("q", query), name("d", int(d)), float(s)) for d, s in zip(docs, scores, strict=True)]
        if query % 5 != 2:
            chosen = rng.choice(2 * most, int(rng.integers(1, most)), replace=False)
            judged += [(name("q", query), name("d", int(d)), int(rng.integers(-1, 4))) for d in chosen]
    run = pl.DataFrame(rows, ["query", "doc", "score"], orient="row").sample(fraction=1, shuffle=True, seed=seed)
    return pl.DataFrame(judged, ["query", "doc", "grade"], orient="row"), run


def assert_same(got: Evaluation, wanted: Evaluation) -> None:
    """To the last bit: means, every score, which of them count, counts, and what is said."""
    assert dict(got.mean) == dict(wanted.mean)
    assert dict(got.interval) == dict(wanted.interval)
    assert list(got.table.queries) == list(wanted.table.queries)
    assert got.table.values.tobytes() == wanted.table.values.tobytes()
    assert (got.table.counted == wanted.table.counted).all()
    assert (got.table.retrieved == wanted.table.retrieved).all()
    assert np.array_equal(got.table.top, wanted.table.top, equal_nan=True)  # type: ignore[arg-type]
    assert got.coverage == wanted.coverage
    assert got.notes == wanted.notes
    assert got.contract == wanted.contract
