"""`rankgauge history`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.history_trend import trend
from rankgauge.cli.keeping import history_option, moment, opened_history, print_json, print_report
from rankgauge.cli.showing import show as show_record
from rankgauge.words import Note, say

if TYPE_CHECKING:
    from rankgauge.history.rows import Stored
    from rankgauge.history.store import History
    from rankgauge.words import Language

__all__ = ["history"]

_NAMED = 20


@click.group()
def history() -> None:
    """Keep records over time: list them, show them, compare two of them, see a measure's trend.

    A record is named by its number, by six or more characters of its uid, or as latest, latest~1, ... The history is a
    SQLite file, .rankgauge/history.db here, unless --history or RANKGAUGE_HISTORY says otherwise.
    """


@history.command()
@click.argument("files", metavar="RECORD.json...", nargs=-1, required=True)
@click.option("--label", metavar="TEXT", help="A name for records that belong together.")
@history_option
@options.lang
def add(files: tuple[str, ...], label: str | None, history: str | None, language: Language) -> None:
    """Store records that `evaluate`, `compare` or `run` wrote; all of them or none.

    A file is one record, or, as .jsonl, one on each line. A record that is there already is not stored again; if it has
    no label yet, it gets the one given.
    """
    from rankgauge.formats.json_values import read_json_lines, read_record
    from rankgauge.formats.limits import RECORD_LINES
    from rankgauge.formats.sources import Source
    from rankgauge.record import Record

    read: list[tuple[str, Record]] = []
    for path in files:
        source = Source(path)
        if source.bare_name.endswith((".jsonl", ".ndjson")):
            lines = [(f"{source.name}:{number}", value) for number, value in read_json_lines(source, RECORD_LINES)]
        else:
            lines = [(source.name, read_record(source))]
        read += [(name, Record.from_dict(value, name)) for name, value in lines]
    with opened_history(history, create=True, write=True) as opened, opened.begin() as connection:
        told = []
        for name, record in read:
            stored = opened.add(record, label=label, connection=connection, name=name)
            told.append(_told(stored, name, label, language))
    echo("\n".join(told))


def _told(stored: Stored, path: str, label: str | None, language: Language) -> str:
    key = "stored" if stored.new else "labelled" if stored.labelled else "there"
    if key == "there" and label is not None and stored.label != label.strip():
        key = "kept_label"
    told = {"path": path, "id": stored.id, "label": (label or "").strip(), "old": stored.label}
    return say(f"history.{key}", language, **told)


@history.command("list")
@click.option("--label", metavar="TEXT", help="Only records with this label.")
@click.option("--system", metavar="NAME", help="Only records with this system.")
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="Show this measure; may be repeated."
)
@click.option("--since", metavar="TIME", help="A date, a time, or so long ago: 12h, 7d, 4w.")
@click.option("--until", metavar="TIME", help="The same; a date counts to its end.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="At most so many, the newest.")
@history_option
@options.json_flag
@options.digits
@options.lang
def list_(
    label: str | None,
    system: str | None,
    measures: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int,
    history: str | None,
    as_json: bool,
    digits: int,
    language: Language,
) -> None:
    """List records, newest first, with their means."""
    with opened_history(history) as opened:
        found = opened.records(
            label=label,
            system=system,
            measure=measures[0] if len(measures) == 1 else None,
            since=moment(since),
            until=moment(until, whole_day=True),
            limit=limit,
        )
        means, named = opened.means(record.id for record in found), opened.baselines()
    if not found and not as_json:
        echo(say("history.empty", language))
        return
    from rankgauge.history.finding import measure_names
    from rankgauge.reports.document import Report
    from rankgauge.reports.listing import listed, listing_table

    baselines = {record.id: [one.name for one in named if one.record_id == record.id] for record in found}
    if as_json:
        print_json([listed(record, means.get(record.id, []), baselines[record.id]) for record in found])
    else:
        known = {mean.measure for own in means.values() for mean in own}
        columns = [next((n for n in measure_names(m) if n in known), m) for m in measures]
        table = listing_table(found, means, baselines, measures=columns, system=system)
        print_report(Report(Note("history.records"), [table]), language, digits)


@history.command()
@click.argument("reference", metavar="REF")
@click.option("--label", metavar="TEXT", help="With this label: what latest means.")
@history_option
@options.json_flag
@options.details
@options.digits
@options.lang
def show(
    reference: str,
    label: str | None,
    history: str | None,
    as_json: bool,
    details: bool,
    digits: int,
    language: Language,
) -> None:
    """Show a record as a table, or with --json the record itself."""
    with opened_history(history) as opened:
        record = opened.record(opened.get(reference, label=label))
    show_record(record, "json" if as_json else "terminal", language=language, digits=digits, details=details)


@history.command()
@click.argument("first", metavar="REF")
@click.argument("second", metavar="REF")
@click.option("-m", "--measure", metavar="MEASURE", help="Only this measure. Default: all that both have.")
@click.option("--system", metavar="NAME", help="Which system, where the records have several.")
@click.option("--label", metavar="TEXT", help="With this label: what latest means.")
@click.option("--force", is_flag=True, help="Compare although contract or test set differ; the result is on you.")
@history_option
@options.json_flag
@options.details
@options.digits
@options.lang
def diff(
    first: str,
    second: str,
    measure: str | None,
    system: str | None,
    label: str | None,
    force: bool,
    history: str | None,
    as_json: bool,
    details: bool,
    digits: int,
    language: Language,
) -> None:
    """Compare two records of one system, query by query: did it change between them?

    Records with other judgments, queries or another contract are not the same quantity and are refused.
    """
    from rankgauge.comparison.stored_scores import compare_records
    from rankgauge.history.pairing import paired
    from rankgauge.record import InputFile

    with opened_history(history) as opened:
        chosen = [opened.get(reference, label=label) for reference in (first, second)]
        records = [opened.record(stored) for stored in chosen]
    names = [f"#{stored.id}" for stored in chosen]
    comparison = compare_records(paired(records, names, system), names, measure=measure, force=force)
    inputs = {f"scores:{i}": InputFile(names[i - 1], stored.uid) for i, stored in enumerate(chosen, start=1)}
    record = comparison.to_record(inputs=inputs, provenance=as_json)
    show_record(record, "json" if as_json else "terminal", language=language, digits=digits, details=details)


@history.command()
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N.")
@click.option("--before", metavar="TIME", help="Only what was made before: a date, a time, or so long ago: 90d.")
@click.option("--label", metavar="TEXT", help="Only records with this label.")
@click.option("--yes", is_flag=True, help="Really remove them.")
@history_option
@options.lang
def prune(
    keep: int | None, before: str | None, label: str | None, yes: bool, history: str | None, language: Language
) -> None:
    """Remove old records. Without --yes it only says what would go; what a baseline needs always stays.

    It works on a full disk too, where records go one by one and their room is given back. Elsewhere it is used again by
    new records; `rankgauge history vacuum` gives it back.
    """
    from rankgauge.history.room import prune_history
    from rankgauge.history.times import shown

    if keep is None and before is None:
        raise click.UsageError("say what to remove: all but the newest (--keep N), or what is old (--before DATE)")
    pruned = prune_history(history, keep=keep, before=moment(before), label=label, dry_run=not yes)
    gone = pruned.gone
    if not gone:
        echo(say("history.none", language))
    else:
        told = {"n": len(gone), "first": shown(gone[-1].created), "last": shown(gone[0].created), "ids": _ids(gone)}
        echo(say("history.gone" if yes else "history.would", language, **told))
    if pruned.freed is not None:
        echo(say("history.freed", language, bytes=pruned.freed))
    if pruned.held:
        echo(say("history.held", language, ids=_ids(pruned.held)))


@history.command()
@history_option
@options.json_flag
@options.lang
def vacuum(history: str | None, as_json: bool, language: Language) -> None:
    """Give the room of removed records back to the disk.

    A file is written anew, and so are the tables of the history on a server. There must be room for that, and others
    that use the history wait meanwhile.
    """
    from rankgauge.history.location import resolve
    from rankgauge.history.room import vacuum_history

    place = resolve(history)
    done = vacuum_history(place)
    if as_json:
        print_json({"history": str(place), "before": done.before, "after": done.after})
    else:
        echo(say("history.vacuumed", language, place=str(place), before=done.before, after=done.after))


def _ids(records: Sequence[Stored]) -> str:
    return _numbers([record.id for record in records])


def _numbers(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:_NAMED])) + (", ..." if len(numbers) > _NAMED else "")


@history.command()
@click.argument("references", metavar="[REF...]", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All records, instead of named ones.")
@click.option("--label", metavar="TEXT", help="With --all: only records with this label.")
@click.option(
    "-o", "--output", metavar="FOLDER|FILE.jsonl", required=True, help="A file for each, or one with a line for each."
)
@click.option("--skip-damaged", is_flag=True, help="With --all: leave out what cannot be read, and say so.")
@history_option
@options.lang
def export(
    references: tuple[str, ...],
    everything: bool,
    skip_damaged: bool,
    label: str | None,
    output: str,
    history: str | None,
    language: Language,
) -> None:
    """Write records as they were stored: files in a folder, or lines of one file (.jsonl, .jsonl.gz, - for standard
    output)."""
    if everything == bool(references):
        raise click.UsageError("name the records, or say --all")
    if skip_damaged and not everything:
        raise click.UsageError("--skip-damaged goes with --all")
    with opened_history(history) as opened:
        wanted: list[Stored]
        lost: list[int] = []
        if skip_damaged:
            from rankgauge.history.salvage import readable_records

            wanted, lost = readable_records(opened, label=label)
        elif everything:
            wanted = opened.records(label=label)[::-1]
        else:
            wanted = [opened.get(reference, label=label) for reference in references]
        count = _exported(opened, wanted, output)
    if output != "-":
        echo(say("history.written_records", language, path=output, n=count), err=True)
    if lost:
        echo(say("history.left_out", language, n=len(lost), ids=_numbers(lost)), err=True)


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


history.add_command(trend)
