"""Names from elsewhere as they may be shown: what steers a terminal, or has no letter at all, becomes its escape."""

from __future__ import annotations

import re

__all__ = ["clipped", "shortened", "visible"]

_LONGEST = 300

# Controls, ends of lines, marks that turn the direction of writing, and halves of surrogate pairs.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """The text on one line, with every such character spelled out: \\x1b, \\n, \\u202e."""
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def shortened(text: str, most: int = _LONGEST) -> str:
    """A text on one line for a message, its end cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}... ({len(line)} characters in all)"


def clipped(text: str, most: int) -> str:
    """A text in so many characters at most, its end an ellipsis where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
