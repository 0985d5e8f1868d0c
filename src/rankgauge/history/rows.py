"""What the store gives back: records without their documents, means, points of a trend, baselines."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Mean", "Point", "Pruned", "Settings", "Stored", "StoredBaseline"]


@dataclass(frozen=True)
class Stored:
    """A record in the history, without its document."""

    id: int
    uid: str
    created: datetime.datetime
    stored: datetime.datetime
    kind: str
    label: str | None
    test_set: str | None
    corpus: str | None
    contract: str | None
    git: str | None
    rankgauge: str
    queries: int
    new: bool = False
    """Whether `add` has just stored it; a record that was there already is not stored again."""
    labelled: bool = False
    """Whether `add` has just given its label to a record that was there without one."""


@dataclass(frozen=True)
class Mean:
    """One system's mean of one measure, with its interval where it has one."""

    record_id: int
    system: str
    measure: str
    value: float
    low: float | None
    high: float | None
    queries: int


@dataclass(frozen=True)
class Point(Mean):
    """A mean at the time its record was made, with what tells whether its neighbours are the same quantity."""

    uid: str
    created: datetime.datetime
    label: str | None
    test_set: str | None
    contract: str | None
    git: str | None


@dataclass(frozen=True)
class Pruned:
    """What was removed, or would be; and what stays although it was asked for, since a baseline needs it."""

    gone: Sequence[Stored]
    held: Sequence[Stored]
    freed: int | None = None
    """Bytes that the disk got back; None where nobody looked, because there was room."""


@dataclass(frozen=True)
class Settings:
    """Those columns of a version of a baseline that are kept as JSON: see `StoredBaseline`."""

    targets: tuple[str, ...] = ()
    looser: tuple[str, ...] = ()
    used: dict[str, Any] | None = None
    forced: str | None = None


@dataclass(frozen=True)
class StoredBaseline:
    """One version of a baseline."""

    name: str
    version: int
    action: str
    """`set` or `promote`."""
    record_id: int
    uid: str
    system: str
    created: datetime.datetime
    """When the record was measured."""
    set_at: datetime.datetime
    note: str | None
    max_loss: float | None
    targets: tuple[str, ...]
    forced: str | None
    """What the gate had said where it was overridden."""
    anchor_id: int
    used: Mapping[str, Any] | None = None
    """The rules that a promotion was held to; None for what was set."""
    looser: tuple[str, ...] = ()
    """What of them was looser than the baseline's own."""
