"""The documents that nobody judged, over several runs: which there are, and where each run ranks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from rankgauge.engine.lists import TopRows, top_rows
from rankgauge.engine.matching import match
from rankgauge.engine.scoring import counted_queries, score_queries
from rankgauge.engine.virtual import Problem, Ragged, System, blind_to_zero
from rankgauge.errors import ContractError
from rankgauge.evaluation import read_run
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ordering import as_compared
from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades

__all__ = ["Case", "Pool", "TiesError", "levels_of"]


class TiesError(Exception):
    """The contract leaves tied documents without an order, and there are some."""


@dataclass(frozen=True)
class Case:
    """One measure and pair. The problem's queries are those that count and have unjudged documents within the depth."""

    problem: Problem
    a: str
    b: str
    counted: int
    """Queries that count, with or without unjudged documents."""
    observed: float
    """Sum of the differences under the judgments as they are, over the queries that count."""
    settled: float
    """The part of it from queries without unjudged documents."""
    query: Ints
    """The query number of each of the problem's queries."""
    document: Ints
    """The pool's number of each open document, queries by documents; -1 where there are no more."""


def levels_of(measure: Measure, grades: Floats) -> list[float]:
    """The grades that a label may be: 0 and all above; of those that are one to a binary measure, the least."""
    levels = [0.0, *np.unique(grades[grades > 0]).tolist()]
    rel = measure.get("rel")
    binary = measure.definition.relevance and measure.get("grades") not in ("linear", "scaled")
    if measure.definition.form(measure) == "" or not binary or rel is None:
        return levels
    kinds = ([grade for grade in levels if grade < rel], [grade for grade in levels if grade >= rel])
    return [kind[0] for kind in kinds if kind]


def _depth(measure: Measure) -> int | None:
    """How deep a document counts. An ideal list of what was retrieved counts all of it, whatever the depth."""
    at = measure.definition.at
    if at is None or at.kind is not int or measure.get("ideal") == "retrieved":
        return None
    return None if measure.at is None else int(measure.at)


def _has_ties(rows: TopRows, contract: Contract) -> bool:
    scores, owner = as_compared(rows.scores, contract.scores), rows.owner
    return bool(((scores[1:] == scores[:-1]) & (owner[1:] == owner[:-1])).any())


