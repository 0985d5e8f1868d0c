"""What a monitor is to do: a plan for `rankgauge run` with the tables `[monitor]` and `[[alert]]` in it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.evaluation import make_plan
from rankgauge.formats.plan_reader import Reader
from rankgauge.gate.baseline import is_file_name, load_baseline
from rankgauge.history.location import VARIABLE
from rankgauge.monitoring.channels import Channel, check_alerts
from rankgauge.monitoring.limits import QUANTILES, parse_limit
from rankgauge.monitoring.watching import Limit, Watching
from rankgauge.plans.plan import RunPlan, load_plan
from rankgauge.words import LANGUAGES

__all__ = ["Draft", "MonitorPlan", "load_monitor_plan", "read_monitor_plan", "seconds_of"]

_NUMBER = (int, float)
_KNOWN: dict[str, type | tuple[type, ...]] = {
    "name": str,
    "history": str,
    "every": str,
    "kind": str,
    "baseline": str,
    "documents": str,
    "tolerance": _NUMBER,
    "slices": bool,
    "latency": bool,
    "latency_tolerance": _NUMBER,
    "allowed_errors": _NUMBER,
    "reference": int,
    "false_alarm_every": _NUMBER,
    "thresholds": list,
    "lang": str,
}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SHORTEST, _LONGEST = 0.1, 366 * 86400
_EVERY = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)")
_SECRET = re.compile(r"://[^/@]*:[^/@]+@|password=[^&]")
"""A password that is written out, once what comes from the environment is taken away."""
_LONGEST_NAME = 100
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class MonitorPlan:
    """A plan that has been checked."""

    run: RunPlan
    """Without a cache: each look asks the retrievers anew."""
    name: str
    history: str
    """Path or address of the history."""
    every: float | None
    """Seconds from look to look."""
    watching: Watching
    baseline: str | None
    documents: str | None
    """`module:function` that gives the texts of gold documents, where no corpus file does."""
    channels: list[Channel]
    language: str = "en"
    """Of the alerts."""

    @property
    def pending(self) -> Path:
        """Folder for looks that the history could not take yet."""
        return self.run.folder / ".rankgauge" / "pending"


def seconds_of(text: str) -> float:
    """Seconds of a time such as 30s, 15m, 1h or 1d."""
    found = _EVERY.fullmatch(text.strip())
    seconds = 0.0 if found is None else float(found[1]) * _UNITS[found[2]]
    if not _SHORTEST <= seconds <= _LONGEST:
        raise DataError(f"{text[:40]!r} is no time between looks; write 30s, 15m, 1h or 1d, from 0.1s to 366d")
    return seconds


@dataclass(frozen=True)
class Draft:
    """A plan as it was read, right or wrong."""

    path: Path
    plan: MonitorPlan | None
    """None where there are faults."""
    faults: list[str]
    history: str | None
    """None where the plan does not say it as it should; so the other two."""
    baseline: str | None
    documents: str | None

    def result(self, more: Sequence[str] = ()) -> MonitorPlan:
        """The plan, or all faults in one `FormatError`."""
        faults = [*self.faults, *more]
        if faults or self.plan is None:
            hint = "rankgauge monitor --check looks again without asking anything"
            raise FormatError(str(self.path), faults, hint=hint)
        return self.plan


def load_monitor_plan(path: str | Path, *, history: str | None = None) -> MonitorPlan:
    """Read and check a plan with its `[monitor]` and `[[alert]]` tables. All faults are in one `FormatError`."""
    return read_monitor_plan(path, history=history).result()


def read_monitor_plan(path: str | Path, *, history: str | None = None) -> Draft:
    """Read a plan, and find what is wrong with it."""
    faults: list[str] = []
    run: RunPlan | None = None
    try:
        run = load_plan(path)
    except FormatError as error:
        if error.total > len(error.faults) or not Path(path).is_file():
            raise
        faults = [str(fault) for fault in error.faults]
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except tomllib.TOMLDecodeError:
        raise FormatError(str(path), faults) from None
    read = Reader()
    if "monitor" not in content:
        read.fault("monitor", 'missing; begin with [monitor] and every = "1h"')
    found = read.table(_shown(content), "monitor", _KNOWN)
    watching = _watching(read, found)
    every = _every(read, found)
    place = _history(read, found, Path(path).parent, history)
    channels, wrong = check_alerts(content.get("alert", [{"url": "console"}]))
    documents = found.get("documents")
    if documents is not None and ":" not in documents:
        read.fault("monitor.documents", f"must be module:function, not {documents!r}")
    name = found.get("name", Path(path).stem)
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        read.fault("monitor.name", f"{name[:120]!r} is no name for a monitor; write a short one on one line")
    baseline = _baseline(read, found, Path(path).parent)
    language = found.get("lang", "en")
    if language not in LANGUAGES:
        read.fault("monitor.lang", f"must be one of {', '.join(LANGUAGES)}, not {language!r}")
    faults += [*read.faults, *wrong]
    if run is not None:
        measures = make_plan(run.measures, run.contract).measures
        unknown = {limit.figure for limit in watching.limits} - {*map(str, measures), *QUANTILES}
        sums = [str(measure) for measure in measures if measure.definition.aggregate != "mean"]
        if watching.stream and sums:
            faults.append(f"measures: a stream is watched score by score, so only means can be, not {', '.join(sums)}")
        faults += [f"monitor.thresholds: {figure} is not among the plan's measures" for figure in sorted(unknown)]
    plan = None
    if run is not None and not faults:
        plain = replace(run, calls=replace(run.calls, cache=None), sweep=None)
        plan = MonitorPlan(plain, name, place, every, watching, baseline, documents, channels, language)
    sound = {key for key in ("history", "baseline", "documents") if not any(f"monitor.{key}: " in f for f in faults)}
    return Draft(
        Path(path),
        plan,
        faults,
        place if "history" in sound else None,
        baseline if "baseline" in sound and not watching.stream else None,
        documents if "documents" in sound else None,
    )


def _shown(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content, in which an address of the wrong type, which would be shown in the fault, is masked."""
    table = content.get("monitor")
    if not isinstance(table, dict) or isinstance(table.get("history", ""), str):
        return dict(content)
    return {**content, "monitor": {**table, "history": ["***"]}}


