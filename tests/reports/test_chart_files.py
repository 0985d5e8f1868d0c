"""Charts as files: every pair that is shown, best first, under names and titles that say what they hold."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import compare
from rankgauge.record import Record
from rankgauge.reports.chart_names import chart_name, named_apart
from rankgauge.reports.chart_specs import Chart
from rankgauge.reports.charts import charts_of, pairs_of
from rankgauge.reports.drawing import drawn, save_charts
from rankgauge.words import Language
from tests.parts import DRAWN
from tests.reports.samples import live_record, made

NAMES = ("bm25", "dense", "hybrid")
LONG = ("multilingual-e5-large-instruct-v2-fp16-x", "向量检索加重排序的第二版本（生产环境，百炼平台）测试专用", "bm25")


@cache
def _record(names: tuple[str, ...], measures: tuple[str, ...] = ("nDCG@10", "AP", "Unjudged@5")) -> Record:
    """Three systems, the first the best and the second the worst."""
    random = np.random.default_rng(3)
    queries = [f"q{i}" for i in range(40)]
    qrels = {query: {f"d{j}": 2 - j for j in range(3)} for query in queries}
    runs = {
        name: {query: {f"d{j}": float(random.normal() + (j < 2) * lift) for j in range(12)} for query in queries}
        for name, lift in zip(names, (2.0, 0.2, 1.4), strict=True)
    }
    return compare(qrels, runs, measures, samples=500).to_record(provenance=False)


def texts(svg: str | bytes) -> list[str]:
    """What is written in a drawing, one entry for each line."""
    found = []
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        lines = [child.text or "" for child in element] or [element.text or ""]
        found += [line for line in lines if line]
    return found


@pytest.mark.parametrize("language", DRAWN)
def test_every_pair_is_drawn_in_both_formats(tmp_path: Path, language: Language) -> None:
    written = save_charts(_record(NAMES), tmp_path, language)
    pairs = ("bm25-dense", "bm25-hybrid", "dense-hybrid")
    expected = {"means", "distribution-nDCG@10", "forest-nDCG@10", "forest-AP", "forest-Unjudged@5"}
    expected |= {f"{kind}-{pair}-nDCG@10" for kind in ("scatter", "differences") for pair in pairs}
    assert {path.name for path in written} == {f"{name}.{end}" for name in expected for end in ("png", "svg")}
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in written}
    queries = "40 queries" if language == "en" else "40 个查询"
    for path in tmp_path.glob("*.svg"):
        shown = texts(path.read_text(encoding="utf-8"))
        measure = path.stem.rpartition("-")[2] if "-" in path.stem else None
        assert (f"{measure} · {queries}" if measure else queries) in shown, path.name


def test_one_pair_and_one_measure_by_choice() -> None:
    record = _record(NAMES)
    names = [chart.name for chart in charts_of(record, "en", measure="AP", pair=("dense", "bm25"))]
    assert [name for name in names if "scatter" in name] == ["scatter-dense-bm25-AP"]
    assert pairs_of(made(live_record())) == [("bm25", "hybrid")]


@pytest.mark.parametrize("measure", ["nDCG@10", "Unjudged@5"])
def test_forests_run_from_the_best_to_the_worst(measure: str) -> None:
    """Also where lower is better; and the drawing has the order of the rows."""
    record = _record(NAMES)
    (chart,) = [one for one in charts_of(record, "en") if one.name == f"forest-{measure}"]
    values = [row["value"] for row in chart.rows]
    assert len(values) == 3
    assert values == sorted(values, reverse=measure == "nDCG@10")
    labels = [text for text in texts(drawn(chart, "en", ["svg"])["svg"]) if " − " in text]
    assert labels == [row["label"] for row in chart.rows]


def test_tags_run_from_the_best_to_the_worst() -> None:
    tags = next(chart for chart in charts_of(made(live_record()), "en") if chart.name.startswith("tags"))
    values = [row["value"] for row in tags.rows]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 3


def test_scatter_is_square_with_equal_axes_and_the_diagonal() -> None:
    chart = next(chart for chart in charts_of(_record(NAMES), "en") if chart.name.startswith("scatter"))
    assert chart.spec["width"] == chart.spec["height"]
    diagonal, dots = chart.spec["layer"]
    for layer in (diagonal, dots):
        assert layer["encoding"]["x"]["scale"] == layer["encoding"]["y"]["scale"]
    ends = {key: diagonal["encoding"][key]["datum"] for key in ("x", "y", "x2", "y2")}
    assert (ends["x"], ends["x2"]) == (ends["y"], ends["y2"]) == (0.0, 1.0)
    svg = drawn(chart, "en", ["svg"])["svg"].decode()
    ticks = [text for text in texts(svg) if re.fullmatch(r"\d\.\d", text)]
    assert sorted(ticks) == sorted([*dict.fromkeys(ticks)] * 2)  # the same on both axes


@pytest.mark.parametrize("digits", [2, 4])
def test_one_minus_sign_and_the_digits_of_the_tables(digits: int) -> None:
    record = _record(NAMES)
    assert record.comparison is not None
    charts = charts_of(record, "en", digits, pair=("bm25", "dense"))
    for chart in charts if digits == 4 else [chart for chart in charts if chart.name.startswith("differences")]:
        svg = drawn(chart, "en", ["svg"])["svg"].decode()
        for text in texts(svg):
            assert not re.search(r"-\d", text.replace(chart.measure or "", "")), text
        if chart.name == "differences-bm25-dense-nDCG@10":
            row = next(row for row in record.comparison.rows if (row.a, row.b) == ("bm25", "dense"))
            assert f"mean {row.difference:+.{digits}f}".replace("-", "−") in texts(svg)
            assert row.difference < 0


@pytest.mark.needs("font")
def test_long_names_are_whole() -> None:
    """Names of forty characters and of Chinese ones are broken into lines, never cut."""
    for chart in charts_of(_record(LONG), "zh"):
        shown = texts(drawn(chart, "zh", ["svg"])["svg"])
        assert not [text for text in shown if "…" in text], chart.name
        whole = "".join(shown).replace(" ", "")
        named = chart.rows[0].keys() & {"system", "label"} or chart.name.startswith(("scatter", "differences"))
        for name in LONG[:2] if named else ():
            if chart.name.startswith(("scatter", "differences")) and chart_name("", name).strip("-") not in chart.name:
                continue
            assert name in whole, chart.name


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("P(rel=2)@5", "forest-P_rel=2_@5"),
        ('a/b\\c:d*e?f"g<h>i|j', "forest-a_b_c_d_e_f_g_h_i_j"),
        ("..", "forest-_"),
        ("run.", "forest-run"),
        ("检索 系统", "forest-检索_系统"),
        ("e\u0301", "forest-\u00e9"),
        ("\x1b[31m\ud800", "forest-__31m_"),
    ],
)
def test_names_are_safe(part: str, name: str) -> None:
    assert chart_name("forest", part) == name


def test_names_are_short_and_differ() -> None:
    long = chart_name("differences", "检" * 200, "a" * 200, "m" * 200)
    assert len(f"{long}-12.png".encode()) <= 143
    charts = [Chart(name, "", {}, [], 0) for name in ("x-a", "x-A", "x-\uff41", "x-a-2", "x-b")]
    named = [chart.name for chart in named_apart(charts)]
    assert named == ["x-a", "x-A-2", "x-\uff41-3", "x-a-2-2", "x-b"]
    assert len({name.casefold() for name in named}) == len(named)


def test_systems_whose_names_meet_keep_their_files() -> None:
    names = [chart.name for chart in charts_of(_record(("a/b", "a:b", "a?b")), "en")]
    assert len(set(names)) == len(names)
    assert [name for name in names if name.startswith("scatter")] == [
        "scatter-a_b-a_b-nDCG@10",
        "scatter-a_b-a_b-nDCG@10-2",
        "scatter-a_b-a_b-nDCG@10-3",
    ]


def test_a_front_of_one_point_has_no_line_and_no_legend() -> None:
    """Captions and legends tell of a line only where it is drawn."""

    def shown(record: dict[str, Any]) -> list[str]:
        (chart,) = [one for one in charts_of(made(record), "en") if one.name.startswith("latency")]
        return texts(drawn(chart, "en", ["svg"])["svg"])

    record = live_record()
    assert "Pareto front" in shown(record)
    means = [system["means"]["nDCG@10"] for system in record["systems"]]
    means[0]["value"], means[1]["value"] = 0.6, 0.5  # the slower one is worse too
    assert "Pareto front" not in shown(record)
