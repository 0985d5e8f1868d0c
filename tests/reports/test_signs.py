"""The words that explain a difference, tied to the figures: what "x − y", "x against y", "x → y", "won" and "better"
say is computed again from the scores of each query."""

from __future__ import annotations

import itertools
import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from rankgauge.comparison.comparison_record import comparison_record
from rankgauge.reports.html import render_html
from rankgauge.reports.html_view import view_of
from rankgauge.reports.html_words import PAGE, SCRIPT

from rankgauge import compare
from rankgauge.reports.charts import charts_of
from rankgauge.reports.comparison import render
from rankgauge.words import LANGUAGES, Language

# Higher is better, and lower is better.
MEASURES = ("nDCG@5", "Unjudged@5")
ORDERS = [("poor", "good"), ("good", "poor"), ("poor", "good", "fair"), ("good", "fair", "poor")]
HINT = {
    "en": r"The difference in “(\w+) against (\w+)” is (\w+) − (\w+): above 0 where (\w+) scores higher\.",
    "zh": r"“(\w+) 相对于 (\w+)”的差值为 (\w+) − (\w+)，(\w+) 得分较高时大于 0。",
}
AGAINST = {"en": r"(\w+) against (\w+)", "zh": r"(\w+) 相对于 (\w+)"}

cases = pytest.mark.parametrize(("order", "language"), list(itertools.product(ORDERS, LANGUAGES)))


def _lists(kind: str, query: int) -> dict[str, float]:
    """Of two judged documents a good list has both in front, a poor one none; every eighth query is the other way."""
    if query % 8 == 0:
        kind = {"good": "poor", "poor": "good", "fair": "fair"}[kind]
    front = {"good": ["a", "b"], "fair": ["x", "a"], "poor": ["x", "y"]}[kind]
    listed = [*front, "u", "v", "w"]
    return {doc: float(len(listed) - i) for i, doc in enumerate(listed)}


@cache
def _record(order: tuple[str, ...]) -> dict[str, Any]:
    queries = range(60)
    qrels = {str(q): {"a": 1, "b": 1, "n": 0} for q in queries}
    runs = {name: {str(q): _lists(name, q) for q in queries} for name in order}
    return comparison_record(compare(qrels, runs, MEASURES, samples=2000), provenance=False)


def _scores(record: dict[str, Any], system: str, measure: str) -> Any:
    return np.array(next(s for s in record["systems"] if s["name"] == system)["per_query"][measure])


def _difference(record: dict[str, Any], measure: str, x: str, y: str) -> float:
    """Mean of x minus mean of y."""
    return float((_scores(record, x, measure) - _scores(record, y, measure)).mean())


def _signed(value: float, digits: int = 4) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _gains(record: dict[str, Any], measure: str, x: str, y: str) -> tuple[int, int]:
    """On how many queries x does better than y, and worse."""
    sign = -1 if measure.startswith("Unjudged") else 1
    gain = sign * (_scores(record, x, measure) - _scores(record, y, measure))
    return int((gain > 1e-9).sum()), int((gain < -1e-9).sum())


@cases
def test_page_explains_the_difference_it_shows(order: tuple[str, ...], language: Language) -> None:
    record = _record(order)
    view = view_of(record, language)
    hint = re.search(HINT[language], render_html(record, language))
    assert hint is not None
    named_first, named_second, x, y, higher = hint.groups()
    row = view["rows"][0]
    assert row["pair"] == PAGE[language]["against"].format(b=named_first, a=named_second)
    assert row["difference"] == _signed(_difference(record, row["measure"], x, y))
    assert higher == x
    for row in view["rows"]:  # and every other pair is named and counted the same way round
        shown = re.fullmatch(AGAINST[language], row["pair"])
        assert shown is not None
        first, second = shown.groups() if (x, y) == (named_first, named_second) else shown.groups()[::-1]
        mean = _difference(record, row["measure"], first, second)
        assert abs(mean) > 0.1
        assert row["difference"] == _signed(mean)
        won, lost = _gains(record, row["measure"], first, second)
        assert row["wtl"] == f"{won} / {60 - won - lost} / {lost}"
        assert row["verdict"] == ("better" if won > lost else "worse")
        assert row["effect"][0] == row["relative_change"][0] == row["difference"][0]


@cases
def test_tables_follow_the_arrow(order: tuple[str, ...], language: Language) -> None:
    """a → b: from a to b, so b minus a, and won by b."""
    record = _record(order)
    lines = [line for line in render(record, "table", language=language, details=False).splitlines() if "→" in line]
    rows = [line for line in lines if line.startswith(MEASURES)]
    assert len(rows) == len(record["comparison"]["rows"])
    for line in rows:
        measure, a, b, difference = re.match(r"(\S+) +(\w+) → (\w+) +([+-][\d.]+)", line).groups()  # type: ignore[union-attr]
        assert float(difference) == pytest.approx(_difference(record, measure, b, a), abs=1e-4)
        won, lost = _gains(record, measure, b, a)
        assert f" {won}/{60 - won - lost}/{lost} " in line


@cases
@pytest.mark.parametrize("measure", MEASURES)
def test_charts_name_what_they_subtract(order: tuple[str, ...], language: Language, measure: str) -> None:
    record = _record(order)
    subtractions = 0
    for chart in charts_of(record, language, measure=measure):
        said = chart.title + json.dumps(chart.complete(), ensure_ascii=False)
        pairs = set(re.findall(r"(\w+) − (\w+)", said))
        for row in chart.rows:
            if chart.name.startswith("comparison"):
                shown = re.search(r"(\w+) − (\w+)", row["label"])
                x, y = shown.groups() if shown else next(iter(pairs))
                assert row["value"] == pytest.approx(_difference(record, row["measure"], x, y), abs=1e-6)
                subtractions += 1
        if chart.name in ("scatter", "differences"):
            axes = {key: _scores(record, name, measure).tolist() for key, name in (("a", order[0]), ("b", order[1]))}
            assert {key: [row[key] for row in chart.rows] for key in axes} == {
                key: pytest.approx(values) for key, values in axes.items()
            }
        if chart.name == "differences":  # the specification computes datum.b - datum.a
            assert pairs == {(order[1], order[0])}
            assert "datum.b-datum.a" in said
        if chart.name == "scatter":  # "y against x"
            x_axis, y_axis = (chart.spec["layer"][1]["encoding"][axis]["title"] for axis in "xy")
            across, up = (next(name for name in order if name in title) for title in (x_axis, y_axis))
            assert re.search(AGAINST[language], chart.title).groups() == (up, across)  # type: ignore[union-attr]
    assert subtractions == len(record["comparison"]["rows"])


def test_pairs_are_named_alike_in_page_and_script() -> None:
    for language in LANGUAGES:
        assert PAGE[language]["against"] == SCRIPT[language]["pair"]
