"""Classic collections with their texts, and small corpora."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import NamedTuple

from rankgauge import evaluate
from rankgauge.retrievers import Retriever

__all__ = ["CHINESE", "SMALL", "Collection", "collection", "scores"]

SMALL = {
    "os.path.join": "os.path.join\nJoin one or more path segments intelligently into a single path.",
    "os.remove": "os.remove\nRemove, that is delete, a file by its path.",
    "shutil.rmtree": "shutil.rmtree\nDelete an entire directory tree with all files in it.",
    "json.loads": "json.loads\nDeserialize a string that holds a JSON document to a Python object.",
    "json.JSONDecoder": "json.JSONDecoder\nSimple JSON decoder. The raw_decode method reads a document from a string.",
    "asyncio.gather": "asyncio.gather\nRun awaitable objects concurrently and collect their results.",
    "asyncio.wait_for": "asyncio.wait_for\nWait for an awaitable to complete, with a timeout.",
    "empty": "",
}
CHINESE = {
    "a": "北京大学位于北京市海淀区，是一所研究型大学。",
    "b": "机器学习是人工智能的一个分支，常用 Python 语言实现。",
    "c": "信息检索系统的评测需要查询、文档和相关性判断。",
    "d": "今天天气很好，我们去公园散步。",
}


class Collection(NamedTuple):
    documents: dict[str, str]
    queries: dict[str, str]
    judgments: dict[str, dict[str, int]]


def collection(data: Path, name: str) -> Collection:
    folder = data / name
    if name == "vaswani":
        text = gzip.decompress((folder / "doc-text.trec.gz").read_bytes()).decode()
        documents = dict(re.findall(r"<DOCNO>(\d+)</DOCNO>\n(.*?)</DOC>", text, re.DOTALL))
        topics = (folder / "query-text.trec").read_text()
        queries = dict(re.findall(r"<num>(\d+)</num><title>\n(.*?)</title>", topics, re.DOTALL))
        judged = (folder / "qrels").read_text()
    else:
        rows = [json.loads(line) for line in (folder / "docs.jsonl").read_text().splitlines()]
        # Cranfield's texts begin with their titles, CISI's do not.
        documents = {
            row["id"]: row["text"] if name == "cranfield" else f"{row['title']}\n{row['text']}" for row in rows
        }
        queries = dict(line.split("\t", 1) for line in (folder / "queries.tsv").read_text().splitlines())
        judged = (folder / "qrels.txt").read_text()
    judgments: dict[str, dict[str, int]] = {}
    for query, _, doc, code in map(str.split, judged.splitlines()):
        # Cranfield's codes fall with relevance: 1 is a complete answer, 4 of minimum interest, -1 of none.
        grade = int(code) if name != "cranfield" else 5 - int(code) if int(code) > 0 else 0
        judgments.setdefault(query, {})[doc] = grade
    return Collection(documents, queries, judgments)


def scores(retriever: Retriever, chosen: Collection, *measures: str, k: int = 1000) -> dict[str, float]:
    run = {query: retriever.search(chosen.queries[query], k) for query in chosen.judgments}
    result = evaluate(chosen.judgments, {query: dict(hits) for query, hits in run.items()}, list(measures))
    return dict(result.mean)
