"""ScoreTable: one number for each query and measure, and what a careful reader must know beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["AtOverlap", "Coverage", "Grades", "Lengths", "Passages", "ScoreTable"]


@dataclass(frozen=True)
class Lengths:
    """How long the lists are that hold anything."""

    lists: int
    longest: int
    at_longest: int
    """Lists of that length."""
    incomplete: int
    """Lists of that length which lack a document with a grade above 0."""


@dataclass(frozen=True)
class Grades:
    """The grades above 0 of all judged documents."""

    lowest: float
    highest: float
    distinct: int
    """How many different ones there are; only counted up to 5."""


@dataclass(frozen=True)
class AtOverlap:
    """The means at another share of a passage that a chunk must hold to be relevant."""

    overlap: float
    in_no_chunk: int
    means: dict[str, float]


@dataclass(frozen=True)
class Passages:
    """How labels that are passages were resolved into judgments of chunks."""

    labels: int
    """Passages, and documents where a query names no passage."""
    spans: int
    by_text: int
    """Passages that were found by their words, since they or the chunks have no place."""
    in_no_chunk: int
    """Labels that no chunk is relevant to: they count as not found, whatever is retrieved."""
    split: int
    """Passages that no single chunk holds whole."""
    unknown: int = 0
    """Retrieved ids that are not among the chunks."""
    misread: int = 0
    """Passages that read otherwise in a chunk which, by its place, holds all of them."""
    compared: int = 0
    """Passages whose texts could be compared so."""
    overlaps: list[AtOverlap] = field(default_factory=list)
    """The means at other thresholds."""


@dataclass(frozen=True)
class Coverage:
    """Counts behind a result: which queries counted, and how far the judgments reach."""

    judged_queries: int
    run_queries: int
    missing: int
    """Judged queries that the run lacks."""
    no_relevant: int
    """Judged queries without a relevant document (grade of at least 1, or the threshold that was set)."""
    not_judged: int
    """Queries of the run without judgments; they are left out."""
    tied_documents: int
    """Judged documents that share their score with another retrieved document."""
    tied_queries: int
    judged_at: dict[int, float] = field(default_factory=dict)
    """Judged@k over the queries that returned something; empty where the test set lists only relevant documents."""
    only_relevant: bool = False
    """Whether no document is judged non-relevant."""
    id_mismatch: tuple[str, str] | None = None
    """Where no judged document was retrieved at all: a document of the run and a judged one."""
    lengths: Lengths | None = None
    """None where every list is empty."""
    grades: Grades | None = None
    """None where no grade is above 0."""
    collection: int | None = None
    """How many documents there are, where the corpus was given."""
    ceilings: dict[str, float] = field(default_factory=dict)
    """The greatest mean that any lists could have, of measures whose cutoff keeps it below 1."""
    no_answer: int = 0
    """Queries marked as having no answer. They count neither as missing nor as without relevant documents."""
    ungrouped: bool = False
    """Whether a measure of groups of evidence was asked for, and the judgments have no groups."""
    passages: Passages | None = None
    """Where labels are passages, or chunks of documents were given."""


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable:
    """Scores of one run. Columns follow `measures`, rows follow `queries`."""

    name: str
    queries: Sequence[str]
    measures: Sequence[str]
    values: Floats
    """Queries by measures."""
    counted: Bools
    """Which values enter the aggregate, queries by measures."""
    aggregates: Floats
    in_run: Bools
    retrieved: Ints
    contract: Contract
    coverage: Coverage
    sampled: Mapping[str, int] = field(default_factory=dict)
    """Measures whose expectation over tied orders is not exact, and for how many queries orders were drawn."""
    top: Floats | None = None
    """The score of each query's first document, NaN where there is none."""
    scored: bool = True
    """Whether these scores tell more than how long the lists are; lists of ids have made-up ones."""
    no_answer: Bools | None = None
    """Which queries have no answer; None where none has."""
    answerable: Bools | None = None
    """Which of the others count for measures of both kinds; None where every query has an answer."""
