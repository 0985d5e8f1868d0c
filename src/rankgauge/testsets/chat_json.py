"""The JSON in what a language model says, which likes to put words, fences and thoughts around it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

__all__ = ["json_in"]

_THOUGHTS: Final = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_MOST: Final = 200  # beginnings that are tried: each may take the whole text

_decode: Final = json.JSONDecoder(strict=False).raw_decode  # models write line breaks inside of texts


def json_in(text: str) -> dict[str, Any]:
    """The last object of a text that no other object holds; `ValueError` where there is none, or none that is whole.

    The last, since models repeat the form they were given before they answer. A number or a list alone is no answer:
    nothing says what it means.
    """
    text = _THOUGHTS.sub("", text)
    found: dict[str, Any] | None = None
    place, tried = text.find("{"), 0
    while place >= 0 and tried < _MOST:
        tried += 1
        try:
            value, end = _decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            found = value if isinstance(value, dict) else found
        place = text.find("{", end)
    if found is None:
        raise ValueError("it holds no whole JSON object" if "{" in text else "it holds no JSON object")
    return found
