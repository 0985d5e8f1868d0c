"""`run_benchmark`: a run file or a live retriever under a benchmark's official measures and contract."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.excluding import exclusion_name, without_excluded
from rankgauge.benchmarks.mteb_results import MtebScores, load_mteb_results
from rankgauge.benchmarks.stored import BenchmarkSet, load_benchmark
from rankgauge.errors import DataError
from rankgauge.evaluation import Evaluation, evaluate
from rankgauge.formats import load_run
from rankgauge.formats.settings import read_toml
from rankgauge.live.live import evaluate_retriever
from rankgauge.model.run import Run
from rankgauge.plans.entries import read_systems
from rankgauge.plans.systems import SystemPlan, check_system, make_system
from rankgauge.retrievers.registry import build
from rankgauge.stats.intervals import Interval
from rankgauge.words import Note, tell

__all__ = ["BenchmarkResult", "Figure", "run_benchmark"]

_IMPLAUSIBLE = 0.5
"""Below this share of what BM25 reaches, something other than the ranking is likely to be wrong."""


@dataclass(frozen=True)
class Figure:
    """One official measure: what was measured, and what is published."""

    measure: str
    value: float
    interval: Interval | None
    queries: int
    tag: str = ""
    """The queries that it is official for, where that is not all."""
    bm25: float | None = None
    """What is published of BM25."""
    mteb: Mapping[str, float] | None = None
    """What results of MTEB say, by model."""


@dataclass(frozen=True)
class BenchmarkResult:
    """`.figures` (official measures beside published ones), `.evaluation`, `.record`, `.benchmark`, `.notes`."""

    benchmark: Benchmark
    evaluation: Evaluation
    figures: Sequence[Figure]
    notes: Sequence[Note]
    beside: Sequence[MtebScores] = ()

    @property
    def record(self) -> Any:
        """The result document, under the benchmark's contract."""
        return self.evaluation.record

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        return [tell(note, "en") for note in self.notes if note.level == "warning"]

    def to_dict(self) -> dict[str, Any]:
        """The figures and where they come from, for programs."""
        bm25 = self.benchmark.bm25
        return {
            "benchmark": self.benchmark.name,
            "split": self.benchmark.split,
            "licence": self.benchmark.licence,
            "system": self.evaluation.name,
            "contract": self.evaluation.contract.to_dict(),
            "figures": [
                {
                    "measure": one.measure,
                    "tag": one.tag,
                    "value": one.value,
                    "interval": None if one.interval is None else [one.interval.low, one.interval.high],
                    "queries": one.queries,
                    "bm25": one.bm25,
                    "mteb": dict(one.mteb or {}),
                }
                for one in self.figures
            ],
            "bm25": None if bm25 is None else {"system": bm25.system, "source": bm25.source},
            "notes": [{"level": note.level, "text": tell(note, "en")} for note in self.notes],
        }


@named_arguments
def run_benchmark(
    benchmark: str | BenchmarkSet,
    run: Any = None,
    *,
    retriever: Any = None,
    parameters: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] | None = None,
    name: str | None = None,
    k: int | None = None,
    concurrency: int = 1,
    timeout: float = 30.0,
    beside: str | os.PathLike[str] | Sequence[MtebScores] = (),
    progress: Callable[[int, int], None] | None = None,
) -> BenchmarkResult:
    """Score a run (a path, a dictionary, a `Run`) or a live retriever with the official measures of a benchmark, under
    its contract.

    `benchmark` is what `load_benchmark` gave, or a name, whose `folder` is looked for as `load_benchmark` does.
    `retriever` is the name of a built-in one ("bm25", with its `parameters`), `module:attribute`, the path of a plan
    with one [[system]], or an object to be searched; it is asked for the depth of the deepest measure unless `k` says
    otherwise. `beside` holds results of MTEB, whose figures on the same task are shown with one's own.
    """
    if (run is None) == (retriever is None):
        raise DataError("give a run, or `retriever=`: one of them")
    loaded = benchmark if isinstance(benchmark, BenchmarkSet) else load_benchmark(benchmark, folder)
    notes = list(loaded.notes)
    if retriever is None:
        scored = _scored(loaded, run, name, notes)
    else:
        calls = {"concurrency": concurrency, "timeout": timeout, "progress": progress}
        scored = _asked(loaded, _made(loaded, retriever, parameters or {}), name, k, calls, notes)
    known = load_mteb_results(beside) if isinstance(beside, str | os.PathLike) else list(beside)
    same = [one for one in known if one.task == loaded.benchmark.mteb]
    if known and not same:
        task = loaded.benchmark.mteb or loaded.benchmark.name
        notes.append(Note("benchmarks.no_mteb", {"task": task, "n": len(known)}, "warning"))
    figures = _figures(loaded, scored, same)
    notes += _plausible(loaded.benchmark, figures, scored)
    return BenchmarkResult(loaded.benchmark, scored[""], figures, notes, same)


