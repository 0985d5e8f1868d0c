"""Searching by embeddings: every list is that of the whole matrix of scores, and the scores are those of `evaluate`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from rankgauge import Qrels, RankgaugeError, evaluate, evaluate_embeddings
from rankgauge.errors import ContractError, DataError, MeasureError
from rankgauge.tensors import search, vectors
from tests.tensors.test_libraries import back, to_jax, to_strict, to_torch

MEASURES = ["nDCG@10", "nDCG", "AP", "RR", "R@5", "P@10", "Bpref", "NumRet", "NumRel"]
LIBRARIES = [
    pytest.param(np.asarray, id="numpy"),
    pytest.param(to_torch, id="torch", marks=pytest.mark.needs("torch")),
    pytest.param(to_jax, id="jax", marks=pytest.mark.needs("jax")),
    pytest.param(to_strict, id="strict", marks=pytest.mark.needs("array_api_strict")),
]
Triples = tuple[Any, Any, Any]


def world(seed: int, n: int = 23, documents: int = 90, dimensions: int = 3) -> tuple[Any, Any, Triples]:
    """Vectors of few whole numbers, so that many documents tie, and judgments, some queries having none."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(-2, 3, (n, dimensions)).astype(np.float32)
    docs = rng.integers(-2, 3, (documents, dimensions)).astype(np.float32)
    judged = rng.random((n, documents)) < 0.2
    judged[::7] = False
    query, document = np.nonzero(judged)
    return queries, docs, (query, document, rng.choice((-1, 0, 1, 2, 3), len(query)))


def similarities(queries: Any, documents: Any, similarity: str) -> Any:
    """Of every pair, one after another, in float64."""
    q, d = queries.astype(np.float64), documents.astype(np.float64)
    if similarity == "dot":
        return np.array([[a @ b for b in d] for a in q])
    return np.array([[-np.sum((a - b) ** 2) for b in d] for a in q])


def whole_order(scores: Any, ties: str, k: int, left_out: Any = None) -> list[list[int]]:
    """Places by score, those of one score by place, as the rule has it."""
    sign = -1 if ties == "trec" else 1
    found = []
    for q, row in enumerate(scores.tolist()):
        places = [place for place in range(len(row)) if left_out is None or place != left_out[q]]
        found.append(sorted(places, key=lambda place: (-row[place], sign * place))[:k])
    return found


def by_id(triples: Triples, n: int) -> dict[str, dict[str, float]]:
    qrels: dict[str, dict[str, float]] = {}
    for query, document, grade in zip(*triples, strict=True):
        qrels.setdefault(f"q{query:05}", {})[f"d{document:05}"] = float(grade)
    return qrels


def wanted(scores: Any, triples: Triples, k: int, ties: str) -> dict[str, float]:
    """What `evaluate` says of the whole matrix."""
    run = {
        f"q{q:05}": {f"d{place:05}": score for place, score in enumerate(row)} for q, row in enumerate(scores.tolist())
    }
    return dict(evaluate(by_id(triples, len(scores)), run, MEASURES, ties=ties, depth=k).mean)


