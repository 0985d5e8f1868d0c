"""What a monitor is to do: a plan for `rankgauge run` with the tables `[monitor]` and `[[alert]]` in it."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.evaluation import make_plan
from rankgauge.formats.durations import parse_duration
from rankgauge.formats.settings import read_table
from rankgauge.formats.variables import filled, names_in, unset_in
from rankgauge.gating.rules import GateRules
from rankgauge.history.baselines import baseline_file
from rankgauge.history.lease import LONGEST, SECONDS
from rankgauge.history.location import DEFAULT, VARIABLE
from rankgauge.history.names import looks_like_address
from rankgauge.monitoring.alerts.channels import Channel, check_alerts
from rankgauge.monitoring.detection.figures import QUANTILES, Closeness, Limit, Watching
from rankgauge.monitoring.detection.limits import parse_limit
from rankgauge.plans.plan import RunPlan, load_plan
from rankgauge.words import Language

__all__ = ["Draft", "MonitorPlan", "Table", "load_monitor_plan", "read_monitor_plan", "seconds_of"]

_SHORTEST, _LONGEST = 0.1, 366 * 86400
_SECRET = re.compile(r"://[^/@]*:[^/@]+@|password\s*=\s*[^&\s]")
"""A password that is written out, once what comes from the environment is taken away."""
_LONGEST_NAME = 100
_VARIABLE = re.compile(r"\$\{(\w+)\}")


@dataclass(frozen=True)
class Table(Closeness):
    """The table [monitor] as it is written."""

    name: str | None = None
    history: Annotated[str, Meta(extra={"secret": True})] | None = None
    every: str | None = None
    kind: Annotated[
        Literal["fixed", "stream"],
        Meta(description='"fixed" (the same queries each time) or "stream" (new ones)'),
    ] = "fixed"
    baseline: str | None = None
    allow: Literal["cached"] | None = None
    documents: str | None = None
    thresholds: list[Any] = field(default_factory=list)
    lang: Language = "en"
    lease: str = f"{SECONDS:g}s"
    unhealthy_after: str | None = None


@dataclass(frozen=True)
class MonitorPlan:
    """A plan that has been checked."""

    run: RunPlan
    """Without a cache: each check asks the retrievers anew."""
    name: str
    history: str
    """Path or address of the history."""
    every: float | None
    """Seconds from check to check."""
    watching: Watching
    baseline: str | None
    documents: str | None
    """`module:function` that gives the texts of gold documents, where no corpus file does."""
    channels: list[Channel]
    language: Language = "en"
    """Of the alerts."""
    allow: str | None = None
    """`cached`: a baseline whose answers were not measured for its record."""
    lease: float = SECONDS
    """Seconds without a sign of a monitor after which another takes over, where the history is on a server."""
    unhealthy_after: float | None = None
    """Seconds that the monitor may be unable to work before its channels are told; None: 10 minutes, or `every`."""

    gate: GateRules = field(default_factory=GateRules)
    """The plan's table [gate]: a system that misses its targets when its watch begins is not taken as normal."""

    @property
    def spool(self) -> Path:
        """Folder for checks that the history has not ingested yet."""
        return self.run.folder / ".rankgauge" / "spool"


def seconds_of(text: str) -> float:
    """Seconds of a time such as 30s, 15m, 1h or 1d."""
    try:
        seconds = parse_duration(text, ("s", "m", "h", "d")).total_seconds()
    except (ValueError, OverflowError):
        seconds = 0.0
    if not _SHORTEST <= seconds <= _LONGEST:
        raise DataError(f"{text[:40]!r} is no time between checks; write 30s, 15m, 1h or 1d, from 0.1s to 366d")
    return seconds


@dataclass(frozen=True)
class Draft:
    """A plan as it was read, right or wrong."""

    path: Path
    table: Table
    history: str
    """Path or address of the history."""
    plan: MonitorPlan | None
    """None where there are faults."""
    faults: list[str]

    def sound(self, key: str) -> bool:
        """Whether a key of the table is said as it should be."""
        return not any(f"monitor.{key}: " in fault for fault in self.faults)

    def result(self, more: Sequence[str] = ()) -> MonitorPlan:
        """The plan, or all faults in one `FormatError`."""
        faults = [*self.faults, *more]
        if faults or self.plan is None:
            hint = "rankgauge monitor --check tries the plan again and calls nothing"
            raise FormatError(str(self.path), faults, hint=hint)
        return self.plan


@named_arguments
def load_monitor_plan(path: str | Path, *, history: str | None = None, imports: bool = True) -> MonitorPlan:
    """Read and check a plan with its `[monitor]` and `[[alert]]` tables. All faults are in one `FormatError`.

    Without `imports` the modules that it names are not imported: enough to look at what was watched.
    """
    return read_monitor_plan(as_path("path", path), history=history, imports=imports).result()


