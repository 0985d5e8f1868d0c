"""What cannot be scored is refused with the argument and the remedy."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from rankgauge import RankgaugeError, evaluate_embeddings, evaluate_tensors
from rankgauge.errors import ContractError, DataError, MissingExtraError

S = np.array([[1.0, 2.0], [3.0, 4.0]])
G = np.array([[0, 1], [1, 0]])
FLAT = {"scores": np.ones(3), "relevance": np.ones(3)}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"scores": [[1.0]]}, "`scores` must be an array (NumPy, PyTorch, JAX, CuPy), not list"),
        (
            {"scores": np.ma.array(S, mask=S > 2)},
            "`scores` is a masked array, whose mask would be lost: give its `.data`",
        ),
        ({"relevance": G[:, :1]}, "`relevance` has the shape (2, 1), `scores` (2, 2); they must be equal"),
        ({"mask": np.ones((2, 3), bool)}, "`mask` has the shape (2, 3)"),
        ({"mask": np.ones((2, 2))}, "`mask` must hold True and False, not float64"),
        ({"judged": G}, "`judged` must hold True and False"),
        ({"scores": S[0], "relevance": G[0]}, "of one query give scores[None, :]"),
        ({"groups": np.zeros(2, int)}, "`scores` must have one row for each document, not the shape (2, 2)"),
        ({"mask": np.ones((2, 2), bool), "groups": np.zeros(2, int)}, "give one"),
        ({"scores": S > 2}, "`scores` must hold numbers, not bool"),
        ({"scores": S.astype(complex)}, "`scores` must hold numbers, not complex128"),
        ({"relevance": S.astype(complex)}, "`relevance` must hold grades"),
        ({"scores": np.where(S > 3, np.nan, S)}, "`scores` holds NaN or infinite values"),
        ({"scores": np.where(S > 3, np.inf, S)}, "`scores` holds NaN or infinite values"),
        ({"scores": np.where(S < 2, -np.inf, S)}, "`scores` holds NaN or infinite values"),
        ({"relevance": np.where(S > 3, np.inf, S)}, "`relevance` holds an infinite grade"),
        ({"scores": S.astype(np.int64) + 2**53}, "`scores` holds whole numbers of 9007199254740992 and more"),
        ({**FLAT, "groups": np.array([0, -1, 2])}, "`groups` holds -1: it numbers the queries from 0"),
        ({**FLAT, "groups": np.array([0, 1, 3]), "n_queries": 3}, "`groups` holds 3, but `n_queries=3`"),
        ({**FLAT, "groups": np.array([0, 1, 2**40])}, "`groups` holds 1099511627776 for 3 documents"),
        ({**FLAT, "groups": np.array([0, 1, 2**64 - 1], dtype=np.uint64)}, "`groups` holds 18446744073709551615 for 3"),
        ({**FLAT, "groups": np.array([0.0, 1, 3])}, "`groups` must hold whole numbers"),
        ({**FLAT, "groups": np.array([0, 1])}, "`groups` has the shape (2,)"),
        ({"n_queries": 3}, "`n_queries=3`, but `scores` has 2 rows"),
        ({**FLAT, "groups": np.zeros(3, int), "n_queries": -1}, "`n_queries=-1` must be a whole number"),
        ({**FLAT, "groups": np.zeros(3, int), "n_queries": True}, "`n_queries=True` must be a whole number"),
        ({"all_grades": np.ones(2)}, "`all_grades` must have one row for each query"),
        ({"all_grades": np.ones((3, 2))}, "`all_grades` has 3 rows, but there are 2 queries"),
        ({"all_grades": np.ones((2, 1))}, "`all_grades` has fewer judged documents of a query than"),
        ({"measures": "ERR", "relevance": G * 5}, "above max_grade=4"),
        ({"measures": "nDCG(gain='exp')", "relevance": G * 1024}, "too large for an exponential gain"),
        (
            {"measures": "nDCG(gain='exp')", "relevance": G * 128, "scores": S.astype(np.float32)},
            "too large for an exponential gain in float32",
        ),
        ({"measures": "nDGC@10"}, "did you mean nDCG@10"),
        ({"ties": "random"}, "ties='random' is not one of"),
        ({"ties": "expected", "depth": 3}, "choose ties='trec'"),
        ({"contract": "beir"}, "drop_self=True needs ids"),
        ({"missing": "error", "mask": np.array([[True, True], [False, False]])}, "there are queries without documents"),
        ({"relevence": G}, "did you mean relevance"),
    ],
)
def test_refused(given: dict[str, Any], told: str) -> None:
    arguments: dict[str, Any] = {"scores": S, "relevance": G, **given}
    with pytest.raises(RankgaugeError) as error:
        evaluate_tensors(**arguments)
    assert told in str(error.value)
    assert isinstance(error.value, DataError | ContractError | RankgaugeError)


@pytest.mark.needs("torch")
def test_tensors_that_are_no_plain_rows() -> None:
    torch = import_module("torch")
    scores, grades = torch.asarray(S), torch.asarray(G)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # prototypes, PyTorch says
        rows = scores.to_sparse_csr()
        nested = torch.nested.nested_tensor([scores[0], scores[1, :1]])
    for given, told in {
        scores.to_sparse(): r"`scores` is a sparse tensor: give it dense \(`\.to_dense\(\)`\)",
        rows: "`scores` is a sparse tensor",
        nested: r"`scores` is a nested tensor: give documents flat",
    }.items():
        with pytest.raises(DataError, match=told):
            evaluate_tensors(given, grades)
    with pytest.raises(DataError, match="are on PyTorch's device meta, where they hold no numbers"):
        evaluate_tensors(scores.to("meta"), grades.to("meta"))
    with pytest.raises(DataError, match="`documents` is a sparse tensor"):
        evaluate_embeddings(scores, scores.to_sparse(), ([0], [0], [1]))
    with pytest.raises(DataError, match="`qrels` names row 0 of `documents`, which has no rows"):
        evaluate_embeddings(scores, scores[:0], ([0], [0], [1]))


def test_what_is_masked_may_be_anything() -> None:
    scores, grades = np.array([[1.0, np.nan, np.inf]]), np.array([[1.0, np.inf, 1.0]])
    mask = np.array([[True, False, False]])
    assert evaluate_tensors(scores, grades, "nDCG", mask=mask).mean["nDCG"] == 1.0


def test_an_error_of_missing_lists_alone() -> None:
    """Asking for lists of all queries refuses nothing where every query has one."""
    assert evaluate_tensors(S, G, "RR", missing="error").mean["RR"] == 0.75
    assert evaluate_tensors(**FLAT, groups=np.array([0, 1, 0]), measures="RR", missing="error").mean["RR"] == 1.0
    with pytest.raises(ContractError, match="without documents"):
        evaluate_tensors(**FLAT, groups=np.array([0, 2, 0]), measures="RR", missing="error")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(MissingExtraError, match=r"rankgauge\[tensors\]"):
        evaluate_tensors(S, G)


def test_rankgauge_itself_loads_no_torch() -> None:
    code = (
        "import sys, numpy as np, rankgauge as rg; rg.evaluate({'q': {'d': 1}}, {'q': {'d': 1.0}});"
        "rg.evaluate_embeddings(np.ones((1, 2)), np.ones((3, 2)), ([0], [0], [1])).mean; rg.trainer_metrics();"
        "print([name for name in ('torch', 'jax', 'torchmetrics', 'sentence_transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_libraries() -> None:
    """The names are there, and say what they need."""
    code = (
        "import sys; sys.modules.update(torchmetrics=None, sentence_transformers=None)\n"
        "import rankgauge as rg\n"
        "for make in (lambda: rg.RetrievalMetric('RR'), lambda: rg.EmbeddingEvaluator({}, {}, {})):\n"
        "    try: make()\n"
        "    except rg.RankgaugeError as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("MissingExtraError RetrievalMetric needs torchmetrics: pip install torchmetrics")
    assert second.startswith("MissingExtraError EmbeddingEvaluator needs sentence-transformers")
