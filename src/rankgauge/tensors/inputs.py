"""Arrays as given, checked and cut into chunks of equally long rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.tensors.libraries import on_processor, place_of, through_numpy, work_type
from rankgauge.tensors.ragged import Lists, lists_of
from rankgauge.tensors.ranking import Array

__all__ = ["Inputs", "Part", "read_inputs"]

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
        if real:  # of which NaN is not greater either
            known = grades > -xp.inf if known is None else known & (grades > -xp.inf)
        return grades if known is None else xp.where(known, grades, xp.full_like(grades, -xp.inf))

    def returned(self, values: Array) -> Array:
        """Rows as the parts gave them, in the order of the queries and as the caller's arrays are."""
        if self.lists is not None:
            values = self.xp.take(values, self.xp.argsort(self.lists.by_length), axis=0)
        return values if self.back is None else self.back(values)


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
        if value is not None or name in ("scores", "relevance")
    }
    xp, device = place_of(compat, given)
    given = {name: value.detach() if hasattr(value, "detach") else value for name, value in given.items()}
    _check_kinds(xp, given)
    n = _check_shapes(given, n_queries)
    back = None
    if not compat.is_numpy_array(given["scores"]) and on_processor(device):
        xp, device, given, back = through_numpy(compat, xp, device, given)
    dtype = work_type(xp, device, given["scores"].dtype)
    lists = None
    if groups is not None:
        lists, n = lists_of(xp, device, given["groups"], n_queries)
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
