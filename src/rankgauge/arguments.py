"""`named_arguments`: a misspelt argument of a public function is an error that says which one was meant."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from rankgauge.errors import DataError

__all__ = ["named_arguments"]

P = ParamSpec("P")
R = TypeVar("R")


def named_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """The function, with "did you mean" for a keyword that it does not have; its signature stays as it is.

    Only for functions that list their arguments by name: with a `**rest` there would be nothing to misspell.
    """
    code = function.__code__  # inspect.signature would cost an import and microseconds
    known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    names = frozenset(known)

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        if not names.issuperset(kwargs):
            _unknown(function, next(name for name in kwargs if name not in names), known)
        return function(*args, **kwargs)

    return checked


def _unknown(function: Callable[..., object], name: str, known: tuple[str, ...]) -> None:
    import difflib

    listed = [one for one in known if one not in ("self", "cls")]
    close = difflib.get_close_matches(name, listed, n=1)
    meant = f"did you mean {close[0]}?" if close else f"it has: {', '.join(listed)}"
    called = function.__qualname__.removesuffix(".__init__")
    raise DataError(f"{called}() has no parameter {name!r}; {meant}")
