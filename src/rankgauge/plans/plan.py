"""A plan: test set, corpus, systems, measures, comparison, sweep and outputs in one TOML file, validated whole.

Every fault is found before anything costly begins, and all of them are named together.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.evaluation import make_plan
from rankgauge.formats.plan_reader import Reader
from rankgauge.formats.sources import not_utf8
from rankgauge.gate.rules import check_gate_plan, check_gate_table
from rankgauge.plans.plan_files import check_cache, check_corpus_file, check_outputs, read_test_set
from rankgauge.plans.plan_systems import SweepPlan, read_sweep, read_systems
from rankgauge.plans.systems import SystemPlan
from rankgauge.stats.family import Settings

__all__ = ["CallSettings", "OutputPlan", "RunPlan", "SweepPlan", "load_plan", "template"]

_ENDINGS = {"record": (".json",), "report": (".html",), "table": (".md", ".csv", ".tex"), "runs": ()}


@dataclass(frozen=True)
class CallSettings:
    """How the systems are called."""

    k: int = 10
    concurrency: int = 1
    timeout: float = 30.0
    retries: int = 2
    backoff: float = 0.5
    max_failed: float = 0.05
    cache: str | None = ".rankgauge"


@dataclass(frozen=True)
class OutputPlan:
    record: str | None = None
    report: str | None = None
    table: str | None = None
    runs: str | None = None
    """Folder for the runs in TREC form."""


@dataclass(frozen=True)
class RunPlan:
    """A plan that has been checked. Paths are relative to the plan's folder."""

    path: Path
    test_set: Path
    corpus: Path | None
    measures: list[str]
    contract: str | None
    systems: list[SystemPlan]
    calls: CallSettings
    comparison: Settings
    baseline: str | None
    by_tag: bool
    sweep: SweepPlan | None
    outputs: OutputPlan

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def cache(self) -> Path | None:
        """The folder that answers are kept in."""
        return None if self.calls.cache is None else self.folder / self.calls.cache


_NUMBER = (int, float)
_TOP = (
    "testset",
    "corpus",
    "measures",
    "contract",
    "system",
    "calls",
    "compare",
    "sweep",
    "outputs",
    "monitor",
    "alert",
    "gate",
)


def load_plan(path: str | Path, *, hint: str = "rankgauge run --check looks again without running anything") -> RunPlan:
    """Read and check a plan. All faults are in one `FormatError`, with the hint."""
    file = Path(path)
    try:
        data = file.read_bytes()
        content = tomllib.loads(data.decode("utf-8"))
    except FileNotFoundError:
        raise FormatError(
            str(path), ["there is no such file"], hint="rankgauge init writes a plan to start from"
        ) from None
    except UnicodeDecodeError:
        raise FormatError(str(path), [not_utf8(data)]) from None
    except OSError as error:
        raise FormatError(str(path), [error.strerror or str(error)]) from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(str(path), [f"this is no TOML: {error}"]) from None
    read = Reader()
    for key in content:
        if key not in _TOP:
            close = difflib.get_close_matches(key, _TOP, n=1)
            read.fault(key, f"unknown{f'; did you mean {close[0]}?' if close else ''}; known are: {', '.join(_TOP)}")
    folder = file.parent
    test_set = _existing(read, content, "testset", folder, needed=True)
    corpus = _existing(read, content, "corpus", folder)
    measures = _measures(read, content)
    systems = read_systems(read, content, folder, has_corpus=corpus is not None)
    tested = read_test_set(read, test_set)
    check_corpus_file(read, corpus)
    calls = _calls(read, content)
    check_cache(read, calls.cache, folder)
    settings, baseline, by_tag = _comparison(read, content, [system.name for system in systems])
    queries = None if tested is None else len(tested)
    sweep = read_sweep(read, content, systems, folder, queries=queries, has_corpus=corpus is not None)
    outputs = _outputs(read, content)
    read.faults += check_gate_table(content.get("gate", {}))
    if tested is not None:
        read.faults += check_gate_plan(content.get("gate", {}), measures, content.get("contract"), tested.tags)
    check_outputs(read, vars(outputs), folder, [path for path in (file, test_set, corpus) if path is not None])
    if read.faults:
        raise FormatError(str(path), read.faults, hint=hint)
    assert test_set is not None
    contract = content.get("contract")
    return RunPlan(
        file, test_set, corpus, measures, contract, systems, calls, settings, baseline, by_tag, sweep, outputs
    )


