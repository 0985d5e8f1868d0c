"""Names from elsewhere in little room."""

from __future__ import annotations

from collections.abc import Callable

from rankgauge.visible import visible

__all__ = ["clipped", "shortened", "visible"]

_LONGEST = 300


def shortened(text: str, most: int = _LONGEST) -> str:
    """A text on one line for a message, its end cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}... ({len(line)} characters in all)"


def clipped(text: str, most: int, wide: Callable[[str], int] = len) -> str:
    """A text in so many characters at most, or columns by `wide`; where it was cut, behind a word unless that leaves
    less than half, it ends in an ellipsis."""
    if wide(text) <= most:
        return text
    kept = text[: most - 1]
    while wide(kept) > most - 1:
        kept = kept[:-1]
    words = kept if text[len(kept)].isspace() else kept.rpartition(" ")[0]
    return f"{(words if 2 * wide(words) >= most else kept).rstrip()}…"
