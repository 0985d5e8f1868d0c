"""What a record is made of: measures, systems with their scores, and where it all came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rankgauge.measures import Measure
from rankgauge.model.scores import Coverage
from rankgauge.record.calls import Calls
from rankgauge.stats.intervals import Interval
from rankgauge.words import Note

if TYPE_CHECKING:  # `name_parts` loads them where a record is read
    from rankgauge.record.labels import LabelledTestSet
    from rankgauge.record.no_answer import NoAnswer
    from rankgauge.record.traces import TraceUse

__all__ = ["InputFile", "ListedDocument", "Mean", "Provenance", "ScoredMeasure", "SystemResult"]


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
    no_answer: NoAnswer | None = None
    """None where every query has an answer."""
    traces: TraceUse | None = None
    """What the calls of its traces brought and took; None for one list for each query."""

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
    test_set: LabelledTestSet | None = None
    """Whose labels the judgments are; None where they came as grades."""


@dataclass(frozen=True)
class ListedDocument:
    """One document of a list that is shown."""

    doc: str
    score: float
    grade: float | None
    """None where nobody judged the document."""


@dataclass(frozen=True)
class RelevantDocuments:
    """The relevant documents of a query."""

    count: int
    grades: dict[str, float]
    """By document, the best first; of many only the first are kept."""