def _baseline(read: Reader, found: Mapping[str, Any], folder: Path) -> str | None:
    """The baseline, with its faults if it is a file; one in the history is looked for when that is opened."""
    named: str | None = found.get("baseline")
    if named is not None and (is_file_name(named) or (folder / named).is_file()):
        try:
            if load_baseline(folder / named).record is None:
                read.fault("monitor.baseline", f"{named} has only means; a record with its scores is needed here")
        except RankgaugeError as error:
            read.fault("monitor.baseline", str(error))
    return named


def _watching(read: Reader, found: Mapping[str, Any]) -> Watching:
    for key, least, most in (
        ("tolerance", 0, 1),
        ("latency_tolerance", 0, 100),
        ("allowed_errors", 0, 0.5),
        ("reference", 5, 1000),
        ("false_alarm_every", 10, 1e9),
    ):
        if key in found and not least <= found[key] <= most:
            read.fault(f"monitor.{key}", f"must lie between {least:g} and {most:g}, not {found[key]!r}")
    kind = found.get("kind", "fixed")
    if kind not in ("fixed", "stream"):
        read.fault("monitor.kind", f'must be "fixed" (the same queries each time) or "stream" (new ones), not {kind!r}')
    names = ("tolerance", "slices", "latency", "latency_tolerance", "allowed_errors", "reference", "false_alarm_every")
    given = {name: found[name] for name in names if name in found}
    return Watching(**given, stream=kind == "stream", limits=tuple(_limits(read, found.get("thresholds", []))))


def _limits(read: Reader, texts: list[Any]) -> list[Limit]:
    limits = []
    for text in texts:
        try:
            limits.append(parse_limit(text))
        except RankgaugeError as error:
            read.fault("monitor.thresholds", str(error))
    return limits


def _every(read: Reader, found: Mapping[str, Any]) -> float | None:
    if "every" not in found:
        return None
    try:
        return seconds_of(found["every"])
    except DataError as error:
        read.fault("monitor.every", str(error))
        return None


def _history(read: Reader, found: Mapping[str, Any], folder: Path, given: str | None) -> str:
    """The option, else the plan's own, else the environment's, else a file beside the plan."""
    if given:
        return given
    written: str | None = found.get("history")
    if written is None:
        return os.environ.get(VARIABLE) or str(folder / ".rankgauge" / "history.db")
    names = _VARIABLE.findall(written)
    unset = [name for name in names if not os.environ.get(name)]
    if unset:
        read.fault("monitor.history", f"the environment variable {unset[0]} is not set")
        return written
    if "://" in written and (_SECRET.search(_VARIABLE.sub("", written)) or ("@" in written and not names)):
        read.fault(
            "monitor.history",
            'an address with a user stands in the environment, not in a plan: history = "${RANKGAUGE_DB}"',
        )
    place = _VARIABLE.sub(lambda match: os.environ[match[1]], written)
    return place if "://" in place else str(folder / place)
