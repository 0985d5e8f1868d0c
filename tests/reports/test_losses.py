"""Where relevant documents were lost, as it is shown: every place once, drawn and told in every language."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import pytest

import rankgauge
from rankgauge import Query, TestSet
from rankgauge.reports.build import report_of
from rankgauge.reports.document import Bar, Table
from rankgauge.reports.losses_chart import losses_charts
from rankgauge.words import LANGUAGES, Language

EXAMPLE = Path(str(files("rankgauge") / "example"))


@pytest.fixture(scope="module")
def found() -> rankgauge.Losses:
    queries = [
        Query(f"about {name}", {f"{name}{i}": 1 + i % 2 for i in range(6)}, name, tags=(name, "all")) for name in "abc"
    ]
    first = {name: [f"{name}{i}" for i in (0, 1, 2, 3)] for name in "abc"}
    last = {name: [f"{name}{i}" for i in (3, 9, 0, 1)] for name in "abc"}
    corpus = {f"{name}{i}": "x" * 10 for name in "abc" for i in (0, 1, 2, 3, 4, 9)}
    indexed = [doc for doc in corpus if doc != "a4"]
    stages = {"candidates": first, "reranked": last}
    return rankgauge.losses(TestSet(queries), stages, 3, corpus=corpus, indexed=indexed, budget=20)


def test_every_place_stands_in_the_first_table(found: rankgauge.Losses) -> None:
    tables = [block for block in report_of(found).shown("answer") if isinstance(block, Table)]
    assert len(tables[0].rows) == len(found.places) == 7
    counts = [row[1] for row in tables[0].rows]
    assert counts == [3, 1, 2, 3, 3, 3, 3]
    bars = [cell for row in tables[0].rows for cell in row if isinstance(cell, Bar)]
    assert [bar.share for bar in bars] == [count / 18 for count in counts]


def test_tags_and_queries_add_up(found: rankgauge.Losses) -> None:
    tables = {block.name: block for block in report_of(found).shown("audit") if isinstance(block, Table)}
    total = [place.documents for place in found.places]
    tags = {row[0]: list(row[2:]) for row in tables["losses-tags"].rows}
    assert tags["all"] == total
    assert [sum(tags[name][i] for name in "abc") for i in range(7)] == total
    assert [sum(row[i] for row in tables["losses-queries"].rows) for i in range(3, 10)] == total  # type: ignore[misc]
    assert len(tables["losses-documents"].rows) == found.result.missed


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["terminal", "markdown", "latex", "csv", "notebook"])
def test_all_formats(found: rankgauge.Losses, form: str, language: Language) -> None:
    text = found.report(format=form, language=language, detail="audit")
    assert "losses." not in text
    assert not re.search(r"\{\w+\}", text) or form == "latex"
    assert ("█" in text) is (form in ("terminal", "markdown", "notebook"))
    assert text == found.record.report(format=form, language=language, detail="audit")


def test_the_notebook_shows_it(found: rankgauge.Losses) -> None:
    assert "rg-lead" in found._repr_html_()
    assert found.plot().svg().startswith("<svg")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_parts_of_a_bar_are_all_documents(found: rankgauge.Losses, language: Language) -> None:
    (chart,) = losses_charts(found.record, language)
    assert sum(row["documents"] for row in chart.rows) == found.result.documents
    assert sum(row["share"] for row in chart.rows) == pytest.approx(1, abs=1e-5)
    scale = chart.spec["layer"][0]["encoding"]["color"]["scale"]
    assert len(set(scale["range"])) == len(scale["domain"]) == 7
    assert {row["place"] for row in chart.rows} == set(scale["domain"])


def test_systems_share_the_words_for_their_last_stages() -> None:
    runs = {name: EXAMPLE / f"{name}.run" for name in ("bm25", "hybrid")}
    compared = rankgauge.compare(EXAMPLE / "testset.json", runs, "R@3", stages={"candidates": runs["bm25"]})
    (chart,) = losses_charts(compared.record, "en")
    assert {row["system"] for row in chart.rows} == {"bm25", "hybrid"}
    assert len(chart.spec["layer"][0]["encoding"]["color"]["scale"]["domain"]) == 4
    page = compared.report(format="html")
    assert page.count('data-chart="losses"') == 1
