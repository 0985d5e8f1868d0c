"""What people write first with a vector store: raw answers, batch embedding functions, ids that match by chance."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from rankgauge import TestSet, evaluate, evaluate_retriever, evaluate_retrievers, sweep
from rankgauge.errors import DataError, RetrieverError
from rankgauge.live.evaluation import RetrievalError
from rankgauge.retrievers import from_chroma, from_haystack, from_qdrant, from_vespa
from rankgauge.retrievers.hits import hits_of

QUERIES = {f"what is the subject number {i}": {f"{i}": 1.0, f"{i + 1}": 1.0} for i in range(20)}


def number(query: str) -> int:
    return int(query.split()[-1])


def test_a_raw_answer_of_chroma() -> None:
    raw = {
        "ids": [["a", "b"]],
        "distances": [[0.1, 0.4]],
        "metadatas": [[{"doc_id": "d1"}, {"doc_id": "d2"}]],
        "documents": None,
        "embeddings": None,
    }
    hits, faults = hits_of(raw, 2)
    assert [(hit.id, hit.score) for hit in hits] == [("a", -0.1), ("b", -0.4)]
    assert faults == []
    assert [hit.id for hit in hits_of(raw, 2, id_field="metadata.doc_id")[0]] == ["d1", "d2"]
    assert hits_of({"ids": [[]], "distances": [[]]}, 2)[0] == []
    for several in ({"ids": [["a"], ["b"]]}, {"ids": [["a", "b"]], "distances": [[0.1]]}):
        with pytest.raises(RetrieverError):
            hits_of(several, 2)


@pytest.mark.parametrize("batched", [True, False])
def test_chroma_with_either_kind_of_embedding(batched: bool) -> None:
    class Collection:
        name = "docs"

        def query(self, **asked: Any) -> Any:
            assert asked["query_embeddings"] == [[19.0, 1.0]]
            return {"ids": [["a"]], "distances": [[0.5]]}

    def one(text: str) -> list[float]:
        return [float(len(text)), 1.0]

    searcher = from_chroma(Collection(), embed=(lambda texts: [one(text) for text in texts]) if batched else one)
    assert searcher.search("nineteen characters", 1) == [("a", -0.5)]


class Pipeline:
    def __init__(self, outputs: Mapping[str, Any]) -> None:
        self.outputs = outputs

    def run(self, data: Any, include_outputs_from: Any) -> Any:
        return self.outputs


def test_the_documents_of_a_pipeline_are_found_by_themselves() -> None:
    asked = {"bm25": {"query": "{query}", "top_k": "{k}"}}
    found = {"bm25": {"documents": [{"id": "a"}]}, "splitter": {"stats": 1}}
    assert [hit.id for hit in from_haystack(Pipeline(found), asked).search("x", 1)] == ["a"]
    two = {**found, "dense": {"documents": [{"id": "b"}]}}
    with pytest.raises(RetrieverError, match=r"its outputs: output='bm25.documents', .*output='dense.documents'"):
        from_haystack(Pipeline(two), asked).search("x", 1)
    assert [hit.id for hit in from_haystack(Pipeline(two), asked, output="dense.documents").search("x", 1)] == ["b"]


class Points:
    """As Qdrant's client: the ids of its points are numbers, which are ids of documents too."""

    def get_collection(self, name: str) -> Any:
        vectors = SimpleNamespace(distance="Cosine")
        return SimpleNamespace(config=SimpleNamespace(params=SimpleNamespace(vectors=vectors)))

    def query_points(self, *, query: Any, limit: int, **asked: Any) -> Any:
        points = [
            SimpleNamespace(id=(7 * i + 3) % 20, score=1 - i / 100, payload={"doc_id": str(i)})
            for i in range(int(query[0]), int(query[0]) + limit)
        ]
        return SimpleNamespace(points=points)


def test_ids_that_match_by_chance_are_told() -> None:
    live = evaluate_retriever(from_qdrant(Points(), "docs", lambda q: [number(q)]), QUERIES, k=5, measures="R@5")
    (said,) = [warning for warning in live.warnings if "by chance" in warning]
    assert "`payload.doc_id` matches 40 % of the results: use id_field='payload.doc_id'" in said
    told = evaluate_retriever(
        from_qdrant(Points(), "docs", lambda q: [number(q)]),
        QUERIES,
        k=5,
        measures="R@5",
        id_field="payload.doc_id",
    )
    assert told.mean["R@5"] == 1.0
    assert not [warning for warning in told.warnings if "by chance" in warning]


def test_that_no_id_matches_is_told_first_and_alone() -> None:
    def search(query: str, k: int) -> Any:
        return [{"id": f"made-up-{i}", "metadata": {"key": str(9 * i)}} for i in range(k)]

    search.k = 3  # type: ignore[attr-defined]
    live = evaluate_retriever(search, QUERIES, k=8, measures="R@10")
    assert live.warnings[0].startswith("no judged document was retrieved for any query")
    assert "`metadata.key`" in live.warnings[0]
    assert not [warning for warning in live.warnings if "documents are judged" in warning]


