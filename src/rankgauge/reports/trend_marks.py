"""What a trend is read against: baselines, targets, and which changes from record to record are significant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.gating.targets import Target, parse_target
from rankgauge.history.baselines import current_baseline
from rankgauge.history.finding import measure_names
from rankgauge.history.rows import Point, StoredBaseline
from rankgauge.history.store import History
from rankgauge.model.ranked import Bools, Floats
from rankgauge.reports.series import Change, Level, Marks, series_of
from rankgauge.stats.clusters import cluster_numbers, clustered
from rankgauge.stats.differences import Column
from rankgauge.stats.family import compare_columns
from rankgauge.stats.settings import Settings
from rankgauge.words import Note

__all__ = ["marks_of"]

_TESTED = 500
"""Of longer trends no changes are tested, for each point needs its whole record."""
_ALPHA = 0.05


def marks_of(
    history: History, points: Sequence[Point], *, baseline: str | None = None, targets: Sequence[str] = ()
) -> Marks:
    """The marks of a trend. Without a `baseline` all those of the systems shown count; `targets` come beside theirs."""
    measure = points[0].measure
    wanted = [_checked(text, measure) for text in targets]
    shown = {point.system for point in points}
    found = history.baselines() if baseline is None else [current_baseline(history, baseline)]
    chosen = [one for one in found if baseline is not None or one.system in shown]
    relative = [one for one in wanted if one.relation != "absolute"]
    levels = [level for one in chosen for level in _levels(history, one, points, relative)]
    if baseline is not None and not levels:
        raise DataError(
            f"the baseline {baseline} is of another test set, contract or measure than every record of this trend"
        )
    # Without a baseline a relative target says what it needs.
    levels += [_target(one, None, points) for one in wanted if one not in relative or not levels]
    tested = len(points) <= _TESTED
    changes = _changes(history, points) if tested else {}
    # Two baselines may have one target.
    told = {(str(level.words), level.first.record_id, level.last.record_id): level for level in levels}
    return Marks([*told.values()], changes, tested)


def _checked(text: str, measure: str) -> Target:
    target = parse_target(text)
    if measure not in measure_names(target.measure):
        raise DataError(f"{text!r} is a target of {target.measure}, and this trend shows {measure}")
    return target


def _levels(
    history: History, one: StoredBaseline, points: Sequence[Point], relative: Sequence[Target]
) -> Iterator[Level]:
    """A baseline and its targets, over the points that were measured as it was."""
    measure, stored = points[0].measure, history.get(one.record_id)
    alike = [point for point in points if (point.test_set, point.contract) == (stored.test_set, stored.contract)]
    own = [mean for mean in history.means([stored.id]).get(stored.id, []) if mean.system == one.system]
    mean = next((mean.value for mean in own if mean.measure == measure), None)
    if mean is None or not alike:
        return
    words = Note("chart.baseline_line", {"name": one.name, "value": mean})
    yield Level(words, "baseline", mean, alike[0], alike[-1])
    stated = [parse_target(text) for text in one.targets]
    for target in [*(own for own in stated if measure in measure_names(own.measure)), *relative]:
        yield _target(target, mean, alike)


def _target(target: Target, base: float | None, points: Sequence[Point]) -> Level:
    goal = target.goal(base)
    sign = {">=": "≥", "<=": "≤", None: "≥"}.get(target.operator, target.operator)
    return Level(Note("chart.target_line", {"sign": sign, "value": goal}), "target", goal, points[0], points[-1])


@dataclass(frozen=True)
class _Scores:
    """What a point's record says of each query."""

    queries: Mapping[str, int]
    values: Floats
    counted: Bools
    lower_is_better: bool
    conversations: Mapping[str, str]


def _scores(history: History, points: Sequence[Point]) -> dict[tuple[int, str], _Scores]:
    """The scores behind the points. A record without scores, or one that cannot be read, has none: its mean stands."""
    found = {}
    for number, own in groupby(points, lambda point: point.record_id):
        try:
            record = history.record(number)
        except RankgaugeError:
            continue
        queries = {query: i for i, query in enumerate(record.queries)}
        for point in own:
            about, system = record.measure(point.measure), record.system(point.system)
            values = system.per_query.get(point.measure)
            if about.aggregate == "mean" and values:
                mask = system.counted.get(point.measure)
                counted = np.ones(len(values), dtype=bool) if mask is None else np.array(mask, dtype=bool)
                scores = np.array(values, dtype=np.float64)
                found[number, point.system] = _Scores(
                    queries, scores, counted, about.lower_is_better, record.conversations
                )
    return found


def _changes(history: History, points: Sequence[Point]) -> dict[tuple[int, str], Change]:
    """Each point against the one before it, where both measure the same quantity; one family for each series."""
    scores = _scores(history, points)
    found = {}
    for series in series_of(points):
        keys = [(point.record_id, point.system) for point in series.points]
        columns: dict[tuple[int, str], Column] = {}
        for i, (before, after) in enumerate(pairwise(keys), start=1):
            if i not in series.breaks and before in scores and after in scores:
                columns[after] = _column(scores[before], scores[after])
        settings = Settings(test="t", alpha=_ALPHA, equivalence_margin=0.0, samples=0)
        for (key, column), own in zip(columns.items(), compare_columns([*columns.values()], settings), strict=True):
            turned = {"better": "worse", "worse": "better"} if scores[key].lower_is_better else {}
            found[key] = Change(column.mean, own.p_corrected, turned.get(own.verdict, own.verdict))
    return found


def _column(before: _Scores, after: _Scores) -> Column:
    """The differences of the queries that both records have, or of their conversations."""
    common = [query for query in after.queries if query in before.queries]
    rows = np.array([(before.queries[q], i) for q, i in after.queries.items() if q in before.queries]).reshape(-1, 2)
    first, second = rows[:, 0], rows[:, 1]
    mask = before.counted[first] & after.counted[second]
    column = Column(np.where(mask, after.values[second] - before.values[first], 0.0), mask)
    return clustered(column, cluster_numbers(common, after.conversations))
