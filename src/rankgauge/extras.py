"""`optional`: a package that only some features need, imported when one of them is used."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from rankgauge.errors import MissingExtraError

__all__ = ["optional"]


def optional(module: str, what: str, package: str, extra: str = "retrievers") -> Any:
    """A module of an extra, imported when it is needed; `what` needs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn about the sources and bindings of some of them
        try:
            return import_module(module)
        except ImportError:
            raise MissingExtraError(f"{what} needs {package}: pip install 'rankgauge[{extra}]'") from None
