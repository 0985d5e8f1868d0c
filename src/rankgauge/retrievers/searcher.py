"""Searcher: one way to ask retrievers of many kinds: functions, objects with a search method, LangChain, async ones."""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Final, NamedTuple

from rankgauge.arguments import named_arguments
from rankgauge.errors import RetrieverError
from rankgauge.retrievers.configuration import own_configuration
from rankgauge.retrievers.hits import SPARE, Hit, ListFault, first_of, hits_of

__all__ = ["Response", "Searcher", "as_searcher"]

K_NAMES: Final[tuple[str, ...]] = (
    *("k", "top_k", "topk", "top_n", "n", "limit", "size", "n_results", "num_results", "max_results", "n_docs"),
    *("similarity_top_k", "count"),
)
"""Parameters that take the number of results, by name."""
QUERY_NAMES: Final = ("query", "q", "text", "question", "query_text", "input", "query_str")
METHODS: Final = ("similarity_search", "search", "retrieve", "invoke", "get_relevant_documents", "run", "query")
"""Methods that are tried on an object, in this order; with an `a` before it, a name is an async method."""


class Response(NamedTuple):
    """One answer of a retriever, put in order."""

    hits: list[Hit]
    faults: list[ListFault]
    seconds: float
    """Time in the retriever alone: until its results were complete, before they were put in order."""


@dataclass(frozen=True, eq=False, repr=False)
class Searcher:
    """A retriever with a name. `search` and `asearch` give the first k hits, whatever the retriever is made of."""

    call: Callable[[str, int], Any]
    name: str
    _: KW_ONLY
    is_async: bool = False
    """Whether the retriever is to be awaited: such ones share an event loop, others run in threads."""
    takes_k: bool = True
    """Whether the retriever can be told how many results to give; if not, more of them are no fault."""
    id_field: str | None = None
    score_field: str | None = None
    configuration: dict[str, Any] | None = None
    """What the answers depend on, where the retriever itself can tell."""

    def __post_init__(self) -> None:
        self._response((), 1, 0.0)  # a bad path is an error now, not at the first query

    def search(self, query: str, k: int) -> list[Hit]:
        """The first k hits, best first."""
        return self.ask(query, k).hits

    async def asearch(self, query: str, k: int) -> list[Hit]:
        """The first k hits, best first; a retriever that is not async runs in a thread."""
        return (await self.aask(query, k)).hits

    def ask(self, query: str, k: int) -> Response:
        """Hits, faults and the time it took."""
        if self.is_async:
            answered: Response = _in_a_loop(self.aask(query, k))
            return answered
        start = time.perf_counter()
        results = self.call(query, k)
        if type(results) is list:
            pass
        elif inspect.isawaitable(results):  # such as a lambda around an async function
            results = _in_a_loop(_awaited(results))
        elif isinstance(results, Iterator):
            results = first_of(results, k + SPARE)  # so that the time covers its work; it may have no end
        return self._response(results, k, time.perf_counter() - start)

    async def aask(self, query: str, k: int) -> Response:
        """Hits, faults and the time it took."""
        if not self.is_async:
            return await asyncio.to_thread(self.ask, query, k)
        start = time.perf_counter()
        results = self.call(query, k)
        if inspect.isawaitable(results):
            results = await results
        if isinstance(results, AsyncIterable):
            results = await _all_of(results, k + SPARE)
        elif isinstance(results, Iterator):
            results = first_of(results, k + SPARE)  # so that the time covers its work; it may have no end
        return self._response(results, k, time.perf_counter() - start)

    def _response(self, results: Any, k: int, seconds: float) -> Response:
        hits, faults = hits_of(results, k, id_field=self.id_field, score_field=self.score_field)
        if faults and not self.takes_k:
            faults = [fault for fault in faults if fault.kind != "too_many"]
        return Response(hits, faults, seconds)

    def __repr__(self) -> str:
        return f"Searcher({self.name!r}{', async' if self.is_async else ''})"


