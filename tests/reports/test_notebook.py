"""Results in notebooks: what a real Jupyter kernel gets to display, data frames, and charts."""

from __future__ import annotations

import base64
import json
import random
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankgauge
from rankgauge import Record, evaluate, report
from rankgauge.errors import DataError, MissingExtraError
from rankgauge.record.result import Result
from rankgauge.reports.drawing import converter
from rankgauge.words import LANGUAGES
from tests.hostile import HOSTILE, RULES
from tests.reports.samples import EXAMPLE, comparison_record, evaluation_record, hostile_record, live_record, made

SET, BM25, HYBRID = (EXAMPLE / name for name in ("testset.json", "bm25.run", "hybrid.run"))
COMPARED = 'rankgauge.compare("testset.json", {"bm25": "bm25.run", "hybrid": "hybrid.run"}, ["nDCG@10", "RR"])'
HYBRID_ALONE = 'rankgauge.evaluate("testset.json", "hybrid.run", ["nDCG@10"])'
CELLS = (
    f"import rankgauge\nfound = {COMPARED}\nfound",
    "found.plot()",
    "found.record",
    HYBRID_ALONE,
    "found.to_pandas()",
    f'rankgauge.gate({HYBRID_ALONE}, "base.json", max_loss=0.5)',
)


def retriever(depth: int, seed: int = 0) -> Any:
    documents = sorted({doc for query in rankgauge.load_testset(SET) for doc in query.grades})

    def search(query: str, k: int) -> list[str]:
        return random.Random(f"{query}{seed}").sample(documents, depth)[:k]

    return search


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """One result of every kind."""
    folder = tmp_path_factory.mktemp("results")
    compared = rankgauge.compare(SET, {"bm25": BM25, "hybrid": HYBRID}, ["nDCG@10", "RR"])
    one = evaluate(SET, BM25, ["nDCG@10", "RR"], name="bm25")
    one.save(folder / "base.json")
    return {
        "Evaluation": one,
        "Comparison": compared,
        "Record": compared.record,
        "LiveEvaluation": rankgauge.evaluate_retriever(retriever(9), SET, name="toy"),
        "Sweep": rankgauge.sweep(retriever, {"depth": [2, 5, 9, 20]}, SET, name="toy"),
        "GateResult": rankgauge.gate(evaluate(SET, HYBRID, ["nDCG@10", "RR"]), folder / "base.json", max_loss=0.02),
    }


KINDS = ("Evaluation", "Comparison", "Record", "LiveEvaluation", "Sweep", "GateResult")


