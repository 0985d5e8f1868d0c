"""The same runs scored under one set of labels after the other, on the same queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.comparison.rows import check_averaged
from rankgauge.engine.lists import top_rows
from rankgauge.errors import ContractError, DataError
from rankgauge.evaluation import Plan, Scoring, read_run
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Floats
from rankgauge.model.run import Run
from rankgauge.model.scores import Coverage
from rankgauge.record import ScoredMeasure

__all__ = ["ScoredRuns", "Units", "check_coverage", "in_memory", "pooled"]


def in_memory(runs: Any, least: int) -> dict[str, Run]:
    """The runs, each read once, since they are scored several times."""
    if not isinstance(runs, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    if len(runs) < least:
        raise DataError(f"give {least} runs or more by name: {{'a': run, 'b': run}}" if least > 1 else "give a run")
    return {str(name): _whole(run, str(name)) for name, run in runs.items()}


def _whole(given: Any, name: str) -> Run:
    run = read_run(given, name)
    if isinstance(run, Run):
        return run
    import polars as pl

    return Run.of_frame(pl.concat(run.parts()), name)


def check_coverage(found: Sequence[Coverage]) -> None:
    """Refuse scores that say nothing of the labels."""
    if found and all(one.id_mismatch for one in found):
        doc, judged = found[0].id_mismatch or ("", "")
        raise DataError(f"no run returned a labelled document: the runs have ids such as {doc!r}, labels {judged!r}")
    if any(one.ungrouped for one in found):
        raise DataError("labels do not tell groups of evidence, which one of the measures needs; take another measure")


def pooled(runs: Iterable[Run], queries: Sequence[str], plan: Plan, depth: int) -> dict[str, dict[str, int]]:
    """For each query the documents among the first `depth` of any run, and the best of their ranks."""
    known = Qrels({query: {"": 0} for query in queries})
    found: dict[str, dict[str, int]] = {query: {} for query in queries}
    for run in runs:
        rows = top_rows(known, run, plan.contract, depth)
        for number, doc, rank in zip(rows.owner.tolist(), rows.docs.to_list(), rows.ranks.tolist(), strict=True):
            own = found[rows.queries[number]]
            own[doc] = min(rank, own.get(doc, rank))
    return found


class ScoredRuns:
    """Scores of runs by measures that are means over queries, every query of which counts."""

    def __init__(self, runs: Mapping[str, Run], plan: Plan) -> None:
        self.runs, self.plan = runs, plan
        self.measures = [ScoredMeasure.of(measure) for measure in plan.measures]
        check_averaged(self.measures)
        if plan.contract.no_relevant == "skip" or plan.contract.missing == "skip":
            raise ContractError(
                "a query that one judge leaves without relevant documents must count with the other too: give a "
                "contract with `missing='zero'` and `no_relevant='count'`"
            )

    def under(self, grades: Mapping[str, Mapping[str, float]], queries: Sequence[str]) -> dict[str, Floats]:
        """The scores of each run, queries by measures."""
        judgments = Qrels({query: grades.get(query) or {"": 0.0} for query in queries})
        scoring, found = Scoring(self.plan), dict[str, Floats]()
        tables = {name: scoring.evaluation(judgments, run, name).table for name, run in self.runs.items()}
        check_coverage([table.coverage for table in tables.values()])
        for name, table in tables.items():
            row = {query: number for number, query in enumerate(table.queries)}
            found[name] = table.values[[row[query] for query in queries]]
        return found


@dataclass(frozen=True)
class Units:
    """What is drawn and independent: queries, or whole conversations.

    With G conversations of N queries, S the sum of one's scores, its value is G S / N: their mean is that of the
    queries. (The mean of the queries of a sample, a ratio, has shorter intervals that hold less often: in simulation
    66 % in place of 81 % where ten conversations are checked and a fifth of all is twelve times as long as the rest.)
    """

    of: Mapping[str, str]
    """The unit of each query."""
    names: Sequence[str]

    @classmethod
    def by(cls, queries: Sequence[str], conversations: Mapping[str, str]) -> Units:
        of = {query: conversations.get(query) or query for query in queries}
        return cls(of, list(dict.fromkeys(of.values())))

    @property
    def single(self) -> bool:
        """Whether every query stands alone."""
        return len(self.names) == len(self.of)

    @property
    def largest(self) -> float:
        """Queries of the largest unit over their mean number."""
        sizes = np.unique(list(self.of.values()), return_counts=True)[1]
        return float(sizes.max() / sizes.mean())

    def effective(self, queries: Sequence[str]) -> float:
        """As many units of equal size tell as much as those of these queries: (sum n)^2 / sum n^2 (Kish 1965)."""
        sizes = np.array(list(Counter(self.of[query] for query in queries).values()))
        return float(sizes.sum() ** 2 / (sizes**2).sum())

    def values(self, scores: Floats, queries: Sequence[str]) -> Floats:
        """A value for each unit from one for each query; units without queries among these have NaN."""
        number = {name: i for i, name in enumerate(self.names)}
        owner = np.array([number[self.of[query]] for query in queries], dtype=np.int64)
        sums = np.bincount(owner, weights=scores, minlength=len(self.names)) * len(self.names) / len(self.of)
        return np.where(np.bincount(owner, minlength=len(self.names)) > 0, sums, np.nan)

    def bounds(self, given: tuple[float, float] | None) -> tuple[float, float] | None:
        """The least and greatest value of a unit."""
        if given is None or self.single:
            return given
        low, high = given
        return min(low, low * self.largest), max(high, high * self.largest)
