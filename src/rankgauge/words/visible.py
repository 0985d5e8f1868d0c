"""Names from elsewhere in little room."""

from __future__ import annotations

from rankgauge.visible import visible

__all__ = ["clipped", "shortened", "visible"]

_LONGEST = 300


def shortened(text: str, most: int = _LONGEST) -> str:
    """A text on one line for a message, its end cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}... ({len(line)} characters in all)"


def clipped(text: str, most: int) -> str:
    """A text in so many characters at most, its end an ellipsis where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
