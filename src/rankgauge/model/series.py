"""SeriesKey: one figure of one system, over time."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SeriesKey"]


@dataclass(frozen=True)
class SeriesKey:
    """A measure (or `p95`, `errors`, the text of a limit) of a system, over all queries or those of one tag."""

    system: str
    measure: str
    tag: str | None = None

    def __str__(self) -> str:
        """As it is shown: `bm25 nDCG@10 [billing]`. Nothing reads it back."""
        return f"{self.system} {self.measure}" if self.tag is None else f"{self.system} {self.measure} [{self.tag}]"
