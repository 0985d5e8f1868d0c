"""`rankgauge history`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.keeping import history_option

if TYPE_CHECKING:
    from rankgauge.history.rows import Point, Stored
    from rankgauge.history.store import History

__all__ = ["history"]

_WORDS = {
    "en": {
        "stored": "{path}: stored as record {id}",
        "there": "{path}: record {id} is the same already",
        "empty": "no record matches",
        "more": "The newest {n} are shown; --limit shows more.",
        "gone": "{n} removed, {first} to {last}",
        "would": "{n} would be removed, {first} to {last}: {ids}\nNothing was removed yet: add --yes to do it.",
        "none": "no record is to be removed",
        "held": "kept, since a baseline needs them: {ids}",
        "record": "1 record",
        "records": "{n} records",
        "point": "1 point",
        "points": "{n} points",
        "written": "{path}: {n}",
    },
    "zh": {
        "stored": "{path}：已存入，编号 {id}",
        "there": "{path}：已有相同的记录，编号 {id}",
        "empty": "没有符合条件的记录",
        "more": "仅显示最新的 {n} 条，可用 --limit 查看更多。",
        "gone": "已删除 {n}，从 {first} 到 {last}",
        "would": "将删除 {n}，从 {first} 到 {last}：{ids}\n尚未删除任何内容：加上 --yes 才会执行。",
        "none": "没有需要删除的记录",
        "held": "因基线需要而保留：{ids}",
        "record": "1 条记录",
        "records": "{n} 条记录",
        "point": "1 个点",
        "points": "{n} 个点",
        "written": "{path}：{n}",
    },
}
_TRENDS = {".svg": "svg", ".png": "png", ".html": "html", ".htm": "html", ".csv": "csv", ".json": "json"}
_SHOWN = 30
_NAMED = 20


@click.group()
def history() -> None:
    """Keep records over time: list them, show them, compare two of them, see a measure's trend.

    A record is named by its number, by six or more characters of its uid, or as latest, latest~1, ... The history is a
    SQLite file, .rankgauge/history.db here, unless --history or RANKGAUGE_HISTORY says otherwise.
    """


def _opened(place: str | None, *, create: bool = False) -> History:
    from rankgauge.history.store import History

    return History.open(place, create=create)


def _counted(number: int, noun: str, language: str) -> str:
    return _WORDS[language][noun if number == 1 else f"{noun}s"].format(n=number)


def _moment(text: str | None, *, whole_day: bool = False) -> Any:
    from rankgauge.history.times import parse_moment

    return None if text is None else parse_moment(text, whole_day=whole_day)


@history.command()
@click.argument("files", metavar="RECORD.json...", nargs=-1, required=True)
@click.option("--label", metavar="TEXT", help="A name for records that belong together.")
@history_option
@options.lang
def add(files: tuple[str, ...], label: str | None, history: str | None, language: str) -> None:
    """Store records that `evaluate`, `compare` or `run` wrote; all of them or none.

    A file is one record, or, as .jsonl, one on each line. A record that is there already is not stored again.
    """
    from rankgauge.experiments.record import check_record
    from rankgauge.formats.json_values import read_json, read_json_lines
    from rankgauge.formats.sources import Source

    read: list[tuple[str, dict[str, Any]]] = []
    for path in files:
        source = Source(path)
        if source.bare_name.endswith((".jsonl", ".ndjson")):
            lines = [(f"{source.name}:{number}", value) for number, value in read_json_lines(source)]
        else:
            lines = [(source.name, read_json(source))]
        read += [(name, check_record(value, name)) for name, value in lines]
    with _opened(history, create=True) as opened, opened.begin() as connection:
        told = []
        for name, record in read:
            stored = opened.add(record, label=label, connection=connection, name=name)
            told.append(_WORDS[language]["stored" if stored.new else "there"].format(path=name, id=stored.id))
    click.echo("\n".join(told))


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
    language: str,
) -> None:
    """List records, newest first, with their means."""
    from rankgauge.history.finding import measure_names
    from rankgauge.measures.explanations import check_language
    from rankgauge.reports.listing import listed, listing_table

    with _opened(history) as opened:
        found = opened.records(
            label=label,
            system=system,
            measure=measures[0] if len(measures) == 1 else None,
            since=_moment(since),
            until=_moment(until, whole_day=True),
            limit=limit,
        )
        means, baselines = opened.means(record.id for record in found), opened.baseline_names()
    if as_json:
        rows = [listed(record, means.get(record.id, []), baselines.get(record.id, [])) for record in found]
        _print(_json(rows))
    elif not found:
        click.echo(_WORDS[language]["empty"])
    else:
        known = {mean.measure for own in means.values() for mean in own}
        columns = [next((n for n in measure_names(m) if n in known), m) for m in measures]
        looks = {"digits": digits, "language": check_language(language)}
        _print(_table(listing_table(found, means, baselines, measures=columns, system=system, **looks)))  # type: ignore[arg-type]


@history.command()
@click.argument("reference", metavar="REF")
@click.option("--label", metavar="TEXT", help="With this label: what latest means.")
@history_option
@options.json_flag
@options.digits
@options.lang
def show(reference: str, label: str | None, history: str | None, as_json: bool, digits: int, language: str) -> None:
    """Show a record as a table, or with --json the record itself."""
    with _opened(history) as opened:
        record = opened.document(opened.get(reference, label=label))
    _print(_json(record) if as_json else _rendered(record, digits, language))


@history.command()
@click.argument("first", metavar="REF")
@click.argument("second", metavar="REF")
@click.option("-m", "--measure", metavar="MEASURE", help="Only this measure. Default: all that both have.")
@click.option("--system", metavar="NAME", help="Which system, where the records have several.")
@click.option("--label", metavar="TEXT", help="With this label: what latest means.")
@click.option("--force", is_flag=True, help="Compare although contract or test set differ; the result is on you.")
@history_option
@options.json_flag
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
    digits: int,
    language: str,
) -> None:
    """Compare two records of one system, query by query: did it change between them?

    Records with other judgments, queries or another contract are not the same quantity and are refused.
    """
    from rankgauge.experiments.comparison_record import comparison_record
    from rankgauge.experiments.stored_scores import compare_records
    from rankgauge.history.pairing import paired

    with _opened(history) as opened:
        chosen = [opened.get(reference, label=label) for reference in (first, second)]
        documents = [opened.document(record) for record in chosen]
    names = [f"#{record.id}" for record in chosen]
    comparison = compare_records(paired(documents, names, system), names, measure=measure, force=force)
    inputs = {f"scores:{i}": {"sha256": record.uid} for i, record in enumerate(chosen, start=1)}
    record = comparison_record(comparison, inputs=inputs, provenance=as_json)
    _print(_json(record) if as_json else _rendered(record, digits, language))


@history.command()
@click.argument("measure", metavar="MEASURE")
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option("--label", metavar="TEXT", help="Only records with this label.")
@click.option("--since", metavar="TIME", help="A date, a time, or so long ago: 12h, 7d, 4w.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    metavar="N",
    help="The newest so many records. Default: 30 in the terminal, all in a file.",
)
@history_option
@options.json_flag
@options.digits
@options.lang
@click.option("-o", "--output", metavar="FILE", help="Write a chart (.svg .png .html) or the points (.csv .json).")
def trend(
    measure: str,
    system: str | None,
    label: str | None,
    since: str | None,
    limit: int | None,
    history: str | None,
    as_json: bool,
    digits: int,
    language: str,
    output: str | None,
) -> None:
    """Show a measure's mean with its interval over time, and where the test set or the contract changed."""
    from rankgauge.formats.sources import write_whole

    form = "json" if as_json else _trend_form(output)
    wanted = limit or (_SHOWN if form == "table" else None)
    with _opened(history) as opened:
        points = opened.trend(measure, system=system, label=label, since=_moment(since), limit=wanted)
    write_whole(output or "-", _trend(points, form, digits, language))
    words = _WORDS[language]
    if output:
        click.echo(words["written"].format(path=output, n=_counted(len(points), "point", language)), err=True)
    elif form == "table" and limit is None and len({point.record_id for point in points}) == _SHOWN:
        click.echo(words["more"].format(n=_SHOWN))


