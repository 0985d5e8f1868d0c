"""CostOf: what a call cost, in tokens or money, from a field of its answer, a header or a function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, Final

from rankgauge.arguments import check_text
from rankgauge.errors import DataError
from rankgauge.retrievers.fields import follow, parse_path, shown
from rankgauge.retrievers.hits import Listed
from rankgauge.retrievers.own_code import told

__all__ = ["CostOf", "check_cost"]

_HEADER: Final = "header:"
Given = str | Callable[[str, Any], float | None]


def check_cost(cost: Any, unit: Any) -> None:
    """Raise an error unless these can be used."""
    check_text("cost_unit", unit, "a name such as 'tokens' or 'USD'")
    if cost is None:
        if unit is not None:
            raise DataError(f"`cost_unit` is {unit!r}, but there is no `cost`: say where it is: 'usage.total_tokens'")
        return
    if isinstance(cost, str):
        if cost.startswith(_HEADER):
            if not cost.removeprefix(_HEADER).strip():
                raise DataError("`cost` names no header; write one, such as 'header:x-cost'")
        else:
            parse_path(cost)
    elif not callable(cost):
        raise DataError(
            f"`cost` must be a path into the answer such as 'usage.total_tokens', a header such as 'header:x-cost', or "
            f"a function of query and results, not {shown(cost)}"
        )


class CostOf:
    """The cost of a call; None where its answer does not tell. What goes wrong with it costs no answer: it is noted."""

    def __init__(self, cost: Given, unit: str | None = None) -> None:
        check_cost(cost, unit)
        self.unit = unit or ""
        self.given = cost
        self.name = cost if isinstance(cost, str) else getattr(cost, "__name__", type(cost).__name__)
        self.fault = ""
        """Why the first call without a cost has none."""

    def __call__(self, query: str, raw: Any) -> float | None:
        try:
            found = self._found(query, raw)
            number = float(found) if isinstance(found, str | Real) and not isinstance(found, bool) else None
        except Exception as error:  # whatever the user's function does
            self.fault = self.fault or told(error)
            return None
        if number is None or not math.isfinite(number) or number < 0:
            self.fault = self.fault or ("" if found is None else f"{shown(found)}")
            return None
        return number

    def _found(self, query: str, raw: Any) -> Any:
        if not isinstance(self.given, str):
            return self.given(query, raw)
        if self.given.startswith(_HEADER):
            headers = getattr(raw, "headers", None)
            found = headers.get(self.given.removeprefix(_HEADER).strip()) if isinstance(headers, Mapping) else None
            return found.strip() if isinstance(found, str) else found
        answer = raw.answer if isinstance(raw, Listed) and raw.answer is not None else raw
        return follow(answer, parse_path(self.given))
