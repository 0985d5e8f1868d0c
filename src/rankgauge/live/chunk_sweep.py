"""`sweep_chunks`: how large should chunks be? Every size fills the same context budget, and the labels are documents.

Chunks of different sizes cannot be compared at the same k: ten large ones hold more than ten small ones. So each list
is cut where the budget is full, and what is compared is how good the documents within are.
"""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cache as remembered
from itertools import accumulate
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation import Scoring, make_plan
from rankgauge.live.asking import Asking
from rankgauge.live.chunked import has_passages, with_own
from rankgauge.live.evaluation import LiveEvaluation
from rankgauge.live.sweep import Sweep, check_folds, check_keys, outcome_of, settings_of
from rankgauge.live.trials import try_settings
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.lengths import length_of
from rankgauge.model.testset import TestSet
from rankgauge.record import BudgetPoint
from rankgauge.retrievers.checks import check_whole
from rankgauge.retrievers.chunking import check_chunking, chunk
from rankgauge.retrievers.configuration import corpus_version, described
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.journal import Journal, open_journal
from rankgauge.retrievers.registry import RETRIEVERS, build, needs_corpus
from rankgauge.retrievers.searcher import Searcher, as_searcher
from rankgauge.retrievers.work import CallSettings
from rankgauge.stats.settings import Settings
from rankgauge.words import Note

__all__ = ["check_budgets", "sweep_chunks"]

_POINTS = 8
"""Budgets of a curve, where only one is given."""


@dataclass(frozen=True)
class _Filled:
    """A retriever that is asked for more until the budget is full."""

    search: Callable[[str, int], Any]
    chunks: Chunks
    most: int
    """So many of the shortest chunks fill the largest budget."""


