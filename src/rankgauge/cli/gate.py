"""`rankgauge gate`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rankgauge.cli import options
from rankgauge.errors import DataError, RankgaugeError

if TYPE_CHECKING:
    from rankgauge.gate.gate import GateResult
    from rankgauge.gate.rules import GateRules

__all__ = ["STATUS", "gate", "history_option", "read_record", "rule_options", "rules_of", "show_results"]

F = TypeVar("F", bound=Callable[..., Any])
STATUS: Mapping[bool | None, int] = {True: 0, False: 1, None: 3}
FORMATS = ("table", "json", "junit", "markdown")

_RULES: tuple[Callable[[Any], Any], ...] = (
    click.option("--system", metavar="NAME", help="The system to check. Default: the only one of the record."),
    click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        help="A measure to compare with the baseline; may be given several times, and replaces those of --rules. "
        "Default: all that the baseline has.",
    ),
    click.option(
        "--margin", metavar="SHARE", help="Relative loss that is allowed, such as 5% [default: the baseline's, or 5%]."
    ),
    click.option(
        "--alpha", type=float, help="Chance that a loss as large as the margin surely passes [default: 0.05]."
    ),
    click.option(
        "--target",
        "targets",
        multiple=True,
        metavar="TARGET",
        help="'R@10 >= 0.8', or relative to the baseline: 'nDCG@10 >= baseline + 20%', 'nDCG@10 +20%'.",
    ),
    click.option(
        "--scenario",
        type=click.Choice(["precise", "general", "exploratory"]),
        help="The reference values of a scenario as targets: see 'rankgauge explain nDCG'.",
    ),
    click.option(
        "--floor",
        "floors",
        multiple=True,
        metavar="FLOOR",
        help="A target for a slice: 'tag:billing R@10 >= 0.6', 'tag:\"odd tag\" R@10 >= 0.6'.",
    ),
    click.option(
        "--max-latency", "latency", multiple=True, metavar="LIMIT", help="'p95 <= 200ms' (p50, p95, p99, mean)."
    ),
    click.option("--max-errors", type=click.IntRange(0), help="Failed queries that are allowed [default: 0]."),
    click.option("--min-judged", metavar="SHARE", help="Least share of judged documents among the first ten."),
    click.option("--max-age", metavar="AGE", help="Oldest baseline that is still taken, such as 90d."),
    click.option(
        "--on-inconclusive",
        type=click.Choice(["auto", "pass", "fail", "report"]),
        help="What follows if the queries cannot tell [default: auto, see above].",
    ),
    click.option(
        "--allow",
        multiple=True,
        type=click.Choice(["corpus", "testset", "missing"]),
        help="Compare although this differs from the baseline's; missing: without the queries that only it scored.",
    ),
    click.option("--rules", metavar="FILE.toml", help="Rules from the table [gate] of a TOML file, such as a plan."),
)


def rule_options(command: F) -> F:
    for option in reversed(_RULES):
        command = option(command)
    return command


def history_option(command: F) -> F:
    return click.option(
        "--history",
        metavar="PATH|URL",
        help="The history with the named baselines [default: $RANKGAUGE_HISTORY, or .rankgauge/history.db].",
    )(command)


def rules_of(rules: str | None, **choices: Any) -> GateRules:
    """The rules of the file and of the options: an option takes the place of a single value, and adds to a list."""
    from rankgauge.gate.rules import GateRules, load_rules

    found = {} if rules is None else load_rules(rules)
    for key, value in choices.items():
        if isinstance(value, tuple):
            before = found.get(key, [])
            listed = [before] if isinstance(before, str) else list(before)
            found[key] = list(value) if key == "measures" and value else [*listed, *value]
        elif value is not None:
            found[key] = value
    return GateRules.of(**found)


def read_record(path: str) -> dict[str, Any]:
    from rankgauge.evaluation.old_record import load_record
    from rankgauge.gate.parts import check_parts

    record = load_record(path)
    check_parts(record, "standard input" if path == "-" else path)
    return record


@click.command(
    epilog="Exit status: 0 passed, 1 a regression or another rule broken, 2 the comparison cannot be made, 3 cannot "
    "tell (only with --on-inconclusive report)."
)
@click.argument("record", metavar="RECORD.json")
@click.option("--baseline", metavar="NAME|FILE", help="A named baseline, a record, an exported baseline, or means.")
@rule_options
@click.option("-f", "--format", "form", type=click.Choice(FORMATS), help="How to show the result. Default: a table.")
@options.json_flag
@click.option("--junit", metavar="FILE", help="Also write JUnit XML to this file.")
@click.option("--summary", metavar="FILE", help="Also write a Markdown summary to this file.")
@history_option
@options.digits
@options.lang
@options.output
def gate(
    record: str,
    baseline: str | None,
    rules: str | None,
    form: str | None,
    as_json: bool,
    junit: str | None,
    summary: str | None,
    history: str | None,
    digits: int,
    language: str,
    output: str | None,
    **choices: Any,
) -> None:
    """Hold a record against a baseline: did it lose more than the margin, query by query?

    \b
    What the queries say               auto       pass       fail   report
    surely within the margin           0          0          0      0
    inconclusive, loss seen within margin    0, warns   0, warns   1      3
    inconclusive, loss seen beyond margin    1          0, warns   1      3
    surely beyond, or a rule broken    1          1          1      1

    Targets, floors, latency, errors and judged documents are rules that hold or do not. Without a baseline only these
    are checked. In a GitHub Action the summary is added to the job's page.
    """
    from rankgauge.gate.gate import gate as check
    from rankgauge.history.references import find_baseline

    form = _form(form, as_json, output)
    for path in (output, junit, summary):
        options.refuse_overwriting(path, [p for p in (record, baseline, rules) if p])
    try:
        wanted = rules_of(rules, baseline=baseline, **choices)
        if wanted.baseline is None and not wanted.alone:
            raise DataError("there is nothing to hold the record against: give --baseline NAME|FILE, or a --target")
        loaded = read_record(record)
        found = None if wanted.baseline is None else find_baseline(wanted.baseline, history)
        result = check(loaded, found, rules=wanted)
    except RankgaugeError as error:
        # What an earlier run left in these files must not be taken for this one's verdict.
        to_file = {form: output} if output is not None else {}
        show_error(str(error), record, junit=[junit, to_file.get("junit")], summary=[summary, to_file.get("markdown")])
        raise
    show_results([result], form, junit=junit, summary=summary, digits=digits, language=language, output=output)
    sys.exit(STATUS[result.accepted])


def _form(form: str | None, as_json: bool, output: str | None) -> str:
    if form is None and not as_json and output is not None and output.lower().endswith(".xml"):
        return "junit"
    return options.chosen_form(form, as_json, output, FORMATS)


def show_results(
    results: list[GateResult],
    form: str,
    *,
    junit: str | None = None,
    summary: str | None = None,
    digits: int = 4,
    language: str = "en",
    output: str | None = None,
) -> None:
    """Print what the gates found, and write the files asked for."""
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports.gate import headline, render, warnings_of
    from rankgauge.reports.junit import render_junit
    from rankgauge.reports.tables import terminal_width
    from rankgauge.words import check_language

    chosen = check_language(language)
    told = [result.to_dict() for result in results]
    text = "\n".join(render(one, "markdown", digits=digits, language=chosen) for one in told)
    if junit is not None:
        write_whole(junit, render_junit(told, chosen).encode())
    if summary is not None:
        write_whole(summary, text.encode())
    _append_step(text)
    if form == "json":
        data = dumps(told[0] if len(told) == 1 else told)
    elif form == "junit":
        data = render_junit(told, chosen).encode()
    elif form == "markdown":
        data = text.encode()
    else:
        to_file = output is not None
        looks: dict[str, Any] = {"width": terminal_width(to_file=to_file)}
        looks["color"] = not to_file and sys.stdout.isatty()
        data = "\n".join(render(one, "table", digits=digits, language=chosen, **looks) for one in told).encode()
    write_whole(output or "-", data)
    if output is not None or form in ("json", "junit"):  # the log of a CI job should tell without opening a file
        for one in told:
            for line in (headline(one, chosen), *warnings_of(one, chosen)):
                click.echo(line, err=True)


def show_error(message: str, record: str, *, junit: Iterable[str | None], summary: Iterable[str | None]) -> None:
    """Write into the files asked for that no verdict could be reached."""
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports.gate import render_error
    from rankgauge.reports.junit import render_junit_error

    text = render_error(message)
    pages = [(path, render_junit_error(message, record)) for path in junit] + [(path, text) for path in summary]
    for path, content in pages:
        if path is not None:
            try:
                write_whole(path, content.encode())
            except RankgaugeError as error:  # the first error is the one to be told
                click.echo(f"rankgauge: {error}", err=True)
    _append_step(text)


def _append_step(text: str) -> None:
    """Add to the page of a GitHub job, which other steps write to as well. The verdict does not depend on it."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text + "\n")
    except OSError as error:
        click.echo(
            f"rankgauge: warning: the summary was not added to {path} ($GITHUB_STEP_SUMMARY): "
            f"{error.strerror or error}",
            err=True,
        )
