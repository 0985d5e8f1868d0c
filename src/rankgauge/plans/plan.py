"""A plan: test set, corpus, systems, measures, comparison, sweep and outputs in one TOML file, validated whole.

Every fault is found before anything costly begins, and all of them are named together.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import FormatError, RankgaugeError
from rankgauge.evaluation import DEFAULT_MEASURES
from rankgauge.extras import check_installed
from rankgauge.formats import Source
from rankgauge.formats.settings import read_table, read_toml
from rankgauge.formats.variables import register_plan
from rankgauge.gating.rules import GateRules, Measured, check_gate_table
from rankgauge.plans.entries import SweepPlan, overlap_faults, read_sweeps, read_systems
from rankgauge.plans.files import cache_faults, corpus_faults, output_faults, read_test_set
from rankgauge.plans.measured import may_score_passages, measure_faults
from rankgauge.plans.systems import SystemPlan
from rankgauge.retrievers.checks import faults_of
from rankgauge.retrievers.work import CallSettings
from rankgauge.stats.settings import Settings

__all__ = ["OutputPlan", "PlannedCalls", "RunPlan", "SweepPlan", "load_plan", "modules_of", "template"]

_CACHE = ".rankgauge"
_REPORT = ("jinja2", "the HTML report", "jinja2"), ("vl_convert", "the charts of the report", "vl-convert-python")
_ENDINGS = {"record": (".json",), "report": (".html",), "table": (".md", ".csv", ".tex")}


_EXAMPLES = {
    "testset": 'it holds the queries, such as [{"id": "q1", "query": "cancel an order", "relevant_docs": ["d1"]}]',
    "corpus": 'it holds one document a line, such as {"_id": "d1", "text": "..."}',
}
"""What a file that is missing should hold."""
_HINT = "rankgauge init writes a plan to start from"


@dataclass(frozen=True)
class PlannedCalls(CallSettings):
    """How the systems are called, and where their answers are kept."""

    cache: str | bool | None = None
    """True, or a folder: answers are kept for later starts. None: only until a start has finished, so that one that was
    interrupted goes on where it was. False: not at all."""

    def folder_of(self, plan: Path) -> Path | None:
        """The folder that answers are kept in, beside the plan. Those of an interrupted start are of this plan alone:
        another one in the same folder neither goes on with them nor removes them."""
        if self.cache is False:
            return None
        if self.cache is None:
            return plan.parent / _CACHE / "answers" / plan.name
        return plan.parent / (self.cache if isinstance(self.cache, str) else _CACHE)

    @property
    def arguments(self) -> dict[str, Any]:
        """All but the cache, as `evaluate_retriever` and `sweep` take them."""
        return {name: value for name, value in vars(self).items() if name != "cache"}


@dataclass(frozen=True)
class OutputPlan:
    """The files that are written, and the folder for the runs in TREC form."""

    record: str | None = None
    report: str | None = None
    table: str | None = None
    runs: str | None = None


@dataclass(frozen=True)
class _CompareTable(Settings):
    samples: int | None = None
    baseline: str | None = None
    by: Literal["tag"] | None = None


@dataclass(frozen=True)
class _PlanFile:
    """The keys of a plan. What other packages read of it stands here without a type."""

    testset: Annotated[str, Meta(description="the path of a file")] | None = None
    corpus: Annotated[str, Meta(description="the path of a file")] | None = None
    measures: (
        Annotated[str, Meta(description='a list of names such as ["nDCG@10"]')]
        | Annotated[list[str], Meta(min_length=1, description="one name")]
    ) = field(default_factory=lambda: list(DEFAULT_MEASURES))
    contract: str | None = None
    overlap: int | float | None = None
    system: Any = field(default_factory=list)
    calls: PlannedCalls = field(default_factory=PlannedCalls)
    compare: _CompareTable = field(default_factory=_CompareTable)
    sweep: Any = None
    outputs: OutputPlan = field(default_factory=OutputPlan)
    monitor: Any = None
    alert: Any = None
    gate: Any = field(default_factory=dict)


@dataclass(frozen=True)
class RunPlan:
    """A plan that has been checked. Its paths are absolute: a system may change the working folder when it is asked."""

    path: Path
    test_set: Path
    corpus: Path | None
    measures: list[str]
    contract: str | None
    overlap: float | None
    """Share of a passage that a chunk must hold to be relevant, where labels are brought onto chunks."""
    systems: list[SystemPlan]
    calls: PlannedCalls
    comparison: Settings
    baseline: str | None
    by_tag: bool
    sweeps: list[SweepPlan]
    outputs: OutputPlan
    gate: GateRules | None
    """The rules of its [gate] table."""
    given: Path
    """The plan's path as it was given."""
    started: Path
    """The working folder when the plan was read."""
    sha256: str | None
    """Hash of the plan's file when it was read; None of a pipe."""

    def shown(self, path: Path) -> Path:
        """A path of this plan as its reader wrote it: seen from where the plan was read."""
        return self.given.parent / path.relative_to(self.folder) if path.is_relative_to(self.folder) else path

    @property
    def sweep(self) -> SweepPlan | None:
        """The first of its sweeps."""
        return next(iter(self.sweeps), None)

    @property
    def folder(self) -> Path:
        return self.path.parent

    @property
    def cache(self) -> Path | None:
        """The folder that answers are kept in."""
        return self.calls.folder_of(self.path)

    @property
    def only_resumes(self) -> bool:
        """Whether the answers are kept only until a start has finished."""
        return self.calls.cache is None