@pytest.mark.parametrize("convert", LIBRARIES)
@pytest.mark.parametrize("ties", ["trec", "stable"])
@pytest.mark.parametrize("similarity", ["dot", "l2"])
@pytest.mark.parametrize("blocks", [(1 << 22, 1 << 12), (160, 16)])
def test_as_the_whole_matrix(
    convert: Any, ties: str, similarity: str, blocks: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ties across the borders of blocks and at the end of the lists included."""
    monkeypatch.setattr(vectors, "on_processor", lambda device: False)
    monkeypatch.setattr(search, "BLOCKS", {"": blocks})
    queries, documents, triples = world(3)
    k = 20
    found = evaluate_embeddings(
        convert(queries),
        convert(documents),
        triples,
        MEASURES,
        k=k,
        similarity=similarity,
        ties=ties,
        keep_ranking=True,
    )
    scores = similarities(queries, documents, similarity)
    assert np.asarray(back(found.ranking)).tolist() == whole_order(scores, ties, k)
    assert type(found.ranking) is type(found.values) is type(convert(queries))
    assert dict(found.mean) == pytest.approx(wanted(scores, triples, k, ties), abs=1e-6)
    assert found.contract.depth == k
    assert found.contract.ties == ties


@pytest.mark.parametrize("ties", ["trec", "stable"])
def test_any_blocks_and_lists(ties: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    for seed in range(60):
        n, docs = int(rng.integers(1, 12)), int(rng.integers(1, 70))
        queries, documents, triples = world(seed, n, docs)
        if seed % 3 == 0:  # the worst order: each document is nearer than those before
            documents = documents[np.argsort(documents @ queries[0], kind="stable")]
        k = int(rng.integers(1, docs + 5))
        monkeypatch.setitem(search.BLOCKS, "cpu", (int(rng.integers(1, 400)), int(rng.integers(1, docs + 3))))
        found = evaluate_embeddings(
            queries, documents, triples, "RR", k=k, similarity="dot", ties=ties, keep_ranking=True
        )
        assert found.ranking is not None
        assert found.ranking.tolist() == whole_order(similarities(queries, documents, "dot"), ties, k)


def test_equal_vectors_tie_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounding is the same in every block, the last and shorter one too."""
    monkeypatch.setitem(search.BLOCKS, "cpu", (400, 37))
    rng = np.random.default_rng(0)
    some = rng.standard_normal((20, 50)).astype(np.float32)
    documents = some[rng.permutation(np.tile(np.arange(20), 11))]
    queries = rng.standard_normal((21, 50)).astype(np.float32)
    for similarity in search.SIMILARITIES:
        for ties in ("trec", "stable"):
            found = evaluate_embeddings(
                queries, documents, ([0], [0], [1]), "RR", k=30, similarity=similarity, ties=ties, keep_ranking=True
            )
            assert found.ranking is not None
            for row in found.ranking.tolist():
                for group in (row[:11], row[11:22]):
                    places = np.flatnonzero((documents == documents[group[0]]).all(axis=1)).tolist()
                    assert group == (places[::-1] if ties == "trec" else places)


def test_real_numbers_by_cosine() -> None:
    rng = np.random.default_rng(1)
    queries, documents = rng.standard_normal((9, 16)), rng.standard_normal((500, 16)) * 3
    documents[3] = 0
    scores = queries @ documents.T
    scores /= np.linalg.norm(queries, axis=1)[:, None] * np.maximum(np.linalg.norm(documents, axis=1), 1e-300)
    triples = (np.arange(9), np.arange(9) * 7, np.ones(9))
    found = evaluate_embeddings(queries, documents, triples, MEASURES, keep_ranking=True)
    assert found.ranking is not None
    assert found.ranking.tolist() == np.argsort(-scores, axis=1)[:, :100].tolist()
    assert dict(found.mean) == pytest.approx(wanted(scores, triples, 100, "trec"), abs=1e-12)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("on_device", [False, True])
def test_halves_are_added_in_float32(on_device: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums beyond what half precision holds, also under a training loop's choices for speed."""
    torch = import_module("torch")
    if on_device:
        monkeypatch.setattr(vectors, "on_processor", lambda device: False)
    rng = np.random.default_rng(2)
    queries, documents = rng.integers(-8, 9, (5, 512)), rng.integers(-8, 9, (200, 512))
    documents[17] = documents[4]
    scores = queries @ documents.T
    for kind in (torch.float16, torch.bfloat16):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            found = evaluate_embeddings(
                torch.asarray(queries).to(kind),
                torch.asarray(documents).to(kind).requires_grad_(),
                torch.tensor([[0, 4, 1], [1, 17, 2]]),
                "RR",
                similarity="dot",
                keep_ranking=True,
            )
        assert found.ranking is not None
        assert found.ranking.tolist() == whole_order(scores, "trec", 100)
        assert found.values.dtype == torch.float32


@pytest.mark.needs("torch")
@pytest.mark.parametrize("newer", [False, True])
def test_a_choice_for_speed_is_left_as_it_was(newer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of a search are exact; those of the training loop around it stay fast."""
    torch = import_module("torch")
    matmul, seen = torch.backends.cuda.matmul, []
    monkeypatch.setattr(vectors, "on_processor", lambda device: False)
    if newer and not hasattr(matmul, "fp32_precision"):
        pytest.skip("this PyTorch has one way to choose")

    def chosen() -> str:
        return str(matmul.fp32_precision if newer else torch.get_float32_matmul_precision())

    similarity = search._similarity
    monkeypatch.setattr(search, "_similarity", lambda *given: seen.append(chosen()) or similarity(*given))
    before = chosen()
    choose = (lambda how: setattr(matmul, "fp32_precision", how)) if newer else torch.set_float32_matmul_precision
    fast = "tf32" if newer else "medium"
    choose(fast)
    try:
        evaluate_embeddings(torch.ones(2, 3), torch.ones(4, 3), ([0], [0], [1]))
        assert (seen, chosen()) == (["ieee" if newer else "highest"], fast)
    finally:
        choose(before)


def test_queries_that_are_documents() -> None:
    _, documents, triples = world(8, n=30, documents=30)
    scores = similarities(documents, documents, "l2")
    for ties in ("trec", "stable"):
        found = evaluate_embeddings(
            documents, documents, triples, MEASURES, k=30, similarity="l2", ties=ties, drop_self=True, keep_ranking=True
        )
        assert found.ranking is not None
        lists = whole_order(scores, ties, 30, left_out=range(30))
        assert found.ranking.tolist() == [[*row, -1] for row in lists]
        assert found.mean["NumRet"] == 29 * int(found.counted[:, 0].sum())  # type: ignore[index]
    names = [f"x{i}" for i in range(30)]
    some = [names[4], "other", names[0]]
    found = evaluate_embeddings(
        documents[[4, 7, 0]],
        documents,
        {names[4]: {names[1]: 1}},
        "RR",
        contract="beir",
        query_ids=some,
        document_ids=names,
        keep_ranking=True,
    )
    assert found.ranking is not None
    assert [4 in found.ranking[0], 7 in found.ranking[1], 0 in found.ranking[2]] == [False, True, False]


@pytest.mark.parametrize("as_given", [dict, Qrels])
def test_judgments_by_id(as_given: Callable[[Any], Any]) -> None:
    """Also of documents that have no embedding, which count for recall."""
    queries, documents, triples = world(9)
    scores = similarities(queries, documents, "dot")
    qrels = by_id(triples, len(queries))
    qrels["q00001"]["elsewhere"] = 3.0
    qrels["q00002"] = {"elsewhere": 1.0}
    ids = {"query_ids": [f"q{i:05}" for i in range(len(queries))], "document_ids": [f"d{i:05}" for i in range(90)]}
    run = {q: dict(zip(ids["document_ids"], row, strict=True)) for q, row in zip(ids["query_ids"], scores, strict=True)}
    found = evaluate_embeddings(queries, documents, as_given(qrels), MEASURES, k=20, similarity="dot", **ids)
    assert dict(found.mean) == pytest.approx(dict(evaluate(qrels, run, MEASURES, depth=20).mean), abs=1e-6)


def test_row_numbers_as_ids() -> None:
    queries, documents, triples = world(9)
    table = np.stack(triples, axis=1)
    rows: dict[int, dict[int, float]] = {}
    for query, document, grade in table.tolist():
        rows.setdefault(query, {})[document] = grade
    means = [dict(evaluate_embeddings(queries, documents, qrels, MEASURES).mean) for qrels in (triples, table, rows)]
    assert means[0] == means[1] == means[2]
    lists = tuple(part.tolist() for part in triples)
    assert dict(evaluate_embeddings(queries, documents, lists, MEASURES).mean) == means[0]
    real = table.astype(np.float64)
    assert dict(evaluate_embeddings(queries, documents, real, MEASURES).mean) == means[0]


def test_queries_without_judgments_enter_no_mean() -> None:
    queries, documents, triples = world(9)
    found = evaluate_embeddings(queries, documents, triples, ["RR", "nDCG"], similarity="dot")
    judged = sorted(set(triples[0].tolist()))
    assert len(judged) < len(queries)
    assert len(found) == len(queries)
    assert found.mean["RR"] == pytest.approx(float(np.mean(found.per_query["RR"][judged])), abs=1e-6)
    assert found.interval["RR"] is not None
    few = evaluate_embeddings(
        queries[judged], documents, _renumbered(triples, judged), ["RR", "nDCG"], similarity="dot"
    )
    assert dict(few.mean) == pytest.approx(dict(found.mean))


def _renumbered(triples: Triples, judged: list[int]) -> Triples:
    return np.searchsorted(judged, triples[0]), triples[1], triples[2]


def test_many_judgments_of_few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of judgments are as wide as those of about as many need."""
    from rankgauge.tensors import scoring

    rng = np.random.default_rng(4)
    queries, documents, triples = world(4, n=40)
    judged = rng.random((40, 90)) < np.linspace(0, 1, 40)[:, None] ** 3
    query, document = np.nonzero(judged)
    triples = (query, document, rng.integers(0, 3, len(query)))
    whole = evaluate_embeddings(queries, documents, triples, MEASURES, similarity="dot", no_relevant="skip")
    monkeypatch.setitem(scoring.ELEMENTS, "cpu", 120)
    parts = evaluate_embeddings(queries, documents, triples, MEASURES, similarity="dot", no_relevant="skip")
    assert np.array_equal(whole.values, parts.values)
    assert np.array_equal(whole.counted, parts.counted)  # type: ignore[arg-type]


def test_a_no_answer_query_is_left_out() -> None:
    queries, documents, _ = world(9)
    qrels = Qrels({"0": {"3": 1}, "1": {}}, no_answer=["1"])
    found = evaluate_embeddings(queries, documents, qrels, "RR", similarity="dot")
    assert found.mean["RR"] == pytest.approx(float(found.per_query["RR"][0]))
    both = evaluate_embeddings(queries, documents, {"0": {"3": 1}, "1": {}}, "RR", similarity="dot")
    assert both.mean["RR"] == pytest.approx(float(found.per_query["RR"][0]) / 2)
    with pytest.raises(MeasureError, match="Handled"):
        evaluate_embeddings(queries, documents, qrels, "Handled(threshold=0.5)")


def test_float32_where_the_contract_says_so() -> None:
    """trec_eval 9 compares scores as float32, so what differs by less ties."""
    queries, documents = np.array([[1.0]]), np.array([[1.0], [1.0 + 1e-12], [0.5]])
    for contract, order in ((None, [1, 0, 2]), ("trec_eval9", [1, 0, 2])):
        found = evaluate_embeddings(
            queries, documents[::1], ([0], [0], [1]), "RR", similarity="dot", contract=contract, keep_ranking=True
        )
        assert found.ranking is not None
        assert found.ranking.tolist() == [order]
    swapped = documents[[1, 0, 2]]
    exact = evaluate_embeddings(queries, swapped, ([0], [0], [1]), "RR", similarity="dot")
    rounded = evaluate_embeddings(queries, swapped, ([0], [0], [1]), "RR", similarity="dot", contract="trec_eval9")
    assert (exact.mean["RR"], rounded.mean["RR"]) == (1.0, 0.5)


def test_memory_is_bounded() -> None:
    """Beside the arrays a search takes what a block of scores takes, however many documents there are."""
    import tracemalloc

    rng = np.random.default_rng(0)
    queries = rng.standard_normal((2000, 4), dtype=np.float32)
    documents = rng.standard_normal((30_000, 4), dtype=np.float32)  # 240 MB of scores
    tracemalloc.start()
    evaluate_embeddings(queries, documents, ([0], [0], [1]), "RR", k=10, similarity="dot")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100e6


Q, D = np.ones((2, 3), dtype=np.float32), np.ones((4, 3), dtype=np.float32)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"queries": [[1.0]]}, "`queries` must be an array"),
        ({"queries": Q[0]}, "of one vector give it as queries[None, :]"),
        ({"documents": D[:, :2]}, "`queries` have 3 dimensions, `documents` 2"),
        ({"queries": Q[:, :0], "documents": D[:, :0]}, "a column for each dimension"),
        ({"queries": Q.astype(complex)}, "`queries` must hold numbers, not complex128"),
        ({"queries": Q > 0}, "`queries` must hold numbers, not bool"),
        ({"documents": np.where(np.arange(4)[:, None] == 2, np.nan, D)}, "`documents[2]` holds NaN, infinite or too"),
        ({"queries": np.where(np.arange(2)[:, None] == 1, np.inf, Q)}, "`queries[1]` holds NaN, infinite or too large"),
        ({"queries": Q * np.float32(1e30)}, "`queries[0]` holds NaN, infinite or too large"),
        ({"similarity": "cos"}, "similarity='cos' is not one of 'cosine', 'dot', 'l2'"),
        ({"k": 0}, "`k=0` must be a whole number of at least 1"),
        ({"k": True}, "`k=True` must be a whole number"),
        ({"ties": "expected"}, "choose ties='trec' or ties='stable'"),
        ({"ties": "given"}, "choose ties='trec' or ties='stable'"),
        ({"drop_self": True}, "but there are 2 queries and 4 documents; give `query_ids` and `document_ids`"),
        ({"drop_self": True, "query_ids": ["a", "b"]}, "needs both `query_ids` and `document_ids`"),
        ({"drop_self": "yes"}, "`drop_self='yes'` must be True or False"),
        ({"qrels": ([0], [4], [1])}, "`qrels` names row 4 of `documents`, which has rows 0 to 3"),
        ({"qrels": ([-1], [0], [1])}, "`qrels` names row -1 of `queries`, which has rows 0 to 1"),
        ({"qrels": ([0.5], [0], [1])}, "must name rows of `queries` by whole numbers, not float64"),
        ({"qrels": ([0, 1], [0], [1])}, "must be three arrays of one length"),
        ({"qrels": np.zeros((3, 2), int)}, "not of the shape (3, 2)"),
        ({"qrels": ([0, 0], [1, 1], [1, 2])}, "judges row 1 of `documents` twice for row 0 of `queries`"),
        ({"qrels": ([0], [0], [np.inf])}, "`qrels` holds an infinite grade"),
        ({"qrels": ([0], [0], ["high"])}, "grades of `qrels` must be numbers"),
        ({"qrels": {"q1": {"0": 1}}}, "the query 'q1', which is no row number; give `query_ids`"),
        ({"qrels": {"0": {"d": 1}}}, "the document 'd', which is no row number; give `document_ids`"),
        ({"qrels": {"7": {"0": 1}}}, "1 judged query not among the 2 rows of `queries`, such as '7'"),
        ({"qrels": {"x": {"0": 1}}, "query_ids": ["a", "b"]}, "1 judged query not among `query_ids`, such as 'x'"),
        ({"qrels": {"a": {"y": 1}}, "query_ids": ["a", "b"], "document_ids": list("wxvz")}, "none of the judged"),
        ({"query_ids": ["a"]}, "`query_ids` has 1 id, `queries` 2 rows; give one for each"),
        ({"query_ids": "ab"}, "`query_ids` must be a list of ids"),
        ({"query_ids": ["a", "a"]}, "`query_ids` has 'a' twice"),
        ({"measures": "ERR", "qrels": ([0], [0], [9])}, "above max_grade=4"),
        ({"similarty": "dot"}, "did you mean similarity"),
    ],
)
def test_refused(given: dict[str, Any], told: str) -> None:
    arguments: dict[str, Any] = {"queries": Q, "documents": D, "qrels": ([0], [0], [1]), **given}
    with pytest.raises(RankgaugeError) as error:
        evaluate_embeddings(**arguments)
    assert told in str(error.value)
    assert isinstance(error.value, DataError | ContractError | MeasureError)


