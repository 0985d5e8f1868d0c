"""The history on the command line: where it is, how it is opened and shown, and --keep, by which results go into it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankgauge.cli.echo import echo
from rankgauge.cli.showing import terminal_look
from rankgauge.words import say

if TYPE_CHECKING:
    from rankgauge.history.location import Location
    from rankgauge.history.store import History
    from rankgauge.record import Record
    from rankgauge.reports.document import Report
    from rankgauge.words import Language

__all__ = ["Keeping", "history_option", "keeping", "moment", "opened_history", "print_json", "print_report"]

F = TypeVar("F", bound=Callable[..., Any])


def history_option(command: F) -> F:
    """--history: where the history is."""
    return click.option(
        "--history",
        metavar="PATH|URL",
        help="The history: a SQLite file, postgresql://USER:PASSWORD@HOST/DATABASE, or libpq's 'host=... dbname=...'. "
        "Default: RANKGAUGE_HISTORY, else .rankgauge/history.db.",
    )(command)


def keeping(command: F) -> F:
    """--keep, --history and --label."""
    command = click.option("--label", metavar="TEXT", help="With --keep: a name for records that belong together.")(
        command
    )
    return click.option("--keep", is_flag=True, help="Store the record in the history.")(history_option(command))


def opened_history(place: str | Location | None, *, create: bool = False, write: bool = False) -> History:
    """The history; without `write` one that cannot be written is read."""
    from rankgauge.history.store import History

    return History.open(place, create=create, write=write)


def moment(text: str | None, *, whole_day: bool = False) -> datetime.datetime | None:
    from rankgauge.history.times import parse_moment

    return None if text is None else parse_moment(text, whole_day=whole_day)


def print_report(built: Report, language: Language, digits: int = 4) -> None:
    """A report on the terminal."""
    from rankgauge.reports import report

    report(built, "-", format="terminal", language=language, digits=digits, detail="evidence", **terminal_look())


def print_json(value: Any) -> None:
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole

    write_whole("-", dumps(value))


class Keeping:
    """What the three options say."""

    def __init__(self, keep: bool, history: str | None, label: str | None) -> None:
        if not keep and (history or label):
            raise click.UsageError("--history and --label go with --keep")
        self.wanted, self.label = keep, label
        if keep:  # a history that cannot be used is told before the work, not after it
            from rankgauge.history.entry import check_label

            check_label(label)
            with opened_history(history, create=True, write=True) as opened:
                self.history = opened.location  # wherever a system that is asked goes

    def store(self, record: Record, language: Language, *, label: str | None = None) -> None:
        """Store the record if that was asked for, and say so on standard error."""
        if not self.wanted:
            return
        with opened_history(self.history, create=True, write=True) as opened:
            stored = opened.add(record, label=self.label or label)
            key = "history.kept" if stored.new else "history.kept_there"
            if self.label is not None and stored.label != self.label.strip():
                key = "history.kept_there_label"
            echo(say(key, language, id=stored.id, place=opened.location, label=stored.label), err=True)
