"""Scores of one run, with means and intervals under any spelling of a measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from rankgauge.errors import MeasureError
from rankgauge.evaluation.plan import Plan
from rankgauge.measures import Measure, parse_measure
from rankgauge.model.ranked import Ints
from rankgauge.model.scores import ScoreTable
from rankgauge.model.testset import TestSet
from rankgauge.record import Calls, NoAnswer
from rankgauge.stats.clusters import cluster_numbers
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.words import Note

__all__ = ["ByMeasure", "Scores"]

V = TypeVar("V")


class ByMeasure(Mapping[str, V]):
    """Values by measure. Any spelling of a measure finds its value: `mean['ndcg_cut_10']` is `mean['nDCG@10']`.

    A measure is also found as it was asked for, before a preset or a threshold changed its parameters.
    """

    def __init__(self, measures: Sequence[Measure], asked: Sequence[Measure], values: Sequence[V]) -> None:
        self._values = dict(zip(map(str, measures), values, strict=True))
        self._asked = dict(zip(map(str, asked), map(str, measures), strict=True))

    def __getitem__(self, name: str | Measure) -> V:
        key = str(name)
        if key not in self._values and key not in self._asked:
            try:
                key = str(parse_measure(name))
            except MeasureError as error:
                raise KeyError(str(error)) from None
        key = key if key in self._values else self._asked.get(key, key)
        if key not in self._values:
            raise KeyError(f"{key} was not measured; there are: {', '.join(self._values)}")
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class Scores:
    """Scores of one run under one plan, and what a careful reader must know beside them."""

    asked: int | None = None
    """How many documents a live retriever was asked for; None where the lists came from elsewhere, or where nobody
    said."""
    live = False
    """Whether the lists are those of a live retriever."""
    id_fields: Note | None = None
    """Of a live retriever whose ids match nothing: the fields that would."""

    test_set: TestSet | None = None
    """The test set that the judgments came from, where there is one."""

    spans: int = 0
    """Labels that are passages and were counted as whole documents, since nothing says what the chunks are."""
    whole_lists: bool = False
    """Whether the lists are all there was, as the documents that an agent saw or that fit a budget, and not cut at a
    depth."""
    rising: str | None = None
    """A query whose scores rise down the list, where those of every list do."""
    origin: Scores | None = None
    """The live evaluation whose lists these scores are of, where they were scored again."""

    def remedy(self, wanted: int) -> Note | None:
        """What to set of a live retriever so that its lists have the documents wanted; None where nothing is known."""
        return None if self.origin is None else self.origin.remedy(wanted)

    def __init__(
        self, table: ScoreTable, plan: Plan, name: str | None = None, *, conversations: Mapping[str, str] | None = None
    ) -> None:
        self.table, self.plan = table, plan
        self.conversations = dict(conversations or {})
        """The conversation of each query that belongs to one."""
        self.name = name or table.name
        self.measures, self.contract, self.preset = plan.measures, plan.contract, plan.preset
        self.coverage = table.coverage
        """How many queries counted, were missing, had no relevant document or no judgments; ties; Judged@k."""
        self.mean: ByMeasure[float] = self._by_measure(table.aggregates.tolist())

    def _by_measure(self, values: Sequence[V]) -> ByMeasure[V]:
        return ByMeasure(self.plan.measures, self.plan.asked, values)

    @property
    def calls(self) -> Calls | None:
        """What the calls of a live retriever cost; None where the lists came from elsewhere."""
        return None if self.origin is None else self.origin.calls

    def take_after(self, origin: Scores) -> None:
        """Be of the lists of a live evaluation: its calls belong to these scores too."""
        self.origin, self.live, self.asked, self.id_fields = origin, origin.live, origin.asked, origin.id_fields
        self.whole_lists, self.spans = origin.whole_lists, origin.spans

    @cached_property
    def clusters(self) -> Ints | None:
        """The number of each query's conversation; None where every query stands alone."""
        return cluster_numbers(self.table.queries, self.conversations)

    @cached_property
    def synthetic(self) -> dict[str, str]:
        """What made each query that no person asked."""
        made = {query.id: query.synthetic for query in self.test_set or () if query.synthetic}
        return {query: made[query] for query in self.table.queries if query in made} if made else {}

    @cached_property
    def interval(self) -> ByMeasure[Interval | None]:
        """95 % confidence interval of each mean; None for sums, geometric means, and fewer than two queries."""
        intervals = []
        for j, measure in enumerate(self.measures):
            mask = self.table.counted[:, j]
            averaged = measure.definition.aggregate == "mean"
            clusters = None if self.clusters is None else self.clusters[mask]
            values = self.table.values[mask, j]
            intervals.append(mean_interval(values, bounds=measure.bounds, clusters=clusters) if averaged else None)
        return self._by_measure(intervals)

    @cached_property
    def no_answer(self) -> NoAnswer | None:
        """What became of the queries without an answer; None where every query has one."""
        if not self.coverage.no_answer:
            return None
        from rankgauge.evaluation.no_answer import no_answer_of  # most test sets have none

        return no_answer_of(self.table, self.plan.threshold)

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        return f"{type(self).__name__}({self.name!r}: {means})"
