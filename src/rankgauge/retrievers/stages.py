"""Retrievers of several stages, and what their earlier stages found while they were asked.

A retriever has stages if it has `stage_names`, first to last, and `stages(query, k)`, which yields each name with the
list of that stage; the last one is what `search` gives. They are made one after the other, so that whoever wants the
candidates alone does not pay for the re-ranker.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

from rankgauge.errors import RetrieverError
from rankgauge.model.run import Run
from rankgauge.retrievers.attributes import attribute
from rankgauge.retrievers.hits import Hit
from rankgauge.retrievers.interface import Retriever
from rankgauge.retrievers.own_code import told

__all__ = ["StageRecorder", "Staged", "is_staged", "names_with", "stages_of"]

_FIRST = "candidates"


class Staged(Protocol):
    """A retriever that tells what each of its stages found."""

    @property
    def stage_names(self) -> Sequence[str]:
        """First to last."""

    def stages(self, query: str, k: int) -> Iterator[tuple[str, list[Hit]]]:
        """Each stage with its list, best first."""


def is_staged(retriever: Any) -> bool:
    """Whether it has several stages. Attributes of these names may mean anything elsewhere."""
    names = attribute(retriever, "stage_names")
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return False
    return len(set(names)) == len(names) > 1 and callable(attribute(retriever, "stages"))


def names_with(retriever: Any, name: str) -> tuple[str, ...]:
    """The names of a retriever's stages, and of one more behind them."""
    names = tuple(retriever.stage_names) if is_staged(retriever) else (_FIRST,)
    number, unlike = 1, name
    while unlike in names:
        number += 1
        unlike = f"{name} {number}"
    return (*names, unlike)


def stages_of(retriever: Retriever, query: str, k: int) -> Iterator[tuple[str, list[Hit]]]:
    """The stages of a retriever; one without any is a stage itself."""
    if is_staged(retriever):
        staged: Any = retriever
        yield from staged.stages(query, k)
    else:
        yield _FIRST, retriever.search(query, k)


class StageRecorder:
    """Asks a retriever of several stages, and keeps what the earlier ones found, by the text of the query."""

    def __init__(self, retriever: Staged, read: Callable[[Any], list[Hit]]) -> None:
        """`read` takes what a stage returned as hits."""
        self._retriever, self._read = retriever, read
        *self._earlier, self._last = retriever.stage_names
        self._kept: dict[str, dict[str, dict[str, float]]] = {}
        self.unknown: dict[str, str] = {}
        """Queries whose answers were kept from before and whose earlier stages could not be asked again, with the
        error."""

    @property
    def ids(self) -> frozenset[str] | None:
        """The documents in the index, where the retriever tells them."""
        ids = attribute(self._retriever, "ids")
        return frozenset(map(str, ids)) if isinstance(ids, Collection) and not isinstance(ids, str) else None

    def search(self, query: str, k: int) -> Any:
        """The last stage's list, as the retriever gives it."""
        *earlier, (_, last) = self._told(self._retriever.stages(query, k), [*self._earlier, self._last])
        self._kept[query] = self._lists(earlier)
        return last

    def _told(self, stages: Any, names: Sequence[str]) -> list[tuple[str, Any]]:
        """The stages, of these names and in this order."""
        found = list(islice(stages, len(names) + 1)) if isinstance(stages, Iterable) else [stages]
        pairs = [one for one in found if isinstance(one, tuple | list) and len(one) == 2]
        if len(pairs) < len(found) or [name for name, _ in pairs] != [*names]:
            given = ", ".join(repr(one[0]) if one in pairs else repr(one)[:40] for one in found) or "nothing"
            raise RetrieverError(
                f"`stages` must yield a pair of name and list for each of {', '.join(map(repr, names))}, in this "
                f"order, not {given}"
            )
        return [(name, listed) for name, listed in pairs]

    def _lists(self, stages: Iterable[tuple[str, Any]]) -> dict[str, dict[str, float]]:
        """Lists as a run holds them, whatever the retriever returns."""
        return {name: {hit.id: hit.score for hit in self._read(found)} for name, found in stages}

    def runs(self, queries: Mapping[str, str], k: int) -> dict[str, Run]:
        """The lists of the earlier stages, by name. Queries whose answers were kept from before are asked again, up to
        the stage before the last; one that fails has no list, and is among the `unknown`."""
        lists: dict[str, dict[str, dict[str, float]]] = {name: {} for name in self._earlier}
        for query, text in queries.items():
            if text not in self._kept:
                try:
                    asked = islice(self._retriever.stages(text, k), len(self._earlier))
                    self._kept[text] = self._lists(self._told(asked, self._earlier))
                except Exception as error:  # whatever the retriever does
                    self.unknown[query] = told(error)
                    continue
            for name in self._earlier:
                lists[name][query] = self._kept[text].get(name, {})
        return {name: Run(found, name=name) for name, found in lists.items()}
