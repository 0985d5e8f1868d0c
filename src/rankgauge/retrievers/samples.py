"""Samples: the values of a few results, looked through for the field that holds the ids when those read match nothing.

Only the paths of fields are ever told, never a value, and nothing is stored.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, Final, NamedTuple

from rankgauge.retrievers.entries import BARE
from rankgauge.retrievers.fields import row_of, step_text
from rankgauge.retrievers.hits import Listed, results_in_columns

__all__ = ["Match", "Samples"]

_CALLS: Final = 20
_RESULTS: Final = 20  # of each call
_FIELDS: Final = 100  # of each result
_DEEPEST: Final = 3  # steps of a path
_LONGEST: Final = 200  # characters of what may be an id
_CLEARLY: Final = 8  # results more than twice as many
_LEAST: Final = 0.02  # of the results
_SURELY: Final = 3  # results that are judged for their own query, where no field holds them by chance
_PROPERTIES: Final = ("id", "id_", "node_id", "ref_doc_id", "doc_id", "metadata", "meta", "payload", "node", "document")
"""What objects may have beside their plain attributes."""


class Match(NamedTuple):
    """A field whose values are ids that are known."""

    argument: str
    """`id_field`, or `ids` of a service behind a URL; `parent_field` where several results of one list have the same
    value, as chunks of one document have."""
    field: str
    share: float
    """Of the results looked at."""


class Samples:
    """Values by field of the first results of the first calls: texts and whole numbers that could be ids."""

    def __init__(self) -> None:
        self._values: list[dict[str, str]] = []
        self._queries: list[str] = []
        self._calls = 0
        self._lock = threading.Lock()

    def add(self, raw: Any, query: str = "") -> None:
        """Look at what a call for this query returned, if it is one of the first."""
        if self._calls >= _CALLS:
            return
        found = [dict(islice(_fields(entry, prefix, 0), _FIELDS)) for prefix, entry in islice(_results(raw), _RESULTS)]
        with self._lock:
            self._calls += 1
            self._values += found
            self._queries += [query] * len(found)

    def better(self, ids: Mapping[str, Sequence[str]], judged: Mapping[str, Set[str]]) -> tuple[float, Match] | None:
        """A field that finds far more judged documents of its queries than the ids that were read, and the share of
        these: ids that a store made up, such as numbers, may be those of other documents by chance. None where there is
        none."""
        own = sum(one in judged.get(query, ()) for query in set(self._queries) for one in ids.get(query, ())[:_RESULTS])
        counts = Counter(
            path
            for query, values in zip(self._queries, self._values, strict=True)
            for path, value in values.items()
            if value in judged.get(query, ())
        )
        if not own or not counts:
            return None
        path, n = min(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0]))
        return (own / len(self._values), self._match(path, n)) if n >= 2 * own + _CLEARLY else None

    def _match(self, path: str, n: int) -> Match:
        pairs = [(query, values.get(path)) for query, values in zip(self._queries, self._values, strict=True)]
        named = [pair for pair in pairs if pair[1] is not None]
        share = n / len(self._values)
        if len(set(named)) < len(named):
            return Match("parent_field", path.rpartition("[*].")[2] if path.startswith("$") else path, share)
        return Match("ids" if path.startswith("$") else "id_field", path, share)

    def certain(self, known: Set[str], judged: Mapping[str, Set[str]]) -> list[Match]:
        """Fields that hold documents which are judged for the very query far more often than for any other, the best
        first. A field of numbers, such as places in a text, may hold ids that are known, but those of any query."""
        of_all = Counter(doc for docs in judged.values() for doc in docs)
        own: Counter[str] = Counter()
        expected: dict[str, float] = defaultdict(float)  # if the queries had nothing to do with it
        for query, values in zip(self._queries, self._values, strict=True):
            for path, value in values.items():
                if value in of_all:
                    own[path] += value in judged.get(query, ())
                    expected[path] += of_all[value] / len(judged)
        sure = {
            path
            for path, n in own.items()
            if n >= max(_SURELY, expected[path] + 4 * math.sqrt(expected[path]) + _SURELY - 1)
        }
        fields = {self._match(path, 1).field for path in sure}
        return [match for match in self.matching(known) if match.field in fields]

    def matching(self, known: Set[str]) -> list[Match]:
        """Fields whose values are among the known ids, the best first."""
        counts = Counter(path for values in self._values for path, value in values.items() if value in known)
        least = max(1.0, _LEAST * len(self._values))
        found: dict[tuple[str | None, ...], Match] = {}  # of fields that say the same the shortest
        for path, n in sorted(counts.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
            if n >= least:
                found.setdefault(tuple(values.get(path) for values in self._values), self._match(path, n))
        return list(found.values())


def _results(raw: Any) -> Iterator[tuple[str, Any]]:
    """The results one by one, each with what stands before the paths of its fields."""
    if isinstance(raw, Listed) and raw.answer is not None and all(isinstance(entry, (*BARE, tuple)) for entry in raw):
        yield from ((place.removeprefix(raw.each), entry) for place, entry in _objects(raw.answer, "$"))
        return
    columns = results_in_columns(raw) if isinstance(raw, Mapping) else None
    entries = raw if isinstance(raw, list | tuple) else columns or next((list_ for _, list_ in _lists(raw, "")), ())
    for entry in entries:
        yield "", entry[0] if isinstance(entry, tuple) and len(entry) == 2 and not isinstance(entry[0], BARE) else entry


def _objects(answer: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The objects in the lists of a JSON answer, with their path."""
    for place, listed in _lists(answer, path):
        for entry in listed:
            if isinstance(entry, Mapping):
                yield f"{place}[*].", entry


def _lists(value: Any, path: str, steps: int = 0) -> Iterator[tuple[str, list[Any]]]:
    if isinstance(value, list):
        yield path, value
    elif isinstance(value, Mapping) and steps < _DEEPEST:
        for name, inner in value.items():
            yield from _lists(inner, f"{path}.{step_text(str(name))}", steps + 1)
    elif steps == 0:
        yield from ((path, inner) for inner in vars(value).values() if isinstance(inner, list)) if _plain(value) else ()


def _fields(value: Any, prefix: str, steps: int) -> Iterator[tuple[str, str]]:
    """Paths and values of what could be an id."""
    for name, inner in _parts(value):
        path = f"{prefix}{name}"
        if isinstance(inner, str | int) and not isinstance(inner, bool):
            if 0 < len(text := str(inner)) <= _LONGEST:
                yield path, text
        elif inner is not None and steps < _DEEPEST:
            yield from _fields(inner, f"{path}.", steps + 1)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    if (row := row_of(value)) is not None:
        value = row
    if isinstance(value, Mapping):
        yield from ((step_text(str(name)), inner) for name, inner in value.items())
    elif isinstance(value, tuple) and not hasattr(value, "_fields"):
        yield from ((f"[{number}]", inner) for number, inner in enumerate(value))
    elif _plain(value):
        names = dict.fromkeys([*getattr(value, "_fields", ()), *getattr(value, "__dict__", ()), *_PROPERTIES])
        for name in names:
            if not name.startswith("_"):
                try:
                    inner = getattr(value, name, None)
                except Exception:  # a property of someone else's class
                    continue
                if not callable(inner):
                    yield name, inner


def _plain(value: Any) -> bool:
    """Whether its attributes may be looked at: an object of a class, not a value of Python's own."""
    return hasattr(value, "__dict__") or hasattr(value, "_fields")