@pytest.mark.needs("torch")
def test_embeddings_in_several_places_are_refused() -> None:
    torch = import_module("torch")
    with pytest.raises(DataError, match="arrays of several libraries: `queries` of torch, `documents` of numpy"):
        evaluate_embeddings(torch.ones(2, 3), D, ([0], [0], [1]))
    with pytest.raises(DataError, match="several devices: `queries` on cpu, `documents` on meta"):
        evaluate_embeddings(torch.ones(2, 3), torch.ones(4, 3, device="meta"), ([0], [0], [1]))


def test_nothing_to_search() -> None:
    none = evaluate_embeddings(Q, D[:0], {"0": {}}, ["RR", "NumRet"], keep_ranking=True)
    assert dict(none.mean) == {"RR": 0.0, "NumRet": 0.0}
    assert none.ranking is not None
    assert none.ranking.shape == (2, 0)
    nobody = evaluate_embeddings(Q[:0], D, ([], [], []), ["RR"])
    assert len(nobody) == 0
    assert nobody.mean["RR"] == 0.0
    with pytest.raises(ContractError, match="without documents"):
        evaluate_embeddings(Q, D[:0], {"0": {}}, "RR", missing="error")


@pytest.mark.parametrize("size", [1e-12, 1e-19, 1e-22, 1e-30, 1e-38, 1e-42])
def test_cosine_of_small_vectors(size: float) -> None:
    """Squares that are too small for float32 must not make them all alike."""
    rng = np.random.default_rng(8)
    vectors = rng.normal(size=(40, 6)).astype(np.float32)
    pairs = (np.arange(40), np.arange(40), np.ones(40))
    plain = evaluate_embeddings(vectors, vectors, pairs, ["RR", "nDCG@3"])
    mixed = np.where(np.arange(40)[:, None] % 2, vectors * np.float32(size), vectors)
    small = evaluate_embeddings(mixed, (vectors * np.float32(size)), pairs, ["RR", "nDCG@3"])
    assert dict(small.mean) == dict(plain.mean)
    assert plain.mean["RR"] == 1


def test_vectors_of_zeros_beside_small_ones() -> None:
    vectors = np.eye(3, dtype=np.float32) * np.float32(1e-30)
    vectors[1] = 0
    found = evaluate_embeddings(vectors, vectors, (np.array([0, 2]), np.array([0, 2]), np.ones(2)), ["RR"])
    assert found.per_query["RR"].tolist()[::2] == [1, 1]
