"""How a retriever is called: which method, what its query and its number of results are called, and what decides about
that number where it is not told."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.attributes import attribute
from rankgauge.words import Note

__all__ = ["K_NAMES", "METHODS", "QUERY_NAMES", "Bound", "Depth", "bound", "is_async", "method_of", "name_of"]

K_NAMES: Final[tuple[str, ...]] = (
    *("k", "top_k", "topk", "top_n", "n", "limit", "size", "n_results", "num_results", "max_results", "n_docs"),
    *("similarity_top_k", "count"),
)
"""Parameters that take the number of results, by name."""
QUERY_NAMES: Final = ("query", "q", "text", "question", "query_text", "input", "query_str")
METHODS: Final = ("similarity_search", "search", "retrieve", "invoke", "get_relevant_documents", "run", "query")
"""Methods that are tried on an object, in this order; with an `a` before it, a name is an async method."""
_INVOKED: Final = ("invoke", "ainvoke")
_OWN: Final = ("similarity_top_k", "_similarity_top_k", "top_k", "k", "top_n", "n_results", "num_results", "limit")
"""Attributes in which retrievers keep how many documents they give."""


@dataclass(frozen=True)
class Depth:
    """What decides how many documents a retriever gives: where that is set, and the number that stands there."""

    place: str = "store"
    """One of: argument, attribute, search_kwargs, nowhere, body, body_fixed, body_unknown, store; each has a text,
    `asking.set_...`, that says what to do where lists are too short."""
    name: str = ""
    own: int | None = None
    """The retriever's own number, where it has one."""
    told: bool = True
    """Whether k reaches the retriever."""
    optional: bool = False
    """Whether k can be left out, so that the retriever's own number counts."""

    def remedy(self, k: int | None, wanted: int, merged: tuple[int, int] | None = None) -> Note:
        """What to do about lists that are too short for `wanted` documents; `merged` are the chunks of the longest
        list and the documents they were merged into, where that made it short."""
        about = {"name": self.name, "own": self.own, "k": k, "wanted": wanted}
        if merged is not None:
            chunks, documents = merged
            return Note("asking.set_merged", {"chunks": chunks, "k": math.ceil(chunks * wanted / max(1, documents))})
        if k is None and self.told:
            return Note("asking.set_k", about)
        return Note(f"asking.set_{self.place}", about)

    def notes(self, k: int | None) -> list[Note]:
        """The retriever's own number, where k takes its place or cuts its lists. Fewer documents than the retriever is
        asked for here may be what its users see."""
        if self.own is None or k is None or self.own == k:
            return []
        about = {"name": self.name, "own": self.own, "k": k}
        if self.told:
            return [Note("asking.overridden", about, "warning" if self.own < k else "info")]
        return [Note("asking.cut", about)] if self.own > k else []


class Bound(NamedTuple):
    """A retriever as a function of query and k, where k may be None if its depth is optional."""

    call: Callable[[str, int | None], Any]
    depth: Depth


def method_of(retriever: Any) -> Callable[..., Any]:
    """What is called: the function itself, or the first method that an object has for it."""
    if inspect.isroutine(retriever) or isinstance(retriever, functools.partial):
        return retriever
    for name in (*METHODS, *(f"a{method}" for method in METHODS)):
        found = attribute(retriever, name)
        if callable(found):
            return found  # type: ignore[no-any-return]
    if callable(retriever):
        return retriever  # type: ignore[no-any-return]
    raise RetrieverError(
        f"a {type(retriever).__name__} cannot be searched: it is no function and has none of the methods "
        f"{', '.join(METHODS)}; wrap it in a function of query and k"
    )


def is_async(call: Callable[..., Any]) -> bool:
    inner = call.func if isinstance(call, functools.partial) else call
    for candidate in (inner, type(inner).__call__, inspect.unwrap(inner)):
        if inspect.iscoroutinefunction(candidate) or inspect.isasyncgenfunction(candidate):
            return True
    return False