def test_errors_that_tell_what_they_were_about_are_one_mistake() -> None:
    calls = []

    def search(query: str, k: int) -> Any:
        calls.append(query)
        raise ValueError(f"Expected embeddings to be a list of numbers, got {list(map(ord, query))}")

    with pytest.raises(RetrievalError, match="the first 3 calls failed by the same mistake"):
        evaluate_retriever(search, QUERIES, measures="R@5")
    assert len(calls) == 3


def test_a_connection_of_one_thread_says_what_helps() -> None:
    connection = sqlite3.connect(":memory:")

    def search(query: str, k: int) -> Any:
        return connection.execute("SELECT ?", (str(number(query)),)).fetchall()

    with pytest.raises(RetrievalError, match="with concurrency=1 it is called in your own thread"):
        evaluate_retriever(search, QUERIES, measures="R@5", concurrency=2)
    assert evaluate_retriever(search, QUERIES, measures="R@5").mean["R@5"] == 0.5
    connection.close()


def test_an_output_is_a_text() -> None:
    wrong: Any = 3
    with pytest.raises(DataError, match="output"):
        from_haystack(Pipeline({}), {"r": {"q": "{query}"}}, output=wrong)


class Raising:
    """As proxies and lazy clients do: any attribute may raise."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name} yet")

    def search(self, query: str, k: int) -> Any:
        return [str(number(query))]


def test_attributes_may_raise() -> None:
    class Lazy:
        @property
        def stage_names(self) -> Any:
            raise ValueError("not connected")

        chunks = corpus = search_kwargs = stage_names

        def search(self, query: str, k: int) -> Any:
            return [str(number(query))]

    for retriever in (Raising(), Lazy()):
        assert evaluate_retriever(retriever, QUERIES, measures="R@5").mean["R@5"] == 0.5


@pytest.mark.parametrize(
    ("yielded", "said"),
    [
        (None, "not None"),
        ([("a", ["1"])], "not 'a'"),
        ([("b", ["1"]), ("a", ["1"])], "not 'b', 'a'"),
        ([("a", ["1"]), ("b", ["1"]), ("c", ["1"])], "not 'a', 'b', 'c'"),
        ([], "not nothing"),
        ([1, 2], "not 1, 2"),
        ([("a", None), ("b", ["1"])], "the retriever returned None"),
    ],
)
def test_stages_that_are_none(yielded: Any, said: str) -> None:
    class Staged:
        stage_names = ("a", "b")

        def stages(self, query: str, k: int) -> Any:
            return yielded

        def search(self, query: str, k: int) -> Any:
            return ["1"]

    with pytest.raises(RetrievalError, match=said):
        evaluate_retriever(Staged(), QUERIES, measures="R@5")


@pytest.mark.parametrize("length", [lambda text: "x", lambda text: -1, str.split, lambda text: 1 / 0, float])
def test_a_tokenizer_that_gives_no_length_is_found_before_the_first_call(length: Any) -> None:
    asked = []

    def search(query: str, k: int) -> Any:
        asked.append(query)
        return ["1"]

    corpus = {f"{i}": f"text {i}" for i in range(30)}
    with pytest.raises(DataError, match=r"`tokenizer` (must give a text its length|failed on a text)"):
        evaluate_retriever(search, QUERIES, measures="R(budget=9)", corpus=corpus, tokenizer=length)
    with pytest.raises(DataError, match="`tokenizer`"):
        evaluate(QUERIES, {query: ["1"] for query in QUERIES}, "R(budget=9)", corpus=corpus, tokenizer=length)
    assert asked == []


def test_progress_must_be_a_function() -> None:
    wrong: Any = 5
    with pytest.raises(DataError, match="`progress` must be a function"):
        evaluate_retriever(lambda query, k: ["1"], QUERIES, measures="R@5", progress=wrong)
    with pytest.raises(DataError, match="`progress` must be a function"):
        evaluate_retrievers({"a": Raising(), "b": Raising()}, QUERIES, measures="R@5", progress=wrong)
    with pytest.raises(DataError, match="`progress` must be a function"):
        sweep(lambda k: Raising(), {"k": [1]}, TestSet.from_annotations(["a 1"], [["1"]]), measure="R", progress=wrong)


ASKED = {"q1": {"a": 1.0}, "q2": {"b": 1.0}}
TEXTS = {"q1": "first question", "q2": "second question"}


def test_a_bound_method_is_asked_like_its_object() -> None:
    """`retriever.invoke` in the place of `retriever`: the object's own number is known all the same."""

    class Retriever:
        search_kwargs = {"k": 4}

        def invoke(self, query: str, k: int = 4) -> list[str]:
            return [f"{query} {place}" for place in range(k)]

    class Index:
        similarity_top_k = 2

        def retrieve(self, query: str) -> list[str]:
            return ["a", "x"]

    live = evaluate_retriever(Retriever().invoke, ASKED, queries=TEXTS, measures="R@10")
    assert len(live.run["q1"]) == 10
    assert any('search_kwargs["k"] is 4' in warning for warning in live.warnings)
    many = {f"q{i}": {"a": 1.0, "b": 1.0, "c": 1.0} for i in range(4)}
    live = evaluate_retriever(
        Index().retrieve, many, queries={query: f"text {query}" for query in many}, measures="R@10"
    )
    assert any("make the retriever with `similarity_top_k=10`" in warning for warning in live.warnings)


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ((184, "d184", -22.7), "id_field='[1]' and score_field='[2]'"),
        (("d184", "a text of several words", 22.7), "id_field='[0]' and score_field='[2]'"),
        ((22.7, "d184"), "id_field='[1]' and score_field='[0]'"),
        ((22.7, 184), "id_field='[1]' and score_field='[0]'"),
        (("d184", "0.5"), "the score '0.5' (str) is a text"),
    ],
)
def test_the_parts_of_a_row_that_are_named(entry: tuple[Any, ...], told: str) -> None:
    with pytest.raises(RetrieverError) as caught:
        hits_of([entry], 1)
    assert told in str(caught.value)


