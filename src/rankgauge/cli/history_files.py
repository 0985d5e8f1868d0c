"""`rankgauge history prune` and `rankgauge history export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.history_shared import moment, opened_history
from rankgauge.cli.keeping import history_option
from rankgauge.words import say

if TYPE_CHECKING:
    from rankgauge.history.rows import Stored
    from rankgauge.history.store import History
    from rankgauge.words import Language

__all__ = ["export", "prune"]

_NAMED = 20


@click.command()
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N.")
@click.option("--before", metavar="TIME", help="Only what was made before: a date, a time, or so long ago: 90d.")
@click.option("--label", metavar="TEXT", help="Only records with this label.")
@click.option("--yes", is_flag=True, help="Really remove them.")
@history_option
@options.lang
def prune(
    keep: int | None, before: str | None, label: str | None, yes: bool, history: str | None, language: Language
) -> None:
    """Remove old records. Without --yes it only says what would go; what a baseline needs always stays."""
    from rankgauge.history.times import shown

    if keep is None and before is None:
        raise click.UsageError("say what to remove: all but the newest (--keep N), or what is old (--before DATE)")
    with opened_history(history, write=yes) as opened:
        pruned = opened.prune(keep=keep, before=moment(before), label=label, dry_run=not yes)
    gone = pruned.gone
    if not gone:
        click.echo(say("history.none", language))
    else:
        told = {"n": len(gone), "first": shown(gone[-1].created), "last": shown(gone[0].created), "ids": _ids(gone)}
        click.echo(say("history.gone" if yes else "history.would", language, **told))
    if pruned.held:
        click.echo(say("history.held", language, ids=_ids(pruned.held)))


def _ids(records: Any) -> str:
    listed = [str(record.id) for record in records]
    return ", ".join(listed[:_NAMED]) + (", ..." if len(listed) > _NAMED else "")


@click.command()
@click.argument("references", metavar="[REF...]", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All records, instead of named ones.")
@click.option("--label", metavar="TEXT", help="With --all: only records with this label.")
@click.option(
    "-o", "--output", metavar="FOLDER|FILE.jsonl", required=True, help="A file for each, or one with a line for each."
)
@history_option
@options.lang
def export(
    references: tuple[str, ...],
    everything: bool,
    label: str | None,
    output: str,
    history: str | None,
    language: Language,
) -> None:
    """Write records as they were stored: files in a folder, or lines of one file (.jsonl, .jsonl.gz, - for standard
    output)."""
    if everything == bool(references):
        raise click.UsageError("name the records, or say --all")
    with opened_history(history) as opened:
        wanted: list[Stored]
        if everything:
            wanted = opened.records(label=label)[::-1]
        else:
            wanted = [opened.get(reference, label=label) for reference in references]
        count = _exported(opened, wanted, output)
    if output != "-":
        click.echo(say("history.written_records", language, path=output, n=count), err=True)


def _exported(opened: History, wanted: list[Stored], output: str) -> int:
    from rankgauge.errors import DataError
    from rankgauge.formats.sources import write_whole

    name = output.lower().removesuffix(".gz").removesuffix(".zst")
    if output == "-" or name.endswith((".jsonl", ".ndjson")):
        write_whole(output, b"".join(data + b"\n" for _, data in opened.export(wanted)))
        return len(wanted)
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: the folder cannot be made: {error.strerror or error}") from None
    for record, data in opened.export(wanted):
        write_whole(folder / f"{record.id:06d}-{record.uid[:12]}.json", data)
    return len(wanted)
