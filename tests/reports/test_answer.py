"""The first screen: the decision, a leaderboard, what limits it and what changed, in the columns that there are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import compare, compare_scores, evaluate
from rankgauge.cli.showing import terminal_look
from rankgauge.comparison.verdicts import contradicting, summary_notes
from rankgauge.evaluation import record_of
from rankgauge.formats.names import run_name, short_names
from rankgauge.record import Record
from rankgauge.reports import report
from rankgauge.reports.build import record_report
from rankgauge.reports.document import Notes, Table
from rankgauge.reports.remarks import remarks_of
from rankgauge.reports.tables import Table as Grid
from rankgauge.reports.tables import fitted, render_terminal, width_of, wrapped
from rankgauge.words import LANGUAGES, Language, say, tell
from tests.cli.command import run_command
from tests.reports.samples import comparison_record, evaluation_record, live_record, made

DL19 = ("BM25", "BM25_RM3", "D_BERT_KD_TASB", "OPEN_AI_ADA2", "SPLADE_P_P_ENSEMBLE_DISTIL")


def systems(**shifts: float) -> Record:
    """Scores of systems that differ from the first by so much on each of 60 queries, give or take a little."""
    rng = np.random.default_rng(1)
    base = rng.uniform(0.2, 0.6, 60)
    scores = {name: base + shift + rng.normal(0, 0.005, 60) for name, shift in shifts.items()}
    return compare_scores(scores, baseline=next(iter(shifts)), samples=2000).record


def test_an_open_pair_is_seen_from_both_sides() -> None:
    """Gains of a system that is no better would speak for it alone."""
    rng = np.random.default_rng(3)
    scores = {"old": rng.uniform(0.3, 0.6, 30)}
    scores |= {name: scores["old"] + rng.normal(-0.02, 0.2, 30).clip(-0.3, 0.3) for name in ("b", "c")}
    record = compare_scores(scores, baseline="old", samples=500).record
    assert record.comparison is not None
    assert {row.verdict for row in record.comparison.rows} == {"inconclusive"}
    lines = report(record).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("changed most"))
    differences = [line.split()[-1] for line in lines[begin + 1 : begin + 5]]
    assert [one[0] for one in differences] == ["+", "+", "−", "−"]


# The decision ---------------------------------------------------------------------------------------------------------


def test_the_baseline_is_kept_unless_something_is_better() -> None:
    (kept,) = summary_notes(systems(old=0.0, worse=-0.2, same=0.0))
    assert kept.key == "comparison.keep"
    assert tell(kept, "en").startswith("Keep old (by score). worse: worse; same: ")
    (taken,) = summary_notes(systems(old=0.0, good=0.1, best=0.2, bad=-0.1))
    assert tell(taken, "en") == "Take best: better than old (by score). good: better; bad: worse."
    (alone,) = summary_notes(systems(old=0.0, best=0.2, other=0.1))
    assert tell(alone, "zh").startswith("采用 best")


def test_another_measure_that_advises_otherwise_is_told() -> None:
    rng = np.random.default_rng(2)
    qrels = {f"q{i}": {"a": 1, "b": 1} for i in range(40)}
    first = {q: {"a": 2.0, "x": 1.0} for q in qrels}  # a relevant document at the top, one missed
    both = {q: {"x": 3.0, "y": 2.5, "a": 2.0, "b": 1.0 + rng.random() / 10} for q in qrels}
    found = compare(qrels, {"first": first, "both": both, "copy": first}, ["RR", "R@5"], baseline="first", samples=2000)
    notes = summary_notes(found.record)
    assert [note.key for note in notes] == ["comparison.keep", "comparison.take_or_not"]
    assert contradicting(notes) == [notes[1]]
    assert tell(notes[1], "en").startswith("both is better than first by R@5, but worse by RR")
    lines = report(found.record).splitlines()
    assert lines[0].startswith("Keep first")
    assert any(line.startswith("both is better than first by R@5") for line in lines)


def test_all_pairs_name_the_leader(data: Path) -> None:
    runs = {name: data / "dl19" / f"dl19.{name}.run" for name in DL19}
    found = compare(data / "dl19" / "qrels.txt", runs, ["nDCG@10", "P@10"], samples=2000)
    first = summary_notes(found.record)[0]
    best = found.groups["nDCG@10"][0].system
    assert first.parameters["best"] == best
    worse = {row.a if row.b == best else row.b for row in found.rows if _won(row, best, "nDCG@10")}
    assert set(first.parameters["worse"]) == worse


def _won(row: Any, best: str, measure: str) -> bool:
    return row.measure == measure and (
        (row.a, row.verdict) == (best, "worse") or (row.b, row.verdict) == (best, "better")
    )


# The leaderboard ------------------------------------------------------------------------------------------------------


def leaderboard(record: Record) -> Table:
    return next(t for t in record_report(record).shown("answer") if isinstance(t, Table) and t.name == "leaderboard")


def test_the_leaderboard_agrees_with_the_rows() -> None:
    record = systems(old=0.0, good=0.1, bad=-0.1, same=0.0)
    assert record.comparison is not None
    rows = {row.b: row for row in record.comparison.rows}
    board = leaderboard(record)
    means = [row[1] for row in board.rows]
    assert means == sorted(means, reverse=True)
    for name, _, difference, drawn, verdict, *_ in board.rows:
        if name == "old":
            assert (difference, drawn, verdict.words[0].key) == ("", None, "answer.baseline")
        else:
            row = rows[name]
            assert difference == row.difference
            assert drawn.ends == (row.interval.low, row.interval.high)
            assert verdict.mark == row.verdict


def test_without_a_baseline_the_best_is_the_reference() -> None:
    rng = np.random.default_rng(3)
    base = rng.random(50)
    found = compare_scores({"low": base - 0.3, "high": base, "middle": base - rng.random(50) / 5}, samples=2000)
    board = leaderboard(found.record)
    assert [row[0] for row in board.rows] == ["high", "middle", "low"]
    assert [row[4].mark for row in board.rows] == ["quiet", "worse", "worse"]
    for name, _, difference, drawn, *_ in board.rows[1:]:
        row = next(row for row in found.rows if {row.a, row.b} == {name, "high"})
        sign = 1 if row.b == name else -1
        assert difference == pytest.approx(sign * row.difference)
        assert drawn.ends == pytest.approx(sorted((sign * row.interval.low, sign * row.interval.high)))


def test_measures_of_the_decision_stand_first(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    runs = {name: data / "dl19" / f"dl19.{name}.run" for name in DL19}
    found = compare(data / "dl19" / "qrels.txt", runs, ["nDCG@10", "AP", "RR", "R@10", "P@10"], samples=10_000)
    decided = summary_notes(found.record)[0].parameters["measure"]
    assert decided == ["nDCG@10", "R@10", "P@10"]  # the best two share their P@10: neither leads by it
    heads = [column.head for column in leaderboard(found.record).columns if column.kind == "score"]
    assert heads == ["nDCG@10", "R@10", "P@10", "AP", "RR"]


def test_one_sign_for_one_difference(data: Path) -> None:
    runs = {name: data / "dl19" / f"dl19.{name}.run" for name in DL19}
    record = compare(data / "dl19" / "qrels.txt", runs, ["nDCG@10"], samples=2000).record
    best = leaderboard(record).rows[0][0]
    changed = next(t for t in record_report(record).shown("answer") if isinstance(t, Table) and t.name == "changed")
    assert changed.columns[1].head == best  # as in "vs best", what is above 0 is better than the best
    differences = [row[3] for row in changed.rows]
    assert differences == pytest.approx([row[2] - row[1] for row in changed.rows])
    assert differences == sorted(differences, reverse=True)
    scores = {system.name: system.per_query["nDCG@10"] for system in record.systems}
    for row, target in zip(changed.rows, changed.leads_to, strict=True):
        assert row[1] == pytest.approx(scores[best][record.queries.index(target.query)])


def test_letters_are_explained_where_they_are_shown(data: Path) -> None:
    runs = {name: data / "dl19" / f"dl19.{name}.run" for name in DL19}
    record = compare(data / "dl19" / "qrels.txt", runs, ["nDCG@10"], samples=2000).record
    assert "share a letter" in report(record, width=80)
    narrow = report(record, width=60)
    assert "95 % CI, group." in narrow  # not shown for want of room
    assert "share a letter" not in narrow


def test_contradicting_advice_says_so() -> None:
    rng = np.random.default_rng(4)
    qrels = {f"q{i}": {"a": 1, "b": 1, "c": 1} for i in range(40)}
    first = {q: {"a": 2.0, "x": 1.0} for q in qrels}
    more = {q: {"a": 2.0, "b": 1.0 + rng.random() / 10, "c": 0.5} for q in qrels}
    found = compare(qrels, {"first": first, "more": more, "copy": first}, ["RR", "R@5"], baseline="first", samples=2000)
    lines = report(found.record).splitlines()
    assert lines[0].startswith("Keep first (by RR)")
    assert lines[1].startswith("The measures disagree. Take more: better than first (by R@5)")


# Remarks --------------------------------------------------------------------------------------------------------------


def test_one_fault_of_all_systems_is_one_remark() -> None:
    """Ties turn no verdict by themselves, and what all share names nobody."""
    qrels = {f"q{i}": {"a": 1} for i in range(12)}
    tied = {q: {"a": 1.0, "b": 1.0} for q in qrels if q != "q3"}
    record = compare(qrels, {"x": tied, "y": tied, "z": tied}, ["RR"], samples=100).record
    remarks = remarks_of(record)
    assert [note.key for note in remarks if note.key.startswith("evaluation.missing")] == ["evaluation.missing_zero"]
    assert not [note for note in remarks if "ties" in note.key and note.key != "answer.ties_flip"]
    assert len({tell(note, "en") for note in remarks}) == len(remarks)


def test_pairs_of_one_remark_tell_the_least_and_most_documents() -> None:
    """One figure would be that of the pair named first alone."""
    qrels = {f"q{i}": {"a": 1, "n": 0} for i in range(8)}
    runs = {
        name: {q: [*(f"{name}{i}" for i in range(n)), "a"] for q in qrels} for name, n in (("x", 1), ("y", 2), ("z", 3))
    }
    record = compare(qrels, runs, ["P@5"], samples=100).record
    (remark,) = (note for note in remarks_of(record) if note.key == "answer.unjudged_flips")
    assert tell(remark, "en").startswith("24 to 40 unjudged documents could reverse")
    assert tell(remark, "zh").startswith("24 至 40 篇未标注文档")
    two = compare(qrels, {name: runs[name] for name in "xy"}, ["P@5"], samples=100).record
    assert tell(next(note for note in remarks_of(two) if "flips" in note.key), "en").startswith("24 unjudged documents")


def test_remarks_are_counted() -> None:
    for record in (live_record(), comparison_record(), evaluation_record()):
        built = record_report(made(record))
        bulleted = [block for block in built.blocks if isinstance(block, Notes) and block.bulleted]
        assert [len(block.notes) for block in bulleted] == [n for n in [len(remarks_of(made(record)))] if n]


# Room -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 60, 80, 140])
@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_wider_than_the_terminal(width: int, language: Language) -> None:
    for record in (live_record(), comparison_record(), evaluation_record()):
        for detail in ("answer", "evidence"):
            for line in report(made(record), language=language, width=width, detail=detail).splitlines():
                words = max((width_of(word) for word in line.split()), default=0)
                assert width_of(line) <= max(width, words + 2), (line, detail)


def test_five_runs_in_forty_lines(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    runs = [data / "dl19" / f"dl19.{name}.run" for name in DL19]
    text = run_command("compare", data / "dl19" / "qrels.txt", *runs).stdout
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(width_of, lines)) <= 80
    assert lines[0].startswith("SPLADE_P_P_ENSEMBLE_DISTIL leads")  # names without what all share


def test_details_lose_no_figure() -> None:
    record = made(live_record())
    wide = set(re.findall(r"[+−]?\d+\.\d{4}", report(record, detail="evidence")))
    narrow = set(re.findall(r"[+−]?\d+\.\d{4}", report(record, detail="evidence", width=70)))
    assert wide <= narrow | {""}


def test_a_head_is_no_wider_than_the_text_that_was_wrapped_below_it() -> None:
    """Else the table is torn in two for want of a few columns."""
    heads = ["name", "differs from the default in", "as in", "value"]
    made = Grid(heads, [["x" * 26, "ideal=retrieved, ties=stable", "a, b", "0.5"]], 3)
    lines = render_terminal(made, width=66).splitlines()
    assert max(map(len, lines)) <= 66
    assert len([line for line in lines if line.startswith("──")]) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_systems_scored_on_different_queries_say_on_how_many(language: Language) -> None:
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    runs = {"whole": {q: {"a": 1.0} for q in qrels}, "part": {q: {"a": 1.0} for q in [*qrels][:3]}}

    def shown(missing: Any) -> list[str]:
        scored = [evaluate(qrels, run, ["RR"], missing=missing, name=name) for name, run in runs.items()]
        return report(record_of(scored, provenance=False), language=language).splitlines()

    lead, _, heads, *rows = shown("skip")
    assert re.findall(r"\d+", lead) == ["3", "4"]
    assert [(row.split()[0], row.split()[-1]) for row in rows[:2]] == [("whole", "4"), ("part", "3")]
    assert say("report.queries", language) in heads.split()
    lead, _, heads, *rows = shown("zero")
    assert re.findall(r"\d+", lead) == ["4"]
    assert say("report.queries", language) not in heads.split()


@pytest.mark.parametrize("language", LANGUAGES)
def test_further_measures_go_before_names_are_cut(data: Path, language: Language) -> None:
    runs = [f"{data}/dl19/dl19.{name}.run" for name in DL19]
    found = compare(f"{data}/dl19/qrels.txt", dict(zip(DL19, runs, strict=True)), ["nDCG@10", "RR"], samples=200)
    lines = report(found.record, width=80, language=language).splitlines()
    shown = [line.split()[0] for line in lines[lines.index("") + 2 :][: len(DL19)]]
    assert sorted(shown) == sorted(DL19)


@pytest.mark.parametrize("width", [None, 72, 80])
def test_queries_end_behind_a_word(width: int | None) -> None:
    texts = ["find every match of a pattern in some long string", "ein " + "sehr" * 30, "查询" * 60]
    scores = {"a": np.array([0.1, 0.2, 0.9]), "b": np.array([0.9, 0.8, 0.1])}
    record = replace(compare_scores(scores, samples=100).record, texts={})
    record = replace(record, texts=dict(zip(record.queries, texts, strict=True)))
    lines = report(record, width=width).splitlines()
    cut = [line.partition("…")[0] for line in lines if "…" in line]
    assert len(cut) >= 2
    assert all(width_of(line) <= (width or 80) for line in lines if "…" in line)
    for text in cut:
        whole = next(one for one in texts if one.startswith(text))
        assert " " not in text.strip() or whole[len(text)] == " " or "sehr" in text
    whole = [line for line in lines if line.startswith(texts[0])]
    assert len(whole) == (width != 72)  # where there is room nothing is cut


def test_columns_go_by_their_priority() -> None:
    grid = Grid(["name", "a", "b", "c"], [["x", "1" * 10, "2" * 10, "3" * 10]], 1, [0, 2, 0, 1])
    assert "1111" not in render_terminal(fitted(grid, 30), width=30)
    assert "3333" in render_terminal(fitted(grid, 30), width=30)
    assert "3333" not in render_terminal(fitted(grid, 20), width=20)
    assert "2222" in render_terminal(fitted(grid, 20), width=20)
    whole = render_terminal(grid, width=20)
    assert all(digit * 10 in whole for digit in "123")


TEXTS = st.text(st.sampled_from("ab-1 中文字，。“”（）, ."), max_size=80)


@given(TEXTS, st.integers(6, 40))
def test_lines_break_at_words(text: str, width: int) -> None:
    lines = wrapped(text, width).split("\n")
    assert "".join("".join(lines).split()) == "".join(text.split())
    words = set(re.findall(r"[ab1.,-]+", text))
    for line in lines:
        assert set(re.findall(r"[ab1.,-]+", line)) <= words  # none is broken
        assert not line.startswith(("，", "。", "”", "）")) or line in (text, lines[0])


def test_lists_of_quoted_names_break_between_them() -> None:
    """A quotation mark behind a blank begins a word, while a sign such as that of percents stays with its number."""
    names = ", ".join(f"'name-{i}'" for i in range(20))
    assert all(len(line) <= 40 for line in wrapped(f"it is not one of {names}.", 40).split("\n"))
    assert wrapped("lost about 26.1 % of it", 16).split("\n") == ["lost about", "26.1 % of it"]


def test_a_number_keeps_what_it_counts() -> None:
    assert wrapped("这并不说明两者相同：30 个查询只能检出约 0.150 以上的差值", 24).split("\n")[:2] == [
        "这并不说明两者相同：",
        "30 个查询只能检出约",
    ]


# Names and colours ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "short"),
    [
        (["dl19.BM25.run", "dl19.RM3.run"], ["BM25", "RM3"]),
        (["dl19.BM25.run"], ["dl19.BM25"]),
        (["a.run", "a.txt"], ["a.run", "a.txt"]),
        (["run.gz", "other.jsonl.zst"], ["run", "other"]),
        (["bm25.run", "bm25-rm3.run"], ["bm25", "bm25-rm3"]),
        (["x_1.run", "x_2.run"], ["x_1", "x_2"]),
        (["search-v2.14.run", "search-v2.15.run"], ["v2.14", "v2.15"]),
        (["1.run", "2.run"], ["1", "2"]),
        (["", "-"], ["", "-"]),
    ],
)
def test_names_of_files(given: list[str], short: list[str]) -> None:
    assert [short_names(given)[name] for name in given] == short


def test_a_file_is_called_alike_on_the_command_line_and_in_python(tmp_path: Path) -> None:
    (tmp_path / "bm25.v2.run").write_text("q1 Q0 d1 1 1.0 x\n")
    assert evaluate({"q1": {"d1": 1}}, tmp_path / "bm25.v2.run", ["RR"]).name == "bm25.v2"
    assert run_name(tmp_path / "-") == "-"


@given(st.lists(st.text("ab1._-", min_size=1, max_size=8), max_size=5, unique=True))
def test_names_stay_different(files: list[str]) -> None:
    names = short_names(files)
    assert set(names) == set(files)
    assert len(set(names.values())) == len(files)


def test_colours_only_where_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert terminal_look()["color"] is False  # no terminal
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert terminal_look()["color"] is True
    assert terminal_look("file.txt")["color"] is False
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal_look()["color"] is False
    record = systems(old=0.0, good=0.1, bad=-0.1)
    text = report(record, color=True)
    assert "\x1b[32m▲ better\x1b[0m" in text
    assert "\x1b[31m▼ worse\x1b[0m" in text
    assert "\x1b" not in report(record)
