"""`compare`: systems scored on the same queries, their differences tested as one family, a verdict for each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.comparison.rows import Row, Scored, System, on_common_queries, rows_of
from rankgauge.errors import DataError
from rankgauge.evaluation.evaluation import DEFAULT_MEASURES, Evaluation, evaluate
from rankgauge.measures import Measure, find_measure
from rankgauge.model.ranked import Bools, Floats
from rankgauge.stats.family import Settings
from rankgauge.words import Language

if TYPE_CHECKING:
    from rankgauge.comparison.changes import Agreement, Changes, Slice
    from rankgauge.comparison.groups import Standing
    from rankgauge.formats import RunParts
    from rankgauge.model.judgments import Qrels
    from rankgauge.model.run import Run
    from rankgauge.model.testset import TestSet
    from rankgauge.sensitivity.tied_orders import TiedRanges
    from rankgauge.sensitivity.unjudged import Reason, UnjudgedRange

__all__ = ["Comparison", "compare", "compare_scores"]

_LARGEST = 1e100  # squares of larger scores are not numbers any more


class Comparison:
    """Systems compared on the same queries: `.rows`, `.groups`, `.summary()`, and where they differ."""

    def __init__(
        self,
        queries: Sequence[str],
        measures: Sequence[Scored],
        systems: Mapping[str, System],
        settings: Settings,
        *,
        baseline: str | None = None,
        evaluations: Sequence[Evaluation] = (),
        qrels: Qrels | None = None,
        runs: Mapping[str, Any] | None = None,
        test_set: TestSet | None = None,
        collapse_chunks: str | Mapping[str, str] | None = None,
    ) -> None:
        self.queries, self.measures, self.systems = queries, measures, systems
        self.baseline = baseline
        self.evaluations, self.qrels, self.test_set = evaluations, qrels, test_set
        self._runs, self._collapse = runs or {}, collapse_chunks
        names = list(systems)
        if len(names) < 2:
            raise DataError("a comparison needs at least two systems")
        if baseline is not None and baseline not in systems:
            raise DataError(f"the baseline {baseline!r} is not among the systems: {', '.join(names)}")
        self.pairs = (
            [(baseline, name) for name in names if name != baseline]
            if baseline is not None
            else [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        )
        # Slices by tag are one family too, with as many rows for each tag.
        tags = {tag for query in test_set or () for tag in query.tags}
        self.settings = settings.for_family(len(queries), len(measures) * len(self.pairs) * max(1, len(tags)))
        self.remarks: list[tuple[str, str]] = []
        """Warnings about how the scores came together, each in English and Chinese."""
        self.all_pairs = baseline is None or len(names) == 2
        self.compared = on_common_queries(systems) if self.all_pairs else systems
        """The systems with the queries they are compared on: where all pairs are, those that count for every system,
        since verdicts on different queries need not agree with any order of the systems."""
        self.rows = rows_of(measures, self.compared, self.pairs, self.settings, queries)

    @classmethod
    def of(cls, evaluations: Sequence[Evaluation], settings: Settings, **known: Any) -> Comparison:
        """Evaluations on the same judgments and measures, compared; `known` is what `Comparison` takes beside them."""
        first = evaluations[0]
        scored = [Scored.of(measure) for measure in first.measures]
        systems = {e.name: System(e.name, e.table.values, e.table.counted) for e in evaluations}
        return cls(first.table.queries, scored, systems, settings, evaluations=evaluations, **known)

    def open_run(self, name: str) -> Run | RunParts:
        """A system's run, to look at its documents once more."""
        from rankgauge.evaluation.evaluation import read_run

        run = read_run(self._runs[name], name)
        if self._collapse is None:
            return run
        from rankgauge.engine.chunks import collapse

        return collapse(run, self._collapse)[0]

    def row(self, measure: str, a: str, b: str) -> Row:
        for row in self.rows:
            if (row.measure, row.a, row.b) == (measure, a, b):
                return row
        raise KeyError(f"{measure}: {a} and {b} were not compared")

    @cached_property
    def groups(self) -> dict[str, list[Standing]]:
        """For each measure the systems, best first: (system, mean, letters, ranks). Those that share a letter cannot be
        told apart; ranks are the first and last one a system can hold. Only where all pairs were compared, and over the
        queries that count for every system."""
        if not self.all_pairs:
            return {}
        from rankgauge.comparison.groups import groups_of

        return groups_of(self)

    def changes(self, n: int = 10) -> list[Changes]:
        """For each measure and pair the n queries that gained and the n that lost most."""
        from rankgauge.comparison.changes import changes_of

        return changes_of(self, n)

    @cached_property
    def slices(self) -> list[Slice]:
        """Every row again for the queries of each tag of the test set, corrected across all of these rows."""
        from rankgauge.comparison.changes import slices_of

        return slices_of(self)

    @cached_property
    def agreement(self) -> list[Agreement]:
        """Kendall's tau between measures and between systems."""
        from rankgauge.comparison.changes import agreement_of

        return agreement_of(self)

    @cached_property
    def unjudged(self) -> tuple[list[UnjudgedRange], dict[str, Reason]]:
        """The range of each difference over every labelling of the unjudged documents retrieved, and for measures
        without one the reason."""
        if self.qrels is None or not self.evaluations:
            return [], {}
        from rankgauge.sensitivity.unjudged import ranges_and_reasons

        first = self.evaluations[0]
        return ranges_and_reasons(
            self.qrels, self._opened(), first.measures, first.contract, self.pairs, self._common()
        )

    @cached_property
    def tied(self) -> TiedRanges:
        """Scores and differences over all orders of tied documents."""
        from rankgauge.sensitivity.tied_orders import TiedRanges, tied_ranges

        if self.qrels is None or not self.evaluations:
            return TiedRanges([], [], [])
        first = self.evaluations[0]
        return tied_ranges(self.qrels, self._opened(), first.measures, first.contract, self.pairs, self._common())

    def _common(self) -> dict[str, Bools]:
        """The queries of all pairs, by measure; none where each pair has its own."""
        if not self.all_pairs:
            return {}
        counted = next(iter(self.compared.values())).counted
        return {measure.name: counted[:, j] for j, measure in enumerate(self.measures)}

    def _opened(self) -> dict[str, Run | RunParts]:
        return {evaluation.name: self.open_run(evaluation.name) for evaluation in self.evaluations}

    def summary(self, language: Language = "en") -> list[str]:
        """What to do, in a paragraph or two."""
        from rankgauge.comparison.verdicts import summary_of

        return summary_of(self, language)

    @property
    def warnings(self) -> list[str]:
        from rankgauge.comparison.verdicts import notes_of_comparison

        return [note.text for note in notes_of_comparison(self) if note.level == "warning"]

    def to_json(self) -> str:
        """The result document."""
        from rankgauge.comparison.comparison_record import comparison_record
        from rankgauge.formats.json_values import dumps

        return dumps(comparison_record(self)).decode()

    def __repr__(self) -> str:
        return f"Comparison({', '.join(self.systems)}: {len(self.rows)} rows)"


