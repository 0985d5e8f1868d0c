"""Remarks on figures that mislead by the shape of the lists or the scale of the grades: they come where they should,
and only there."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankgauge import Qrels, compare, evaluate, evaluate_retriever
from rankgauge.evaluation import DEFAULT_MEASURES, Evaluation
from rankgauge.evaluation.notes import notes_of
from rankgauge.model.testset import TestSet
from rankgauge.reports.writing import report
from rankgauge.words import LANGUAGES, tell
from tests.cli.command import run_command

KEYS = ("short_lists", "whole_lists", "grades_below", "grades_unit", "grades_wide")


def said(evaluation: Evaluation) -> dict[str, str]:
    keys = {note.key.removeprefix("evaluation.").removesuffix("_live"): note for note in notes_of(evaluation)}
    return {key: tell(note, "en") for key, note in keys.items() if key in KEYS}


def lists_of(lengths: list[int]) -> dict[str, dict[str, float]]:
    """Lists of these lengths, the document `hit` at their head."""
    return {
        f"q{i}": {"hit" if j == 0 else f"d{j}": float(-j) for j in range(length)} for i, length in enumerate(lengths)
    }


def judged(n: int, *, found: bool) -> dict[str, dict[str, float]]:
    """`hit` is relevant, and without `found` a document that no list holds."""
    return {f"q{i}": {"hit": 1, "none": 0} | ({} if found else {"deeper": 1}) for i in range(n)}


def scored(lengths: list[int], measures: Any = DEFAULT_MEASURES, *, found: bool = False, **choices: Any) -> Evaluation:
    return evaluate(judged(len(lengths), found=found), lists_of(lengths), measures, **choices)


SHAPES = {
    "all": lambda n, length: [length] * n,
    "most": lambda n, length: [length] * (n - n // 4) + [max(1, length // 2)] * (n // 4),
    "few": lambda n, length: [length] + [max(1, length - 1 - i % 5) for i in range(n - 1)],
    "empty ones": lambda n, length: [length] * n + [0] * n,
}


DEEP = ("R", "P", "nDCG", "AP", "Success", "RR")
RETURNED = ("SetP", "SetR", "NumRet", "NumRelRet", "Judged@1000")  # about what was returned, however much that is


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("found", [False, True])
def test_lists_that_look_cut(shape: str, found: bool) -> None:
    """Every number of lists, length and depth: told exactly where the lists end alike above the depth of a measure, or
    early in the reading of one without a depth, and something relevant was not among them."""
    spoken = 0
    for n, length in itertools.product((1, 2, 3, 5, 30), (1, 2, 4, 9, 10, 20, 99, 100, 150)):
        lengths = SHAPES[shape](n, length)
        alike = lengths.count(length) >= max(3, sum(map(bool, lengths)) / 2)
        cut = alike and not found
        for depth in (1, 5, 10, 100, 1000):
            told = said(scored(lengths, [f"{name}@{depth}" for name in DEEP], found=found))
            assert list(told) == (["short_lists"] if cut and depth > length else []), (lengths, depth)
            assert not told or f"too few for R@{depth}, P@{depth}, nDCG@{depth}, AP@{depth} and 2 more: " in str(told)
            spoken += bool(told)
        for measures, enough in ((["AP", "nDCG", "R", "Bpref"], 100), (["RR"], 10)):
            told = said(scored(lengths, measures, found=found))
            assert list(told) == (["whole_lists"] if cut and length < enough else []), (lengths, measures)
            assert not told or f" and {', '.join(measures)} can see no further: " in str(told)
        assert said(scored(lengths, RETURNED, found=found)) == {}
    assert bool(spoken) == (not found)


def test_one_remark_names_what_it_is_about_and_what_to_change() -> None:
    text = said(scored([2] * 120))
    assert list(text) == ["short_lists"]
    assert text["short_lists"] == (
        "all 120 lists end after 2 documents, too few for nDCG@10, R@10, P@10: what comes further down counts as not "
        "found; ask the retriever for at least 10 documents (its k, top_k, similarity_top_k or search_kwargs)"
    )
    assert said(scored([10] * 30)) == {
        "whole_lists": "all 30 lists end after 10 documents, and AP can see no further: ask for longer lists, or name "
        "the depth, as in AP@10"
    }
    most = said(scored([1] * 9 + [0] * 3 + [1] * 3, "AP"))["whole_lists"]
    assert most.startswith("all 12 lists end after 1 document, ")
    most = said(scored([8] * 20 + [3] * 10, [f"R@{k}" for k in (5, 10, 20, 30, 40, 50)]))["short_lists"]
    assert most.startswith("20 of 30 lists end after 8 documents and none is longer, too few for R@10, R@20, R@30, ")
    assert "R@30, R@40 and 1 more: " in most
    assert "at least 50 documents" in most


def test_cut_on_purpose_and_small_collections() -> None:
    assert said(scored([20] * 30, ["R@10", "AP@10"], depth=5)) == {}
    assert list(said(scored([4] * 30, "R@10", depth=5))) == ["short_lists"]
    corpus = {"hit": "", **{f"d{j}": "" for j in range(1, 4)}}
    assert said(scored([4] * 30, corpus=corpus)) == {}  # "deeper" is not in the index: no list could be longer
    assert list(said(scored([4] * 30, corpus={**corpus, "deeper": ""}))) == ["short_lists"]
    ideal = {f"q{i}": {f"d{j}": j % 2 for j in range(5)} for i in range(30)}
    everything = {query: {doc: float(j) for j, doc in enumerate(docs)} for query, docs in ideal.items()}
    assert said(evaluate(ideal, everything, "R@10")) == {}


SCALES: list[tuple[list[float], list[str]]] = [
    ([0, 1], []),
    ([1], []),
    ([0, 1, 2, 3], []),
    ([-2, 0, 1, 2, 3, 4], []),
    ([0, 1, 2, 3, 4], []),
    ([0, 0.5, 1, 1.5, 2], []),
    ([0, 1, 3, 7, 15], []),  # gains of grades up to 4
    ([8, 7, 6, 5], []),  # an order of preference among good ones
    ([0, 10], []),
    ([0, 5], []),
    ([0, 0], []),
    ([-1, 0], []),
    ([0, 0.2, 0.9], ["grades_below"]),
    ([0.01], ["grades_below"]),
    ([0, 0.5, 1], ["grades_unit"]),
    ([0.25, 0.5, 0.75, 1], ["grades_unit"]),
    ([1, 2, 3, 4, 5], ["grades_wide"]),
    ([0, 1, 4, 6, 8, 10], ["grades_wide"]),
    ([0, 2, 10], ["grades_wide"]),
    ([10, 30, 100], ["grades_wide"]),
    ([0.5, 2.5, 3.5, 7, 9.5], ["grades_wide"]),
]


def graded(grades: list[float], measures: Any, **choices: Any) -> Evaluation:
    docs = {f"d{i}": grade for i, grade in enumerate(grades)}
    return evaluate({"q": docs}, {"q": {doc: float(-i) for i, doc in enumerate(docs)}}, measures, **choices)


@pytest.mark.parametrize(("grades", "keys"), SCALES)
def test_scales_of_grades(grades: list[float], keys: list[str]) -> None:
    for measure in ("P@5", "R@5", "AP", "RR", "Success@1", "Bpref", "Rprec", "F1@5"):
        assert list(said(graded(grades, measure))) == keys, measure
    for measure in ("nDCG@5", "DCG@5", "nDCG(gain='exp')@5", "Judged@5"):  # no threshold, no remark
        assert said(graded(grades, measure)) == {}
    top = max(grades)
    if keys and keys != ["grades_below"]:
        assert said(graded(grades, "P@5", rel=top / 2)) == {}  # somebody chose
    if top > 0:
        assert list(said(graded(grades, "P@5", rel=top + 1))) == ["grades_below"]


@pytest.mark.parametrize(("grades", "keys"), [scale for scale in SCALES if scale[1]])
def test_the_threshold_that_is_named_ends_the_remark(grades: list[float], keys: list[str]) -> None:
    measures = ["P@5", "AP", "nDCG@5"]
    text = said(graded(grades, measures))[keys[0]]
    assert " for P@5, AP: " in text
    named = re.search(r"`rel=([\d.]+)`", text)
    assert named is not None
    assert 0 < float(named[1]) <= max(grades)
    assert said(graded(grades, measures, rel=float(named[1]))) == {}


def test_of_whatever_kind_the_input_is(tmp_path: Path) -> None:
    import polars as pl

    qrels, run = judged(6, found=False), lists_of([2] * 6)
    for grades in qrels.values():
        grades["deeper"] = 0.5
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, docs in qrels.items() for d, g in docs.items()))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 1 {s} x\n" for q, d, s in rows))
    frame = pl.DataFrame(rows, schema=["query", "doc", "score"], orient="row")
    expected = said(evaluate(qrels, run))
    assert list(expected) == ["short_lists", "grades_unit"]
    path = str(tmp_path / "qrels")
    assert said(evaluate(path, str(tmp_path / "run"))) == expected
    assert said(evaluate(path, str(tmp_path / "run"), stream=True)) == expected
    assert said(evaluate(qrels, frame)) == expected
    assert set(expected.values()) <= set(evaluate(qrels, run).warnings)


class Short:
    """A retriever that gives what its own setting says, however many are asked for."""

    def __init__(self, own: int) -> None:
        self.own = own

    def search(self, query: str, k: int) -> list[str]:
        return [f"{query}/{j}" for j in range(min(self.own, k))]


def test_live_retrievers() -> None:
    texts = [f"text {i}" for i in range(8)]
    tested = TestSet.from_annotations(texts, [[f"{text}/0", f"{text}/15"] for text in texts])
    live = evaluate_retriever(Short(2), tested, k=10)  # as a default LlamaIndex retriever
    assert [note.key for note in live.notes if note.key.endswith("_lists")] == ["asking.short_lists"]
    assert "all 8 lists end after 2 documents, too few for nDCG@10, R@10, P@10: " in "\n".join(live.warnings)
    live = evaluate_retriever(Short(100), tested, k=10)
    assert list(said(live)) == ["whole_lists"]
    assert said(live)["whole_lists"].endswith(": ask for longer lists (`k=`), or name the depth, as in AP@10")
    live = evaluate_retriever(Short(100), tested, k=10, measures=["R@10", "AP@10"])
    assert said(live) == {}
    live = evaluate_retriever(Short(100), tested, k=5, measures=["R@10"])
    assert said(live) == {}  # told by the line on what was asked for, once
    assert [text for text in live.warnings if "R@10" in text] == [
        "only 5 documents were requested, so R@10 cannot see more than the first 5"
    ]
    assert said(evaluate_retriever(Short(100), tested, k=100)) == {}


def test_comparisons_say_it_once(tmp_path: Path) -> None:
    qrels = judged(30, found=False)
    both = compare(qrels, {"a": lists_of([2] * 30), "b": lists_of([2] * 30)}, "R@10")
    assert len([text for text in both.warnings if "too few for R@10" in text]) == 1
    one = compare(qrels, {"a": lists_of([2] * 30), "b": lists_of([20] * 30)}, "R@10")
    assert [text[:12] for text in one.warnings if "too few for R@10" in text] == ["a: all 30 li"]
    record = both.record
    assert [note.key for note in record.comparison.notes].count("evaluation.short_lists") == 1
    for language, words in (("en", "too few for R@10"), ("zh", "达不到 R@10 的深度")):
        assert report(record, language=language, width=1000).count(words) == 1
        assert words in report(record, format="html", language=language)


def test_records_and_what_is_printed() -> None:
    record = scored([2] * 30).record
    (note,) = [note for note in record.systems[0].notes if note.key.removeprefix("evaluation.") in KEYS]
    assert note.level == "warning"
    for language in LANGUAGES:
        told = tell(note, language)
        for form in ("terminal", "markdown"):
            assert report(record, format=form, language=language, width=1000).count(told) == 1
        assert told not in report(record, format="trec_eval", language=language)


def test_output_of_trec_eval_has_no_remarks(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"{q} 0 hit 1\n{q} 0 deeper 1\n" for q in range(5)))
    (tmp_path / "run").write_text("".join(f"{q} Q0 hit 1 1.0 x\n" for q in range(5)))
    files = (str(tmp_path / "qrels"), str(tmp_path / "run"))
    remark = "all 5 lists end after 1 document"
    assert remark in run_command("evaluate", *files).stdout
    for command in (("trec_eval", *files), ("evaluate", *files, "-f", "trec_eval")):
        done = run_command(*command)
        assert remark not in done.stdout + done.stderr
        assert all(re.fullmatch(r"\S+ *\t\S+\t\S+", line) for line in done.stdout.splitlines()), done.stdout


REAL = {
    ("dl19", "qrels.txt", "dl19.BM25.run"): ["short_lists"],  # R@1000 of 100
    ("dl19", "qrels.txt", "dl19.OPEN_AI_ADA2.run"): ["short_lists"],
    ("robust03", "qrels.txt.gz", "NLPR03vb10.run.gz"): [],  # lengths of its own choice, up to 12
    ("robust03", "qrels.txt.gz", "humR03dc.run.gz"): ["short_lists"],
    ("robust03", "qrels.txt.gz", "aplrob03a.run.gz"): [],
    ("robust03", "qrels.txt.gz", "rutcor03100.run.gz"): [],
    ("robust03", "qrels.txt.gz", "uic0301.run.gz"): [],
    ("noveleval", "qrels.txt", "candidate_order.run"): [],  # 20 candidates, and all that was judged among them
    ("trec_eval", "qrels.test", "results.test"): ["short_lists"],
    ("trec_eval", "qrels.test", "results.trunc"): [],  # two lists
    ("ir_measures", "compat.qrels", "compat.run"): ["grades_wide"],  # preferences from 1 to 50
    ("ir_measures", "cwl.qrels", "cwl.run"): [],
}


@pytest.mark.parametrize(("files", "keys"), REAL.items())
def test_real_runs(data: Path, files: tuple[str, str, str], keys: list[str]) -> None:
    folder, qrels, run = files
    paths = (str(data / folder / qrels), str(data / folder / run))
    assert list(said(evaluate(*paths, [*DEFAULT_MEASURES, "R@100", "R@1000"]))) == keys
    assert list(said(evaluate(*paths))) == [key for key in keys if key != "short_lists"]


def test_real_candidates_of_a_reranker(data: Path) -> None:
    labels = json.loads((data / "lecard" / "label_top30_dict.json").read_text())
    for name in ("bm25_top100", "combined_top100"):
        lists = json.loads((data / "lecard" / f"{name}.json").read_text())
        run = {query: [str(doc) for doc in docs] for query, docs in lists.items()}
        assert said(evaluate(labels, run)) == {}
        first = {query: docs[:30] for query, docs in run.items()}
        assert list(said(evaluate(labels, first))) == ["whole_lists"]


WAYS = {
    "pairs": lambda lists: {query: list(docs.items()) for query, docs in lists.items()},
    "dictionaries": lambda lists: lists,
    "frame": lambda lists: pl.DataFrame(
        [(query, doc, score) for query, docs in lists.items() for doc, score in docs.items()],
        schema=["query", "doc", "score"],
        orient="row",
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_runs_of_distances_are_told(way: str) -> None:
    """Of lists that rise, the last document would count as the best."""
    near = {f"q{i}": {"hit": 0.1, "a": 0.1, "b": 0.4, "c": 0.9} for i in range(3)} | {"none": {"a": 1.0}}
    qrels = {query: {"hit": 1, "x": 0} for query in near}
    found = evaluate(qrels, WAYS[way](near), "RR")
    told = [text for text in found.warnings if "rise" in text]
    assert len(told) == 1
    assert "`ties='given'`" in told[0]
    kept = evaluate(qrels, WAYS[way](near), "RR", ties="given")
    assert (found.mean["RR"], kept.mean["RR"]) == (0.25, 0.75)
    assert not [text for text in kept.warnings if "rise" in text]
    # One list that falls, equal scores, and lists too short to say anything are no sign of distances.
    falling, equal, short = {"hit": 2.0, "a": 1.0}, {"hit": 1.0, "a": 1.0}, {"a": 1.0, "hit": 2.0}
    for other in (near | {"q9": falling}, {"q0": equal}, {"q0": short}):
        assert not [text for text in evaluate(qrels, WAYS[way](other), "RR").warnings if "rise" in text]


def test_empty_lists_are_told() -> None:
    qrels = Qrels({"a": {"d": 1}, "b": {"d": 1}, "c": {}, "gone": {"d": 1}}, no_answer=["c"])
    warnings = evaluate(qrels, {"a": ["d"], "b": [], "c": [], "more": []}, "RR").warnings
    assert "1 of 4 judged queries with an empty list" in warnings
    live = evaluate_retriever(lambda query, k: [], {"two words": {"d": 1}}, measures="RR")
    assert sum("empty list" in text or "no document" in text for text in live.warnings) == 1
