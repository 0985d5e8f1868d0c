"""Names of a package that load on first use, so that importing it costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, homes: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """A package's `__getattr__`: `homes` are its modules, each with the names that it holds."""
    known = {name: module for module, names in homes.items() for name in names}

    def load(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{known[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