def _trend_form(output: str | None) -> str:
    if output is None:
        return "table"
    name = output.lower().removesuffix(".gz").removesuffix(".zst")
    form = next((kind for ending, kind in _TRENDS.items() if name.endswith(ending)), None)
    if form is None:
        raise click.UsageError(f"{output}: the ending tells what to write: {' '.join(_TRENDS)}")
    return form


def _trend(points: list[Point], form: str, digits: int, language: str) -> bytes:
    from rankgauge.measures.explanations import check_language
    from rankgauge.reports import trend as reports
    from rankgauge.reports.tables import terminal_width

    chosen = check_language(language)
    if form == "json":
        return _json(reports.trend_data(points)).encode()
    if form == "csv":
        return reports.trend_csv(points, digits).encode()
    if form == "table":
        looks: dict[str, Any] = {"width": terminal_width(), "color": sys.stdout.isatty()}
        return reports.render_trend(points, digits=digits, language=chosen, **looks).encode()
    from rankgauge.reports.charts import drawn
    from rankgauge.reports.trend_chart import trend_chart

    drawing = drawn(trend_chart(points, chosen), chosen, ["png" if form == "png" else "svg"])
    if form == "html":
        return reports.trend_html(points, drawing["svg"].decode(), digits=digits, language=chosen).encode()
    return drawing[form]


