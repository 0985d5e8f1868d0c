"""Arguments of public functions and classes: a misspelt one, or one of another kind, is an error that says what is
meant."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any, TypeVar

from rankgauge.errors import DataError

__all__ = ["as_path", "check_text", "named_arguments"]

F = TypeVar("F", bound=Callable[..., Any])
_SHOWN = 60


def named_arguments(called: F) -> F:
    """The function or class, with "did you mean" for a keyword that it does not have; its signature stays as it is.

    Only for those that list their arguments by name: with a `**rest` there would be nothing to misspell. A call that is
    right pays for one more frame and nothing else.
    """
    if isinstance(called, type):
        made: Any = called
        made.__init__ = _checked(made.__init__, made.__qualname__)  # whose __init__ may be its parent's
        return called
    return _checked(called, called.__qualname__.removesuffix(".__init__"))  # type: ignore[return-value]


def _checked(function: Any, name: str) -> Callable[..., Any]:
    code = function.__code__  # inspect.signature would cost an import and microseconds
    known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError:
            unknown = [name for name in kwargs if name not in known]
            if unknown:  # then nothing of the function itself has run
                raise _unknown(name, unknown[0], known) from None
            raise

    return checked


_OTHER_WORDS = {
    **dict.fromkeys(("top_k", "topk", "limit", "n_results", "similarity_top_k"), ("k",)),
    **dict.fromkeys(("metric", "metrics", "measure"), ("measures", "measure")),
    **dict.fromkeys(("dataset", "testset", "qrel", "ground_truth"), ("test_set", "qrels")),
}
"""What arguments are called elsewhere, which is not alike enough to be a slip of the pen."""


def _unknown(function: str, name: str, known: tuple[str, ...]) -> DataError:
    import difflib

    listed = [one for one in known if one not in ("self", "cls")]
    close = [one for one in _OTHER_WORDS.get(name, ()) if one in listed] or difflib.get_close_matches(name, listed, n=1)
    meant = f"did you mean {close[0]}?" if close else f"it has: {', '.join(listed)}"
    return DataError(f"{function}() has no parameter {name!r}; {meant}")


def as_path(argument: str, value: Any) -> str:
    """The text of a path."""
    if not isinstance(value, str | os.PathLike):
        raise DataError(f"`{argument}` must be a path, not {_shown(value)}")
    text: str = os.fspath(value)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise DataError(f"`{argument}={text!r}` is no name that a file can have") from None
    return text


def check_text(argument: str, value: Any, wanted: str = "a text") -> None:
    """Refuse what is no text; None is left to the caller's default."""
    if value is not None and not isinstance(value, str):
        raise DataError(f"`{argument}` must be {wanted}, not {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
