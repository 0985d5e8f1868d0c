"""What the history keeps of monitors: checks, incidents and the deliveries of their alerts, as typed rows."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from rankgauge.model.series import SeriesKey
from rankgauge.words import Note

__all__ = [
    "KINDS",
    "Check",
    "Delivery",
    "Finding",
    "Incident",
    "OpenIncident",
    "State",
    "Status",
    "storable",
]

Moment = datetime.datetime
Status = Literal["running", "done", "invalid", "abandoned"]
State = Literal["waiting", "sending", "absent", "delivered", "given_up"]
KINDS = ("quality", "slice", "latency", "errors", "threshold", "down", "drift", "start", "forgotten")
"""Of incidents."""


@dataclass(frozen=True)
class Check:
    """One check of a monitor."""

    id: int
    monitor: str
    number: int
    token: str
    """Names the check: what was ingested under it is not ingested again."""
    started: Moment
    finished: Moment | None
    status: Status
    record_id: int | None
    """None where no system gave a score, or the record was pruned."""
    detail: Mapping[str, Any]
    """`invalid`: systems without a score, with the reason as a note; `drift`: gold documents that changed."""


@dataclass(frozen=True)
class Finding:
    """What is known of an incident, as far as it applies to its kind."""

    before: float | None = None
    now: float | None = None
    """Where it was noticed."""
    worst: float | None = None
    """Where it went since, if that is farther."""
    limit: float | None = None
    exact: bool = False
    """Whether the retriever had repeated itself exactly until then."""
    checks: int | None = None
    """From its beginning until it was noticed."""
    tags: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Before and now of the tags that fell, where others did not."""
    series: list[SeriesKey] = field(default_factory=list)
    """All that stood in alarm with it."""
    reason: Note | None = None
    """Why no score could be taken."""
    gone: int = 0
    changed: int = 0
    documents: list[str] = field(default_factory=list)
    """The first of the gold documents that are gone or changed."""
    queries: list[str] = field(default_factory=list)
    """The first of their queries."""


@dataclass(frozen=True)
class Incident:
    """Something that was found: opened once, and closed when it is over or when nothing watches over it any more."""

    id: int
    monitor: str
    kind: str
    """One of `KINDS`."""
    system: str | None
    """None for what is not of one system; so the other two."""
    measure: str | None
    tag: str | None
    opened_check: int
    opened_at: Moment
    began_check: int | None
    began_at: Moment | None
    closed_check: int | None
    closed_at: Moment | None
    finding: Finding


@dataclass(frozen=True)
class OpenIncident:
    """What names an open incident outside of its history."""

    id: int
    opened_at: Moment
    title: Note


@dataclass(frozen=True)
class Delivery:
    """An alert's message on its way to one channel."""

    id: int
    incident_id: int
    event: str
    """opened or recovered."""
    channel: str
    title: Note
    body: list[Note]
    created: Moment
    attempts: int
    state: State
    """waiting; sending (how that ended is not known); absent (its channel is not in the plan); delivered; given_up."""
    next_try: Moment | None
    delivered: Moment | None
    error: str | None
    """Why the last try failed."""


def storable(text: str) -> str:
    """The text without what a database cannot hold: lone surrogates, and NUL."""
    return text.encode("utf-8", errors="replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