@named_arguments
def sweep_chunks(
    corpus: Mapping[str, str] | str | os.PathLike[str],
    test_set: TestSet | str | os.PathLike[str],
    *,
    sizes: Sequence[int],
    overlaps: Sequence[float] = (0,),
    by: str | Sequence[str] = "sentences",
    budget: int | Sequence[int] | None = None,
    ks: Sequence[int] | None = None,
    retriever: str | Callable[..., Any] = "bm25",
    grid: Mapping[str, Sequence[Any]] | None = None,
    measures: str | Measure | Sequence[str | Measure] = ("R", "nDCG@10"),
    baseline: str | None = None,
    length: Callable[[str], int] = len,
    name: str | None = None,
    tries: int | None = None,
    folds: int | None = None,
    seed: int = 0,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    progress: Callable[[int, int, str], None] | None = None,
    k: int = 10,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    cache: str | os.PathLike[str] | None = None,
    configuration: Mapping[str, Any] | None = None,
    id_field: str | None = None,
    score_field: str | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    passage_overlap: float | None = None,
) -> Sweep:
    """Cut the corpus in every way, search the chunks, and compare the versions at an equal context budget.

    `sizes`, `overlaps` and `by` are those of `chunk`; `length` gives a text its length, in characters or tokens, for
    sizes and budget alike. With a `budget`, every list is cut after the chunks that fit into it, so that the number of
    chunks follows from their size; of several budgets the first decides, and the others are points of the curve. With
    `ks`, so many chunks are asked for, and cut at the budget if there is one; with neither, `k`. `retriever` is the
    name of a built-in one or a function that makes one from `Chunks` (and from the parameters of `grid`, if there are
    any), which returns their ids.

    Chunks count as their documents; where labels are passages, these are looked for in the chunks, as `evaluate` does
    it with `chunks`: `passage_overlap` is the share of a passage that a chunk must hold (default: 0.5). The best
    version by the first of the `measures` is chosen, with its cross-validated score; all versions are compared with one
    another, or with the `baseline` (V1, V2, ... in the order of the grid), and corrected together. The other arguments
    are those of `sweep` and `compare`.
    """
    check_text("name", name)
    wanted = [by] if isinstance(by, str) else list(by)
    budgets = check_budgets(budget)
    if not callable(length):
        raise DataError(f"`length` must be a function that gives a text its length, not {length!r}")
    for argument, values in (("sizes", sizes), ("overlaps", overlaps), ("ks", ks)):
        if values is not None and (not isinstance(values, Sequence) or isinstance(values, str)):
            raise DataError(f"`{argument}` must be a list of numbers to try, such as [5, 10], not {values!r}"[:200])
    settings, left_out = _settings({"size": sizes, "overlap": overlaps, "by": wanted}, grid or {}, ks, tries, seed)
    _check_baseline(baseline, len(settings))
    comparing = Settings.of(test, correction, alpha, equivalence_margin, seed)
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel)
    # A tokenizer is slow, and every chunk is measured for each budget.
    measured: Callable[[str], int] = length if length is len or not callable(length) else remembered(length)
    scoring = Scoring(
        plan,
        corpus=corpus,
        tokenizer=measured,
        cut=budgets[0] if budgets else None,
        overlap=passage_overlap,
        own_chunks=True,
    )
    asking = Asking.of(test_set, corpus, calls, scoring, id_field, score_field)
    documents = asking.corpus
    if passage_overlap is not None and not has_passages(asking.test_set):
        raise DataError("`passage_overlap` is for labels that are passages, and the test set has none")
    if documents is None:
        raise DataError("there is nothing to cut: give `corpus`, texts by id or the path of a file")
    check_folds(folds, asking.test_set)
    make = _maker(retriever)
    cut: dict[str, Chunks] = {}
    figures: dict[str, dict[str, Any]] = {}

    def factory(size: int, overlap: float = overlaps[0], by: str = wanted[0], **parameters: Any) -> _Filled:
        key = repr((size, overlap, by))
        if key not in cut:
            cut.clear()  # one corpus in pieces at a time
            cut[key] = chunk(documents, size, overlap, by=by, length=measured)
        searcher = as_searcher(make(cut[key], **parameters), id_field=id_field, score_field=score_field)
        return _filled(searcher, cut[key], max(budgets, default=None), measured)

    def asked(setting: Mapping[str, Any], made: _Filled) -> int:
        return int(setting["k"]) if "k" in setting else made.most if budgets else k

    several = len({setting["size"] for setting in settings}) > 1
    unequal, favoured = not budgets and several, several and not has_passages(asking.test_set)

    def after(live: LiveEvaluation, made: _Filled) -> None:
        if unequal:
            live.live_notes.append(Note("live.no_budget", level="warning"))
        elif favoured:
            live.live_notes.append(Note("live.document_labels", level="warning"))
        first = replace(plan, measures=plan.measures[:1], asked=plan.asked[:1])
        texts = with_own(replace(asking.scoring, plan=first), made, None, asking.test_set)
        _ = texts.passages  # looked for once, for all points of the curve
        at = {point: texts.changed(cut=point).evaluation(asking.test_set, live.retrieval.run) for point in curve}
        points = [BudgetPoint(point, scored.mean[scored.measures[0]]) for point, scored in at.items()]
        figures[live.name] = {"curve": points, "chunks": _used(live, made.chunks, budgets[:1], measured)}

    curve = _points(budgets)
    called = name or (retriever if isinstance(retriever, str) else str(getattr(retriever, "__name__", "retriever")))
    about: dict[str, Any] = {}
    if cache is not None:
        told = {"retriever": retriever, "versions": described({}, {})} if isinstance(retriever, str) else None
        about = {"concurrency": concurrency, "fields": [id_field, score_field], "corpus": corpus_version(documents)}
        about |= {"budgets": budgets, "chunks": [repr(list(overlaps)), wanted], "name": name}
        about["configuration"] = configuration if configuration is not None else told if length is len else None
        check_keys(settings, about)

    def kept(setting: Mapping[str, Any], _: bool) -> AbstractContextManager[Journal | None]:
        key = {"sweep": about, "setting": dict(setting)}
        return nullcontext() if cache is None else open_journal(cache, f"sweep-{called}", key)

    tried = try_settings(factory, settings, asking, exact={}, progress=progress, kept=kept, asked=asked, after=after)
    found = outcome_of(called, settings, tried, folds, seed)
    versions = [replace(version, **figures[version.label]) for version in found.versions]
    failed = {**left_out, **found.failed}
    result = replace(found.result, versions=versions, budget=budgets[0] if budgets else None, failed=failed)
    known = baseline if baseline in figures else None
    return replace(found, result=result, compared=comparing, baseline=known, corpus=documents)


def check_budgets(budget: Any) -> list[int]:
    """The context budgets, the one that decides first; none for None."""
    if budget is None:
        return []
    given = list(budget) if isinstance(budget, Sequence) and not isinstance(budget, str) else [budget]
    if not given:
        raise DataError("`budget` is an empty list; give a number such as 4000, or leave it out")
    return [check_whole("budget", one, 1) for one in given]


