"""The record: what an evaluation, a comparison or a plan found, in numbers, keys and parameters, never in sentences."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.errors import DataError
from rankgauge.measures import Measure, find_measure_name
from rankgauge.model.contract import Contract
from rankgauge.model.scores import Coverage
from rankgauge.record.calls import Calls
from rankgauge.record.comparison import ComparisonResult
from rankgauge.record.sweep import SweepResult
from rankgauge.stats.intervals import Interval
from rankgauge.words import Note

__all__ = ["InputFile", "ListedDocument", "Mean", "Provenance", "Record", "ScoredMeasure", "SystemResult"]


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


@dataclass(frozen=True)
class Record:
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
        from rankgauge.record.codec import load_record

        return load_record(path)

    @staticmethod
    def from_dict(value: Any, name: str = "the record") -> Record:
        """A record from what JSON holds of it; `name` stands in messages."""
        from rankgauge.record.codec import decode

        return decode(value, name)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, whole or not at all."""
        from rankgauge.formats.sources import write_whole

        write_whole(path, self.to_json().encode())

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        from rankgauge.record.codec import encode

        return encode(self)

    def to_json(self) -> str:
        from rankgauge.formats.json_values import dumps

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
