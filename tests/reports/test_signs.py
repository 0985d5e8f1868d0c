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

from rankgauge import compare
from rankgauge.record import Record
from rankgauge.reports import report
from rankgauge.reports.chart_fitting import complete
from rankgauge.reports.charts import charts_of
from rankgauge.words import LANGUAGES, Language, say
from tests.reports.test_html import Page

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
def _record(order: tuple[str, ...]) -> Record:
    queries = range(60)
    qrels = {str(q): {"a": 1, "b": 1, "n": 0} for q in queries}
    runs = {name: {str(q): _lists(name, q) for q in queries} for name in order}
    return compare(qrels, runs, MEASURES, samples=2000).to_record(provenance=False)


def _scores(record: Record, system: str, measure: str) -> Any:
    return np.array(record.system(system).per_query[measure])


def _difference(record: Record, measure: str, x: str, y: str) -> float:
    """Mean of x minus mean of y."""
    return float((_scores(record, x, measure) - _scores(record, y, measure)).mean())


def _signed(value: float, digits: int = 4) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


def _gains(record: Record, measure: str, x: str, y: str) -> tuple[int, int]:
    """On how many queries x does better than y, and worse."""
    sign = -1 if measure.startswith("Unjudged") else 1
    gain = sign * (_scores(record, x, measure) - _scores(record, y, measure))
    return int((gain > 1e-9).sum()), int((gain < -1e-9).sum())


def _rows(record: Record, language: Language) -> list[list[str]]:
    """The cells of the page's table of rows, each cell's second line behind a |."""
    page = report(record, format="html", language=language)
    table = page.partition('<section id="comparison"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in table.split("</tr>")[:-1]]
    return [[re.sub(r"<[^>]*>", "", cell.replace("<small>", "|")) for cell in row] for row in rows]


@cases
def test_page_explains_the_difference_it_shows(order: tuple[str, ...], language: Language) -> None:
    record = _record(order)
    assert record.comparison is not None
    hint = re.search(HINT[language], Page(report(record, format="html", language=language)).text)
    assert hint is not None
    named_first, named_second, x, y, higher = hint.groups()
    rows = _rows(record, language)
    assert len(rows) == len(record.comparison.rows)
    measure, pair, difference = (cell.partition("|")[0] for cell in rows[0][:3])
    assert pair == say("html.against", language, b=named_first, a=named_second)
    assert difference == _signed(_difference(record, measure, x, y))
    assert higher == x
    for row in rows:  # and every other pair is named and counted the same way round
        measure, pair, difference, relative, _, effect, wins, _, verdict = (cell.partition("|")[0] for cell in row)
        shown = re.fullmatch(AGAINST[language], pair)
        assert shown is not None
        first, second = shown.groups() if (x, y) == (named_first, named_second) else shown.groups()[::-1]
        mean = _difference(record, measure, first, second)
        assert abs(mean) > 0.1
        assert difference == _signed(mean)
        won, lost = _gains(record, measure, first, second)
        assert wins == f"{won}/{60 - won - lost}/{lost}"
        assert verdict == say(f"comparison.verdict_{'better' if won > lost else 'worse'}", language)
        assert effect[0] == relative[0] == difference[0]


@cases
def test_tables_follow_the_arrow(order: tuple[str, ...], language: Language) -> None:
    """a → b: from a to b, so b minus a, and won by b."""
    record = _record(order)
    assert record.comparison is not None
    lines = [line for line in report(record, language=language, detail="evidence").splitlines() if "→" in line]
    rows = [line for line in lines if line.startswith(MEASURES) and "/" in line]
    assert len(rows) == len(record.comparison.rows)
    for line in rows:
        measure, a, b, difference = re.match(r"(\S+) +(\w+) → (\w+) +([+−][\d.]+)", line).groups()  # type: ignore[union-attr]
        assert float(difference.replace("−", "-")) == pytest.approx(_difference(record, measure, b, a), abs=1e-4)
        won, lost = _gains(record, measure, b, a)
        assert f" {won}/{60 - won - lost}/{lost} " in line


@cases
@pytest.mark.parametrize("measure", MEASURES)
def test_charts_name_what_they_subtract(order: tuple[str, ...], language: Language, measure: str) -> None:
    record = _record(order)
    subtractions = 0
    for chart in charts_of(record, language, measure=measure, pair=order[:2]):
        said = chart.title + json.dumps(complete(chart), ensure_ascii=False)
        pairs = set(re.findall(r"(\w+) − (\w+)", said))
        for row in chart.rows:
            if chart.name.startswith("forest"):
                shown = re.search(r"(\w+) − (\w+)", row["label"])
                x, y = shown.groups() if shown else next(iter(pairs))
                assert row["value"] == pytest.approx(_difference(record, row["measure"], x, y), abs=1e-6)
                subtractions += 1
        if chart.name.startswith(("scatter", "differences")):
            axes = {key: _scores(record, name, measure).tolist() for key, name in (("a", order[0]), ("b", order[1]))}
            assert {key: [row[key] for row in chart.rows] for key in axes} == {
                key: pytest.approx(values) for key, values in axes.items()
            }
        if chart.name.startswith("differences"):  # the specification computes datum.b - datum.a
            assert pairs == {(order[1], order[0])}
            assert "datum.b-datum.a" in said
        if chart.name.startswith("scatter"):  # "y against x"
            x_axis, y_axis = (chart.spec["layer"][1]["encoding"][axis]["title"] for axis in "xy")
            across, up = (next(name for name in order if name in title) for title in (x_axis, y_axis))
            assert re.search(AGAINST[language], chart.title).groups() == (up, across)  # type: ignore[union-attr]
    assert record.comparison is not None
    assert subtractions == len(record.comparison.rows)