@pytest.mark.parametrize("nested", [[["a", "b", "c"]], (["a", "b"], [0.3, 0.1])])
def test_lists_within_a_list_are_told_apart_from_pairs(nested: Any) -> None:
    with pytest.raises(RetrieverError, match="the inner one"):
        hits_of(nested, 3)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_data_frame_of_results_is_read_row_by_row(library: str) -> None:
    columns = {"doc_id": ["b", "a"], "score": [0.9, 0.5]}
    module = pytest.importorskip(library)
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert hits_of(frame, 2)[0] == [("b", 0.9), ("a", 0.5)]
    assert hits_of(frame, 1)[0] == [("b", 0.9)]


def test_a_field_named_without_what_holds_it() -> None:
    with pytest.raises(RetrieverError, match=r"did you mean 'metadata\.docno'"):
        hits_of([{"id": "x", "metadata": {"docno": "a"}}], 1, id_field="docno")
    with pytest.raises(RetrieverError, match=r"document\.id"):
        hits_of([{"document": {"id": "a"}}], 1)


def test_fields_with_the_same_values_are_named_once() -> None:
    """A node of LlamaIndex tells everything twice."""

    def search(query: str, k: int) -> list[Any]:
        nodes = [SimpleNamespace(id_=f"n{i}", metadata={"doc": "a" if i < 3 else f"x{i}"}) for i in range(9)]
        return [SimpleNamespace(node_id=one.id_, metadata=one.metadata, node=one) for one in nodes]

    live = evaluate_retriever(search, ASKED, queries=TEXTS, measures="R@10")
    warning = next(one for one in live.warnings if "no judged document" in one)
    assert warning.count("use parent_field=") == 1


def test_an_exception_that_cannot_be_written_is_a_failed_query() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def search(query: str, k: int) -> list[str]:
        raise Mute

    with pytest.raises(RetrievalError, match="Mute"):
        evaluate_retriever(search, ASKED, queries=TEXTS)


@pytest.mark.parametrize("url", [None, 5, [], b"x"])
def test_the_address_of_vespa_is_a_text(url: Any) -> None:
    with pytest.raises(RetrieverError, match="from_vespa takes the URL"):
        from_vespa(url)


@pytest.mark.parametrize("cache", [5, 2.5, [], object(), b"x", True])
def test_a_cache_that_is_no_folder(cache: Any) -> None:
    with pytest.raises(DataError, match="`cache` must be a folder"):
        evaluate_retriever(lambda query, k: ["a"], ASKED, queries=TEXTS, cache=cache, configuration={"a": 1})


def test_a_text_in_the_place_of_an_id_is_shown_by_its_beginning() -> None:
    live = evaluate_retriever(lambda query, k: ["a long text " * 50], ASKED, queries=TEXTS, measures="R@10")
    warning = next(one for one in live.warnings if "no judged document" in one)
    assert len(warning) < 500
    assert "look like texts" in warning


def test_chunks_that_were_merged_are_no_fault_of_the_retriever() -> None:
    """Ten chunks of five documents: the lists are short since chunks were merged, not since k was not passed on."""
    judged = {f"q{i}": {f"d{j}": 1.0 for j in range(9)} for i in range(4)}

    def search(query: str, k: int) -> list[str]:
        return [f"d{place // 2}#{place}" for place in range(k)]

    live = evaluate_retriever(
        search,
        judged,
        queries={query: f"text {query}" for query in judged},
        measures="R@10",
        collapse_chunks=r"^(.+)#\d+$",
    )
    warning = next(one for one in live.warnings if "too few for R@10" in one)
    assert "pass" not in warning
    assert "10 chunks" in warning
    assert "`k=20`" in warning
