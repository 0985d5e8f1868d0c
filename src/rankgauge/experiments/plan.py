"""A plan: test set, corpus, systems, measures, comparison, sweep and outputs in one TOML file, validated whole.

Every fault is found before anything costly begins, and all of them are named together.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.experiments.evaluation import make_plan
from rankgauge.experiments.systems import SystemPlan, check_system
from rankgauge.stats.family import Settings

__all__ = ["OutputPlan", "RunPlan", "Serving", "SweepPlan", "load_plan", "template"]

_ENDINGS = {"record": (".json",), "report": (".html",), "table": (".md", ".csv", ".tex"), "runs": ()}


@dataclass(frozen=True)
class Serving:
    """How the systems are called."""

    k: int = 10
    concurrency: int = 1
    timeout: float = 30.0
    retries: int = 2
    backoff: float = 0.5
    max_failed: float = 0.05
    cache: str | None = ".rankgauge"


@dataclass(frozen=True)
class SweepPlan:
    """Parameters of one system's factory to be tried."""

    system: str
    measure: str
    grid: Mapping[str, list[Any]]
    tries: int | None = None
    """Random settings instead of all."""
    folds: int = 5
    seed: int = 0
    exact: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that make the search exact, to measure the recall of an approximate one."""


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
    serving: Serving
    comparison: Settings
    baseline: str | None
    by_tag: bool
    sweep: SweepPlan | None
    outputs: OutputPlan

    @property
    def folder(self) -> Path:
        return self.path.parent


class _Reader:
    """Reads values out of the tables, and gathers the faults."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def fault(self, place: str, text: str) -> None:
        self.faults.append(f"{place}: {text}")

    def table(
        self, parent: Mapping[str, Any], key: str, known: Mapping[str, type | tuple[type, ...]]
    ) -> dict[str, Any]:
        value = parent.get(key, {})
        if not isinstance(value, dict):
            self.fault(key, f"must be a table, [{key}], not {value!r}")
            return {}
        return self.values(value, key, known)

    def values(
        self, table: Mapping[str, Any], place: str, known: Mapping[str, type | tuple[type, ...]]
    ) -> dict[str, Any]:
        """The known keys of the right type; the others are faults."""
        found = {}
        for key, value in table.items():
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                nearby = f"; did you mean {close[0]}?" if close else f"; known are: {', '.join(known)}"
                self.fault(f"{place}.{key}", f"unknown{nearby}")
                continue
            wanted = known[key]
            kinds: tuple[type, ...] = wanted if isinstance(wanted, tuple) else (wanted,)
            if (isinstance(value, bool) and bool not in kinds) or not isinstance(value, kinds):
                names = " or ".join(_NAMES.get(kind, kind.__name__) for kind in kinds)
                self.fault(f"{place}.{key}", f"must be {names}, not {value!r}")
                continue
            found[key] = value
        return found


_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}
_NUMBER = (int, float)
_TOP = ("testset", "corpus", "measures", "contract", "system", "serving", "compare", "sweep", "outputs")


