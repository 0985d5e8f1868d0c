"""`judge`: documents graded by language models, within a budget, each call paid for once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.labels import LabelFile, load_labels
from rankgauge.model.labels import LabelPolicy, Labels
from rankgauge.model.pool import Pool, PooledPair
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.checks import check_whole
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_cost import Budget, Ledger
from rankgauge.testsets.chat_requests import Estimate
from rankgauge.testsets.judge import Judge
from rankgauge.testsets.judge_guards import family_notes
from rankgauge.testsets.judge_probe import JudgeProbe, probe_groups
from rankgauge.testsets.judge_result import JudgeFailure, JudgeResult
from rankgauge.testsets.judge_run import JudgeRun, LabelStore
from rankgauge.testsets.judge_work import Work

__all__ = ["estimate_judging", "judge", "probe_judge"]

Pairs = Pool | Iterable[PooledPair | tuple[str, str]] | str | os.PathLike[str] | None
Path = str | os.PathLike[str]
Progress = Callable[[str, int, int], object]


@named_arguments
def judge(
    pairs: Pairs,
    test_set: TestSet | Path,
    corpus: Mapping[str, str] | Path | None = None,
    *,
    judge: Judge | Sequence[Judge],
    labels: Path | None = None,
    cache: Path | None = None,
    budget: Budget | Mapping[str, float] | None = None,
    aspects: Mapping[str, Any] | None = None,
    anchors: Labels | Path | None = None,
    probe: int = 0,
    rerankers: str | Sequence[str] = (),
    told: Callable[[Estimate], object] | None = None,
    progress: Progress | None = None,
) -> JudgeResult:
    """Let one or several judges grade pairs of query and document: those of a pool, or all documents that the test set
    names, where `pairs` is None. The texts of documents come from the corpus, else from the test set.

    What a judge has graded by the same rubric, as the file `labels` tells, is not asked again; each new label is on
    the disk as soon as it is there. Answers are kept in `cache`, by default beside the labels, so that after any end
    of the process nothing is paid for twice. `budget` holds for this run: {"calls": 100, "tokens": 1e6, "cost": 5.0},
    any of them; no call is made that could exceed it.

    `aspects` are points that documents are graded for too, by query; they become labels with an `aspect`. `anchors`
    are labels of people, which each run has judged anew to see whether a judge drifts. `probe` documents are used to
    see whether a judge repeats itself, goes by length or place, and obeys what documents tell it. `rerankers` name the
    models of the systems under test, for the warning where one is of a judge's family. `told` gets the estimate of
    what it will cost before anything is asked. `progress` gets a judge's name, and the numbers of finished calls and
    of all.
    """
    if told is not None and not callable(told):
        raise DataError(f"`told` must be a function that takes an estimate, not {told!r}"[:300])
    work = Work(pairs, test_set, corpus, judge, aspects)
    ledger = Ledger(_budget(budget))
    for one in work.judges:
        ledger.check(one.chat.prices)
    people = _people(anchors)
    check_whole("probe", probe, 0)
    kept = _cache_path(labels, cache)
    with ExitStack() as stack:
        file = None if labels is None else LabelFile(_path("labels", labels))
        if file is not None:
            stack.callback(file.close)
        answers = None if kept is None else stack.enter_context(AnswerCache(kept))
        store = LabelStore(file)
        estimate = work.estimate(store.labels, answers, people, probe, keeps=answers is not None)
        if told is not None:
            told(estimate)
        reports, failures, left = [], list[JudgeFailure](), list[tuple[str, str, str]]()
        stopped = ""
        for one in work.judges:
            run = JudgeRun(work, one, store, ledger, answers, _told(progress, one), stopped)
            reports.append(run.report(people, probe))
            failures += run.failures
            left += run.left
            # The next judge may be served by another server.
            stopped = run.stopped if run.stopped != "failing" or one is work.judges[-1] else stopped
        places = {pair: place for place, pair in enumerate(work.pairs)}
        named = {one.name for one in work.judges}
        found = [label for label in store.labels if label.pair in places and label.judge in named]
        found.sort(key=lambda label: places[label.pair])  # whatever the order of the answers was
    return JudgeResult(
        Labels(found, name="labels" if labels is None else os.fspath(labels)),
        tuple(reports),
        tuple(failures),
        tuple(left),
        estimate,
        ledger.spent,
        ledger.budget,
        stopped,
        (*work.remarks, *family_notes(work.judges, work.test_set, rerankers)),
    )


@named_arguments
def estimate_judging(
    pairs: Pairs,
    test_set: TestSet | Path,
    corpus: Mapping[str, str] | Path | None = None,
    *,
    judge: Judge | Sequence[Judge],
    labels: Path | None = None,
    cache: Path | None = None,
    aspects: Mapping[str, Any] | None = None,
    anchors: Labels | Path | None = None,
    probe: int = 0,
) -> Estimate:
    """What judging will cost, without asking anything: calls, tokens, and money where prices are given. What is in the
    files of labels and answers costs nothing; anchors and probes are counted in."""
    work = Work(pairs, test_set, corpus, judge, aspects)
    people = _people(anchors)
    check_whole("probe", probe, 0)
    kept = _cache_path(labels, cache)
    known = Labels() if labels is None or not os.path.exists(_path("labels", labels)) else load_labels(labels)
    if kept is None or not os.path.exists(kept):
        return work.estimate(known, None, people, probe, keeps=kept is not None)
    with AnswerCache(kept) as answers:
        return work.estimate(known, answers, people, probe, keeps=True)


@named_arguments
def probe_judge(
    pairs: Pairs,
    test_set: TestSet | Path,
    corpus: Mapping[str, str] | Path | None = None,
    *,
    judge: Judge,
    n: int = 20,
    seed: int = 0,
    budget: Budget | Mapping[str, float] | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> JudgeProbe:
    """How far a judge can be trusted, by n documents: does it give the same grade again, in another order, to a longer
    document, and to one that tells it what to say?"""
    work = Work(pairs, test_set, corpus, judge, None)
    ledger = Ledger(_budget(budget))
    with ExitStack() as stack:
        answers = None if cache is None else stack.enter_context(AnswerCache(_path("cache", cache)))
        groups = work.groups(judge, work.pairs)
        return probe_groups(
            judge,
            groups,
            check_whole("n", n, 1),
            ledger=ledger,
            cache=answers,
            seed=check_whole("seed", seed),
            progress=_told(progress, judge),
        )


def _budget(given: Any) -> Budget:
    if given is None or isinstance(given, Budget):
        return given or Budget()
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise DataError('`budget` is a mapping such as {"calls": 100, "tokens": 1000000, "cost": 5.0}')
    whole = {  # 1e6 is a whole number too
        name: int(value) if name != "cost" and isinstance(value, float) and value.is_integer() else value
        for name, value in given.items()
    }
    return Budget(**whole)


def _people(anchors: Any) -> dict[tuple[str, str], float]:
    """What people say of the anchors."""
    if anchors is None:
        return {}
    labels = load_labels(anchors) if isinstance(anchors, str | os.PathLike) else anchors
    if not isinstance(labels, Labels):
        raise DataError(f"`anchors` are Labels, or the path of a file of them, not a {type(labels).__name__}")
    grades = labels.grades(LabelPolicy(("person", "import")))
    found = {(query, doc): grade for query, docs in grades.items() for doc, grade in docs.items()}
    if not found:
        raise DataError(f"{labels.name}: no label is of a person, so these are no `anchors`")
    return found


def _path(argument: str, value: Any) -> str:
    """A path that the system can take."""
    path = as_path(argument, value)
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        path = "\0"
    if "\0" in path:
        raise DataError(f"`{argument}={value!r}` is no path")
    return path


def _cache_path(labels: Any, cache: Any) -> str | None:
    """The file of answers: by default beside the labels, or none where these have no file."""
    if cache is not None:
        return _path("cache", cache)
    return None if labels is None else f"{os.path.splitext(_path('labels', labels))[0]}.answers.jsonl"


def _told(progress: Progress | None, judge: Judge) -> Callable[[int, int], object] | None:
    return None if progress is None else lambda done, total: progress(judge.name, done, total)