class Pool:
    """Lists of several runs, each read once, with their unjudged documents numbered by query and id."""

    def __init__(
        self,
        qrels: Qrels,
        runs: Mapping[str, Any],
        measures: Sequence[Measure],
        contract: Contract,
        among: Mapping[str, Bools] | None = None,
    ) -> None:
        """`among` names the queries that may count, by measure; all of them where it does not."""
        self._contract, self._among = contract, among or {}
        depths = [_depth(measure) for measure in measures]
        expected = contract.ties == "expected"
        deepest = None if expected or None in depths else max(depth for depth in depths if depth is not None)
        self._ranked: dict[str, RankedGrades] = {}
        self._scores: dict[tuple[str, str], tuple[Floats, Bools]] = {}
        parts: dict[str, pl.DataFrame] = {}
        for name, source in runs.items():
            run = read_run(source, name)
            ranked = match(qrels, run, contract).ranked
            missing = int((~ranked.in_run).sum())
            if contract.missing == "error" and missing:
                raise ContractError(
                    f"{name}: {missing} judged queries are missing from the run; count them with `missing='zero'` or "
                    "leave them out with `missing='skip'`"
                )
            self._ranked[name] = ranked if contract.depth is None else ranked.limited(contract.depth)
            rows = top_rows(qrels, run, contract, deepest)
            if expected and _has_ties(rows, contract):
                raise TiesError
            new = np.isnan(rows.grades)
            columns = {"owner": rows.owner[new], "doc": rows.docs.filter(new), "rank": rows.ranks[new]}
            parts[name] = pl.DataFrame(columns)
        self.queries: Sequence[str] = next(iter(self._ranked.values())).queries
        self.documents = (
            pl.concat(list(parts.values())).select("owner", "doc").unique().sort("owner", "doc").with_row_index("id")
        )
        """Columns id, owner (the query's number) and doc."""
        self._owner: Ints = self.documents["owner"].to_numpy()
        self._places: dict[str, tuple[Ints, Ints]] = {}
        for name, part in parts.items():
            joined = part.join(self.documents, on=["owner", "doc"], how="left", maintain_order="left")
            self._places[name] = (joined["id"].to_numpy().astype(np.int64), joined["rank"].to_numpy())

    def ranks(self, name: str) -> dict[int, int]:
        """Where a run ranks each document that it retrieved within the greatest depth."""
        number, rank = self._places[name]
        return dict(zip(number.tolist(), rank.tolist(), strict=True))

    def _scored(self, name: str, measure: Measure) -> tuple[Floats, Bools]:
        key = (name, str(measure))
        if key not in self._scores:
            ranked = self._ranked[name]
            counted = counted_queries(ranked, [measure], self._contract)[:, 0]
            counted &= self._among.get(str(measure), True)
            self._scores[key] = (score_queries(ranked, [measure])[0][:, 0], counted)
        return self._scores[key]

    def case(self, measure: Measure, a: str | None, b: str) -> Case:
        """The problem of one measure and pair; without `a`, the score of b alone."""
        names = [name for name in (a, b) if name is not None]
        depth = _depth(measure)
        value, counted = self._scored(b, measure)
        if a is not None:
            value, counted = value - self._scored(a, measure)[0], counted & self._scored(a, measure)[1]
        near = {}
        for name in names:
            number, rank = self._places[name]
            keep = counted[self._owner[number]]
            if depth is not None:
                keep &= rank <= depth
            near[name] = (number[keep], rank[keep])
        ids = np.unique(np.concatenate([number for number, _ in near.values()]))
        query, row, open_ = np.unique(self._owner[ids], return_inverse=True, return_counts=True)
        slot = np.arange(len(ids)) - (np.cumsum(open_) - open_)[row]
        document = np.full((len(query), int(open_.max(initial=0))), -1)
        document[row, slot] = ids
        thin, systems = blind_to_zero(measure), {}
        for name, (number, rank) in near.items():
            open_ranks = np.zeros(document.shape, dtype=np.int64)
            at = np.searchsorted(ids, number)
            open_ranks[row[at], slot[at]] = rank
            systems[name] = _system(self._ranked[name], query, depth, open_ranks, above_zero=thin)
        ranked = self._ranked[b]
        judged = _taken(Ragged(ranked.judged_starts, ranked.judged_grades), query)
        if thin:
            judged = judged.where(judged.values > 0)
        levels = levels_of(measure, ranked.judged_grades)
        problem = Problem(measure, levels, None if a is None else systems[a], systems[b], judged, open_)
        rest = counted.copy()
        rest[query] = False
        total = float(value[counted].sum())
        return Case(problem, a or "", b, int(counted.sum()), total, float(value[rest].sum()), query, document)


def _taken(ragged: Ragged, queries: Ints) -> Ragged:
    """The values of some queries, in their order."""
    counts = np.diff(ragged.starts)[queries]
    ends = np.cumsum(counts)
    position = np.arange(int(counts.sum())) + np.repeat(ragged.starts[queries] - (ends - counts), counts)
    return Ragged(np.concatenate(([0], ends)), ragged.values[position])


def _system(ranked: RankedGrades, queries: Ints, depth: int | None, open_ranks: Ints, *, above_zero: bool) -> System:
    ranks = _taken(Ragged(ranked.starts, ranked.ranks.astype(np.float64)), queries)
    grades = _taken(Ragged(ranked.starts, ranked.grades), queries).values
    keep = ranks.values <= (np.inf if depth is None else depth)
    if above_zero:
        keep &= grades > 0
    ranks, grades = ranks.where(keep), grades[keep]
    return System(ranked.retrieved[queries], ranks, grades, open_ranks)
