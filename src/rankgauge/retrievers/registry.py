"""RETRIEVERS: retrievers by name, with their parameters, so that a plan can be checked before anything is built.

A part is a function or class with keyword parameters that gives a retriever; where it has a parameter `corpus`, it gets
the documents. Its signature tells the rest: types, defaults, and in `Annotated` what a parameter is for and which
values it takes. Where values can be wrong that have the right types, such as a file that is not there, the part has a
function `faults(**parameters)`, which lists them without connecting to anything; where it needs more than the core, it
may have a function `needs(**parameters)`, which lists what is not installed.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from rankgauge.errors import RankgaugeError
from rankgauge.formats.variables import unset_in
from rankgauge.registry import Registry
from rankgauge.retrievers.checks import Bounds, Choices, InFolder, check_choice, check_number, check_whole, unset_fault

__all__ = ["RETRIEVERS", "Parameter", "build", "check_parameters", "needs_corpus", "parameter_faults", "parameters_of"]

RETRIEVERS: Registry[Callable[..., Any]] = Registry(
    "retriever",
    "rankgauge.retrievers",
    {
        "bm25": "rankgauge.retrievers.bm25:BM25",
        "dense": "rankgauge.retrievers.dense:Dense",
        "hnsw": "rankgauge.retrievers.builtin:hnsw",
        "hybrid": "rankgauge.retrievers.builtin:hybrid",
        "mmr": "rankgauge.retrievers.builtin:mmr",
        "rerank": "rankgauge.retrievers.builtin:rerank",
        "http": "rankgauge.retrievers.http:HttpRetriever",
        "chroma": "rankgauge.retrievers.stores:chroma",
        "faiss": "rankgauge.retrievers.stores:faiss",
        "elasticsearch": "rankgauge.retrievers.stores:elasticsearch",
        "opensearch": "rankgauge.retrievers.stores:elasticsearch",
        "vespa": "rankgauge.retrievers.stores:vespa",
    },
)
_FILLED = {"body", "endpoint", "headers", "url"}
"""Parameters in which `${NAME}` is taken from the environment."""
_REQUIRED = inspect.Parameter.empty
_NAMES = {str: "a text", bool: "true or false", list: "a list", dict: "a table", type(None): "nothing"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a retriever, as its signature tells it."""

    name: str
    default: Any = _REQUIRED
    """What it is when not given; `Parameter.required` says that there is no default."""
    types: tuple[type, ...] = ()
    """What a value may be; anything if empty."""
    doc: str = ""
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] = ()
    in_folder: bool = False
    """Whether it is a path, which a plan gives relative to its own folder."""

    @property
    def required(self) -> bool:
        return self.default is _REQUIRED

    def check(self, value: Any) -> None:
        """Raise an error unless the retriever takes this value."""
        if self.choices:
            check_choice(self.name, value, self.choices)
        elif float in self.types:
            check_number(self.name, value, self.low, self.high)
        elif int in self.types:
            check_whole(self.name, value, self.low, self.high)
        elif self.types and not isinstance(value, self.types):
            wanted = " or ".join(_NAMES.get(kind, kind.__name__) for kind in self.types)
            raise RankgaugeError(f"{self.name}={value!r} must be {wanted}")


def needs_corpus(name: str) -> bool:
    """Whether a retriever is built over documents."""
    return "corpus" in inspect.signature(RETRIEVERS[name]).parameters


def parameters_of(name: str) -> dict[str, Parameter]:
    """The parameters of a retriever by name, from its signature."""
    factory = RETRIEVERS[name]
    settled = {"corpus", *(factory.keywords if isinstance(factory, functools.partial) else ())}
    inner = factory.func if isinstance(factory, functools.partial) else factory
    hints = get_type_hints(inner.__init__ if inspect.isclass(inner) else inner, include_extras=True)
    return {
        one.name: _parameter(one, hints.get(one.name, Any))
        for one in inspect.signature(factory).parameters.values()
        if one.kind is not one.VAR_KEYWORD and one.name not in settled
    }


def parameter_faults(name: str, parameters: Mapping[str, Any]) -> list[str]:
    """Why a retriever does not take these parameters; nothing when it does. Builds nothing."""
    factory, known, faults, sound = RETRIEVERS[name], parameters_of(name), [], {}
    takes_any = any(one.kind is one.VAR_KEYWORD for one in inspect.signature(factory).parameters.values())
    for key, value in parameters.items():
        if key in known:
            try:
                known[key].check(value)
                sound[key] = value
            except RankgaugeError as error:
                faults.append(f"{name}: {error}")
        elif not takes_any:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            nearby = f"did you mean {close[0]!r}?" if close else f"it has: {', '.join(known) or 'none'}"
            faults.append(f"{name} has no parameter {key!r}; {nearby}")
    missing = [known[key] for key in known if known[key].required and key not in parameters]
    faults += [f"{name} needs the parameter {one.name!r}: {one.doc}".rstrip(": ") for one in missing]
    unset = {key: unset_in(value) for key, value in sound.items() if key in _FILLED}
    faults += [f"{name}: {unset_fault(key, variable)}" for key, found in unset.items() for variable in found]
    filled = {key: value for key, value in sound.items() if not unset.get(key)}
    variable = parameters.get("api_key_env")
    if isinstance(variable, str) and not os.environ.get(variable, "").strip():
        faults.append(f"the environment variable {variable} (api_key_env) is not set: put the key there")
    # What must be installed depends on what is given, known or not.
    looks = (("needs", sound), ("faults", filled))
    found = [getattr(factory, key)(**given) for key, given in looks if hasattr(factory, key)]
    return faults + [f"{name}: {fault}" for some in found for fault in some]


def check_parameters(name: str, parameters: Mapping[str, Any]) -> None:
    """Raise an error unless a retriever takes these parameters."""
    if faults := parameter_faults(name, parameters):
        raise RankgaugeError(faults[0])


def build(name: str, corpus: Mapping[str, str] | None = None, **parameters: Any) -> Any:
    """A retriever by name: over a corpus, or before a service or store that holds the documents already."""
    check_parameters(name, parameters)
    if not needs_corpus(name):
        return RETRIEVERS[name](**parameters)
    if corpus is None:
        raise RankgaugeError(f"the retriever {name!r} needs documents: give corpus=")
    return RETRIEVERS[name](corpus, **parameters)


def _parameter(signed: inspect.Parameter, hint: Any) -> Parameter:
    hint, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    by_kind = {type(note): note for note in notes}
    bounds, choices = by_kind.get(Bounds, Bounds()), by_kind.get(Choices, Choices(()))
    types, doc, in_folder = _plain_types(hint), by_kind.get(str, ""), InFolder in notes
    return Parameter(signed.name, signed.default, types, doc, bounds.low, bounds.high, choices.words, in_folder)


def _plain_types(hint: Any) -> tuple[type, ...]:
    """The classes that a plan can give: from a union those that are plain; nothing where anything goes."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    plain = tuple(part for part in parts if part in (bool, int, float, str, list, dict, type(None)))
    return plain if any(part is not type(None) for part in plain) else ()
