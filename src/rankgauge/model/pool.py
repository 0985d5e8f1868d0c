"""Pool: the documents that several systems retrieved, which are worth a judgment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted

__all__ = ["Pool", "PooledPair"]


@named_arguments
@dataclass(frozen=True, slots=True)
class PooledPair:
    """A document that is to be judged for a query."""

    query: str
    doc: str
    systems: tuple[str, ...] = ()
    """Those that retrieved it within the depth of the pool."""
    rank: int | None = None
    """The best of its ranks."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", tuple(self.systems))

    @property
    def pair(self) -> tuple[str, str]:
        return self.query, self.doc


@named_arguments
class Pool(Sequence[PooledPair]):
    """Pairs of query and document in the order in which they are to be judged, immutable, each of them once."""

    def __init__(self, pairs: Iterable[PooledPair | tuple[str, str]] = (), *, name: str = "pool") -> None:
        check_text("name", name)
        found: dict[tuple[str, str], PooledPair] = {}
        for number, given in enumerate(pairs, start=1):
            one = PooledPair(*given) if isinstance(given, tuple) and len(given) == 2 else given
            if not isinstance(one, PooledPair):
                raise DataError(f"{name}: entry {number} is {given!r}; give a PooledPair, or (query, document)"[:300])
            if one.pair in found:
                raise DataError(f"{name}: document {one.doc!r} stands twice for query {one.query!r}")
            found[one.pair] = one
        self._pairs, self.name = tuple(found.values()), name

    @property
    def queries(self) -> list[str]:
        """The ids of its queries, in the order in which they come first."""
        return list(dict.fromkeys(one.query for one in self._pairs))

    def __getitem__(self, index: Any) -> Any:
        return self._pairs[index]

    def __len__(self) -> int:
        return len(self._pairs)

    def __iter__(self) -> Iterator[PooledPair]:
        return iter(self._pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pool) and self._pairs == other._pairs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Pool({self.name!r}: {counted(len(self), 'pair')} of {counted(len(self.queries), 'query', 'queries')})"