def load_plan(path: str | Path) -> RunPlan:
    """Read and check a plan. All faults are in one `FormatError`."""
    file = Path(path)
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise FormatError(
            str(path), ["there is no such file"], hint="rankgauge init writes a plan to start from"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(str(path), [str(error)]) from None
    except tomllib.TOMLDecodeError as error:
        raise FormatError(str(path), [f"this is no TOML: {error}"]) from None
    read = _Reader()
    for key in content:
        if key not in _TOP:
            close = difflib.get_close_matches(key, _TOP, n=1)
            read.fault(key, f"unknown{f'; did you mean {close[0]}?' if close else ''}; known are: {', '.join(_TOP)}")
    folder = file.parent
    test_set = _existing(read, content, "testset", folder, needed=True)
    corpus = _existing(read, content, "corpus", folder)
    measures = _measures(read, content)
    systems = _systems(read, content, folder, has_corpus=corpus is not None)
    serving = _serving(read, content)
    settings, baseline, by_tag = _comparison(read, content, [system.name for system in systems])
    sweep = _sweep(read, content, systems, folder)
    outputs = _outputs(read, content)
    inputs = {path.resolve() for path in (file, test_set, corpus) if path is not None}
    for key, value in vars(outputs).items():
        if value is not None and (folder / value).resolve() in inputs:
            read.fault(f"outputs.{key}", f"{value!r} is an input too; name another file")
    if read.faults:
        raise FormatError(str(path), read.faults, hint="rankgauge run --check looks again without running anything")
    assert test_set is not None
    contract = content.get("contract")
    return RunPlan(
        file, test_set, corpus, measures, contract, systems, serving, settings, baseline, by_tag, sweep, outputs
    )


def _existing(
    read: _Reader, content: Mapping[str, Any], key: str, folder: Path, *, needed: bool = False
) -> Path | None:
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


def _measures(read: _Reader, content: Mapping[str, Any]) -> list[str]:
    from rankgauge.experiments.evaluation import DEFAULT_MEASURES

    value = content.get("measures", list(DEFAULT_MEASURES))
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or not names:
        read.fault("measures", f'must be a list of names such as ["nDCG@10"], not {value!r}')
        return []
    contract = content.get("contract")
    try:
        make_plan(names, contract)
    except RankgaugeError as error:
        read.fault("measures", str(error))
    return list(names)


def _systems(read: _Reader, content: Mapping[str, Any], folder: Path, *, has_corpus: bool) -> list[SystemPlan]:
    entries = content.get("system", [])
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        read.fault("system", "name at least one system, each as [[system]]")
        return []
    systems: list[SystemPlan] = []
    for number, entry in enumerate(entries, start=1):
        place = f"system {entry.get('name', number)}"
        found = read.values(
            entry,
            place,
            {"name": str, "use": str, "factory": str, "parameters": dict, "id_field": str, "score_field": str},
        )
        if ("use" in found) == ("factory" in found):
            read.fault(
                place, 'say what it is: use = "bm25" (built in) or "module:attribute", or factory = "module:make"'
            )
            continue
        name = found.get("name") or found.get("use") or found["factory"]
        if not name.strip() or any(c in name for c in "/\\\0\n") or name in (".", ".."):
            read.fault(
                place, f"{name!r} is no name for a system: it names files too, so it has no slashes or line ends"
            )
            continue
        if name in [system.name for system in systems]:
            read.fault(place, f"two systems are named {name!r}")
            continue
        system = SystemPlan(
            name,
            found.get("use"),
            found.get("factory"),
            found.get("parameters", {}),
            found.get("id_field"),
            found.get("score_field"),
        )
        for fault in check_system(system, folder, has_corpus=has_corpus):
            read.fault(place, fault)
        systems.append(system)
    return systems


def _serving(read: _Reader, content: Mapping[str, Any]) -> Serving:
    found = read.table(
        content,
        "serving",
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
            read.fault(f"serving.{key}", f"must be at least {least}, not {found[key]!r}")
    if "timeout" in found and found["timeout"] <= 0:
        read.fault("serving.timeout", f"must be above 0 seconds, not {found['timeout']!r}")
    if "max_failed" in found and not 0 <= found["max_failed"] <= 1:
        read.fault("serving.max_failed", f"is a share of the queries, between 0 and 1, not {found['max_failed']!r}")
    if "cache" in found and isinstance(found["cache"], bool):
        found["cache"] = ".rankgauge" if found["cache"] else None
    return Serving(**found)


def _comparison(read: _Reader, content: Mapping[str, Any], names: list[str]) -> tuple[Settings, str | None, bool]:
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


def _sweep(read: _Reader, content: Mapping[str, Any], systems: list[SystemPlan], folder: Path) -> SweepPlan | None:
    if "sweep" not in content:
        return None
    found = read.table(
        content,
        "sweep",
        {"system": str, "measure": str, "grid": dict, "tries": int, "folds": int, "seed": int, "exact": dict},
    )
    name, grid = found.get("system"), found.get("grid", {})
    system = next((system for system in systems if system.name == name), None)
    if system is None:
        read.fault("sweep.system", f"{name!r} is not among the systems: {', '.join(s.name for s in systems)}")
    if not grid or not all(isinstance(values, list) and values for values in grid.values()):
        read.fault("sweep.grid", "give each parameter a list of values, such as ef_search = [16, 64, 256]")
        grid = {}
    if system is not None:
        for key in {**grid, **found.get("exact", {})}:
            value = grid[key][0] if key in grid else found["exact"][key]
            changed = SystemPlan(**{**vars(system), "parameters": {**system.parameters, key: value}})
            for fault in check_system(changed, folder, has_corpus=True):
                read.fault(f"sweep.{'grid' if key in grid else 'exact'}.{key}", fault)
    for key, least in (("tries", 1), ("folds", 2), ("seed", 0)):
        if key in found and found[key] < least:
            read.fault(f"sweep.{key}", f"must be at least {least}, not {found[key]!r}")
    measure = found.get("measure", "nDCG@10")
    try:
        make_plan(measure)
    except RankgaugeError as error:
        read.fault("sweep.measure", str(error))
    return SweepPlan(
        str(name),
        measure,
        grid,
        found.get("tries"),
        found.get("folds", 5),
        found.get("seed", 0),
        found.get("exact", {}),
    )


def _outputs(read: _Reader, content: Mapping[str, Any]) -> OutputPlan:
    found = read.table(content, "outputs", dict.fromkeys(_ENDINGS, str))
    for key, value in found.items():
        endings = _ENDINGS[key]
        if endings and not value.lower().removesuffix(".gz").endswith(endings):
            read.fault(f"outputs.{key}", f"{value!r} must end with {' or '.join(endings)}")
    return OutputPlan(**found)


def template() -> str:
    """A commented plan to start from."""
    return Path(__file__).with_name("plan.toml").read_text("utf-8")