@history.command()
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Keep the newest N.")
@click.option("--before", metavar="TIME", help="Only what was made before: a date, a time, or so long ago: 90d.")
@click.option("--label", metavar="TEXT", help="Only records with this label.")
@click.option("--yes", is_flag=True, help="Really remove them.")
@history_option
@options.lang
def prune(
    keep: int | None, before: str | None, label: str | None, yes: bool, history: str | None, language: str
) -> None:
    """Remove old records. Without --yes it only says what would go; what a baseline needs always stays."""
    from rankgauge.history.times import shown

    if keep is None and before is None:
        raise click.UsageError("say what to remove: all but the newest (--keep N), or what is old (--before DATE)")
    with _opened(history) as opened:
        pruned = opened.prune(keep=keep, before=_moment(before), label=label, dry_run=not yes)
    words, gone = _WORDS[language], pruned.gone
    if not gone:
        click.echo(words["none"])
    else:
        ends = {"first": shown(gone[-1].created), "last": shown(gone[0].created)}
        click.echo(
            words["gone" if yes else "would"].format(n=_counted(len(gone), "record", language), ids=_ids(gone), **ends)
        )
    if pruned.held:
        click.echo(words["held"].format(ids=_ids(pruned.held)))


def _ids(records: Any) -> str:
    listed = [str(record.id) for record in records]
    return ", ".join(listed[:_NAMED]) + (", ..." if len(listed) > _NAMED else "")


@history.command()
@click.argument("references", metavar="[REF...]", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All records, instead of named ones.")
@click.option("--label", metavar="TEXT", help="With --all: only records with this label.")
@click.option(
    "-o", "--output", metavar="FOLDER|FILE.jsonl", required=True, help="A file for each, or one with a line for each."
)
@history_option
@options.lang
def export(
    references: tuple[str, ...], everything: bool, label: str | None, output: str, history: str | None, language: str
) -> None:
    """Write records as they were stored: files in a folder, or lines of one file (.jsonl, .jsonl.gz, - for standard
    output)."""
    if everything == bool(references):
        raise click.UsageError("name the records, or say --all")
    with _opened(history) as opened:
        wanted: list[Stored]
        if everything:
            wanted = opened.records(label=label)[::-1]
        else:
            wanted = [opened.get(reference, label=label) for reference in references]
        count = _exported(opened, wanted, output)
    if output != "-":
        click.echo(_WORDS[language]["written"].format(path=output, n=_counted(count, "record", language)), err=True)


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


def _rendered(record: dict[str, Any], digits: int, language: str) -> str:
    from rankgauge.measures.explanations import check_language
    from rankgauge.reports import comparison, evaluation
    from rankgauge.reports.tables import terminal_width

    looks: dict[str, Any] = {"digits": digits, "language": check_language(language), "width": terminal_width()}
    render = comparison.render if record["kind"] == "comparison" else evaluation.render
    return render(record, "table", color=sys.stdout.isatty(), **looks)


def _table(table: Any) -> str:
    from rankgauge.reports.tables import render_terminal, terminal_width

    return render_terminal(table, width=terminal_width(), color=sys.stdout.isatty())


def _json(value: Any) -> str:
    from rankgauge.formats.json_values import dumps

    return dumps(value).decode()


def _print(text: str) -> None:
    from rankgauge.formats.sources import write_whole

    write_whole("-", text.encode())
