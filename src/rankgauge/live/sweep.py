"""Sweeps: settings of a system tried one by one, quality beside latency, and an honest figure for the best one.

The best of many settings looks better than it is, because it is also the luckiest on these queries. So the queries are
cut into folds; for each fold the best setting on the other queries is scored on it, and these scores together are what
tuning is worth on queries it has not seen. Best is what the measure's own aggregate says, over the queries that count.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.arguments import check_text, named_arguments
from rankgauge.comparison import Comparison
from rankgauge.errors import DataError
from rankgauge.evaluation import Scoring, hashed, make_plan, record_of
from rankgauge.formats.json_values import plain_value
from rankgauge.live.asking import Asking
from rankgauge.live.choosing import best_of, held_out
from rankgauge.live.evaluation import LiveEvaluation, judgments_of
from rankgauge.live.trials import Trials, asks_for_k, try_settings
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks, GivenChunks
from rankgauge.model.contract import Contract
from rankgauge.model.testset import TestSet
from rankgauge.record import HeldOut, Record, SweepResult, Version
from rankgauge.record.result import Result
from rankgauge.retrievers.checks import check_whole
from rankgauge.retrievers.configuration import corpus_version
from rankgauge.retrievers.journal import Journal, open_journal
from rankgauge.retrievers.work import CallSettings
from rankgauge.stats.latency import Latency
from rankgauge.stats.pareto import pareto_front
from rankgauge.stats.settings import Settings
from rankgauge.words import Note, tell

if TYPE_CHECKING:
    import polars as pl

__all__ = ["FOLDS", "Sweep", "check_folds", "check_keys", "few_queries", "outcome_of", "settings_of", "sweep"]

FOLDS = 5


@named_arguments
@dataclass(frozen=True)
class Sweep(Result):
    """What a sweep found, as the record holds it (`.result`), and the evaluations behind it."""

    result: SweepResult
    evaluations: list[LiveEvaluation]
    settings: list[dict[str, Any]]
    """The parameters of each version as they were given to the factory."""
    compared: Settings | None = None
    """How the versions are compared in the record; None where it holds the best one alone."""
    baseline: str | None = None
    corpus: Mapping[str, str] | None = field(default=None, repr=False)

    @property
    def versions(self) -> list[Version]:
        return self.result.versions

    @property
    def best(self) -> Version:
        """The best version on all queries."""
        return self.result.best_version

    @property
    def held_out(self) -> HeldOut | None:
        """The cross-validated score: what choosing the best is worth on other queries."""
        return self.result.held_out

    @property
    def optimism(self) -> float | None:
        """How much better the best version looks on the queries it was chosen on."""
        return self.result.optimism

    @property
    def failed(self) -> dict[str, Note]:
        """Versions without a score, with the reason."""
        return self.result.failed

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English: of all versions, where they are compared, else of the
        best one."""
        left_out = (Note("live.left_out", {"name": name, "reason": why}) for name, why in self.failed.items())
        missing = [tell(note, "en") for note in left_out]
        if self.compared is not None and len(self.evaluations) > 1:
            return [*missing, *self.comparison.warnings]
        return [*missing, *self.evaluations[self.versions.index(self.best)].warnings]

    @cached_property
    def comparison(self) -> Comparison:
        """The versions compared on the same queries: all pairs, or with the baseline, corrected together. Where all
        pairs are, the correction covers that the best was chosen on these queries."""
        if len(self.evaluations) < 2:
            raise DataError("one version cannot be compared with others")
        first = self.evaluations[0]
        test_set = first.test_set
        return Comparison.of(
            self.evaluations,
            self.compared or Settings.of(),
            baseline=self.baseline,
            qrels=None if test_set is None else judgments_of(self.evaluations, test_set),
            runs={live.name: live.run for live in self.evaluations},
            test_set=test_set,
            corpus=self.corpus if first.labels is None else first.corpus,
            sources=first.sources,
        )

    @cached_property
    def record(self) -> Record:
        """The result document: the evaluation of the best version, or the comparison of all, and the sweep."""
        if self.compared is not None and len(self.evaluations) > 1:
            compared = self.comparison.to_record(inputs=hashed(self.evaluations[0].sources))
            return replace(compared, sweeps=[self.result])
        best = self.evaluations[self.versions.index(self.best)]
        named = LiveEvaluation(best, best.retrieval, best.live_notes, best.sources)
        named.name = self.result.system
        found = record_of([named], inputs=hashed(best.sources), test_set=best.test_set)
        return replace(found, sweeps=[self.result])

    def to_json(self) -> str:
        return self.record.to_json()

    def to_frame(self) -> pl.DataFrame:
        """One row for each version: its parameters, its mean with the confidence interval, and latencies in seconds."""
        import polars as pl

        rows = [
            {
                "version": version.label,
                **version.parameters,
                "mean": version.mean,
                "low": None if version.interval is None else version.interval.low,
                "high": None if version.interval is None else version.interval.high,
                "p50": version.p50,
                "p95": version.p95,
                "qps": version.throughput,
                "ann_recall": version.ann_recall,
                "on_front": version.on_front,
            }
            for version in self.versions
        ]
        return pl.DataFrame(rows, infer_schema_length=None, strict=False)

    def __repr__(self) -> str:
        result = self.result
        held = "" if self.held_out is None else f", cross-validated {self.held_out.mean:.4f}"
        return f"Sweep({len(self.versions)} versions: {result.best} {result.measure}={self.best.mean:.4f}{held})"


