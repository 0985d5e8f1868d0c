"""The systems of a plan, and the sweep over one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from rankgauge.evaluation import make_plan
from rankgauge.formats.settings import read_table
from rankgauge.live.sweep import few_queries
from rankgauge.plans.systems import SystemPlan, check_system, check_values
from rankgauge.retrievers.checks import faults_of

__all__ = ["SweepPlan", "read_sweep", "read_systems"]

_LONGEST_NAME = 230
"""Bytes: a file's name may have 255, and the ending and the mark of an unfinished file come on top."""


@dataclass(frozen=True)
class SweepPlan:
    """Parameters of one system's factory to be tried."""

    system: str = ""
    measure: str = "nDCG@10"
    grid: dict[str, Any] = field(default_factory=dict)
    tries: Annotated[int, Meta(ge=1)] | None = None
    """Random settings instead of all."""
    folds: Annotated[int, Meta(ge=2)] | None = None
    seed: Annotated[int, Meta(ge=0)] = 0
    exact: dict[str, Any] = field(default_factory=dict)
    """Parameters that make the search exact, to measure the recall of an approximate one."""


def read_systems(
    entries: Any, folder: Path, *, has_corpus: bool, imports: bool = True
) -> tuple[list[SystemPlan], list[str]]:
    """The systems whose names can be used, and what is wrong with any; without `imports`, with any built-in one."""
    faults: list[str] = []
    if isinstance(entries, dict):
        faults.append("system: write [[system]] with two brackets: a plan has a list of systems")
        entries = [entries]
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        return [], [*faults, "system: name at least one system, each as [[system]]"]
    systems: list[SystemPlan] = []
    for number, entry in enumerate(entries, start=1):
        place = f"system {entry.get('name') or number}"
        found, wrong = read_table(entry, place, SystemPlan)
        faults += wrong
        assert found is not None  # every key has a default
        if "use" in entry and "factory" in entry:
            faults.append(f"{place}: has both use and factory: keep use for what is ready, factory for what makes it")
            continue
        if found.use is None and found.factory is None:
            if not {"use", "factory"} & entry.keys():
                say = 'use = "bm25" (built in) or "module:attribute", or factory = "module:make"'
                faults.append(f"{place}: say what it is: {say}")
            continue
        system = found if isinstance(entry.get("name"), str) else replace(found, name=found.use or found.factory or "")
        unusable = list(_name_faults(system.name, [other.name for other in systems]))
        looked_at = imports or system.is_named
        wrong = check_system(system, folder, has_corpus=has_corpus) if looked_at else []
        faults += [f"{place}: {fault}" for fault in [*unusable, *wrong]]
        if not unusable:
            systems.append(system)
    return systems, [*faults, *_candidate_faults(systems)]


def _candidate_faults(systems: list[SystemPlan]) -> Iterator[str]:
    """Systems whose candidates are of no system, or of one that comes from them."""
    named = {system.name: system.candidates for system in systems}
    for name, candidates in named.items():
        if candidates is None:
            continue
        if candidates not in named:
            others = ", ".join(other for other in named if other != name) or "there is none"
            yield f"system {name}: candidates names another system, not {candidates!r}: {others}"
            continue
        met, at = {name}, named[name]
        while at is not None and at not in met:
            met.add(at)
            at = named.get(at)
        if at == name:
            yield f"system {name}: its candidates come from itself; leave candidates out where the pipeline begins"


def _name_faults(name: str, taken: list[str]) -> Iterator[str]:
    if not name.strip():
        yield "its name is empty; give it one, or leave name out to call it what it uses"
    elif any(c in name for c in "/\\\0\n") or name in (".", ".."):
        yield f"{name!r} is no name for a system: it names files too, so it has no slashes or line ends"
    elif (length := len(name.encode("utf-8", "replace"))) > _LONGEST_NAME:
        yield f"its name has {length} bytes, too many: it names files too, so {_LONGEST_NAME} are the most"
    elif name in taken:
        yield f"two systems are named {name!r}"


def read_sweep(
    table: Any, systems: list[SystemPlan], folder: Path, *, queries: int | None, has_corpus: bool
) -> tuple[SweepPlan | None, list[str]]:
    """The sweep, and what is wrong with it; the number of queries is None where they could not be read."""
    found, faults = read_table(table, "sweep", SweepPlan)
    if found is None:
        return None, faults
    system = next((system for system in systems if system.name == found.system), None)
    if system is None:
        names = ", ".join(system.name for system in systems)
        faults.append(f"sweep.system: {found.system!r} is not among the systems: {names}")
    if not found.grid or not all(isinstance(values, list) and values for values in found.grid.values()):
        faults.append("sweep.grid: give each parameter a list of values, such as ef_search = [16, 64, 256]")
    elif system is not None:
        faults += _setting_faults(found, system, folder, has_corpus=has_corpus)
    if queries is not None and (fault := few_queries(found.folds or 0, queries)):
        faults.append(f"sweep.folds: {fault}")
    return found, faults + [f"sweep.measure: {fault}" for fault in faults_of(lambda: make_plan(found.measure))]


def _setting_faults(sweep: SweepPlan, system: SystemPlan, folder: Path, *, has_corpus: bool) -> Iterator[str]:
    known = check_system(system, folder, has_corpus=has_corpus)  # faults of its own, which are named already
    tried: list[tuple[str, Mapping[str, list[Any]]]] = [
        ("grid", sweep.grid),
        ("exact", {key: [value] for key, value in sweep.exact.items()}),
    ]
    for kind, settings in tried:
        for key, values in settings.items():
            for fault in check_values(system, folder, key, values, has_corpus=has_corpus):
                if fault not in known:
                    yield f"sweep.{kind}.{key}: {fault}"
