"""How large an input may become: compressed files, pipes and records, none of which shows its size beforehand.

Runs and judgments compress to a fifth or a fiftieth. What unpacks to hundreds of times its size was made to fill
memory; only beyond `free` bytes is it looked at, for small files of equal lines compress as well. A value in
`RANKGAUGE_MAX_SIZE`, such as 20GB, takes the place of all these limits.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, replace

from rankgauge.errors import DataError

__all__ = ["FILES", "PARTS", "RECORDS", "RECORD_LINES", "TEXTS", "VARIABLE", "Limits", "allowed", "size_of", "written"]

VARIABLE = "RANKGAUGE_MAX_SIZE"
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """The most bytes that are read, and how many times the bytes of a compressed file these may be."""

    most: int
    ratio: int
    free: int
    """Bytes that are allowed whatever the ratio."""

    def of(self, packed: int | None) -> int:
        """How many bytes may come of so many compressed ones, or of an input that is not compressed."""
        own = allowed()
        if own is not None:
            return own
        return self.most if packed is None else min(self.most, max(self.free, self.ratio * packed))

    def exceeded(self, packed: int | None) -> str:
        """What to say of more than that."""
        limit = self.of(packed)
        found = "it has more than" if packed is None else f"its {written(packed)} unpack to more than"
        more = written(4 * limit).replace(" ", "").replace("bytes", "")
        return (
            f"{found} {written(limit)}; if that is right, allow it with {VARIABLE}={more} in the environment, or "
            f"rankgauge --max-size {more}"
        )


PARTS = Limits(most=sys.maxsize, ratio=200, free=64 * 10**6)
"""Of what is read part by part, so that its size alone does no harm."""
FILES = replace(PARTS, most=4 * 10**9, ratio=50)
"""Of what is read at once: JSON takes up to twenty times its length in memory."""
TEXTS = replace(PARTS, free=256 * 10**6)
"""Of the texts of a table, which stand in memory once for each row only where something is made of them."""
RECORDS = Limits(most=256 * 10**6, ratio=30, free=32 * 10**6)
"""Of a record, whose scores hardly compress."""
RECORD_LINES = replace(RECORDS, most=FILES.most)
"""Of a file with a record on each line."""


def allowed() -> int | None:
    """The limit that the user has set."""
    text = os.environ.get(VARIABLE, "")
    return size_of(text, VARIABLE) if text else None


def size_of(text: str, name: str = "the size") -> int:
    """Bytes from 20GB, 1.5 GiB, 500M or 1000000."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise DataError(f"{name}={text!r} must be a size such as 500MB or 20GB")
    number, unit, binary = float(found[1]), found[2].lower(), found[3]
    scale = 1024 ** "kmgt".find(unit) * 1024 if binary and unit else _UNITS[unit]
    return int(number * scale)


def written(size: int) -> str:
    """A size for people."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} bytes"
