"""How long a text is, in the unit that the caller's function counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from rankgauge.errors import DataError, counted

__all__ = ["length_of"]


def length_of(text: str, length: Callable[[str], Any]) -> float:
    """The length of a text; what gives none is an error that says so, not one of arithmetic."""
    if length is len:
        return float(len(text))
    try:
        found = length(text)
    except Exception as error:  # whatever the caller's function does
        raise DataError(
            f"`tokenizer` failed on a text of {counted(len(text), 'character')}: {type(error).__name__}: {error}"
        ) from error
    try:
        number = math.nan if isinstance(found, str | bytes) else float(found)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise DataError(
            f"`tokenizer` must give a text its length, a number of at least 0, such as lambda text: "
            f"len(encode(text)), not {repr(found)[:60]}"
        )
    return number
