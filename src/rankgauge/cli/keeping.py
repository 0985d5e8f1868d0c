"""--keep: what a command has found goes into the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

__all__ = ["Keeping", "history_option", "keeping"]

F = TypeVar("F", bound=Callable[..., Any])
_WORDS = {
    "en": {
        "kept": "kept as record {id} of {place}",
        "there": "record {id} of {place} is the same already",
        "label": ", and keeps its label {label}",
    },
    "zh": {
        "kept": "已存入 {place}，编号 {id}",
        "there": "{place} 中已有相同的记录，编号 {id}",
        "label": "，其标签仍为 {label}",
    },
}


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

    def store(self, record: Mapping[str, Any], language: str, *, label: str | None = None) -> None:
        """Store the record if that was asked for, and say so on standard error."""
        if not self.wanted:
            return
        from rankgauge.history.store import History

        with History.open(self.history) as opened:
            stored = opened.add(record, label=self.label or label)
            words = _WORDS[language]
            told = words["kept" if stored.new else "there"].format(id=stored.id, place=opened.location)
            if self.label is not None and stored.label != self.label.strip():
                told += words["label"].format(label=stored.label)
            click.echo(told, err=True)
