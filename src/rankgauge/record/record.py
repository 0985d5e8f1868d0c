"""The record: what an evaluation, a comparison or a plan found, in numbers, keys and parameters, never in sentences."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, FormatError, counted
from rankgauge.formats.durations import in_utc
from rankgauge.formats.json_values import dumps, read_record
from rankgauge.formats.limits import RECORDS
from rankgauge.formats.secrets import masked_value
from rankgauge.formats.sources import Source
from rankgauge.measures import find_measure_name
from rankgauge.model.contract import Contract
from rankgauge.record.codec import decode, encode
from rankgauge.record.contradictions import contradictions, faulty_parts, uneven_losses
from rankgauge.record.frames import bounds_of, queries_frame
from rankgauge.record.parts import ListedDocument, Provenance, RelevantDocuments, ScoredMeasure, SystemResult
from rankgauge.record.result import Result
from rankgauge.visible import visible
from rankgauge.words import Note

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.record.comparison import ComparisonResult
    from rankgauge.record.losses import LossesResult
    from rankgauge.record.sweep import SweepResult

__all__ = ["Record", "as_record", "name_parts"]


@named_arguments
@dataclass(frozen=True, repr=False)
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
    """The first documents of every list, by query and system; of many queries those that changed most."""
    relevant: dict[str, RelevantDocuments] = field(default_factory=dict)
    """Of the queries whose lists are kept."""
    documents: dict[str, str] = field(default_factory=dict)
    """The beginning of each document that is listed or relevant, where a corpus was given: its title, then its text."""
    comparison: ComparisonResult | None = None
    sweeps: list[SweepResult] = field(default_factory=list)
    invalid: dict[str, Note] = field(default_factory=dict)
    """Systems that could not be evaluated, with the reason."""
    losses: list[LossesResult] = field(default_factory=list)
    """Where systems of several stages lost relevant documents."""
    conversations: dict[str, str] = field(default_factory=dict)
    """By query, of those that are turns of one: conversations are independent of each other, their turns are not."""
    synthetic: dict[str, str] = field(default_factory=dict)
    """By query, of those that no person asked: what made them."""

    def __post_init__(self) -> None:
        """What a retriever said may hold a secret, which no record keeps."""
        object.__setattr__(self, "invalid", masked_value(self.invalid))
        object.__setattr__(self, "sweeps", [sweep.masked() for sweep in self.sweeps])

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Record:
        """A record from a file, or a `FormatError` that names what is wrong with it."""
        source = Source(path, limits=RECORDS)
        return Record.from_dict(read_record(source), source.name)

    @staticmethod
    def from_dict(value: Any, name: str = "the record") -> Record:
        """A record from what JSON holds of it, without contradictions; `name` stands in messages."""
        name_parts()
        record = decode(value, Record, name)
        faults = [*record._contradictions(), *faulty_parts(record)]
        if faults:
            raise FormatError(name, [f"{fault}: the record is damaged" for fault in faults])
        return record

    def _contradictions(self) -> Iterator[str]:
        if self.kind == "comparison" and self.comparison is None:
            yield "there is no comparison"
        rows = [] if self.comparison is None else self.comparison.rows
        yield from contradictions(self.created, self.queries, self.measures, self.systems, rows)
        for found in self.losses:
            yield from uneven_losses(found, len(self.queries))

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return encode(self)

    def to_json(self) -> str:
        return dumps(self.to_dict()).decode()

    def to_frame(self) -> pl.DataFrame:
        """One row for each system and measure: its mean, the confidence interval and the queries that count."""
        import polars as pl

        means = [(system.name, name, mean) for system in self.systems for name, mean in system.means.items()]
        return pl.DataFrame(
            {
                "system": pl.Series([system for system, _, _ in means], dtype=pl.String),
                "measure": pl.Series([name for _, name, _ in means], dtype=pl.String),
                "mean": [mean.value for _, _, mean in means],
                **bounds_of([mean.interval for _, _, mean in means]),
                "queries": [mean.queries for _, _, mean in means],
            }
        )

    @property
    def per_query(self) -> pl.DataFrame:
        """One row for each system and query, one column for each measure, and the query's text where it is known;
        empty where a query does not count."""
        systems = {
            system.name: {
                measure: [value if counted is None or counted[i] else None for i, value in enumerate(values)]
                for measure, values in system.per_query.items()
                for counted in (system.counted.get(measure),)
            }
            for system in self.systems
        }
        return queries_frame(self.queries, systems if self.queries else {}, self.texts)

    def __repr__(self) -> str:
        names = visible(", ".join(system.name for system in self.systems))
        measures = counted(len(self.measures), "measure")
        return f"Record({self.kind} of {names}: {measures}, {counted(len(self.queries), 'query', 'queries')})"

    def measure(self, name: str) -> ScoredMeasure:
        """What the record says of a measure, spelled as the record does."""
        return next(measure for measure in self.measures if measure.name == name)

    def measure_name(self, name: str, what: str = "the record") -> str:
        """The name under which the record holds a measure that may be spelled in any way."""
        known = [measure.name for measure in self.measures]
        passages = self.contract is not None and self.contract.overlap is not None
        found = find_measure_name(name, known, self.preset, passages=passages)
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

    msgspec looks them up by their names in the modules that use them; evaluating starts faster without them.
    """
    from rankgauge.record import parts
    from rankgauge.record.comparison import ComparisonResult
    from rankgauge.record.labels import LabelledTestSet
    from rankgauge.record.losses import LossesResult
    from rankgauge.record.no_answer import NoAnswer
    from rankgauge.record.sweep import SweepResult
    from rankgauge.record.traces import TraceUse

    vars(parts).update(LabelledTestSet=LabelledTestSet, NoAnswer=NoAnswer, TraceUse=TraceUse)
    globals().update(ComparisonResult=ComparisonResult, LossesResult=LossesResult, SweepResult=SweepResult)