class Page(HTMLParser):
    """The words of a piece of HTML, and whether all that opens is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.said: list[str] = []
        self.feed(text.replace("<wbr>", ""))  # where a long name may break
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("img", "circle", "path", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.said.append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_displays_itself(results: dict[str, Any], kind: str) -> None:
    result = results[kind]
    assert isinstance(result, Result)
    assert type(result).__name__ == kind
    text = result._repr_html_()
    page = Page(text)
    assert {"table", "style"} <= set(page.tags)
    assert ("svg" in page.tags) == (kind != "GateResult")
    assert "script" not in page.tags
    assert len(text) < 12_000
    assert not re.search(r"https?://|url\(|@import", text)
    words = " ".join(page.said)
    shown = [line.strip() for line in result.report(detail="answer").splitlines()]
    assert shown[0] in words  # the decision, as a terminal says it
    assert re.fullmatch(rf"{kind}\([^\n]{{1,150}}\)", repr(result))


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_is_a_frame(results: dict[str, Any], kind: str) -> None:
    result = results[kind]
    frame = result.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert len(frame) >= 2
    other = result.to_pandas()
    assert list(other.columns) == frame.columns
    assert len(other) == len(frame)
    for name, dtype in frame.schema.items():
        if dtype == pl.Float64:
            assert other[name].astype(float).fillna(-9).tolist() == frame[name].fill_null(-9).to_list()


def test_frames_hold_the_figures(results: dict[str, Any]) -> None:
    means = results["Record"].to_frame().filter(system="bm25", measure="RR").row(0, named=True)
    assert means["mean"] == results["Evaluation"].mean["RR"]
    interval = results["Evaluation"].interval["RR"]
    assert (means["low"], means["high"], means["queries"]) == (interval.low, interval.high, 30)
    rules = results["GateResult"].to_frame()
    assert rules["rule"].to_list() == ["nDCG@10", "RR"]
    assert rules["before"].to_list() == list(results["Evaluation"].mean.values())
    assert rules["accepted"].to_list() == [results["GateResult"].accepts(rule) for rule in results["GateResult"].rules]


def test_frames_of_queries_carry_the_texts(results: dict[str, Any]) -> None:
    texts = {query.id: query.text for query in rankgauge.load_testset(SET)}
    one = results["Evaluation"].per_query
    assert one.columns == ["query", "nDCG@10", "RR", "text"]
    assert dict(one.select("query", "text").rows()) == texts
    for name in ("Comparison", "Record"):
        both = results[name].per_query
        assert both.columns == ["system", "query", "text", "nDCG@10", "RR"]
        assert len(both) == 60
        assert dict(both.select("query", "text").rows()) == texts
        own = both.filter(system="bm25").sort("query")
        assert own["RR"].to_list() == one.sort("query")["RR"].to_list()
    bare = evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, ["RR"])
    assert bare.per_query.columns == ["query", "RR"]
    assert bare.record.per_query.columns == ["system", "query", "RR"]


def test_queries_that_do_not_count_are_empty() -> None:
    found = evaluate({"q": {"d": 1}, "r": {"d": 1}}, {"q": {"d": 1.0}}, ["RR"], missing="skip")
    assert found.record.per_query["RR"].to_list() == [1.0, None]
    compared = rankgauge.compare(
        {f"q{i}": {"d": 1} for i in range(4)},
        {"a": {f"q{i}": {"d": 1.0} for i in range(4)}, "b": {f"q{i}": {"d": 1.0} for i in range(3)}},
        ["RR"],
        missing="skip",
    )
    assert compared.per_query.filter(system="b")["RR"].to_list() == [1.0, 1.0, 1.0, None]
    assert made(evaluation_record() | {"queries": []}).per_query.is_empty()


def test_a_sweep_is_a_record(results: dict[str, Any], tmp_path: Path) -> None:
    swept = results["Sweep"]
    swept.save(tmp_path / "sweep.json")
    record = Record.load(tmp_path / "sweep.json")
    assert record.sweeps[0].best == swept.best.label
    (system,) = record.systems
    assert (system.name, system.means["nDCG@10"].value) == ("toy", swept.best.mean)
    words = " ".join(Page(swept._repr_html_()).said)
    assert words.count("V1") == 1 + words.count("× V1") + words.count("V1 (")
    assert words.count("best at") == 1
    assert "depth=20" in words
    assert swept.report(format="markdown").startswith("toy: best at depth=")


def test_what_to_install(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        MissingExtraError, match=r"to_pandas\(\) needs pandas: pip install pandas .*rankgauge\[notebook\]"
    ):
        results["Evaluation"].to_pandas()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    converter.cache_clear()
    with pytest.raises(MissingExtraError, match="vl-convert-python"):
        results["Evaluation"].plot()
    assert results["Evaluation"]._repr_html_()  # which needs neither


@pytest.mark.parametrize("kind", KINDS)
def test_every_result_has_a_chart(results: dict[str, Any], kind: str, tmp_path: Path) -> None:
    chart = results[kind].plot()
    shown = chart._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/html"}
    assert shown["text/plain"] == repr(chart)
    assert "\n" not in repr(chart)
    light, dark = (base64.b64decode(found) for found in re.findall(r"base64,([\w+/=]+)", shown["text/html"]))
    assert light.startswith(b"<svg")
    assert b"#161b23" in dark
    assert b"#161b23" not in light
    assert len(shown["text/html"]) < 150_000
    for ending, start in {"svg": b"<svg", "png": b"\x89PNG", "json": b"{"}.items():
        chart.save(tmp_path / f"chart.{ending}")
        assert (tmp_path / f"chart.{ending}").read_bytes().startswith(start)
    json.loads((tmp_path / "chart.json").read_text(encoding="utf-8"))


def test_charts_by_kind(results: dict[str, Any], tmp_path: Path) -> None:
    found = results["Comparison"]
    assert found.plot().name == "forest-bm25-hybrid"
    assert found.plot("scatter", measure="RR").name == "scatter-bm25-hybrid-RR"
    assert found.plot("differences", pair=("hybrid", "bm25")).name == "differences-hybrid-bm25-nDCG@10"
    assert results["Sweep"].plot("setting").name.startswith("setting-toy-depth")
    assert results["Evaluation"].plot("distribution").name == "distribution-nDCG@10"
    with pytest.raises(DataError, match=r"kind is one of means, forest, .*not 'bars'"):
        found.plot("bars")
    with pytest.raises(DataError, match="nothing to draw as sweep in Record"):
        found.plot("sweep")
    with pytest.raises(DataError, match="has no measure 'AP'"):
        found.plot(measure="AP")
    with pytest.raises(DataError, match=r"chart\.pdf: a chart is written as \.svg, \.png, \.json"):
        found.plot().save(tmp_path / "chart.pdf")
    only = rankgauge.gate(evaluate(SET, BM25, ["RR"]), targets="RR >= 0.1")
    with pytest.raises(DataError, match="the gate compared no measure"):
        only.plot()


def test_in_chinese(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_LANG", "zh")
    for result in results.values():
        assert re.search("[\u4e00-\u9fff]{2}", " ".join(Page(result._repr_html_()).said))
    monkeypatch.setenv("RANKGAUGE_LANG", "xx")
    assert "verdict" in results["Comparison"]._repr_html_()


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_names_stay_names(text: str) -> None:
    for detail in ("answer", "audit"):
        page = report(made(hostile_record(text)), format="notebook", detail=detail)
        RULES["html"](page)
        assert set(Page(page).tags) <= {
            *(
                "div",
                "style",
                "p",
                "span",
                "table",
                "thead",
                "tbody",
                "tr",
                "th",
                "td",
                "svg",
                "path",
                "circle",
                "line",
            ),
            *("small", "details", "summary", "ul", "li"),
        }


@pytest.mark.parametrize("record", [comparison_record, live_record, evaluation_record])
@pytest.mark.parametrize("language", LANGUAGES)
def test_records_of_all_kinds(record: Any, language: str) -> None:
    text = report(made(record()), format="notebook", language=language)
    assert f'lang="{language}"' in text
    assert "None" not in text


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """What a Jupyter kernel of its own made of the cells, by type."""
    import nbformat
    from nbclient import NotebookClient

    folder = tmp_path_factory.mktemp("notebook")
    for file in (SET, BM25, HYBRID):
        (folder / file.name).write_bytes(file.read_bytes())
    evaluate(SET, BM25, ["nDCG@10"]).save(folder / "base.json")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(book, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return [dict(cell["outputs"][-1]["data"]) for cell in book["cells"]]


def test_a_real_kernel_shows_them(executed: list[dict[str, str]]) -> None:
    compared, chart, record, one, frame, gated = executed
    for shown in (compared, record, one, gated):
        assert set(shown) == {"text/plain", "text/html"}
        assert shown["text/html"].startswith('<div class="rankgauge" lang="en">')
        Page(shown["text/html"])
    assert compared["text/plain"] == "Comparison(bm25, hybrid: 2 rows)"
    assert "PASS" in gated["text/html"]
    assert chart["text/html"].count("<img") == 2
    assert "p_corrected" in frame["text/html"]
