"""Test sets of other tools, in the layouts that these write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankgauge import RankgaugeError, Span, TestSet, convert, evaluate, load_corpus, load_qrels, load_testset
from rankgauge.formats.imports import LAYOUTS, layout_of

CONTEXT = "BM25 is a ranking function. It was made in London in the 1980s."
SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "Okapi",
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {
                            "id": "a1",
                            "question": "Where was BM25 made?",
                            "answers": [{"text": "London", "answer_start": 43}, {"text": "London", "answer_start": 43}],
                            "is_impossible": False,
                        },
                        {"id": "a2", "question": "Who sings it?", "answers": [], "is_impossible": True},
                    ],
                }
            ],
        }
    ],
}
QUOTED = (Span(text="A first passage."), Span(text="A second one."))
EXAMPLES: dict[str, Any] = {
    "ragas": [
        {
            "user_input": "what is it",
            "reference_contexts": ["A first passage.", "A second one."],
            "reference": "An answer.",
            "synthesizer_name": "single_hop_specifc_query_synthesizer",
        }
    ],
    "ragas-0.1": [
        {
            "question": "what is it",
            "contexts": ["A first passage.", "A second one."],
            "ground_truth": "An answer.",
            "evolution_type": "simple",
            "metadata": [{"source": "a.md"}],
            "episode_done": True,
        }
    ],
    "deepeval": [
        {
            "input": "what is it",
            "actual_output": None,
            "expected_output": "An answer.",
            "context": ["A first passage.", "A second one."],
            "source_file": "a.md",
        }
    ],
    "llamaindex-rag": {
        "examples": [
            {
                "query": "what is it",
                "query_by": {"model_name": "m", "type": "ai"},
                "reference_contexts": ["A first passage.", "A second one."],
                "reference_answer": "An answer.",
                "reference_answer_by": {"model_name": "m", "type": "ai"},
            }
        ]
    },
    "phoenix": [
        {
            "id": "RGF0YXNldEV4YW1wbGU6MQ==",
            "input": {"query": "what is it"},
            "output": {"answer": "An answer."},
            "metadata": {"reference_contexts": ["A first passage.", "A second one."]},
        }
    ],
    "langfuse": [
        {
            "id": "cm1",
            "status": "ACTIVE",
            "input": {"question": "what is it"},
            "expectedOutput": {"answer": "An answer.", "contexts": ["A first passage.", "A second one."]},
            "metadata": None,
            "sourceTraceId": None,
            "datasetName": "qa",
        }
    ],
}


def written(folder: Path, value: Any, name: str = "set.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("layout", EXAMPLES)
def test_questions_with_quoted_passages(tmp_path: Path, layout: str) -> None:
    value = EXAMPLES[layout]
    assert layout_of(value) is LAYOUTS[layout]
    for made in (load_testset(written(tmp_path, value)), load_testset(written(tmp_path, value), format=layout)):
        (query,) = made
        assert query.text == "what is it"
        assert query.spans == QUOTED
        assert query.grades == {}
    if isinstance(value, list):
        lines = tmp_path / "set.jsonl"
        lines.write_text("".join(json.dumps(item) + "\n" for item in [*value, {**value[0], "id": "2"}]))
        assert [query.spans for query in load_testset(lines)] == [QUOTED, QUOTED]


@pytest.mark.parametrize(
    ("layout", "wrap"),
    [
        ("langfuse", lambda items: {"data": items, "meta": {"page": 1, "totalItems": len(items)}}),
        ("langfuse", lambda items: {"id": "x", "name": "golden", "items": items}),
        ("phoenix", lambda items: {"data": {"dataset_id": "x", "examples": items}}),
    ],
)
def test_answers_of_an_api_are_read_as_their_entries(layout: str, wrap: Any, tmp_path: Path) -> None:
    """Read as judgments, such an answer would be one query, "data", with the items as its documents."""
    plain, paged = tmp_path / "plain.json", tmp_path / "paged.json"
    plain.write_text(json.dumps(EXAMPLES[layout]))
    paged.write_text(json.dumps(wrap(EXAMPLES[layout])))
    assert load_testset(paged) == load_testset(plain) == load_testset(paged, layout)


@pytest.mark.parametrize("layout", ["ragas", "deepeval", "langfuse"])
def test_tables_hold_lists_as_text(tmp_path: Path, layout: str) -> None:
    (item,) = EXAMPLES[layout]
    flat = {
        key: json.dumps(v) if isinstance(v, dict) else repr(v) if isinstance(v, list) else v for key, v in item.items()
    }
    pl.DataFrame([flat]).write_csv(tmp_path / "set.csv")
    (query,) = load_testset(tmp_path / "set.csv")
    assert (query.text, query.spans) == ("what is it", QUOTED)


def test_gold_ids_become_grades(tmp_path: Path) -> None:
    path = written(tmp_path, [{"user_input": "x", "reference_context_ids": ["d1", 7]}])
    assert load_testset(path)[0].grades == {"d1": 1.0, "7": 1.0}


def test_squad_has_spans_documents_and_questions_without_answer(tmp_path: Path) -> None:
    path = written(tmp_path, SQUAD)
    asked, silent = load_testset(path)
    assert asked.spans == (Span("Okapi#1", 43, 49, "London"),)
    assert asked.grades == {"Okapi#1": 1.0}
    assert silent.no_answer
    assert dict(load_corpus(path)) == {"Okapi#1": CONTEXT}


def test_llamaindex_pairs(tmp_path: Path) -> None:
    value = {
        "queries": {"q1": "what is it", "q2": "and that"},
        "corpus": {"n1": "A first passage.", "n2": "A second one."},
        "relevant_docs": {"q1": ["n1"], "q2": ["n1", "n2"]},
        "mode": "text",
    }
    path = written(tmp_path, value)
    assert load_qrels(path).to_dict() == {"q1": {"n1": 1.0}, "q2": {"n1": 1.0, "n2": 1.0}}
    assert load_corpus(path)["n2"] == "A second one."
    assert evaluate(path, {"q1": ["n1"], "q2": ["n2"]}, ["R@5"]).mean["R@5"] == 0.75


@pytest.mark.needs("data")
def test_opensearch_judgments(data: Path) -> None:
    made = load_testset(data / "esci" / "esci_us_judgments.json")
    assert (len(made), sum(len(query.grades) for query in made)) == (150, 6678)
    assert made[0].text == "t towels kitchen"
    assert made[0].grades["B07NCQWCQS"] == 100.0


def test_opensearch_answers_with_a_search_response(tmp_path: Path) -> None:
    """What GET _plugins/_search_relevance/judgments/ID gives: the list stands below hits."""
    ratings = [{"query": "red dress", "ratings": [{"docId": "B1", "rating": "3.000"}, {"docId": "B2", "rating": "0"}]}]
    hits = [
        {"_index": "search-relevance-judgment", "_id": name, "_source": {"name": name, "judgmentRatings": ratings}}
        for name in ("first", "second")
    ]
    answer = {"took": 3, "hits": {"total": {"value": 1, "relation": "eq"}, "hits": hits[:1]}}
    made = load_testset(written(tmp_path, answer))
    assert [(query.text, dict(query.grades)) for query in made] == [("red dress", {"B1": 3.0, "B2": 0.0})]
    with pytest.raises(RankgaugeError, match="2 lists of judgments: 'first', 'second'; ask for one by its id"):
        load_testset(written(tmp_path, {"hits": {"hits": hits}}))


def test_quepid_book_ratings_and_snapshots(tmp_path: Path) -> None:
    pairs = [
        {"query_text": "dog", "doc_id": "d1", "judgements": [{"rating": 3.0}, {"rating": 3.0}]},
        {"query_text": "dog", "doc_id": "d2", "judgements": [{"rating": 0.0}]},
        {"query_text": "cat", "doc_id": "d1", "judgements": []},
    ]
    (query,) = load_testset(written(tmp_path, {"name": "book", "query_doc_pairs": pairs}))
    assert query.grades == {"d1": 3.0, "d2": 0.0}
    pairs[0]["judgements"][1]["rating"] = 1.0
    with pytest.raises(RankgaugeError, match="entry 1: document 'd1' is rated 3 and 1"):
        load_testset(written(tmp_path, {"name": "book", "query_doc_pairs": pairs}))
    ratings, snapshot = tmp_path / "ratings.csv", tmp_path / "snapshot.csv"
    ratings.write_text('query,docid,rating\n"shoes, red",doc-1,3\n"shoes, red",doc-2,0\n')
    snapshot.write_text(
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
        'Weekly,2026-03-05T12:00:00Z,8,"shoes, red",doc-2,1\nWeekly,2026-03-05T12:00:00Z,8,"shoes, red",doc-1,2\n'
    )
    assert evaluate(ratings, snapshot, ["RR"]).mean["RR"] == 0.5
    for unrated in ("boots\n", "boots,,\n"):  # a query without ratings is a line with its text alone
        ratings.write_text(f"query,docid,rating\nshoes,doc-1,3\n{unrated}shoes,doc-2,0\n")
        assert load_qrels(ratings).to_dict() == {"shoes": {"doc-1": 3.0, "doc-2": 0.0}}
    ratings.write_text("query,docid,rating\nshoes,doc-1,3\nboots\nshoes,doc-2,\n")
    with pytest.raises(RankgaugeError, match="line 4: the grade None is no finite number"):
        load_qrels(ratings)


def test_what_a_system_retrieved_is_no_gold(tmp_path: Path) -> None:
    """An evaluated data set of ragas before 0.2: its contexts are those of the answer. Its test sets have none."""
    item = {"question": "what is it", "contexts": ["A first passage."], "ground_truth": "An answer."}
    assert load_testset(written(tmp_path, [item]))[0].spans == QUOTED[:1]
    answered = {**item, "answer": "It is an answer."}
    with pytest.raises(RankgaugeError, match='entry 1: its "contexts" are what was retrieved'):
        load_testset(written(tmp_path, [answered]))
    (query,) = load_testset(written(tmp_path, [{**answered, "reference_contexts": ["A second one."]}]))
    assert query.spans == QUOTED[1:]


def test_tables_as_their_tools_write_them(tmp_path: Path) -> None:
    golden = {"input": "what is it", "actual_output": None, "expected_output": "An answer.", "source_file": "a.md"}
    example = {"example_id": "RGF0", "input_query": "what is it", "output_answer": "An answer.", "metadata_topic": "x"}
    quoted = "['A first passage.', 'A second one.']"
    item = {"id": "cm1", "input": '{"question": "what is it"}', "metadata": '{"topic": "x"}'}
    contexts = json.dumps({"contexts": ["A first passage.", "A second one."]})
    for row in (
        {**golden, "context": "A first passage.|A second one."},
        {**example, "metadata_reference_contexts": quoted},
        {**item, "expected_output": contexts},
    ):
        pl.DataFrame([row]).write_csv(tmp_path / "set.csv")
        (query,) = load_testset(tmp_path / "set.csv")
        assert (query.text, query.spans) == ("what is it", QUOTED)


@pytest.mark.parametrize("judged", ["qrels/test-00000-of-00001.parquet", "data/test-00000-of-00001.parquet"])
def test_mteb_folders(tmp_path: Path, judged: str) -> None:
    for place, rows in {
        judged: {"query-id": ["q1"], "corpus-id": ["d1"], "score": [1]},
        "queries/queries-00000-of-00001.parquet": {"_id": ["q1"], "text": ["what is it"]},
        "corpus/corpus-00000-of-00002.parquet": {"_id": ["d1"], "title": ["T"], "text": ["A first passage."]},
        "corpus/corpus-00001-of-00002.parquet": {"_id": ["d2"], "title": [""], "text": ["A second one."]},
    }.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        pl.DataFrame(rows).write_parquet(tmp_path / place)
    (query,) = load_testset(tmp_path)
    assert (query.id, query.text, query.grades) == ("q1", "what is it", {"d1": 1.0})
    assert dict(load_corpus(tmp_path)) == {"d1": "T\nA first passage.", "d2": "A second one."}


def test_convert_writes_them_as_our_own(tmp_path: Path) -> None:
    convert(str(written(tmp_path, SQUAD)), str(tmp_path / "own.json"))
    assert TestSet.load(tmp_path / "own.json") == load_testset(tmp_path / "set.json")
    pl.DataFrame({"user_input": ["x"], "reference_contexts": ["['A passage.']"]}).write_csv(tmp_path / "t.csv")
    convert(str(tmp_path / "t.csv"), str(tmp_path / "t.json"), form="ragas")
    assert TestSet.load(tmp_path / "t.json")[0].spans == (Span(text="A passage."),)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([{"user_input": "x"}, {"user_input": "y"}], "entry 2: it names no document that answers it"),
        ([{"user_input": "", "reference_contexts": ["p"]}], "no text under 'user_input'"),
        ([{"input": {"a": 1}, "output": {}}], "its input has no question"),
        ({"examples": [{"query": "x", "reference_contexts": [3]}]}, "a passage that it quotes is no text"),
        ({"judgmentRatings": [{"query": "x", "ratings": [{"docId": "d", "rating": "?"}]}]}, "'\\?' is no number"),
        ({"judgmentRatings": 3}, "must be a list of objects"),
        ({**SQUAD, "data": [{"title": "t", "paragraphs": [{"context": "abc", "qas": [
            {"id": "1", "question": "q", "answers": [{"text": "x", "answer_start": 1}]}]}]}]},
         "'t#1', entry 1: its answer 'x' does not stand at 1|does not stand at 1"),
        ({"queries": {"q": "x"}, "corpus": {}, "relevant_docs": {}}, "query 'q' has no text or no relevant_docs"),
        ([{"user_input": "x", "reference_contexts": ["p"]}] * 2, "same id"),
    ],
)  # fmt: skip
def test_faults_name_entry_and_remedy(tmp_path: Path, value: Any, words: str) -> None:
    with pytest.raises(RankgaugeError, match=words):
        load_testset(written(tmp_path, value))


def test_a_format_that_is_not_known_lists_both_kinds(tmp_path: Path) -> None:
    with pytest.raises(RankgaugeError, match=r"known are: trec, .*; of other tools: squad, .*ragas"):
        load_testset(written(tmp_path, []), format="raga")
