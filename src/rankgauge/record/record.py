"""The record: what an evaluation, a comparison or a plan found, in numbers, keys and parameters, never in sentences."""

from __future__ import annotations

import datetime
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.engine.averaging import aggregate
from rankgauge.errors import DataError, FormatError
from rankgauge.formats.durations import in_utc
from rankgauge.formats.json_values import dumps, read_json
from rankgauge.formats.sources import Source
from rankgauge.measures import Measure, find_measure_name
from rankgauge.measures.measure import AGGREGATES
from rankgauge.model.contract import Contract
from rankgauge.model.scores import Coverage
from rankgauge.record.calls import Calls
from rankgauge.record.codec import decode, encode
from rankgauge.record.result import Result
from rankgauge.stats.intervals import Interval
from rankgauge.words import Note

if TYPE_CHECKING:
    from rankgauge.record.comparison import ComparisonResult
    from rankgauge.record.sweep import SweepResult

__all__ = [
    "LARGEST",
    "InputFile",
    "ListedDocument",
    "Mean",
    "Provenance",
    "Record",
    "ScoredMeasure",
    "SystemResult",
    "as_record",
]

LARGEST = 1e100
"""Larger numbers cannot be squared."""


@dataclass(frozen=True)
class ScoredMeasure:
    """A measure as a reader of the record needs it, who may not know it by its name."""

    name: str
    aggregate: str
    """How the queries are put together: mean, sum or geometric."""
    lower_is_better: bool
    bounds: tuple[float, float] | None
    """The least and greatest score of a query; None where they are not known."""
    formula: str = ""

    @staticmethod
    def of(measure: Measure) -> ScoredMeasure:
        about = measure.definition
        return ScoredMeasure(str(measure), about.aggregate, about.lower_is_better, measure.bounds, about.formula)

    @property
    def widest(self) -> tuple[float, float] | None:
        """The least and greatest difference of two scores of a query."""
        return None if self.bounds is None else (self.bounds[0] - self.bounds[1], self.bounds[1] - self.bounds[0])


@dataclass(frozen=True)
class Mean:
    """The measure's aggregate over the queries that count."""

    value: float
    interval: Interval | None
    queries: int


@dataclass(frozen=True)
class SystemResult:
    """One system's scores."""

    name: str
    means: dict[str, Mean]
    per_query: dict[str, list[float]] = field(default_factory=dict)
    """By measure, in the order of the record's queries."""
    counted: dict[str, list[bool]] = field(default_factory=dict)
    """Which of them enter the mean; a measure of which all do is not named."""
    coverage: Coverage | None = None
    """None for scores from elsewhere."""
    notes: list[Note] = field(default_factory=list)
    calls: Calls | None = None
    """None where the lists came from a file."""

    def scores(self, measure: str, queries: list[str]) -> dict[str, float]:
        """The scores that count, by query."""
        values = self.per_query[measure]
        counted = self.counted.get(measure)
        return {q: values[i] for i, q in enumerate(queries) if counted is None or counted[i]}


@dataclass(frozen=True)
class InputFile:
    """A file that the result was made from."""

    path: str
    sha256: str


@dataclass(frozen=True)
class Provenance:
    """What made the record, and of what."""

    inputs: dict[str, InputFile] = field(default_factory=dict)
    """By role: `judgments`, `run:NAME`, `corpus`, `collapse_chunks`, `plan`."""
    python: str = ""
    platform: str = ""
    git: str | None = None
    """The commit of the working folder."""


@dataclass(frozen=True)
class ListedDocument:
    """One document of a list that is shown."""

    doc: str
    score: float
    grade: float | None
    """None where nobody judged the document."""


@named_arguments
@dataclass(frozen=True)
class Record(Result):
    """The one result document. `Record.load(path)` reads it, `save(path)` writes it."""

    kind: Literal["evaluation", "comparison"]
    created: str
    """The time in ISO 8601."""
    rankgauge: str
    """The version that made it."""
    preset: str | None
    """The preset of the contract."""
    contract: Contract | None
    """None for scores from elsewhere."""
    measures: list[ScoredMeasure]
    queries: list[str]
    """Empty where the scores of single queries are not kept."""
    systems: list[SystemResult]
    provenance: Provenance
    tags: dict[str, list[str]] = field(default_factory=dict)
    """By query."""
    texts: dict[str, str] = field(default_factory=dict)
    """Of the queries, cut to a few lines."""
    lists: dict[str, dict[str, list[ListedDocument]]] = field(default_factory=dict)
    """The first documents of the queries that changed most, by query and system."""
    comparison: ComparisonResult | None = None
    sweeps: list[SweepResult] = field(default_factory=list)
    invalid: dict[str, Note] = field(default_factory=dict)
    """Systems that could not be evaluated, with the reason."""

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Record:
        """A record from a file, or a `FormatError` that names what is wrong with it."""
        source = Source(path)
        return Record.from_dict(read_json(source), source.name)

    @staticmethod
    def from_dict(value: Any, name: str = "the record") -> Record:
        """A record from what JSON holds of it, without contradictions; `name` stands in messages."""
        name_parts()
        record = decode(value, Record, name)
        faults = list(_contradictions(record))
        if faults:
            raise FormatError(name, [f"{fault}: the record is damaged" for fault in faults])
        return record

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return encode(self)

    def to_json(self) -> str:
        return dumps(self.to_dict()).decode()

    def measure(self, name: str) -> ScoredMeasure:
        """What the record says of a measure, spelled as the record does."""
        return next(measure for measure in self.measures if measure.name == name)

    def measure_name(self, name: str, what: str = "the record") -> str:
        """The name under which the record holds a measure that may be spelled in any way."""
        known = [measure.name for measure in self.measures]
        found = find_measure_name(name, known, self.preset)
        if found is None:
            raise DataError(f"{what} has no measure {name!r}; it has: {', '.join(known)}")
        return found

    def system(self, name: str | None, what: str = "the record") -> SystemResult:
        """A system by its name, or the only one."""
        names = [system.name for system in self.systems]
        if name is None:
            if len(names) == 1:
                return self.systems[0]
            raise DataError(f"{what} has the systems {', '.join(names)}; choose one with `system=`")
        found = next((system for system in self.systems if system.name == name), None)
        if found is None:
            raise DataError(f"{what} has no system {name!r}; it has: {', '.join(names)}")
        return found

    @property
    def queries_by_tag(self) -> Mapping[str, list[str]]:
        """Query ids by tag; empty where the test set had no tags."""
        by_tag: dict[str, list[str]] = {}
        for query, tags in self.tags.items():
            for tag in tags:
                by_tag.setdefault(tag, []).append(query)
        return by_tag

    @property
    def created_at(self) -> datetime.datetime:
        """The time as a moment; without a zone it is taken as UTC."""
        return in_utc(datetime.datetime.fromisoformat(self.created))


