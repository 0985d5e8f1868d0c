"""The catalogue: every entry can be used, and says only what it can cite."""

from __future__ import annotations

import re

import pytest

from rankgauge.benchmarks import find_benchmark, list_benchmarks
from rankgauge.benchmarks.catalogue import Benchmark
from rankgauge.benchmarks.layouts import LAYOUTS
from rankgauge.benchmarks.sources import how_to_get
from rankgauge.errors import DataError
from rankgauge.measures import parse_measure
from rankgauge.measures.presets import find_preset
from rankgauge.words import LANGUAGES

ALL = list_benchmarks()


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.name)
def test_an_entry_holds_together(one: Benchmark) -> None:
    assert re.fullmatch(r"[a-z0-9.-]+", one.name)
    assert find_benchmark(one.name.upper()) is one
    assert one.layout in LAYOUTS
    assert one.measures
    assert [str(parse_measure(measure)) for measure in one.measures] == list(one.measures)
    assert set(one.tagged) <= set(one.measures)
    assert all(one.about(language) for language in LANGUAGES)
    assert one.home.startswith("https://") or one.home.startswith("http://") or one.family == "medcorpus"
    assert all(count > 0 for count in one.counts.values())
    for download in one.downloads:
        assert download.md5 is None or re.fullmatch(r"[0-9a-f]{32}", download.md5)
    if one.layout == "tables":
        assert one.files.keys() == {"queries", "judgments", "documents"}
    assert "local=" in how_to_get(one)


@pytest.mark.parametrize("one", [one for one in ALL if one.bm25], ids=lambda one: one.name)
def test_a_published_figure_is_of_an_official_measure_and_cited(one: Benchmark) -> None:
    assert one.bm25 is not None
    assert one.bm25.figures
    assert set(one.bm25.figures) <= set(one.measures)
    assert one.measures[0] in one.bm25.figures
    assert all(0 < value < 1 for value in one.bm25.figures.values())
    assert re.match(r"https://github\.com/castorini/\w+/blob/[0-9a-f]{40}/", one.bm25.source)
    assert "BM25" in one.bm25.system


def test_the_families_are_whole() -> None:
    sizes: dict[str, int] = {}
    for one in ALL:
        sizes[one.family] = sizes.get(one.family, 0) + 1
    assert len({one.name.split("-cqadupstack-")[0] for one in list_benchmarks(family="beir")}) == 18
    assert (sizes["miracl"], sizes["bright"], sizes["lotte"], sizes["cmteb"]) == (18, 12, 12, 8)
    assert {one.name for one in ALL if one.name.startswith("dl")} == {
        f"dl{year}-{what}" for year in range(19, 24) for what in ("passage", "document")
    }


def test_contracts_are_those_of_the_official_scripts() -> None:
    scifact, arguana = find_benchmark("beir-scifact"), find_benchmark("mteb-arguana")
    assert scifact.contract == find_preset("beir").contract
    assert arguana.contract.drop_self
    assert not find_benchmark("mteb-scifact").contract.drop_self
    assert find_benchmark("mteb-scifact").contract.missing == "zero"
    assert find_benchmark("msmarco-passage-dev").contract.ties == "given"
    assert find_benchmark("dl19-passage").contract.missing == "zero"
    assert find_benchmark("medcorpus").measures[0] == "nDCG(gain='exp')@10"


def test_lists_by_family_and_language() -> None:
    chinese = list_benchmarks(language="zh")
    assert {"miracl-zh", "lecard", "t2ranking", "dureader-retrieval"} <= {one.name for one in chinese}
    with pytest.raises(DataError, match="family='bier' is not one of beir, bright"):
        list_benchmarks(family="bier")
    with pytest.raises(DataError, match="language='xx' is not one of"):
        list_benchmarks(language="xx")


def test_the_depth_is_that_of_the_deepest_measure() -> None:
    assert find_benchmark("dl19-passage").depth == 1000
    assert find_benchmark("lecard").depth == 30
