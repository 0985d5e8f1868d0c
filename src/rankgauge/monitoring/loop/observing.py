"""One check of a monitor: the retrievers are called and scored."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats.secrets import masked_value
from rankgauge.model.testset import TestSet
from rankgauge.monitoring.detection.drift import Gold, gold_of
from rankgauge.monitoring.loop.plan import MonitorPlan
from rankgauge.plans.running import Progress, evaluate_systems, plan_record, read_inputs
from rankgauge.plans.systems import load_object
from rankgauge.record import Record
from rankgauge.words import Note

__all__ = ["Observation", "new_token", "observe"]

Moment = Annotated[datetime.datetime, Meta(tz=True)]


@dataclass(frozen=True)
class Observation:
    """All that a check found."""

    monitor: str
    token: str
    """Names the check: what has been ingested under it is not ingested again."""
    started: Moment
    finished: Moment
    systems: list[str]
    record: Record | None
    """None where no system gave a score."""
    invalid: dict[str, Note] = field(default_factory=dict)
    """Systems without a score, with the reason."""
    gold: Gold | None = None
    """Hashes of the gold documents; None where nothing can be said of them."""
    judged: str | None = None
    """Hash of the test set that the gold documents are of."""
    since: int = 0
    """Of a stream: how many of its queries were done with before this check."""
    taken: int = 0
    """Of a stream: how many of its queries are done with, this check's included."""


def new_token() -> str:
    return uuid.uuid4().hex


def observe(
    plan: MonitorPlan,
    token: str,
    now: Callable[[], datetime.datetime],
    *,
    taken: int = 0,
    progress: Progress | None = None,
) -> Observation:
    """Call and score all systems. A system that cannot be scored is named with its reason, never given a score."""
    started = now()
    names = [system.name for system in plan.run.systems]
    record, gold, judged, done = None, None, None, taken
    try:
        inputs = read_inputs(plan.run)
        test_set, corpus = inputs.test_set, inputs.corpus
        judged = inputs.files["judgments"].sha256 if "judgments" in inputs.files else None  # of a folder
        if plan.watching.stream:
            test_set = _new_ones(test_set, taken, plan.run.test_set.name)
        gold = _gold(plan, test_set, corpus)
        found, invalid = evaluate_systems(plan.run, test_set, corpus, progress=progress) if len(test_set) else ([], {})
        if found:  # queries that no system could be asked are new to the next check still
            done = taken + len(test_set) if plan.watching.stream else len(test_set)
            record = plan_record(plan.run, inputs, found, invalid, compared=False, asked=test_set)
    except RankgaugeError as error:  # a test set or corpus that cannot be read: nothing can be said of any system
        record, gold, done = None, None, taken
        invalid = {name: Note("monitor.unreadable", {"error": str(error)}) for name in names}
    invalid = masked_value(invalid)
    return Observation(plan.name, token, started, now(), names, record, invalid, gold, judged, taken, done)


def _new_ones(test_set: TestSet, taken: int, name: str) -> TestSet:
    """The queries of a stream that were added since the last check."""
    if len(test_set) < taken:
        raise DataError(
            f"{name}: it had {taken} queries and has {len(test_set)} now; a stream is only added to: put them back, or "
            "name another monitor"
        )
    return test_set.with_queries(test_set[taken:])


def _gold(plan: MonitorPlan, test_set: TestSet, corpus: Mapping[str, str] | None) -> Gold | None:
    if plan.documents is None:
        return None if corpus is None else gold_of(test_set, corpus)
    fetch = load_object(plan.documents, plan.run.folder)
    wanted = list(dict.fromkeys(doc for docs in gold_of(test_set, {}).values() for doc in docs))
    try:
        texts = fetch(wanted)
    except (Exception, SystemExit) as error:  # whatever the user's function does
        raise DataError(f"{plan.documents} failed: {type(error).__name__}: {error}") from None
    if not isinstance(texts, Mapping):
        raise DataError(f"{plan.documents} must give a mapping from id to text, not a {type(texts).__name__}")
    wrong = next((doc for doc in wanted if not isinstance(texts.get(doc), str | None)), None)
    if wrong is not None:
        raise DataError(f"{plan.documents} must give texts; that of {wrong!r} is a {type(texts[wrong]).__name__}")
    return gold_of(test_set, texts)
