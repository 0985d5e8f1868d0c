"""One look of a monitor: the retrievers are asked and scored, and what was found is put down before anything else.

An `Observation` is written to a file as soon as it is complete. The history takes it in from there, once: should the
database be away, or the process die, the next start finds the file.
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats import Source, load_testset
from rankgauge.formats.sources import write_whole
from rankgauge.model.testset import TestSet
from rankgauge.monitoring.drift import Gold, gold_of
from rankgauge.monitoring.incidents import storable
from rankgauge.monitoring.masking import masked, masked_record
from rankgauge.monitoring.plan import MonitorPlan
from rankgauge.plans.running import Progress, corpus_of, evaluate_systems, plan_record
from rankgauge.plans.systems import load_object

__all__ = ["Observation", "Waiting", "new_token", "observe", "pending", "put_down"]

_VERSION = 1


@dataclass(frozen=True)
class Observation:
    """All that a look found, as JSON can hold it."""

    monitor: str
    token: str
    """Names the look: what has been taken in under it is not taken in again."""
    started: str
    finished: str
    systems: list[str]
    record: dict[str, Any] | None
    """None where no system gave a score."""
    invalid: dict[str, str] = field(default_factory=dict)
    """Systems without a score, with the reason."""
    gold: Gold | None = None
    """Hashes of the gold documents; None where nothing can be said of them."""
    judged: str | None = None
    """Hash of the test set that the gold documents are of."""
    since: int = 0
    """Of a stream: how many of its queries were done with before this look."""
    taken: int = 0
    """Of a stream: how many of its queries are done with, this look's included."""

    def __post_init__(self) -> None:
        """What a damaged file could have wrong, so that it is found before anything is stored."""
        texts = (self.monitor, self.token, self.started, self.finished, *self.systems, *self.invalid.values())
        tables = (self.invalid, {} if self.record is None else self.record, {} if self.gold is None else self.gold)
        if not all(isinstance(text, str) for text in texts) or not all(isinstance(table, dict) for table in tables):
            raise TypeError("this is no observation")
        datetime.datetime.fromisoformat(self.started)
        datetime.datetime.fromisoformat(self.finished)


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
    """Ask and score all systems. A system that cannot be scored is named with its reason, never given a score."""
    started = now()
    names = [system.name for system in plan.run.systems]
    record, gold, judged, done = None, None, None, taken
    try:
        test_set = load_testset(plan.run.test_set)
        judged = Source(plan.run.test_set).sha256()
        corpus = corpus_of(plan.run)
        if plan.watching.stream:
            test_set = _new_ones(test_set, taken, plan.run.test_set.name)
        gold = _gold(plan, test_set, corpus)
        found, invalid = evaluate_systems(plan.run, test_set, corpus, progress=progress) if len(test_set) else ([], {})
        if found:  # queries that no system could be asked are new to the next look still
            done = taken + len(test_set) if plan.watching.stream else len(test_set)
            record = masked_record(plan_record(plan.run, test_set, found, invalid, compared=False))
    except RankgaugeError as error:  # a test set or corpus that cannot be read: nothing can be said of any system
        record, gold, done = None, None, taken
        invalid = {name: f"{name}: {error}" for name in names}
    reasons = {name: masked(storable(reason)) for name, reason in invalid.items()}
    moments = started.isoformat(), now().isoformat()
    return Observation(plan.name, token, *moments, names, record, reasons, gold, judged, taken, done)


def _new_ones(test_set: TestSet, taken: int, name: str) -> TestSet:
    """The queries of a stream that were added since the last look."""
    if len(test_set) < taken:
        raise DataError(
            f"{name}: it had {taken} queries and has {len(test_set)} now; a stream is only added to: put them back, or "
            "name another monitor"
        )
    return TestSet(test_set[taken:], name=test_set.name)


def _gold(plan: MonitorPlan, test_set: TestSet, corpus: Mapping[str, str] | None) -> Gold | None:
    if plan.documents is None:
        return None if corpus is None else gold_of(test_set, corpus)
    fetch = load_object(plan.documents, plan.run.folder)
    wanted = list(dict.fromkeys(doc for docs in gold_of(test_set, {}).values() for doc in docs))
    try:
        texts = fetch(wanted)
    except Exception as error:  # whatever the user's function does
        raise DataError(f"{plan.documents} failed: {type(error).__name__}: {error}") from None
    if not isinstance(texts, Mapping):
        raise DataError(f"{plan.documents} must give a mapping from id to text, not a {type(texts).__name__}")
    wrong = next((doc for doc in wanted if not isinstance(texts.get(doc), str | None)), None)
    if wrong is not None:
        raise DataError(f"{plan.documents} must give texts; that of {wrong!r} is a {type(texts[wrong]).__name__}")
    return gold_of(test_set, texts)


def put_down(observation: Observation, folder: Path) -> Path:
    """Write the observation to a file of its own, whole or not at all. Files are numbered: clocks can be set back."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = [int(path.name[:6]) for path in folder.glob("*.json") if path.name[:6].isdecimal()]
    path = folder / f"{max(numbers, default=0) + 1:06}-{observation.token}.json"
    content = {"version": _VERSION, **vars(observation)}
    write_whole(path, json.dumps(content, ensure_ascii=False).encode("utf-8", errors="surrogatepass"))
    return path


@dataclass(frozen=True)
class Waiting:
    """Observations that wait to be taken in, oldest first, and files that cannot be."""

    looks: list[tuple[Path, Observation]] = field(default_factory=list)
    damaged: list[Path] = field(default_factory=list)
    """Set aside under this name: they cannot be read."""
    later: list[Path] = field(default_factory=list)
    """Left where they are: a later release wrote them."""


def pending(folder: Path, monitor: str) -> Waiting:
    """What waits for a monitor."""
    found = Waiting()
    names = {entry.name for entry in fields(Observation)}
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            content = json.loads(path.read_bytes().decode("utf-8", errors="surrogatepass"))
            if content.pop("version") > _VERSION:
                found.later.extend([path] if content.get("monitor") == monitor else [])
                continue
            observation = Observation(**{key: value for key, value in content.items() if key in names})
        except (AttributeError, KeyError, TypeError, ValueError):
            found.damaged.append(path.rename(path.with_suffix(".damaged")))
            continue
        if observation.monitor == monitor:
            found.looks.append((path, observation))
    return found
