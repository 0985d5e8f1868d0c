"""A metric of torchmetrics: its numbers are those of `evaluate`, however the lists come in."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import RankgaugeError, RetrievalMetric, evaluate_tensors
from rankgauge.errors import DataError
from tests.tensors.worlds import FLOAT64, SUPPORTED, by_scale, random_world

pytestmark = pytest.mark.needs("torchmetrics", "torch")
MEASURES = ["nDCG@5", "AP", "RR", "P@3", "R@5"]


@pytest.fixture(scope="module")
def torch() -> Any:
    return import_module("torch")


@pytest.fixture(scope="module")
def peers() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield import_module("torchmetrics")


def given(torch: Any, seed: int = 1, **kinds: Any) -> tuple[dict[str, Any], dict[str, float]]:
    """Lists of unequal length, and what `evaluate` says of them."""
    world = random_world(seed, **kinds)
    padded = {"preds": world.scores, "target": world.relevance, "mask": world.listed}
    means = evaluate_tensors(world.scores, world.relevance, MEASURES, mask=world.listed).mean
    return {name: torch.asarray(value) for name, value in padded.items()}, dict(means)


def floats(found: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in found.items()}


def test_every_measure(torch: Any) -> None:
    world = random_world(7)
    for top, measures in by_scale(SUPPORTED["expected"]).items():
        cut = world.cut_to(top)
        metric = RetrievalMetric(measures, ties="expected")
        metric.update(torch.asarray(cut.scores), torch.asarray(cut.relevance), mask=torch.asarray(cut.listed))
        wanted = evaluate_tensors(cut.scores, cut.relevance, measures, mask=cut.listed, ties="expected").mean
        assert floats(metric.compute()) == pytest.approx(dict(wanted), abs=FLOAT64)


def test_rows_in_parts(torch: Any) -> None:
    lists, wanted = given(torch)
    metric = RetrievalMetric(MEASURES)
    for rows in (slice(0, 7), slice(7, 7), slice(7, 40)):
        metric.update(*(lists[name][rows] for name in ("preds", "target")), mask=lists["mask"][rows])
    assert floats(metric.compute()) == pytest.approx(wanted, abs=FLOAT64)
    assert [tuple(rows.shape) for rows in metric.scores] == [(7, 10), (0, 10), (33, 10)]  # what is kept


def test_documents_of_a_query_in_several_updates(torch: Any) -> None:
    """Of any numbers of queries, in any order, and beside rows of whole queries."""
    lists, wanted = given(torch, tied=False)
    mask = lists["mask"]
    query = (torch.arange(len(mask)) * 1_000_000_007)[:, None].expand(mask.shape)
    metric = RetrievalMetric(MEASURES, missing="skip")
    order = torch.randperm(int(mask.sum()), generator=torch.Generator().manual_seed(0))
    flat = [value[mask][order] for value in (lists["preds"], lists["target"], query)]
    for part in zip(*(value.split(17) for value in flat), strict=True):
        metric.update(part[0], part[1], indexes=part[2])
    listed = mask.any(dim=1)
    few = evaluate_tensors(lists["preds"][listed], lists["target"][listed], MEASURES, mask=mask[listed]).mean
    assert floats(metric.compute()) == pytest.approx(dict(few), abs=FLOAT64)
    metric.reset()
    metric.update(lists["preds"][:9], lists["target"][:9], mask=mask[:9])
    metric.update(lists["preds"][9:], lists["target"][9:], indexes=query[9:], mask=mask[9:])
    assert floats(metric.compute()) == pytest.approx(dict(few), abs=FLOAT64)
    assert wanted != dict(few)


def test_where_conventions_agree_torchmetrics_says_the_same(torch: Any, peers: Any) -> None:
    rng = np.random.default_rng(0)
    scores = torch.asarray(rng.permutation(400).reshape(20, 20).astype(np.float32))
    grades = torch.asarray(rng.choice((0, 0, 0, 1, 2, 3), (20, 20)))
    query = torch.arange(20).repeat_interleave(20)
    retrieval = peers.retrieval
    others = {
        "nDCG@10": (retrieval.RetrievalNormalizedDCG(top_k=10), grades),
        "AP": (retrieval.RetrievalMAP(), grades > 0),
        "RR": (retrieval.RetrievalMRR(), grades > 0),
        "P@10": (retrieval.RetrievalPrecision(top_k=10), grades > 0),
        "R@5": (retrieval.RetrievalRecall(top_k=5), grades > 0),
        "Success@2": (retrieval.RetrievalHitRate(top_k=2), grades > 0),
        "Rprec": (retrieval.RetrievalRPrecision(), grades > 0),
    }
    metric = RetrievalMetric(list(others))
    for part in range(0, 400, 50):
        rows = slice(part, part + 50)
        metric.update(scores.ravel()[rows], grades.ravel()[rows], indexes=query[rows])
        for other, target in others.values():
            other.update(scores.ravel()[rows], target.ravel()[rows], indexes=query[rows])
    wanted = {name: float(other.compute()) for name, (other, _) in others.items()}
    assert floats(metric.compute()) == pytest.approx(wanted, abs=1e-6)


def test_one_measure_is_one_number(torch: Any) -> None:
    lists, wanted = given(torch)
    metric = RetrievalMetric("ndcg_cut_5")
    assert float(metric(**lists)) == pytest.approx(wanted["nDCG@5"])
    assert metric.compute().shape == ()
    assert list(RetrievalMetric(["RR"])(**lists)) == ["RR"]
    assert list(RetrievalMetric(["nDCG@5"], contract="ranx")(**lists)) == ["nDCG@5"]


def test_forward_gives_the_batch_and_keeps_the_whole(torch: Any) -> None:
    lists, wanted = given(torch)
    metric = RetrievalMetric(MEASURES)
    rows = [{name: value[part] for name, value in lists.items()} for part in (slice(0, 9), slice(9, 40))]
    for part in rows:
        batch = metric(**part)
        alone = evaluate_tensors(part["preds"], part["target"], MEASURES, mask=part["mask"]).mean
        assert floats(batch) == pytest.approx(dict(alone), abs=FLOAT64)
    assert floats(metric.compute()) == pytest.approx(wanted, abs=FLOAT64)
    metric.reset()
    assert floats(metric(**rows[0])) == floats(metric.compute())


def test_kept_moved_and_copied(torch: Any) -> None:
    lists, wanted = given(torch)
    metric = RetrievalMetric(MEASURES, contract="trec_eval")
    metric.update(**lists)
    query = torch.arange(len(lists["mask"]))[:, None].expand(lists["mask"].shape) + 100
    metric.update(lists["preds"], lists["target"], indexes=query, mask=lists["mask"])
    for other in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), metric.to("cpu"), metric.clone()):
        assert floats(other.compute()) == floats(metric.compute())
        assert other.higher_is_better
    metric.reset()
    metric.update(**lists)
    assert floats(metric.compute()) == pytest.approx(wanted, abs=FLOAT64)
    merged = RetrievalMetric(MEASURES, contract="trec_eval")
    merged.update(**{name: value[:0] for name, value in lists.items()})
    merged.merge_state(metric)
    assert floats(merged.compute()) == pytest.approx(wanted, abs=FLOAT64)
    assert metric.to("meta").scores[0].device.type == "meta"


def test_half_precision(torch: Any) -> None:
    lists, _ = given(torch, dtype=np.float32, tied=False)
    for kind in (torch.float16, torch.bfloat16):
        scores = lists["preds"].to(kind).requires_grad_()
        wanted = evaluate_tensors(scores.detach().double(), lists["target"], MEASURES, mask=lists["mask"]).mean
        metric = RetrievalMetric(MEASURES)
        metric.update(scores, lists["target"], mask=lists["mask"])
        assert floats(metric.compute()) == pytest.approx(dict(wanted), abs=1e-6)
        query = torch.arange(len(scores))[:, None].expand(scores.shape)
        metric = RetrievalMetric(MEASURES, missing="skip")
        metric.update(scores, lists["target"], indexes=query, mask=lists["mask"])
        alone = lists["mask"].any(dim=1)
        wanted = evaluate_tensors(
            scores.detach().double()[alone], lists["target"][alone], MEASURES, mask=lists["mask"][alone]
        ).mean
        assert floats(metric.compute()) == pytest.approx(dict(wanted), abs=FLOAT64)
        assert not metric.preds[0].requires_grad


def test_nothing_yet(torch: Any) -> None:
    metric = RetrievalMetric(["RR", "NumRet"])
    with pytest.warns(UserWarning, match="before"):
        assert floats(metric.compute()) == {"RR": 0.0, "NumRet": 0.0}
    metric.reset()
    metric.update(torch.ones(0, 4), torch.ones(0, 4))
    metric.update(torch.ones(0), torch.ones(0), indexes=torch.ones(0, dtype=torch.int64))
    assert floats(metric.compute()) == {"RR": 0.0, "NumRet": 0.0}


def test_in_a_collection(torch: Any, peers: Any) -> None:
    """Metrics that count differently never share what they keep, even if the first batch scores alike."""
    metrics = {
        "first": RetrievalMetric(["Success@1", "RR"]),
        "strict": RetrievalMetric(["Success@1", "RR"], rel=2),
        "same": RetrievalMetric(["Success@1", "RR"]),
        "mrr": peers.retrieval.RetrievalMRR(),
    }
    collection = peers.MetricCollection(metrics)
    scores, target = torch.tensor([3.0, 2, 1]), torch.tensor([2, 0, 0])
    query = torch.zeros(3, dtype=torch.int64)
    collection.update(scores, target > 0, indexes=query)
    collection.reset()
    rows = peers.MetricCollection({name: metrics[name].clone() for name in ("first", "strict", "same")})
    rows.update(scores[None], target[None])
    assert sorted(map(sorted, rows.compute_groups.values())) == [["first", "same"], ["strict"]]
    rows.update(scores[None], torch.tensor([[1, 0, 2]]))
    found = floats(rows.compute())
    assert found["first_Success@1"] == found["same_RR"] == 1.0
    assert found["strict_Success@1"] == 0.5
    assert found["strict_RR"] == pytest.approx(2 / 3)
    prefixed = peers.MetricCollection([RetrievalMetric(["RR"])], prefix="valid/")
    assert floats(prefixed(scores[None], target[None])) == {"valid/RR": 1.0}


def test_of_two_processes(torch: Any, tmp_path: Path) -> None:
    """Real ones: documents of one query in both, rows in each, and a process that has seen nothing."""
    command = [sys.executable, "-m", "tests.tensors.processes"]
    children = [
        subprocess.Popen([*command, str(rank), str(tmp_path / "meet")], stdout=subprocess.PIPE, text=True)
        for rank in (0, 1)
    ]
    try:
        outputs = [child.communicate(timeout=240)[0] for child in children]
    finally:
        for child in children:
            child.kill()
    assert [child.returncode for child in children] == [0, 0]
    first, second = map(json.loads, outputs)
    assert first == second
    from tests.tensors.processes import MEASURES, lists

    scores, grades, _ = lists()
    whole = dict(evaluate_tensors(scores.double(), grades, MEASURES).mean)
    assert first["split"] == pytest.approx(whole, abs=FLOAT64)
    skipping = evaluate_tensors(scores.double(), grades - 1, MEASURES, no_relevant="skip").mean
    assert first["padded"] == pytest.approx(dict(skipping), abs=1e-6)
    half = evaluate_tensors(scores.half().double(), grades, MEASURES).mean
    assert first["alone"] == pytest.approx(dict(half), abs=1e-6)
    assert first["nobody"] == dict.fromkeys(MEASURES, 0.0)


@pytest.mark.parametrize(
    ("update", "told"),
    [
        (lambda t: {"preds": [[1.0]]}, "`preds` must be a tensor, not list; torch.as_tensor() makes one"),
        (lambda t: {"preds": np.ones((2, 3))}, "`preds` must be a tensor, not ndarray"),
        (lambda t: {"preds": t.ones(6), "target": t.ones(6)}, "or `indexes`, which numbers the query of each document"),
        (lambda t: {"target": t.ones(2, 2)}, "`target` has the shape (2, 2), `preds` (2, 3); they must be equal"),
        (lambda t: {"indexes": t.zeros(2, 3)}, "`indexes` must hold whole numbers, not torch.float32; indexes.long()"),
        (lambda t: {"indexes": t.zeros(2, 3).bool()}, "`indexes` must hold whole numbers, not torch.bool"),
        (lambda t: {"indexes": t.full((2, 3), -1)}, "`indexes` holds -1: it numbers the queries from 0; leave out by"),
        (lambda t: {"indexes": t.zeros(2).long()}, "`indexes` has the shape (2,), `preds` (2, 3)"),
        (lambda t: {"mask": t.ones(2, 3)}, "`mask` must hold True and False, not torch.float32; mask.bool()"),
        (lambda t: {"preds": t.full((2, 3), t.nan)}, "`preds` holds NaN or infinite values"),
        (lambda t: {"preds": t.full((2, 3), t.inf), "indexes": t.zeros(2, 3).long()}, "`preds` holds NaN or infinite"),
        (lambda t: {"target": t.full((2, 3), t.inf)}, "`target` holds an infinite grade"),
        (lambda t: {"preds": t.ones(2, 3).bool()}, "`preds` must hold numbers, not torch.bool"),
        (lambda t: {"preds": t.ones(2, 3).cfloat()}, "`preds` must hold numbers, not torch.complex64"),
        (lambda t: {"target": t.ones(2, 3).cfloat()}, "`target` must hold grades"),
        (lambda t: {"target": t.ones(2, 3, device="meta")}, "`target` is on meta, `preds` on cpu; move them to one"),
    ],
)
def test_refused(torch: Any, update: Any, told: str) -> None:
    metric = RetrievalMetric("RR")
    arguments = {"preds": torch.ones(2, 3), "target": torch.ones(2, 3), **update(torch)}
    with pytest.raises(DataError) as error:
        metric.update(**arguments)
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"measures": "nDGC@10"}, "did you mean nDCG@10"),
        ({"tie": "trec"}, "did you mean ties?"),
        ({"sync_on_computed": True}, "did you mean sync_on_compute?"),
        ({"ties": "random"}, "ties='random' is not one of"),
        ({"contract": "beir"}, "drop_self=True needs ids"),
        ({"measures": "R(budget=10)"}, "needs the texts of the documents"),
        ({"measures": "Bpref", "ties": "expected"}, "no closed form"),
    ],
)
def test_refused_when_made(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(RankgaugeError) as error:
        RetrievalMetric(**settings)
    assert told in str(error.value)


def test_masked_values_may_be_anything(torch: Any) -> None:
    mask = torch.tensor([[True, False]])
    bad = torch.tensor([[1.0, torch.nan]])
    for layout in ({}, {"indexes": torch.tensor([[4, -1]])}):
        metric = RetrievalMetric("RR")
        metric.update(bad, torch.tensor([[1.0, torch.inf]]), mask=mask, **layout)
        assert float(metric.compute()) == 1.0
