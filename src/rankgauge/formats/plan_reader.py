"""Reader: values out of the tables of a plan, and all their faults together."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["Reader"]

_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}


class Reader:
    """Reads values out of the tables, and gathers the faults."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def fault(self, place: str, text: str) -> None:
        said = f"{place}: {text}"
        if said not in self.faults:
            self.faults.append(said)

    def table(
        self, parent: Mapping[str, Any], key: str, known: Mapping[str, type | tuple[type, ...]]
    ) -> dict[str, Any]:
        value = parent.get(key, {})
        if not isinstance(value, dict):
            self.fault(key, f"must be a table, [{key}], not {value!r}")
            return {}
        return self.values(value, key, known)

    def values(
        self, table: Mapping[str, Any], place: str, known: Mapping[str, type | tuple[type, ...]]
    ) -> dict[str, Any]:
        """The known keys of the right type; the others are faults."""
        found = {}
        for key, value in table.items():
            if key not in known:
                close = difflib.get_close_matches(key, known, n=1)
                nearby = f"; did you mean {close[0]}?" if close else f"; known are: {', '.join(known)}"
                self.fault(f"{place}.{key}", f"unknown{nearby}")
                continue
            wanted = known[key]
            kinds: tuple[type, ...] = wanted if isinstance(wanted, tuple) else (wanted,)
            if (isinstance(value, bool) and bool not in kinds) or not isinstance(value, kinds):
                wider = [kind for kind in kinds if not (kind is int and float in kinds)]
                names = " or ".join(_NAMES.get(kind, kind.__name__) for kind in wider)
                self.fault(f"{place}.{key}", f"must be {names}, not {value!r}")
                continue
            if isinstance(value, float) and not math.isfinite(value):
                self.fault(f"{place}.{key}", f"must be a finite number, not {value!r}")
                continue
            found[key] = value
        return found
