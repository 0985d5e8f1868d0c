"""Pools: the first documents of several systems, which are what is worth a judgment (Sparck Jones and van Rijsbergen
1975). What is judged already is left out."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation import read_run
from rankgauge.evaluation.scores import Scores
from rankgauge.formats import RunParts, load_judgments, load_qrels
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.labels import Labels
from rankgauge.model.pool import Pool, PooledPair
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.sensitivity.pooling import queries_of, retrieved
from rankgauge.stats.levels import check_whole
from rankgauge.words import Note

__all__ = ["Pooled", "pool", "pooled"]

Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Pooled:
    """A pool, and what it was made of."""

    pool: Pool
    k: int
    systems: list[str]
    judged: int
    """Documents within the depth that are left out, since they are judged already."""
    missing: list[str]
    """Queries of the test set that no run has."""

    @property
    def notes(self) -> list[Note]:
        """How much there is to judge."""
        counts = {"pairs": len(self.pool), "queries": len(self.pool.queries), "k": self.k, "systems": len(self.systems)}
        notes = [Note("testsets.pool", counts) if len(self.pool) else Note("testsets.pool_empty", {"k": self.k})]
        if self.judged and len(self.pool):
            notes.append(Note("testsets.pool_judged", {"n": self.judged}))
        if self.missing:
            notes.append(Note("testsets.pool_missing", {"n": len(self.missing)}, "warning"))
        return notes

    @property
    def shares(self) -> dict[str, tuple[int, int]]:
        """For each system how many documents of the pool it retrieved, and how many it alone."""
        every = Counter(name for one in self.pool for name in one.systems)
        alone = Counter(one.systems[0] for one in self.pool if len(one.systems) == 1)
        return {name: (every[name], alone[name]) for name in self.systems}

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, without the pairs, which have a file of their own."""
        shares = {name: {"pooled": every, "alone": alone} for name, (every, alone) in self.shares.items()}
        counts = {"pairs": len(self.pool), "queries": len(self.pool.queries), "judged": self.judged}
        return {"format": "rankgauge.pooled", "k": self.k, **counts, "systems": shares, "missing": self.missing}


@named_arguments
def pool(
    runs: Mapping[str, Any],
    k: int = 20,
    *,
    judged: Any = None,
    queries: TestSet | Iterable[str] | None = None,
    shuffle: int | None = None,
    contract: Contract | None = None,
    name: str = "pool",
) -> Pool:
    """The documents that systems have among their first k, without those that are judged.

    `runs` maps a name to a run of any kind that `evaluate` takes, or to a live evaluation. `judged` are a test set,
    judgments, labels, the path of a test set or of judgments, or a list of these. `queries`, ids or a test set, are
    those to judge; without them all of the test set that `judged` is, else all of the runs. Documents of a query come
    by their best rank; `shuffle`, a seed, puts them in a random order, which tells a judge nothing.
    """
    return pooled(runs, k, judged=judged, queries=queries, shuffle=shuffle, contract=contract, name=name).pool


def pooled(
    runs: Mapping[str, Any],
    k: int = 20,
    *,
    judged: Any = None,
    queries: TestSet | Iterable[str] | None = None,
    shuffle: int | None = None,
    contract: Contract | None = None,
    name: str = "pool",
) -> Pooled:
    """`pool`, with its counts."""
    k = check_whole("k", k, 1)
    if not isinstance(runs, Mapping) or not runs:
        raise DataError('runs are given by name: {"a": run, "b": run}')
    if shuffle is not None:
        check_whole("shuffle", shuffle, 0)
    opened = {str(system): _opened(run, str(system)) for system, run in runs.items()}
    known = [_read(one) for one in (judged if isinstance(judged, list | tuple) else [judged])]
    if queries is None:
        queries = next((one for one in known if isinstance(one, TestSet)), None)
    wanted = _ids(queries)
    here = queries_of(opened)
    asked = here if wanted is None else wanted
    pairs = frozenset[tuple[str, str]]().union(*map(_pairs, known))
    found = list(retrieved(opened, k, asked, contract or Contract()))
    left = [
        PooledPair(one.query, one.doc, tuple(one.ranks), one.best) for one in found if (one.query, one.doc) not in pairs
    ]
    if shuffle is not None:
        left = _shuffled(left, shuffle)
    there = set(here)
    missing = [query for query in wanted or () if query not in there]
    return Pooled(Pool(left, name=name), k, list(opened), len(found) - len(left), missing)


def _opened(given: Any, name: str) -> Run | RunParts:
    if isinstance(given, Scores):
        given = getattr(given, "run", None)
        if given is None:
            raise DataError(f"{name}: these scores have no lists; give the run that they were made of")
    return read_run(given, name)


def _read(judged: Any) -> TestSet | Qrels | Labels | None:
    if judged is None or isinstance(judged, TestSet | Qrels | Labels):
        return judged
    if isinstance(judged, str | os.PathLike):
        return load_qrels(judged) if Path(judged).is_dir() else load_judgments(judged)
    return Qrels(judged)


def _pairs(known: TestSet | Qrels | Labels | None) -> Pairs:
    if known is None:
        return frozenset()
    if isinstance(known, TestSet):
        return frozenset((query.id, doc) for query in known for doc in query.grades)
    if isinstance(known, Labels):
        return frozenset(known.voices)
    return frozenset((query, doc) for query, docs in known.to_dict().items() for doc in docs)


def _ids(queries: TestSet | Iterable[str] | None) -> list[str] | None:
    if queries is None:
        return None
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise DataError(f"`queries` must be ids, or a test set, not {queries!r}"[:200])
    return list(dict.fromkeys(query if isinstance(query, str) else query.id for query in queries))


def _shuffled(pairs: list[PooledPair], seed: int) -> list[PooledPair]:
    """The documents of each query in a random order."""
    by_query: dict[str, list[PooledPair]] = {}
    for pair in pairs:
        by_query.setdefault(pair.query, []).append(pair)
    for query, own in by_query.items():
        random.Random(f"{seed} {query}").shuffle(own)
    return [pair for own in by_query.values() for pair in own]
