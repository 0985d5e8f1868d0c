"""Trends: intervals held until the next record, baselines and targets as lines, significant changes marked."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rankgauge import compare_stored
from rankgauge.errors import DataError
from rankgauge.history.baselines import set_baseline
from rankgauge.history.store import History
from rankgauge.record import Mean, Record, SystemResult
from rankgauge.reports import report
from rankgauge.reports.chart_specs import Chart
from rankgauge.reports.drawing import drawn
from rankgauge.reports.series import Marks
from rankgauge.reports.trend import trend_report
from rankgauge.reports.trend_chart import trend_chart
from rankgauge.reports.trend_marks import marks_of
from rankgauge.stats.intervals import Interval
from rankgauge.words import Language
from tests.cli.command import run_command
from tests.history.records import make_record
from tests.parts import DRAWN
from tests.reports.test_chart_files import texts

LEVELS = (0.5, 0.5, 0.56, 0.48, 0.483, 0.6, 0.6)
BREAK = 5
"""From this day on another test set is used."""


def record_of_day(day: int, *, lower: bool = False) -> Record:
    """Scores that move together from day to day but for a little noise."""
    spread = np.random.default_rng(99).normal(0, 0.1, 20)
    scores = (LEVELS[day] + spread + np.random.default_rng(day).normal(0, 0.004, 20)).tolist()
    mean = float(np.mean(scores))
    made = make_record(day, test_set=("b" if day >= BREAK else "a") * 64, measures=["AP"])
    system = SystemResult(
        "search", {"AP": Mean(mean, Interval(mean - 0.05, mean + 0.05, 0.95, "t"), 20)}, {"AP": scores}
    )
    measures = [replace(about, lower_is_better=lower) for about in made.measures]
    return replace(made, systems=[system], measures=measures)


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[History]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    with History.open() as opened:
        for day in range(len(LEVELS)):
            opened.add(record_of_day(day))
        yield opened


def shown(chart: Chart, language: Language = "en") -> list[str]:
    return texts(drawn(chart, language, ["svg"])["svg"])


def paths(chart: Chart, kind: str) -> list[str]:
    svg = drawn(chart, "en", ["svg"])["svg"].decode()
    found = re.findall(rf'<path [^>]*aria-roledescription="{kind} mark"[^>]*>', svg)
    return [path for one in found for path in re.findall(r' d="([^"]+)"', one)]


def test_intervals_are_steps_that_end_at_breaks(history: History) -> None:
    chart = trend_chart(history.trend("AP"))
    lines, areas = paths(chart, "line"), paths(chart, "area")
    assert len(lines) == len(areas) == 2  # one before and one after the break
    for line in lines:
        steps = [tuple(map(float, point.split(","))) for point in re.split("[ML]", line) if point]
        for (x, y), (next_x, next_y) in pairwise(steps):
            assert x == next_x or y == next_y  # never aslant
    starts = [row["created"] for row in chart.rows if row["kind"] == "break"]
    ends = [row for row in chart.rows if row["kind"] == "end"]
    assert ends[0]["created"] == starts[0]
    points = [row for row in chart.rows if row["kind"] == "point"]
    assert (ends[0]["low"], ends[0]["high"]) == (points[BREAK - 1]["low"], points[BREAK - 1]["high"])
    assert ends[1]["created"] > points[-1]["created"]  # the newest is held a little, so that it is seen


def test_a_single_record_has_its_interval(history: History) -> None:
    chart = trend_chart(history.trend("AP", limit=1))
    (area,) = paths(chart, "area")
    across = {point.split(",")[0] for point in re.split("[MLZ]", area) if point}
    assert len(across) == 2


def test_changes_are_those_that_a_paired_test_finds(history: History, tmp_path: Path) -> None:
    points = history.trend("AP")
    marks = marks_of(history, points)
    found = {number: change.verdict for (number, _), change in marks.changes.items() if change.significant}
    assert found == {3: "better", 4: "worse"}  # the second and third day, and not across the break
    assert BREAK + 1 not in {number for number, _ in marks.changes}
    for day in (2, 3):
        record_of_day(day).save(tmp_path / f"{day}.json")
    other = compare_stored([tmp_path / "2.json", tmp_path / "3.json"], test="t").to_record(provenance=False)
    assert other.comparison is not None
    row = other.comparison.rows[0]
    change = marks.changes[4, "search"]
    assert change.difference == pytest.approx(row.difference)
    assert change.p == pytest.approx(row.p_value * 5, rel=1e-6)  # the least of the five of the series
    chart = trend_chart(points, marks=marks)
    assert {"significant gain", "significant loss"} <= set(shown(chart))
    assert [row["record"] for row in chart.rows if row.get("change") and row["kind"] == "point"] == ["#3", "#4"]


def test_a_fall_is_a_gain_where_lower_is_better(tmp_path: Path) -> None:
    with History.open(tmp_path / "h.db") as history:
        for day in (1, 2, 3):
            history.add(record_of_day(day, lower=True))
        verdicts = [change.verdict for change in marks_of(history, history.trend("AP")).changes.values()]
    assert verdicts == ["worse", "better"]


@pytest.mark.parametrize("language", DRAWN)
def test_baselines_and_targets_are_drawn_and_labelled(history: History, language: Language) -> None:
    set_baseline(history, "main", record_of_day(0), targets=["AP >= 0.55", "AP >= baseline + 10%", "nDCG@10 >= 0.9"])
    points = history.trend("AP")
    marks = marks_of(history, points, targets=["AP >= 0.7"])
    base = points[0].value
    assert [(level.kind, round(level.value, 6)) for level in marks.levels] == [
        ("baseline", round(base, 6)),
        ("target", 0.55),
        ("target", round(1.1 * base, 6)),
        ("target", 0.7),
    ]
    # Only over the records of its own test set; what was asked for goes all the way.
    assert [level.last.record_id for level in marks.levels] == [BREAK, BREAK, BREAK, len(LEVELS)]
    chart = trend_chart(points, language, marks=marks)
    words = ("baseline", "target") if language == "en" else ("基线", "目标")
    told = shown(chart, language)
    assert f"{words[0]} main {base:.4f}" in told
    assert [f"{words[1]} ≥ {goal:.4f}" in told for goal in (0.55, 1.1 * base, 0.7)] == [True] * 3
    assert len(paths(chart, "line")) == 2
    places = sorted(row["place"] for row in chart.rows if "place" in row)
    assert min(b - a for a, b in pairwise(places)) > 0  # 0.55 and 0.5507 do not cover each other


def test_a_baseline_of_another_system_or_test_set(history: History) -> None:
    points = history.trend("AP")
    other = replace(record_of_day(0), systems=[replace(record_of_day(0).systems[0], name="other")])
    set_baseline(history, "other", other)
    assert marks_of(history, points).levels == []
    assert len(marks_of(history, points, baseline="other").levels) == 1
    set_baseline(history, "old", make_record(0, test_set="c" * 64, measures=["AP"]))
    assert marks_of(history, points).levels == []
    with pytest.raises(DataError, match="another test set, contract or measure"):
        marks_of(history, points, baseline="old")
    with pytest.raises(DataError, match="relative to a baseline: give one with `baseline=`"):
        marks_of(history, points, targets=["AP >= baseline + 5%"])


def test_captions_tell_what_is_drawn(history: History) -> None:
    points = history.trend("AP")
    marks = marks_of(history, points)

    def caption(chosen: list[int], own: Marks) -> str:
        page = report(trend_report([points[i] for i in chosen], own), format="html")
        return page.partition('<p class="hint">')[2].partition("</p>")[0]

    everything = caption([*range(7)], marks)
    assert "dashed line" in everything
    assert "triangle" in everything
    assert "dashed" not in caption([0, 1, 2], marks)
    assert "triangle" not in caption([0, 1], Marks())
    assert "not tested" in caption([0, 1], Marks(tested=False))


def test_the_command(history: History) -> None:
    set_baseline(history, "main", record_of_day(0))
    run_command("history", "trend", "AP", "--target", "AP >= 0.55", "-o", "t.html")
    page = Path("t.html").read_text(encoding="utf-8")
    assert page.count("<svg xmlns") == 2  # light and dark
    assert page.count("target ≥ 0.5500") >= 2
    assert '<span class="badge worse">significant loss</span>' in page
    data = json.loads(run_command("history", "trend", "AP", "--baseline", "main", "--json").stdout)
    assert [line["name"] for line in data["lines"]] == ["main"]
    assert {change["record"]: change["verdict"] for change in data["changes"]}[4] == "worse"
    unknown = run_command("history", "trend", "AP", "--baseline", "none", "--json", status=2)
    assert "has no baseline 'none'" in unknown.stderr
    assert "go with a chart" in run_command("history", "trend", "AP", "--baseline", "main", status=2).stderr
    wrong = run_command("history", "trend", "AP", "--target", "RR >= 1", "-o", "t.png", status=2)
    assert wrong.stderr == "rankgauge: 'RR >= 1' is a target of RR, and this trend shows AP\n"
    assert not Path("t.png").exists()


def test_a_record_that_cannot_be_read_leaves_the_trend(history: History) -> None:
    import sqlalchemy as sa

    from rankgauge.history.schema import records

    with history.begin() as connection:
        connection.execute(sa.update(records).where(records.c.id == 3).values(document=b"damaged"))
    points = history.trend("AP")
    marks = marks_of(history, points)
    assert {number for number, _ in marks.changes} == {2, 5, 7}
    assert len([row for row in trend_chart(points, marks=marks).rows if row["kind"] == "point"]) == len(LEVELS)
