"""ScoreTable: one number for each query and measure, and what a careful reader must know beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Bools, Floats, Ints

__all__ = ["Coverage", "ScoreTable"]


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
    strangers: tuple[str, str] | None = None
    """Where no judged document was retrieved at all: a document of the run and a judged one."""


@dataclass(frozen=True)
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
