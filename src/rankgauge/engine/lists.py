"""The first documents of each list with their ids, in exactly the order that scoring uses under a contract.

Kernels never see ids or unjudged documents; what shows or labels them starts here. Rows that cannot be among the first
are dropped before any id is compared or becomes a Python object.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankgauge.engine.match_frames import without_repeats
from rankgauge.engine.match_mappings import numbers_of
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.keys import list_bounds, pair_keys
from rankgauge.model.ordering import as_compared, descending_order, rank_lists
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.model.run import Run

if TYPE_CHECKING:
    from rankgauge.formats import RunParts

__all__ = ["Listed", "TopRows", "top_lists", "top_rows"]


class Listed(NamedTuple):
    """One document of a list."""

    doc: str
    score: float
    grade: float | None
    """None where nobody judged the document."""


@dataclass(frozen=True, eq=False, repr=False)
class TopRows:
    """The first documents of many lists as columns; list i is rows `starts[i]:starts[i+1]`, best first."""

    queries: Sequence[str]
    starts: Ints
    docs: pl.Series
    scores: Floats
    grades: Floats
    """NaN where nobody judged the document."""

    @property
    def owner(self) -> Ints:
        """The query number of every row."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.starts))

    @property
    def ranks(self) -> Ints:
        return np.arange(1, len(self.docs) + 1) - self.starts[self.owner]


def top_lists(
    qrels: Qrels,
    run: Run | RunParts,
    contract: Contract,
    depth: int | None,
    queries: Collection[str] | None = None,
) -> dict[str, list[Listed]]:
    """The first `depth` documents (None: all) of each judged query, or of those among `queries`.

    A query that the run lacks has an empty list. Under `ties='expected'`, where no order is fixed, trec's is shown.
    """
    rows = top_rows(qrels, run, contract, depth, queries)
    grades = [None if grade != grade else grade for grade in rows.grades.tolist()]
    listed = list(map(Listed, rows.docs.to_list(), rows.scores.tolist(), grades))
    bounds = rows.starts.tolist()
    return {query: listed[bounds[i] : bounds[i + 1]] for i, query in enumerate(rows.queries)}


def top_rows(
    qrels: Qrels,
    run: Run | RunParts,
    contract: Contract,
    depth: int | None,
    queries: Collection[str] | None = None,
) -> TopRows:
    """`top_lists` as columns. A list is never longer than the contract's own depth."""
    if contract.depth is not None:
        depth = contract.depth if depth is None else min(depth, contract.depth)
    chosen = list(qrels.queries)
    if queries is not None:
        wanted = set(queries)
        chosen = [query for query in chosen if query in wanted]
    if isinstance(run, Run) and run.mapping is not None:
        owner, docs, scores = _of_mapping(run.mapping, chosen, contract, depth, run.name)
    else:
        owner, docs, scores = _of_frame(run, chosen, contract, depth)
    starts = np.searchsorted(owner, np.arange(len(chosen) + 1))
    keep = rank_lists(scores, starts, docs, contract)
    if depth is not None:
        keep = keep[np.arange(len(owner)) - starts[owner] < depth]
    owner, docs, scores = owner[keep], docs.gather(keep), scores[keep]
    starts = np.searchsorted(owner, np.arange(len(chosen) + 1))
    return TopRows(chosen, starts, docs, scores, _grades(qrels, chosen, owner, docs))


def _of_mapping(
    lists: Mapping[str, Mapping[str, float]], queries: Sequence[str], contract: Contract, depth: int | None, name: str
) -> tuple[Ints, pl.Series, Floats]:
    """(query number, document, score) of the rows that may be among the first; a dictionary holds none twice."""
    own = [lists.get(query, {}) for query in queries]
    if contract.drop_self:
        own = [
            {doc: score for doc, score in docs.items() if doc != query} if query in docs else docs
            for query, docs in zip(queries, own, strict=True)
        ]
    counts = np.fromiter(map(len, own), dtype=np.int64, count=len(own))
    starts = np.concatenate(([0], np.cumsum(counts)))
    scores = numbers_of(queries, own, int(counts.sum()), "score", name)
    inside = _may_be_first(scores, starts, contract, depth)
    ids: Iterable[str] = compress(chain.from_iterable(own), inside.tolist())
    owner = np.repeat(np.arange(len(own)), counts)[inside]
    return owner, pl.Series("doc", list(map(str, ids)), dtype=pl.String), scores[inside]


def _of_frame(
    run: Run | RunParts, queries: Sequence[str], contract: Contract, depth: int | None
) -> tuple[Ints, pl.Series, Floats]:
    numbers = pl.DataFrame(
        {"query": queries, "owner": range(len(queries))}, schema={"query": pl.String, "owner": pl.Int64}
    )
    parts = (part.join(numbers, on="query", how="inner", maintain_order="left") for part in run.parts())
    frame = pl.concat(parts)
    if contract.drop_self:
        frame = frame.filter(frame["query"] != frame["doc"])
    if not frame["owner"].is_sorted():
        frame = frame.sort("owner", maintain_order=True)
    bounds, heads = list_bounds(frame["query"])
    frame = without_repeats(frame, pair_keys(bounds, heads, frame["doc"]), contract, run)
    owner, scores = frame["owner"].to_numpy(), frame["score"].to_numpy()
    inside = _may_be_first(scores, np.searchsorted(owner, np.arange(len(queries) + 1)), contract, depth)
    return owner[inside], frame["doc"].filter(inside), scores[inside]


def _may_be_first(scores: Floats, starts: Ints, contract: Contract, depth: int | None) -> Bools:
    """Rows that score no less than the last of the first `depth` (or stand there, where the given order counts)."""
    lengths = np.diff(starts)
    if depth is None or (lengths <= depth).all():
        return np.ones(len(scores), dtype=bool)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    if contract.ties == "given":
        return np.arange(len(scores)) - starts[owner] < depth
    compared = as_compared(scores, contract.scores)
    least = np.full(len(lengths), -np.inf)
    cut = np.flatnonzero(lengths > depth)
    least[cut] = compared[descending_order(compared, starts)[starts[cut] + depth - 1]]
    return compared >= least[owner]


def _grades(qrels: Qrels, queries: Sequence[str], owner: Ints, docs: pl.Series) -> Floats:
    """The grade of each row, the best one where there are subtopics; NaN where nobody judged it."""
    if qrels.mapping is not None:
        known = [qrels.mapping[query] for query in queries]
        found = (known[i].get(doc, np.nan) for i, doc in zip(owner.tolist(), docs.to_list(), strict=True))
        return np.fromiter(found, dtype=np.float64, count=len(owner))
    asked = pl.DataFrame({"query": pl.Series(queries, dtype=pl.String).gather(owner), "doc": docs})
    judged = qrels.frame.group_by("query", "doc").agg(pl.col("grade").max())
    joined = asked.join(judged, on=["query", "doc"], how="left", maintain_order="left")
    return joined["grade"].fill_null(np.nan).to_numpy()
