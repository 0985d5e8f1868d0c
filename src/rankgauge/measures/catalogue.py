"""The built-in measures: `catalogue.json` says what each of them is, the modules of their families how it is computed.

A measure names its kernel, and what else has to be decided by a function, as an attribute of its family's module. A
parameter that several measures share stands once, under its name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from rankgauge.measures import average_precision, characters, counting, diversity, evidence, gain, user_models
from rankgauge.measures.measure import Definition, Form, Law, Parameter

__all__ = ["built_in"]

_FAMILIES = {
    "counting": counting,
    "average_precision": average_precision,
    "characters": characters,
    "diversity": diversity,
    "evidence": evidence,
    "gain": gain,
    "user_models": user_models,
}
_KINDS = {"int": int, "float": float, "str": str, "bool": bool, "dict": dict}
_FUNCTIONS = ("kernel", "check", "caution", "form", "cut_through_ties")
_SETS = {"spellings": tuple, "renamed": tuple, "needs": frozenset}


def built_in() -> list[Definition]:
    """All of them, as they register."""
    catalogue = json.loads((Path(__file__).parent / "catalogue.json").read_text("utf-8"))
    shared = {entry["name"]: _parameter(entry, {}) for entry in catalogue["parameters"]}
    measures: dict[str, list[dict[str, Any]]] = catalogue["measures"]
    return [_definition(entry, _FAMILIES[family], shared) for family, own in measures.items() for entry in own]


def _parameter(entry: Any, shared: Mapping[str, Parameter]) -> Parameter:
    if isinstance(entry, str):
        return shared[entry]
    return Parameter(**{**entry, "kind": _KINDS[entry["kind"]], "choices": tuple(entry.get("choices", ()))})


def _definition(entry: dict[str, Any], family: ModuleType, shared: Mapping[str, Parameter]) -> Definition:
    values = dict(entry)
    values["parameters"] = tuple(_parameter(own, shared) for own in entry.get("parameters", ()))
    if "at" in entry:
        values["at"] = _parameter(entry["at"], shared)
    values["laws"] = frozenset(getattr(Law, law.upper()) for law in entry.get("laws", ()))
    for name in _FUNCTIONS:
        if name in entry:
            values[name] = _function(entry[name], family)
    for name, kind in _SETS.items():
        if name in entry:
            values[name] = kind(entry[name])
    return Definition(**values)


def _function(entry: Any, family: ModuleType) -> Any:
    """A function by its name; or one that gives the same for every measure, such as the form `additive`."""
    if entry is True or entry in get_args(Form):
        return lambda measure: entry
    return getattr(family, entry)
