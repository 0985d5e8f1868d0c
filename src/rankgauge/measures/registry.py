"""All measures by name. Built-in families and outside packages register the same way.

A package offers measures through the entry point group `rankgauge.measures`; each entry point names a `Definition`,
or a sequence of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rankgauge.errors import MeasureError
from rankgauge.measures.measure import Definition, Value

__all__ = ["all_definitions", "find", "normal", "register", "unregister"]

_by_name: dict[str, Definition] = {}
_by_spelling: dict[str, tuple[Definition, Mapping[str, Value]]] = {}
_loaded_outside = False


def normal(name: str) -> str:
    """A spelling without case, spaces, hyphens and underscores."""
    return re.sub(r"[\s_\-]+", "", name).casefold()


def register(*definitions: Definition) -> None:
    """Add measures. A name or spelling that is taken is an error."""
    for definition in definitions:
        spellings: dict[str, Mapping[str, Value]] = {
            **{normal(name): {} for name in (definition.name, definition.trec or "", *definition.spellings) if name},
            **{normal(name): values for name, values in definition.variants.items()},
        }
        for spelling in spellings:
            if spelling in _by_spelling:
                taken = _by_spelling[spelling][0].name
                raise MeasureError(f"the measure name {spelling!r} of {definition.name} is already taken by {taken}")
        _by_name[definition.name] = definition
        for spelling, values in spellings.items():
            _by_spelling[spelling] = (definition, values)


def unregister(name: str) -> None:
    """Remove a measure that was registered from outside."""
    definition = _by_name.pop(name)
    for spelling in [s for s, (owner, _) in _by_spelling.items() if owner is definition]:
        del _by_spelling[spelling]


def _load_outside() -> None:
    global _loaded_outside
    if _loaded_outside:
        return
    _loaded_outside = True
    from importlib.metadata import entry_points

    for entry in entry_points(group="rankgauge.measures"):
        offered = entry.load()
        definitions: Iterable[Definition] = [offered] if isinstance(offered, Definition) else offered
        register(*definitions)


def all_definitions() -> list[Definition]:
    """Every known measure, built-in ones first."""
    _load_outside()
    return list(_by_name.values())


def find(spelling: str) -> tuple[Definition, Mapping[str, Value]] | None:
    """The measure a spelling stands for, with the parameters it implies."""
    key = normal(spelling)
    if key not in _by_spelling:
        _load_outside()
    return _by_spelling.get(key)


def nearest(spelling: str) -> list[str]:
    """Known names that look like a spelling, best first."""
    import difflib

    _load_outside()
    close = difflib.get_close_matches(normal(spelling), list(_by_spelling), n=5, cutoff=0.5)
    names = [_by_spelling[key][0].name for key in close]
    return list(dict.fromkeys(names))
