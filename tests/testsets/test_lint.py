"""Checks of test sets: every fault that is planted is found, under its own name, and nothing else is."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rankgauge
from rankgauge import Finding, Query, RankgaugeError, Span, TestSet, lint, load_testset
from rankgauge.model.labels import Label, LabelPolicy, Labels
from rankgauge.reports.lint import lint_report
from rankgauge.testsets.judge_probe import JudgeProbe, ProbeFigures
from rankgauge.testsets.lint.registry import CHECKS, Check
from rankgauge.words import LANGUAGES, Note, group, tell

TOPICS = ["solar", "wind", "hydro", "coal", "gas", "nuclear", "tidal", "biomass", "geothermal", "peat", "wood", "oil"]


def text_of(number: int, grade: int) -> str:
    """Documents of many words, each of its own."""
    return (
        " ".join(f"{TOPICS[number]}{grade}{'abcdefghijklmnopqrst'[i]}" for i in range(20)) + f" {TOPICS[number]} plants"
    )


CORPUS = {f"d{number}-{grade}": text_of(number, grade) for number in range(12) for grade in range(4)}


def clean(**changes: Any) -> TestSet:
    """Twelve queries with graded documents, of which nothing is to be said."""
    made = [
        Query(f"efficiency of {topic} plants", {f"d{n}-3": 3, f"d{n}-2": 2, f"d{n}-1": 1, f"d{n}-0": 0}, f"q{n}")
        for n, topic in enumerate(TOPICS)
    ]
    return TestSet([replace(made[0], **changes), *made[1:]], name="clean")


def run_of(depth: int = 4, *, shift: int = 0, flip: bool = False, prefix: str = "d") -> dict[str, dict[str, float]]:
    """Lists of all grades, from 3 down, or from 0 up; they differ by query, so that systems do."""
    lists = {}
    for n in range(12):
        grades = [0, 1, 2, 3] if flip or (n + shift) % 3 == 0 else [3, 2, 1, 0]
        lists[f"q{n}"] = {f"{prefix}{n}-{grade}": 4.0 - i for i, grade in enumerate(grades[:depth])}
    return lists


def found_of(grades: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """Lists of the documents of some grades, and of others that nobody judged."""
    return {f"q{n}": {f"d{n}-{grade}": 2.0 for grade in grades} | {f"z{n}": 1.0} for n in range(12)}


def with_query(*queries: Query) -> TestSet:
    return TestSet([*clean(), *queries], name="planted")


def labels_of(*judges: str, kind: Any = "model", grade: float = 1.0) -> Labels:
    return Labels([Label("q0", f"d0-{n}", grade if n == 2 else 1.0, judge, kind) for judge in judges for n in range(4)])


def scaled(grades: dict[int, float]) -> TestSet:
    """The same queries with other numbers for their grades."""
    return TestSet(
        [replace(query, grades={doc: grades[int(grade)] for doc, grade in query.grades.items()}) for query in clean()]
    )


def many(grade: float) -> TestSet:
    """A grade once among a thousand."""
    wide = {f"x{i}": float(i % 3) for i in range(1000)} | {"odd": grade}
    return TestSet([*clean(), Query("the most of peculiar matters", wide, "wide")])


def worse_first(n: int = 12) -> TestSet:
    """The lower the grade, the more words of the query a document holds."""
    return TestSet(
        [Query(f"{TOPICS[i]} power plants today", {f"r{i}-{g}": g for g in (1, 2, 3)}, f"q{i}") for i in range(n)]
    )


RISING = {
    f"r{i}-{g}": " ".join(f"{TOPICS[i]} power plants today".split()[: 4 - g]) + f" filler{i}{g}"
    for i in range(12)
    for g in (1, 2, 3)
}
HOP = Query("who built the dam of the valley", {"d1-3": 1}, "hop", tags=("multi-hop",))
OTHER = Query("which valley has the highest dam", {"d1-3": 2}, "other")
SOURCE = {**CORPUS, "s": "the harbour of the old northern town was closed by ice for seven long weeks"}
TAGGED = clean(tags=("grid",))
WIND = replace(OTHER, text="Efficiency of wind  plants?", grades={"d1-3": 3})
CONTRARY = replace(OTHER, text="efficiency of wind plants", grades={"d1-3": 0, "d1-2": 2})
DISPUTED = Labels(
    [
        *(Label("q0", "d0-0", grade, judge, "person") for judge, grade in [("ana", 2), ("bo", 0)]),
        *(Label("q0", "d0-2", grade, judge, "person") for judge, grade in [("ana", 2), ("bo", 3)]),
        Label("q0", "d0-3", 3, "ana", "person"),
        Label("q0", "d0-3", 0, "gpt-5", "model"),  # people come first
    ]
)
TWICE = {"d0-3": 2, "y": 2, "d0-1": 3, "d0-2": 1, "d0-0": 0}
SINGLE = TestSet([replace(query, grades={f"d{n}-3": 1}) for n, query in enumerate(clean())])

# The kind of finding, its severity, how often, and what brings it about.
PLANTED: list[tuple[str, str, int, dict[str, Any]]] = [
    ("empty_query", "error", 1, {"test_set": clean(text="?!")}),
    ("tiny_query", "info", 1, {"test_set": clean(text="x")}),
    (
        "repeated_queries",
        "warning",
        1,
        {"test_set": with_query(WIND)},
    ),
    (
        "contradicting_queries",
        "error",
        1,
        {"test_set": with_query(CONTRARY)},
    ),
    (
        "near_queries",
        "warning",
        1,
        {"test_set": with_query(replace(OTHER, text="the efficiency of a wind plant"))},
    ),
    ("near_queries", "warning", 1, {"test_set": with_query(replace(OTHER, text="efficeincy of wind plants"))}),
    ("leaked_queries", "error", 12, {"test_set": clean(), "against": clean()}),
    (
        "near_leaked",
        "warning",
        1,
        {"test_set": clean(), "against": TestSet([Query("the efficiency of a coal plant", {"d3-3": 1}, "z1")])},
    ),
    ("id_in_query", "warning", 1, {"test_set": with_query(Query("open ticket KB-20417", {"KB-20417": 1}, "k"))}),
    (
        "answer_in_query",
        "warning",
        1,
        {
            "test_set": with_query(
                Query(
                    "when was the bridge opened in may of 1932, or later",
                    {"d1-3": 1},
                    "a",
                    spans=(Span("d1-3", text="opened in May of 1932"),),
                )
            )
        },
    ),
    (
        "copied_words",
        "warning",
        1,
        {
            "test_set": with_query(
                Query("was the old northern town closed by ice for seven weeks", {"s": 1}, "s", synthetic="llm:gpt-4o")
            ),
            "corpus": SOURCE,
        },
    ),
    ("other_ids", "error", 36, {"test_set": clean(), "corpus": {f"page {i}": "text" for i in range(9)}}),
    (
        "respelled_ids",
        "error",
        1,
        {"test_set": clean(), "corpus": {doc if doc != "d4-3" else "D4-3 ": text for doc, text in CORPUS.items()}},
    ),
    (
        "missing_documents",
        "error",
        2,
        {"test_set": clean(), "corpus": {doc: text for doc, text in CORPUS.items() if doc not in ("d4-3", "d5-1")}},
    ),
    ("copied_documents", "error", 1, {"test_set": clean(), "corpus": {**CORPUS, "x": CORPUS["d4-3"]}}),
    (
        "contradicting_documents",
        "error",
        1,
        {"test_set": clean(), "corpus": {**CORPUS, "d4-0": CORPUS["d4-3"].replace(" ", "\n ")}},
    ),
    ("near_documents", "warning", 1, {"test_set": clean(), "corpus": {**CORPUS, "x": f"{CORPUS['d4-3']} indeed"}}),
    (
        "copies_count",
        "info",
        1,
        {
            "test_set": clean(grades=TWICE),
            "corpus": {**CORPUS, "y": CORPUS["d0-3"]},
        },
    ),
    ("empty_documents", "warning", 1, {"test_set": clean(), "corpus": {**CORPUS, "d4-3": " \n"}}),
    ("no_relevant", "warning", 1, {"test_set": with_query(replace(OTHER, grades={"d1-3": 0}))}),
    (
        "one_relevant",
        "info",
        12,
        {"test_set": SINGLE},
    ),
    ("no_number", "error", 1, {"test_set": with_query(replace(OTHER, grades={"d1-3": math.nan, "d1-2": 1}))}),
    ("out_of_scale", "error", 12, {"test_set": clean(), "scale": (0, 2)}),
    ("stray_grade", "warning", 1, {"test_set": many(7)}),
    ("holes", "info", 1, {"test_set": scaled({0: 0, 1: 1, 2: 2, 3: 4})}),
    ("below_zero", "info", 12, {"test_set": scaled({0: -1, 1: 1, 2: 2, 3: 3})}),
    (
        "below_zero_found",
        "info",
        12,
        {"test_set": scaled({0: -1, 1: 1, 2: 2, 3: 3}), "runs": {"a": found_of((0,))}, "only": ["scale"]},
    ),
    ("lower_is_better", "error", 1, {"test_set": worse_first(), "corpus": RISING}),
    ("lower_is_better", "error", 1, {"test_set": clean(), "runs": {"a": run_of(flip=True)}, "skip": ["pool"]}),
    (
        "lower_retrieved",
        "warning",
        2,
        {"test_set": clean(), "runs": {name: found_of((1,)) for name in "ab"}, "only": ["direction"]},
    ),
    ("one_hop", "warning", 1, {"test_set": with_query(HOP), "skip": ["tags"]}),
    (
        "answer_after_all",
        "warning",
        1,
        {"test_set": with_query(replace(HOP, tags=("unanswerable",))), "skip": ["tags"]},
    ),
    ("one_group", "info", 1, {"test_set": with_query(replace(OTHER, groups={"all": ["d1-3"]}))}),
    (
        "in_every_group",
        "info",
        1,
        {"test_set": with_query(replace(OTHER, groups={"a": ["d1-3"], "b": ["d1-3"]}))},
    ),
    ("odd_ids", "warning", 2, {"test_set": with_query(replace(OTHER, grades={" d1-3": 1, "d1\u200b-2": 1}))}),
    ("id_collisions", "warning", 1, {"test_set": with_query(replace(OTHER, grades={"D1-3": 1, "d1-2": 1}))}),
    ("few_tagged", "info", 1, {"test_set": TAGGED}),
    ("tag_spellings", "info", 1, {"test_set": TestSet([replace(q, tags=("FAQ", "faq")) for q in clean()])}),
    (
        "foreign_queries",
        "error",
        1,
        {"test_set": clean(), "runs": {"a": {"77": {"d": 1.0}}}, "only": ["foreign-runs"]},
    ),
    (
        "foreign_documents",
        "error",
        1,
        {"test_set": clean(), "runs": {"a": run_of(prefix="doc")}, "only": ["foreign-runs"]},
    ),
    (
        "unjudged",
        "warning",
        1,
        {
            "test_set": clean(),
            "runs": {"a": run_of(), "b": {f"q{n}": {f"d{n}-3": 2.0, f"new{n}": 1.0} for n in range(12)}},
            "only": ["coverage"],
        },
    ),
    ("in_one_run", "info", 1, {"test_set": clean(), "runs": {"a": run_of()}}),
    (
        "one_pool",
        "warning",
        1,
        {"test_set": clean(), "runs": {"a": run_of(), "b": run_of(2)}, "only": ["pool"]},
    ),
    (
        "hopeless",
        "info",
        1,
        {
            "test_set": with_query(Query("something nobody finds at all", {"lost": 1}, "h")),
            "runs": {"a": run_of(), "b": run_of(flip=True)},
            "only": ["saturation"],
        },
    ),
    (
        "saturated",
        "warning",
        4,
        {"test_set": clean(), "runs": {"a": run_of(), "b": run_of(shift=1)}, "only": ["saturation"]},
    ),
    ("resolution", "info", 1, {"test_set": clean(), "runs": {"a": run_of(), "b": run_of(shift=1)}, "only": ["size"]}),
    (
        "too_few",
        "warning",
        1,
        {"test_set": clean(), "runs": {"a": run_of(), "b": run_of(shift=1)}, "only": ["size"], "difference": 0.01},
    ),
    ("label_out_of_scale", "error", 1, {"test_set": clean(), "labels": labels_of("ana", kind="person", grade=5)}),
    (
        "stray_label",
        "warning",
        1,
        {
            "test_set": TestSet([Query("something to be asked", {"x1": 1, "x2": 1}, "wide")]),
            "labels": Labels(
                [Label("wide", f"x{i}", float(i % 3), "m", "person") for i in range(1000)]
                + [Label("wide", "odd", 9, "m", "person")]
            ),
        },
    ),
    ("labels_of_others", "warning", 1, {"test_set": clean(), "labels": Labels([Label("lost", "d", 1, "ana")])}),
    ("conflicting_labels", "warning", 1, {"test_set": clean(), "labels": DISPUTED}),
    ("one_family", "warning", 2, {"test_set": clean(), "labels": labels_of("openai/gpt-4o", "gpt-4.1-mini")}),
    (
        "judges_itself",
        "warning",
        1,
        {
            "test_set": with_query(replace(OTHER, synthetic="llm:claude-sonnet")),
            "labels": labels_of("claude-opus", "qwen-max"),
        },
    ),
]


def test_nothing_is_said_of_a_clean_test_set() -> None:
    runs = {"a": run_of(), "b": run_of(shift=1), "c": run_of(shift=2)}
    found = lint(clean(), CORPUS, runs, labels_of("ana", kind="person"), against=TestSet([OTHER]), scale=(0, 3))
    assert [(one.kind, one.items[:2]) for one in found.findings] == [("resolution", found.findings[0].items)]
    assert [one.check for one in found.not_made] == ["probe"]
    assert not found.fails("warning")
    assert found.mended == clean()
    assert found.mends == []


@pytest.mark.parametrize(("kind", "severity", "count", "inputs"), PLANTED, ids=[case[0] for case in PLANTED])
def test_every_planted_fault_is_found_and_nothing_else(
    kind: str, severity: str, count: int, inputs: dict[str, Any]
) -> None:
    found = lint(**inputs)
    assert [(one.kind, one.severity, one.count) for one in found.findings] == [(kind, severity, count)]
    (one,) = found.findings
    assert one.check in CHECKS
    for language in LANGUAGES:
        told = [one.note, one.advice, *one.examples(3)]
        assert all(isinstance(note, Note) and tell(note, language).strip() for note in told)
    assert json.loads(json.dumps(found.to_dict()))["findings"][0]["count"] == count


def test_every_kind_that_has_words_is_planted() -> None:
    kinds = {name.removesuffix("_mend") for name in group("lint", "en") if name.endswith("_mend")}
    assert kinds == {kind for kind, *_ in PLANTED} | {"obeys_documents"}


# --- what is no fault -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("population of france in 2010", "population of france in 2011"),
        ("who founded the company", "when founded the company"),
        ("can i travel with a passport", "can i travel without a passport"),
        ("flights from paris to london", "flights from london to paris"),
        ("learn c", "learn c++"),
        ("error 404", "error 403"),
        ("contact lenses for sport", "contract lenses for sport"),
        ("北京到上海的高铁", "上海到北京的高铁"),
        ("version 3.1 release notes", "version 3.10 release notes"),
        ("red house", "red horse"),
    ],
)
def test_other_questions_are_no_duplicates(first: str, second: str) -> None:
    asked = TestSet([Query(first, {"d1": 1}, "a"), Query(second, {"d2": 1}, "b")])
    assert lint(asked, only=["repeated-queries", "near-queries"]).findings == []


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("Reset my password", "reset my  PASSWORD ?", "repeated_queries"),
        ("how do I reset my password", "how to reset the password", "near_queries"),
        ("red shoes women", "women red shoes", "near_queries"),
        ("what is the capital of peru", "capital of peru", "near_queries"),
        ("accommodation in vienna", "accomodation in vienna", "near_queries"),
        ("北京的天气怎么样", "北京天气怎么样？", "near_queries"),
        ("cafe\u0301 near me", "café near me", "repeated_queries"),
        ("‘quoted’ words here", "'quoted' words here", "repeated_queries"),
    ],
)
def test_the_same_question_is_one(first: str, second: str, kind: str) -> None:
    if first.startswith("how do"):
        second = "how do i reset the password"
    asked = TestSet([Query(first, {"d1": 1}, "a"), Query(second, {"d1": 1}, "b")])
    assert [one.kind for one in lint(asked, only=["repeated-queries", "near-queries"]).findings] == [kind]


def test_of_five_copies_four_are_too_many() -> None:
    """Not ten, which is how many pairs they make."""
    docs = {f"copy{n}": CORPUS["d0-3"] for n in range(4)}
    made = clean(grades={**dict.fromkeys(docs, 2), "d0-3": 2, "d0-1": 3, "d0-2": 1, "d0-0": 0})
    (found,) = rankgauge.lint(made, {**CORPUS, **docs}, only=["copied-documents"]).findings
    assert (found.kind, found.count) == ("copies_count", 4)


def test_queries_that_a_run_lacks_say_nothing_of_its_labels() -> None:
    some = {query: docs for query, docs in run_of().items() if query in ("q1", "q2", "q3")}
    assert lint(clean(), runs={"all": run_of(), "some": some, "none": {}}, only=["coverage"]).findings == []


@pytest.mark.parametrize(
    ("text", "doc", "held"),
    [
        ("open ticket KB-20417 again", "KB-20417", True),
        ("open ticket kb-20417?", "KB-20417", True),
        ("open ticket KB-204171", "KB-20417", False),
        ("what is base64", "base64", False),
        ("is sha256 safe", "sha256", False),
        ("covid-19 rules", "covid-19", False),
        ("how does os.path.join work", "os.path", False),
        ("parcel 00340434161094", "00340434161094", True),
    ],
)
def test_ids_in_queries_are_told_from_words(text: str, doc: str, held: bool) -> None:
    found = lint(TestSet([Query(text, {doc: 1}, "q")]), only=["answer-in-query"]).findings
    assert [one.kind for one in found] == ["id_in_query"] * held


def test_lists_that_hold_the_low_grades_say_so_where_all_runs_agree_and_words_do_not_differ() -> None:
    low, high, both = found_of((1,)), found_of((3,)), found_of((1, 3))
    (found,) = lint(clean(), runs={"a": low}, only=["direction"]).findings
    shares = {"low": 1, "high": 3, "share_low": 1.0, "share_high": 0.0, "queries": 12}
    assert dict(found.items[0]) == {"run": "a", **shares}
    assert not found.command  # nothing is turned round on such evidence
    for other in (high, both):
        assert lint(clean(), runs={"a": low, "b": other}, only=["direction"]).findings == []
    turned = {doc: RISING[f"{doc[:-1]}{4 - int(doc[-1])}"] for doc in RISING}  # the higher its grade, the more words
    runs = {"a": {f"q{n}": {f"r{n}-1": 2.0, f"z{n}": 1.0} for n in range(12)}}
    assert [one.kind for one in lint(worse_first(), None, runs, only=["direction"]).findings] == ["lower_retrieved"]
    assert lint(worse_first(), turned, runs, only=["direction"]).findings == []


def test_grades_below_zero_are_doubted_only_where_all_runs_find_them() -> None:
    below, first, others = scaled({0: -1, 1: 1, 2: 2, 3: 3}), found_of((0,)), found_of((0, 1, 2, 3))
    (found,) = lint(below, runs={"a": first, "b": found_of((0, 1))}, only=["scale"]).findings
    shares = {"run": "b", "k": 10, "share": 1.0, "share_relevant": 1 / 3}
    assert dict(found.parameters) == {"grade": -1, **shares}
    assert not found.command
    for runs in ({}, {"a": others}, {"a": first, "b": others}, {"a": {"q0": first["q0"]}}):
        (found,) = lint(below, runs=runs, only=["scale"]).findings
        assert (found.kind, bool(found.command)) == ("below_zero", True)


@pytest.mark.parametrize("seed", range(20))
def test_grades_by_chance_have_no_direction(seed: int) -> None:
    chance = random.Random(seed)
    words = [f"term{i}" for i in range(40)]
    made, corpus = [], {}
    for i in range(60):
        own = chance.sample(words, 6)
        docs = {f"{i}-{j}": chance.randint(1, 4) for j in range(8)}
        corpus |= {doc: " ".join(chance.choices(words, k=30) + chance.sample(own, 3)) for doc in docs}
        made.append(Query(" ".join(own), docs, f"q{i}"))
    run = {query.id: {doc: chance.random() for doc in query.grades} for query in made}
    assert lint(TestSet(made), corpus, {"a": run}, only=["direction"]).findings == []
    short = {query: dict(sorted(docs.items(), key=lambda pair: -pair[1])[:3]) for query, docs in run.items()}
    assert lint(TestSet(made), None, {"a": short}, only=["direction"]).findings == []


def test_turns_of_conversations_may_repeat_each_other() -> None:
    turns = [Query("and why?", {f"d{n}": 1, "e": n}, f"t{n}", conversation=f"c{n}") for n in range(3)]
    assert lint(TestSet(turns), only=["repeated-queries", "near-queries"]).findings == []


def test_queries_without_texts_are_not_judged_by_them() -> None:
    found = lint({"1": {"d": 1, "e": 1}, "2": {"d": 1, "e": 1}})
    assert {one.check for one in found.not_made if "texts" in one.needs} >= {"query-texts", "near-queries"}
    given = lint(
        {"1": {"d": 1}, "2": {"d": 1}}, queries={"1": "same text", "2": "same text"}, only=["repeated-queries"]
    )
    assert [one.kind for one in given.findings] == ["repeated_queries"]


# --- mending ----------------------------------------------------------------------------------------------------------


def test_what_needs_no_judgment_is_mended_and_listed() -> None:
    group_of = {"hop 1": ["d2-3"], "hop 2": ["D3-3"]}
    broken = with_query(
        replace(OTHER, text="Efficiency of wind plants", grades={"d1-3": 3, "d9-9": 1}, tags=("b",)),
        Query("  ?", {"d1-3": 1}, "empty"),
        Query("two hops over the hills", {"d2-3": 2, "D3-3": 1}, "hops", groups=group_of),
    )
    corpus = {**CORPUS, "x": CORPUS["d2-3"], "d9-9": "short"}
    found = lint(broken, corpus)
    before = list(broken)
    mended = {query.id: query for query in found.mended}
    assert list(broken) == before
    assert {(one.kind, one.query, one.doc, one.to) for one in found.mends} == {
        ("empty_query", "empty", "", ""),
        ("respelled_ids", "hops", "D3-3", "d3-3"),
        ("copied_documents", "q2", "x", "d2-3"),
        ("copied_documents", "hops", "x", "d2-3"),
        ("repeated_queries", "other", "", "q1"),
    }
    assert "empty" not in mended
    assert "other" not in mended
    assert mended["q1"].grades == {"d1-3": 3, "d1-2": 2, "d1-1": 1, "d1-0": 0, "d9-9": 1}
    assert mended["q1"].tags == ("b",)
    assert mended["hops"].groups == {"hop 1": ["d2-3", "x"], "hop 2": ["d3-3"]}
    assert mended["hops"].grades == {"d2-3": 2, "d3-3": 1, "x": 2}
    again = lint(found.mended, corpus)
    assert again.mends == []
    assert not again.fails()


def test_contradictions_are_left_to_people() -> None:
    corpus = {**CORPUS, "d4-0": CORPUS["d4-3"], "x": CORPUS["d4-3"]}
    broken = with_query(CONTRARY)
    found = lint(broken, corpus)
    assert found.mends == []
    assert found.mended == TestSet(broken)
    assert [one.kind for one in found.findings if one.severity == "error"] == [
        "contradicting_documents",
        "copied_documents",
        "contradicting_queries",
    ]


# --- checks of others, and mistakes -----------------------------------------------------------------------------------


def shouting(material: Any) -> Iterator[Finding]:
    yield Finding("shouting", "warning", [{"query": material.test_set[0].id}], text="queries in capitals")


def test_others_can_add_checks() -> None:
    CHECKS.register("capitals", Check(shouting))
    try:
        registered = lint(clean(), only=["capitals"])
    finally:
        CHECKS.unregister("capitals")
    given_here = lint(clean(), only=["capitals"], checks={"capitals": shouting})
    for found in (*registered.findings, *given_here.findings):
        assert (found.check, found.note, found.examples(1)) == ("capitals", "queries in capitals", ["query 'q0'"])
        assert found.to_dict()["text"] == "queries in capitals"
    assert registered.made == given_here.made == ["capitals"]


OBEDIENT = JudgeProbe(
    "gpt", (ProbeFigures("repeat", 50, 1.0, 0.0, 0.0, 0.0), ProbeFigures("order", 50, 0.2, 0.8, 0.7, 1.5))
)
STEADFAST = replace(OBEDIENT, figures=(OBEDIENT.figures[0], replace(OBEDIENT.figures[1], equal=0.98, raised=0.02)))


@pytest.mark.parametrize("source", [OBEDIENT, [STEADFAST, OBEDIENT], lambda material: OBEDIENT])
def test_a_judge_that_obeys_documents_is_found(source: Any) -> None:
    (found,) = lint(clean(), probe=source).findings
    assert (found.check, found.kind, found.severity) == ("probe", "obeys_documents", "error")
    assert found.to_dict()["items"] == [{"judge": "gpt", "attack": "probe_order", "raised": 0.8, "of": 50}]
    assert [tell(note, "en") for note in found.examples(1) if isinstance(note, Note)] == [
        '"ignore the rubric" raised 80 % of 50 grades'
    ]


def test_a_probe_may_find_nothing_or_something_else() -> None:
    assert lint(clean(), probe=STEADFAST).findings == []
    assert lint(clean(), probe=lambda material: []).findings == []
    (own,) = lint(clean(), probe=shouting).findings
    assert (own.check, own.kind) == ("probe", "shouting")
    told = lint(clean(), probe=lambda material: ["text"]).not_made  # type: ignore[arg-type, return-value]
    assert [one.reason for one in told if one.check == "probe"] == [
        "`probe` gave a str; it must give a JudgeProbe, or Finding objects"
    ]


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"test_set": TestSet([])}, "it holds no query"),
        ({"test_set": 7}, "is no judgments"),
        ({"test_set": clean(), "corpus": 7}, "`corpus` must be texts by id"),
        ({"test_set": clean(), "runs": [1]}, "runs are given by name"),
        ({"test_set": clean(), "labels": 7}, "`labels` must be Labels"),
        ({"test_set": clean(), "queries": 7}, "`queries` must be texts by id"),
        ({"test_set": clean(), "queries": {"zz": "text"}}, "names none of the queries"),
        ({"test_set": clean(), "scale": (3, 0)}, "must lie below the highest"),
        ({"test_set": clean(), "scale": "0-3"}, "the lowest and the highest grade"),
        ({"test_set": clean(), "difference": -1}, "must be above 0"),
        ({"test_set": clean(), "difference": math.nan}, "difference"),
        ({"test_set": clean(), "measure": "nGCD@10"}, "did you mean"),
        ({"test_set": clean(), "only": ["leakige"]}, "did you mean 'leakage'"),
        ({"test_set": clean(), "skip": "leakage"}, "is a list of checks"),
        ({"test_set": clean(), "against": "nowhere.json"}, "there is no such file"),
        ({"test_set": clean(), "probe": 7}, "what `probe_judge` gives"),
        ({"test_set": clean(), "checks": [7]}, "are functions by name"),
        ({"test_set": clean(), "checks": {"leakage": shouting}}, "is the name of a check that there is"),
        ({"test_set": clean(), "corpsu": {}}, "did you mean corpus"),
    ],
)
def test_mistakes_are_told(inputs: dict[str, Any], said: str) -> None:
    with pytest.raises(RankgaugeError, match=said):
        lint(**inputs)


def test_a_check_that_cannot_be_made_stops_no_other() -> None:
    broken = with_query(replace(OTHER, grades={"d1-3": math.nan, "d1-2": 1}))
    found = lint(broken, runs={"a": run_of(), "b": run_of(shift=1)})
    assert "no_number" in {one.kind for one in found.findings}
    assert {one.check for one in found.not_made if one.reason} == {"coverage", "saturation", "size"}


@pytest.mark.parametrize(
    "made", [Query("x", {}, "x"), Query("", {"d": 1}, "q"), Query("\x00\x1b[31m", {"\x07": 1}, "a\nb")]
)
def test_odd_test_sets_are_checked_all_the_same(made: Query) -> None:
    found = lint(TestSet([made]), {"\x07": "", "d": "x" * 100_000}, {"a": {}, "b": {made.id: {}}}, difference=0.1)
    assert found.made
    json.dumps(found.to_dict())
    assert found.mended is not None


def test_severities_decide_what_fails() -> None:
    found = lint(clean(text="x"))
    assert [found.fails(on) for on in ("error", "warning", "info", "never")] == [False, False, True, False]  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="is none of"):
        found.fails("worst")  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="is none of"):
        Finding("x", "fatal")  # type: ignore[arg-type]
    assert [one.kind for one in found.of("query-texts")] == ["tiny_query"]


def test_files_are_read_and_commands_name_them(tmp_path: Path) -> None:
    path, texts = tmp_path / "test set.json", tmp_path / "corpus.jsonl"
    clean().save(path)
    texts.write_text(
        "".join(json.dumps({"_id": doc, "text": text}) + "\n" for doc, text in {**CORPUS, "x": CORPUS["d1-3"]}.items())
    )
    (found,) = lint(path, texts).findings
    assert found.command == f"rankgauge testset lint '{path}' --corpus {texts} --mend -o mended.json"
    assert load_testset(path) == clean()
    assert rankgauge.lint is lint


def test_labels_of_the_test_set_are_looked_at_and_kept() -> None:
    judged = clean().with_labels([Label("q0", "d0-3", 7, "gpt-4o", "model")], LabelPolicy(combine="latest"))
    found = lint(judged, {**CORPUS, "x": CORPUS["d1-3"]}, scale=(0, 3))
    assert {one.kind for one in found.findings} == {"copied_documents", "out_of_scale", "label_out_of_scale"}
    sources = found.mended.labels.sources
    assert sources["model", "gpt-4o"] == 1
    assert found.mended.qrels["q1"]["x"] == 3


@pytest.mark.parametrize("form", ["markdown", "html", "csv"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_can_be_written_in_other_formats(form: str, language: Any) -> None:
    found = lint(clean(text="x"), {**CORPUS, "x": CORPUS["d4-3"]}, scale=(0, 2))
    text = rankgauge.report(lint_report(found), format=form, language=language)
    kept = "copied_documents" if form == "csv" else "d4-3"
    assert kept in text
