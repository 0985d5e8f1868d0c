"""What the commands of `rankgauge history` and `rankgauge baseline` share: opening and printing."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankgauge.history.store import History
    from rankgauge.reports.document import Report
    from rankgauge.words import Language

__all__ = ["moment", "opened_history", "print_json", "print_report", "print_text"]


def opened_history(place: str | None, *, create: bool = False, write: bool = False) -> History:
    """The history; without `write` one that cannot be written is read."""
    from rankgauge.history.store import History

    return History.open(place, create=create, write=write)


def moment(text: str | None, *, whole_day: bool = False) -> datetime.datetime | None:
    from rankgauge.history.times import parse_moment

    return None if text is None else parse_moment(text, whole_day=whole_day)


def print_report(built: Report, language: Language, digits: int = 4) -> None:
    """A report on the terminal."""
    from rankgauge.reports import report
    from rankgauge.reports.tables import terminal_width

    color = sys.stdout.isatty()
    print_text(report(built, language=language, digits=digits, width=terminal_width(), color=color))


def print_json(value: Any) -> None:
    from rankgauge.formats.json_values import dumps

    print_text(dumps(value).decode())


def print_text(text: str) -> None:
    from rankgauge.formats.sources import write_whole

    write_whole("-", text.encode())
