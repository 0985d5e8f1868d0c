"""`init_from_documents`: from a folder of documents to a test set that can be run, in one go."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError, FormatError, RankgaugeError
from rankgauge.formats.documents import Documents, load_documents
from rankgauge.formats.json_values import dump_lines
from rankgauge.model.pool import Pool
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.bm25 import BM25
from rankgauge.retrievers.checks import check_whole
from rankgauge.retrievers.dense import Dense
from rankgauge.retrievers.hybrid import Hybrid
from rankgauge.retrievers.interface import Retriever
from rankgauge.testsets.chat import ChatModel
from rankgauge.testsets.chat_cost import Budget, Usage, as_budget
from rankgauge.testsets.chat_pace import CallSettings
from rankgauge.testsets.generated import GeneratedQueries
from rankgauge.testsets.generating import generate_queries
from rankgauge.testsets.judge import Judge
from rankgauge.testsets.judge_result import JudgeResult
from rankgauge.testsets.judging import judge as grade_pairs
from rankgauge.testsets.pooling import pool
from rankgauge.testsets.starting_files import FILES, check_target, plan_text, write_files
from rankgauge.words import Note, tell

__all__ = ["StartedTestSet", "init_from_documents"]

_DEPTH: Final = 20
_FEW: Final = 20  # documents, of which a list of ten holds half
_REASONS: Final = ("generated.failures", "generated.stopped_failing")
Progress = Callable[[str, int, int], None]


@named_arguments
@dataclass(frozen=True)
class StartedTestSet:
    """A folder with all that `rankgauge run` needs, and how it came to be."""

    folder: Path
    documents: Documents
    generated: GeneratedQueries
    test_set: TestSet
    systems: list[str]
    """The retrievers of the plan, which the pool was filled by."""
    lacking: dict[str, str] = field(default_factory=dict)
    """Retrievers that could not be used, and why."""
    pooled: int = 0
    """Pairs of query and document that nobody has judged."""
    judged: JudgeResult | None = None
    """What a language model made of the pool."""
    dropped: int = 0
    """Queries for which it calls no document relevant."""
    files: list[str] = field(default_factory=list)

    @property
    def plan(self) -> Path:
        return self.folder / "plan.toml"

    @property
    def notes(self) -> list[Note]:
        """What the test set can show, and what it cannot."""
        said = [*self.documents.notes]
        if (n := len(self.documents.corpus)) < _FEW:
            said.append(Note("started.few_documents", {"n": n}, "warning"))
        for name, why in self.lacking.items():
            said.append(Note("started.lacking", {"name": name, "why": why}, "warning"))
        said += self.generated.notes
        said.append(Note("started.shows", {}))
        if self.judged is not None:
            said += self.judged.notes
        if self.dropped:
            said.append(Note("started.judge_dropped", {"n": self.dropped}, "warning"))
        if self.pooled:
            said.append(Note("started.unjudged", {"n": self.pooled}))
        return said

    def to_dict(self) -> dict[str, Any]:
        return {
            "format": "rankgauge.started-test-set",
            "version": 1,
            "folder": str(self.folder),
            "files": self.files,
            "documents": self.documents.to_dict(),
            "generated": self.generated.to_dict(),
            "systems": self.systems,
            "lacking": self.lacking,
            "pooled": self.pooled,
            "judged": None if self.judged is None else self.judged.to_dict(),
            "dropped_by_judge": self.dropped,
        }


@named_arguments
def init_from_documents(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    n: int = 100,
    kinds: Mapping[str, float] | None = None,
    seed: int = 0,
    by: str | None = None,
    forbid_words: int = 0,
    noise: float = 0.3,
    real: TestSet | Iterable[str] | str | os.PathLike[str] | None = None,
    model: ChatModel | None = None,
    verify: bool = True,
    budget: Budget | Mapping[str, float] | None = None,
    judge: Judge | None = None,
    calls: CallSettings | None = None,
    cache: str | os.PathLike[str] | None = None,
    encoding: str | None = None,
    max_bytes: int = 20_000_000,
    depth: int = _DEPTH,
    force: bool = False,
    progress: Progress | None = None,
) -> StartedTestSet:
    """Make of a folder of documents what `rankgauge run` needs, in a new folder: the corpus, synthetic queries, the
    pool of what retrievers find for them, and a plan.

    All files are written, or none. A folder that is there is refused unless it is empty; `force` replaces the files of
    these names in it. A `judge` grades the pool, within what the queries left of the `budget`. The other arguments are
    those of `load_documents` and `generate_queries`; `depth` is how far the pool reaches into each list.
    """
    target = Path(as_path("output", output))
    check_whole("depth", depth, 1)
    if judge is not None and not isinstance(judge, Judge):
        raise DataError(f"`judge` must be a Judge, not a {type(judge).__name__}")
    check_target(target, force)
    report = progress or (lambda what, done, total: None)
    documents = load_documents(
        folder, encoding=encoding, max_bytes=max_bytes, progress=lambda done, total: report("files", done, total)
    )
    if not documents.corpus:
        left = {reason: len(files) for reason, files in documents.left_out.items()}
        told = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in left.items()) or "it has no files"
        raise FormatError(str(folder), [f"there is no document to read: {told}; .md, .txt, .rst, .html, .pdf are read"])
    generated = generate_queries(
        documents.corpus,
        n,
        kinds=kinds,
        seed=seed,
        by=by,
        forbid_words=forbid_words,
        noise=noise,
        real=real,
        model=model,
        verify=verify,
        budget=budget,
        calls=calls,
        cache=cache,
        progress=progress,
    )
    if generated.stopped == "interrupted":
        raise KeyboardInterrupt
    if not any(query.relevant for query in generated.test_set):
        raise DataError(_nothing_made(generated))
    systems, lacking = _systems(documents.corpus, report)
    runs = {name: _run(name, system, generated.test_set, depth, report) for name, system in systems.items()}
    judged, dropped, test_set = None, 0, generated.test_set
    if judge is not None and runs:
        rest = _left_of(as_budget(budget), generated.usage)
        judged, test_set = _judged(runs, generated, documents.corpus, judge, depth, rest, cache, report)
        dropped = len(generated.test_set) - len(test_set)
        if not any(query.relevant for query in test_set):
            raise DataError(f"the judge {judge.name} calls no document relevant to any query; look at its rubric")
    answerable = [query.id for query in test_set if not query.no_answer]
    waiting = pool(runs, depth, judged=test_set, queries=answerable) if runs and answerable else Pool()
    contents = {
        "corpus.jsonl": dump_lines({"_id": doc, "text": text} for doc, text in documents.corpus.items()),
        "plan.toml": plan_text(systems or ["bm25"], generated.realism.taken, judge.name if judge else "").encode(),
    }
    write_files(target, contents, test_set, waiting)
    files = [name for name in FILES if len(waiting) or name != "pool.jsonl"]
    return StartedTestSet(
        target, documents, generated, test_set, list(systems), lacking, len(waiting), judged, dropped, files
    )


def _nothing_made(found: GeneratedQueries) -> str:
    """Why there is no query."""
    if found.maker == "known-item":
        return "no query could be made that is found by its words in one document alone; give more documents"
    if found.stopped == "budget":
        return f"the budget ends before there is a query that passed its checks; {found.left} calls were not made"
    why = [*found.drops, *(note for note in found.notes if note.key in _REASONS)]
    told = "; ".join(tell(note, "en") for note in why)
    return f"no query of {found.maker.removeprefix('llm:')} passed its checks: {told or 'it wrote none'}"


def _systems(corpus: Mapping[str, str], report: Progress) -> tuple[dict[str, Retriever], dict[str, str]]:
    """The retrievers that can be used here; of others, why not."""
    made: dict[str, Any] = {}
    lacking: dict[str, str] = {}
    for place, (name, factory) in enumerate((("bm25", BM25), ("dense", Dense))):
        report("indexes", place, 2)
        try:
            made[name] = factory(corpus)
        except RankgaugeError as error:
            lacking[name] = str(error)
    report("indexes", 2, 2)
    if len(made) == 2:
        made["hybrid"] = Hybrid({"bm25": made["bm25"], "dense": made["dense"]}, weights=[0.5, 0.5])
    return made, lacking


def _run(name: str, system: Retriever, test_set: TestSet, depth: int, report: Progress) -> Run:
    found = {}
    for place, query in enumerate(test_set, start=1):
        found[query.id] = {hit.id: hit.score for hit in system.search(query.text, depth)}
        report("pooling", place, len(test_set))
    return Run(found, name=name)


def _judged(
    runs: Mapping[str, Run],
    generated: GeneratedQueries,
    corpus: Mapping[str, str],
    judge: Judge,
    depth: int,
    budget: Budget,
    cache: str | os.PathLike[str] | None,
    report: Progress,
) -> tuple[JudgeResult, TestSet]:
    """The pool graded, sources included, and the test set with these labels; without queries that the judge finds no
    relevant document for. Queries that need two documents keep theirs: each alone is no answer."""
    asked = [query for query in generated.test_set if query.relevant and not query.groups]
    found = pool(runs, depth, queries=[query.id for query in asked])
    there = {one.pair for one in found}
    sources = [(query.id, doc) for query in asked for doc in query.relevant if (query.id, doc) not in there]
    pairs = Pool([*sources, *found])
    result = grade_pairs(
        pairs,
        generated.test_set,
        corpus,
        judge=judge,
        budget=budget,
        cache=cache,
        progress=lambda name, done, total: report("judging", done, total),
    )
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    labelled = generated.test_set.renamed(generated.maker).with_labels(result.labels)
    kept = [query for query in labelled if query.no_answer or query.relevant]
    return result, labelled.with_queries(kept) if len(kept) < len(labelled) else labelled


def _left_of(budget: Budget, used: Usage | None) -> Budget:
    """What the queries leave to the judge."""
    if used is None:
        return budget
    return Budget(
        calls=None if budget.calls is None else max(budget.calls - used.calls, 0),
        tokens=None if budget.tokens is None else max(budget.tokens - used.tokens, 0),
        cost=None if budget.cost is None else max(budget.cost - (used.cost or 0.0), 0.0),
    )