@named_arguments
def load_plan(path: str | os.PathLike[str], *, hint: str = "", imports: bool = True) -> RunPlan:
    """Read and check a plan. All faults are in one `FormatError`, with the hint.

    The modules that it names are imported, and so their code runs. Without `imports` they are taken on trust, for those
    who ask nothing of its systems.
    """
    file = Path(as_path("path", path))
    content = read_toml(file, hint=_HINT)
    sha256 = Source(file).sha256() if file.is_file() else None
    register_plan(content)
    read, faults = read_table(content, "", _PlanFile)
    assert read is not None  # every key has a default
    folder = file.parent
    if read.testset is None and "testset" not in content:
        faults.append('testset: missing; write testset = "testset.json"')
    named = {key: name for key in ("testset", "corpus") if (name := getattr(read, key)) is not None}
    files = {key: folder / name for key, name in named.items()}
    there = {key for key, where in files.items() if os.path.exists(where)}
    faults += [
        f"{key}: there is no file {name!r} beside the plan; {_EXAMPLES[key]}"
        for key, name in named.items()
        if key not in there
    ]
    tested, wrong = read_test_set(files["testset"]) if "testset" in there else (None, [])
    faults += [*wrong, *(corpus_faults(files["corpus"]) if "corpus" in there else ())]
    measures = [read.measures] if isinstance(read.measures, str) else read.measures
    has_corpus = "corpus" in named  # that its file is missing is told once
    systems, wrong = read_systems(read.system, folder, has_corpus=has_corpus, imports=imports)
    faults += measure_faults(measures, read.contract, systems, has_corpus="corpus" in content)
    faults += [*wrong, *cache_faults(read.calls.folder_of(file))]
    settings, wrong = _settings(read.compare, [system.name for system in systems])
    faults += wrong
    sweeps: list[SweepPlan] = []
    if "sweep" in content and imports:
        queries = None if tested is None else len(tested)
        sweeps, wrong = read_sweeps(read.sweep, systems, folder, queries=queries, has_corpus=has_corpus)
        faults += wrong
    faults += overlap_faults(read.overlap, systems, sweeps)
    passages = may_score_passages(tested, systems)
    measured = None if tested is None else Measured(measures, read.contract, tested.tags, passages=passages)
    faults += check_gate_table(read.gate, measured)
    faults += [
        *_ending_faults(read.outputs),
        *_report_faults(read.outputs),
        *output_faults(vars(read.outputs), folder, [file, *files.values()]),
    ]
    if faults:
        raise FormatError(str(path), _in_order(faults, content), hint=hint)
    return RunPlan(
        path=file.absolute(),
        test_set=files["testset"].absolute(),
        corpus=files["corpus"].absolute() if "corpus" in files else None,
        measures=measures,
        contract=read.contract,
        overlap=read.overlap,
        systems=systems,
        calls=read.calls,
        comparison=settings,
        baseline=read.compare.baseline,
        by_tag=read.compare.by == "tag",
        sweeps=sweeps,
        outputs=read.outputs,
        gate=GateRules.of(**read.gate) if "gate" in content else None,
        given=file,
        started=Path.cwd(),
        sha256=sha256,
    )


def _in_order(faults: list[str], content: Mapping[str, Any]) -> list[str]:
    """Each fault once, in the order of the file's tables."""
    keys = list(content)

    def place(fault: str) -> int:
        key = fault.partition(":")[0].partition(".")[0].partition(" ")[0]
        return keys.index(key) if key in keys else -1

    return sorted(dict.fromkeys(faults), key=place)


def _settings(table: _CompareTable, names: list[str]) -> tuple[Settings, list[str]]:
    faults = []
    if table.baseline is not None and table.baseline not in names:
        faults.append(f"compare.baseline: {table.baseline!r} is not among the systems: {', '.join(names)}")
    try:
        settings = Settings.of(**{one.name: getattr(table, one.name) for one in fields(Settings)})
    except RankgaugeError as error:
        return Settings(), [*faults, f"compare: {error}"]
    return settings, faults


def _ending_faults(outputs: OutputPlan) -> Iterator[str]:
    for key, endings in _ENDINGS.items():
        value = getattr(outputs, key)
        if value is not None and not value.lower().removesuffix(".gz").endswith(endings):
            yield f"outputs.{key}: {value!r} must end with {' or '.join(endings)}"


def _report_faults(outputs: OutputPlan) -> Iterator[str]:
    """What the report needs and is not installed, told before the calls and not after them."""
    if outputs.report is not None:
        checks = (partial(check_installed, *needed, "report") for needed in _REPORT)
        yield from (f"outputs.report: {fault}" for fault in faults_of(*checks))


def template() -> str:
    """A commented plan to start from."""
    return Path(__file__).with_name("plan.toml").read_text("utf-8")


def modules_of(path: str | os.PathLike[str]) -> list[str]:
    """The modules that a plan names: their code runs when they are imported."""
    content = read_toml(Path(path), hint=_HINT)
    tables = [content.get("monitor"), *(entries if isinstance(entries := content.get("system"), list) else [entries])]
    named = [table.get(key) for table in tables if isinstance(table, dict) for key in ("use", "factory", "documents")]
    return list(dict.fromkeys(text.partition(":")[0] for text in named if isinstance(text, str) and ":" in text))
