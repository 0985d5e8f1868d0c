"""Which library the arrays of a call are of, where they lie, and what numbers it has there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankgauge.errors import DataError
from rankgauge.tensors.ranking import Array

__all__ = ["best_type", "on_processor", "place_of", "through_numpy", "to_host", "work_type"]


def place_of(compat: Any, given: dict[str, Array]) -> tuple[Any, Any]:
    """The library of the arrays and the device that they are on: one each."""
    for name, value in given.items():
        if not compat.is_array_api_obj(value):
            raise DataError(f"`{name}` must be an array (NumPy, PyTorch, JAX, CuPy), not {type(value).__name__}")
        if (lacking := _unfit(value)) is not None:
            raise DataError(f"`{name}` is {lacking}")
    try:
        xp = compat.array_namespace(*given.values())
    except TypeError:
        kinds = ", ".join(f"`{name}` of {type(value).__module__.split('.')[0]}" for name, value in given.items())
        raise DataError(f"arrays of several libraries: {kinds}; convert them to one") from None
    devices = {name: compat.device(value) for name, value in given.items()}
    if len({str(device) for device in devices.values()}) > 1:
        told = ", ".join(f"`{name}` on {device}" for name, device in devices.items())
        raise DataError(f"arrays on several devices: {told}; move them to one")
    device = next(iter(devices.values()))
    if str(device) == "meta":
        raise DataError("the arrays are on PyTorch's device meta, where they hold no numbers")
    return xp, device


def _unfit(value: Array) -> str | None:
    """What keeps an array from being read as plain rows, and what to give instead."""
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array, whose mask would be lost: give its `.data`, and what is left out as `mask`"
    if getattr(value, "is_nested", False):
        return "a nested tensor: give documents flat, with `groups`, or padded (`.to_padded_tensor(0)`), with `mask`"
    if hasattr(value, "is_sparse") and str(value.layout) != "torch.strided":
        return "a sparse tensor: give it dense (`.to_dense()`)"
    return None


def on_processor(device: Any) -> bool:
    """Whether PyTorch's or JAX's arrays on a device lie in the memory of the processor."""
    return "cpu" in (getattr(device, "type", None), getattr(device, "platform", None))


def through_numpy(
    compat: Any, xp: Any, device: Any, given: dict[str, Array]
) -> tuple[Any, Any, dict[str, Array], Callable[[Array], Array]]:
    """Such arrays are NumPy's too, without a copy. It sorts rows several times as fast, and waits neither for threads
    nor for a compiler between the small steps that all this is made of."""
    half = getattr(xp, "bfloat16", None)  # which NumPy lacks
    plain = {name: xp.astype(value, xp.float32) if value.dtype == half else value for name, value in given.items()}
    arrays = {name: np.asarray(value) for name, value in plain.items()}
    return compat.array_namespace(*arrays.values()), "cpu", arrays, lambda array: xp.asarray(array, device=device)


def work_type(xp: Any, device: Any, dtype: Any) -> Any:
    """float64 for float64 and whole numbers, where there is one; else float32."""
    if xp.isdtype(dtype, "real floating"):
        return xp.float64 if dtype == xp.float64 else xp.float32
    return best_type(xp, device)


def best_type(xp: Any, device: Any) -> Any:
    """float64, or float32 where there is none (JAX without x64, some devices)."""
    return xp.__array_namespace_info__().dtypes(device=device, kind="real floating").get("float64", xp.float32)


def to_host(values: Array) -> list[Any]:
    """The numbers of a short array, in one transfer where the library has one."""
    if hasattr(values, "tolist"):
        return list(values.tolist())
    return [float(values[i]) for i in range(int(values.shape[0]))]
