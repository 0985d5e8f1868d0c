"""Embeddings as given, checked, and read block by block as numbers that can be multiplied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.tensors.libraries import on_processor, place_of, to_host, work_type
from rankgauge.tensors.ranking import Array

__all__ = ["Vectors", "exact_products", "read_vectors"]

_ELEMENTS = 1 << 24
"""Numbers that are looked at together."""


@dataclass(frozen=True, eq=False, repr=False)
class Vectors:
    """Embeddings of queries or documents, a row each, and how the library that computes reads some of them."""

    xp: Any
    device: Any
    dtype: Any
    """float32, or float64 where that was given: in it everything is multiplied and added."""
    rows: Array
    opened: Callable[[Array], Array]
    squares: Array
    """The sum of the squares of each row."""
    tiny: bool
    """Whether some rows are so small that their squares are no longer exact, or 0."""
    back: Callable[[Array], Array]
    """What makes an array of the caller's library."""

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def block(self, start: int, stop: int) -> Array:
        return self.opened(self.rows[start:stop, :])

    def unit_block(self, start: int, stop: int) -> Array:
        """The same with every row of length 1; a row of zeros stays as it is."""
        rows, squares = self.block(start, stop), self.squares[start:stop, None]
        if self.tiny:  # these alone are brought to a size of about 1 first
            ones = self.xp.ones_like(squares)
            largest = self.xp.max(self.xp.abs(rows), axis=1, keepdims=True)
            few = (squares < _smallest(self.xp, self.dtype)) & (largest > 0)
            rows = rows / self.xp.where(few, largest, ones)
            squares = self.xp.where(few, self.xp.sum(rows * rows, axis=1, keepdims=True), squares)
        lengths = self.xp.sqrt(squares)
        return rows / self.xp.where(lengths > 0, lengths, self.xp.ones_like(lengths))


def _smallest(xp: Any, dtype: Any) -> float:
    """Sums of squares from here on have lost nothing by underflow."""
    numbers = xp.finfo(dtype)
    return float(numbers.smallest_normal) / float(numbers.eps) ** 2


def read_vectors(queries: Array, documents: Array) -> tuple[Vectors, Vectors]:
    compat = optional("array_api_compat", "evaluate_embeddings", "array-api-compat", "tensors")
    given = {"queries": queries, "documents": documents}
    given_xp, device = place_of(compat, given)
    given = {name: value.detach() if hasattr(value, "detach") else value for name, value in given.items()}
    for name, value in given.items():
        if not given_xp.isdtype(value.dtype, ("integral", "real floating")):
            raise DataError(f"`{name}` must hold numbers, not {value.dtype}")
        if len(value.shape) != 2 or not int(value.shape[1]):
            raise DataError(
                f"`{name}` must have a row for each of the {name} and a column for each dimension, not the shape "
                f"{tuple(value.shape)}; of one vector give it as {name}[None, :]"
            )
    columns = [int(value.shape[1]) for value in given.values()]
    if columns[0] != columns[1]:
        raise DataError(
            f"`queries` have {columns[0]} dimensions, `documents` {columns[1]}; embed both with one model, "
            "and cut both to one length"
        )
    types = [work_type(given_xp, device, value.dtype) for value in given.values()]
    wide = given_xp.float64 in types
    if not compat.is_numpy_array(queries) and on_processor(device):
        # As evaluate_tensors does: NumPy computes in the memory of the others, block by block.
        xp = compat.array_namespace(np.empty(0))
        half, plain = getattr(given_xp, "bfloat16", None), given_xp.float32
        dtype: Any = xp.float64 if wide else xp.float32

        def opened(rows: Array) -> Array:
            rows = given_xp.astype(rows, plain) if rows.dtype == half else rows
            return np.asarray(rows).astype(dtype, copy=False)

        made = [_vectors(xp, "cpu", dtype, name, value, opened, _to(given_xp, device)) for name, value in given.items()]
        return made[0], made[1]
    dtype = given_xp.float64 if wide else given_xp.float32
    made = [
        _vectors(given_xp, device, dtype, name, value, lambda rows: given_xp.astype(rows, dtype, copy=False), _same)
        for name, value in given.items()
    ]
    return made[0], made[1]


def _to(xp: Any, device: Any) -> Callable[[Array], Array]:
    return lambda array: xp.asarray(array, device=device)


def _same(array: Array) -> Array:
    return array


def _vectors(
    xp: Any,
    device: Any,
    dtype: Any,
    name: str,
    rows: Array,
    opened: Callable[[Array], Array],
    back: Callable[[Array], Array],
) -> Vectors:
    n, step = int(rows.shape[0]), max(1, _ELEMENTS // int(rows.shape[1]))
    sums = []
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, step):
            part = opened(rows[start : min(start + step, n), :])
            sums.append(xp.sum(part * part, axis=1))
    squares = xp.concat(sums) if sums else xp.zeros(0, dtype=dtype, device=device)
    tiny = False
    if n:
        wrong = ~xp.isfinite(squares)
        first = xp.argmax(xp.astype(wrong, xp.int32))
        few = xp.any(squares < _smallest(xp, dtype))
        any_wrong, first, tiny = to_host(
            xp.stack((xp.astype(xp.any(wrong), first.dtype), first, xp.astype(few, first.dtype)))
        )
        if any_wrong:
            raise DataError(
                f"`{name}[{int(first)}]` holds NaN, infinite or too large numbers, so its similarity to anything is "
                "unknown; mend what made it, such as an empty text or a model that overflows in half precision"
            )
    return Vectors(xp, device, dtype, rows, opened, squares, bool(tiny), back)


@contextmanager
def exact_products(xp: Any, device: Any) -> Iterator[dict[str, Any]]:
    """Products in full precision, whatever the caller's training loop has chosen: arguments for `matmul`."""
    library = xp.__name__.removeprefix("array_api_compat.").split(".")[0]
    with ExitStack() as stack:
        if library == "torch":
            torch = optional("torch", "evaluate_embeddings", "torch", "tensors")
            stack.enter_context(torch.no_grad())
            stack.enter_context(torch.autocast(device.type, enabled=False))
            _without_tf32(torch, stack)
        yield {"precision": "highest"} if library == "jax" else {}


def _without_tf32(torch: Any, stack: ExitStack) -> None:
    try:
        before = torch.get_float32_matmul_precision()
    except RuntimeError:  # it was chosen in the newer way, of which the older one knows nothing
        matmul = torch.backends.cuda.matmul
        stack.callback(setattr, matmul, "fp32_precision", matmul.fp32_precision)
        matmul.fp32_precision = "ieee"
        return
    if before != "highest":
        torch.set_float32_matmul_precision("highest")
        stack.callback(torch.set_float32_matmul_precision, before)
