"""Arrays as given, checked and cut into chunks of equally long rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.tensors.ranking import Array

__all__ = ["Inputs", "Part", "read_inputs"]

_SPARSE = 100
"""More queries without documents than this for each document are taken for ids that are no numbers of queries."""


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """Some queries, one row for each: scores and grades of their documents, and which columns hold any (None: all)."""

    scores: Array
    grades: Array
    listed: Array | None
    judged: Array | None
    """Grades of all judged documents, where they were given."""


@dataclass(frozen=True, eq=False, repr=False)
class Inputs:
    """The arrays of one call, on one device."""

    xp: Any
    device: Any
    dtype: Any
    """In which scores are computed."""
    scores: Array
    relevance: Array
    judged: Array | None
    mask: Array | None
    all_grades: Array | None
    lists: Lists | None
    """Where rows are documents."""
    n_queries: int
    back: Callable[[Array], Array] | None
    """What makes an array of the caller's library, where another one computes."""

    @cached_property
    def width(self) -> int:
        return int(self.scores.shape[1]) if self.lists is None else self.lists.longest

    def parts(self, elements: int, least: int) -> Iterator[Part]:
        """Chunks of at most so many elements; `least` columns are counted even where lists are shorter."""
        if self.lists is None:
            step = max(1, elements // max(self.width, least))
            for start in range(0, self.n_queries, step):
                yield self._slice(slice(start, min(start + step, self.n_queries)))
            return
        for start, stop, width in self.lists.bands(elements):
            step = max(1, elements // max(width, least))
            for begin in range(start, stop, step):
                yield self._gathered(self.lists, slice(begin, min(begin + step, stop)), width)

    def values(self, elements: int) -> Iterator[tuple[Array | None, Array]]:
        """All scores and grades as they lie, in chunks of at most so many; those of no document are 0."""
        step = max(1, elements if self.lists is not None else elements // self.width)
        for start in range(0, int(self.scores.shape[0]), step):
            rows = slice(start, min(start + step, int(self.scores.shape[0])))
            part = self._slice(rows)
            yield part.scores, part.grades
            if part.judged is not None:
                yield None, part.judged
        if self.lists is not None and self.all_grades is not None:
            step = max(1, elements // int(self.all_grades.shape[1]))
            for start in range(0, self.n_queries, step):
                yield None, self._grades(self.all_grades[start : min(start + step, self.n_queries), :], None, None)

    def _slice(self, rows: slice) -> Part:
        """Rows as they lie: queries, or documents where these are ragged."""
        xp, mask = self.xp, None if self.mask is None else self.mask[rows, ...]
        known = None if self.judged is None else self.judged[rows, ...]
        grades = self._grades(self.relevance[rows, ...], known, mask)
        extra = None
        if self.all_grades is not None and self.lists is None:
            extra = self._grades(self.all_grades[rows, :], None, None)
        scores = self._scores(self.scores[rows, ...])
        if mask is not None:
            scores = xp.where(mask, scores, xp.zeros_like(scores))
        return Part(scores, grades, mask, extra)

    def _gathered(self, lists: Lists, rows: slice, width: int) -> Part:
        xp, queries = self.xp, lists.by_length[rows]
        place = xp.arange(width, dtype=lists.starts.dtype, device=self.device)
        first = xp.take(lists.starts, queries, axis=0)[:, None]
        listed = place < xp.take(lists.lengths, queries, axis=0)[:, None]
        last = int(self.scores.shape[0]) - 1
        row = xp.reshape(xp.clip(first + place, max=last), (-1,))
        if lists.order is not None:
            row = xp.take(lists.order, row, axis=0)

        def gather(values: Array) -> Array:
            return xp.reshape(xp.take(values, row, axis=0), listed.shape)

        known = None if self.judged is None else gather(self.judged)
        grades = self._grades(gather(self.relevance), known, listed)
        extra = self.all_grades
        if extra is not None:
            extra = self._grades(xp.take(extra, queries, axis=0), None, None)
        scores = self._scores(gather(self.scores))
        return Part(xp.where(listed, scores, xp.zeros_like(scores)), grades, listed, extra)

    def _scores(self, scores: Array) -> Array:
        return self.xp.astype(scores, self.dtype, copy=False)

    def _grades(self, grades: Array, judged: Array | None, listed: Array | None) -> Array:
        """Grades, minus infinite where nobody judged and where there is no document."""
        xp = self.xp
        real = xp.isdtype(grades.dtype, "real floating")
        grades = xp.astype(grades, self.dtype, copy=False)
        known = listed if judged is None else judged if listed is None else judged & listed
        if real:
            known = ~xp.isnan(grades) if known is None else known & ~xp.isnan(grades)
        return grades if known is None else xp.where(known, grades, xp.full_like(grades, -xp.inf))

    def returned(self, values: Array) -> Array:
        """Rows as the parts gave them, in the order of the queries and as the caller's arrays are."""
        if self.lists is not None:
            values = self.xp.take(values, self.xp.argsort(self.lists.by_length), axis=0)
        return values if self.back is None else self.back(values)


@dataclass(frozen=True, eq=False, repr=False)
class Lists:
    """Rows of documents by query: list q is `order[starts[q]:starts[q] + lengths[q]]`, or just those rows where there
    is no `order`."""

    order: Array | None
    starts: Array
    lengths: Array
    by_length: Array
    """Queries, those with the longest list first."""
    longer: list[int]
    """How many lists are longer than 0, 1, 2, 4, 8, ... documents."""
    longest: int

    def bands(self, elements: int) -> Iterator[tuple[int, int, int]]:
        """(start, stop, width): queries whose lists are of about the same length, which share the width of the longest,
        so that rows are less than half empty. Where so many elements hold all at that width, they stay together."""
        limits = [0, *(2**i for i in range(len(self.longer) - 1))]
        n, start = int(self.lengths.shape[0]), 0
        if n * self.longest <= elements:
            yield 0, n, self.longest
            return
        for limit, stop in reversed(list(zip(limits, self.longer, strict=True))):
            if stop > start:
                yield start, stop, min(max(2 * limit, 1), self.longest)
                start = stop
        if n > start:
            yield start, n, 1


def read_inputs(
    scores: Array,
    relevance: Array,
    mask: Array | None,
    groups: Array | None,
    n_queries: int | None,
    judged: Array | None,
    all_grades: Array | None,
) -> Inputs:
    """The arrays, with all that can be checked without a look at their values."""
    compat = optional("array_api_compat", "evaluate_tensors", "array-api-compat", "tensors")
    given = {
        name: value
        for name, value in {
            "scores": scores,
            "relevance": relevance,
            "mask": mask,
            "groups": groups,
            "judged": judged,
            "all_grades": all_grades,
        }.items()
        if value is not None
    }
    xp, device = _place(compat, given)
    given = {name: value.detach() if hasattr(value, "detach") else value for name, value in given.items()}
    _check_kinds(xp, given)
    n = _check_shapes(given, n_queries)
    back = None
    if not compat.is_numpy_array(given["scores"]) and on_processor(device):
        xp, device, given, back = _through_numpy(compat, xp, device, given)
    dtype = _work_type(xp, device, given["scores"].dtype)
    lists = None
    if groups is not None:
        lists, n = _lists(xp, device, given["groups"], n_queries)
        if not int(scores.shape[0]):  # no rows: nothing to gather from
            given, lists = given | _one_empty_column(xp, given, n), None
    elif not int(scores.shape[1]):
        given |= _one_empty_column(xp, given, n)
    extra = given.get("all_grades")
    if extra is not None:
        if int(extra.shape[0]) != n:
            raise DataError(f"`all_grades` has {int(extra.shape[0])} rows, but there are {n} queries")
        if not int(extra.shape[1]):
            given["all_grades"] = xp.full((n, 1), -1, dtype=xp.float32, device=device)
    return Inputs(
        xp=xp,
        device=device,
        dtype=dtype,
        scores=given["scores"],
        relevance=given["relevance"],
        judged=given.get("judged"),
        mask=given.get("mask"),
        all_grades=given.get("all_grades"),
        lists=lists,
        n_queries=n,
        back=back,
    )


def _one_empty_column(xp: Any, given: dict[str, Array], n: int) -> dict[str, Array]:
    """Rows of one column without a document, where there is no document at all."""
    kept: dict[str, Any] = {name: given[name].dtype for name in ("scores", "relevance", "judged") if name in given}
    device = optional("array_api_compat", "evaluate_tensors", "array-api-compat", "tensors").device(given["scores"])
    return {name: xp.zeros((n, 1), dtype=dtype, device=device) for name, dtype in {**kept, "mask": xp.bool}.items()}


def _place(compat: Any, given: dict[str, Array]) -> tuple[Any, Any]:
    """The library of the arrays and the device that they are on: one each."""
    for name, value in given.items():
        if not compat.is_array_api_obj(value):
            raise DataError(f"`{name}` must be an array (NumPy, PyTorch, JAX, CuPy), not {type(value).__name__}")
    try:
        xp = compat.array_namespace(*given.values())
    except TypeError:
        kinds = ", ".join(f"`{name}` of {type(value).__module__.split('.')[0]}" for name, value in given.items())
        raise DataError(f"arrays of several libraries: {kinds}; convert them to one") from None
    devices = {name: compat.device(value) for name, value in given.items()}
    if len({str(device) for device in devices.values()}) > 1:
        told = ", ".join(f"`{name}` on {device}" for name, device in devices.items())
        raise DataError(f"arrays on several devices: {told}; move them to one")
    return xp, devices["scores"]


def on_processor(device: Any) -> bool:
    """Whether PyTorch's or JAX's arrays on a device lie in the memory of the processor."""
    return "cpu" in (getattr(device, "type", None), getattr(device, "platform", None))


def _through_numpy(
    compat: Any, xp: Any, device: Any, given: dict[str, Array]
) -> tuple[Any, Any, dict[str, Array], Callable[[Array], Array]]:
    """Such arrays are NumPy's too, without a copy. It sorts rows several times as fast, and waits neither for threads
    nor for a compiler between the small steps that all this is made of."""
    half = getattr(xp, "bfloat16", None)  # which NumPy lacks
    plain = {name: xp.astype(value, xp.float32) if value.dtype == half else value for name, value in given.items()}
    arrays = {name: np.asarray(value) for name, value in plain.items()}
    return compat.array_namespace(*arrays.values()), "cpu", arrays, lambda array: xp.asarray(array, device=device)


def _check_kinds(xp: Any, given: dict[str, Array]) -> None:
    wanted = {
        "scores": ("numbers", ("integral", "real floating")),
        "relevance": ("grades: numbers, or True and False", ("bool", "integral", "real floating")),
        "all_grades": ("grades: numbers, or True and False", ("bool", "integral", "real floating")),
        "mask": ("True and False", ("bool",)),
        "judged": ("True and False", ("bool",)),
        "groups": ("whole numbers", ("integral",)),
    }
    for name, value in given.items():
        what, kinds = wanted[name]
        if not xp.isdtype(value.dtype, kinds):
            raise DataError(f"`{name}` must hold {what}, not {value.dtype}")


def _check_shapes(given: dict[str, Array], n_queries: int | None) -> int:
    shape = tuple(given["scores"].shape)
    ragged = "groups" in given
    if ragged and "mask" in given:
        raise DataError("`mask` goes with rows of equal length, `groups` with one row for each document; give one")
    if len(shape) != (1 if ragged else 2):
        wanted = "one row for each document" if ragged else "one row for each query and a column for each document"
        more = "" if ragged else "; of one query give scores[None, :], of lists one after another `groups` too"
        raise DataError(f"`scores` must have {wanted}, not the shape {shape}{more}")
    for name in ("relevance", "mask", "judged", "groups"):
        if name in given and tuple(given[name].shape) != shape:
            raise DataError(f"`{name}` has the shape {tuple(given[name].shape)}, `scores` {shape}; they must be equal")
    if "all_grades" in given and len(given["all_grades"].shape) != 2:
        raise DataError("`all_grades` must have one row for each query and a column for each judged document")
    if n_queries is not None and (isinstance(n_queries, bool) or not isinstance(n_queries, int) or n_queries < 0):
        raise DataError(f"`n_queries={n_queries!r}` must be a whole number of at least 0")
    if n_queries is not None and not ragged and n_queries != shape[0]:
        raise DataError(f"`n_queries={n_queries}`, but `scores` has {shape[0]} rows; it goes with `groups`")
    return int(shape[0])


def _work_type(xp: Any, device: Any, dtype: Any) -> Any:
    """float64 for float64 and whole numbers, where there is one; else float32."""
    if xp.isdtype(dtype, "real floating"):
        return xp.float64 if dtype == xp.float64 else xp.float32
    return best_type(xp, device)


def best_type(xp: Any, device: Any) -> Any:
    """float64, or float32 where there is none (JAX without x64, some devices)."""
    return xp.__array_namespace_info__().dtypes(device=device, kind="real floating").get("float64", xp.float32)


def _lists(xp: Any, device: Any, groups: Array, n_queries: int | None) -> tuple[Lists | None, int]:
    index = xp.__array_namespace_info__().default_dtypes()["indexing"]
    if not int(groups.shape[0]):
        return None, n_queries or 0
    falls = xp.any(groups[1:] < groups[:-1])
    low, high, unsorted = map(int, to_host(xp.stack((xp.min(groups), xp.max(groups), xp.astype(falls, groups.dtype)))))
    if low < 0:
        raise DataError(f"`groups` holds {low}: it numbers the queries from 0")
    n = high + 1 if n_queries is None else n_queries
    if n_queries is None and high > _SPARSE * int(groups.shape[0]) + 1000:
        raise DataError(
            f"`groups` holds {high} for {int(groups.shape[0])} documents: it numbers the queries from 0, so that each "
            "number stands for one; renumber them (unique with return_inverse=True), or give `n_queries`"
        )
    if high >= n:
        raise DataError(f"`groups` holds {high}, but `n_queries={n}` numbers the queries from 0 to {n - 1}")
    groups = xp.astype(groups, index)  # a copy lies in one piece, as PyTorch's search wants it
    order = xp.argsort(groups, stable=True) if unsorted else None
    if order is not None:
        groups = xp.take(groups, order, axis=0)
    bounds = xp.searchsorted(groups, xp.arange(n + 1, dtype=index, device=device))
    bounds = xp.astype(bounds, index, copy=False)
    lengths = bounds[1:] - bounds[:-1]
    by_length = xp.argsort(lengths, descending=True, stable=True)
    limits = [0, *(2**i for i in range(max(int(groups.shape[0]).bit_length(), 1)))]
    at = xp.asarray(limits, dtype=index, device=device)
    shorter = xp.searchsorted(xp.sort(lengths), at, side="right")
    told = to_host(xp.concat((n - xp.astype(shorter, index), xp.max(lengths)[None])))
    *longer, longest = (int(value) for value in told)
    return Lists(order, bounds[:-1], lengths, by_length, longer, longest), n


def to_host(values: Array) -> list[Any]:
    """The numbers of a short array, in one transfer where the library has one."""
    if hasattr(values, "tolist"):
        return list(values.tolist())
    return [float(values[i]) for i in range(int(values.shape[0]))]
