"""`RetrievalMetric`: a metric of torchmetrics with the measures and the contract of `evaluate`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.extras import optional, optional_class
from rankgauge.measures import Measure, parse_measures
from rankgauge.model.contract import Contract
from rankgauge.tensors.evaluate import check_contract, evaluate_tensors
from rankgauge.tensors.kernels import kernel_of
from rankgauge.tensors.ranking import Array
from rankgauge.tensors.result import TensorScores

__all__ = ["RetrievalMetric"]

_NEEDED = ("RetrievalMetric", "torchmetrics", "torchmetrics")
_Metric: Any = optional_class("torchmetrics", "Metric", *_NEEDED)


@named_arguments
class RetrievalMetric(_Metric):  # type: ignore[misc]
    """A `torchmetrics.Metric` with the numbers of `evaluate`, for training loops: `update`, then `compute`.

    `measures`, `contract`, `ties`, `missing`, `no_relevant`, `depth` and `rel` are those of `evaluate_tensors`; the
    others are those of every metric of torchmetrics. `compute()` returns a dictionary
    from each measure, as it was asked for, to its mean; of a single measure given as a text, the mean alone.

    Rows of whole queries are scored at once, and only their scores are kept: 8 bytes for each query and measure. With
    `indexes`, documents of a query may come in several updates and processes, so all are kept until `compute`: 24 bytes
    for each document.
    """

    is_differentiable = False
    full_state_update = False

    def __init__(
        self,
        measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
        *,
        contract: str | Contract | None = None,
        ties: str | None = None,
        missing: str | None = None,
        no_relevant: str | None = None,
        depth: int | None = None,
        rel: float | None = None,
        compute_on_cpu: bool = False,
        compute_with_cache: bool = True,
        dist_sync_on_step: bool = False,
        dist_sync_fn: Callable[..., Any] | None = None,
        distributed_available_fn: Callable[[], bool] | None = None,
        process_group: Any = None,
        sync_on_compute: bool = True,
    ) -> None:
        settings = {
            "compute_on_cpu": compute_on_cpu,
            "compute_with_cache": compute_with_cache,
            "dist_sync_on_step": dist_sync_on_step,
            "dist_sync_fn": dist_sync_fn,
            "distributed_available_fn": distributed_available_fn,
            "process_group": process_group,
            "sync_on_compute": sync_on_compute,
        }
        super().__init__(**settings)
        asked = [str(measure) for measure in parse_measures(measures)]
        self._choices = (asked, contract, ties, missing, no_relevant, None, depth, rel)
        self._alone = isinstance(measures, str | Measure) and len(asked) == 1
        plan = self._plan
        check_contract(plan.contract)
        for measure in plan.measures:
            kernel_of(measure, plan.contract)
        torch = optional("torch", *_NEEDED)
        # A collection lets metrics share their states where these are equal after the first batch. Scores may be so by
        # chance; metrics that count alike are told by this state, which nothing changes.
        told = hashlib.sha256(repr((list(map(str, plan.measures)), plan.contract)).encode()).digest()
        self.add_state("counts_as", torch.tensor(list(told)), dist_reduce_fx="max")
        self.add_state("scores", [], dist_reduce_fx="cat")
        for name in ("preds", "target", "indexes"):
            self.add_state(name, [], dist_reduce_fx="cat")

    @cached_property
    def _plan(self) -> Plan:
        return make_plan(*self._choices)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_plan"}  # made of functions

    @property
    def higher_is_better(self) -> bool | None:
        """Whether more is better, of all measures; None where they differ."""
        lower = {measure.definition.lower_is_better for measure in self._plan.measures}
        return None if len(lower) > 1 else not lower.pop()

    def update(self, preds: Array, target: Array, indexes: Array | None = None, mask: Array | None = None) -> None:
        """Take scores and grades: a row for each query and a column for each document, of which `mask` says which are
        documents; or, with `indexes`, tensors of any one shape, in which it numbers the query of each document."""
        torch = optional("torch", *_NEEDED)
        given = {"preds": preds, "target": target, "indexes": indexes, "mask": mask}
        given = {name: value for name, value in given.items() if value is not None}
        _check(torch, given)
        if indexes is None:
            result = self._evaluated(preds, target, mask=mask)
            self.scores.append(self._rows(result))
            return
        if mask is not None:
            preds, target, indexes = preds[mask], target[mask], indexes[mask]
        if indexes.numel() and int(indexes.min()) < 0:
            raise DataError(
                f"`indexes` holds {int(indexes.min())}: it numbers the queries from 0; leave out by `mask` what "
                "belongs to no query"
            )
        real = self._real(preds.device)
        self.preds.append(preds.detach().reshape(-1).to(real))
        self.target.append(target.detach().reshape(-1).to(real))
        self.indexes.append(indexes.detach().reshape(-1).to(torch.int64))

    def compute(self) -> Any:
        """The mean of each measure over all queries, of all processes; 0 where there are none."""
        torch = optional("torch", *_NEEDED)
        rows = [torch.cat(self._parts("scores"))]
        preds = torch.cat(self._parts("preds"))
        if preds.numel():
            indexes = torch.cat(self._parts("indexes"))
            _, groups = torch.unique(indexes, return_inverse=True)
            found = self._rows(self._evaluated(preds, torch.cat(self._parts("target")), groups=groups))
            rows = [rows[0].to(found.device), found]  # states may be kept on the processor (compute_on_cpu)
        together = torch.cat(rows)
        n = len(self._plan.measures)
        counted = together[:, n:] > 0
        means = TensorScores(together[:, :n], counted, counted[:, 0], self._plan).aggregates
        return means[0] if self._alone else {str(measure): means[j] for j, measure in enumerate(self._plan.asked)}

    def sync(self, *args: Any, **kwargs: Any) -> None:
        """Bring the states of all processes together; those without data take part with empty ones of the same kind."""
        for name in ("scores", "preds", "target", "indexes"):
            setattr(self, name, self._parts(name))
        super().sync(*args, **kwargs)

    def _evaluated(self, preds: Array, target: Array, **layout: Any) -> TensorScores:
        plan = self._plan
        result: TensorScores = evaluate_tensors(preds, target, plan.measures, contract=plan.contract, **layout)
        return result

    def _rows(self, result: TensorScores) -> Array:
        """Scores of each query, and beside them whether they count."""
        torch = optional("torch", *_NEEDED)
        values = result.values.to(self._real(result.values.device))
        kept = torch.ones_like(values) if result.counted is None else result.counted.to(values.dtype)
        return torch.cat((values, kept), dim=1)

    def _parts(self, name: str) -> list[Array]:
        """The tensors of a state, which is a single one where states were brought together."""
        torch = optional("torch", *_NEEDED)
        state = getattr(self, name)
        parts = list(state) if isinstance(state, list | tuple) else [state]
        shape = (0, 2 * len(self._plan.measures)) if name == "scores" else (0,)
        kind = torch.int64 if name == "indexes" else self._real(self.device)
        return parts or [torch.zeros(shape, dtype=kind, device=self.device)]

    @staticmethod
    def _real(device: Any) -> Any:
        """float64, which holds every score and grade as it is; one kind, so that processes can put theirs together."""
        torch = optional("torch", *_NEEDED)
        return torch.float32 if device.type == "mps" else torch.float64


def _check(torch: Any, given: dict[str, Array]) -> None:
    """What is wrong with the tensors of an update, so that it is said where it happens."""
    for name, value in given.items():
        if not isinstance(value, torch.Tensor):
            raise DataError(f"`{name}` must be a tensor, not {type(value).__name__}; torch.as_tensor() makes one")
    preds, target, mask = given["preds"], given["target"], given.get("mask")
    for name, value in given.items():
        if value.device != preds.device:
            raise DataError(f"`{name}` is on {value.device}, `preds` on {preds.device}; move them to one device")
        if value.shape != preds.shape:
            shapes = f"`{name}` has the shape {tuple(value.shape)}, `preds` {tuple(preds.shape)}"
            raise DataError(f"{shapes}; they must be equal")
    if "indexes" in given:
        kind = given["indexes"].dtype
        if kind.is_floating_point or kind.is_complex or kind == torch.bool:
            raise DataError(f"`indexes` must hold whole numbers, not {kind}; indexes.long() makes them")
    elif preds.ndim != 2:
        raise DataError(
            f"`preds` has the shape {tuple(preds.shape)}: give a row for each query and a column for each document, or "
            "`indexes`, which numbers the query of each document"
        )
    if mask is not None and mask.dtype != torch.bool:
        raise DataError(f"`mask` must hold True and False, not {mask.dtype}; mask.bool() makes them")
    if preds.is_complex() or preds.dtype == torch.bool:
        raise DataError(f"`preds` must hold numbers, not {preds.dtype}")
    if target.is_complex():
        raise DataError(f"`target` must hold grades: numbers, or True and False, not {target.dtype}")
    kept = slice(None) if mask is None else mask
    if not bool(torch.isfinite(preds[kept]).all()):
        raise DataError("`preds` holds NaN or infinite values; leave such documents out by `mask`, or mend them")
    if bool(torch.isposinf(target[kept]).any()):
        raise DataError("`target` holds an infinite grade; NaN says that nobody judged a document")
