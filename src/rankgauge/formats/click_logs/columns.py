"""Which columns of a click log hold what, and how its rows tell of clicks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rankgauge.errors import DataError

__all__ = ["CLICKED", "NAMES", "SHOWN", "TRUTH", "Reading", "Roles", "roles_of"]

_FILE = json.loads((Path(__file__).parent / "column_names.json").read_text("utf-8"))
NAMES: Mapping[str, Sequence[str]] = _FILE["columns"]
"""The names that people give each column, by what it holds."""
TRUTH: Mapping[str, Sequence[str]] = _FILE["truth"]
"""How people write that something was clicked, and that it was not."""
SHOWN = ("impression", "shown", "show", "view", "view_item_list")
CLICKED = ("click", "clicked", "item_click", "click_through", "select_item")


@dataclass(frozen=True)
class Reading:
    """How a log is to be read."""

    columns: Mapping[str, str]
    """The name of a column by what it holds, where it is not one of the usual."""
    actions: tuple[str, ...] = CLICKED
    """The actions that count as a click."""
    least_dwell: float = 0.0
    """Seconds that a visit has to last for its click to count."""
    depth: int = 50
    """Ranks that are read."""
    most_lists: int | None = None
    """Lists that a session may have."""


@dataclass(frozen=True)
class Roles:
    """The columns of a log by what they hold."""

    names: Mapping[str, str]

    def __contains__(self, role: str) -> bool:
        return role in self.names

    @cached_property
    def shape(self) -> str:
        """What a row is: a `list` that was shown, `counts` of a document, an `event`, or a document `shown` once."""
        return "list" if "docs" in self else "counts" if "shows" in self else "event" if "action" in self else "shown"

    @property
    def query_is_list(self) -> bool:
        """Whether query_id names one search, as in logs of events with the text beside it, and not the query."""
        return self.shape == "event" and {"query", "query_id"} <= self.names.keys() and "list" not in self.names


def roles_of(columns: Iterable[str], given: Mapping[str, str], where: str) -> Roles:
    """The columns by what they hold, or an error that names what is missing."""
    listed = list(columns)
    lower = {str(name).strip().casefold(): name for name in listed}
    if unknown := sorted(set(given) - set(NAMES)):
        raise DataError(f"`columns`: {unknown[0]!r} is none of {', '.join(NAMES)}")
    if absent := [name for name in given.values() if name not in listed]:
        raise DataError(f"{where}: no column {absent[0]!r}; it has {', '.join(map(repr, listed[:12])) or 'none'}")
    found = dict(given)
    for role, aliases in NAMES.items():
        free = [lower[alias] for alias in aliases if alias in lower and lower[alias] not in found.values()]
        if role not in found and free:
            found[role] = free[0]
    roles = Roles(found)
    needed = ["docs"] if roles.shape == "list" else ["doc"]
    missing = [role for role in needed if role not in found]
    if "query" not in found and "query_id" not in found:
        missing.insert(0, "query")
    if roles.shape == "shown" and "clicked" not in found:
        missing.append("clicked")
    if roles.shape in ("list", "counts") and not {"clicks", "clicked"} & found.keys():
        missing.append("clicks")
    if roles.shape == "counts" and "rank" not in found:
        missing.append("rank")
    if missing:
        role = missing[0]
        raise DataError(
            f"{where}: no column for {role!r} among {', '.join(map(repr, listed[:12])) or 'none'}; name one of: "
            f"{', '.join(NAMES[role])}, or say which it is (`columns=`)"
        )
    return roles
