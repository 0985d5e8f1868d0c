"""What `lint` says of published collections: what is known to be odd in them, and nothing that is not so."""

from __future__ import annotations

import difflib
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from rankgauge import evaluate, lint, load_corpus, load_testset
from rankgauge.formats.queries import read_queries
from rankgauge.model.labels import Label, Labels
from rankgauge.retrievers import BM25

SMART = ("cranfield", "cisi")


def told(**inputs: Any) -> dict[tuple[str, str], int]:
    return {(one.severity, one.kind): one.count for one in lint(**inputs).findings}


def smart(data: Path, name: str) -> dict[str, Any]:
    folder = data / name
    return {"test_set": folder / "qrels.txt", "corpus": folder / "docs.jsonl", "queries": folder / "queries.tsv"}


def test_cranfield_has_a_scale_that_is_upside_down(data: Path) -> None:
    assert told(**smart(data, "cranfield")) == {
        ("error", "lower_is_better"): 1,
        ("warning", "empty_documents"): 1,
        ("info", "below_zero"): 225,
    }
    corpus = load_corpus(data / "cranfield" / "docs.jsonl")
    assert not corpus["995"].strip()


def test_cranfield_turned_round_is_right(data: Path) -> None:
    rows = [line.split() for line in (data / "cranfield" / "qrels.txt").read_text().splitlines()]
    turned: dict[str, dict[str, float]] = {}
    for query, _, doc, grade in rows:
        turned.setdefault(query, {})[doc] = 5.0 - float(grade) if float(grade) > 0 else 0.0
    inputs = smart(data, "cranfield") | {"test_set": turned}
    assert told(**inputs) == {("warning", "empty_documents"): 1}


def test_cranfield_turned_round_by_the_command_that_is_told(data: Path) -> None:
    inputs = smart(data, "cranfield")
    (found,) = lint(**inputs, only=["direction"]).findings
    assert "--regrade 1=4,2=3,3=2,4=1 " in found.command
    turned = load_testset(inputs["test_set"]).regraded({1: 4, 2: 3, 3: 2, 4: 1})
    assert told(**inputs | {"test_set": turned, "only": ["direction"]}) == {}


def test_short_lists_alone_make_the_scale_of_cranfield_doubtful(data: Path) -> None:
    queries, retriever = (
        read_queries(data / "cranfield" / "queries.tsv"),
        BM25(load_corpus(data / "cranfield" / "docs.jsonl")),
    )
    runs = {
        "bm25": {query: {hit.id: hit.score for hit in retriever.search(text, 10)} for query, text in queries.items()}
    }
    test_set = load_testset(data / "cranfield" / "qrels.txt")
    (found,) = lint(test_set, runs=runs, only=["direction"]).findings
    assert (found.severity, found.kind) == ("warning", "lower_retrieved")
    assert found.items[0]["share_low"] > 0.5 > 0.3 > found.items[0]["share_high"]
    (below,) = lint(test_set, runs=runs, only=["scale"]).findings
    assert (below.kind, below.count) == ("below_zero_found", 225)
    assert below.parameters["share"] > 0.7 > 0.4 > below.parameters["share_relevant"]
    turned = test_set.regraded({1: 4, 2: 3, 3: 2, 4: 1})
    assert lint(turned, runs=runs, only=["direction"]).findings == []


def test_cisi_has_a_document_twice(data: Path) -> None:
    assert told(**smart(data, "cisi")) == {
        ("error", "copied_documents"): 2,
        ("warning", "near_documents"): 2,
        ("info", "copies_count"): 1,
    }
    corpus = load_corpus(data / "cisi" / "docs.jsonl")
    assert corpus["234"] == corpus["1440"]
    changed = [mark for mark in difflib.ndiff(corpus["5"].split(), corpus["945"].split()) if mark[0] in "+-"]
    assert changed == ["- professional"]
    mended = lint(**smart(data, "cisi")).mended
    assert {query.id for query in mended if "1440" in query.grades} == {"23", "30", "44"}
    assert ("error", "copied_documents") not in told(test_set=mended, corpus=corpus)


def vaswani(data: Path) -> dict[str, Any]:
    with gzip.open(data / "vaswani" / "doc-text.trec.gz", "rt") as file:
        docs = re.findall(r"<DOCNO>(\d+)</DOCNO>\n(.*?)</DOC>", file.read(), re.DOTALL)
    topics = (data / "vaswani" / "query-text.trec").read_text()
    texts = dict(re.findall(r"<num>(\d+)</num><title>\n(.*?)\n</title>", topics, re.DOTALL))
    return {"test_set": data / "vaswani" / "qrels", "corpus": dict(docs), "queries": texts}