def as_record(given: Any, argument: str = "record", others: str = "") -> Record:
    """The record that a caller means: itself, that of a result, or that of a file; `others` is what else the caller's
    argument may be."""
    if isinstance(given, str | os.PathLike):
        return Record.load(given)
    found = given if isinstance(given, Record) else getattr(given, "record", None)
    if isinstance(found, Record):
        return found
    raise DataError(
        f"`{argument}` must be a record, a result that has one,{others} or the path of a record's file, not a "
        f"{type(given).__name__}"
    )


def name_parts() -> None:
    """Load the types of the parts that an evaluation lacks.

    msgspec looks them up by their names in this module; evaluating starts faster without them.
    """
    from rankgauge.record.comparison import ComparisonResult
    from rankgauge.record.sweep import SweepResult

    globals().update(ComparisonResult=ComparisonResult, SweepResult=SweepResult)


def _contradictions(record: Record) -> Iterator[str]:
    """What the types cannot see: a time that is none, lists of other lengths, a mean that is not its scores'."""
    try:
        datetime.datetime.fromisoformat(record.created)
    except ValueError:
        yield f"'created' is {record.created!r}, which is no time such as 2026-01-31T12:00:00+00:00"
    if not record.systems:
        yield "there is no system"
    if record.kind == "comparison" and record.comparison is None:
        yield "there is no comparison"
    query, times = next(iter(Counter(record.queries).most_common(1)), ("", 0))
    if times > 1:
        yield f"query {query!r} stands twice"
    names = [system.name for system in record.systems]
    if len(set(names)) < len(names):
        yield "two systems have the same name"
    for about in record.measures:
        if about.bounds is not None and not about.bounds[0] < about.bounds[1]:
            yield f"measure {about.name!r}: its bounds are {list(about.bounds)}"
    for system in record.systems:
        for about in record.measures:
            place = f"system {system.name!r}, {about.name}"
            told, values = system.means.get(about.name), system.per_query.get(about.name)
            counted = system.counted.get(about.name)
            n = len(record.queries)
            if told is None or not abs(told.value) < LARGEST:
                yield f"{place}: no mean"
            elif n and (values is None or len(values) != n):
                yield f"{place}: not {n} scores"
            elif n and counted is not None and len(counted) != n:
                yield f"{place}: not told which queries count"
            elif (outside := _outside(told.value, values, about)) is not None:
                low, high = about.bounds or (0, 0)
                yield f"{place}: {outside:.6g} lies outside its range, {low:g} to {high:g}"
            elif values and about.aggregate in AGGREGATES:
                yield from _unlike_its_scores(place, told.value, values, counted, about.aggregate)


def _outside(told: float, values: list[float] | None, about: ScoredMeasure) -> float | None:
    """A score, or a mean without scores, that the measure cannot have."""
    if about.bounds is None:
        return None
    low, high = about.bounds
    slack = 1e-9 * max(1.0, abs(low), abs(high))
    looked_at = values or ([told] if about.aggregate == "mean" else [])
    return next((value for value in looked_at if not low - slack <= value <= high + slack), None)


def _unlike_its_scores(
    place: str, told: float, values: list[float], counted: list[bool] | None, how: str
) -> Iterator[str]:
    kept = np.array(values, dtype=np.float64)
    kept = kept if counted is None else kept[np.array(counted, dtype=bool)]
    if not (np.abs(kept) < LARGEST).all():
        yield f"{place}: a score is no number"
    elif len(kept) and not math.isclose(found := aggregate(how, kept), told, rel_tol=1e-9, abs_tol=1e-12):
        what = {"geometric": "geometric mean"}.get(how, how)
        yield f"{place}: the {what} is {told:.6g}, its scores' {found:.6g}"
