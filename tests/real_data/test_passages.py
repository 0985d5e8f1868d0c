"""Real passages and real chunk ids: the texts and questions of chunking_evaluation, and MT-RAG."""

from __future__ import annotations

import re

import pytest

from rankgauge import (
    Chunk,
    Chunks,
    Corpus,
    Query,
    Span,
    TestSet,
    anchor,
    compare,
    evaluate,
    evaluate_retriever,
    label_drift,
    load_corpus,
    load_testset,
)
from rankgauge.retrievers import BM25
from tests.oracles import naive
from tests.parts import DATA

pytestmark = pytest.mark.needs("data")
CHUNKING = DATA / "chunking"
IDS = r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return load_corpus(CHUNKING)


@pytest.fixture(scope="module")
def questions() -> TestSet:
    return load_testset(CHUNKING / "questions.csv")


def cut(corpus: Corpus, size: int, overlap: int = 0) -> Chunks:
    """Pieces of a fixed length."""
    return Chunks(
        {
            f"{doc}#{number}": Chunk(doc, start, min(start + size, len(text)), text[start : start + size])
            for doc, text in corpus.items()
            for number, start in enumerate(range(0, len(text), size - overlap))
        }
    )


def test_all_spans_are_where_they_say(corpus: Corpus, questions: TestSet) -> None:
    assert (len(questions), sum(len(query.spans) for query in questions)) == (276, 452)
    assert sum(len(query.spans) > 1 for query in questions) == 107
    found = anchor(questions, corpus)
    assert (found.kept, found.left) == (452, [])


def test_all_passages_anchor_from_their_texts_alone(corpus: Corpus, questions: TestSet) -> None:
    """The chat logs say one sentence twice, which is listed; every other passage gets the place it was taken from."""
    bare = TestSet(
        Query(query.text, {}, spans=tuple(Span(text=span.text) for span in query.spans)) for query in questions
    )
    found = anchor(bare, corpus)
    assert found.found == 451
    assert [(one.reason, one.total, one.places[0].doc) for one in found.left] == [("several", 2, "chatlogs")]
    wrong = [
        (own, made)
        for before, after in zip(questions, found.test_set, strict=True)
        for own, made in zip(before.spans, after.spans, strict=True)
        if made.anchored and own != made
    ]
    assert wrong == []
    assert anchor(bare, corpus, several="first").complete


def test_whitespace_and_quotes_make_no_difference(corpus: Corpus, questions: TestSet) -> None:
    changed = TestSet(
        Query(
            query.text,
            {},
            spans=tuple(
                Span(span.doc, text=re.sub(r"\s+", "\n  ", span.text.replace("’", "'").replace("—", "-")))
                for span in query.spans
            ),
        )
        for query in questions
    )
    found = anchor(changed, corpus, several="first")
    assert (found.found, found.left) == (452, [])


def test_an_updated_corpus(corpus: Corpus, questions: TestSet) -> None:
    new = {doc: f"A new first line.\n{text}" for doc, text in corpus.items()}
    found = label_drift(questions, new, old=corpus)
    assert found.counts["moved"] == 451  # and the one that stands twice
    assert found.counts["several"] == 1
    for before, after in zip(questions, found.mended, strict=True):
        for old, now in zip(before.spans, after.spans, strict=True):
            assert now.start in (old.start, (old.start or 0) + 18)