def _scored(loaded: BenchmarkSet, run: Any, name: str | None, notes: list[Note]) -> dict[str, Evaluation]:
    """The evaluation of a run, and those of the tags that have measures of their own."""
    counting = _counting(loaded.benchmark)
    if loaded.excluded:
        whole = load_run(run) if isinstance(run, str | os.PathLike) else Run(run, name=name or "run")
        run, dropped = without_excluded(whole, loaded.excluded)
        told = exclusion_name(loaded.benchmark.name, loaded.excluded)
        counting = {"contract": replace(loaded.benchmark.contract, excluded=told)}
        notes.append(Note("benchmarks.excluded", {"n": dropped, "queries": len(loaded.excluded)}))
    measures = list(loaded.benchmark.measures)
    if isinstance(run, str | os.PathLike) and name is None:
        name = Path(os.fspath(run)).stem
    found = {"": evaluate(loaded.judgments, run, measures, name=name, **counting)}
    for tag in dict.fromkeys(loaded.benchmark.tagged.values()):
        part = loaded.test_set.tagged(tag)
        if not len(part):
            raise DataError(f"{loaded.benchmark.name}: no query is tagged {tag!r}, which {measures} are for")
        found[tag] = evaluate(part, run, measures, name=name, **counting)
    return found


def _counting(own: Benchmark) -> dict[str, Any]:
    """The contract as `evaluate` takes it: by its preset where that can be, so that others' records under the same
    preset and choices are comparable."""
    if "drop_self" in own.choices:
        return {"contract": own.contract}
    return {"contract": own.preset, **own.choices}


def _asked(
    loaded: BenchmarkSet, retriever: Any, name: str | None, k: int | None, calls: dict[str, Any], notes: list[Note]
) -> dict[str, Evaluation]:
    """The same of a live retriever. It does not know which documents are excluded, so it is asked for as many more."""
    own = loaded.benchmark
    more = max(map(len, loaded.excluded.values()), default=0)
    wanted = k or own.depth
    asked = evaluate_retriever(
        retriever, loaded.test_set, wanted + more, list(own.measures), name=name, **_counting(own), **calls
    )
    notes += [note for note in asked.live_notes if note.level == "warning"]
    if not more and not own.tagged:
        return {"": asked}
    found = _scored(loaded, asked.run, asked.name, notes)
    for evaluation in found.values():
        evaluation.take_after(asked)
    return found


def _made(loaded: BenchmarkSet, retriever: Any, parameters: Mapping[str, Any]) -> Any:
    """The retriever that a text names, over the benchmark's documents; any other is ready to be asked."""
    if not isinstance(retriever, str | os.PathLike):
        return retriever
    text, folder = os.fspath(retriever), Path.cwd()
    corpus = loaded.corpus
    if text.endswith(".toml"):
        system, folder = _of_plan(Path(text), has_corpus=corpus is not None), Path(text).parent
    elif ":" in text:
        system = SystemPlan(name=text, factory=text, parameters=dict(parameters))
        if faults := check_system(system, folder, has_corpus=corpus is not None):
            system = SystemPlan(name=text, use=text)
            if check_system(system, folder, has_corpus=corpus is not None):
                raise DataError(faults[0])
    else:
        if corpus is None:
            raise DataError(
                f"{loaded.benchmark.name}: its documents are not here, so {text!r} has nothing to search; fetch it "
                "with them, or give a run"
            )
        return build(text, corpus, **parameters)
    return make_system(system, folder, corpus)


def _of_plan(path: Path, *, has_corpus: bool) -> SystemPlan:
    systems, faults = read_systems(read_toml(path).get("system"), path.parent, has_corpus=has_corpus)
    if faults:
        raise DataError(f"{path}: {faults[0]}")
    if len(systems) != 1:
        raise DataError(f"{path}: it has {len(systems)} systems; a benchmark asks one")
    return systems[0]


def _figures(loaded: BenchmarkSet, scored: Mapping[str, Evaluation], same: Sequence[MtebScores]) -> list[Figure]:
    own = loaded.benchmark
    published = {} if own.bm25 is None else own.bm25.figures
    found = []
    for measure in own.measures:
        tag = own.tagged.get(measure, "")
        evaluation = scored[tag]
        number = int(evaluation.table.counted[:, list(evaluation.mean).index(measure)].sum())
        theirs = {one.label: one.figures[measure] for one in same if measure in one.figures}
        found.append(
            Figure(
                measure,
                evaluation.mean[measure],
                evaluation.interval[measure],
                number,
                tag,
                published.get(measure),
                theirs,
            )
        )
    return found


def _plausible(own: Benchmark, figures: Sequence[Figure], scored: Mapping[str, Evaluation]) -> list[Note]:
    """Whether the figures can be right at all, and the warnings of the evaluation itself."""
    notes = [note for note in scored[""].notes if note.level == "warning"]
    low = [one for one in figures if one.bm25 is not None and one.value < _IMPLAUSIBLE * one.bm25]
    if low:
        about = {"measure": low[0].measure, "value": low[0].value, "bm25": low[0].bm25}
        notes.append(Note("benchmarks.implausible", about, "warning"))
    if own.bm25 is None:
        notes.append(Note("benchmarks.no_bm25"))
    return notes