def _existing(read: Reader, content: Mapping[str, Any], key: str, folder: Path, *, needed: bool = False) -> Path | None:
    value = content.get(key)
    if value is None:
        if needed:
            read.fault(key, f'missing; write {key} = "testset.json"')
        return None
    if not isinstance(value, str):
        read.fault(key, f"must be the path of a file, not {value!r}")
        return None
    path = folder / value
    if not path.exists():
        read.fault(key, f"there is no file {value!r} beside the plan")
        return None
    return path


def _measures(read: Reader, content: Mapping[str, Any]) -> list[str]:
    from rankgauge.evaluation import DEFAULT_MEASURES

    value = content.get("measures", list(DEFAULT_MEASURES))
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
        read.fault("measures", f'must be a list of names such as ["nDCG@10"], not {value!r}')
        return []
    contract = content.get("contract")
    try:
        make_plan(DEFAULT_MEASURES, contract)
    except RankgaugeError as error:
        read.fault("contract", str(error))
        contract = None
    try:
        planned = make_plan(names, contract)
    except RankgaugeError as error:
        read.fault("measures", str(error))
    else:
        budgets = [measure for measure in planned.measures if measure.get("budget") is not None]
        if budgets and "corpus" not in content:
            read.fault("measures", f'{budgets[0]} needs the texts of the documents: corpus = "corpus.jsonl"')
    return list(names)


def _calls(read: Reader, content: Mapping[str, Any]) -> CallSettings:
    found = read.table(
        content,
        "calls",
        {
            "k": int,
            "concurrency": int,
            "timeout": _NUMBER,
            "retries": int,
            "backoff": _NUMBER,
            "max_failed": _NUMBER,
            "cache": (str, bool),
        },
    )
    for key, least in (("k", 1), ("concurrency", 1), ("retries", 0), ("backoff", 0)):
        if key in found and found[key] < least:
            read.fault(f"calls.{key}", f"must be at least {least}, not {found[key]!r}")
    if "timeout" in found and found["timeout"] <= 0:
        read.fault("calls.timeout", f"must be above 0 seconds, not {found['timeout']!r}")
    if "max_failed" in found and not 0 <= found["max_failed"] <= 1:
        read.fault("calls.max_failed", f"is a share of the queries, between 0 and 1, not {found['max_failed']!r}")
    if "cache" in found and isinstance(found["cache"], bool):
        found["cache"] = ".rankgauge" if found["cache"] else None
    return CallSettings(**found)


def _comparison(read: Reader, content: Mapping[str, Any], names: list[str]) -> tuple[Settings, str | None, bool]:
    found = read.table(
        content,
        "compare",
        {
            "baseline": str,
            "by": str,
            "test": str,
            "correction": str,
            "alpha": _NUMBER,
            "margin": _NUMBER,
            "seed": int,
            "samples": int,
        },
    )
    baseline, by = found.pop("baseline", None), found.pop("by", None)
    if by not in (None, "tag"):
        read.fault("compare.by", f'must be "tag", not {by!r}')
    if baseline is not None and baseline not in names:
        read.fault("compare.baseline", f"{baseline!r} is not among the systems: {', '.join(names)}")
    try:
        return Settings.of(**found), baseline, by == "tag"
    except RankgaugeError as error:
        read.fault("compare", str(error))
        return Settings(), baseline, False


def _outputs(read: Reader, content: Mapping[str, Any]) -> OutputPlan:
    found = read.table(content, "outputs", dict.fromkeys(_ENDINGS, str))
    for key, value in found.items():
        endings = _ENDINGS[key]
        if endings and not value.lower().removesuffix(".gz").endswith(endings):
            read.fault(f"outputs.{key}", f"{value!r} must end with {' or '.join(endings)}")
    return OutputPlan(**found)


def template() -> str:
    """A commented plan to start from."""
    return Path(__file__).with_name("plan.toml").read_text("utf-8")
