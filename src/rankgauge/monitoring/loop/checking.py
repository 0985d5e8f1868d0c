"""A plan checked before it is used: what it says, and whether what it names is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.gating.baseline import is_file_name
from rankgauge.history.baselines import scored_baseline
from rankgauge.history.connecting import look_at_file
from rankgauge.history.location import resolve
from rankgauge.history.store import History
from rankgauge.monitoring.loop.plan import Draft, MonitorPlan, read_monitor_plan
from rankgauge.monitoring.loop.reference import load_reference
from rankgauge.plans.systems import load_object

__all__ = ["check_monitor_plan"]


def check_monitor_plan(path: str | Path, *, history: str | None = None) -> MonitorPlan:
    """The plan, checked together with the place of its history, the baseline in it, and the function that `documents`
    names. Nothing is begun or asked for that; all faults are in one `FormatError`."""
    draft = read_monitor_plan(path, history=history)
    return draft.result([*_place(draft), *_documents(draft), *_baseline(draft)])


def _place(draft: Draft) -> Iterator[str]:
    """Whether the history can lie where it is to lie."""
    if not draft.sound("history"):
        return
    try:
        place = resolve(draft.history)
        made = draft.path.parent / ".rankgauge"  # with the first check
        if place.path is not None and (place.path.parent != made or made.is_dir()):
            look_at_file(place, create=True)
    except RankgaugeError as error:
        yield f"monitor.history: {_said(error)}"


def _documents(draft: Draft) -> Iterator[str]:
    named = draft.table.documents
    if named is None or not draft.sound("documents"):
        return
    try:
        if not callable(load_object(named, draft.path.parent)):
            yield f"monitor.documents: {named} is no function"
    except RankgaugeError as error:
        yield f"monitor.documents: {error}"


def _baseline(draft: Draft) -> Iterator[str]:
    """Whether the baseline is there, and, where the plan is right otherwise, of this test set."""
    named, folder = draft.table.baseline, draft.path.parent
    if named is None or draft.table.kind == "stream" or not draft.sound("baseline"):
        return
    in_file = is_file_name(named) or (folder / named).is_file()
    if not in_file and (not draft.sound("history") or any(_place(draft))):
        return  # the place of the history is the fault
    try:
        with History.open(":memory:" if in_file else draft.history, create=in_file) as history:
            if draft.plan is not None:
                load_reference(history, draft.plan)
            else:
                scored_baseline(history, named, folder)
    except RankgaugeError as error:
        yield f"monitor.baseline: {_said(error).removeprefix('monitor.baseline: ')}"


def _said(error: RankgaugeError) -> str:
    """The error in one line; of a file with faults, the file and its faults."""
    if isinstance(error, FormatError):
        return f"{error.path}: {'; '.join(str(fault) for fault in error.faults)}"
    return str(error)
