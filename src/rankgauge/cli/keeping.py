"""--keep: what a command has found goes into the history."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankgauge.words import say

if TYPE_CHECKING:
    from rankgauge.record import Record
    from rankgauge.words import Language

__all__ = ["Keeping", "history_option", "keeping"]

F = TypeVar("F", bound=Callable[..., Any])


def history_option(command: F) -> F:
    """--history: where the history is."""
    return click.option(
        "--history",
        metavar="PATH|URL",
        help="The history: a SQLite file or postgresql://USER:PASSWORD@HOST/DATABASE. Default: RANKGAUGE_HISTORY, else "
        ".rankgauge/history.db.",
    )(command)


def keeping(command: F) -> F:
    """--keep, --history and --label."""
    command = click.option("--label", metavar="TEXT", help="With --keep: a name for records that belong together.")(
        command
    )
    return click.option("--keep", is_flag=True, help="Store the record in the history.")(history_option(command))


class Keeping:
    """What the three options say."""

    def __init__(self, keep: bool, history: str | None, label: str | None) -> None:
        if not keep and (history or label):
            raise click.UsageError("--history and --label go with --keep")
        self.wanted, self.history, self.label = keep, history, label
        if keep:  # a history that cannot be used is told before the work, not after it
            from rankgauge.history.entry import check_label
            from rankgauge.history.store import History

            check_label(label)
            History.open(history).close()

    def store(self, record: Record, language: Language, *, label: str | None = None) -> None:
        """Store the record if that was asked for, and say so on standard error."""
        if not self.wanted:
            return
        from rankgauge.history.store import History

        with History.open(self.history) as opened:
            stored = opened.add(record, label=self.label or label)
            key = "history.kept" if stored.new else "history.kept_there"
            if self.label is not None and stored.label != self.label.strip():
                key = "history.kept_there_label"
            click.echo(say(key, language, id=stored.id, place=opened.location, label=stored.label), err=True)
