"""Charts: every specification compiles, shows what the record holds, and is written whole."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from rankgauge.errors import DataError, MissingExtraError, RankgaugeError
from rankgauge.reports import drawing
from rankgauge.reports.chart_fitting import complete
from rankgauge.reports.chart_specs import VERDICTS, Chart, theme
from rankgauge.reports.charts import charts_of, comparison_charts, domain_of, mean_charts
from rankgauge.reports.drawing import save_charts
from rankgauge.words import LANGUAGES, Language, say
from tests.parts import DRAWN
from tests.reports.samples import (
    comparison_record,
    evaluation_record,
    hostile_record,
    large_record,
    live_record,
    made,
)

PAIR = "bm25-hybrid-nDCG@10"
NAMES = [
    "means",
    "forest-bm25-hybrid",
    "distribution-nDCG@10",
    f"scatter-{PAIR}",
    f"differences-{PAIR}",
    f"tags-{PAIR}",
]


def drawn(chart: Chart) -> str:
    return str(vl_convert.vegalite_to_svg(complete(chart), config=theme("light")))


def marks(svg: str, kind: str) -> int:
    """How many marks say that they are of this kind."""
    return len(re.findall(rf'aria-roledescription="{kind}"', svg))


def by_name(record: dict[str, Any], language: Language = "en", **choice: Any) -> dict[str, Chart]:
    return {chart.name: chart for chart in charts_of(made(record), language, **choice)}


def kinds(record: dict[str, Any], language: Language = "en", **choice: Any) -> dict[str, Chart]:
    """Charts by the first word of their names, the first of each kind."""
    listed = charts_of(made(record), language, **choice)
    return {chart.name.partition("-")[0]: chart for chart in reversed(listed)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_chart_is_drawn(language: Language) -> None:
    found = by_name(comparison_record(), language)
    assert list(found) == NAMES
    for chart in found.values():
        svg = drawn(chart)
        assert "<svg" in svg
        assert "undefined" not in svg
        assert "NaN" not in svg
        assert chart.title in svg
        assert chart.about in svg


def test_means_have_a_point_for_each_system_and_measure() -> None:
    record = comparison_record()
    (chart,) = mean_charts(made(record), "en")
    assert [(row["system"], row["measure"]) for row in chart.rows] == [
        (system["name"], measure["name"]) for measure in record["measures"] for system in record["systems"]
    ]
    svg = drawn(chart)
    assert marks(svg, "point") == len(chart.rows)
    assert marks(svg, "rule mark") == len(chart.rows)


def test_sums_have_no_place_and_large_measures_an_axis_of_their_own() -> None:
    record = evaluation_record()
    record["measures"][1]["aggregate"] = "sum"
    for system in record["systems"]:
        system["means"]["RR"] |= {"value": 12.5, "interval": None}
    found = mean_charts(made(record), "en")
    assert [{row["measure"] for row in chart.rows} for chart in found] == [{"nDCG@10"}, {"RR"}]
    assert [chart.name for chart in found] == ["means-nDCG@10", "means-RR"]
    assert all(drawn(chart) for chart in found)


def test_forest_has_zero_margin_and_ends_without_bounds() -> None:
    record = comparison_record()
    rows = record["comparison"]["rows"]
    rows[0]["interval"] |= {"low": None}
    rows[1]["interval"] |= {"low": None, "high": None}
    rows[2]["interval"] = None
    (chart,) = comparison_charts(made(record), "en")
    svg = drawn(chart)
    assert marks(svg, "point") == 3
    assert marks(svg, "rule mark") == 2  # one half-open, one open at both ends; none for the row without an interval
    assert marks(svg, "rect mark container") == 1
    record["comparison"]["settings"]["equivalence_margin"] = 0.0
    assert marks(drawn(comparison_charts(made(record), "en")[0]), "rect mark container") == 0


def test_many_rows_are_cut_up_by_measure() -> None:
    record = large_record(queries=300)
    found = comparison_charts(made(record), "en")
    assert [chart.measure for chart in found] == [measure["name"] for measure in record["measures"]]
    assert all(len(chart.rows) == 45 for chart in found)
    assert len({chart.name for chart in found}) == len(found)


def test_queries_are_all_there() -> None:
    record = comparison_record()
    found = kinds(record)
    pairs = {(round(row["a"], 3), round(row["b"], 3)) for row in found["scatter"].rows}
    assert len(found["scatter"].rows) == 30
    assert marks(drawn(found["scatter"]), "circle") == len(pairs)
    assert marks(drawn(found["differences"]), "rect mark") == 30
    record["systems"][0]["counted"] = {"nDCG@10": [False] * 5 + [True] * 25}
    found = kinds(record)
    assert len(found["scatter"].rows) == 25
    assert len(found["distribution"].rows) == 55


def test_many_queries_share_bars() -> None:
    record = large_record(systems=2, queries=7000)
    assert 300 < marks(drawn(kinds(record)["differences"]), "rect mark") <= 700


def test_lower_can_be_better() -> None:
    """The colour of a gain goes to the query whose score fell."""
    record = comparison_record()
    better, worse = VERDICTS["better"], VERDICTS["worse"]
    counts = []
    for lower in (False, True):
        record["measures"][0]["lower_is_better"] = lower
        svg = drawn(kinds(record)["differences"])
        counts.append((svg.count(f'fill="{better}"'), svg.count(f'fill="{worse}"')))
    assert counts[0] == counts[1][::-1]
    assert counts[0][0] != counts[0][1]


def test_choice_of_measure_and_pair() -> None:
    record = comparison_record()
    found = kinds(record, measure="RR", pair=("hybrid", "bm25"))
    assert "tags" not in found  # that direction was not compared
    assert found["scatter"].measure == "RR"
    assert found["scatter"].title == "Each query: bm25 against hybrid"
    with pytest.raises(DataError, match=r"no 'AP'; it has: nDCG@10"):
        charts_of(made(record), "en", measure="AP")
    with pytest.raises(DataError, match="no 'dense'; it has: bm25, hybrid"):
        charts_of(made(record), "en", pair=("bm25", "dense"))


def test_one_system_and_no_queries() -> None:
    assert list(by_name(evaluation_record("bm25"))) == ["means", "distribution-nDCG@10"]
    assert list(by_name(evaluation_record())) == [name for name in NAMES if not name.startswith(("forest", "tags"))]
    record = evaluation_record()
    record["queries"] = []
    for system in record["systems"]:
        system |= {"per_query": {}, "counted": {}}
    assert list(by_name(record)) == ["means"]


@pytest.mark.parametrize(
    "text", ["{a}", "{lo}", "'\"\\", '\\" + no(1) + "', "\u2028\u2029", "</script>", "a.b[0]", "\n"]
)
def test_names_are_only_names(text: str) -> None:
    for chart in charts_of(made(hostile_record(text)), "en"):
        svg = drawn(chart)
        assert "undefined" not in svg
        assert "<script" not in svg


@pytest.mark.parametrize("language", DRAWN)
def test_live_charts(language: Language, tmp_path: Path) -> None:
    found = by_name(live_record(), language)
    live = ["latency-nDCG@10", "sweep-hybrid-nDCG@10", "setting-hybrid-ef_search-nDCG@10"]
    assert list(found) == [*NAMES[:2], *live, *NAMES[2:]]
    for name in live:
        svg = drawn(found[name])
        assert found[name].title in svg
        assert "undefined" not in svg
        assert "NaN" not in svg
    written = save_charts(made(live_record()), tmp_path, language)
    assert {f"{name}.{end}" for name in live for end in ("png", "svg")} <= {path.name for path in written}


def test_quality_against_latency() -> None:
    record = live_record()
    chart = kinds(record, measure="RR")["latency"]
    assert [(row["system"], row["p50"]) for row in chart.rows] == [("bm25", 2.1), ("hybrid", 34.2)]
    assert [row["value"] for row in chart.rows] == pytest.approx(
        [system["means"]["RR"]["value"] for system in record["systems"]], abs=1e-6
    )
    svg = drawn(chart)
    assert marks(svg, "point") == 2
    assert marks(svg, "rule mark") == 2
    assert chart.spec["encoding"]["x"]["scale"]["type"] == "log"
    record["systems"][1]["calls"]["latency"]["p50"] = 0.02
    assert "type" not in kinds(record)["latency"].spec["encoding"]["x"]["scale"]
    record["systems"][0]["calls"]["latency"] = None
    assert "latency" not in kinds(record)


def test_versions_with_front_and_best() -> None:
    chart = kinds(live_record())["sweep"]
    assert [row["kind"] for row in chart.rows] == [
        say(f"chart.{kind}", "en") for kind in ("front", "front", "other", "front", "best", "other")
    ]
    svg = drawn(chart)
    assert marks(svg, "point") == 6
    assert marks(svg, "line mark") == 1
    assert re.findall(r">(V\d)</text>", svg) == ["V1", "V2", "V4", "V5"] * 2  # each on a halo
    assert "parameters: ef_search=64, index=hnsw" in svg
    (line,) = re.findall(r'aria-roledescription="line mark"[^>]* d="([^"]+)"', svg) or re.findall(
        r'd="([^"]+)"[^>]*aria-roledescription="line mark"', svg
    )
    assert line.count("L") == 3  # through the four versions of the front


def test_scores_by_the_parameter() -> None:
    record = live_record()
    chart = kinds(record)["setting"]
    svg = drawn(chart)
    assert marks(svg, "point") == 12
    assert marks(svg, "line mark") == 2
    assert [row["setting"] for row in chart.rows[::2]] == [4, 8, 16, 32, 64, 128]
    versions = record["sweeps"][0]["versions"]
    for version in versions:
        version["ann_recall"] = None
    assert marks(drawn(kinds(record)["setting"]), "line mark") == 1
    for version in versions:
        version["parameters"]["ef_search"] = version["number"] / 4
    labels = re.findall(r">([\d.]+)</text>", drawn(kinds(record)["setting"]))
    assert {"0.25", "0.5", "0.75", "1", "1.25", "1.5"} <= set(labels)  # the values themselves, not rounded
    versions[0]["parameters"]["index"] = "flat"  # a second parameter that varies
    assert "setting" not in kinds(record)
    for version in versions:
        version["parameters"] = {"index": f"kind {version['number']}"}
    assert "setting" not in kinds(record)
    for version in versions:
        version["p50"] = None
    assert "sweep" not in kinds(record)


def test_two_sweeps_have_charts_of_their_own() -> None:
    record = live_record()
    record["sweeps"] *= 2
    assert {"sweep-hybrid-nDCG@10", "sweep-hybrid-nDCG@10-2"} <= set(by_name(record))
    assert {"setting-hybrid-ef_search-nDCG@10", "setting-hybrid-ef_search-nDCG@10-2"} <= set(by_name(record))


def test_domains() -> None:
    assert domain_of([0.2, None, 0.9]) == (0.0, 1.0)
    assert domain_of([3.0, 12.0]) == (3.0, 12.0)
    assert domain_of([-2.0]) == (-2.0, 0.0)
    assert domain_of([5.0, 5.0]) == (0.0, 5.0)
    assert domain_of([]) == (0.0, 1.0)


@pytest.mark.parametrize("language", DRAWN)
def test_files(tmp_path: Path, language: Language) -> None:
    written = save_charts(made(comparison_record()), tmp_path / "new" / "charts", language)
    assert sorted(path.name for path in written) == sorted(f"{n}.{end}" for n in NAMES for end in ("png", "svg"))
    assert sorted((tmp_path / "new" / "charts").iterdir()) == sorted(written)
    for path in written:
        data = path.read_bytes()
        assert data.startswith(b"\x89PNG" if path.suffix == ".png" else b"<svg")
    text = (tmp_path / "new" / "charts" / "means.svg").read_text(encoding="utf-8")
    assert say("chart.means", language) in text
    links = set(re.findall(r"https?://[^\"'\s<]+", text))
    assert links <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_without_a_chinese_font(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "draws_chinese", lambda tool: False)
    with pytest.raises(RankgaugeError, match="no font on this machine has Chinese characters"):
        save_charts(made(comparison_record()), tmp_path / "charts", "zh")
    assert not (tmp_path / "charts").exists()


def test_without_the_converter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    drawing.converter.cache_clear()
    with pytest.raises(MissingExtraError, match=r"it is in the extra rankgauge\[report\]"):
        save_charts(made(comparison_record()), tmp_path)
    drawing.converter.cache_clear()


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RankgaugeError, match="the folder cannot be made"):
        save_charts(made(comparison_record()), tmp_path / "file" / "charts")
