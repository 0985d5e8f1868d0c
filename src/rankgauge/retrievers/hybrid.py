"""Several retrievers searched side by side, their lists fused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rankgauge.arguments import named_arguments
from rankgauge.errors import RankgaugeError
from rankgauge.retrievers.checks import check_query, check_whole
from rankgauge.retrievers.configuration import described
from rankgauge.retrievers.fusion import check_options, check_weights, fuse_lists
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.interface import Retriever, as_retriever

__all__ = ["Hybrid"]


class Hybrid:
    """The best `depth` documents of each retriever, fused by `rankgauge.retrievers.fuse_lists`.

    Retrievers given by name may have their weights by name. More than `depth` are taken where a search wants more.
    """

    @named_arguments
    def __init__(
        self,
        retrievers: Sequence[Retriever] | Mapping[str, Retriever],
        *,
        method: str = "weighted",
        weights: Sequence[float] | Mapping[str, float] | None = None,
        norm: str = "min-max",
        rrf_k: float = 60,
        depth: int = 100,
    ) -> None:
        named = dict(retrievers) if isinstance(retrievers, Mapping) else dict(enumerate(retrievers))
        if not named:
            raise RankgaugeError("a hybrid needs at least one retriever")
        self._retrievers = [as_retriever(one, "a hybrid") for one in named.values()]
        check_options(method, rrf_k, norm)
        self._weights = check_weights(weights, list(named), method)
        self._method, self._norm, self._rrf_k = method, norm, rrf_k
        self._depth = check_whole("depth", depth, 1)
        parts = {str(name): one for name, one in named.items()}
        weighted = list(zip(parts, self._weights, strict=True))  # in their order, which decides about equal scores
        self.configuration = described({}, parts, fusion=method, weights=weighted, norm=norm, rrf_k=rrf_k, depth=depth)

    @property
    def ids(self) -> Sequence[str]:
        return tuple(dict.fromkeys(doc for one in self._retrievers for doc in one.ids))

    @property
    def stage_names(self) -> tuple[str, ...]:
        return ("candidates", "fused")

    def stages(self, query: str, k: int) -> Iterator[tuple[str, list[Hit]]]:
        """All documents of the lists that are fused, and the first k of them."""
        query, k = check_query(query, k)
        fused = self._fused(query, k, None)
        yield "candidates", fused
        yield "fused", fused[:k]

    def search(self, query: str, k: int) -> list[Hit]:
        query, k = check_query(query, k)
        return self._fused(query, k, k)

    def _fused(self, query: str, k: int, most: int | None) -> list[Hit]:
        # A weight of 0 keeps a list out altogether: its documents must not fill up the end with scores of 0.
        used = [(one, weight) for one, weight in zip(self._retrievers, self._weights, strict=True) if weight]
        lists = [one.search(query, max(k, self._depth)) for one, _ in used]
        return fuse_lists(lists, self._method, [weight for _, weight in used], self._rrf_k, self._norm, most)
