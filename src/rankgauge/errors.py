"""The exception tree. All that a user can cause is a `RankgaugeError`, which the command line ends with status 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankgauge.visible import visible_message

__all__ = [
    "ContractError",
    "DataError",
    "Fault",
    "FormatError",
    "MeasureError",
    "MissingExtraError",
    "RankgaugeError",
    "RetrieverError",
    "counted",
]

_SHOWN = 20


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun, for messages: 1 query, 2 queries."""
    return f"{n} {one if n == 1 else many or one + 's'}"


class RankgaugeError(Exception):
    """Something the caller can mend: the message says what is wrong, where, and what to do.

    It names what comes from elsewhere (ids, files, what a server said), so it is shown with controls spelled out.
    """

    def __str__(self) -> str:
        return visible_message(super().__str__())


class MeasureError(RankgaugeError):
    """An unknown measure, or parameters a measure does not take."""


class ContractError(RankgaugeError):
    """A contract that is unknown, or one that the data does not meet."""


class DataError(RankgaugeError):
    """Judgments and runs that cannot be scored together, or values that are no numbers."""


class MissingExtraError(RankgaugeError):
    """A feature needs a package that is not installed."""


class RetrieverError(RankgaugeError):
    """A retriever that failed or returned what cannot be understood.

    `retry` says whether asking again may help; `retry_after` is the pause in seconds that the retriever asked for;
    `status` is that of an HTTP answer, where there was one; `sent` is whether the request may have arrived.
    """

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        sent: bool = True,
    ) -> None:
        super().__init__(message)
        self.retry = retry
        self.retry_after = retry_after
        self.status = status
        self.sent = sent


@dataclass(frozen=True)
class Fault:
    """One fault of one place in a file."""

    message: str
    line: int | None = None

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class FormatError(RankgaugeError):
    """A file that cannot be read as what it should be. It lists its faults together: the first 20 and how many more."""

    def __init__(self, path: str, faults: Iterable[Fault | str], *, total: int | None = None, hint: str = "") -> None:
        listed = [f if isinstance(f, Fault) else Fault(f) for f in faults]
        self.path = path
        self.faults: Sequence[Fault] = listed[:_SHOWN]
        self.total = len(listed) if total is None else total
        self.hint = hint
        super().__init__(self._message())

    def _message(self) -> str:
        if self.total == 1:
            fault = self.faults[0]
            place = self.path if fault.line is None else f"{self.path}:{fault.line}"
            lines = [f"{place}: {fault.message}"]
        else:
            lines = [f"{self.path}: {self.total} faults", *(f"  {fault}" for fault in self.faults)]
            if self.total > len(self.faults):
                lines.append(f"  ... and {self.total - len(self.faults)} more")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)
