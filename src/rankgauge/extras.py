"""`optional`: a package that only some features need, imported when one of them is used.

The remedy that an error names installs the package by its own name, which works wherever rankgauge came from. So does
`pip install 'rankgauge[EXTRA]'`: pip and uv take the rankgauge that is installed, and add what its extra lists.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rankgauge.errors import MissingExtraError

__all__ = ["check_all_installed", "check_installed", "optional", "optional_class"]


def optional(module: str, what: str, package: str, extra: str = "retrievers") -> Any:
    """A module of an extra, imported when it is needed; `what` needs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn about the sources and bindings of some of them
        try:
            return import_module(module)
        except ImportError:
            raise _missing(what, [package], extra) from None


def optional_class(module: str, name: str, what: str, package: str, extra: str) -> type:
    """A class of an extra to inherit from; where it is not installed, making an instance says so."""
    try:
        found: type = getattr(optional(module, what, package, extra), name)
    except MissingExtraError as error:
        told = str(error)

        class Absent:
            def __init__(self, *args: Any, **settings: Any) -> None:
                raise MissingExtraError(told)

        return Absent
    return found


def check_installed(module: str, what: str, package: str, extra: str = "retrievers") -> None:
    """Raise the same error without the time that importing takes."""
    check_all_installed(what, [(module, package, extra)])


def check_all_installed(what: str, needed: Iterable[tuple[str, str, str]]) -> None:
    """The same for several modules, given with their packages and extras: one error names all that is missing."""
    missing = [(package, extra) for module, package, extra in needed if not _is_installed(module)]
    if missing:
        raise _missing(what, [package for package, _ in missing], ",".join(sorted({extra for _, extra in missing})))


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # of a module that is None in sys.modules, or whose parent is missing
        return False


def _missing(what: str, packages: list[str], extra: str) -> MissingExtraError:
    named = " ".join(f"'{package}'" if "[" in package else package for package in packages)
    listed, in_it = ", ".join(packages), "it is" if len(packages) == 1 else "they are"
    return MissingExtraError(f"{what} needs {listed}: pip install {named} ({in_it} in the extra rankgauge[{extra}])")
