"""MTRAG: turns of conversations, asked as the last question alone and as a rewrite that stands by itself."""

from __future__ import annotations

import csv
import json

import pytest

from rankgauge import Qrels, Query, TestSet, compare, evaluate, load_qrels, retrievers
from tests.parts import DATA

RULE = r"^(.+)<::>"
PARTS = ("clapnq", "cloud")


def texts(part: str, kind: str) -> dict[str, str]:
    lines = (DATA / "mtrag" / f"{part}_{kind}.jsonl").read_text().splitlines()
    return {item["_id"]: item["text"].removeprefix("|user|: ") for item in map(json.loads, lines)}


def judged(part: str) -> Qrels:
    return load_qrels(DATA / "mtrag" / f"{part}_qrels.tsv")


@pytest.mark.needs("data")
def test_turns_belong_to_conversations() -> None:
    queries = [query for part in PARTS for query in judged(part).to_dict()]
    assert len(queries) == 396
    conversations = {query.split("<::>")[0] for query in queries}
    run = {query: ["x"] for query in queries}
    qrels = {query: docs for part in PARTS for query, docs in judged(part).to_dict().items()}
    found = evaluate(qrels, run, "R@10", conversations=RULE)
    note = next(note for note in found.notes if note.key == "conversations.clustered")
    assert (note.parameters["n"], note.parameters["conversations"]) == (396, len(conversations))


@pytest.mark.needs("data")
@pytest.mark.parametrize("part", PARTS)
def test_rewrites_against_last_turns(part: str) -> None:
    """Passages have no texts here, so a passage is known by the rewritten questions of other turns that it answers:
    turns of one conversation share passages, and so their scores hang together."""
    qrels, rewrites, last = judged(part).to_dict(), texts(part, "rewrite"), texts(part, "lastturn")
    lists: dict[str, dict[str, list[str]]] = {"last": {}, "rewrite": {}}
    questions = retrievers.BM25(rewrites)
    for query in qrels:
        for name, asked in (("last", last[query]), ("rewrite", rewrites[query])):
            near = [hit.id for hit in questions.search(asked, 20) if hit.id != query]
            lists[name][query] = list(dict.fromkeys(doc for other in near if other in qrels for doc in qrels[other]))[
                :10
            ]
    tested = TestSet(Query(rewrites[query], docs, query) for query, docs in qrels.items())
    plain = compare(tested, lists, ["R@10", "nDCG@10"])
    turns = compare(tested, lists, ["R@10", "nDCG@10"], conversations=RULE)
    for one, other in zip(plain.rows, turns.rows, strict=True):
        assert one.difference == other.difference
        assert other.conversations is not None
        assert other.conversations < one.queries / 3
        assert other.design_effect is not None
    means = {name: evaluate(tested, run, "R@10", conversations=RULE) for name, run in lists.items()}
    for name, found in means.items():
        alone = evaluate(tested, lists[name], "R@10").interval["R@10"]
        wide = found.interval["R@10"]
        assert alone is not None
        assert wide is not None
        assert wide.high - wide.low > 1.1 * (alone.high - alone.low)  # turns do hang together


@pytest.mark.needs("data")
def test_a_table_of_judgments_keeps_the_ids() -> None:
    with (DATA / "mtrag" / "cloud_qrels.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert {row["query-id"] for row in rows} == set(judged("cloud").to_dict())
