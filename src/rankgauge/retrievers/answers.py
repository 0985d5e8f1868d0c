"""Answer and RetrievalResult: what a retriever answered to each query, and what can be said of all answers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from rankgauge.formats.secrets import masked
from rankgauge.model.run import Run
from rankgauge.record import Cost
from rankgauge.retrievers.calling import Depth
from rankgauge.retrievers.costs import CostOf
from rankgauge.retrievers.hits import Hit, ListFault
from rankgauge.retrievers.samples import Samples
from rankgauge.stats.latency import Latency
from rankgauge.words import Note, tell
from rankgauge.words.visible import shortened

__all__ = ["Answer", "RetrievalResult"]

_SHORT = 150
_KINDS = 5
_OVERLAPPING = 4  # calls from which on it can be seen whether they overlap
_MOSTLY = 0.8
_LEAST_WALL = 0.05  # seconds


class Answer(NamedTuple):
    """What came of one query."""

    query: str
    hits: list[Hit]
    seconds: float
    """Time of the last call; of a cached answer, what it took when it was asked."""
    error: str | None = None
    attempts: int = 1
    cached: bool = False
    faults: Sequence[ListFault] = ()
    unreachable: bool = False
    """Whether it failed because no connection came about, so that the retriever never saw the query."""
    repeats: Sequence[str] = ()
    """Why calls were made again: the errors of all attempts before the last."""
    cost: float | None = None
    """What the call cost, where that is asked for and known."""

    def to_record(self) -> dict[str, Any]:
        """The answer as a line of a journal; what the retriever said is masked there."""
        return {
            "query": self.query,
            "hits": self.hits,
            "seconds": round(self.seconds, 6),
            "attempts": self.attempts,
            **({"error": masked(self.error)} if self.error else {}),
            **({"faults": [_written(fault) for fault in self.faults]} if self.faults else {}),
            **({"cost": self.cost} if self.cost is not None else {}),
        }

    @classmethod
    def from_record(cls, query: str, record: dict[str, Any]) -> Answer:
        hits = [Hit(str(name), float(score)) for name, score in record["hits"]]
        faults = [_read(*fault) for fault in record.get("faults", ())]
        seconds, cost = float(record["seconds"]), record.get("cost")
        return cls(query, hits, seconds, None, int(record["attempts"]), True, faults, cost=cost)


def _written(fault: ListFault) -> list[Any]:
    """A fault as a journal holds it; scores that only rise with the order given, about which all answers decide."""
    return [fault.kind, masked(fault.message), *([fault.field, fault.given] if fault.field else [])]


def _read(kind: str, message: str, field: str = "", given: Sequence[Any] = ()) -> ListFault:
    return ListFault(message, kind=kind, given=tuple(Hit(str(doc), float(score)) for doc, score in given), field=field)


@dataclass(frozen=True)
class RetrievalResult:
    """What a retriever answered to all queries: the retrieval result."""

    name: str
    k: int | None
    concurrency: int
    asked: int
    """Number of queries that were to be answered."""
    answers: list[Answer]
    """In the order of the queries; after an interruption, only those that were finished."""
    wall_seconds: float
    max_failed: float = 0.05
    known_ids: Set[str] | None = field(default=None, repr=False)
    not_asked: Sequence[str] = ()
    """Queries without an answer, because it ended before their turn."""
    given_up: bool = False
    """Whether it ended early, because no call got a connection or an answer in time."""
    is_async: bool = False
    """Whether the calls shared an event loop, where one that blocks holds up the others."""
    own_thread: bool = False
    """Whether the retriever could be used only in the thread it was made in, where no call can be given up."""
    mistaken: bool = False
    """Whether it ended early, because the first calls failed by one mistake that every other call would make too."""
    cause: BaseException | None = field(default=None, repr=False)
    """The first exception of a call that failed."""
    depth: Depth = field(default_factory=Depth, repr=False)
    """What decides how many results the retriever gives."""
    samples: Samples | None = field(default=None, repr=False)
    cost_of: CostOf | None = field(default=None, repr=False)

    @cached_property
    def cost(self) -> Cost | None:
        """What the answered queries cost; None where it was not asked for, or no answer tells."""
        if self.cost_of is None:
            return None
        return Cost.of(self.cost_of.unit, [answer.cost for answer in self.answers if answer.error is None])

    @cached_property
    def run(self) -> Run:
        """The lists as a run. A query that failed has an empty list."""
        return Run({answer.query: dict(answer.hits) for answer in self.answers}, name=self.name)

    @property
    def failed(self) -> list[str]:
        """Queries whose calls failed, also after retries."""
        return [answer.query for answer in self.answers if answer.error is not None]

    @property
    def errors(self) -> dict[str, int]:
        """How many queries failed for each reason, the most frequent first."""
        return dict(Counter(answer.error for answer in self.answers if answer.error is not None).most_common())

    @property
    def cached(self) -> int:
        """Number of answers that came from a journal."""
        return sum(answer.cached for answer in self.answers)

    @property
    def repeated(self) -> int:
        """Number of calls that were made again after an error that may pass."""
        return sum(len(answer.repeats) for answer in self.answers)

    @property
    def empty(self) -> list[str]:
        """Queries that were answered with an empty list."""
        return [answer.query for answer in self.answers if answer.error is None and not answer.hits]

    @property
    def interrupted(self) -> bool:
        return len(self.answers) < self.asked and not self.given_up

    @cached_property
    def latency(self) -> Latency:
        """Over calls that were made now and succeeded: neither cached answers nor failures."""
        return Latency.of((answer.seconds for answer in self._timed), self.concurrency)

    @property
    def throughput(self) -> float:
        """Successful calls per second of wall time (QPS), pauses and failures included."""
        return len(self._timed) / self.wall_seconds if self.wall_seconds > 0 else 0.0

    @property
    def faults(self) -> dict[str, int]:
        """For each kind of fault, in how many lists it was found."""
        return dict(Counter(kind for answer in self.answers for kind in {fault.kind for fault in answer.faults}))

    @cached_property
    def unknown_ids(self) -> list[str]:
        """Retrieved ids that are not in the corpus, in order of appearance; empty when no corpus was given."""
        if self.known_ids is None:
            return []
        found = dict.fromkeys(hit.id for answer in self.answers for hit in answer.hits)
        return [name for name in found if name not in self.known_ids]

    @property
    def reason(self) -> Note | None:
        """Why the result is not valid; None when it is."""
        failed = len(self.failed)
        if self.interrupted:
            return Note("live.interrupted", {"done": len(self.answers), "asked": self.asked}, "warning")
        if not self.given_up and failed <= self.max_failed * self.asked:
            return None
        about = {"failed": failed, "asked": self.asked, "error": next(iter(self.errors))}
        if self.mistaken:
            return Note("asking.mistake", {**about, "rest": self.asked - len(self.answers)}, "warning")
        if self.given_up:
            return Note("live.unreachable", {**about, "rest": self.asked - len(self.answers)}, "warning")
        return Note("live.failed", {**about, "share": self.max_failed}, "warning")

    @property
    def valid(self) -> bool:
        """Whether its figures say something about the retriever: it is complete and few queries failed."""
        return self.reason is None

    @property
    def unreachable(self) -> bool:
        """Whether every query failed for want of a connection."""
        return bool(self.answers) and all(answer.unreachable for answer in self.answers)

    @property
    def remarks(self) -> list[str]:
        """The notes in English."""
        return [tell(note, "en") for note in self.notes]

    @property
    def notes(self) -> list[Note]:
        """What a reader of the figures should know. What the retriever itself said stays as it is."""
        return [*self._error_notes(), *self._list_notes(), *self._call_notes()]

    def _error_notes(self) -> Iterator[Note]:
        errors = list(self.errors.items())
        for error, count in errors[:_KINDS]:
            yield Note("live.query_error", {"error": shortened(error), "n": count}, "warning")
        if (more := len(errors) - _KINDS) > 0:
            yield Note("live.more_errors", {"n": more}, "warning")

    def _list_notes(self) -> Iterator[Note]:
        for kind, count in self.faults.items():
            found = ((answer.query, fault) for answer in self.answers for fault in answer.faults)
            query, first = next((query, fault) for query, fault in found if fault.kind == kind)
            about = {"lists": count, "query": query}
            if kind == "rising":
                yield Note("asking.rising", {**about, "field": first.field}, "warning")
            elif kind == "unsorted" and (field := self._turned):
                yield Note("asking.turned", {**about, "field": field}, "warning")
            else:
                yield Note(f"live.{kind}", about, "warning")
        if unknown := self.unknown_ids:
            total = len({hit.id for answer in self.answers for hit in answer.hits})
            if len(unknown) == total:
                yield Note("live.all_ids_unknown", {"total": total, "id": unknown[0]}, "warning")
            else:
                yield Note("live.unknown_ids", {"n": len(unknown), "total": total, "id": unknown[0]}, "warning")
        if none := self.empty:
            lists = len(self.answers) - len(self.failed)
            yield Note("live.empty", {"n": len(none), "lists": lists, "query": none[0]}, "warning")

    @property
    def _turned(self) -> str:
        """The `score_field` that would keep the retriever's order, where the one given turns every list round."""
        several = [answer for answer in self.answers if len(answer.hits) > 1]
        found = [fault.field for answer in several for fault in answer.faults if fault.field and not fault.given]
        return found[0] if found and len(found) == len(several) else ""

    def _call_notes(self) -> Iterator[Note]:
        yield from self.depth.notes(self.k)
        if self.own_thread:
            yield Note("asking.own_thread")
        if self.cost_of is not None and (without := [a.query for a in self.answers if not a.error and a.cost is None]):
            about = {"n": len(without), "answers": len(self.answers) - len(self.failed), "cost": self.cost_of.name}
            fault = self.cost_of.fault
            key = "asking.cost_failed" if fault else "asking.no_cost"
            level: Literal["info", "warning"] = "warning" if fault or self.cost is None else "info"
            yield Note(key, {**about, "error": shortened(fault, _SHORT)}, level)
        if n := self.repeated:
            why = Counter(error for answer in self.answers for error in answer.repeats).most_common(1)[0][0]
            yield Note("live.repeated", {"n": n, "error": shortened(why, _SHORT)})
        if self._one_by_one:
            about = {"n": len(self._timed), "concurrency": self.concurrency, "wall": self.wall_seconds}
            yield Note("live.blocking", about, "warning")
        if kept := self.cached:
            yield Note("live.cached", {"n": kept, "answers": len(self.answers)})

    @property
    def _one_by_one(self) -> bool:
        """Whether async calls that could have overlapped did not: their times add up to the wall time."""
        if not self.is_async or self.concurrency < 2 or len(self._timed) < _OVERLAPPING:
            return False
        total = sum(answer.seconds for answer in self._timed)
        # Calls that take next to nothing need no overlap: then the rest takes most of the time.
        return total > _LEAST_WALL and _MOSTLY * self.wall_seconds < total < self.wall_seconds / _MOSTLY

    @cached_property
    def _timed(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.error is None and not answer.cached]
