"""The lists that a record keeps: of every query, bounded in all, with what is relevant and what the documents say."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from rankgauge import compare
from rankgauge.plans.running import run_plan
from rankgauge.record import Record
from tests.cli.command import run_command

LONG = "word " * 100


def ranked(docs: list[str]) -> dict[str, float]:
    return {doc: float(len(docs) - i) for i, doc in enumerate(docs)}


def test_every_query_is_kept_with_its_relevant_documents() -> None:
    """Also one that did not change; of many relevant documents the best are named, and all are counted."""
    many = {f"r{i:02d}": 1 + (i == 24) for i in range(25)}
    qrels = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}, "q3": many}
    first = {"q1": ranked(["a", "x", "b"]), "q2": ranked(["a"]), "q3": ranked(["r03"])}
    second = {"q1": ranked(["x", "c"]), "q2": ranked(["a"]), "q3": ranked(["r03"])}
    rows = [(query, doc, float(grade)) for query, own in qrels.items() for doc, grade in own.items()]
    frame = pl.DataFrame(rows, schema=["query", "doc", "grade"], orient="row")
    for judged in (qrels, frame):
        record = compare(judged, {"one": first, "two": second}, "RR").record
        assert set(record.lists) == {"q1", "q2", "q3"}
        assert [(entry.doc, entry.grade) for entry in record.lists["q1"]["two"]] == [("x", None), ("c", 1.0)]
        assert (record.relevant["q1"].count, record.relevant["q1"].grades) == (2, {"a": 2.0, "c": 1.0})
        assert record.relevant["q3"].count == 25
        assert list(record.relevant["q3"].grades) == ["r24", *(f"r{i:02d}" for i in range(19))]
        assert record.documents == {}
        assert Record.from_dict(json.loads(record.to_json())) == record


def test_the_lists_of_very_many_queries_are_bounded() -> None:
    """20,000 documents of two systems are 1000 lists of ten; the queries that changed are among them."""
    queries = [f"q{i:04d}" for i in range(1200)]
    qrels = {query: {"a": 1} for query in queries}
    runs = {name: {query: ranked(["a", "x"]) for query in queries} for name in ("one", "two")}
    runs["two"]["q1199"] = ranked(["x", "a"])
    found = compare(qrels, runs, "RR", test="t").to_record(uncertainty=False)
    assert len(found.lists) == 1000
    assert list(found.lists)[:3] == ["q1199", "q0000", "q0001"]
    assert list(found.relevant) == list(found.lists)


def test_a_name_that_no_column_holds_leaves_out_one_list() -> None:
    """Half of a surrogate pair, which JSON can hold: the comparison is made, and the other lists are there."""
    qrels = {"q1": {"half\ud800": 1}, "q2": {"a": 1}}
    runs = {"one": {"q1": {"half\ud800": 1.0}, "q2": {"a": 1.0}}, "two": {"q1": {"x": 1.0}, "q2": {"a": 1.0}}}
    record = compare(qrels, runs, "RR").to_record(uncertainty=False)
    assert list(record.lists) == ["q2"]


def test_documents_begin_with_a_title_where_a_corpus_is_given(tmp_path: Path) -> None:
    """In a comparison of files, which verifies afterwards, and in a plan; what nobody meets is left out."""
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 missed 2\nq2 0 b 1\n")
    for name, docs in (("one", "ab"), ("two", "bx")):
        lines = [f"{query} Q0 {doc} {i} {9 - i} t" for query in ("q1", "q2") for i, doc in enumerate(docs)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines) + "\n")
    texts = [("a", "A\ntitle", f"line\n  {LONG}"), ("b", "", "only text"), ("missed", "", "a\nb"), ("far", "", "away")]
    lines = [json.dumps({"_id": doc, "title": title, "text": text}) for doc, title, text in texts]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    given = [tmp_path / name for name in ("qrels.txt", "one.run", "two.run")]
    record = tmp_path / "record.json"
    run_command("compare", *given, "--corpus", tmp_path / "corpus.jsonl", "-m", "RR", "-o", record)
    kept = Record.load(record).documents
    assert set(kept) == {"a", "b", "missed"}  # there is no text of x
    assert kept["a"].startswith("A title\nline word word")
    assert 155 <= len(kept["a"]) <= 160
    assert kept["a"].endswith(" word…")  # whole words
    assert kept["a"].endswith("…")
    assert (kept["b"], kept["missed"]) == ("only text", "a\nb")
    assert "unchanged" in run_command("verify", record).stdout

    asked = [{"id": "q1", "query": "title line", "relevant_docs": ["a"]}]
    (tmp_path / "testset.json").write_text(json.dumps(asked))
    (tmp_path / "plan.toml").write_text(
        'testset = "testset.json"\ncorpus = "corpus.jsonl"\nmeasures = ["RR"]\n'
        + "".join(
            f'[[system]]\nname = "{name}"\nuse = "bm25"\nparameters = {{ k1 = {k1} }}\n'
            for name, k1 in (("x", 1), ("y", 2))
        )
    )
    assert run_plan(tmp_path / "plan.toml").record.documents["a"] == kept["a"]