def test_vaswani_judges_two_documents_twice(data: Path) -> None:
    assert told(**vaswani(data)) == {("info", "copies_count"): 2}


def test_noveleval_is_judged_from_one_list(data: Path) -> None:
    folder = data / "noveleval"
    corpus = dict(line.split("\t", 1) for line in (folder / "corpus.tsv").read_text().split("\n") if line)
    runs = {"order": folder / "candidate_order.run"}
    found = told(test_set=folder / "qrels.txt", corpus=corpus, queries=folder / "queries.tsv", runs=runs)
    assert found == {("info", "in_one_run"): 1}


def test_lecard_is_judged_from_the_combined_list(data: Path) -> None:
    folder = data / "lecard"
    lines = [json.loads(line) for line in (folder / "query.json").read_text("utf-8").splitlines()]
    runs = {}
    for name in ("bm25", "tfidf", "lm", "combined"):
        lists = json.loads((folder / f"{name}_top100.json").read_text())
        step = -1 if name in ("bm25", "tfidf") else 1
        runs[name] = {query: [str(doc) for doc in docs[::step]] for query, docs in lists.items()}
    found = lint(folder / "label_top30_dict.json", None, runs, queries={str(one["ridx"]): one["q"] for one in lines})
    assert [(one.severity, one.kind, one.count) for one in found.findings] == [
        ("warning", "unjudged", 3),
        ("info", "resolution", 1),
    ]
    assert [item["run"] for item in found.findings[0].items] == ["tfidf", "bm25", "lm"]
    assert found.findings[0].items[0]["best"] == 1


def test_one_judge_of_llmjudge_left_the_scale(data: Path) -> None:
    folder = data / "llmjudge"
    rows = [
        Label(query, doc, float(grade), path.stem, "model")
        for path in sorted((folder / "submissions").glob("*.txt"))
        for query, _, doc, grade in (line.split() for line in path.read_text().splitlines())
    ]
    found, conflicts = lint(folder / "human.qrels.txt", labels=Labels(rows)).findings
    assert (conflicts.kind, conflicts.severity) == ("conflicting_labels", "warning")  # of ten judges
    assert (found.kind, found.count, found.parameters["judge"]) == ("label_out_of_scale", 2, "RMITIR-llama70B")
    assert {item["grade"] for item in found.items} == {5}
    assert told(test_set=folder / "submissions" / "RMITIR-llama70B.txt") == {("warning", "stray_grade"): 2}
    others = [path for path in (folder / "submissions").glob("*.txt") if path.stem != "RMITIR-llama70B"]
    assert [told(test_set=path, only=["scale", "direction"]) for path in others] == [{}] * 9


@pytest.mark.parametrize("name", ["clapnq", "cloud"])
@pytest.mark.parametrize("form", ["mtrag", "mtrag-questions", "mtrag-rewrite"])
def test_turns_of_mtrag_are_no_duplicates(data: Path, name: str, form: str) -> None:
    assert told(test_set=load_testset(data / "mtrag" / f"{name}_qrels.tsv", format=form)) == {}


def test_nothing_is_said_of_esci(data: Path) -> None:
    assert told(test_set=data / "esci" / "esci_us_judgments.json") == {}


def test_dl19_is_soundly_pooled(data: Path) -> None:
    runs = {path.name: path for path in sorted((data / "dl19").glob("*.run"))}
    (found,) = lint(data / "dl19" / "qrels.txt", runs=runs, difference=0.02).findings
    assert (found.severity, found.kind, found.parameters["queries"]) == ("warning", "too_few", 43)


def test_robust03_has_queries_that_two_systems_fail_at(data: Path) -> None:
    folder = data / "robust03"
    runs = {name: folder / f"{name}.run.gz" for name in ("NLPR03vb10", "humR03dc")}
    found = lint(folder / "qrels.txt.gz", runs=runs)
    assert [(one.severity, one.kind) for one in found.findings] == [("info", "hopeless"), ("info", "resolution")]
    own = {item["query"] for item in found.findings[0].items}
    scores = [evaluate(folder / "qrels.txt.gz", run, "nDCG@10").per_query["nDCG@10"].to_list() for run in runs.values()]
    assert len(own) == sum(a == b == 0 for a, b in zip(*scores, strict=True))