def _points(budgets: Sequence[int]) -> list[int]:
    """The budgets of the curve: those given, or parts of the only one."""
    if len(budgets) != 1:
        return sorted(set(budgets))
    return sorted({max(1, round(part * budgets[0] / _POINTS)) for part in range(1, _POINTS + 1)})


def _settings(
    cutting: Mapping[str, Any], grid: Mapping[str, Any], ks: Any, tries: int | None, seed: int
) -> tuple[list[dict[str, Any]], dict[str, Note]]:
    """The versions to be tried, without what all have in common; and those of the grid that cannot be cut, with the
    reason."""
    if taken := {"k", *cutting} & grid.keys():
        raise DataError(f"`grid` holds parameters of the retriever; {taken.pop()!r} is given by an argument of its own")
    full = {**cutting, **grid, **({} if ks is None else {"k": ks})}
    faults: dict[str, DataError] = {}
    settings = []
    for setting in settings_of(full, tries, seed):
        if "k" in setting:
            check_whole("k", setting["k"], 1)
        try:
            check_chunking(setting["size"], setting["overlap"], setting["by"])
        except DataError as error:
            if setting["overlap"] < setting["size"] or len(settings_of(full)) == 1:
                raise
            faults[f"size={setting['size']}, overlap={setting['overlap']}"] = error
            continue
        settings.append(setting)
    if not settings:
        raise next(iter(faults.values()))
    common = [name for name in ("overlap", "by") if len({repr(setting[name]) for setting in settings}) == 1]
    told = {name: Note("live.error", {"error": str(error)}, "warning") for name, error in faults.items()}
    return [{name: value for name, value in setting.items() if name not in common} for setting in settings], told


def _check_baseline(baseline: Any, versions: int) -> None:
    labels = [f"V{number}" for number in range(1, versions + 1)]
    if baseline is not None and baseline not in labels:
        raise DataError(f"`baseline={baseline!r}` is no version; they are {labels[0]} to {labels[-1]}, as in the grid")


def _maker(retriever: Any) -> Callable[..., Any]:
    """What makes a retriever from chunks and parameters."""
    if not isinstance(retriever, str):
        if not callable(retriever) or (hasattr(retriever, "search") and not isinstance(retriever, type)):
            raise DataError(
                f"`retriever` is the name of a built-in one, or a function that makes one from Chunks, not a "
                f"{type(retriever).__name__}"
            )
        made: Callable[..., Any] = retriever
        return made
    RETRIEVERS[retriever]
    if not needs_corpus(retriever):
        raise DataError(
            f"the retriever {retriever!r} searches what is indexed already; give one that is built from texts, such as "
            "'bm25', or a function that indexes Chunks"
        )
    return lambda chunks, **parameters: build(retriever, chunks.texts, **parameters)


def _filled(searcher: Searcher, chunks: Chunks, budget: float | None, length: Callable[[str], float]) -> _Filled:
    """The retriever, asked for twice as many chunks until they fill the largest budget."""
    if budget is None:
        return _Filled(searcher.asearch if searcher.is_async else searcher.search, chunks, len(chunks))
    lengths = {own: length_of(text, length) for own, text in chunks.texts.items()}
    room = float(budget)
    most = min(len(lengths), bisect_right(list(accumulate(sorted(lengths.values()))), room) + 1)
    first = min(most, 1 + math.ceil(room / max(1.0, sum(lengths.values()) / len(lengths))))

    def enough(hits: list[Hit], depth: int, k: int) -> bool:
        return depth >= k or len(hits) < depth or sum(lengths.get(hit.id, 0.0) for hit in hits) > room

    def search(query: str, k: int) -> list[Hit]:
        depth = min(first, k)
        while not enough(hits := searcher.search(query, depth), depth, k):
            depth = min(2 * depth, k)
        return hits

    async def asearch(query: str, k: int) -> list[Hit]:
        depth = min(first, k)
        while not enough(hits := await searcher.asearch(query, depth), depth, k):
            depth = min(2 * depth, k)
        return hits

    return _Filled(asearch if searcher.is_async else search, chunks, most)


def _used(
    live: LiveEvaluation, chunks: Chunks, budgets: Sequence[float], length: Callable[[str], float]
) -> float | None:
    """The mean number of chunks in a context."""
    room = budgets[0] if budgets else math.inf
    counts = []
    for answer in live.retrieval.answers:
        if answer.error is None:
            sums = accumulate(length_of(chunks[hit.id].text, length) for hit in answer.hits if hit.id in chunks)
            counts.append(sum(1 for total in sums if total <= room))
    return sum(counts) / len(counts) if counts else None