@named_arguments
def as_searcher(
    retriever: Any, *, name: str | None = None, id_field: str | None = None, score_field: str | None = None
) -> Searcher:
    """A `Searcher` from a function of query and k, or an object with a method for it, async or not.

    The number of results is passed under the name that the signature has for it (`k`, `top_k`, `limit`, ...), else as
    the argument beside the query that has no default, else not at all. Of an object, the first of these methods is
    called: `similarity_search`, `search`, `retrieve`, `invoke`, `get_relevant_documents`, `run`, `query`, then the same
    with an `a` before it, then the object itself.
    """
    if isinstance(retriever, Searcher):
        return retriever
    if isinstance(retriever, type):
        raise RetrieverError(f"{retriever.__name__} is a class; give an object of it, such as {retriever.__name__}()")
    if made_for := _adapter(retriever):
        raise RetrieverError(
            f"a {type(retriever).__name__} does not take the text of a query; use rankgauge.retrievers.{made_for}"
        )
    found = _method(retriever)
    call, takes_k = _bound(found, retriever)
    return Searcher(
        call,
        name or _name(retriever),
        is_async=_is_async(found),
        takes_k=takes_k,
        id_field=id_field,
        score_field=score_field,
        configuration=own_configuration(retriever),
    )


def _method(retriever: Any) -> Callable[..., Any]:
    if inspect.isroutine(retriever) or isinstance(retriever, functools.partial):
        return retriever
    for name in (*METHODS, *(f"a{method}" for method in METHODS)):
        found = getattr(retriever, name, None)
        if callable(found):
            return found  # type: ignore[no-any-return]
    if callable(retriever):
        return retriever  # type: ignore[no-any-return]
    raise RetrieverError(
        f"a {type(retriever).__name__} cannot be searched: it is no function and has none of the methods "
        f"{', '.join(METHODS)}; wrap it in a function of query and k"
    )


def _adapter(retriever: Any) -> str | None:
    """The adapter for what has a search method, but one that asks for something else than a text."""
    if hasattr(retriever, "ntotal") and hasattr(retriever, "metric_type"):
        return "from_faiss(index, ids, encode)"
    if hasattr(retriever, "indices") and hasattr(retriever, "search"):
        return "from_elasticsearch(client, index)"
    if hasattr(retriever, "upsert") and hasattr(retriever, "query") and hasattr(retriever, "peek"):
        return "from_chroma(collection)"
    return None


def _is_async(call: Callable[..., Any]) -> bool:
    inner = call.func if isinstance(call, functools.partial) else call
    for candidate in (inner, type(inner).__call__, inspect.unwrap(inner)):
        if inspect.iscoroutinefunction(candidate) or inspect.isasyncgenfunction(candidate):
            return True
    return False


def _bound(call: Callable[..., Any], retriever: Any) -> tuple[Callable[[str, int], Any], bool]:
    """The call as a function of query and k, and whether k reaches the retriever."""
    if getattr(call, "__name__", "") in ("invoke", "ainvoke"):  # LangChain: only a vector store's retriever takes k
        if hasattr(retriever, "search_kwargs"):
            return lambda query, k: call(query, k=k), True
        return lambda query, k: call(query), False
    try:
        signature = inspect.signature(call)
    except (TypeError, ValueError):  # some functions written in C
        return call, True
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
        return call, True
    if query_place is None or free:
        raise RetrieverError(
            f"{_name(retriever)}{signature} is no function of query and k; wrap it: lambda query, k: ..."
        )
    q_name = query_place.name
    if kinds.POSITIONAL_ONLY in (query_place.kind, k_place.kind if k_place else None):
        if k_place is None:
            return lambda query, k: call(query), False
        if [*signature.parameters].index(k_place.name) < [*signature.parameters].index(q_name):
            return lambda query, k: call(k, query), True
        return lambda query, k: call(query, k), True
    if k_place is None and not rest:
        return lambda query, k: call(**{q_name: query}), False
    if k_place is None and kinds.VAR_KEYWORD not in rest:
        return call, True
    k_name = k_place.name if k_place else "k"
    return lambda query, k: call(**{q_name: query, k_name: k}), True


def _name(retriever: Any) -> str:
    if isinstance(retriever, functools.partial):
        return _name(retriever.func)
    named = getattr(retriever, "__name__", None)
    owner = getattr(retriever, "__self__", None)
    if inspect.ismethod(retriever) and owner is not None:
        return f"{type(owner).__name__}.{named}"
    return str(named or type(retriever).__name__)


async def _all_of(results: AsyncIterable[Any], most: int) -> list[Any]:
    """The entries of an async generator, which may have no end."""
    found: list[Any] = []
    async for entry in results:
        found.append(entry)
        if len(found) > most:
            break
    if isinstance(results, AsyncGenerator):
        await results.aclose()
    return first_of(found, most)


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _in_a_loop(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run a coroutine to its end, also where an event loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(coroutine))
        except BaseException as error:  # handed to the caller
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)  # one that never returns must not hold up the end of Python
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]
