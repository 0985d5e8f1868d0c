"""Where relevant documents were lost: exactly one place for each, against a naive count over random pipelines."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankgauge
from rankgauge import Query, Record, TestSet, compare, evaluate, losses, verify
from rankgauge.comparison.rerank import rerank_of
from rankgauge.errors import ContractError, DataError, FormatError
from rankgauge.words import LANGUAGES

DOCS = [f"d{i}" for i in range(9)]
QUERIES = ["q1", "q2", "q3"]
LISTS = st.dictionaries(
    st.sampled_from(QUERIES), st.lists(st.sampled_from(DOCS), unique=True, min_size=1), min_size=1, max_size=3
)


@st.composite
def pipelines(draw: st.DrawFn) -> dict[str, Any]:
    """Judgments, one to three stages that need not lie in one another, and perhaps corpus, index and budget."""
    grades = st.dictionaries(st.sampled_from(DOCS), st.integers(-1, 3), max_size=7)
    texts = {doc: "x" * draw(st.integers(0, 5)) for doc in DOCS}
    runs = [draw(LISTS) for _ in range(draw(st.integers(1, 3)))]
    budget = draw(st.none() | st.integers(1, 12))
    retrieved = {doc for docs in runs[-1].values() for doc in docs}
    kept = DOCS if draw(st.booleans()) else [*retrieved, *draw(st.lists(st.sampled_from(DOCS)))]
    corpus = {doc: texts[doc] for doc in kept} if budget is not None or draw(st.booleans()) else None
    return {
        "qrels": {query: draw(grades) | {"d8": draw(st.integers(0, 1))} for query in QUERIES},
        "stages": {f"s{i}": run for i, run in enumerate(runs)},
        "k": draw(st.integers(1, 6)),
        "rel": draw(st.sampled_from([1, 2])),
        "corpus": corpus,
        "indexed": draw(st.none() | st.lists(st.sampled_from(DOCS))),
        "budget": budget,
        "missing": draw(st.sampled_from(["zero", "skip"])),
        "no_relevant": draw(st.sampled_from(["count", "skip"])),
    }


def naive_place(given: dict[str, Any], query: str, doc: str) -> str:
    """The place of one document, looked up step by step."""
    lists = {name: run.get(query, []) for name, run in given["stages"].items()}
    names, last = list(lists), list(lists.values())[-1]
    if doc in last:
        rank = last.index(doc) + 1
        if rank > given["k"]:
            return "rank"
        if given["budget"] is not None and sum(len(given["corpus"][d]) for d in last[:rank]) > given["budget"]:
            return "budget"
        return "found"
    holding = [i for i, name in enumerate(names) if doc in lists[name]]
    if holding:
        return f"stage:{names[holding[-1] + 1]}"
    if given["corpus"] is not None and doc not in given["corpus"]:
        return "corpus"
    if given["indexed"] is not None and doc not in given["indexed"]:
        return "index"
    return f"stage:{names[0]}"


def naive_reach(given: dict[str, Any], docs: list[str], *, fitting: bool) -> int:
    """The most of these documents that k and the budget leave room for, over all choices of them."""
    for size in range(min(given["k"], len(docs)), 0, -1):
        for chosen in combinations(docs, size):
            texts = given["corpus"] or {}
            if not fitting or given["budget"] is None:
                return size
            if sum(len(texts.get(doc, "")) for doc in chosen) <= given["budget"]:
                return size
    return 0


@settings(max_examples=150, deadline=None)
@given(pipelines())
def test_every_document_has_one_place(given: dict[str, Any]) -> None:
    qrels, rel, last = given["qrels"], given["rel"], list(given["stages"].values())[-1]
    relevant = {query: [doc for doc, grade in docs.items() if grade >= rel] for query, docs in qrels.items()}
    counts = [
        query
        for query in qrels
        if (query in last or given["missing"] == "zero") and (relevant[query] or given["no_relevant"] == "count")
    ]
    found = losses(**given)
    result = found.result
    assert result.queries == len(counts)
    expected = {query: {doc: naive_place(given, query, doc) for doc in relevant[query]} for query in counts}
    per_query = {row["query"]: row for row in found.per_query.to_dicts()}
    for query in qrels:
        own = Counter(expected.get(query, {}).values())
        assert {key: n for key, n in per_query[query].items() if key != "query" and n} == dict(own)
    total = Counter(place for own in expected.values() for place in own.values())
    assert all(place.documents == total[place.key] for place in found.places)
    assert sum(place.documents for place in found.places) == result.documents == sum(total.values())
    for place in found.places:
        own = [(query, doc) for query, docs in expected.items() for doc, key in docs.items() if key == place.key]
        assert place.queries == len({query for query, _ in own})
        assert place.grades == pytest.approx(sum(qrels[query][doc] for query, doc in own))

    def mean(keys: set[str], *, fitting: bool = True) -> float:
        values = []
        for query in counts:
            docs = [doc for doc, key in expected[query].items() if key in keys | {"found"}]
            values.append(naive_reach(given, docs, fitting=fitting) / max(1, len(relevant[query])))
        return sum(values) / len(values) if values else 0.0

    assert result.mean == pytest.approx(mean(set()))
    for place in found.places:
        if place.kind != "found":
            assert place.gain == pytest.approx(mean({place.key}, fitting=place.kind != "budget") - result.mean)
    names = result.stages
    order = {"rank", "budget", *(f"stage:{name}" for name in names[1:][-1:])}
    (part,) = [part for part in found.headroom if part.kind == "order"]
    assert part.gain == pytest.approx(mean(order) - result.mean)
    assert part.documents == sum(total[key] for key in order)
    listed = {query: {lost.doc: lost.place for lost in docs} for query, docs in result.lost.items()}
    assert listed == {
        query: gone for query, own in expected.items() if (gone := {d: p for d, p in own.items() if p != "found"})
    }
    assert Record.from_dict(json.loads(found.to_json())) == found.record


@settings(max_examples=60, deadline=None)
@given(pipelines())
def test_found_over_relevant_is_recall(given: dict[str, Any]) -> None:
    """Without a budget, each query's share of documents found is its R@k, and the mean is evaluate's."""
    given = {**given, "budget": None}
    found = losses(**given)
    choices = {key: given[key] for key in ("rel", "missing", "no_relevant")}
    scored = evaluate(given["qrels"], list(given["stages"].values())[-1], f"R@{given['k']}", **choices)
    assert found.result.mean == scored.table.aggregates[0]
    rows = {row["query"]: row for row in found.per_query.to_dicts()}
    for query, value in zip(scored.table.queries, scored.table.values[:, 0], strict=True):
        row = rows[query]
        relevant = sum(n for key, n in row.items() if key != "query")
        assert relevant == 0 or row["found"] / relevant == value


@settings(max_examples=60, deadline=None)
@given(pipelines())
def test_a_wide_k_leaves_the_budget_alone(given: dict[str, Any]) -> None:
    """With every rank inside k, recall within the budget is R(budget=N)."""
    given = {**given, "k": 20, "budget": given["budget"] or 7, "corpus": dict.fromkeys(DOCS, "xx")}
    last = list(given["stages"].values())[-1]
    choices = {key: given[key] for key in ("rel", "missing", "no_relevant", "corpus")}
    scored = evaluate(given["qrels"], last, f"R(budget={given['budget']})", **choices)
    assert losses(**given).result.mean == pytest.approx(scored.table.aggregates[0])


@settings(max_examples=60, deadline=None)
@given(pipelines(), st.data())
def test_a_better_order_reaches_the_ceiling_of_the_candidates(given: dict[str, Any], data: st.DataObject) -> None:
    """What `compare --rerank` calls the ceiling is the recall now, and what a better order can gain."""
    before = {query: [*docs] for query, docs in next(iter(given["stages"].values())).items()}
    after = {query: data.draw(st.permutations(docs))[: data.draw(st.integers(1, 9))] for query, docs in before.items()}
    found = losses(given["qrels"], {"before": before, "after": after}, given["k"])
    (row,) = rerank_of(compare(given["qrels"], {"before": before, "after": after}, f"R@{given['k']}")).rows
    (part,) = [part for part in found.headroom if part.kind == "order"]
    assert found.result.mean + part.gain == pytest.approx(row.ceiling)
    assert found.result.ceiling == pytest.approx(row.perfect)


QRELS = {"q1": {"a": 1, "b": 2, "c": 1, "d": 1}, "q2": {"a": 1, "x": 0}, "q3": {"b": 1, "y": 1}}
STAGES = {
    "candidates": {"q1": ["a", "b", "x"], "q2": ["x", "y"], "q3": ["x", "y", "b"]},
    "reranked": {"q1": ["x", "a"], "q2": ["x"], "q3": ["y", "x", "b"]},
}


def test_the_lead_names_the_part_with_most_to_gain() -> None:
    found = losses(QRELS, STAGES, 2)
    assert found.result.largest_headroom is not None
    assert (found.result.largest_headroom.kind, found.result.largest_headroom.stage) == ("first", "candidates")
    assert found.summary()[0].startswith("3 of 5 missed relevant documents never reached candidates")
    alone = losses(QRELS, {"bm25": {"q1": ["x", "y", "z", "a", "b", "c"], "q2": ["a"], "q3": ["b", "y"]}}, 3)
    assert alone.result.largest_headroom is not None
    assert alone.result.largest_headroom.kind == "order"
    for language in LANGUAGES:
        assert "bm25" in alone.summary(language)[0]
    for names, said in (("st", "reached s, but not the first 3 of t that fit"), ("s", "in s, but below 3 or outside")):
        stages = {name: {"q": ["x", "a"]} for name in names}
        cut = losses({"q": {"a": 1}}, stages, 3, corpus={"a": "text", "x": "text"}, budget=5)
        assert said in cut.summary()[0]
        assert "+1.0000 R@3 within 5" in cut.summary()[0]
    everything = losses({"q": {"a": 1}}, {"s": {"q": ["a"]}})
    assert everything.summary() == ["All 1 relevant document is found: R@10 is 1.0000."]
    full = losses({"q": {"a": 1, "b": 1}}, {"s": {"q": ["a", "b"]}}, 1)
    assert "no room for more" in full.summary()[0]


def keys(found: rankgauge.Losses) -> set[str]:
    return {note.key.removeprefix("losses.") for note in found.result.notes}


def test_what_cannot_be_is_said() -> None:
    """Lists that do not come from one another, or not from this corpus."""
    odd = losses(QRELS, {"first": STAGES["reranked"], "second": STAGES["candidates"]}, 2)
    assert {"added"} <= keys(odd)
    assert odd.warnings
    few = {**STAGES, "candidates": {"q1": ["a", "b", "x"]}}
    missing = losses(QRELS, few, 2, corpus={"a": "", "x": ""}, indexed=["a"])
    assert {"outside_corpus", "outside_index", "missing_queries", "no_room"} <= keys(missing)
    short = losses(QRELS, STAGES, 5)
    assert "short_lists" in keys(short)
    assert "short_list_alone" in keys(losses(QRELS, {"bm25": STAGES["reranked"]}, 5))
    assert not keys(losses({"q": {"a": 1}}, {"s": {"q": ["a"]}}))


@pytest.mark.parametrize(
    ("changes", "kind", "said"),
    [
        ({"stages": ["a"]}, DataError, "given by name, first to last"),
        ({"stages": {}}, DataError, "given by name, first to last"),
        ({"k": 0}, DataError, "k is 0; it must be at least 1"),
        ({"budget": 10}, DataError, "needs the texts of the documents"),
        ({"ties": "expected"}, ContractError, "one order of the list"),
        ({"indexed": 3}, DataError, "must be a list of document ids"),
        ({"indexed": "nowhere.txt"}, FormatError, "there is no such file"),
        ({"corpus": {"a": "x"}, "budget": 5}, DataError, "the corpus has no text for it"),
        ({"indexd": ["a"]}, DataError, "did you mean indexed"),
    ],
)
def test_mistakes_say_what_to_do(changes: dict[str, Any], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        losses(**{"qrels": QRELS, "stages": STAGES, **changes})


def test_chunks_are_merged_in_lists_and_index() -> None:
    chunks = {"candidates": {"q1": ["a#1", "a#2", "b#1"]}, "reranked": {"q1": ["b#1", "a#2"]}}
    qrels = {"q1": {"a": 1, "b": 1, "c": 1, "d": 1}}
    found = losses(qrels, chunks, 1, indexed=["a#1", "a#2", "b#1", "c#1"], collapse_chunks=r"^(.+)#\d+$")
    assert {lost.doc: lost.place for lost in found.lost["q1"]} == {"a": "rank", "c": "stage:candidates", "d": "index"}
    assert found.record.contract is not None
    assert found.record.contract.collapse == r"regex ^(.+)#\d+$"


@pytest.mark.parametrize(
    "text", ["a\nb\n\n x \n", '["a", "b", "x"]', '{"_id": "a"}\n{"id": "b", "text": ""}\n{"_id": "x"}\n']
)
def test_ids_of_an_index_from_files(text: str, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text(text)
    found = losses(QRELS, STAGES, 2, indexed=tmp_path / "ids")
    assert found.to_frame().row(0)[:3] == ("index", None, 2)


@pytest.mark.parametrize(
    ("text", "said"), [("", "no ids"), ("[1.5]", "entry 1: the document id 1.5"), ('{"a": 1}', "ids:1: the document")]
)
def test_files_without_ids_are_faults(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "ids").write_text(text)
    with pytest.raises(FormatError, match=said):
        losses(QRELS, STAGES, 2, indexed=tmp_path / "ids")


def saved(folder: Path) -> dict[str, Path]:
    for name, run in STAGES.items():
        lines = [f"{q} Q0 {doc} {i} {-i} {name}\n" for q, docs in run.items() for i, doc in enumerate(docs)]
        (folder / f"{name}.run").write_text("".join(lines))
    queries = (Query(f"text {q}", grades, q, tags=("odd",) if q != "q2" else ()) for q, grades in QRELS.items())
    TestSet(queries).save(folder / "testset.json")
    return {name: folder / f"{name}.run" for name in STAGES}


def test_a_record_of_files_verifies(tmp_path: Path) -> None:
    runs = saved(tmp_path)
    (tmp_path / "ids.txt").write_text("a\nb\nx\ny\n")
    record = losses(tmp_path / "testset.json", runs, 2, indexed=tmp_path / "ids.txt").record
    assert sorted(record.provenance.inputs) == ["indexed", "judgments", "run:reranked", "stage:candidates"]
    assert all(finding.holds for finding in verify(record))
    runs["candidates"].write_text("q1 Q0 a 0 1 r\n")
    assert [finding.what.key for finding in verify(record) if not finding.holds] == ["verify.input", "losses.verified"]


def test_a_damaged_record_is_refused() -> None:
    content = losses(QRELS, STAGES, 2).record.to_dict()
    for damage, said in (
        (lambda own: own["places"][0].update(documents=9), "do not add up"),
        (lambda own: own["per_query"].update(found=[1]), "are not its"),
        (lambda own: own["lost"]["q1"][0].update(place="nowhere"), "which is no place"),
    ):
        broken = json.loads(json.dumps(content))
        damage(broken["losses"][0])
        with pytest.raises(FormatError, match=said):
            Record.from_dict(broken)
    old = {key: value for key, value in content.items() if key != "losses"}
    assert Record.from_dict(old).losses == []


def test_stages_may_be_live_evaluations() -> None:
    judgments = {"first one": {"a": 1, "b": 1}, "second one": {"c": 1}}
    wide = rankgauge.evaluate_retriever(lambda query, k: ["a", "c", "x"][:k], judgments, measures="R@2")
    last = rankgauge.evaluate_retriever(lambda query, k: ["a"], judgments, measures="R@2")
    live = rankgauge.losses(judgments, {"wide": wide, "last": last}, k=2)
    assert live.places == rankgauge.losses(judgments, {"wide": wide.run, "last": last.run}, k=2).places
