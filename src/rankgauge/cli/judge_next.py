"""`rankgauge judge-next`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options

if TYPE_CHECKING:
    from rankgauge.reports.tables import Table
    from rankgauge.sensitivity.judge_next import JudgingPlan
    from rankgauge.words import Language

__all__ = ["judge_next"]

_FORMATS = ("table", "json", "csv", "trec")
_MOST_TEXT = 60


@click.command("judge-next")
@click.argument("qrels", metavar="QRELS")
@click.argument("runs", metavar="[NAME=]RUN...", nargs=-1, required=True)
@click.option(
    "-n", "--number", type=click.IntRange(1), default=50, show_default=True, help="How many documents to show."
)
@options.scoring
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    help="How to show them; trec is a run whose scores are the influences. Default: by the ending of --output, else a "
    "table.",
)
@options.json_flag
@options.input_formats
@options.digits
@options.lang
@options.output
def judge_next(
    qrels: str,
    runs: tuple[str, ...],
    number: int,
    measures: tuple[str, ...],
    form: str | None,
    as_json: bool,
    qrels_format: str | None,
    run_format: str | None,
    digits: int,
    language: str,
    output: str | None,
    **choices: Any,
) -> None:
    """Which documents to judge next: those whose judgments would most narrow what unjudged documents leave open.

    With several runs, what is to be narrowed is the range of the difference of each pair; with one, that of its own
    means. The influence of a document is by how much its judgment narrows the ranges on average, over all measures.
    """
    from rankgauge.cli.evaluate import check_standard_input, named_runs
    from rankgauge.evaluation import DEFAULT_MEASURES
    from rankgauge.formats import load_judgments, open_run
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.sensitivity.judge_next import judge_next as plan_judging
    from rankgauge.words import check_language, tell

    if choices.pop("corpus") is not None:
        raise click.UsageError("--corpus has no use here: labels do not tell which texts fit into a context budget")
    chosen = check_language(language)
    form = options.chosen_form(form, as_json, output, _FORMATS)
    options.refuse_overwriting(
        output, [qrels, *(run for text in runs for run in (text, text.partition("=")[2]) if run)]
    )
    choices |= options.read_choices(choices)
    named = named_runs(runs)
    check_standard_input([qrels, *named.values()], stream=False)
    judgments = load_judgments(qrels, qrels_format)
    opened = {name: open_run(path, run_format) for name, path in named.items()}
    found = plan_judging(judgments, opened, measures or DEFAULT_MEASURES, number=number, **choices)
    if form == "json":
        data = dumps(found.to_dict())
    elif form == "trec":
        data = _trec(found)
    elif form == "csv":
        data = _csv(found, list(opened), digits)
    else:
        data = _page(found, list(opened), digits, chosen, to_file=output is not None).encode()
    write_whole(output or "-", data)
    if form in ("csv", "trec"):  # these have no place for remarks
        for note in found.notes:
            click.echo(f"rankgauge: {tell(note, chosen)}", err=True)


def _trec(plan: JudgingPlan) -> bytes:
    import polars as pl

    from rankgauge.formats.convert import refuse_blanks
    from rankgauge.formats.trec import render_run
    from rankgauge.model.run import Run

    rows = [(candidate.query, candidate.doc, candidate.influence) for candidate in plan.candidates]
    schema = {"query": pl.String, "doc": pl.String, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    refuse_blanks(Run.of_frame(frame, "judge-next"), "judge-next")
    return render_run(frame, "judge-next")


def _csv(plan: JudgingPlan, systems: list[str], digits: int) -> bytes:
    """For programs, which look for one name of a column: in English, whole texts."""
    from rankgauge.reports.tables import render_csv

    return render_csv(_documents(plan, systems, digits, "en", None)).encode()


def _documents(plan: JudgingPlan, systems: list[str], digits: int, language: Language, most: int | None) -> Table:
    """The documents to judge; texts of queries are cut after `most` characters."""
    from rankgauge.reports.tables import Table
    from rankgauge.words import say
    from rankgauge.words.numbers import score

    head = ["query", "text", "doc"] if plan.texts else ["query", "doc"]
    names = [say(f"judging.{name}", language) for name in head]
    names += [say("judging.rank", language, name=name) for name in systems]
    rows = []
    for candidate in plan.candidates:
        text = plan.texts.get(candidate.query, "")
        if most is not None and len(text) > most:
            text = text[: most - 1] + "…"
        places = ["" if candidate.ranks[name] is None else str(candidate.ranks[name]) for name in systems]
        shown = [candidate.query, text, candidate.doc] if plan.texts else [candidate.query, candidate.doc]
        rows.append([*shown, *places, score(candidate.influence, digits + 2)])
    return Table([*names, say("judging.influence", language)], rows, len(head))


def _page(plan: JudgingPlan, systems: list[str], digits: int, language: Language, *, to_file: bool) -> str:
    from rankgauge.reports.tables import Table, render_terminal, terminal_width
    from rankgauge.words import say, tell
    from rankgauge.words.numbers import score

    width, color = terminal_width(to_file=to_file), not to_file and sys.stdout.isatty()
    lines = []
    for found in plan.ranges:
        of = say("judging.difference", language, a=found.a, b=found.b) if found.a else found.b
        low, high = score(found.low, digits), score(found.high, digits) + ("" if found.exact else " *")
        lines.append([found.measure, of, score(found.observed, digits), low, high])
    heads = [say(f"judging.{name}", language) for name in ("measure", "mean", "now", "least", "most")]
    tables = [_documents(plan, systems, digits, language, _MOST_TEXT)] if plan.candidates else []
    tables.append(Table(heads, lines, 2))
    parts = [render_terminal(table, width=width, color=color) for table in tables]
    remarks = [] if all(found.exact for found in plan.ranges) else [say("judging.bound", language)]
    remarks += [tell(note, language) for note in plan.notes]
    return "\n".join([*parts, "\n".join(remarks) + "\n"])
