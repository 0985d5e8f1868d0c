"""Re-ranking by any scorer, and the scorer that needs no model."""

from __future__ import annotations

import math

import pytest

from rankgauge.errors import DataError, MissingExtraError, RankgaugeError
from rankgauge.retrievers import BM25, Rerank, Retriever, TermProximity
from tests.retrievers.real import CHINESE, SMALL

QUERY = "json string document path file"


def by_length(query: str, documents: list[tuple[str, str]]) -> list[float]:
    return [float(-len(text)) for _, text in documents]


def test_order_of_the_scorer() -> None:
    bm25 = BM25(SMALL)
    rerank = Rerank(bm25, by_length, corpus=SMALL)
    found = rerank.search(QUERY, 10)
    assert {hit.id for hit in found} == {hit.id for hit in bm25.search(QUERY, 10)}
    assert [hit.score for hit in found] == sorted((-len(SMALL[hit.id]) for hit in found), reverse=True)
    assert rerank.search(QUERY, 2) == found[:2]
    assert isinstance(rerank, Retriever)
    assert list(rerank.ids) == list(SMALL)
    assert rerank.search("zebra", 5) == []


def test_nothing_is_lost_beyond_depth() -> None:
    bm25 = BM25(SMALL)
    before, after = bm25.search(QUERY, 10), Rerank(bm25, by_length, corpus=SMALL, depth=2).search(QUERY, 10)
    assert {hit.id for hit in after[:2]} == {hit.id for hit in before[:2]}
    assert [hit.id for hit in after[2:]] == [hit.id for hit in before[2:]]
    assert [hit.score for hit in after] == sorted((hit.score for hit in after), reverse=True)


def test_equal_scores_keep_the_order() -> None:
    bm25 = BM25(SMALL)
    found = Rerank(bm25, lambda query, documents: [1] * len(documents), corpus=SMALL).search(QUERY, 10)
    assert [hit.id for hit in found] == [hit.id for hit in bm25.search(QUERY, 10)]


def test_scorer_sees_query_ids_and_texts() -> None:
    seen: list[tuple[str, list[tuple[str, str]]]] = []

    def scorer(query: str, documents: list[tuple[str, str]]) -> list[float]:
        seen.append((query, documents))
        return [0.0] * len(documents)

    Rerank(BM25(SMALL), scorer, corpus=SMALL, depth=2).search(QUERY, 1)
    ((query, documents),) = seen
    assert query == QUERY
    assert len(documents) == 2
    assert all(SMALL[doc] == text for doc, text in documents)


def test_errors() -> None:
    bm25 = BM25(SMALL)
    with pytest.raises(DataError, match="gave 1 scores for"):
        Rerank(bm25, lambda query, documents: [1.0], corpus=SMALL).search(QUERY, 3)
    with pytest.raises(DataError, match="scores must be finite"):
        Rerank(bm25, lambda query, documents: [math.nan] * len(documents), corpus=SMALL).search(QUERY, 3)
    with pytest.raises(DataError, match="is not in the corpus"):
        Rerank(bm25, by_length, corpus={"other": "text"}).search(QUERY, 3)
    with pytest.raises(RankgaugeError, match="depth=0"):
        Rerank(bm25, by_length, corpus=SMALL, depth=0)
    with pytest.raises(RankgaugeError, match="must be a function"):
        Rerank(bm25, 3, corpus=SMALL)  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="a re-ranker needs a retriever"):
        Rerank("bm25", by_length, corpus=SMALL)  # type: ignore[arg-type]


def test_cross_encoder_needs_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"it is in the extra rankgauge\[models\]"):
        Rerank(BM25(SMALL), "cross-encoder/ms-marco-MiniLM-L6-v2", corpus=SMALL)


def test_term_proximity_formula() -> None:
    corpus = {"x": "red apple tree", "y": "red car", "z": "green tree with a red leaf and one apple"}
    lengths = {"x": 3, "y": 2, "z": 6}
    scorer = TermProximity(corpus, title=0.5, identifier=1, proximity=2)
    mean = sum(lengths.values()) / 3
    red, apple = math.log(1 + 3 / 3), math.log(1 + 3 / 2)
    wanted = [
        (red + apple) / (1 + lengths["x"] / mean) + 2 * red / 1,
        red / (1 + lengths["y"] / mean),
        (red + apple) / (1 + lengths["z"] / mean) + 2 * red / 3,
    ]
    assert scorer("red apples", list(corpus.items())) == pytest.approx(wanted)


def test_term_proximity_prefers_titles_identifiers_and_neighbours() -> None:
    def best(query: str, corpus: dict[str, str]) -> str:
        values = TermProximity(corpus)(query, list(corpus.items()))
        return max(zip(values, corpus, strict=True))[1]

    assert best("decoder", {"a": "Text\nmentions a decoder", "b": "Decoder\nexplained in a text"}) == "b"
    assert best("use os.path", {"a": "use the path of an os", "b": "use the os.path module"}) == "b"
    near, far = "fast search with a long word list", "fast word with a long search list"
    assert best("fast search", {"a": far, "b": near}) == "b"
    assert best("北京大学", CHINESE) == "a"
    assert TermProximity(SMALL)("", [("a", "text")]) == [0]
    with pytest.raises(RankgaugeError, match="proximity=-1"):
        TermProximity(SMALL, proximity=-1)
