"""The systems of a plan, and the sweeps over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from rankgauge.evaluation import make_plan
from rankgauge.formats.settings import read_table
from rankgauge.live.chunk_sweep import check_budgets
from rankgauge.live.sweep import few_queries
from rankgauge.model.contract import Contract
from rankgauge.plans.measured import character_faults
from rankgauge.plans.systems import SystemPlan, check_system, check_values, takes
from rankgauge.retrievers.checks import check_whole, faults_of
from rankgauge.retrievers.chunking import check_chunking

__all__ = ["ChunkPlan", "SweepPlan", "overlap_faults", "read_sweeps", "read_systems"]

_LONGEST_NAME = 230
"""Bytes: a file's name may have 255, and the ending and the mark of an unfinished file come on top."""


@dataclass(frozen=True)
class ChunkPlan:
    """How documents are cut, in every way of these, and the context budget that all of them fill."""

    size: Annotated[list[int], Meta(min_length=1, description="a list of whole numbers")] | int = field(
        default_factory=list
    )
    overlap: list[int | float] | int | float = 0
    by: list[str] | str = "sentences"
    budget: list[int] | int | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """As `sweep_chunks` takes them."""
        size, overlap = ([one] if isinstance(one, int | float) else one for one in (self.size, self.overlap))
        return {"sizes": size, "overlaps": overlap, "by": self.by, "budget": self.budget}


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
    chunk: ChunkPlan | None = None
    """The documents are cut into chunks, which the system searches."""


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
    return systems, [*faults, *_candidate_faults(systems), *_unlike_faults(systems)]


def _unlike_faults(systems: list[SystemPlan]) -> Iterator[str]:
    """Labels that are brought onto the chunks of some systems, while others return documents: nothing to compare."""
    having = next((system.name for system in systems if system.has_chunks), None)
    for system in systems:
        if having is not None and system.is_named and not system.has_chunks:
            yield (
                f"system {system.name}: labels are brought onto the chunks of {having!r}, so give it chunks or "
                "chunk_ids too; or score both by their documents: collapse_chunks"
            )


def overlap_faults(overlap: Any, systems: list[SystemPlan], sweeps: list[SweepPlan]) -> Iterator[str]:
    """What is wrong with the share of a passage that a chunk must hold."""
    if overlap is None:
        return
    yield from (f"overlap: {fault}" for fault in faults_of(partial(Contract, overlap=overlap)))
    chunked = any(system.has_chunks or not system.is_named for system in systems)  # one's own may bring them along
    if not chunked and not any(sweep.chunk for sweep in sweeps):
        yield "overlap: it is the share of a passage that a chunk must hold, and no system has chunks"


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


def read_sweeps(
    content: Any, systems: list[SystemPlan], folder: Path, *, queries: int | None, has_corpus: bool
) -> tuple[list[SweepPlan], list[str]]:
    """The sweeps, [sweep] or several [[sweep]], and what is wrong with them; the number of queries is None where they
    could not be read."""
    several = isinstance(content, list)
    tables = [(f"sweep {n}", table) for n, table in enumerate(content, 1)] if several else [("sweep", content)]
    read = [
        _read_sweep(table, place, systems, folder, queries=queries, has_corpus=has_corpus) for place, table in tables
    ]
    return [found for found, _ in read if found is not None], [fault for _, faults in read for fault in faults]


def _read_sweep(
    table: Any, place: str, systems: list[SystemPlan], folder: Path, *, queries: int | None, has_corpus: bool
) -> tuple[SweepPlan | None, list[str]]:
    found, faults = read_table(table, place, SweepPlan)
    if found is None:
        return None, faults
    system = next((system for system in systems if system.name == found.system), None)
    if system is None:
        names = ", ".join(system.name for system in systems)
        faults.append(f"{place}.system: {found.system!r} is not among the systems: {names}")
    listed = all(isinstance(values, list) and values for values in found.grid.values())
    if not listed or not (found.grid or found.chunk):
        faults.append(f"{place}.grid: give each parameter a list of values, such as ef_search = [16, 64, 256]")
    elif system is not None:
        faults += _setting_faults(found, place, system, folder, has_corpus=has_corpus)
    if found.chunk is not None and system is not None:
        faults += _chunk_faults(found, found.chunk, place, system, folder, has_corpus=has_corpus)
    if queries is not None and (fault := few_queries(found.folds or 0, queries)):
        faults.append(f"{place}.folds: {fault}")
    wrong = list(faults_of(lambda: make_plan(found.measure)))
    if not wrong and found.chunk is None and system is not None:  # which would be cut into chunks that are known
        wrong = list(character_faults(make_plan(found.measure), [system]))
    return found, faults + [f"{place}.measure: {fault}" for fault in wrong]


def _chunk_faults(
    sweep: SweepPlan, chunk: ChunkPlan, place: str, system: SystemPlan, folder: Path, *, has_corpus: bool
) -> Iterator[str]:
    given = chunk.arguments
    if not given["sizes"]:
        yield f"{place}.chunk.size: missing; write size = [200, 400, 800]"
    if not has_corpus:
        yield f'{place}.chunk: there are no documents to cut: corpus = "corpus.jsonl"'
    elif not faults_of(lambda: takes(system, folder, "corpus")) and not takes(system, folder, "corpus"):
        yield f"{place}.chunk: {system.name!r} is not built from documents, so that it cannot search chunks of them"
    if sweep.exact:
        yield f"{place}.exact: an exact search is of the same documents; sweep chunks and approximate indexes apart"
    ways = [given["by"]] if isinstance(given["by"], str) else given["by"]
    cuts = [(size, overlap, by) for size in given["sizes"] for overlap in given["overlaps"] for by in ways]
    wrong = [faults_of(partial(check_chunking, *cut)) for cut in cuts]
    if wrong and (all(wrong) or any(fault for found in wrong for fault in found if "must be less" not in fault)):
        yield from dict.fromkeys(f"{place}.chunk: {fault}" for found in wrong for fault in found)
    yield from (f"{place}.chunk.budget: {fault}" for fault in faults_of(lambda: check_budgets(chunk.budget)))


def _setting_faults(
    sweep: SweepPlan, place: str, system: SystemPlan, folder: Path, *, has_corpus: bool
) -> Iterator[str]:
    known = check_system(system, folder, has_corpus=has_corpus)  # faults of its own, which are named already
    tried: list[tuple[str, Mapping[str, list[Any]]]] = [
        ("grid", sweep.grid),
        ("exact", {key: [value] for key, value in sweep.exact.items()}),
    ]
    for kind, settings in tried:
        for key, values in settings.items():
            if key == "k" and kind == "grid" and not known and not takes(system, folder, "k"):
                checks = (partial(check_whole, "k", value, 1) for value in values)
                yield from (f"{place}.grid.k: {fault}" for fault in faults_of(*checks))
                continue
            for fault in check_values(system, folder, key, values, has_corpus=has_corpus):
                if fault not in known:
                    yield f"{place}.{kind}.{key}: {fault}"
