"""`sweep_chunks`: every version fills the same budget; scores against a naive count, and the versions compared."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rankgauge
from rankgauge import Chunks, Query, Span, TestSet, chunk, sweep_chunks
from rankgauge.errors import DataError, RetrieverError
from rankgauge.record import Record

N = 30
DRAW = random.Random(3)
NAMES = [f"name{i}" for i in range(N)]
DOCS = {
    f"d{i}": " ".join(
        " ".join(DRAW.choice(NAMES) for _ in range(DRAW.randint(3, 12))) + "." for _ in range(DRAW.randint(4, 15))
    )
    + f" {NAMES[i]} {NAMES[i]} {NAMES[i]}."
    for i in range(N)
}


@pytest.fixture(scope="module")
def test_set() -> TestSet:
    return TestSet(
        [Query(NAMES[i], {f"d{i}": 1.0, f"d{(i + 1) % N}": 1.0}, f"q{i}") for i in range(N)], name="questions"
    )


class Counting:
    """Chunks by how often they hold the query."""

    asked: list[int] = []

    def __init__(self, chunks: Chunks, extra: int = 0) -> None:
        self.texts, self.extra = chunks.texts, extra

    def ranked(self, query: str) -> list[tuple[str, float]]:
        scores = {own: text.split().count(query) + text.count(f"{query}.") for own, text in self.texts.items()}
        return sorted(((own, float(score)) for own, score in scores.items()), key=lambda pair: (-pair[1], pair[0]))

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        self.asked.append(k)
        return self.ranked(query)[:k]


def distinct(chunks: Chunks) -> Any:
    """A retriever without ties, so that how far it is asked cannot matter."""
    inner = Counting(chunks)
    order = {own: place for place, own in enumerate(chunks)}
    return lambda query, k: sorted(
        ((own, score - order[own] / 1e6) for own, score in inner.ranked(query)), key=lambda pair: -pair[1]
    )[:k]


@pytest.mark.parametrize("length", [len, lambda text: len(text.split())])
def test_scores_at_an_equal_budget(test_set: TestSet, length: Any) -> None:
    budget = 400 if length is len else 60
    sizes = [60, 200] if length is len else [8, 30]
    found = sweep_chunks(
        DOCS, test_set, sizes=sizes, overlaps=[0, 0.3], budget=budget, retriever=distinct, measures=["R"], length=length
    )
    assert found.result.budget == budget
    for version, live in zip(found.versions, found.evaluations, strict=True):
        chunks = chunk(DOCS, version.parameters["size"], version.parameters["overlap"], length=length)
        listed = distinct(chunks)
        wanted, used = [], []
        for query in test_set:
            room, inside, n = float(budget), set(), 0
            for own, _ in listed(query.text, 10**6):
                room -= length(chunks[own].text)
                if room < 0:
                    break
                inside.add(chunks[own].doc)
                n += 1
            wanted.append(len(inside & set(query.relevant)) / len(query.relevant))
            used.append(n)
        assert live.table.values[:, 0].tolist() == pytest.approx(wanted)
        assert version.chunks == pytest.approx(sum(used) / len(used))
        assert version.curve[-1].budget == budget
        assert version.curve[-1].mean == pytest.approx(version.mean)
        means = [point.mean for point in version.curve]
        assert means == sorted(means)  # recall only grows with the budget


def test_lists_are_asked_as_far_as_the_budget_needs(test_set: TestSet) -> None:
    Counting.asked.clear()
    sweep_chunks(DOCS, test_set, sizes=[100], budget=300, retriever=Counting, measures=["R"])
    assert max(Counting.asked) < 30
    assert min(Counting.asked) >= 3


def test_k_is_swept_too(test_set: TestSet) -> None:
    found = sweep_chunks(DOCS, test_set, sizes=[100], ks=[1, 3], retriever=Counting, grid={"extra": [0, 1]})
    assert [version.parameters for version in found.versions] == [
        {"size": 100, "extra": 0, "k": 1},
        {"size": 100, "extra": 0, "k": 3},
        {"size": 100, "extra": 1, "k": 1},
        {"size": 100, "extra": 1, "k": 3},
    ]
    assert found.versions[1].mean > found.versions[0].mean
    assert [version.chunks for version in found.versions] == [1.0, 3.0, 1.0, 3.0]
    assert found.versions[0].curve == []


def test_one_record_holds_sweep_and_comparison(test_set: TestSet, tmp_path: Path) -> None:
    found = sweep_chunks(DOCS, test_set, sizes=[60, 400], budget=300, retriever=Counting, measures=["R", "RR"])
    record = found.record
    assert record.kind == "comparison"
    assert [system.name for system in record.systems] == ["V1", "V2"]
    assert record.sweeps[0].best == found.best.label
    assert record.comparison is not None
    assert {row.measure for row in record.comparison.rows} == {"R", "RR"}
    assert Record.from_dict(json.loads(record.to_json())) == record
    assert found.held_out is not None
    against = sweep_chunks(DOCS, test_set, sizes=[60, 200, 400], budget=300, retriever=Counting, baseline="V3")
    assert {(row.a, row.b) for row in against.comparison.rows} == {("V3", "V1"), ("V3", "V2")}
    for language in ("en", "zh"):
        text = rankgauge.report(found, language=language)
        assert "V1" in text
        assert "300" in text
        assert rankgauge.report(against, language=language)
    rankgauge.report(record, tmp_path / "table.csv")
    assert "budget=300" in (tmp_path / "table-sweep.csv").read_text()


def test_the_chart_of_budgets(test_set: TestSet) -> None:
    pytest.importorskip("vl_convert")
    found = sweep_chunks(DOCS, test_set, sizes=[60, 400], budget=[300, 100, 600], retriever=Counting, measures=["R"])
    assert [point.budget for point in found.versions[0].curve] == [100, 300, 600]
    assert found.result.budget == 300
    drawn = found.plot()
    assert drawn.name == "budget-Counting-R"
    assert "<svg" in drawn.svg()


def test_answers_are_kept(test_set: TestSet, tmp_path: Path) -> None:
    def swept(version: int) -> Any:
        return sweep_chunks(
            DOCS,
            test_set,
            sizes=[60, 400],
            budget=300,
            retriever=Counting,
            cache=tmp_path,
            configuration={"version": version},
        )

    first = swept(1)
    Counting.asked.clear()
    again = swept(1)
    assert not Counting.asked
    assert [v.mean for v in again.versions] == [v.mean for v in first.versions]
    assert all(version.timed_before == N for version in again.versions)
    swept(2)
    assert Counting.asked
    with pytest.raises(DataError, match="configuration="):
        sweep_chunks(DOCS, test_set, sizes=[60], retriever=Counting, cache=tmp_path)


def test_a_built_in_retriever_by_name(test_set: TestSet, tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    found = sweep_chunks(DOCS, test_set, sizes=[60, 400], budget=300, cache=tmp_path)
    assert found.result.system == "bm25"
    assert found.best.mean > 0.3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"sizes": []}, "has no values"),
        ({"sizes": [0]}, "size=0 must be"),
        ({"sizes": [10], "overlaps": [10]}, "overlap=10 must be less than size=10"),
        ({"sizes": [10], "budget": 0}, "budget=0 must be"),
        ({"sizes": [10], "budget": []}, "`budget` is an empty list"),
        ({"sizes": [10], "ks": [0]}, "k=0 must be"),
        ({"sizes": [10], "grid": {"k": [1]}}, "'k' is given by an argument of its own"),
        ({"sizes": [10], "baseline": "V2"}, "is no version; they are V1 to V1"),
        ({"sizes": [10], "retriever": "bm26"}, "bm26"),
        ({"sizes": [10], "retriever": "http"}, "searches what is indexed already"),
        ({"sizes": [10], "retriever": 3}, "`retriever` is the name of a built-in one"),
        ({"sizes": [10], "by": "pages"}, "by='pages' must be one of"),
        ({"size": [10]}, "did you mean sizes"),
    ],
)
def test_mistakes_are_told_before_anything_is_asked(arguments: dict[str, Any], said: str, test_set: TestSet) -> None:
    Counting.asked.clear()
    with pytest.raises((DataError, rankgauge.RankgaugeError)) as told:
        sweep_chunks(DOCS, test_set, **{"retriever": Counting, **arguments})
    assert said in str(told.value)
    assert not Counting.asked


def test_overlaps_that_are_too_long_for_some_sizes_are_left_out(test_set: TestSet) -> None:
    found = sweep_chunks(DOCS, test_set, sizes=[60, 200], overlaps=[0, 100], budget=300, retriever=Counting)
    assert [version.parameters for version in found.versions] == [
        {"size": 60, "overlap": 0},
        {"size": 200, "overlap": 0},
        {"size": 200, "overlap": 100},
    ]


def test_retrievers_that_return_something_else(test_set: TestSet) -> None:
    with pytest.raises(RetrieverError, match="have no document under the rule"):
        sweep_chunks(DOCS, test_set, sizes=[60], retriever=lambda chunks: lambda query, k: ["x"])


def test_lists_that_a_budget_ends_are_not_called_short() -> None:
    """Each list holds one chunk, as the budget wants it: longer lists would change nothing."""
    texts = {f"d{i}": f"{NAMES[i]} {NAMES[i]}." for i in range(N)}
    questions = TestSet([Query(NAMES[i], {f"d{i}": 1.0, f"d{(i + 1) % N}": 1.0}, f"q{i}") for i in range(N)])
    found = sweep_chunks(texts, questions, sizes=[60], budget=20, retriever="bm25", measures=["R", "RR"])
    assert not [note for live in found.evaluations for note in live.notes if "lists" in note.key]
    assert "longer lists" not in rankgauge.report(found.record, format="terminal", language="en")


def test_what_no_chunk_fits_into_is_told(test_set: TestSet) -> None:
    found = sweep_chunks(DOCS, test_set, sizes=[40, 400], budget=60, retriever=distinct, measures=["R"])
    told = [text for text in found.warnings if "empty context" in text]
    assert len(told) == 1
    counted = sum(not docs for docs in naive_contexts(found.evaluations[1], 400, 60))
    assert told[0].startswith(f"V2: {counted} of {N} queries with an empty context")
    assert not [text for text in found.warnings if "longer lists" in text]  # they are cut on purpose


def naive_contexts(live: Any, size: int, budget: int) -> list[list[str]]:
    """What fits of every list."""
    texts = chunk(DOCS, size).texts
    contexts = []
    for answer in live.retrieval.answers:
        room, kept = budget, []
        for hit in answer.hits:
            room -= len(texts[hit.id])
            if room < 0:
                break
            kept.append(hit.id)
        contexts.append(kept)
    return contexts


def test_sizes_at_an_equal_number_of_chunks_are_told(test_set: TestSet) -> None:
    def warned(**choices: Any) -> bool:
        found = sweep_chunks(DOCS, test_set, retriever=distinct, measures=["R"], **choices)
        return any("different sizes are compared at the same number" in text for text in found.warnings)

    assert warned(sizes=[40, 80])
    assert not warned(sizes=[40, 80], budget=200)
    assert not warned(sizes=[80], ks=[2, 4])


def test_labels_of_documents_favour_small_chunks(test_set: TestSet) -> None:
    keys = {"sizes": [40, 80], "budget": 120, "retriever": "bm25"}
    found = sweep_chunks(DOCS, test_set, **keys)
    assert any("favours small chunks" in warning for warning in found.warnings)
    one = sweep_chunks(DOCS, test_set, **{**keys, "sizes": [40]})
    passages = TestSet([replace(query, spans=[Span(next(iter(query.grades)), 0, 20)]) for query in test_set])
    for other in (one, sweep_chunks(DOCS, passages, **keys)):
        assert not any("favours" in warning for warning in other.warnings)


def test_slips_name_the_argument(test_set: TestSet) -> None:
    with pytest.raises(DataError, match="the parameter 'size' of the sweep has no values"):
        sweep_chunks(DOCS, test_set, sizes=[], budget=100)
    with pytest.raises(DataError, match="`length` must be a function"):
        sweep_chunks(DOCS, test_set, sizes=[40], budget=100, length="tokens")
    for argument, value in (("sizes", 200), ("overlaps", 0.1), ("ks", 5), ("sizes", "200")):
        with pytest.raises(DataError, match=f"`{argument}` must be a list of numbers"):
            sweep_chunks(DOCS, test_set, **{"sizes": [40], "budget": 100, argument: value})


def test_what_cannot_be_cut_is_named(test_set: TestSet) -> None:
    """It was passed over without a word: of four ways three were tried."""
    found = sweep_chunks(DOCS, test_set, sizes=[60, 200], overlaps=[0, 100], budget=200, measures=["R"])
    assert list(found.failed) == ["size=60, overlap=100"]
    assert found.warnings[0].startswith("left out: size=60, overlap=100: overlap=100 must be less than size=60")
    assert "size=60, overlap=100" in rankgauge.report(found.record, format="terminal", language="en", detail="audit")


def test_lists_of_the_numbers_that_are_tried_are_not_called_short(test_set: TestSet) -> None:
    found = sweep_chunks(DOCS, test_set, sizes=[60], ks=[2, 4], retriever=distinct, measures=["R"])
    assert not [text for text in found.warnings if "can see no further" in text]
    plain = rankgauge.sweep(lambda: lambda query, k: list(DOCS)[:k], {"k": [2, 4]}, test_set, measure="R")
    assert not [text for text in plain.warnings if "can see no further" in text]


def test_the_first_screen_says_what_the_best_does_not_differ_from(test_set: TestSet) -> None:
    same = sweep_chunks(DOCS, test_set, sizes=[600, 700], budget=3000, retriever=distinct, measures=["R"])
    shown = " ".join(rankgauge.report(same.record, format="terminal", language="en").split())
    assert "R: no significant difference between the best and (size=" in shown
    apart = sweep_chunks(DOCS, test_set, sizes=[40, 400], budget=400, retriever=distinct, measures=["R"])
    if apart.comparison.rows[0].verdict != "inconclusive":
        assert "no significant difference" not in rankgauge.report(apart.record, format="terminal", language="en")