def bound(call: Callable[..., Any], retriever: Any) -> Bound:
    """The call as a function of query and k, and what decides how many results it gives."""
    if inspect.ismethod(retriever):  # of an object that is known by itself
        retriever = retriever.__self__
    if isinstance(own := attribute(retriever, "depth"), Depth):  # of ours, which know it themselves
        return Bound(call, own)
    if attribute(call, "__name__", "") in _INVOKED:  # LangChain: only a vector store's retriever takes k
        return _invoked(call, retriever)
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):  # some functions written in C
        return Bound(call, Depth("argument", "k"))
    kinds = inspect.Parameter
    rest = {p.kind for p in signature.parameters.values()} & {kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD}
    free = [p for p in signature.parameters.values() if p.kind not in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)]
    k_place = next((p for p in free if p.name in K_NAMES), None)
    free = [p for p in free if p is not k_place]
    query_place = next((p for p in free if p.name in QUERY_NAMES), free[0] if free else None)
    free = [p for p in free if p is not query_place and p.default is kinds.empty]
    if k_place is None and free:
        k_place = free.pop(0)
    if query_place is None and k_place is None and kinds.VAR_POSITIONAL in rest:
        return Bound(call, Depth("argument", "k"))
    if query_place is None or free:
        raise RetrieverError(
            f"{name_of(retriever)}{signature} is no function of query and k; wrap it: lambda query, k: ..."
        )
    q_name = query_place.name
    if k_place is None:
        return _without_k(call, q_name, rest, retriever, positional=query_place.kind is kinds.POSITIONAL_ONLY)
    optional = k_place.default is not kinds.empty
    depth = Depth("argument", k_place.name, k_place.default if _whole(k_place.default) else None, optional=optional)
    if k_place.default is None:  # as in Haystack: then the object's own number counts
        depth = _kept_by(retriever, depth, (k_place.name,))
    if kinds.POSITIONAL_ONLY not in (query_place.kind, k_place.kind):
        k_name = k_place.name
        return Bound(lambda query, k: call(**{q_name: query, **({} if k is None else {k_name: k})}), depth)
    if [*signature.parameters].index(k_place.name) < [*signature.parameters].index(q_name):
        return Bound(lambda query, k: call(k, query), replace(depth, optional=False))
    return Bound(lambda query, k: call(query) if k is None else call(query, k), depth)


def _without_k(call: Callable[..., Any], query: str, rest: Any, retriever: Any, *, positional: bool) -> Bound:
    """A call whose signature has no place for the number of results."""
    if positional:
        return Bound(lambda text, _: call(text), _kept_by(retriever, _NOWHERE, _OWN))
    if not rest:
        return Bound(lambda text, _: call(**{query: text}), _kept_by(retriever, _NOWHERE, _OWN))
    if inspect.Parameter.VAR_KEYWORD not in rest:
        return Bound(call, Depth("argument", "k"))
    return Bound(
        lambda text, k: call(**{query: text, **({} if k is None else {"k": k})}), Depth("argument", "k", optional=True)
    )


_NOWHERE: Final = Depth("nowhere", told=False, optional=True)


def _invoked(call: Callable[..., Any], retriever: Any) -> Bound:
    """LangChain's call. A vector store's retriever has `search_kwargs`, which k goes before; without one it gives as
    many as the store does by default."""
    given = attribute(retriever, "search_kwargs")
    if not isinstance(given, Mapping):
        return Bound(lambda query, _: call(query), _kept_by(retriever, _NOWHERE, _OWN))
    own = given.get("k")
    if own is None:
        own = _default_k(attribute(attribute(retriever, "vectorstore"), "similarity_search"))
    depth = Depth("search_kwargs", 'search_kwargs["k"]', own if _whole(own) else None, optional=True)
    return Bound(lambda query, k: call(query) if k is None else call(query, k=k), depth)


def _default_k(call: Any) -> Any:
    try:
        return inspect.signature(call).parameters["k"].default
    except (TypeError, ValueError, KeyError):
        return None


def _kept_by(retriever: Any, depth: Depth, names: tuple[str, ...]) -> Depth:
    """The depth, with the number that an object keeps as an attribute of its own."""
    if inspect.isroutine(retriever) or isinstance(retriever, functools.partial):
        return depth
    for name in names:
        if _whole(own := attribute(retriever, name)):
            place = depth.place if depth.told else "attribute"
            return Depth(place, name.lstrip("_"), own, told=depth.told, optional=depth.optional)
    return depth


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def name_of(retriever: Any) -> str:
    if isinstance(retriever, functools.partial):
        return name_of(retriever.func)
    named = attribute(retriever, "__name__")
    owner = attribute(retriever, "__self__")
    if inspect.ismethod(retriever) and owner is not None:
        return f"{type(owner).__name__}.{named}"
    return str(named or type(retriever).__name__)
