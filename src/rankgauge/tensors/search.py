"""The nearest documents of each query: exact, with ties in a stated order, and never all scores at once.

Scores are computed for a block of queries and a block of documents, and only what can still enter a query's list is
kept. All blocks have one shape (the last one begins earlier and leaves out what was seen), so that equal vectors have
equal scores wherever they stand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankgauge.tensors.ordering import order_rows
from rankgauge.tensors.ranking import Array
from rankgauge.tensors.vectors import Vectors, exact_products

__all__ = ["SIMILARITIES", "nearest"]

SIMILARITIES = ("cosine", "dot", "l2")
BLOCKS = {"cpu": (1 << 21, 1 << 12), "": (1 << 26, 1 << 16)}
"""Scores of a block, and documents of it: 8 MB in the processor's memory, 256 MB on a device."""


def nearest(
    queries: Vectors,
    documents: Vectors,
    k: int,
    similarity: str,
    ties: str,
    own: Array | None,
    *,
    rounded: bool = False,
) -> tuple[Array, Array]:
    """Places and scores of the k nearest documents of each query, best first: -1 and 0 where there are fewer.

    `own` is the document that each query is itself, which is left out, or -1; `rounded` compares scores as float32.
    """
    xp, device, n = queries.xp, queries.device, len(queries)
    most, width = BLOCKS.get(str(device).split(":")[0].lower(), BLOCKS[""])
    width = min(len(documents), width)
    k = min(k, len(documents))
    index = xp.__array_namespace_info__().default_dtypes()["indexing"]
    if not k or not n:
        return (xp.full((n, k), -1, dtype=index, device=device), xp.zeros((n, k), dtype=queries.dtype, device=device))
    height = min(n, max(1, most // max(width, 4 * k)))
    places, scores = [], []
    with exact_products(xp, device) as settings:
        for first, skipped in _windows(n, height):
            asked = _asked(queries, first, first + height, similarity)
            self_places = None if own is None else own[first : first + height, None]
            best = _Best(xp, device, queries.dtype, index, height, k, ties)
            for start, seen in _windows(len(documents), width):
                block = _similarity(xp, asked, documents, start, start + width, similarity, settings)[:, seen:]
                if rounded:
                    top = float(xp.finfo(xp.float32).max)
                    block = xp.astype(xp.astype(xp.clip(block, min=-top, max=top), xp.float32), queries.dtype)
                if self_places is not None:
                    place = xp.arange(start + seen, start + width, dtype=index, device=device)
                    block = xp.where(place == self_places, xp.full_like(block, -xp.inf), block)
                best.take(block, start + seen)
            best.settle()
            found = best.scores > -xp.inf
            kept = xp.where(found, best.scores, xp.zeros_like(best.scores))
            if similarity == "l2":  # what all scores of a query lack
                kept = xp.where(found, xp.clip(kept - queries.squares[first : first + height, None], max=0.0), kept)
            places.append(xp.where(found, best.places, xp.full_like(best.places, -1))[skipped:, :])
            scores.append(kept[skipped:, :])
    return xp.concat(places), xp.concat(scores)


def _windows(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Where each window of one size begins, and how much of it the one before had."""
    for start in range(0, n, size):
        begin = min(start, n - size)
        yield begin, start - begin


def _asked(queries: Vectors, start: int, stop: int, similarity: str) -> Array:
    return queries.unit_block(start, stop) if similarity == "cosine" else queries.block(start, stop)


def _similarity(
    xp: Any, asked: Array, documents: Vectors, start: int, stop: int, similarity: str, settings: dict[str, Any]
) -> Array:
    """Inner products, cosines, or 2 q.d - |d|^2, which is |q|^2 more than the negative squared distance."""
    if similarity == "cosine":
        return xp.matmul(asked, xp.matrix_transpose(documents.unit_block(start, stop)), **settings)
    product = xp.matmul(asked, xp.matrix_transpose(documents.block(start, stop)), **settings)
    return product if similarity == "dot" else 2.0 * product - documents.squares[start:stop]


class _Best:
    """The k best of the documents seen so far, for each query of a block: in rank order, ties by the rule.

    A score that is below the last one kept can enter no list. Those that may are gathered until there are enough of
    them to be worth sorting: of n documents in any order, about k ln(n / k) in all.
    """

    def __init__(self, xp: Any, device: Any, dtype: Any, index: Any, rows: int, k: int, ties: str) -> None:
        self.xp, self.device, self.index = xp, device, index
        self.rows, self.k, self.late = rows, k, ties == "trec"  # the later of two with one score comes first
        self.ties = ties
        self.scores = xp.full((rows, k), -xp.inf, dtype=dtype, device=device)
        self.places = xp.full((rows, k), -1, dtype=index, device=device)
        self.waiting: list[tuple[Array, Array, Array]] = []
        self.n_waiting = 0
        self.library = xp.__name__.removeprefix("array_api_compat.").split(".")[0]

    def take(self, block: Array, first: int) -> None:
        """Scores of the documents from `first` on."""
        width = int(block.shape[1])
        if self.library not in ("numpy", "torch", "cupy"):
            self._merge(block, first + self.xp.arange(width, dtype=self.index, device=self.device))
            return
        begin = 0
        while begin < width:
            # As many as were seen: after them the last score kept is a good bound for twice as many.
            end = min(width, begin + max(first + begin, 4 * self.k))
            self._sift(block[:, begin:end], first + begin)
            begin = end

    def _sift(self, block: Array, first: int) -> None:
        xp, width = self.xp, int(block.shape[1])
        bound = self.scores[:, -1:]
        entering = block >= bound if self.late else block > bound
        n = int(xp.count_nonzero(entering))
        if 4 * n > self.rows * width:
            self.settle()
            self._merge(block, first + xp.arange(width, dtype=self.index, device=self.device))
        elif n:
            (place,) = xp.nonzero(xp.reshape(entering, (-1,)))  # ten times as fast in NumPy as rows and columns
            row = place // width
            column = place - row * width
            self.waiting.append((row, block[row, column], column + first))
            self.n_waiting += n
            if 2 * self.n_waiting > self.rows * self.k:
                self.settle()

    def settle(self) -> None:
        """Put those that wait into the lists."""
        if not self.waiting:
            return
        xp = self.xp
        row, score, place = (xp.concat(parts) for parts in zip(*self.waiting, strict=True))
        self.waiting, self.n_waiting = [], 0
        order = xp.argsort(row, stable=True)  # so that places rise along each row
        row, score, place = row[order], score[order], place[order]
        start = xp.searchsorted(row, xp.arange(self.rows + 1, dtype=row.dtype, device=self.device))
        slot = xp.arange(int(row.shape[0]), dtype=start.dtype, device=self.device) - start[row]
        width = int(xp.max(start[1:] - start[:-1]))
        scores = xp.full((self.rows, width), -xp.inf, dtype=self.scores.dtype, device=self.device)
        places = xp.full((self.rows, width), -1, dtype=self.index, device=self.device)
        scores[row, slot], places[row, slot] = score, place
        self._merge(scores, places)

    def _merge(self, scores: Array, places: Array) -> None:
        """Documents behind those seen, in columns, into the lists."""
        xp = self.xp
        places = xp.broadcast_to(places, scores.shape)
        if self.library == "jax":
            self._merge_first(scores, places)
            return
        # Columns in the order of the documents among ties, as the rule has it.
        own = (self.scores, self.places)
        if self.late:
            own = (xp.flip(self.scores, axis=1), xp.flip(self.places, axis=1))
        scores, places = (xp.concat(pair, axis=1) for pair in zip(own, (scores, places), strict=True))
        order = order_rows(xp, scores, self.ties, self.k)
        self.scores = xp.take_along_axis(scores, order, axis=1)
        self.places = xp.take_along_axis(places, order, axis=1)

    def _merge_first(self, scores: Array, places: Array) -> None:
        """The same by JAX's own operation, which takes the first of equal columns."""
        from jax.lax import top_k

        xp = self.xp
        if self.late:
            scores = xp.concat((xp.flip(scores, axis=1), self.scores), axis=1)
            places = xp.concat((xp.flip(places, axis=1), self.places), axis=1)
        else:
            scores, places = xp.concat((self.scores, scores), axis=1), xp.concat((self.places, places), axis=1)
        scores = xp.where(scores == 0, xp.zeros_like(scores), scores)  # -0.0 is no less than 0.0
        self.scores, order = top_k(scores, self.k)
        self.places = xp.take_along_axis(places, order, axis=1)
