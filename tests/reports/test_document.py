"""The report document and its renderers: one document for all formats, levels of detail, and formats from elsewhere."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.reports import report
from rankgauge.reports.build import record_report
from rankgauge.reports.document import DETAILS, Column, Detail, Report, Table, word
from rankgauge.reports.renderers import RENDERERS, format_of
from rankgauge.words import LANGUAGES, Language, Note, say
from tests.cli.command import run_command
from tests.reports.samples import comparison_record, evaluation_record, hostile_record, large_record, live_record, made

RECORDS = {
    "evaluation": evaluation_record,
    "one": lambda: evaluation_record("bm25"),
    "comparison": comparison_record,
    "live": live_record,
}
TEXTS = ("terminal", "markdown", "latex", "csv", "trec_eval")


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("form", TEXTS)
def test_every_record_in_every_format(name: str, form: str) -> None:
    record = made(RECORDS[name]())
    shown = {language: report(record, format=form, language=language) for language in LANGUAGES}
    for text in shown.values():
        assert text.endswith("\n")
        assert "None" not in text
        assert form == "latex" or "{" not in text, "a word was not filled in"
    assert (shown["en"] == shown["zh"]) == (form in ("csv", "trec_eval"))


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_less_detail_is_a_part_of_more(form: str) -> None:
    record = made(live_record())
    lines = [set(report(record, format=form, detail=detail).splitlines()) for detail in DETAILS]
    kept = [{line for line in found if "|" not in line and "─" not in line and "   " not in line} for found in lines]
    assert kept[0] < kept[1] < kept[2]
    tables = [[t.name for t in record_report(record).shown(detail) if isinstance(t, Table)] for detail in DETAILS]
    assert tables[0] == ["leaderboard", "changed", "slices"]
    assert {"means", "rows", "calls", "sweep-1", "unjudged", "tied", "changes"} <= set(tables[1]) - set(tables[0])
    assert {"groups-RR", "inputs", "agreement-systems"} <= set(tables[2]) - set(tables[1])


def test_digits() -> None:
    record = made(comparison_record())
    for digits in (0, 2, 8):
        text = report(record, digits=digits, detail="evidence")
        mean = record.systems[0].means["nDCG@10"].value
        assert f"{mean:.{digits}f} [" in text
        difference = record.comparison.rows[0].difference  # type: ignore[union-attr]
        assert f" {difference:+.{digits}f} ".replace("-", "−") in text


def test_every_query_where_it_is_asked_for() -> None:
    record = made(evaluation_record())
    rows = list(csv.DictReader(io.StringIO(report(record, format="csv", per_query=True))))
    assert [(row["system"], row["query"]) for row in rows] == [
        (system.name, query) for system in record.systems for query in record.queries
    ]
    assert float(rows[31]["RR"]) == pytest.approx(record.systems[1].per_query["RR"][1], abs=5e-5)
    assert "q17" not in report(record)
    assert report(record, per_query=True).count("q17") == 2


def test_names_cannot_steer_a_terminal() -> None:
    record = made(hostile_record("\x1b[31m\r\u202e|<b>"))
    for form in ("terminal", "markdown", "latex"):
        text = report(record, format=form)
        assert not {"\x1b", "\r", "\u202e"} & set(text)
        assert "\\x1b[31m" in text or form == "latex"
    assert "<b>" not in report(record, format="markdown")


def test_files_by_their_ending(tmp_path: Path) -> None:
    record = made(comparison_record())
    for ending, form in {"md": "markdown", "tex": "latex", "csv": "csv", "txt": "terminal"}.items():
        text = report(record, tmp_path / f"out.{ending}")
        assert (tmp_path / f"out.{ending}").read_text(encoding="utf-8") == text == report(record, format=form)
    assert format_of("a.HTML.gz") == "html"
    assert report(record, tmp_path / "page.md", format="html").startswith("<!doctype html>")
    with pytest.raises(DataError, match=r"out\.docx: the ending tells no report format; known are \.txt, \.md"):
        report(record, tmp_path / "out.docx")
    assert not (tmp_path / "out.docx").exists()


def test_what_cannot_be_reported() -> None:
    record = made(evaluation_record())
    with pytest.raises(DataError, match="unknown report format 'markdwn'; did you mean 'markdown'"):
        report(record, format="markdwn")
    with pytest.raises(RankgaugeError, match="unknown language 'fr'; known are: en, zh"):
        report(record, language="fr")
    with pytest.raises(DataError, match="no report can be made of dict"):
        report(evaluation_record())
    with pytest.raises(DataError, match="JUnit XML holds the checks of a gate"):
        report(record, format="junit")
    with pytest.raises(DataError, match="only the scores of a record"):
        report(Report(Note("report.gate"), []), format="trec_eval")
    with pytest.raises(DataError, match="no table of figures"):
        report(Report(Note("report.gate"), []), format="csv")


def test_anything_with_a_record_is_reported() -> None:
    class Result:
        record = made(evaluation_record())

    assert report(Result()) == report(Result.record)


@pytest.fixture
def titles() -> Iterator[str]:
    def render(report: Report, *, language: Language = "en", **looks: Any) -> str:
        names = [block.name for block in report.shown("audit") if isinstance(block, Table)]
        return f"{say(report.title.key, language, **report.title.parameters)}: {' '.join(names)}\n"

    RENDERERS.register("titles", render)
    yield "titles"
    RENDERERS.unregister("titles")


def test_a_format_from_elsewhere(titles: str, tmp_path: Path) -> None:
    """One function is a format: by its name, by the ending, and on the command line."""
    record = made(evaluation_record())
    assert report(record, format=titles) == "Evaluation of bm25, hybrid: leaderboard means inputs\n"
    assert report(record, tmp_path / "a.titles", language="zh").startswith("评测报告：bm25、hybrid")
    (tmp_path / "record.json").write_text(json.dumps(comparison_record()))
    assert run_command("report", tmp_path / "record.json", "-f", titles).stdout.startswith("Comparison of bm25, hybrid")


def test_formats_of_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(evaluation_record()))
    for form in TEXTS:
        assert run_command("report", path, "-f", form).stdout == report(
            made(evaluation_record()), format=form, per_query=form == "trec_eval"
        )
    refused = run_command("report", path, "-f", "word", status=2)
    assert "unknown report format 'word'" in refused.stderr
    assert "JUnit XML holds the checks of a gate" in run_command("report", path, "-f", "junit", status=2).stderr


def test_rows_across_and_drawings() -> None:
    columns = [Column("name"), Column("#", "count"), Column("mean", "score", "mean"), Column("both", under="mean")]
    table = Table("t", columns, [("a", 1, 0.5, "x"), (word("trend_contract"),), ("b", 22, None, "")], "title")
    made_of = Report(Note("report.gate"), [table])
    assert report(made_of).splitlines() == [
        "title",
        "name   #    mean  both",
        "──────────────────────",
        "a      1  0.5000  x",
        "── other contract ──",
        "b     22       -",
    ]
    assert "| other contract |  |  |  |" in report(made_of, format="markdown")
    page = report(made_of, format="html")
    assert "0.5000<small>x</small>" in page
    assert '<td colspan="3">other contract</td>' in page
    assert "<script" not in page  # nothing to be explored


def test_many_rows_are_quick() -> None:
    """The thousands of rows of a large comparison take no longer than reading them would."""
    import time

    record = made(large_record(systems=10, queries=300, measures=5))
    began = time.perf_counter()
    report(record)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("detail", DETAILS)
def test_junit_needs_no_detail(detail: Detail) -> None:
    from rankgauge.reports.gate import gate_error

    root = ElementTree.fromstring(report(gate_error("no such file\nat all", "r.json"), format="junit", detail=detail))
    assert root.attrib["errors"] == "1"
    assert root.find("testsuite/testcase").attrib["name"] == "gate of r.json"  # type: ignore[union-attr]
    error = root.find("testsuite/testcase/error")
    assert error is not None
    assert (error.attrib["message"], error.text) == ("no such file", "no such file\nat all")
