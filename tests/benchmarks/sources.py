"""Small benchmarks in the layouts of their makers: files, names, columns and compressions as these have them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

TEXTS = {
    "d1": "cancel an order online",
    "d2": "track a parcel",
    "d3": "refund of a cancelled order",
    "d4": "pay by card",
}
QUERIES = {"q1": "how to cancel an order", "q2": "where is my parcel"}
GRADES: dict[str, dict[str, float]] = {"q1": {"d1": 1.0, "d3": 1.0}, "q2": {"d2": 1.0}}
GRADED: dict[str, dict[str, float]] = {"q1": {"d1": 3.0, "d3": 2.0, "d4": 0.0}, "q2": {"d2": 1.0, "d1": 0.0}}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, "utf-8")


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(path: Path, rows: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(rows).write_parquet(path)


def tsv(values: dict[str, str]) -> str:
    return "".join(f"{own}\t{text}\n" for own, text in values.items())


def trec(grades: dict[str, dict[str, float]], gap: str = " ", middle: str = "0") -> str:
    return "".join(f"{q}{gap}{middle}{gap}{d}{gap}{g:g}\n" for q, docs in grades.items() for d, g in docs.items())


def beir(folder: Path, name: str = "scifact", split: str = "test") -> None:
    place = folder / name
    corpus = [{"_id": d, "title": "", "text": t, "metadata": {}} for d, t in TEXTS.items()]
    put(place / "corpus.jsonl", lines(corpus))
    put(place / "queries.jsonl", lines([{"_id": q, "text": t, "metadata": {}} for q, t in QUERIES.items()]))
    rows = "".join(f"{q}\t{d}\t{g:g}\n" for q, docs in GRADES.items() for d, g in docs.items())
    put(place / "qrels" / f"{split}.tsv", "query-id\tcorpus-id\tscore\n" + rows)
    put(place / "qrels" / "train.tsv", "query-id\tcorpus-id\tscore\nq9\td1\t1\n")


def mteb_parquet(folder: Path) -> None:
    pairs = [{"query-id": q, "corpus-id": d, "score": int(g)} for q, docs in GRADES.items() for d, g in docs.items()]
    items = [(d, {"_id": d, "title": "", "text": t}) for d, t in TEXTS.items()]
    table(folder / "corpus" / "corpus-00000-of-00002.parquet", [row for d, row in items if d < "d3"])
    table(folder / "corpus" / "corpus-00001-of-00002.parquet", [row for d, row in items if d >= "d3"])
    table(folder / "queries" / "queries-00000-of-00001.parquet", [{"_id": q, "text": t} for q, t in QUERIES.items()])
    table(folder / "default" / "test-00000-of-00001.parquet", pairs)


def mteb_json(folder: Path) -> None:
    pairs = [{"query-id": q, "corpus-id": d, "score": int(g)} for q, docs in GRADES.items() for d, g in docs.items()]
    put(folder / "corpus.jsonl", lines([{"_id": d, "title": "", "text": t} for d, t in TEXTS.items()]))
    put(folder / "queries.jsonl", lines([{"_id": q, "text": t} for q, t in QUERIES.items()]))
    put(folder / "qrels" / "test.jsonl", lines(pairs))


def cmteb(folder: Path) -> None:
    """As C-MTEB had it first: judgments in a dataset of their own."""
    rows = [{"qid": q, "pid": d, "score": int(g)} for q, docs in GRADES.items() for d, g in docs.items()]
    place = folder / "T2Retrieval" / "data"
    table(place / "corpus-00000-of-00001-8afe.parquet", [{"id": d, "text": t} for d, t in TEXTS.items()])
    table(place / "queries-00000-of-00001-930b.parquet", [{"id": q, "text": t} for q, t in QUERIES.items()])
    table(folder / "T2Retrieval-qrels" / "data" / "dev-00000-of-00001-92ed.parquet", rows)


def msmarco_passage(folder: Path) -> None:
    put(folder / "collection.tsv", tsv(TEXTS))
    put(folder / "queries.dev.small.tsv", tsv({**QUERIES, "q8": "not judged"}))
    put(folder / "qrels.dev.small.tsv", trec(GRADES, "\t"))


def msmarco_document(folder: Path) -> None:
    rows = "".join(f"{d}\thttps://example.org/{d}\tTitle {d}\t{t}\n" for d, t in TEXTS.items())
    put(folder / "msmarco-docs.tsv.gz", rows)
    put(folder / "msmarco-docdev-queries.tsv.gz", tsv(QUERIES))
    put(folder / "msmarco-docdev-qrels.tsv.gz", trec(GRADES))


def dl20_passage(folder: Path) -> None:
    put(folder / "collectionandqueries" / "collection.tsv", tsv(TEXTS))
    put(folder / "msmarco-test2020-queries.tsv.gz", tsv(QUERIES))
    put(folder / "2020qrels-pass.txt", trec(GRADED, " ", "Q0"))


def dl21_passage(folder: Path) -> None:
    put(folder / "2021_queries.tsv", tsv(QUERIES))
    put(folder / "2021.qrels.pass.final.txt", trec(GRADED))
    for number, doc in enumerate(TEXTS):
        row = {"pid": doc, "passage": TEXTS[doc], "spans": "(0,9)", "docid": "x"}
        put(folder / "msmarco_v2_passage" / f"msmarco_passage_{number:02}.gz", lines([row]))


def dl22_document(folder: Path) -> None:
    put(folder / "2022_queries.tsv", tsv(QUERIES))
    put(folder / "2022.qrels.docs.inferred.txt", trec(GRADED))
    rows = [{"url": "u", "title": f"Title {d}", "headings": "", "body": t, "docid": d} for d, t in TEXTS.items()]
    put(folder / "msmarco_v2_doc" / "msmarco_doc_00.gz", lines(rows))


def miracl(folder: Path) -> None:
    put(folder / "miracl-v1.0-zh" / "topics" / "topics.miracl-v1.0-zh-dev.tsv", tsv(QUERIES))
    put(folder / "miracl-v1.0-zh" / "qrels" / "qrels.miracl-v1.0-zh-dev.tsv", trec(GRADES, "\t", "Q0"))
    for number, (doc, text) in enumerate(TEXTS.items()):
        row = {"docid": doc, "title": f"标题 {doc}", "text": text}
        put(folder / "miracl-corpus-v1.0-zh" / f"docs-{number + 8}.jsonl.gz", lines([row]))


def lotte(folder: Path, topic: str = "writing", kind: str = "search") -> None:
    for other in ("science", topic):
        place = folder / "lotte" / other / "test"
        put(place / "collection.tsv", tsv(TEXTS if other == topic else {"d1": "another topic"}))
        put(place / f"questions.{kind}.tsv", tsv(QUERIES))
        rows = [{"qid": q, "query": QUERIES[q], "answer_pids": list(docs)} for q, docs in GRADES.items()]
        put(place / f"qas.{kind}.jsonl", lines(rows if other == topic else rows[:1]))


def bright(folder: Path) -> None:
    rows = [
        {"id": q, "query": t, "reasoning": "", "excluded_ids": ["d4", "d2"] if q == "q1" else ["N/A"],
         "gold_ids_long": ["N/A"], "gold_ids": list(GRADES[q]), "gold_answer": ""}
        for q, t in QUERIES.items()
    ]  # fmt: skip
    table(folder / "examples" / "biology-00000-of-00001.parquet", rows)
    documents = [{"id": d, "content": t} for d, t in TEXTS.items()]
    table(folder / "documents" / "biology-00000-of-00001.parquet", documents)
    table(folder / "examples" / "aops-00000-of-00001.parquet", rows[:1])


def litsearch(folder: Path) -> None:
    rows = [
        {"query_set": "inline_acl", "query": t, "specificity": n, "quality": 2, "corpusids": [101 + n, 103]}
        for n, t in enumerate(QUERIES.values())
    ]
    table(folder / "query" / "full-00000-of-00001.parquet", rows)
    papers = [
        {"corpusid": 100 + n, "title": f"Paper {d}", "abstract": t, "citations": [1], "full_paper": "..."}
        for n, (d, t) in enumerate(TEXTS.items(), start=1)
    ]
    table(folder / "corpus_clean" / "full-00000-of-00001.parquet", papers)


def lecard(folder: Path) -> None:
    rows = [{"path": "x", "ridx": int(q[1:]), "q": t, "crime": ["盗窃罪"]} for q, t in QUERIES.items()]
    put(folder / "data" / "query" / "query.json", lines(rows))
    labels = {q[1:]: {d[1:]: int(g) for d, g in docs.items()} for q, docs in GRADED.items()}
    put(folder / "data" / "label" / "label_top30_dict.json", json.dumps(labels))
    for query in ("1", "2"):
        for doc, text in TEXTS.items():
            case = {"ajId": doc, "ajName": f"案件 {doc}", "ajjbqk": "...", "pjjg": "...", "qw": text}
            put(folder / "data" / "candidates" / query / f"{doc[1:]}.json", json.dumps(case, ensure_ascii=False))


def t2ranking(folder: Path) -> None:
    place = folder / "data"
    put(place / "collection.tsv", "pid\ttext\n" + tsv(TEXTS))
    put(place / "queries.dev.tsv", "qid\ttext\n" + tsv(QUERIES))
    pairs = "".join(f"{q}\t{d}\n" for q, docs in GRADES.items() for d in docs)
    put(place / "qrels.retrieval.dev.tsv", "qid\tpid\n" + pairs)
    put(place / "qrels.dev.tsv", "qid\t-\tpid\trel\n" + trec(GRADED, "\t"))


def dureader(folder: Path) -> None:
    place = folder / "dureader-retrieval-baseline-dataset"
    rows = [
        {"question_id": q, "question": t,
         "answer_paragraphs": [{"paragraph_id": d, "paragraph_text": TEXTS[d]} for d in GRADES[q]]}
        for q, t in QUERIES.items()
    ]  # fmt: skip
    put(place / "dev" / "dev.json", lines(rows))
    docs = list(TEXTS)
    for number in (0, 1):
        part = "".join(f"\t\t{TEXTS[doc]}\t\n" for doc in docs[2 * number : 2 * number + 2])
        put(place / "passage-collection" / f"part-0{number}", part)
    known = {str(number): doc for number, doc in enumerate(docs)}
    put(place / "passage-collection" / "passage2id.map.json", json.dumps(known))


def graded(folder: Path) -> None:
    grades = {"q1": {"d1": 2, "d3": 1, "d4": 0}, "q2": {"d2": 2}}
    value = [
        {"id": q, "query": QUERIES[q], "relevant_docs": [d for d, g in docs.items() if g], "relevance_scores": docs}
        for q, docs in grades.items()
    ]
    put(folder / "testset.json", json.dumps(value))
    put(folder / "corpus.jsonl", lines([{"_id": d, "text": t} for d, t in TEXTS.items()]))


LAYOUTS: dict[str, Callable[[Path], None]] = {
    "beir-scifact": beir,
    "beir-cqadupstack-android": lambda folder: beir(folder, "cqadupstack/android"),
    "mteb-scifact": mteb_parquet,
    "mteb-nfcorpus": mteb_json,
    "cmteb-t2retrieval": cmteb,
    "msmarco-passage-dev": msmarco_passage,
    "msmarco-document-dev": msmarco_document,
    "dl20-passage": dl20_passage,
    "dl21-passage": dl21_passage,
    "dl22-document": dl22_document,
    "miracl-zh": miracl,
    "lotte-writing-search": lotte,
    "bright-biology": bright,
    "litsearch": litsearch,
    "lecard": lecard,
    "t2ranking": t2ranking,
    "t2ranking-graded": t2ranking,
    "dureader-retrieval": dureader,
    "medcorpus": graded,
}
"""Benchmarks, each with a function that writes a small one."""
