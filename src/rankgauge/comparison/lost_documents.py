"""The place where each relevant document was lost, and what finding those of one place could gain at most.

A document that the last list has is found, or cut there by k or by the budget. Any other was lost by the stage behind
the last list that has it; one that no list has, by the first of corpus, index and first stage that lacks it. So every
relevant document has exactly one place, also where a later list holds documents that an earlier one lacks.

The gain of a set of places is the mean over the queries of

    (min(k, found + lost there) - found) / R

which is what recall would rise by if every document lost there were found and nothing else changed. With a budget, only
as many documents count as fit into it, the shortest first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.engine.chunks import ChunkTexts, Rule
from rankgauge.engine.lists import TopRows, top_rows
from rankgauge.engine.matching import BudgetTexts
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.lengths import length_of
from rankgauge.model.ranked import Bools, Floats, Ints
from rankgauge.model.run import Run
from rankgauge.record import LossPlace

if TYPE_CHECKING:
    from rankgauge.formats import RunParts

__all__ = ["Located", "Sizes", "locate"]


@dataclass(frozen=True, eq=False, repr=False)
class Sizes:
    """What documents take of a context: the lengths of their texts, or of their chunks, where chunks were merged."""

    texts: Mapping[str, str]
    length: Callable[[str], float] = len
    rule: Rule | None = None

    def reached(self, rows: TopRows, run: Run | RunParts, k: int) -> Floats:
        """How much the first k of each list take, one after another; of merged chunks the run tells it."""
        first = rows.ranks <= k
        owner, docs = rows.owner[first], rows.docs.filter(first)
        if isinstance(run, Run) and run.mapping is None and "context" in run.frame.columns:
            queries = pl.Series(rows.queries, dtype=pl.String).gather(owner)
            known = run.frame.select("query", "doc", "context")
            listed = pl.DataFrame({"query": queries, "doc": docs})
            return listed.join(known, on=["query", "doc"], how="left", maintain_order="left")["context"].to_numpy()
        sizes = BudgetTexts(self.texts, self.length).cost(docs)  # type: ignore[arg-type]
        starts = np.searchsorted(owner, np.arange(len(rows.queries)))
        total = np.concatenate(([0.0], np.cumsum(sizes)))
        return total[1:] - total[starts][owner]

    def least(self, docs: pl.Series) -> Floats:
        """The least that each of these takes; 0 where it is not known."""
        if self.rule is None:
            shortest = {doc: length_of(self.texts[doc], self.length) for doc in docs.unique() if doc in self.texts}
        elif isinstance(self.rule, Chunks):
            wanted, texts = set(docs), ChunkTexts(self.rule, self.texts)
            shortest = {}
            for doc, own in self.rule.by_document.items():
                if doc in wanted and (found := [text for one in own if (text := texts.text(one)) is not None]):
                    shortest[doc] = min(length_of(text, self.length) for text in found)
        else:
            shortest = {}
        return np.array([shortest.get(doc, 0.0) for doc in docs], dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Located:
    """Every relevant document of the queries that count, with its place."""

    queries: Sequence[str]
    counted: Bools
    k: int
    budget: int | None
    places: list[LossPlace]
    """Without figures."""
    owner: Ints
    """Of each document its query, its place, its grade and its length."""
    place: Ints
    grades: Floats
    lengths: Floats
    docs: pl.Series
    ranks: list[Ints]
    """By stage; 0 where the list lacks the document."""
    lists: list[TopRows]
    outside: dict[str, int]
    """Documents that a list has, but the corpus or the index lacks."""

    def number(self, key: str) -> int:
        return next(i for i, place in enumerate(self.places) if place.key == key)

    def counts(self, keys: Collection[str]) -> Ints:
        """Documents of each query that ended at one of these places."""
        numbers = [self.number(key) for key in keys]
        return np.bincount(self.owner[np.isin(self.place, numbers)], minlength=len(self.queries)).astype(np.int64)

    def recall(self, keys: Collection[str] = (), *, fitting: bool = True) -> float:
        """Mean recall if the documents of these places were found too, as far as k and the budget leave room."""
        relevant = np.bincount(self.owner, minlength=len(self.queries))
        if self.budget is None or not fitting:
            reached = np.minimum(float(self.k), self.counts(["found", *keys]))
        else:
            reached = np.minimum(float(self.k), self._fitting([self.number(key) for key in ("found", *keys)]))
        values = reached / np.maximum(relevant, 1)
        return aggregate("mean", values.astype(np.float64), self.counted, byte_order(self.queries))

    def _fitting(self, numbers: list[int]) -> Ints:
        """How many documents of these places fit into the budget, the shortest first."""
        kept = np.isin(self.place, numbers)
        order = np.lexsort((self.lengths[kept], self.owner[kept]))
        owner, lengths = self.owner[kept][order], self.lengths[kept][order]
        starts = np.searchsorted(owner, np.arange(len(self.queries)))
        total = np.concatenate(([0.0], np.cumsum(lengths)))
        fits = total[1:] - total[starts][owner] <= (self.budget or 0)
        return np.bincount(owner[fits], minlength=len(self.queries)).astype(np.int64)

    def filled(self, place: LossPlace) -> LossPlace:
        """The place with its figures."""
        own = self.place == self.number(place.key)
        gain = 0.0
        if place.kind != "found" and own.any():
            gain = max(0.0, self.recall([place.key], fitting=place.kind != "budget") - self.recall())
        return replace(
            place,
            documents=int(own.sum()),
            grades=float(self.grades[own].sum()),
            queries=len(np.unique(self.owner[own])),
            gain=gain,
        )


def locate(
    qrels: Qrels,
    stages: Mapping[str, Run | RunParts],
    contract: Contract,
    *,
    k: int,
    rel: float,
    queries: Sequence[str],
    counted: Bools,
    corpus: Collection[str] | None = None,
    indexed: Collection[str] | None = None,
    budget: int | None = None,
    sizes: Sizes | None = None,
) -> Located:
    """The place of each relevant document of the queries that are `counted`. The contract's depth is that of the last
    list; earlier ones are whole."""
    numbers = pl.DataFrame({"query": pl.Series(list(queries), dtype=pl.String), "owner": np.arange(len(queries))})
    relevant = (
        qrels.frame.group_by("query", "doc", maintain_order=True)
        .agg(pl.col("grade").max())
        .filter(pl.col("grade") >= rel)
        .join(numbers, on="query", how="inner", maintain_order="left")
        .filter(pl.lit(pl.Series(counted)).gather(pl.col("owner")))
    )
    whole = replace(contract, depth=None)
    lists = [top_rows(qrels, run, whole, None) for run in list(stages.values())[:-1]]
    lists.append(top_rows(qrels, list(stages.values())[-1], contract, None))
    ranks = [_ranks(relevant, rows, rel) for rows in lists]
    owner, docs = relevant["owner"].to_numpy(), relevant["doc"]
    fits = None
    if budget is not None and sizes is not None:
        fits = _fitting(lists[-1], queries, k, budget, sizes.reached(lists[-1], list(stages.values())[-1], k))

    places: list[LossPlace] = []
    outside: dict[str, int] = {}
    lengths = np.zeros(len(relevant)) if sizes is None else sizes.least(docs)
    in_a_list = np.any([own > 0 for own in ranks], axis=0) if len(relevant) else np.zeros(0, dtype=bool)
    place = np.full(len(relevant), -1, dtype=np.int64)

    def lose(where: Bools, lost_at: LossPlace) -> None:
        place[where & (place < 0)] = len(places)
        places.append(lost_at)

    for kind, held in (("corpus", corpus), ("index", indexed)):
        if held is not None:
            lacks = ~docs.is_in(list(held)).to_numpy()
            outside[kind] = int((lacks & in_a_list).sum())
            lose(lacks & ~in_a_list, LossPlace(kind))  # type: ignore[arg-type]
    for i, name in enumerate(stages):
        later = [own > 0 for own in ranks[i:]]
        lose(~np.any(later, axis=0), LossPlace("stage", name))
    last = ranks[-1]
    lose(last > k, LossPlace("rank"))
    if budget is not None:
        lose(last > (np.full(len(last), k) if fits is None else fits[owner]), LossPlace("budget"))
    lose(np.ones(len(last), dtype=bool), LossPlace("found"))
    grades = relevant["grade"].to_numpy()
    return Located(queries, counted, k, budget, places, owner, place, grades, lengths, docs, ranks, lists, outside)


def _ranks(relevant: pl.DataFrame, rows: TopRows, rel: float) -> Ints:
    """The rank of each relevant document in a stage's lists; 0 where it is not there."""
    hits = rows.grades >= rel
    found = pl.DataFrame(
        {
            "query": pl.Series(rows.queries, dtype=pl.String).gather(rows.owner[hits]),
            "doc": rows.docs.filter(hits),
            "rank": rows.ranks[hits],
        }
    )
    joined = relevant.join(found, on=["query", "doc"], how="left", maintain_order="left")
    return joined["rank"].fill_null(0).to_numpy().astype(np.int64)


def _fitting(rows: TopRows, queries: Sequence[str], k: int, budget: int, reached: Floats) -> Ints:
    """How many documents of each list, from its top, fit into the budget; of the first k."""
    owner = rows.owner[rows.ranks <= k]
    fits = np.bincount(owner[reached <= budget], minlength=len(rows.queries))
    own = dict(zip(rows.queries, fits.tolist(), strict=True))
    return np.array([own.get(query, 0) for query in queries], dtype=np.int64)
