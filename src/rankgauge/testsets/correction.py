"""`corrected`: means and differences by people's labels, from a judge's labels on all queries and people's on a sample.

The scores of each query by the judge's labels are f, those by people's Y; see `stats.prediction_powered`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import Any, Literal

import numpy as np

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation import make_plan
from rankgauge.evaluation.conversations import ConversationRule
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.ranked import Floats
from rankgauge.record import ScoredMeasure
from rankgauge.stats.intervals import Interval, mean_interval
from rankgauge.stats.prediction_powered import LEAST_CHECKED, Powered, checks_needed, prediction_powered
from rankgauge.stats.settings import Settings, Verdict
from rankgauge.testsets.checked import CheckedScores, checked_scores
from rankgauge.testsets.rescoring import ScoredRuns, in_memory
from rankgauge.testsets.sampling import Sample
from rankgauge.words import Note

__all__ = ["Corrected", "CorrectedDifference", "CorrectedMean", "corrected"]

_FEW_ERRORS = 5
_SAME = 1e-9


@dataclass(frozen=True)
class CorrectedMean:
    """The mean of a system by people's labels."""

    measure: str
    system: str
    estimate: Powered
    errors: int
    """Checked queries on which the judge's score was not that of people."""


@dataclass(frozen=True)
class CorrectedDifference:
    """b minus a by people's labels, and the verdict about b, seen from a."""

    measure: str
    a: str
    b: str
    estimate: Powered
    errors: int
    verdict: Verdict
    judge: Interval | None
    """The interval by the judge's labels alone, as if they were people's."""
    judge_verdict: Verdict
    needed: int | None
    """Queries to be checked in all for the interval to exclude 0, if the difference stays as it is; None where
    checking every query would not do. Already so many where the verdict is settled."""
    needed_labels: int | None
    """As many labels by people, at as many for each query as so far."""


@named_arguments
@dataclass(frozen=True)
class Corrected:
    """What people's labels say of the systems, estimated with a judge's: `.means`, `.differences`, `.notes`."""

    means: list[CorrectedMean]
    differences: list[CorrectedDifference]
    queries: int
    checked: int
    conversations: int | None
    """How many conversations the queries are turns of; None where every query stands alone."""
    effective: float
    """As many conversations of equal length tell as much as those that were checked; queries, where all stand alone."""
    labels: int
    """Labels by people of the checked queries."""
    strata: int
    drawn: bool
    """Whether the checked queries are known to be those that were drawn."""
    incomplete: int
    """Queries that people labelled in part; left out."""
    in_order: bool
    """Whether those left out were the last of the sample."""
    changed: bool
    """Whether the judge's labels are others than those the sample was drawn from."""
    only_relevant: bool
    """Whether the judge's labels are of relevant documents alone: then people did not see what it missed."""
    alpha: float
    equivalence_margin: float

    @property
    def lead(self) -> Note:
        """The decision: of the first measure, on its only pair, or how many pairs are settled."""
        if not self.differences:
            own = self.means[0].estimate
            about = {"system": self.means[0].system, "measure": self.means[0].measure, "value": own.value}
            return Note("correction.lead_mean", {**about, "interval": _ends(own.interval), "judge": own.judge})
        rows = [row for row in self.differences if row.measure == self.differences[0].measure]
        if len(rows) == 1:
            row, own = rows[0], rows[0].estimate
            about = {"a": row.a, "b": row.b, "measure": row.measure, "value": own.value, "judge": own.judge}
            about |= {"interval": _ends(own.interval), "verdict": Note(f"comparison.verdict_{row.verdict}")}
            about["judged"] = Note(f"comparison.verdict_{row.judge_verdict}")
            return Note(f"correction.lead_{'same' if row.verdict == row.judge_verdict else 'other'}", about)
        settled = sum(row.verdict != "inconclusive" for row in rows)
        other = sum(row.verdict != row.judge_verdict for row in rows)
        about = {"measure": rows[0].measure, "n": settled, "all": len(rows), "other": other}
        return Note("correction.lead_many", about)

    @property
    def confirmed(self) -> bool:
        """Whether every difference is settled, as the judge's labels alone would have it."""
        return all(row.verdict == row.judge_verdict != "inconclusive" for row in self.differences)

    @property
    def notes(self) -> list[Note]:
        """What to know beside the figures."""
        notes = []
        if not self.drawn:
            notes.append(Note("correction.not_drawn", {}, "warning"))
        if self.changed:
            notes.append(Note("correction.changed", {}, "warning"))
        if self.effective < LEAST_CHECKED:
            notes.append(Note("correction.uneven", {"n": self.means[0].estimate.checked}, "warning"))
        if self.only_relevant:
            notes.append(Note("correction.only_relevant", {}, "warning"))
        if self.incomplete:
            key: Literal["incomplete_last", "incomplete"] = "incomplete_last" if self.in_order else "incomplete"
            notes.append(Note(f"correction.{key}", {"n": self.incomplete}, "info" if self.in_order else "warning"))
        notes += self._rare()
        notes += self._open()
        if len(self.differences) > 1:
            about = {"n": len(self.differences), "level": 1 - self.alpha}
            notes.append(Note("correction.family", about))
        return notes

    def _rare(self) -> list[Note]:
        """An error that strikes few queries may not be among those checked."""
        rows: list[CorrectedMean | CorrectedDifference] = [*self.differences, *self.means]
        about = {"n": self.checked, "unseen": rows[0].estimate.unseen}
        least = min(rows, key=lambda row: (row.errors == 0, row.errors))
        if not least.errors:
            return [Note("correction.no_errors", about)]
        if least.errors < _FEW_ERRORS:
            return [Note("correction.rare", {**about, "errors": least.errors, "measure": least.measure}, "warning")]
        return [Note("correction.unseen", about)]

    def _open(self) -> list[Note]:
        """What would settle the differences that are open; those that nothing would are told together."""
        rows = [row for row in self.differences if row.verdict == "inconclusive"]
        notes = []
        for row in rows:
            if row.needed is not None:
                about = {"measure": row.measure, "a": row.a, "b": row.b, "n": row.needed, "labels": row.needed_labels}
                notes.append(Note("correction.needed", {**about, "more": row.needed - self.checked}))
        hopeless = [f"{row.b} - {row.a}" for row in rows if row.needed is None]
        if hopeless:
            names = list(dict.fromkeys(hopeless))
            notes.append(Note("correction.hopeless", {"names": names, "queries": self.queries}))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        about = {one.name: getattr(self, one.name) for one in fields(self)}
        rows = {
            name: [asdict(row) for row in about.pop(name)] for name in ("means", "differences")
        }
        return {"format": "rankgauge.corrected", "version": 1, **about, **rows}


