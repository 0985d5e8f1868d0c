"""`compare`: systems scored on the same queries, their differences tested as one family, a verdict for each."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.arguments import check_text, named_arguments
from rankgauge.comparison.comparison import Comparison
from rankgauge.comparison.rows import System
from rankgauge.comparison.systems import check_systems
from rankgauge.errors import DataError, counted
from rankgauge.evaluation import DEFAULT_MEASURES, GivenChunks, Scores, Scoring, make_plan, read_judgments, read_run
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.measures import Measure, find_measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.frames import is_frame
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Floats
from rankgauge.model.testset import TestSet, as_testset
from rankgauge.record import ScoredMeasure
from rankgauge.record.contradictions import LARGEST
from rankgauge.stats.settings import Settings

__all__ = ["compare", "compare_runs", "compare_scores", "compare_vectors"]


@named_arguments
def compare(
    qrels: Qrels | TestSet | Mapping[str, Any] | str | os.PathLike[str] | Any,
    runs: Mapping[str, Any],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    tokenizer: Callable[[str], int] | None = None,
    stream: bool = False,
    chunks: GivenChunks | None = None,
    overlap: float | None = None,
    stages: Mapping[str, Any] | None = None,
    conversations: ConversationRule = None,
) -> Comparison:
    """Score several runs on the same judgments and say which differences are significant.

    `runs` maps a name to a run of any kind that `evaluate` takes, or to a live evaluation, whose calls are then told
    beside its scores. Without a baseline all pairs are compared, with one
    all others with it; the correction covers exactly these rows. `equivalence_margin` is the difference that would not
    matter. `chunks` may be given by the names of the runs, where documents were cut in several ways. `stages`, by name
    and first to last, are lists that all runs were made from, such as the candidates of several rerankers: then the
    record tells where each run lost relevant documents. The other choices are those of `evaluate`. Where queries are
    turns of conversations, whole conversations are swapped, drawn and counted.
    """
    settings = Settings.of(test, correction, alpha, equivalence_margin, seed, samples)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer, stream, chunks, overlap, conversations=conversations)
    return compare_runs(qrels, runs, scoring, settings, baseline, stages)


def compare_runs(
    qrels: Any,
    runs: Mapping[str, Any],
    scoring: Scoring,
    settings: Settings,
    baseline: str | None = None,
    stages: Mapping[str, Any] | None = None,
) -> Comparison:
    """`compare`, with its choices put together."""
    if stages is not None and not isinstance(stages, Mapping):
        raise DataError('`stages` are given by name, first to last: {"candidates": run}')
    if not isinstance(runs, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    check_systems(runs, baseline)
    judgments, test_set = read_judgments(qrels)
    # Lists are looked at again later, so what can be read only once, a pipe or a generator, is kept.
    live = {str(name): run for name, run in runs.items() if isinstance(run, Scores)}
    named = {
        name: run if isinstance(run, str | os.PathLike) and Path(run).is_file() else read_run(run, name)
        for name, run in ((str(name), _lists_of(run, name)) for name, run in runs.items())
    }
    labelled = test_set if test_set is not None or scoring.passages is None else as_testset(judgments)
    scored = [scoring.evaluation(labelled or judgments, run, name) for name, run in named.items()]
    for evaluation in scored:
        if evaluation.name in live:
            evaluation.take_after(live[evaluation.name])
    return Comparison.of(
        scored,
        settings,
        baseline=baseline,
        qrels=judgments if scoring.passages is None or not labelled else scoring.passages.shared_qrels(labelled),
        runs=named,
        test_set=test_set,
        collapse_chunks=scoring.rule,
        corpus=scoring.documents,
        sources=scoring.sources(qrels, named) | {f"stage:{name}": run for name, run in (stages or {}).items()},
        stages=stages,
    )


def _lists_of(run: Any, name: Any) -> Any:
    """A run itself; of a live evaluation, the lists it was given."""
    if not isinstance(run, Scores):
        return run
    lists = getattr(run, "run", None)
    if lists is None:
        raise DataError(
            f"{name}: an {type(run).__name__} holds scores, and no lists to compare; give the run that it was made of"
        )
    return lists


@named_arguments
def compare_scores(
    scores: Mapping[str, Iterable[float | None]],
    *,
    measure: str | Measure = "score",
    queries: Sequence[str] | None = None,
    baseline: str | None = None,
    lower_is_better: bool = False,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
    conversations: ConversationRule = None,
) -> Comparison:
    """Compare per-query scores from elsewhere: one list for each system, entry i of each about the same query.

    A missing score (None or NaN) leaves that query out: of all pairs, or with a baseline of the pairs it belongs to.
    The measure may have any name; one that is known here to be no mean over queries, such as GMAP, is refused, and of
    one that is known to be better when it is smaller, less is better. `conversations` is that of `evaluate`.
    """
    settings = Settings.of(test, correction, alpha, equivalence_margin, seed, samples)
    if not isinstance(scores, Mapping):
        raise DataError(
            '`scores` are given by system, {"a": [0.5, 0.7], "b": [0.4, 0.9]}'
            + ("; of a data frame: {name: frame[name] for name in frame.columns}" if is_frame(scores) else "")
        )
    if isinstance(measure, Measure):
        measure = str(measure)
    check_text("measure", measure, "a name")
    return compare_vectors(
        scores,
        measure,
        queries,
        settings,
        baseline=baseline,
        lower_is_better=lower_is_better,
        conversations=conversations,
    )


def compare_vectors(
    scores: Mapping[str, Iterable[float | None]],
    measure: str,
    queries: Sequence[str] | None,
    settings: Settings,
    *,
    baseline: str | None,
    lower_is_better: bool,
    conversations: ConversationRule = None,
) -> Comparison:
    """`compare_scores`, with its settings put together."""
    known_as = find_measure(measure)
    plain = ScoredMeasure(measure, "mean", lower_is_better, None)
    about = plain if known_as is None else replace(ScoredMeasure.of(known_as), name=measure, bounds=None)
    about = replace(about, lower_is_better=lower_is_better or about.lower_is_better)
    vectors: dict[str, Floats] = {}
    for name, values in scores.items():
        try:
            if isinstance(values, str | Mapping):  # whose letters or keys are no scores
                raise TypeError
            listed = list(values)
            vectors[str(name)] = np.array([np.nan if v is None else float(v) for v in listed], dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(
                f"the scores of {name!r} are no list of numbers; give [0.5, 0.7, ...], one for each query"
            ) from None
    sizes = {name: len(vector) for name, vector in vectors.items()}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} {n}" for name, n in sizes.items())
        raise DataError(f"the systems have different numbers of scores ({counts}); entry i must be of one query in all")
    n = next(iter(sizes.values()), 0)
    for name, vector in vectors.items():
        if (np.abs(np.nan_to_num(vector, posinf=np.inf, neginf=-np.inf)) > LARGEST).any():
            raise DataError(f"a score of {name!r} is infinite, or larger than {LARGEST:g}")
    if not n:
        raise DataError("there are no scores to compare")
    named = _query_ids(queries, n)
    systems = {
        name: System(name, np.nan_to_num(vector)[:, None], np.isfinite(vector)[:, None])
        for name, vector in vectors.items()
    }
    turns = conversations_of(conversations, named)
    return Comparison(named, [about], systems, settings, baseline=baseline, conversations=turns)


def _query_ids(queries: Any, n: int) -> list[str]:
    """The ids of n queries: those given, each once, or numbers."""
    if queries is None:
        return [str(i + 1) for i in range(n)]
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise DataError(f"`queries` must be a list of ids, not {queries!r}")
    named = list(map(str, queries))
    if len(named) != n:
        there = "is" if len(named) == 1 else "are"
        raise DataError(
            f"there {there} {counted(len(named), 'query', 'queries')}, but {counted(n, 'score')} for each system"
        )
    if len(set(named)) < n:
        raise DataError(f"query {next(q for q in named if named.count(q) > 1)!r} stands twice in `queries`")
    return named
