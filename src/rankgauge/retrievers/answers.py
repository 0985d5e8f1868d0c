"""Answer and RetrievalResult: what a retriever answered to each query, and what can be said of all answers together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from rankgauge.model.run import Run
from rankgauge.retrievers.hits import Hit, ListFault
from rankgauge.retrievers.reasons import reason
from rankgauge.stats.latency import Latency

__all__ = ["Answer", "RetrievalResult", "counted", "shortened"]

_LONGEST = 300
_SHORT = 150
_KINDS = 5
_OVERLAPPING = 4  # calls from which on it can be seen whether they overlap
_MOSTLY = 0.8
_LEAST_WALL = 0.05  # seconds
_FAULTS_ZH = {
    "too_many": "返回的结果多于请求的数量，已截断",
    "duplicate": "有重复文档，以第一个为准",
    "unsorted": "得分未按降序排列，已重新排序",
    "no_id": "有结果没有编号，已丢弃",
    "not_finite": "有得分为 NaN 或无穷",
    "no_score": "部分结果没有得分，排在有得分的结果之后",
}


def shortened(text: str, most: int = _LONGEST) -> str:
    """A text on one line for a message, its end cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}... ({len(line)} characters in all)"


def counted(n: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 query, 2 queries."""
    return f"{n} {one if n == 1 else many or one + 's'}"


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

    def to_record(self) -> dict[str, Any]:
        """The answer as a line of a journal."""
        return {
            "query": self.query,
            "hits": self.hits,
            "seconds": round(self.seconds, 6),
            "attempts": self.attempts,
            **({"error": self.error} if self.error else {}),
            **({"faults": [[fault.kind, fault.message] for fault in self.faults]} if self.faults else {}),
        }

    @classmethod
    def from_record(cls, query: str, record: dict[str, Any]) -> Answer:
        hits = [Hit(str(name), float(score)) for name, score in record["hits"]]
        faults = [ListFault(message, kind=kind) for kind, message in record.get("faults", ())]
        return cls(query, hits, float(record["seconds"]), None, int(record["attempts"]), True, faults)


@dataclass(frozen=True)
class RetrievalResult:
    """One pass of a retriever over all queries."""

    name: str
    k: int
    concurrency: int
    asked: int
    """Number of queries that were to be answered."""
    answers: list[Answer]
    """In the order of the queries; when the pass was interrupted, only those that were finished."""
    wall_seconds: float
    max_failed: float = 0.05
    known_ids: Set[str] | None = field(default=None, repr=False)
    not_asked: Sequence[str] = ()
    """Queries without an answer, because the pass ended before their turn."""
    given_up: bool = False
    """Whether it ended early because nobody could be reached, or answered in time."""
    is_async: bool = False
    """Whether the calls shared an event loop, where one that blocks holds up the others."""

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
        """Over calls that succeeded in this pass: neither cached answers nor failures."""
        return Latency.of((answer.seconds for answer in self._timed), self.concurrency)

    @property
    def throughput(self) -> float:
        """Successful calls of this pass per second of wall time, pauses and failures included."""
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
    def reason(self) -> str:
        """Why the pass is not valid; empty when it is."""
        if self.interrupted:
            return reason("interrupted", done=len(self.answers), asked=self.asked)
        failed = len(self.failed)
        if self.given_up:
            rest, error = self.asked - len(self.answers), next(iter(self.errors))
            return reason("unreachable", failed=failed, asked=self.asked, rest=rest, error=error)
        if failed > self.max_failed * self.asked:
            share, error = f"{100 * self.max_failed:.3g}%", next(iter(self.errors))
            return reason("failed", failed=failed, asked=self.asked, share=share, error=error)
        return ""

    @property
    def valid(self) -> bool:
        """Whether figures from this pass say something about the retriever: it is complete and few queries failed."""
        return not self.reason

    @property
    def unreachable(self) -> bool:
        """Whether every query failed for want of a connection."""
        return bool(self.answers) and all(answer.unreachable for answer in self.answers)

    @property
    def remarks(self) -> list[str]:
        """What a reader of the figures should know, in plain words."""
        return [english for english, _ in self.remark_pairs]

    @property
    def remark_pairs(self) -> list[tuple[str, str]]:
        """The remarks, each in English and Chinese; what the retriever itself said stays as it is."""
        said = []
        errors = list(self.errors.items())
        for error, count in errors[:_KINDS]:
            text = shortened(error)
            said.append((f"{text} ({counted(count, 'query', 'queries')})", f"{text}（{count} 个查询）"))
        if (more := len(errors) - _KINDS) > 0:
            said.append((f"and {counted(more, 'other error')}, all in .errors", f"另有 {more} 种错误，见 .errors"))
        for kind, count in self.faults.items():
            query, first = next((a.query, f) for a in self.answers for f in a.faults if f.kind == kind)
            said.append(
                (
                    f"{counted(count, 'list')} with {kind.replace('_', ' ')}, such as: {first.message}",
                    f"{count} 个列表{_FAULTS_ZH.get(kind, kind)}，例如查询 {query!r}",
                )
            )
        if unknown := self.unknown_ids:
            total = len({hit.id for answer in self.answers for hit in answer.hits})
            every = len(unknown) == total
            said.append(
                (
                    f"{len(unknown)} of {total} retrieved ids are not in the corpus, such as {unknown[0]!r}"
                    + ("; does id_field name the right field?" if every else ""),
                    f"检索到的 {total} 个编号中有 {len(unknown)} 个不在语料库中，例如 {unknown[0]!r}"
                    + ("；id_field 指的字段对吗？" if every else ""),
                )
            )
        return [*said, *self._call_remarks()]

    def _call_remarks(self) -> Iterator[tuple[str, str]]:
        """Remarks on lists without a result, and on how the calls went."""
        if none := self.empty:
            lists, first = len(self.answers) - len(self.failed), repr(none[0])
            are = "is" if len(none) == 1 else "are"
            yield (
                f"{len(none)} of {counted(lists, 'list')} {are} empty, such as that of {first}",
                f"{lists} 个列表中有 {len(none)} 个为空，例如查询 {first}",
            )
        if n := self.repeated:
            why = Counter(error for answer in self.answers for error in answer.repeats).most_common(1)[0][0]
            yield (
                f"{counted(n, 'call was', 'calls were')} repeated, most often after: {shortened(why, _SHORT)}",
                f"重试了 {n} 次调用，最常见的原因：{shortened(why, _SHORT)}",
            )
        if self._one_by_one:
            n, wall = len(self._timed), f"{self.wall_seconds:.2g}"
            yield (
                f"the calls did not overlap: {n} async calls, up to {self.concurrency} at a time, took {wall} s, as "
                "long as one after another; the retriever blocks the event loop where it should await",
                f"调用没有重叠：{n} 次异步调用（并发 {self.concurrency}）共用 {wall} 秒，与逐个调用一样长；"
                "检索器阻塞了事件循环，应改用 await",
            )
        if kept := self.cached:
            yield (
                f"{kept} of {counted(len(self.answers), 'answer')} "
                f"{'was' if kept == 1 else 'were'} kept from an earlier start",
                f"{len(self.answers)} 个应答中有 {kept} 个是之前运行时保存的",
            )

    @property
    def _one_by_one(self) -> bool:
        """Whether async calls that could have overlapped did not: their times add up to the time of the pass."""
        if not self.is_async or self.concurrency < 2 or len(self._timed) < _OVERLAPPING:
            return False
        total = sum(answer.seconds for answer in self._timed)
        # Calls that take next to nothing need no overlap: then the pass itself takes most of the time.
        return total > _LEAST_WALL and _MOSTLY * self.wall_seconds < total < self.wall_seconds / _MOSTLY

    @cached_property
    def _timed(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.error is None and not answer.cached]