def test_chunk_sizes_from_end_to_end(corpus: Corpus, questions: TestSet) -> None:
    """BM25 over pieces of three sizes, scored by one set of labels; per question against sets of characters."""
    chosen = ["R@5", "RR", "nDCG@10", "CharR@5", "CharP@5", "CharIoU@5", "CharP(overlaps='each')@5", "CharPBest"]
    chunks = {"small": cut(corpus, 200), "large": cut(corpus, 800), "overlapping": cut(corpus, 800, 400)}
    means, runs = {}, {}
    for name, own in chunks.items():
        result = evaluate_retriever(BM25(own.texts), questions, 10, chosen, chunks=own, name=name)
        means[name], runs[name] = result.mean, result.retrieval.run
        assert result.coverage.passages is not None
        assert result.coverage.passages.in_no_chunk == 0
        table = result.table
        for row in range(0, len(table.queries), 40):
            query = next(query for query in questions if query.id == table.queries[row])
            listed = [own[chunk] for chunk in list(runs[name][query.id])[:5]]
            places = [(chunk.doc, chunk.start or 0, chunk.end or 0) for chunk in listed]
            gold = [(span.doc, span.start or 0, span.end or 0) for span in query.spans]
            wanted = [
                naive.char_recall(places, gold, [], "once"),
                naive.char_precision(places, gold, [], "once"),
                naive.char_iou(places, gold, [], "once"),
                naive.char_precision(places, gold, [], "each"),
            ]
            assert table.values[row, 3:7].tolist() == pytest.approx(wanted, abs=1e-12)
    # Larger chunks find more, and pad more; sets differ from chunking_evaluation's sums only where chunks overlap.
    assert means["large"]["StRecall@5"] > 0.85 > 0.7 > means["small"]["StRecall@5"]
    assert means["small"]["CharP@5"] > means["large"]["CharP@5"]
    assert means["small"]["CharPBest"] > 2 * means["large"]["CharPBest"]
    assert means["large"]["CharP(overlaps='each')@5"] == means["large"]["CharP@5"]
    assert means["overlapping"]["CharP(overlaps='each')@5"] < means["overlapping"]["CharP@5"]
    pair = {name: runs[name] for name in ("small", "large")}
    found = compare(questions, pair, ["R@5", "CharP@5"], chunks={name: chunks[name] for name in pair})
    assert [row.verdict for row in found.rows] == ["better", "worse"]


def test_chunks_without_places_are_found_by_their_words(corpus: Corpus, questions: TestSet) -> None:
    placed = cut(corpus, 800)
    unplaced = Chunks({own: Chunk(chunk.doc, text=chunk.text) for own, chunk in placed.items()})
    run = evaluate_retriever(BM25(placed.texts), questions, 10, "RR", chunks=placed).retrieval.run
    by_place, by_words = (evaluate(questions, run, ["R@10", "RR"], chunks=own).mean for own in (placed, unplaced))
    # Words that are cut in two, and passages whose halves are equal in characters but not in words.
    assert by_words["StRecall@10"] == pytest.approx(by_place["StRecall@10"], abs=0.02)
    assert by_words["RR"] == pytest.approx(by_place["RR"], abs=0.03)


def half(chunk: Chunk) -> str:
    """The id of the first half of a chunk."""
    return f"{chunk.doc}-{chunk.start}-{((chunk.start or 0) + (chunk.end or 0)) // 2}"


@pytest.mark.parametrize(("name", "turns", "labels"), [("clapnq", 208, 579), ("cloud", 188, 495)])
def test_places_in_the_ids_of_mtrag(name: str, turns: int, labels: int) -> None:
    test_set = load_testset(DATA / "mtrag" / f"{name}_qrels.tsv", "mtrag")
    assert len(test_set) == turns
    assert not any("|user|" in query.text or query.text == query.id for query in test_set)
    assert set(test_set.conversations.values()) == {query.id.split("<::>")[0] for query in test_set}
    ids = [doc for query in test_set for doc in query.grades]
    assert len(ids) == labels - 1  # the first line names the columns
    chunks = Chunks.of_ids(ids, IDS)
    made = anchor(test_set, chunks=chunks)
    assert made.from_chunks == len(ids)
    # A run of the judged chunks themselves finds every passage, and nothing else.
    run = {query.id: query.relevant for query in test_set}
    found = evaluate(made.test_set, run, ["R", "P@1", "CharR", "CharP"], chunks=re.compile(IDS)).mean
    assert dict(found) == pytest.approx({"StRecall": 1, "P@1": 1, "CharR": 1, "CharP": 1})
    lists = {query: list(dict.fromkeys(half(chunks[doc]) for doc in docs)) for query, docs in run.items()}
    found = evaluate(made.test_set, lists, ["R", "CharR", "CharP"], chunks=re.compile(IDS)).mean
    assert found["StRecall"] == 1  # half a chunk lies wholly inside the passage
    assert 0.49 < found["CharR"] <= 0.51
    assert found["CharP"] == 1
