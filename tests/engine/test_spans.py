"""Passages resolved against chunks, and characters counted: held against sets of characters."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankgauge import Chunk, Chunks, Query, RankgaugeError, Record, Span, TestSet, compare, evaluate, verify
from rankgauge.engine.characters import Intervals
from rankgauge.engine.quotations import quoted_in
from rankgauge.engine.spans import SpanLabels
from rankgauge.measures import parse_measure
from tests.laws.settings import SETTINGS
from tests.oracles import naive
from tests.oracles.cases import fast

SIZE = 40
PLACES = st.tuples(st.sampled_from("ab"), st.integers(0, SIZE), st.integers(1, 15)).map(
    lambda drawn: (drawn[0], drawn[1], drawn[1] + drawn[2])
)


def chunks_of(places: list[naive.Where]) -> Chunks:
    return Chunks({f"c{i}": Chunk(*place) for i, place in enumerate(places)})


def labelled(*queries: list[naive.Where]) -> TestSet:
    return TestSet(
        Query(f"query {i}", {}, f"q{i}", spans=tuple(Span(*place) for place in places))
        for i, places in enumerate(queries)
    )


# --- characters -------------------------------------------------------------------------------------------------------

CHARACTERS = [parse_measure(text) for name in naive.CHARACTERS for text in SETTINGS[name]]


@fast(150)
@given(
    places=st.lists(PLACES, min_size=1, max_size=8),
    gold=st.lists(st.lists(PLACES, max_size=4, unique=True), min_size=1, max_size=3),
    data=st.data(),
)
def test_characters_are_those_of_sets(
    places: list[naive.Where], gold: list[list[naive.Where]], data: st.DataObject
) -> None:
    chunks = chunks_of(places)
    lists = {
        f"q{i}": data.draw(st.permutations(list(chunks)))[: data.draw(st.integers(int(i == 0), len(places)))]
        for i in range(len(gold))
    }
    table = evaluate(labelled(*gold), lists, CHARACTERS, chunks=chunks).table
    for row, query in enumerate(table.queries):
        own = gold[int(query[1:])]
        for column, measure in enumerate(CHARACTERS):
            listed = [places[int(chunk[1:])] for chunk in lists[query][: measure.at]]
            wanted = naive.CHARACTERS[measure.name](listed, own, places, measure.get("overlaps"))
            assert table.values[row, column] == pytest.approx(wanted, abs=1e-12), (query, str(measure))


@fast(100)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=10), st.integers(0, 30), st.integers(0, 12))
def test_intervals_are_sets(added: list[tuple[int, int]], start: int, size: int) -> None:
    intervals = Intervals((first, first + length) for first, length in added)
    numbers = {n for first, length in added for n in range(first, first + length)}
    asked = set(range(start, start + size))
    assert intervals.size == len(numbers)
    assert intervals.common(start, start + size) == len(numbers & asked)
    assert {n for a, b in intervals.gaps(start, start + size) for n in range(a, b)} == asked - numbers
    assert all(a < b for a, b in zip(intervals.ends, intervals.starts[1:], strict=False))


def test_a_budget_cuts_where_the_texts_are_full() -> None:
    chunks = Chunks({f"c{i}": Chunk("a", 10 * i, 10 * i + 10, "x" * 10) for i in range(4)})
    result = evaluate(
        labelled([("a", 0, 30)]), {"q0": ["c0", "c3", "c1"]}, ["CharR(budget=25)", "CharR"], chunks=chunks
    )
    assert dict(result.mean) == pytest.approx({"CharR(budget=25)": 1 / 3, "CharR": 2 / 3})


def test_a_cut_of_the_contract_cuts_characters_too() -> None:
    result = evaluate(
        labelled([("a", 0, 30)]),
        {"q0": ["c0", "c1"]},
        ["CharR", "CharR@5"],
        chunks=chunks_of([("a", 0, 10), ("a", 10, 20)]),
        depth=1,
    )
    assert dict(result.mean) == pytest.approx({"CharR": 1 / 3, "CharR@5": 1 / 3})


def test_the_figures_of_chunking_evaluation_for_overlapping_chunks() -> None:
    """Two chunks that share 5 characters, a passage of 10 inside both: its code divides by 15 + 15, sets by 25."""
    found = evaluate(
        labelled([("a", 8, 18)]),
        {"q0": ["c0", "c1"]},
        ["CharP@2", "CharP(overlaps='each')@2", "IoU@2", "precision_omega"],
        chunks=chunks_of([("a", 0, 15), ("a", 10, 25)]),
    ).mean
    assert [found["CharP@2"], found["CharP(overlaps='each')@2"]] == pytest.approx([10 / 25, 10 / 30])
    assert [found["CharIoU@2"], found["CharPBest"]] == pytest.approx([10 / 25, 10 / 25])


# --- resolution -------------------------------------------------------------------------------------------------------


@fast(150)
@given(
    places=st.lists(PLACES, min_size=1, max_size=8),
    gold=st.lists(PLACES, min_size=1, max_size=4, unique=True),
    overlap=st.sampled_from((0.1, 0.25, 0.5, 0.75, 1.0)),
)
def test_relevance_by_places(places: list[naive.Where], gold: list[naive.Where], overlap: float) -> None:
    frame = SpanLabels(labelled(gold), chunks_of(places), overlap).qrels(overlap).frame
    found = {(row["subtopic"], row["doc"]) for row in frame.iter_rows(named=True) if row["doc"].startswith("c")}
    wanted = set()
    for number, span in enumerate(_in_document_order(gold), start=1):
        for i, chunk in enumerate(places):
            common = naive.characters([span]) & naive.characters([chunk])
            inside = common == naive.characters([chunk])
            if common and (inside or len(common) / naive.lengths([span]) >= overlap - 1e-9):
                wanted.add((str(number), f"c{i}"))
    assert found == wanted
    assert frame["subtopic"].n_unique() == len(gold), "a passage that no chunk holds stays, as one that is not found"


def _in_document_order(gold: list[naive.Where]) -> list[naive.Where]:
    """Passages are numbered by document, in the order in which documents first come."""
    docs = list(dict.fromkeys(doc for doc, _, _ in gold))
    return [span for doc in docs for span in gold if span[0] == doc]


@fast(100)
@given(
    cuts=st.lists(st.integers(1, 99), min_size=1, max_size=12, unique=True),
    span=st.tuples(st.integers(0, 99), st.integers(1, 100)),
)
def test_chunks_without_gaps_hold_every_passage_at_half(cuts: list[int], span: tuple[int, int]) -> None:
    """As the module says: up to an overlap of 0.5 each passage has a relevant chunk."""
    start, end = span[0], min(100, span[0] + span[1])
    bounds = [0, *sorted(cuts), 100]
    places = [("a", a, b) for a, b in pairwise(bounds)]
    labels = SpanLabels(labelled([("a", start, end)]), chunks_of(places))
    assert labels.in_no_chunk(0.5) == 0


def test_a_passage_in_two_chunks_counts_once() -> None:
    chunks = chunks_of([("a", 0, 20), ("a", 5, 25), ("a", 40, 60)])
    test_set = labelled([("a", 8, 18), ("a", 45, 50)])
    result = evaluate(test_set, {"q0": ["c0", "c1"]}, ["R@2", "P@2"], chunks=chunks)
    assert result.mean["R@2"] == result.mean["StRecall@2"] == 0.5
    assert result.mean["P@2"] == 1
    assert result.contract.overlap == 0.5


def test_a_passage_in_no_chunk_is_not_found() -> None:
    """Two thirds of it are in one chunk: enough at 0.5, too little at 0.75, where it can no longer be found."""
    chunks, test_set = chunks_of([("a", 0, 20), ("a", 20, 40)]), labelled([("a", 10, 25)])
    for overlap, recall, lost in ((0.5, 1.0, 0), (0.75, 0.0, 1)):
        result = evaluate(test_set, {"q0": ["c0", "c1"]}, ["R@2", "nDCG@2", "RR"], chunks=chunks, overlap=overlap)
        assert result.mean["R@2"] == recall
        assert result.coverage.passages is not None
        assert result.coverage.passages.in_no_chunk == lost
        assert any("in no chunk" in warning for warning in result.warnings) == bool(lost)


def test_other_overlaps_are_shown_beside() -> None:
    chunks, test_set = chunks_of([("a", 0, 20), ("a", 20, 40)]), labelled([("a", 10, 25)])
    result = evaluate(test_set, {"q0": ["c0"]}, ["R@2", "CharR@2"], chunks=chunks)
    assert result.coverage.passages is not None
    assert [(row.overlap, row.means) for row in result.coverage.passages.overlaps] == [
        (0.25, {"StRecall@2": 1.0}),
        (0.5, {"StRecall@2": 1.0}),
        (0.75, {"StRecall@2": 0.0}),
        (1.0, {"StRecall@2": 0.0}),
    ]
    assert [note.key for note in result.notes if note.level == "warning"] == ["spans.sensitive"]
    assert "overlap" in result.report(detail="evidence")
    again = Record.from_dict(result.record.to_dict(), "again")
    assert again.systems[0].coverage == result.record.systems[0].coverage


def test_documents_chunks_and_groups_are_labels_too() -> None:
    chunks = chunks_of([("a", 0, 10), ("a", 10, 20), ("b", 0, 10), ("c", 0, 10)])
    test_set = TestSet(
        [
            Query("document", {"a": 1, "b": 0}, "q0"),
            Query("chunk", {"c1": 2}, "q1"),
            Query("groups", {"a": 1, "b": 1, "c": 1}, "q2", groups={"x": ("a", "b"), "y": ("c",)}),
            Query("beside", {"a": 1, "c": 1}, "q3", spans=(Span("a", 0, 10),)),
            Query("missing", {"z": 1}, "q4"),
            Query("none", {}, "q5"),
        ]
    )
    lists = {f"q{i}": ["c1", "c2"] for i in range(6)}
    result = evaluate(test_set, lists, ["R@2", "P@2"], chunks=chunks)
    rows = {row["query"]: (row["StRecall@2"], row["P@2"]) for row in result.per_query.iter_rows(named=True)}
    assert rows == {
        "q0": (1.0, 0.5),
        "q1": (1.0, 0.5),
        "q2": (0.5, 1.0),
        "q3": (0.0, 0.0),
        "q4": (0.0, 0.0),
        "q5": (0.0, 0.0),
    }
    assert result.coverage.no_relevant == 1


# --- by text ----------------------------------------------------------------------------------------------------------


def test_passages_are_found_by_their_words() -> None:
    texts = {"c0": "It begins.  The quick brown “fox” jumps", "c1": "over the lazy dog. It ends.", "c2": "Nothing."}
    chunks = Chunks({own: Chunk("a", text=text) for own, text in texts.items()})
    quoted = 'The quick brown "fox"\njumps over the lazy dog.'
    test_set = TestSet([Query("q", {}, "q0", spans=(Span(text=quoted),))])
    labels = SpanLabels(test_set, chunks)
    assert labels.by_text == 1
    assert sorted(labels.qrels(0.5).to_dict()["q0"]) == ["c0"]  # five of nine words
    assert sorted(labels.qrels(0.25).to_dict()["q0"]) == ["c0", "c1"]
    assert labels.in_no_chunk(0.75) == 1


WORDS = st.lists(st.sampled_from(["wa", "wb", "wc", "中", "we"]), min_size=1, max_size=12)


@fast(150)
@given(WORDS, WORDS, st.sampled_from((0.1, 0.25, 0.5, 1.0)))
@example(["wa", "wb"], ["wb"], 1.0)
def test_runs_of_words_are_the_longest_common_ones(passage: list[str], text: list[str], least: float) -> None:
    stretches = [
        j - i for i in range(len(passage)) for j in range(i + 1, len(passage) + 1) if _stands(passage[i:j], text)
    ]
    run = max(stretches, default=0)
    share, inside = run / len(passage), run == len(text) >= 4
    (found,) = quoted_in([" ".join(passage)], {"t": ", ".join(text)}, [None], least)
    if share >= least:
        assert [(one.text, one.share) for one in found] == [("t", pytest.approx(share))]
        assert found[0].inside == inside
    elif inside:
        assert [one.inside for one in found] == [True]
    else:
        assert found == []


def _stands(part: list[str], text: list[str]) -> bool:
    return any(text[i : i + len(part)] == part for i in range(len(text)))


# --- what is given ----------------------------------------------------------------------------------------------------

PATTERN = r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$"


def test_places_are_read_from_ids() -> None:
    assert dict(Chunks.of_ids(["x-1-5-10"], PATTERN)) == {"x-1-5-10": Chunk("x-1", 5, 10)}
    test_set = labelled([("a", 0, 10), ("b", 0, 10)])
    result = evaluate(test_set, {"q0": ["a-0-8", "a-8-20"]}, ["R", "CharR", "AP"], chunks=re.compile(PATTERN))
    assert dict(result.mean)["StRecall"] == dict(result.mean)["CharR"] == 0.5
    assert result.contract.chunk_ids == PATTERN
    assert [note.key for note in result.notes if note.level == "warning" and "ids" in note.key] == ["spans.ids_alone"]


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"chunks": re.compile("x")}, "has no group named"),
        ({"chunks": re.compile(PATTERN)}, "cannot read the id"),
        ({"chunks": 7}, "`chunks` must be Chunks"),
        ({"chunks": Chunks({"z": Chunk("a", 0, 5)})}, "none of its ids is among the chunks"),
        ({"overlap": 0.5}, "give `chunks=` too"),
        ({"chunks": Chunks({"c0": Chunk("a", 0, 5)}), "overlap": 0}, "must be a share above 0"),
        ({"chunks": Chunks({"c0": Chunk("a", 0, 5)}), "overlap": "x"}, "must be a share above 0"),
        ({"chunks": Chunks({"c0": Chunk("a", 0, 5)}), "collapse_chunks": "x"}, "give one of them"),
        ({"chunks": Chunks({"c0": Chunk("a")})}, "have no places"),
        ({"chunks": Chunks({"c0": Chunk("a", 0, 5)}), "measures": "CharR@2", "ties": "expected"}, "needs one order"),
        ({"chunks": {"other": Chunks({"c0": Chunk("a", 0, 5)})}, "name": "own"}, "names no chunks for 'own'"),
        ({"measures": "CharR@2"}, "needs gold passages and the places of the chunks"),
    ],
)
def test_mistakes_are_told(choices: dict[str, Any], said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        evaluate(labelled([("a", 0, 10)]), {"q0": ["c0"]}, **choices)


def test_characters_need_every_place() -> None:
    unplaced = TestSet([Query("q", {}, "q0", spans=(Span(text="some words of it here"),))])
    chunks = Chunks({"c0": Chunk("a", 0, 30, "some words of it here")})
    assert evaluate(unplaced, {"q0": ["c0"]}, "RR", chunks=chunks).mean["RR"] == 1
    with pytest.raises(RankgaugeError, match="rankgauge testset anchor"):
        evaluate(unplaced, {"q0": ["c0"]}, "CharR", chunks=chunks)
    with pytest.raises(RankgaugeError, match="'c9' was retrieved"):
        evaluate(labelled([("a", 0, 10)]), {"q0": ["c0", "c9"]}, "CharR", chunks=chunks)
    assert evaluate(labelled([("a", 0, 10)]), {"q0": ["c0", "c9"]}, "RR", chunks=chunks).warnings == [
        "not among the chunks: 1 retrieved id, counted as not relevant"
    ]


def test_places_of_another_text_are_noticed() -> None:
    """Chunks whose places were counted in bytes: every é before them moves them by one."""
    text = "é" * 20 + "The answer stands here. And more follows it."
    span = Span("a", 20, 43, text[20:43])
    test_set = TestSet([Query("q", {}, "q0", spans=(span,))])
    right = Chunks({"c0": Chunk("a", 10, 60, text[10:60])})
    wrong = Chunks({"c0": Chunk("a", 10, 60, text.encode()[10:60].decode())})
    for chunks, misread in ((right, 0), (wrong, 1)):
        result = evaluate(test_set, {"q0": ["c0"]}, "RR", chunks=chunks)
        assert result.coverage.passages is not None
        assert (result.coverage.passages.misread, result.coverage.passages.compared) == (misread, 1)
        assert [note.key for note in result.notes if note.level == "warning"] == ["spans.misread"][:misread]


def test_two_ways_to_cut_are_compared(tmp_path: Path) -> None:
    """Each system has chunks of its own, with the same ids; the record can be computed again."""
    gold = [[("a", 10 * i, 10 * i + 6)] for i in range(12)]
    small = "\n".join(f'{{"id": "a#{i}", "doc": "a", "start": {10 * i}, "end": {10 * i + 10}}}' for i in range(12))
    large = "\n".join(f'{{"id": "a#{i}", "doc": "a", "start": {40 * i}, "end": {40 * i + 40}}}' for i in range(3))
    (tmp_path / "small.jsonl").write_text(small)
    (tmp_path / "large.jsonl").write_text(large)
    labelled(*gold).save(tmp_path / "set.json")
    files = {}
    for name, size in (("small", 10), ("large", 40)):
        lists = {f"q{i}": [f"a#{10 * i // size}"] for i in range(12)}
        files[name] = tmp_path / f"{name}.json"
        files[name].write_text(str(lists).replace("'", '"'))
    found = compare(
        tmp_path / "set.json",
        files,
        ["R@1", "CharP@1"],
        chunks={name: tmp_path / f"{name}.jsonl" for name in files},
    )
    row = found.row("CharP@1", "small", "large")
    assert row.difference == pytest.approx(6 / 40 - 6 / 10)
    one = evaluate(
        tmp_path / "set.json", files["small"], ["R@1", "CharP@1"], chunks=tmp_path / "small.jsonl", name="small"
    )
    for result in (found, one):
        assert [finding.sentence() for finding in verify(result.record) if not finding.holds] == []