def _written(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as a record can hold them: what JSON has no form for by its text."""
    found: dict[str, Any] = json.loads(json.dumps(plain_value(parameters), default=str))
    return found


def settings_of(grid: Mapping[str, Sequence[Any]], tries: int | None = None, seed: int = 0) -> list[dict[str, Any]]:
    """All combinations in order, or `tries` of them drawn at random. A value that is listed twice is tried once."""
    if not isinstance(grid, Mapping) or not grid or not all(map(_is_list, grid.values())):
        raise DataError("a sweep needs a list of values for each parameter, such as {'ef_search': [16, 64, 256]}")
    if empty := [name for name, values in grid.items() if not len(values)]:
        raise DataError(f"the parameter {empty[0]!r} of the sweep has no values")
    lists = [_different(values) for values in grid.values()]
    if tries is not None:
        check_whole("tries", tries, 1)
    check_whole("seed", seed, 0)
    total = math.prod(map(len, lists))
    if tries is None or tries >= total:
        return [dict(zip(grid, values, strict=True)) for values in itertools.product(*lists)]
    chosen = np.random.default_rng(seed).choice(total, size=tries, replace=False)
    shape = [len(values) for values in lists]
    places = (np.unravel_index(number, shape) for number in sorted(chosen.tolist()))  # the last parameter goes first
    return [{name: values[i] for name, values, i in zip(grid, lists, place, strict=True)} for place in places]


def _is_list(values: Any) -> bool:
    return isinstance(values, Sequence) and not isinstance(values, str)


def _different(values: Sequence[Any]) -> list[Any]:
    """Plain values each once, in their order; 1 and 1.0 are two. Other objects may look alike and are all kept."""
    plain = (str, int, float, bool, list, tuple, dict, type(None))
    return list({repr(value) if type(value) in plain else id(value): value for value in values}.values())


@named_arguments
def sweep(
    factory: Callable[..., Any],
    grid: Mapping[str, Sequence[Any]],
    test_set: TestSet | str | os.PathLike[str],
    *,
    measure: str | Measure = "nDCG@10",
    name: str | None = None,
    tries: int | None = None,
    folds: int | None = None,
    seed: int = 0,
    exact: Mapping[str, Any] | None = None,
    progress: Callable[[int, int, str], None] | None = None,
    k: int = 10,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    cache: str | os.PathLike[str] | None = None,
    configuration: Mapping[str, Any] | None = None,
    id_field: str | None = None,
    score_field: str | None = None,
    parent_field: str | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    tokenizer: Callable[[str], int] | None = None,
    chunks: GivenChunks | None = None,
    overlap: float | None = None,
) -> Sweep:
    """Try every setting of `factory(**setting)` on the test set.

    `tries` settings are drawn at random instead of all. `exact` are parameters that make the search exact; the others'
    recall against it is then measured too. Queries are cut into `folds` (5, if there are enough of them) for the
    cross-validated score of the best. The arguments from `k` on are those of `evaluate_retriever`. With `cache`, a
    folder, answers are kept under their setting and `configuration`, all else that they depend on: a second start asks
    only what is missing, and takes the times of the kept answers as they were measured then (`Version.timed_before`).
    `k` among the grid is how many results are asked for, unless the factory has a parameter of this name. What is
    swept may be the chunks themselves: a retriever that has its own as `chunks`, or its own texts as `corpus`, is
    scored with them (`sweep_chunks` does it all). `chunks` and `overlap` are those of `evaluate`, for labels that are
    passages.
    """
    if not isinstance(measure, str | Measure):
        raise DataError(f"a sweep goes by one measure, such as 'nDCG@10', not by {measure!r}")
    check_text("name", name)
    if not isinstance(exact, Mapping | None):
        raise DataError(f"`exact` are parameters by name, such as {{'ef_search': 1000}}, not {repr(exact)[:80]}")
    settings = settings_of(grid, tries, seed)
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    plan = make_plan(measure, contract, ties, missing, no_relevant, duplicates, depth, rel)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer, chunks=chunks, overlap=overlap, own_chunks=True)
    # A retriever may bring its texts along, which is known once it is made.
    asking = Asking.of(
        test_set, corpus, calls, scoring, id_field, score_field, None, parent_field, own_texts=corpus is None
    )
    check_folds(folds, asking.test_set)
    swept_k = asks_for_k(factory, grid)
    for value in grid["k"] if swept_k else ():
        check_whole("k", value, 1)
    called: str = name or getattr(factory, "__name__", "") or type(factory).__name__
    about: dict[str, Any] = {}
    if cache is not None:
        # Seconds that are kept count as latencies of the next start, so they belong to one concurrency.
        about = {"concurrency": concurrency, "fields": [id_field, score_field, parent_field]}
        about["corpus"] = corpus_version(asking.corpus)
        about |= {"system": name, "configuration": None if configuration is None else dict(configuration)}
        check_keys([*settings, exact or {}], about)

    def kept(setting: Mapping[str, Any], is_exact: bool) -> AbstractContextManager[Journal | None]:
        key = {"sweep": about, "setting": plain_value(setting), "exact": is_exact}
        return nullcontext() if cache is None else open_journal(cache, f"sweep-{called}", key)

    tried = try_settings(
        factory,
        settings,
        asking,
        exact=exact or {},
        progress=progress,
        kept=kept,
        asked=(lambda setting, _: int(setting["k"])) if swept_k else None,
    )
    return outcome_of(called, settings, tried, folds, seed)


def check_folds(folds: Any, test_set: TestSet) -> None:
    """Raise an error unless the queries can be cut into so many folds; None stands for the usual number."""
    if folds is not None:
        check_whole("folds", folds, 2)
        if fault := few_queries(folds, len(test_set)):
            raise DataError(fault)


def outcome_of(called: str, settings: Sequence[dict[str, Any]], tried: Trials, folds: int | None, seed: int) -> Sweep:
    """What the settings gave, put together: figures, the Pareto front, the best one and its cross-validated score, by
    the first measure."""
    found, numbers = tried.found, tried.numbers
    measure = found[0].measures[0]  # recall of passages, where chunks were scored
    chosen = [settings[number - 1] for number in numbers]
    lower = measure.definition.lower_is_better
    versions = [
        _version(number, setting, live, str(measure), tried.reference)
        for number, setting, live in zip(numbers, chosen, found, strict=True)
    ]
    front = pareto_front([(version.mean, version.p50) for version in versions], lower_is_better=lower)
    versions = [replace(version, on_front=on) for version, on in zip(versions, front, strict=True)]
    best = best_of([live.mean[measure] if live.table.counted.any() else math.nan for live in found], lower)
    held = held_out(found, best, numbers, folds or FOLDS, seed)
    result = SweepResult(
        system=called,
        measure=str(measure),
        lower_is_better=lower,
        versions=versions,
        best=versions[best].label,
        held_out=held,
        failed=tried.failed,
    )
    return Sweep(result, found, chosen)


def check_keys(settings: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> None:
    """Answers are found again by their setting and what else they depend on, which must be known and be something that
    can be written down."""
    if about["configuration"] is None:
        raise DataError(
            "answers are kept under what they depend on, which only you know of the factory. Give "
            "configuration={...} with all of it beside the grid, such as configuration={'index': '2024-05-01'}; "
            "or leave cache out"
        )
    try:
        json.dumps([about, *map(plain_value, settings)], allow_nan=False)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"answers are kept by texts, numbers, lists and dictionaries; a setting holds more than that ({error}): "
            "use names for such values, or leave cache out"
        ) from None


def few_queries(folds: int, queries: int) -> str:
    """What is wrong with so many folds; empty when there are enough queries for them."""
    return f"{folds} folds need {2 * folds} queries or more; the test set has {queries}" if 2 * folds > queries else ""


def _version(
    number: int, setting: Mapping[str, Any], live: LiveEvaluation, measure: str, reference: LiveEvaluation | None
) -> Version:
    """Its figures. Every call is timed once, when it is made; a kept answer brings the time of its call along."""
    retrieval = live.retrieval
    timed = [answer for answer in retrieval.answers if answer.error is None]
    latency = Latency.of((answer.seconds for answer in timed), retrieval.concurrency) if timed else None
    return Version(
        number,
        _written(setting),
        live.mean[measure],
        live.interval[measure],
        None if latency is None else latency.p50,
        None if latency is None else latency.p95,
        live.throughput,
        None if reference is None else _overlap(live, reference),
        timed_before=retrieval.cached,
    )


def _overlap(live: LiveEvaluation, reference: LiveEvaluation) -> float:
    """Mean share of the reference's documents that were found."""
    own = {answer.query: {hit.id for hit in answer.hits} for answer in live.retrieval.answers}
    shares = []
    for answer in reference.retrieval.answers:
        wanted = {hit.id for hit in answer.hits}
        if wanted:
            shares.append(len(own.get(answer.query, set()) & wanted) / len(wanted))
    return float(np.mean(shares)) if shares else 0.0
