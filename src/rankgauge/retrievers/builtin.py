"""Retrievers by name, with their parameters, so that a plan can be checked before anything is built.

A package offers more through the entry point group `rankgauge.retrievers`; each entry point names a function or class
that takes a corpus and keyword parameters and gives a retriever.
"""

from __future__ import annotations

import difflib
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from rankgauge.errors import RankgaugeError
from rankgauge.retrievers.bm25 import BM25
from rankgauge.retrievers.checks import Bounds, Choices, check_choice, check_number, check_whole
from rankgauge.retrievers.dense import Dense
from rankgauge.retrievers.hybrid import Hybrid
from rankgauge.retrievers.interface import Retriever
from rankgauge.retrievers.mmr import MMR, RELEVANCES
from rankgauge.retrievers.rerank import Rerank
from rankgauge.retrievers.term_proximity import TermProximity
from rankgauge.retrievers.text import LANGUAGES

__all__ = [
    "BUILTIN",
    "Factory",
    "Parameter",
    "build",
    "check_parameters",
    "factories",
    "parameter_faults",
    "parameters_of",
]

Factory = Callable[..., Retriever]
REQUIRED = inspect.Parameter.empty
_GROUP = "rankgauge.retrievers"
_BASES = ("bm25", "dense", "hybrid")
_PROXIMITY = "term-proximity"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a retriever, as its signature tells it."""

    name: str
    default: Any = REQUIRED
    """What it is when not given; `Parameter.required` says that there is no default."""
    types: tuple[type, ...] = ()
    """What a value may be; anything if empty."""
    doc: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        return self.default is REQUIRED

    def check(self, value: Any) -> None:
        """Raise an error unless the retriever takes this value."""
        bounds = {key: bound for key, bound in (("low", self.low), ("high", self.high)) if bound is not None}
        if self.choices:
            check_choice(self.name, value, self.choices)
        elif float in self.types:
            check_number(self.name, value, **bounds)
        elif int in self.types:
            check_whole(self.name, value, **bounds)
        elif self.types and not isinstance(value, self.types):
            wanted = " or ".join("nothing" if kind is type(None) else kind.__name__ for kind in self.types)
            raise RankgaugeError(f"{self.name}={value!r} must be {wanted}")


def hnsw(
    corpus: Mapping[str, str],
    *,
    M: Annotated[int, "Neighbours of each vector.", Bounds(2)] = 16,
    ef_construction: Annotated[int, "Candidates while building.", Bounds(1)] = 200,
    ef_search: Annotated[int, "Candidates while searching: more find more and take longer.", Bounds(1)] = 64,
    dimensions: Annotated[int, "Length of the vectors of latent semantic analysis.", Bounds(1)] = 256,
    model: Annotated[str | None, "A sentence-transformers model, or the endpoint's."] = None,
    endpoint: Annotated[str | None, "URL of an OpenAI-compatible server, before /embeddings."] = None,
    api_key_env: Annotated[str | None, "Environment variable that holds the endpoint's key."] = None,
    language: Annotated[str, "Language of the texts; auto goes by their script.", Choices(LANGUAGES)] = "auto",
) -> Dense:
    """Dense retrieval with an approximate index."""
    return Dense(
        corpus,
        index="hnsw",
        M=M,
        ef_construction=ef_construction,
        ef_search=ef_search,
        dimensions=dimensions,
        model=model,
        endpoint=endpoint,
        api_key_env=api_key_env,
        language=language,
    )


def mmr(
    corpus: Mapping[str, str],
    *,
    base: Annotated[str, "The retriever whose documents are chosen from.", Choices(_BASES)] = "dense",
    lambda_: Annotated[float, "1 is pure relevance, 0 pure diversity.", Bounds(0, 1)] = 0.5,
    depth: Annotated[int, "Documents to choose from.", Bounds(1)] = 50,
    relevance: Annotated[str, "Relevance by cosine or by the base's scores.", Choices(RELEVANCES)] = "cosine",
    dimensions: Annotated[int, "Length of the vectors of latent semantic analysis.", Bounds(1)] = 256,
    language: Annotated[str, "Language of the texts; auto goes by their script.", Choices(LANGUAGES)] = "auto",
) -> MMR:
    """Maximal marginal relevance over another retriever."""
    check_choice("base", base, _BASES)
    dense = Dense(corpus, dimensions=dimensions, language=language)
    lexical = BM25(corpus, language=language) if base != "dense" else None
    retriever: Retriever = dense
    if lexical is not None:
        retriever = lexical if base == "bm25" else Hybrid([lexical, dense])
    return MMR(retriever, dense, lambda_=lambda_, depth=depth, relevance=relevance)


def rerank(
    corpus: Mapping[str, str],
    *,
    base: Annotated[str, "The retriever whose documents are re-ranked.", Choices(_BASES)] = "bm25",
    scorer: Annotated[str, f"{_PROXIMITY}, or a sentence-transformers cross-encoder."] = _PROXIMITY,
    depth: Annotated[int, "Documents to re-rank.", Bounds(1)] = 50,
    language: Annotated[str, "Language of the texts; auto goes by their script.", Choices(LANGUAGES)] = "auto",
) -> Rerank:
    """Another retriever, its best documents re-ranked."""
    retriever = BUILTIN[check_choice("base", base, _BASES)](corpus, language=language)
    scores = TermProximity(corpus, language=language) if scorer == _PROXIMITY else scorer
    return Rerank(retriever, scores, corpus=corpus, depth=depth)


BUILTIN: dict[str, Factory] = {
    "bm25": BM25,
    "dense": Dense,
    "hnsw": hnsw,
    "hybrid": Hybrid.of,
    "mmr": mmr,
    "rerank": rerank,
}


def factories() -> dict[str, Factory]:
    """Every known retriever: the built-in ones, and what installed packages offer. A name may be taken only once."""
    from importlib.metadata import entry_points

    known = dict(BUILTIN)
    for entry in entry_points(group=_GROUP):
        if entry.name in known:
            raise RankgaugeError(f"the retriever name {entry.name!r} of {entry.value} is already taken")
        known[entry.name] = entry.load()
    return known


def parameters_of(name: str) -> dict[str, Parameter]:
    """The parameters of a retriever by name, from its signature."""
    factory = _factory(name)
    function = factory.__init__ if inspect.isclass(factory) else factory
    hints = get_type_hints(function, include_extras=True)
    _, *signed = inspect.signature(factory).parameters.values()  # the first is the corpus
    return {one.name: _parameter(one, hints.get(one.name, Any)) for one in signed if one.kind is not one.VAR_KEYWORD}


def parameter_faults(name: str, parameters: Mapping[str, Any]) -> list[str]:
    """Why a retriever does not take these parameters; nothing when it does. Builds nothing."""
    known, faults = parameters_of(name), []
    signed = inspect.signature(_factory(name)).parameters.values()
    takes_any = any(one.kind is one.VAR_KEYWORD for one in signed)
    for key, value in parameters.items():
        if key in known:
            try:
                known[key].check(value)
            except RankgaugeError as error:
                faults.append(f"{name}: {error}")
        elif not takes_any:
            faults.append(f"{name} has no parameter {key!r}.{_nearby(key, known)}")
    missing = [known[key] for key in known if known[key].required and key not in parameters]
    return faults + [f"{name} needs the parameter {one.name!r}: {one.doc}".rstrip(": ") for one in missing]


def check_parameters(name: str, parameters: Mapping[str, Any]) -> None:
    """Raise an error unless a retriever takes these parameters."""
    if faults := parameter_faults(name, parameters):
        raise RankgaugeError(faults[0])


def build(name: str, corpus: Mapping[str, str], **parameters: Any) -> Retriever:
    """A retriever by name over a corpus."""
    check_parameters(name, parameters)
    return _factory(name)(corpus, **parameters)


def _factory(name: str) -> Factory:
    found = BUILTIN.get(name)
    if found is None:
        known = factories()
        found = known.get(name)
        if found is None:
            raise RankgaugeError(f"there is no retriever {name!r}.{_nearby(name, known)}")
    return found


def _nearby(name: str, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    return f" Did you mean {close[0]!r}?" if close else f" Known are: {', '.join(known) or 'none'}."


def _parameter(signed: inspect.Parameter, hint: Any) -> Parameter:
    notes: tuple[Any, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *rest = get_args(hint)
        notes = tuple(rest)
    bounds = next((note for note in notes if isinstance(note, Bounds)), None)
    choices = next((note for note in notes if isinstance(note, Choices)), None)
    return Parameter(
        signed.name,
        signed.default,
        _plain_types(hint),
        next((note for note in notes if isinstance(note, str)), ""),
        bounds.low if bounds else None,
        bounds.high if bounds else None,
        choices.words if choices else (),
    )


def _plain_types(hint: Any) -> tuple[type, ...]:
    """The classes that a plan can give: from a union those that are plain; nothing where anything goes."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    plain = tuple(part for part in parts if part in (bool, int, float, str, list, dict, type(None)))
    return plain if any(part is not type(None) for part in plain) else ()
