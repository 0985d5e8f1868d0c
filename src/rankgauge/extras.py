"""`optional`: a package that only some features need, imported when one of them is used."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rankgauge.errors import MissingExtraError

__all__ = ["check_installed", "optional"]


def optional(module: str, what: str, package: str, extra: str = "retrievers") -> Any:
    """A module of an extra, imported when it is needed; `what` needs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn about the sources and bindings of some of them
        try:
            return import_module(module)
        except ImportError:
            raise _missing(what, package, extra) from None


def check_installed(module: str, what: str, package: str, extra: str = "retrievers") -> None:
    """Raise the same error without the time that importing takes."""
    try:
        found = find_spec(module)
    except (ImportError, ValueError):  # of a module that is None in sys.modules, or whose parent is missing
        found = None
    if found is None:
        raise _missing(what, package, extra)


def _missing(what: str, package: str, extra: str) -> MissingExtraError:
    """The package can be installed by its name wherever rankgauge came from; the extra only from the same place."""
    named = f"'{package}'" if "[" in package else package
    return MissingExtraError(f"{what} needs {package}: pip install {named} (it is in the extra rankgauge[{extra}])")