def compare(
    qrels: Qrels | TestSet | Mapping[str, Any] | str | os.PathLike[str] | Any,
    runs: Mapping[str, Any],
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
    **choices: Any,
) -> Comparison:
    """Score several runs on the same judgments and say which differences are real.

    `runs` maps a name to a run of any kind that `evaluate` takes. Without a baseline all pairs are compared, with one
    all others with it; the correction covers exactly these rows. `margin` is the difference that would not matter.
    `choices` are those of `evaluate`: contract, ties, missing, rel and so on.
    """
    from rankgauge.evaluation.evaluation import read_qrels
    from rankgauge.model.testset import TestSet

    settings = Settings.of(test, correction, alpha, margin, seed, samples)
    if not isinstance(runs, Mapping):
        raise DataError('runs are given by name: {"a": run, "b": run}')
    if baseline is not None and baseline not in runs:
        raise DataError(f"the baseline {baseline!r} is not among the systems: {', '.join(map(str, runs))}")
    if len(runs) < 2:
        raise DataError("a comparison needs at least two systems; evaluate scores one")
    source = qrels
    if isinstance(qrels, str | os.PathLike):
        from rankgauge.formats import load_judgments

        source = load_judgments(qrels)
    test_set = source if isinstance(source, TestSet) else None
    judgments = read_qrels(source)
    found = [evaluate(judgments, run, measures, name=str(name), **choices) for name, run in runs.items()]
    return Comparison.of(
        found,
        settings,
        baseline=baseline,
        qrels=judgments,
        runs={str(name): run for name, run in runs.items()},
        test_set=test_set,
        collapse_chunks=choices.get("collapse_chunks"),
    )


def compare_scores(
    scores: Mapping[str, Iterable[float | None]],
    *,
    measure: str = "score",
    queries: Sequence[str] | None = None,
    baseline: str | None = None,
    lower_is_better: bool = False,
    test: str = "randomization",
    correction: str = "holm",
    alpha: float = 0.05,
    margin: float = 0.01,
    seed: int = 0,
    samples: int | None = None,
) -> Comparison:
    """Compare per-query scores from elsewhere: one list for each system, entry i of each about the same query.

    A missing score (None or NaN) leaves that query out: of all pairs, or with a baseline of the pairs it belongs to.
    The measure may have any name; one that is known here to be no mean over queries, such as GMAP, is refused, and of
    one that is known to be better when it is smaller, less is better.
    """
    known_as = find_measure(measure)
    about = Scored(measure, lower_is_better) if known_as is None else Scored.of(known_as)
    about = replace(about, name=measure, lower_is_better=lower_is_better or about.lower_is_better, bounds=None)
    settings = Settings.of(test, correction, alpha, margin, seed, samples)
    vectors: dict[str, Floats] = {}
    for name, values in scores.items():
        try:
            listed = list(values)
            vectors[str(name)] = np.array([np.nan if v is None else float(v) for v in listed], dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError(f"the scores of {name!r} are no list of numbers") from None
    sizes = {name: len(vector) for name, vector in vectors.items()}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name} {n}" for name, n in sizes.items())
        raise DataError(f"the systems have different numbers of scores ({counts}); entry i must be of one query in all")
    n = next(iter(sizes.values()), 0)
    for name, vector in vectors.items():
        if (np.abs(np.nan_to_num(vector, posinf=np.inf, neginf=-np.inf)) > _LARGEST).any():
            raise DataError(f"a score of {name!r} is infinite, or larger than {_LARGEST:g}")
    if not n:
        raise DataError("there are no scores to compare")
    named = list(map(str, queries)) if queries is not None else [str(i + 1) for i in range(n)]
    if len(named) != n:
        raise DataError(f"there are {len(named)} queries, but {n} scores for each system")
    matrices = {name: np.nan_to_num(vector)[:, None] for name, vector in vectors.items()}
    known = {name: np.isfinite(vector)[:, None] for name, vector in vectors.items()}
    return Comparison(
        named,
        [about],
        {name: System(name, matrices[name], known[name]) for name in vectors},
        settings,
        baseline=baseline,
    )
