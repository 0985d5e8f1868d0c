"""PyTorch, JAX and a strict form of the array API give what NumPy gives, as arrays of their own."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from rankgauge import evaluate_tensors
from rankgauge.errors import DataError
from rankgauge.tensors import inputs
from tests.tensors.worlds import FLOAT32, FLOAT64, SUPPORTED, by_scale, differences, random_world

FEW = ["nDCG@5", "AP", "RR", "P@3", "R@5"]


def to_torch(array: Any) -> Any:
    return import_module("torch").asarray(array)


def to_jax(array: Any) -> Any:
    return import_module("jax.numpy").asarray(array)


def to_strict(array: Any) -> Any:
    return import_module("array_api_strict").asarray(array)


def back(array: Any) -> Any:
    """An array as NumPy's; the strict one is opened, for it gives its values to no other library."""
    return getattr(array, "_array", array)


def converted(plain: dict[str, Any], convert: Any) -> dict[str, Any]:
    return {name: convert(value) if isinstance(value, np.ndarray) else value for name, value in plain.items()}


def agree(convert: Any, dtype: Any, ties: str, layout: str, most: float) -> None:
    world = random_world(11, dtype=dtype)
    for top, measures in by_scale(SUPPORTED[ties]).items():
        plain = getattr(world.cut_to(top), layout)()
        given = converted(plain, convert)
        found = evaluate_tensors(**given, measures=measures, ties=ties)
        assert type(found.values) is type(given["scores"])
        wanted = evaluate_tensors(**plain, measures=measures, ties=ties)
        assert not differences(back(found.values), wanted.values, measures, most)
        assert dict(found.mean) == pytest.approx(dict(wanted.mean), abs=most)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize("ties", ["trec", "expected"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_torch(layout: str, ties: str, dtype: Any) -> None:
    """Here NumPy computes, in the memory of the tensors."""
    agree(to_torch, dtype, ties, layout, FLOAT64)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize("ties", ["trec", "stable", "expected"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_torch_as_on_other_devices(layout: str, ties: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the memory is not the processor's, PyTorch computes itself."""
    monkeypatch.setattr(inputs, "on_processor", lambda device: False)
    agree(to_torch, dtype, ties, layout, FLOAT64 if dtype is np.float64 else FLOAT32)


@pytest.mark.needs("array_api_strict")
@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize("ties", ["trec", "stable", "expected", "given"])
def test_strict(layout: str, ties: str) -> None:
    """Nothing beyond the standard is used, so that other libraries work too."""
    agree(to_strict, np.float64, ties, layout, FLOAT64)


@pytest.mark.needs("jax")
@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_jax(layout: str) -> None:
    """In float32, the precision that JAX has unless it is told otherwise."""
    agree(to_jax, np.float32, "trec", layout, FLOAT32)


@pytest.mark.needs("jax")
def test_jax_as_on_other_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists are of one length, for JAX compiles each step for each shape."""
    monkeypatch.setattr(inputs, "on_processor", lambda device: False)
    world = random_world(12, dtype=np.float32)
    world = replace(world, listed=np.ones_like(world.listed), judged=np.ones_like(world.judged))
    scores, grades = world.scores, world.relevance
    query = np.repeat(np.arange(len(scores)), scores.shape[1])
    padded = evaluate_tensors(to_jax(scores), to_jax(grades), FEW)
    ragged = evaluate_tensors(to_jax(scores.ravel()), to_jax(grades.ravel()), FEW, groups=to_jax(query))
    wanted = evaluate_tensors(scores, grades, FEW)
    for found in (padded, ragged):
        assert np.asarray(found.values) == pytest.approx(wanted.values, abs=FLOAT32)
        assert dict(found.mean) == pytest.approx(dict(wanted.mean), abs=FLOAT32)


@pytest.mark.needs("jax")
def test_whole_numbers_that_float32_cannot_tell_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "on_processor", lambda device: False)
    scores = to_jax(np.array([[2**24, 2**24 + 1]], dtype=np.int32))
    with pytest.raises(DataError, match="whole numbers of 16777216 and more, which float32 cannot tell apart"):
        evaluate_tensors(scores, to_jax(np.array([[0, 1]], dtype=np.int32)), "RR")


@pytest.mark.needs("torch")
def test_tensors_with_gradients_and_of_half_precision() -> None:
    torch = import_module("torch")
    scores = torch.tensor([[0.5, 1.5, -1.0]], requires_grad=True)
    grades = torch.tensor([[1, 0, 2]])
    found = evaluate_tensors(scores, grades, "nDCG")
    assert not found.values.requires_grad
    for kind in (torch.float16, torch.bfloat16):
        half = evaluate_tensors(scores.to(kind), grades, "nDCG")
        assert half.values.dtype == torch.float32
        assert half.mean["nDCG"] == found.mean["nDCG"]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "convert",
    [
        pytest.param(to_torch, marks=pytest.mark.needs("torch")),
        pytest.param(to_jax, marks=pytest.mark.needs("jax")),
        pytest.param(to_strict, marks=pytest.mark.needs("array_api_strict")),
    ],
)
def test_scores_that_are_no_numbers(convert: Any, wrong: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found on the device."""
    monkeypatch.setattr(inputs, "on_processor", lambda device: False)
    scores = convert(np.array([[1.0, wrong, 0.5]], dtype=np.float32))
    with pytest.raises(DataError, match="`scores` holds NaN or infinite values"):
        evaluate_tensors(scores, convert(np.array([[1, 0, 2]], dtype=np.int32)), "RR")


@pytest.mark.needs("torch")
def test_several_libraries_or_devices_are_refused() -> None:
    torch = import_module("torch")
    with pytest.raises(DataError, match="arrays of several libraries: `scores` of torch, `relevance` of numpy"):
        evaluate_tensors(torch.ones(1, 1), np.ones((1, 1)))
    with pytest.raises(DataError, match="several devices: `scores` on cpu, `relevance` on meta"):
        evaluate_tensors(torch.ones(1, 1), torch.ones(1, 1, device="meta"))


@pytest.mark.needs("torchmetrics")
def test_torchmetrics_agrees() -> None:
    """The same five measures, where there are no ties: their code is another one than `evaluate`'s."""
    torch = import_module("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        retrieval = import_module("torchmetrics.retrieval")
    rng = np.random.default_rng(0)
    scores = torch.asarray(rng.permutation(400).reshape(20, 20).astype(np.float32))
    grades = torch.asarray(rng.choice((0, 0, 0, 1, 2, 3), (20, 20)))
    query = torch.arange(20).repeat_interleave(20)
    peers = {
        "nDCG@10": (retrieval.RetrievalNormalizedDCG(top_k=10), grades),
        "AP": (retrieval.RetrievalMAP(), grades > 0),
        "RR": (retrieval.RetrievalMRR(), grades > 0),
        "P@10": (retrieval.RetrievalPrecision(top_k=10), grades > 0),
        "R@5": (retrieval.RetrievalRecall(top_k=5), grades > 0),
    }
    wanted = {name: float(m(scores.ravel(), g.ravel(), indexes=query)) for name, (m, g) in peers.items()}
    assert dict(evaluate_tensors(scores, grades, list(peers)).mean) == pytest.approx(wanted, abs=1e-6)
