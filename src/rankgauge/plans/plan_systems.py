"""The systems of a plan, and the sweep over one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.evaluation import make_plan
from rankgauge.formats.plan_reader import Reader
from rankgauge.live.sweep import few_queries
from rankgauge.plans.systems import SystemPlan, check_system, check_values

__all__ = ["SweepPlan", "read_sweep", "read_systems"]

_LONGEST_NAME = 230
"""Bytes: a file's name may have 255, and the ending and the mark of an unfinished file come on top."""


@dataclass(frozen=True)
class SweepPlan:
    """Parameters of one system's factory to be tried."""

    system: str
    measure: str
    grid: Mapping[str, list[Any]]
    tries: int | None = None
    """Random settings instead of all."""
    folds: int | None = None
    seed: int = 0
    exact: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that make the search exact, to measure the recall of an approximate one."""


def read_systems(read: Reader, content: Mapping[str, Any], folder: Path, *, has_corpus: bool) -> list[SystemPlan]:
    entries = content.get("system", [])
    if isinstance(entries, dict):
        read.fault("system", "write [[system]] with two brackets: a plan has a list of systems")
        entries = [entries]
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        read.fault("system", "name at least one system, each as [[system]]")
        return []
    systems: list[SystemPlan] = []
    for number, entry in enumerate(entries, start=1):
        place = f"system {entry.get('name') or number}"
        found = read.values(
            entry,
            place,
            {"name": str, "use": str, "factory": str, "parameters": dict, "id_field": str, "score_field": str},
        )
        if "use" in entry and "factory" in entry:
            read.fault(place, "has both use and factory: keep use for what is ready, factory for what makes it")
            continue
        if "use" not in found and "factory" not in found:
            if not {"use", "factory"} & entry.keys():
                read.fault(
                    place, 'say what it is: use = "bm25" (built in) or "module:attribute", or factory = "module:make"'
                )
            continue
        name = found.get("name", found.get("use") or found.get("factory") or "")
        said = len(read.faults)
        if not name.strip():
            read.fault(place, "its name is empty; give it one, or leave name out to call it what it uses")
        elif any(c in name for c in "/\\\0\n") or name in (".", ".."):
            read.fault(
                place, f"{name!r} is no name for a system: it names files too, so it has no slashes or line ends"
            )
        elif (length := len(name.encode("utf-8", "replace"))) > _LONGEST_NAME:
            read.fault(
                place, f"its name has {length} bytes, too many: it names files too, so {_LONGEST_NAME} are the most"
            )
        elif name in [system.name for system in systems]:
            read.fault(place, f"two systems are named {name!r}")
        named = len(read.faults) == said
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
        if named:
            systems.append(system)
    return systems


def read_sweep(
    read: Reader,
    content: Mapping[str, Any],
    systems: list[SystemPlan],
    folder: Path,
    *,
    queries: int | None,
    has_corpus: bool,
) -> SweepPlan | None:
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
        known = check_system(system, folder, has_corpus=has_corpus)  # faults of its own, which are named already
        for kind, tried in (("grid", grid), ("exact", {k: [v] for k, v in found.get("exact", {}).items()})):
            for key, values in tried.items():
                for fault in check_values(system, folder, key, values, has_corpus=has_corpus):
                    if fault not in known:
                        read.fault(f"sweep.{kind}.{key}", fault)
    for key, least in (("tries", 1), ("folds", 2), ("seed", 0)):
        if key in found and found[key] < least:
            read.fault(f"sweep.{key}", f"must be at least {least}, not {found[key]!r}")
    if queries is not None and (fault := few_queries(found.get("folds", 0), queries)):
        read.fault("sweep.folds", fault)
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
        found.get("folds"),
        found.get("seed", 0),
        found.get("exact", {}),
    )
