"""`evaluate`: judgments and runs of any kind in, means with intervals and all that a reader must know out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from rankgauge.engine.matching import BudgetTexts
from rankgauge.engine.scoring import score
from rankgauge.errors import ContractError, MeasureError, RankgaugeError
from rankgauge.measures import Measure, parse_measure, parse_measures
from rankgauge.measures.explanations import sentence
from rankgauge.measures.presets import find_preset
from rankgauge.model.contract import Contract
from rankgauge.model.frames import is_frame
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.scores import Coverage, ScoreTable
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.words import Language

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.formats import RunParts
    from rankgauge.model.testset import TestSet

__all__ = ["DEFAULT_MEASURES", "ByMeasure", "Evaluation", "Plan", "evaluate", "make_plan", "read_qrels", "read_run"]

V = TypeVar("V")

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "R@10", "P@10")


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


@dataclass(frozen=True)
class Plan:
    """Measures and contract of an evaluation, after preset, options and threshold have been applied."""

    measures: Sequence[Measure]
    asked: Sequence[Measure]
    contract: Contract
    preset: str = "default"


def make_plan(
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    contract: str | Contract | None = None,
    *,
    rel: float | None = None,
    **choices: Any,
) -> Plan:
    """Resolve measure names, contract preset and single choices (`missing=`, `ties=`, ...) into one plan."""
    asked = parse_measures(measures)
    if isinstance(contract, Contract):
        base, name, resolved = contract, "custom", list(asked)
    elif contract is None or isinstance(contract, str):
        preset = find_preset(contract or "default")
        base, name, resolved = preset.contract, preset.name, [preset.apply(measure) for measure in asked]
    else:
        raise ContractError(f"contract={contract!r} is neither the name of a preset nor a Contract")
    if rel is not None:
        resolved = [
            m.with_values(rel=rel)
            if m.definition.relevance and m.definition.parameter("rel") and not m.is_set("rel")
            else m
            for m in resolved
        ]
    return Plan(resolved, asked, base.with_changes(**choices), name)


def read_qrels(source: Any) -> Qrels:
    """Judgments from whatever the caller has."""
    from rankgauge.model.testset import TestSet

    if isinstance(source, TestSet):
        return source.qrels
    if isinstance(source, str | os.PathLike):
        from rankgauge.formats import load_qrels

        return load_qrels(source)
    return Qrels(source)


def read_run(source: Any, name: str | None = None) -> Run | RunParts:
    """A run from whatever the caller has; a file is opened to be read part by part."""
    if isinstance(source, str | os.PathLike):
        from rankgauge.formats import open_run

        return open_run(source)
    if not isinstance(source, Run | Mapping) and not is_frame(source) and hasattr(source, "parts"):
        parts: RunParts = source
        return parts
    return Run(source, name=name or "run")


class Evaluation:
    """Scores of one run: `.mean`, `.interval`, `.per_query`, `.warnings`, `.contract`, `.coverage`, `.to_json()`."""

    is_live = False
    asked: int | None = None
    """How many documents a live retriever was asked for."""

    def __init__(self, table: ScoreTable, plan: Plan, name: str | None = None) -> None:
        self._table, self._plan = table, plan
        self.name = name or table.name
        self.mean: ByMeasure[float] = ByMeasure(plan.measures, plan.asked, table.aggregates.tolist())

    @property
    def measures(self) -> Sequence[Measure]:
        return self._plan.measures

    @property
    def plan(self) -> Plan:
        return self._plan

    @property
    def contract(self) -> Contract:
        return self._plan.contract

    @property
    def preset(self) -> str:
        return self._plan.preset

    @property
    def coverage(self) -> Coverage:
        """How many queries counted, were missing, had no relevant document or no judgments; ties; Judged@k."""
        return self._table.coverage

    @property
    def table(self) -> ScoreTable:
        """The scores as arrays."""
        return self._table

    @cached_property
    def interval(self) -> ByMeasure[Interval | None]:
        """95 % interval of each mean; None for sums, geometric means, and fewer than two queries."""
        table, intervals = self._table, []
        for j, measure in enumerate(self.measures):
            counted = table.values[table.counted[:, j], j]
            averaged = measure.definition.aggregate == "mean"
            intervals.append(mean_interval(counted, bounds=measure.bounds) if averaged else None)
        return ByMeasure(self._plan.measures, self._plan.asked, intervals)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """One row for each counted query, one column for each measure."""
        import polars as pl

        table = self._table
        keep = table.in_run if self.contract.missing == "skip" else np.ones_like(table.in_run)
        columns: dict[str, Any] = {"query": pl.Series(table.queries, dtype=pl.String).filter(keep)}
        for j, name in enumerate(table.measures):
            columns[name] = table.values[keep, j]
        return pl.DataFrame(columns)

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        from rankgauge.evaluation.notes import warnings_of

        return warnings_of(self)

    def sentences(self, language: Language = "en") -> dict[str, str]:
        """One plain sentence about each result."""
        return {str(m): sentence(m, self.mean[m], language) for m in self.measures}

    def to_json(self) -> str:
        """The result document."""
        from rankgauge.evaluation.old_record import record_of

        return json.dumps(record_of([self]), ensure_ascii=False, indent=2, allow_nan=False)

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        return f"Evaluation({self.name!r}: {means})"


def evaluate(
    qrels: Qrels | TestSet | Mapping[str, Mapping[str, float]] | str | os.PathLike[str] | Any,
    run: Run | Mapping[str, Any] | str | os.PathLike[str] | Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | Mapping[str, str] | None = None,
    corpus: Mapping[str, str] | None = None,
    tokenizer: Callable[[str], int] | None = None,
    stream: bool = False,
    name: str | None = None,
) -> Evaluation:
    """Score a run against judgments.

    Both may be dictionaries of dictionaries, `Qrels`/`Run`, data frames of polars, pandas or pyarrow, or paths; they
    are only read. `contract` names a preset such as 'trec_eval', or is a `Contract`; the single choices override it.
    `rel` is the least grade that counts as relevant. `collapse_chunks` merges chunks into documents first: a regular
    expression whose first group is the document's id, or a mapping from chunk to document. `corpus` (and `tokenizer`,
    which gives a text its length) serve measures with a context budget.
    """
    plan = make_plan(
        measures,
        contract,
        rel=rel,
        ties=ties,
        missing=missing,
        no_relevant=no_relevant,
        duplicates=duplicates,
        depth=depth,
    )
    judgments, opened = read_qrels(qrels), read_run(run, name)
    if collapse_chunks is not None:
        from rankgauge.engine.chunks import collapse

        opened, rule = collapse(opened, collapse_chunks)
        plan = Plan(plan.measures, plan.asked, plan.contract.with_changes(collapse=rule), plan.preset)
    texts = None if corpus is None else BudgetTexts(corpus, tokenizer or len)
    if tokenizer is not None and corpus is None:
        raise RankgaugeError("a tokenizer measures texts: give the corpus too")
    table = score(judgments, opened, plan.measures, plan.contract, texts=texts, stream=stream)
    return Evaluation(table, plan, name)
