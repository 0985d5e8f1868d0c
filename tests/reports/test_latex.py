"""LaTeX: the table of a paper and the tables of the details, and a real TeX that makes pages of them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from rankgauge import compare, evaluate, report
from rankgauge.record import Record
from rankgauge.words import LANGUAGES
from tests import parts
from tests.cli.command import run_command
from tests.hostile import HOSTILE, ORDINARY, RULES
from tests.reports.samples import EXAMPLE, comparison_record, evaluation_record, hostile_record, live_record, made

SET, BM25, HYBRID = (EXAMPLE / name for name in ("testset.json", "bm25.run", "hybrid.run"))
QRELS = {f"q{i}": {"good": 1} for i in range(30)}
PERFECT = {query: {"good": 2.0, "bad": 1.0} for query in QRELS}
SECOND = {query: {"good": 1.0, "bad": 2.0} for query in QRELS}
NOTHING = {query: {"bad": 1.0} for query in QRELS}


def rows_of(text: str) -> list[list[str]]:
    """Cells of the first table, its head included."""
    table = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0].replace(r"\midrule", "")
    return [[cell.strip() for cell in line.removesuffix(r"\\").split(" & ")] for line in table.splitlines() if line]


def caption_of(text: str) -> str:
    (found,) = re.findall(r"^\\caption\{(.*)\}$", text, re.MULTILINE)
    return str(found)


@pytest.fixture(scope="module")
def three() -> Record:
    """A perfect system, one that is second, and one that finds nothing."""
    return compare(QRELS, {"perfect": PERFECT, "second": SECOND, "nothing": NOTHING}, ["RR", "P@1"]).record


def test_paper_is_systems_by_measures(three: Record) -> None:
    text = report(three, format="latex", digits=2)
    assert rows_of(text) == [
        ["", "system", "RR", "P@1"],
        ["a", "perfect", r"\textbf{1.00}\textsuperscript{bc}", r"\textbf{1.00}\textsuperscript{bc}"],
        ["b", "second", r"0.50\textsuperscript{c}", "0.00"],
        ["c", "nothing", "0.00", "0.00"],
    ]
    assert caption_of(text) == (
        "Mean over 30 queries. The best of each measure is bold. Superscripts: significantly better than the systems "
        r"of these letters (paired randomization test, Holm correction for 6 comparisons, $\alpha$ = 0.05)."
    )
    assert text.index(r"\begin{table}") < text.index(r"\caption") < text.index(r"\begin{tabular}{llll}")
    assert report(three, format="latex", detail="answer", digits=2) == text


def test_the_caption_names_the_test_and_the_correction() -> None:
    runs = {"perfect": PERFECT, "second": SECOND, "nothing": NOTHING}
    one = compare(QRELS, {"perfect": PERFECT, "second": SECOND}, ["RR"], test="sign", alpha=0.01)
    assert r"(sign test, one comparison, $\alpha$ = 0.01)" in caption_of(report(one, format="latex"))
    for correction, words in {"bh": "Benjamini-Hochberg correction for 3 comparisons", "none": "no correction"}.items():
        found = report(compare(QRELS, runs, ["RR"], test="wilcoxon", correction=correction), format="latex")
        assert f"(Wilcoxon signed-rank test, {words}" in caption_of(found)


@pytest.mark.parametrize(("baseline", "letters"), [("second", ["", "c", "a"]), ("perfect", ["", "ac", ""])])
def test_against_a_baseline_only_what_was_tested_is_marked(baseline: str, letters: list[str]) -> None:
    runs = {"nothing": NOTHING, "perfect": PERFECT, "second": SECOND}
    text = report(compare(QRELS, runs, ["RR"], baseline=baseline), format="latex")
    found = [re.findall(r"superscript\{(\w+)\}", row[-1]) for row in rows_of(text)[1:]]
    assert [marks[0] if marks else "" for marks in found] == letters
    assert f"Only differences from {baseline} were tested." in caption_of(text)


def test_where_smaller_is_better() -> None:
    record = comparison_record()
    for about in record["measures"]:
        about["lower_is_better"] = True
    record["comparison"]["rows"][0] |= {"verdict": "worse"}
    text = report(made(record), format="latex")
    head, first, second = rows_of(text)
    assert head[2:] == [rf"{name} $\downarrow$" for name in ("nDCG@10", "R@10", "RR")]
    assert first[2].startswith(r"\textbf{0.4795}\textsuperscript{b}")
    assert second[2] == "0.5351"
    assert "Smaller is better where an arrow points down." in caption_of(text)


def test_what_was_not_tested_has_no_letters() -> None:
    text = report(made(evaluation_record()), format="latex")
    assert "superscript" not in text
    assert "No difference was tested for significance." in caption_of(text)
    assert [row[0] for row in rows_of(text)] == ["system", "bm25", "hybrid"]
    inconclusive = report(made(comparison_record()), format="latex")
    assert "No difference is significant (paired randomization test, " in caption_of(inconclusive)
    one = report(evaluate(SET, BM25, ["nDCG@10"], name="bm25"), format="latex")
    assert "textbf" not in one
    assert caption_of(one) == "Mean over 30 queries."


def test_what_is_printed_alike_is_bold_alike() -> None:
    qrels, runs = QRELS, {"a": PERFECT, "b": PERFECT, "c": NOTHING}
    assert [row[-1].count("textbf") for row in rows_of(report(compare(qrels, runs, ["RR"]), format="latex"))] == [
        0,
        1,
        1,
        0,
    ]
    counted = rows_of(run_command("evaluate", SET, BM25, HYBRID, "-m", "NumQ", "-f", "latex").stdout)
    assert [row[-1] for row in counted] == ["NumQ", "30", "30"]  # where all are alike, none is best


def test_more_systems_than_letters() -> None:
    runs: dict[str, Any] = {f"s{i:02}": NOTHING for i in range(27)} | {"best": PERFECT}
    text = report(compare(QRELS, runs, ["RR"], baseline="best", test="t"), format="latex")
    letters = re.findall(r"superscript\{([a-z,]+)\}", text)
    assert [len(found.split(",")) for found in letters] == [27]
    assert letters[0].startswith("aa,ab,")
    assert "ba & s26 & " in text


def test_details_are_the_tables_of_the_evidence(tmp_path: Path) -> None:
    record = made(live_record())
    paper, details = (report(record, format="latex", detail=detail) for detail in ("answer", "evidence"))
    assert paper.count(r"\begin{tabular}") == 1
    assert details.count(r"\begin{tabular}") > 5
    assert r"\begin{table}" not in details
    assert "% warning: excluded: dense: RuntimeError: no such index" in paper
    record.save(tmp_path / "r.json")
    runs = ("report", tmp_path / "r.json")
    assert run_command(*runs, "-f", "latex").stdout == run_command(*runs, "--latex", "paper").stdout == paper
    for flags in (("--latex", "details"), ("-f", "latex", "--latex", "details"), ("-f", "latex", "--details")):
        assert run_command(*runs, *flags).stdout == details
    run_command(*runs, "--latex", "details", "-o", tmp_path / "d.tex")
    assert (tmp_path / "d.tex").read_text(encoding="utf-8") == details
    refused = run_command(*runs, "--latex", "paper", "-o", tmp_path / "d.md", status=2)
    assert "--latex paper goes with -f latex or -o file.tex, not with the format markdown" in refused.stderr
    assert not (tmp_path / "d.md").exists()


def test_the_commands_that_take_it() -> None:
    for command in (("compare", SET, BM25, HYBRID, "--quick"), ("evaluate", SET, BM25, HYBRID)):
        measured = run_command(*command, "-m", "RR", "--latex", "details").stdout
        assert run_command(*command, "-m", "RR", "-f", "latex").stdout.count(r"\begin{table}") == 1
        assert measured.count(r"\begin{tabular}") >= 2
    queries = run_command("evaluate", SET, BM25, "-m", "RR", "-q", "-f", "latex").stdout
    assert queries.count(r"\begin{tabular}") == 2  # what was asked for stands beside the paper's table


@pytest.mark.parametrize("detail", ["answer", "audit"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_command_but_ours(text: str, detail: Any) -> None:
    RULES["latex"](report(made(hostile_record(text)), format="latex", detail=detail))


def compiled(folder: Path, program: str, preamble: str, tables: list[str]) -> str:
    """The log of a document of these tables; an error of TeX is one here."""
    body = "\n\\clearpage\n".join(tables)
    head = f"\\documentclass{{article}}\n\\usepackage{{booktabs}}\n{preamble}\n\\begin{{document}}\n"
    (folder / "paper.tex").write_text(f"{head}{body}\n\\end{{document}}\n", encoding="utf-8")
    called = [parts.here(program), "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(called, cwd=folder, capture_output=True, timeout=120, check=False)
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")
    return log


@pytest.mark.needs("pdflatex")
def test_compiles_with_pdflatex(tmp_path: Path, three: Record) -> None:
    """With names that steal, break and hide, as long as their letters are Latin."""
    latin = [text for text in HOSTILE.values() if text.isascii()]
    tables = [report(made(hostile_record(text)), format="latex") for text in latin]
    tables += [report(three, format="latex", detail=detail) for detail in ("answer", "evidence")]
    assert len(tables) > 20
    assert not [table for table in tables if "xelatex" in table]
    compiled(tmp_path, "pdflatex", "", tables)


@pytest.mark.needs("xelatex", "font")
def test_compiles_with_xelatex(tmp_path: Path) -> None:
    """Chinese, and names in all letters; the file says that pdflatex will not do."""
    font = "\\usepackage{fontspec}\n\\setmainfont{WenQuanYi Micro Hei}"
    tables = [report(made(hostile_record(text)), format="latex") for text in [*ORDINARY, *HOSTILE.values()]]
    tables += [report(made(live_record()), format="latex", language="zh", detail=d) for d in ("answer", "audit")]
    assert tables[0].startswith("% Some characters here are unknown to pdflatex")
    log = compiled(tmp_path, "xelatex", font, tables[-2:] + tables[:-2])
    assert "Missing character: There is no 个" not in log


@pytest.mark.parametrize("language", LANGUAGES)
def test_in_both_languages(language: str, three: Record) -> None:
    text = report(three, format="latex", language=language)
    assert "None" not in text
    assert ("pdflatex" in text) == (language == "zh")