def read_monitor_plan(path: str | Path, *, history: str | None = None, imports: bool = True) -> Draft:
    """Read a plan, and find what is wrong with it."""
    faults: list[str] = []
    run: RunPlan | None = None
    try:
        run = load_plan(path, imports=imports)
    except FormatError as error:
        if error.total > len(error.faults) or not Path(path).is_file():
            raise
        faults = [str(fault) for fault in error.faults]
    try:
        content = tomllib.loads(Path(path).read_text("utf-8"))
    except tomllib.TOMLDecodeError:
        raise FormatError(str(path), faults) from None
    if "monitor" not in content:
        faults.append('monitor: missing; begin with [monitor] and every = "1h"')
    found, wrong = read_table(content.get("monitor", {}), "monitor", Table)
    found = found or Table()
    folder = Path(path).parent
    limits, more = _limits(found.thresholds)
    watching = _watching(found, limits)
    every, late = _every(found)
    lease, brief = _time("lease", found.lease, f"{LONGEST:g}s")
    told, soon = (None, []) if found.unhealthy_after is None else _time("unhealthy_after", found.unhealthy_after, "1d")
    place, away = _history(found.history, folder, history)
    channels, unsent = check_alerts(content.get("alert", [{"url": "console"}]))
    name = Path(path).stem if found.name is None else found.name
    faults += [*wrong, *more, *late, *brief, *soon, *away, *_named(name, found), *_baseline(found, folder), *unsent]
    faults += [] if run is None else _measured(run, watching)
    plan = None
    if run is not None and not faults:
        gate = GateRules.of(**content.get("gate", {}))
        plain = replace(run, calls=replace(run.calls, cache=False), sweeps=[])
        named = (name, place, every, watching, found.baseline, found.documents, channels, found.lang, found.allow)
        plan = MonitorPlan(plain, *named, lease=lease, unhealthy_after=told, gate=gate)
    return Draft(Path(path), found, place, plan, faults)


def _named(name: str, found: Table) -> list[str]:
    """Whether what is named has the form of a name."""
    faults = []
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        faults.append(f"monitor.name: {name[:120]!r} is no name for a monitor; write a short one on one line")
    if found.documents is not None and ":" not in found.documents:
        faults.append(f"monitor.documents: must be module:function, not {found.documents!r}")
    return faults


def _measured(run: RunPlan, watching: Watching) -> list[str]:
    """Whether what is watched is measured."""
    measures = make_plan(run.measures, run.contract).measures
    unknown = {limit.figure for limit in watching.limits} - {*map(str, measures), *QUANTILES}
    faults = [f"monitor.thresholds: {figure} is not among the plan's measures" for figure in sorted(unknown)]
    sums = [str(measure) for measure in measures if measure.definition.aggregate != "mean"]
    if watching.stream and sums:
        faults.append(f"measures: a stream is watched score by score, so only means can be, not {', '.join(sums)}")
    return faults


def _baseline(found: Table, folder: Path) -> list[str]:
    """The faults of a baseline that is a file; one in the history is looked for when that is opened."""
    try:
        if found.baseline is not None:
            baseline_file(found.baseline, folder)
    except RankgaugeError as error:
        return [f"monitor.baseline: {error}"]
    return []


def _watching(found: Table, limits: list[Limit]) -> Watching:
    closeness = {entry.name: getattr(found, entry.name) for entry in fields(Closeness)}
    return Watching(**closeness, stream=found.kind == "stream", limits=tuple(limits))


def _limits(texts: list[Any]) -> tuple[list[Limit], list[str]]:
    limits, faults = [], []
    for text in texts:
        try:
            limits.append(parse_limit(text))
        except RankgaugeError as error:
            faults.append(f"monitor.thresholds: {error}")
    return limits, faults


def _every(found: Table) -> tuple[float | None, list[str]]:
    try:
        return None if found.every is None else seconds_of(found.every), []
    except DataError as error:
        return None, [f"monitor.every: {error}"]


def _time(key: str, text: str, most: str) -> tuple[float, list[str]]:
    """The seconds of a key, from one second on."""
    try:
        seconds = seconds_of(text)
    except DataError:
        seconds = 0.0
    wrong = not 1.0 <= seconds <= seconds_of(most)
    return seconds, [f"monitor.{key}: {text[:40]!r} is no time from 1s to {most}"] if wrong else []


def _history(written: str | None, folder: Path, given: str | None) -> tuple[str, list[str]]:
    """Where the history is, and what is wrong with it: the argument, else the plan's own, else the environment's, else
    a file beside the plan."""
    if given:
        return given, []
    if written is None:
        return os.environ.get(VARIABLE) or str(folder / DEFAULT), []
    names, unset = names_in(written), unset_in(written)
    if unset:
        return written, [f"monitor.history: the environment variable {name} is not set" for name in unset]
    literal = _VARIABLE.sub("", written)
    open_ = _SECRET.search(literal) or ("@" in written and not names)
    if open_ and ("://" in written or looks_like_address(written)):
        remedy = 'an address with a user stands in the environment, not in a plan: history = "${RANKGAUGE_DB}"'
        return written, [f"monitor.history: {remedy}"]
    place = filled(written)
    return place if "://" in place or looks_like_address(place) else str(folder / place), []
