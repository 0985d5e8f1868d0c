"""What retrievers return becomes hits, whatever its shape, and nothing that is wrong with it stays unsaid."""

from __future__ import annotations

import math
import uuid
from collections import namedtuple
from dataclasses import dataclass, field
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import haystack.dataclasses
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from rankgauge.errors import RankgaugeError, RetrieverError
from rankgauge.retrievers.fields import parse_path
from rankgauge.retrievers.hits import Hit, hits_of

SCORED = [("a", 0.9), ("b", 0.5), ("c", 0.5)]
Row = namedtuple("Row", "doc_id score")


@dataclass
class Node:
    """As LlamaIndex's NodeWithScore: the node and its score, and the node's id and metadata as properties."""

    node: Any
    score: float | None = None

    @property
    def node_id(self) -> str:
        return self.node.id_

    @property
    def metadata(self) -> dict[str, Any]:
        return self.node.metadata


@dataclass
class TextNode:
    id_: str
    metadata: dict[str, Any] = field(default_factory=dict)


SHAPES = {
    "hits": [Hit(*pair) for pair in SCORED],
    "pairs": SCORED,
    "lists": [list(pair) for pair in SCORED],
    "tuple of pairs": tuple(SCORED),
    "generator": (pair for pair in SCORED),
    "dictionary": dict(SCORED),
    "dictionaries": [{"id": doc, "score": score} for doc, score in SCORED],
    "elastic": {"hits": {"hits": [{"_id": doc, "_score": score} for doc, score in SCORED]}},
    "pinecone": {"matches": [{"id": doc, "score": score, "values": []} for doc, score in SCORED]},
    "qdrant": SimpleNamespace(
        points=[SimpleNamespace(id=str(uuid.uuid4()), score=score, payload={"id": doc}) for doc, score in SCORED]
    ),
    "distances": [{"id": doc, "distance": -score} for doc, score in SCORED],
    "inner products called distances": [{"id": doc, "distance": score} for doc, score in SCORED],
    "objects": [SimpleNamespace(document_id=doc, similarity=score) for doc, score in SCORED],
    "named tuples": [Row(doc, score) for doc, score in SCORED],
    "langchain pairs": [(Document(page_content="x", metadata={"id": doc}), score) for doc, score in SCORED],
    "langchain ids": [(Document(page_content="x", id=doc), score) for doc, score in SCORED],
    "haystack": [haystack.dataclasses.Document(content="x", meta={"id": doc}, score=score) for doc, score in SCORED],
    "haystack ids": {"documents": [haystack.dataclasses.Document(id=doc, score=score) for doc, score in SCORED]},
    "llama": [Node(TextNode(doc), score) for doc, score in SCORED],
    "numpy scores": [(doc, np.float32(score)) for doc, score in [("a", 0.75), ("b", 0.5), ("c", 0.5)]],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes(shape: str) -> None:
    hits, faults = hits_of(SHAPES[shape], 3)
    assert [hit.id for hit in hits] == ["a", "b", "c"]
    assert [type(hit.score) for hit in hits] == [float] * 3
    assert hits[0].score > hits[1].score == hits[2].score == pytest.approx(0.5)
    assert faults == []


@pytest.mark.parametrize(
    "results",
    [
        ["7", "8"],
        [7, 8],
        ("7", "8"),
        iter(["7", "8"]),
        np.array([7, 8]),
        [np.int64(7), "8"],
        [b"7", "8"],
        {"7": None, "8": None}.keys(),
        ["7", {"id": 8}],
        [Document(page_content="", id="7"), Document(page_content="", metadata={"doc_id": 8})],
    ],
)
def test_without_scores_they_fall_by_one(results: Any) -> None:
    assert hits_of(results, 5) == ([Hit("7", 2.0), Hit("8", 1.0)], [])


def test_the_id_of_a_result_does_not_depend_on_its_neighbours() -> None:
    plain, own = {"id": "a"}, {"id": "store-made", "metadata": {"id": "mine"}}
    assert {hit.id for hit in hits_of([plain, own], 2)[0]} == {hit.id for hit in hits_of([own, plain], 2)[0]}


def test_nothing_found() -> None:
    for nothing in ([], (), {}, iter(()), np.array([])):
        assert hits_of(nothing, 5) == ([], [])


def test_own_id_goes_before_the_stores() -> None:
    results = [{"id": "store-made", "metadata": {"id": "mine", "doc_id": "whole"}}]
    assert hits_of(results, 1)[0] == [Hit("mine", 1.0)]
    assert hits_of(results, 1, id_field="id")[0] == [Hit("store-made", 1.0)]
    assert hits_of(results, 1, id_field="metadata['doc_id']")[0] == [Hit("whole", 1.0)]
    assert hits_of(results, 1, id_field='metadata["doc_id"]')[0] == [Hit("whole", 1.0)]
    assert hits_of(results, 1, id_field="metadata.doc_id")[0] == [Hit("whole", 1.0)]
    assert hits_of([("x", "y", 3.0)], 1, id_field="[1]", score_field="[2]")[0] == [Hit("y", 3.0)]
    assert hits_of([{"a": [{"b": "z"}]}], 1, id_field="a[0].b")[0] == [Hit("z", 1.0)]
    assert hits_of([("x", 0.2), ("y", 0.4)], 2, score_field="-[1]") == ([Hit("x", -0.2), Hit("y", -0.4)], [])
    document = Document(page_content="", metadata={"path": ["f", "g"]})
    assert hits_of([(document, 0.5)], 1, id_field="metadata.path[-1]")[0] == [Hit("g", 0.5)]
    unique = uuid.uuid4()
    assert hits_of([unique], 1)[0] == [Hit(str(unique), 1.0)]


@pytest.mark.parametrize(
    ("results", "kinds", "expected"),
    [
        (["a", "b", "c", "d"], ["too_many"], "abc"),
        (["a", "b", "a", "a"], ["duplicate"], "ab"),
        ([("a", 1), ("b", 3), ("c", 2)], ["unsorted"], "bca"),
        ([("a", 1), ("b", 2), ("a", 3)], ["unsorted", "duplicate"], "ab"),
        (["a", None, "", "b"], ["no_id"], "ab"),
        ([{"id": None}, {"id": "a"}], ["no_id"], "a"),
        ([{"id": None}], ["no_id"], ""),
        ([("a", math.nan), ("b", 2.0), ("c", 1.0)], ["not_finite"], "bca"),
        ([("a", 1.0), ("b", math.inf), ("c", -math.inf)], ["not_finite"], "bac"),
        ([("a", math.nan), ("b", math.nan)], ["not_finite"], "ab"),
        ([("a", 1.0), ("b", None), ("c", 0.5)], ["no_score"], "acb"),
        (
            [("a", 1), ("b", 2), ("c", 3), ("d", 4), ("d", 5), (None, 6)],
            ["no_id", "unsorted", "duplicate", "too_many"],
            "dcb",
        ),
    ],
)
def test_faults_are_named(results: Any, kinds: list[str], expected: str) -> None:
    hits, faults = hits_of(results, 3)
    assert [fault.kind for fault in faults] == kinds
    assert "".join(hit.id for hit in hits) == expected
    assert all(math.isfinite(hit.score) for hit in hits)
    assert all(str(fault) for fault in faults)


def test_rising_scores_may_be_distances() -> None:
    assert "distances" in str(hits_of([("a", 0.1), ("b", 0.2)], 2)[1][0])
    assert "distances" not in str(hits_of([("a", 0.1), ("b", 0.2), ("c", 0.1)], 2)[1][0])


def test_a_generator_without_end_is_left() -> None:
    def forever() -> Any:
        number = 0
        while True:
            yield number
            number += 1

    hits, faults = hits_of(forever(), 3)
    assert [hit.id for hit in hits] == ["0", "1", "2"]
    assert [fault.kind for fault in faults] == ["unread"]


async def soon() -> list[str]:
    return []


@pytest.mark.parametrize(
    ("results", "seen", "remedy"),
    [
        (None, "None", "empty list"),
        ("abc", "'abc'", "list of ids"),
        (7, "7", "list of ids"),
        ({"answer": "text"}, "answer", "list of ids"),
        ([0.5], "float", "id_field"),
        ([{"title": "x", "metadata": {"page": 3}}], "title, metadata, metadata.page", "id_field"),
        ([SimpleNamespace(title="x")], "title", "id_field"),
        ([Document(page_content="x", metadata={"page": 1})], "metadata.page", "id_field"),
        ([("a", "b", "c")], "('a', 'b', 'c')", "id_field='[0]'"),
        ([("a", "b")], "('a', 'b')", "score_field"),
        ([{"id": 1.5}], "1.5", "id_field"),
        ([True], "True", "id_field"),
        ([{"id": "a", "score": "high"}], "'high'", "score_field"),
        ([{"id": {"x": 1}}], "{'x': 1}", "id_field"),
    ],
)
def test_what_cannot_be_understood(results: Any, seen: str, remedy: str) -> None:
    with pytest.raises(RetrieverError) as caught:
        hits_of(results, 3)
    assert isinstance(caught.value, RankgaugeError)
    assert seen in str(caught.value)
    assert remedy in str(caught.value)
    assert not caught.value.retry


@pytest.mark.parametrize(
    ("results", "fields", "said"),
    [
        (["a", "b"], {"id_field": "doc"}, r"result 1 is 'a' \(str\), which has no 'doc'; leave id_field out"),
        (["a", "b"], {"score_field": "far"}, "leave score_field out"),
        ([("a", 1.0)], {"id_field": "doc"}, "which has no 'doc'; leave id_field out"),
        ([("a", 1.0)], {"score_field": "far"}, "which has no 'far'; leave score_field out"),
        ([Hit("a", 1.0)], {"id_field": "doc"}, "no id under 'doc'"),
        ([Hit("a", 1.0)], {"score_field": "far"}, "has no 'far'"),
        ([({"name": "a"}, 1.0)], {"id_field": "name", "score_field": "far"}, "leave score_field out"),
    ],
)
def test_a_field_that_results_of_this_shape_lack(results: Any, fields: dict[str, str], said: str) -> None:
    with pytest.raises(RetrieverError, match=said):
        hits_of(results, 5, **fields)


def test_fields_of_pairs() -> None:
    document = {"name": "a", "far": 0.5}
    assert hits_of([(document, 1.0)], 5, id_field="name")[0] == [Hit("a", 1.0)]
    assert hits_of([(document, 1.0)], 5, id_field="name", score_field="-far")[0] == [Hit("a", -0.5)]
    assert hits_of([("a", 1.0, "text")], 5, id_field="[0]", score_field="[1]")[0] == [Hit("a", 1.0)]
    assert hits_of([Hit("a", 1.0)], 5, id_field="id")[0] == [Hit("a", 1.0)]
    with pytest.raises(RetrieverError, match=r"id_field='\[1\]' and score_field='\[0\]'"):
        hits_of([(1.0, "a")], 5)
    assert hits_of([(1.0, "a")], 5, id_field="[1]", score_field="[0]")[0] == [Hit("a", 1.0)]


def test_fields_that_are_not_there() -> None:
    with pytest.raises(RetrieverError, match=r"no id under 'key'.*seen: a dict with id, score"):
        hits_of([{"id": 1, "score": 2}], 1, id_field="key")
    with pytest.raises(RetrieverError, match=r"no 'weight'.*seen: a dict with id, score"):
        hits_of([{"id": 1, "score": 2}], 1, score_field="weight")
    coroutine = soon()
    with pytest.raises(RetrieverError, match="async def"):
        hits_of(coroutine, 1)
    coroutine.close()


@pytest.mark.parametrize("path", ["", " ", "a..b", "a[", "a[x]", "a b", "a]", "a['x", "[*].id", "$", None])
def test_bad_paths(path: Any) -> None:
    with pytest.raises(RetrieverError, match="path"):
        parse_path(path)


def test_paths() -> None:
    assert parse_path("$.hits[*].id", each=True) == ("hits", None, "id")
    assert parse_path("a.b['c.d'][2][-1]") == ("a", "b", "c.d", 2, -1)
    assert parse_path("$", each=True) == ()


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.one_of(st.none(), st.floats(width=16)))), st.integers(1, 9))
def test_always_a_valid_list(results: list[tuple[str, float | None]], k: int) -> None:
    hits, faults = hits_of(results, k)
    ids = [hit.id for hit in hits]
    assert len(ids) == len(set(ids)) == min(k, len({doc for doc, _ in results}))
    assert all(math.isfinite(hit.score) for hit in hits)
    assert all(a.score >= b.score for a, b in pairwise(hits))
    plain = [score for _, score in results]
    if None not in plain and all(map(math.isfinite, plain)):  # type: ignore[arg-type]
        best = dict(sorted(results, key=lambda pair: pair[1]))
        assert all(best[hit.id] == hit.score for hit in hits)
    wrong = (
        len(results) > len({doc for doc, _ in results})
        or len({doc for doc, _ in results}) > k
        or (set(plain) != {None} and any(score is None or not math.isfinite(score) for score in plain))
        or any(a is not None and b is not None and a < b for a, b in pairwise(plain))
    )
    assert bool(faults) == wrong