def _ends(interval: Interval) -> list[float]:
    return [interval.low, interval.high]


@named_arguments
def corrected(
    judge: Any,
    people: Any,
    runs: Mapping[str, Any],
    measures: str | Measure | Sequence[str | Measure] = "nDCG@10",
    *,
    sample: Sample | str | os.PathLike[str] | None = None,
    incomplete: str = "error",
    contract: str | Contract | None = None,
    ties: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    conversations: ConversationRule = None,
    alpha: float = 0.05,
    equivalence_margin: float = 0.01,
) -> Corrected:
    """Means of runs and differences between them by people's labels, though people labelled a sample only.

    `judge` are a model's labels (or clicks, or labels of laymen) on all queries, `people` those of people on all
    documents of the sampled queries; both may be one file of labels. `sample` is what `draw_sample` drew; without it
    the checked queries are taken for a random draw. A query that people labelled in part is an error, or left out:
    `incomplete='skip'`. The intervals of differences hold together (Bonferroni).
    """
    check_text("incomplete", incomplete)
    if incomplete not in ("error", "skip"):
        raise DataError(f"`incomplete={incomplete!r}` is neither error nor skip")
    settings = Settings.of(alpha=alpha, equivalence_margin=equivalence_margin)
    plan = make_plan(measures, contract, ties, None, None, duplicates, depth, rel)
    scored = ScoredRuns(in_memory(runs, 1), plan)
    found = checked_scores(judge, people, scored, sample, incomplete == "skip", conversations)
    queries, checked = len(found.units.of), len(found.checked)
    pairs = list(combinations(scored.runs, 2))
    level = 1 - settings.alpha / max(1, len(pairs) * len(scored.measures))
    means, differences = [], []
    for j, measure in enumerate(scored.measures):
        bounds = found.units.bounds(measure.bounds)
        for name in scored.runs:
            f, y = found.judge[name][:, j], found.people[name][:, j]
            estimate = prediction_powered(f, y, found.strata, level=1 - settings.alpha, bounds=bounds)
            means.append(CorrectedMean(measure.name, name, estimate, _errors(f, y)))
        for a, b in pairs:
            f, y = (side[b][:, j] - side[a][:, j] for side in (found.judge, found.people))
            differences.append(_difference(measure, a, b, f, y, found, level, settings))
    return Corrected(
        means=means,
        differences=differences,
        queries=queries,
        checked=checked,
        conversations=None if found.units.single else len(found.units.names),
        effective=found.units.effective(found.checked),
        labels=found.labels,
        strata=len(np.unique(found.strata)),
        drawn=found.drawn,
        incomplete=found.incomplete,
        in_order=found.in_order,
        changed=found.changed,
        only_relevant=found.only_relevant,
        alpha=settings.alpha,
        equivalence_margin=settings.equivalence_margin,
    )


def _errors(f: Floats, y: Floats) -> int:
    return int((np.abs(f - y)[~np.isnan(y)] > _SAME).sum())


def _difference(
    measure: ScoredMeasure,
    a: str,
    b: str,
    f: Floats,
    y: Floats,
    found: CheckedScores,
    level: float,
    settings: Settings,
) -> CorrectedDifference:
    bounds = found.units.bounds(measure.widest)
    estimate = prediction_powered(f, y, found.strata, level=level, bounds=bounds)
    alone = mean_interval(f, level, bounds=bounds, shares=False)
    needed = checks_needed(estimate, level)
    each = len(found.checked) / max(1, estimate.checked)
    queries = None if needed is None else min(len(found.units.of), round(needed * each))
    labels = None if queries is None else round(queries * found.labels / len(found.checked))
    verdicts = [_verdict(interval, measure, settings) for interval in (estimate.interval, alone)]
    return CorrectedDifference(
        measure.name, a, b, estimate, _errors(f, y), verdicts[0], alone, verdicts[1], queries, labels
    )


def _verdict(interval: Interval | None, measure: ScoredMeasure, settings: Settings) -> Verdict:
    """By the interval: it excludes 0, or lies within the margin, or neither."""
    if interval is None:
        return "inconclusive"
    if interval.low > 0 or interval.high < 0:
        return "better" if (interval.low > 0) != measure.lower_is_better else "worse"
    margin = settings.equivalence_margin
    return "equivalent" if -margin < interval.low and interval.high < margin else "inconclusive"
