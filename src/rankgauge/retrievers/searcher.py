"""Searcher: one way to ask retrievers of many kinds: functions, objects with a search method, LangChain, async ones."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable, Coroutine, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, NamedTuple

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import RetrieverError
from rankgauge.retrievers.calling import Depth, bound, is_async, method_of, name_of
from rankgauge.retrievers.configuration import own_configuration
from rankgauge.retrievers.hits import SPARE, Hit, ListFault, entries_of, first_of, hits_of
from rankgauge.retrievers.mistaken import advice_on

__all__ = ["Response", "Searcher", "as_searcher"]


class Response(NamedTuple):
    """One answer of a retriever, put in order."""

    hits: list[Hit]
    faults: list[ListFault]
    seconds: float
    """Time in the retriever alone: until its results were complete, before they were put in order."""
    raw: Any = None
    """What the retriever returned."""


@dataclass(frozen=True, eq=False, repr=False)
class Searcher:
    """A retriever with a name. `search` and `asearch` give the first k hits, whatever the retriever is made of."""

    call: Callable[[str, Any], Any]
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
    depth: Depth = field(default_factory=Depth)
    """What decides how many results it gives."""

    def __post_init__(self) -> None:
        self._response((), 1, 0.0)  # a bad path is an error now, not at the first query

    def search(self, query: str, k: int | None) -> list[Hit]:
        """The first k hits, best first."""
        return self.ask(query, k).hits

    async def asearch(self, query: str, k: int | None) -> list[Hit]:
        """The first k hits, best first; a retriever that is not async runs in a thread."""
        return (await self.aask(query, k)).hits

    def ask(self, query: str, k: int | None) -> Response:
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
            results = first_of(results, (k or 0) + SPARE)  # so that the time covers its work; it may have no end
        return self._response(results, k, time.perf_counter() - start)

    async def aask(self, query: str, k: int | None) -> Response:
        """Hits, faults and the time it took."""
        if not self.is_async:
            return await asyncio.to_thread(self.ask, query, k)
        start = time.perf_counter()
        results = self.call(query, k)
        if inspect.isawaitable(results):
            results = await results
        if isinstance(results, AsyncIterable):
            results = await _all_of(results, (k or 0) + SPARE)
        elif isinstance(results, Iterator):
            results = first_of(results, (k or 0) + SPARE)  # so that the time covers its work; it may have no end
        return self._response(results, k, time.perf_counter() - start)

    def read(self, results: Any) -> list[Hit]:
        """The hits of a list that this retriever made otherwise than by a call, such as that of a stage."""
        entries = entries_of(results, None)
        return self._response(entries, max(1, len(entries)), 0.0).hits

    def _response(self, results: Any, k: int | None, seconds: float) -> Response:
        hits, faults = hits_of(results, k, id_field=self.id_field, score_field=self.score_field)
        if faults and not self.takes_k:
            faults = [fault for fault in faults if fault.kind != "too_many"]
        return Response(hits, faults, seconds, results)

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
    for argument, text in (("name", name), ("id_field", id_field), ("score_field", score_field)):
        check_text(argument, text)
    if isinstance(retriever, Searcher):
        return _with_fields(retriever, {"id_field": id_field, "score_field": score_field})
    if isinstance(retriever, type):
        raise RetrieverError(f"{retriever.__name__} is a class; give an object of it, such as {retriever.__name__}()")
    if advice := advice_on(retriever):
        raise RetrieverError(advice)
    found = method_of(retriever)
    call, depth = bound(found, retriever)
    return Searcher(
        call,
        name or name_of(retriever),
        is_async=is_async(found),
        takes_k=depth.told,
        depth=depth,
        id_field=id_field,
        score_field=score_field,
        configuration=own_configuration(retriever),
    )


def _with_fields(searcher: Searcher, fields: Mapping[str, str | None]) -> Searcher:
    """A searcher that looks for ids and scores under the fields named; those that it names itself stay."""
    named: dict[str, Any] = {argument: text for argument, text in fields.items() if text is not None}
    for argument, text in named.items():
        own = getattr(searcher, argument)
        if own not in (None, text):
            raise RetrieverError(
                f"{searcher.name} was made with {argument}={own!r}, so {argument}={text!r} would have no effect; name "
                "the field where the searcher is made"
            )
    return replace(searcher, **named) if named else searcher


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
