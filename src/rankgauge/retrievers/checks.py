"""Parameters and corpora are checked before anything is built: each error names the parameter and what it may be."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from rankgauge.errors import DataError, RankgaugeError
from rankgauge.formats.secrets import masked

__all__ = [
    "Bounds",
    "Choices",
    "InFolder",
    "check_choice",
    "check_corpus",
    "check_model_name",
    "check_number",
    "check_progress",
    "check_query",
    "check_whole",
    "faults_of",
    "unset_fault",
]


_LARGEST = sys.float_info.max  # larger whole numbers are no floating-point numbers


@dataclass(frozen=True)
class Bounds:
    """Least and greatest value of a parameter, for its annotation."""

    low: float = -math.inf
    high: float = math.inf


class InFolder:
    """For the annotation of a path, which a plan gives relative to its own folder."""


@dataclass(frozen=True)
class Choices:
    """The words that a parameter may be, for its annotation."""

    words: tuple[str, ...]


def check_progress(progress: Any) -> None:
    """Raise an error unless it can be told of progress."""
    if progress is not None and not callable(progress):
        raise DataError(f"`progress` must be a function that is told how far it is, not {repr(progress)[:80]}")


def faults_of(*checks: Callable[[], object]) -> list[str]:
    """The errors that some calls raise, as texts."""
    faults = []
    for check in checks:
        try:
            check()
        except RankgaugeError as error:
            faults.append(str(error))
    return faults


def unset_fault(name: str, variable: str) -> str:
    """What to say of a parameter that refers to a variable of the environment that is not there."""
    return f"{name} needs the environment variable {variable}, which is not set"


def check_corpus(corpus: Any) -> dict[str, str]:
    """The documents by id, in the order given."""
    if not isinstance(corpus, Mapping):
        raise DataError(f"a corpus is a mapping from document id to text, not a {type(corpus).__name__}")
    if not corpus:
        raise DataError("the corpus is empty: there is nothing to search")
    texts = dict(corpus.items())
    for doc, text in texts.items():
        if not isinstance(doc, str) or not isinstance(text, str):
            raise DataError(
                f"the corpus maps {doc!r} to a {type(text).__name__}; both the id and the text must be strings"
            )
    return texts


def check_query(query: Any, k: Any) -> tuple[str, int]:
    """A query's text and how many documents are wanted."""
    if not isinstance(query, str):
        raise DataError(f"a query is a text, not a {type(query).__name__}")
    return query, check_whole("k", k, 1)


def check_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """A finite number between two bounds, both allowed."""
    if isinstance(value, bool) or not isinstance(value, Real) or not _finite(value):
        raise DataError(f"{name}={_shown(value)} must be a number{_bounds(low, high)}")
    if not low <= float(value) <= high:
        raise DataError(f"{name}={value!r} must be a number{_bounds(low, high)}")
    return float(value)


def check_whole(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> int:
    """A whole number between two bounds, both allowed."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not low <= int(value) <= high:
        raise DataError(f"{name}={value!r} must be a whole number{_bounds(low, high)}")
    return int(value)


def check_model_name(endpoint: str, model: Any) -> None:
    """An endpoint serves several models."""
    if not isinstance(model, str) or not model:
        raise DataError(f"the endpoint {masked(endpoint)} needs model=, the name of the model it should use")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of some words."""
    known = list(choices)
    if value not in known:
        raise DataError(f"{name}={value!r} must be one of {', '.join(known)}")
    return str(value)


def _finite(value: Any) -> bool:
    """Whether a number is a finite floating-point number, which the largest whole numbers are not."""
    return bool(-_LARGEST <= value <= _LARGEST)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _bounds(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" of at least {low:g}"
    return f" between {low:g} and {high:g}"
