"""What is given to a live evaluation, looked at before the first call: a slip must not cost a pass."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from rankgauge.engine.chunks import check_rule
from rankgauge.errors import ContractError, DataError
from rankgauge.evaluation import Plan, evaluate, make_plan
from rankgauge.formats import load_corpus
from rankgauge.retrievers.checks import check_corpus

__all__ = ["CHOICES", "check_names", "check_scoring", "documents_of", "keywords_of"]

_OWN = ("qrels", "run", "measures", "name", "corpus", "stream")


def keywords_of(function: Callable[..., Any], *, without: Iterable[str] = ()) -> list[str]:
    """The parameters of a function by name."""
    signed = inspect.signature(function).parameters.values()
    return [one.name for one in signed if one.kind is not one.VAR_KEYWORD and one.name not in without]


CHOICES = keywords_of(evaluate, without=_OWN)
"""How to count, as `evaluate` takes it."""


def check_names(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise an error for a keyword that a function does not have."""
    listed = list(known)
    for name in given:
        if name not in listed:
            close = difflib.get_close_matches(name, listed, n=1)
            nearby = f"did you mean {close[0]}?" if close else f"it has: {', '.join(listed)}"
            raise DataError(f"{function}() has no parameter {name!r}; {nearby}")


def check_scoring(measures: Any, choices: Mapping[str, Any], documents: Mapping[str, str] | None) -> Plan:
    """Measures and contract as they will be used."""
    for name in ("rel", "depth"):
        value = choices.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise DataError(f"{name}={value!r} must be a number")
    rest = {name: value for name, value in choices.items() if name not in ("collapse_chunks", "tokenizer")}
    plan = make_plan(measures, **rest)
    budgets = [measure for measure in plan.measures if measure.get("budget") is not None]
    if budgets and documents is None:
        raise DataError(f"{budgets[0]} needs the texts of the documents: give corpus=")
    if budgets and plan.contract.ties == "expected":
        raise ContractError(f"{budgets[0]} needs one order of the list; choose ties='trec', 'stable' or 'given'")
    if choices.get("tokenizer") is not None and documents is None:
        raise DataError("a tokenizer measures texts: give corpus= too")
    if (rule := choices.get("collapse_chunks")) is not None:
        check_rule(rule)
    return plan


def documents_of(corpus: Any) -> Mapping[str, str] | None:
    """The texts by id; a path is read."""
    if corpus is None:
        return None
    if isinstance(corpus, str | os.PathLike):
        return load_corpus(corpus)
    if not isinstance(corpus, Mapping):
        raise DataError(
            f"a corpus is a mapping from document id to text, or the path of a file, not a {type(corpus).__name__}"
        )
    check_corpus(corpus)
    return corpus
