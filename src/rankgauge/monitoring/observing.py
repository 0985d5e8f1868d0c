"""One look of a monitor: the retrievers are asked and scored, and what was found is put down before anything else.

An `Observation` is written to a file as soon as it is complete. The history takes it in from there, once: should the
database be away, or the process die, the next start finds the file.
"""

from __future__ import annotations

import datetime
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.experiments.running import Progress, corpus_of, evaluate_systems, plan_record
from rankgauge.experiments.systems import load_object
from rankgauge.formats import load_testset
from rankgauge.formats.sources import write_whole
from rankgauge.model.testset import TestSet
from rankgauge.monitoring.drift import Gold, gold_of
from rankgauge.monitoring.plan import MonitorPlan

__all__ = ["Observation", "observe", "pending", "put_down"]


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
    taken: int = 0
    """Of a stream: how many of its queries are done with, this look's included."""


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
    try:
        test_set = load_testset(plan.run.test_set)
        corpus = corpus_of(plan.run)
        done = len(test_set)
        if plan.watching.stream:
            if done < taken:
                raise DataError(f"{plan.run.test_set.name}: it had {taken} queries and has {done} now; only add to it")
            test_set = TestSet(test_set[taken:], name=test_set.name)
        gold = _gold(plan, test_set, corpus)
        found, invalid = evaluate_systems(plan.run, test_set, corpus, progress=progress) if len(test_set) else ([], {})
        record = plan_record(plan.run, test_set, found, invalid, compared=False) if found else None
    except RankgaugeError as error:  # a test set or corpus that cannot be read: nothing can be said of any system
        record, gold, done = None, None, taken
        invalid = {name: f"{name}: {error}" for name in names}
    return Observation(
        plan.name, token, started.isoformat(), now().isoformat(), names, record, dict(invalid), gold, done
    )


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
    return gold_of(test_set, texts)


def put_down(observation: Observation, folder: Path) -> Path:
    """Write the observation to a file of its own, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = "".join(c for c in observation.started[:19] if c.isdigit())
    path = folder / f"{stamp}-{observation.token}.json"
    write_whole(path, json.dumps(vars(observation), ensure_ascii=False).encode("utf-8", errors="surrogatepass"))
    return path


def pending(folder: Path, monitor: str) -> list[tuple[Path, Observation]]:
    """Observations of a monitor that wait to be taken in, oldest first. What cannot be read is set aside."""
    found = []
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            observation = Observation(**json.loads(path.read_bytes().decode("utf-8", errors="surrogatepass")))
        except (OSError, ValueError, TypeError):
            path.rename(path.with_suffix(".damaged"))
            continue
        if observation.monitor == monitor:
            found.append((path, observation))
    return found
