"""`rankgauge gate`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.keeping import history_option
from rankgauge.cli.showing import chosen_format, detail_of, format_option, tell_hints, terminal_look
from rankgauge.cli.verdicts import append_step
from rankgauge.errors import DataError

if TYPE_CHECKING:
    from rankgauge.gating.outcome import GateResult
    from rankgauge.gating.rules import GateRules
    from rankgauge.words import Language

__all__ = ["STATUS", "gate", "rule_options", "rules_of", "show_results"]

STATUS: Mapping[bool | None, int] = {True: 0, False: 1, None: 3}

rule_options = options.together(
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
    click.option("--max-loss", metavar="SHARE", help="Max relative loss, such as 5% [default: the baseline's, or 5%]."),
    click.option(
        "--alpha", type=float, help="Chance that a loss as large as the max loss surely passes [default: 0.05]."
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
    click.option("--max-record-age", metavar="AGE", help="Oldest record that is still taken, such as 12h."),
    click.option(
        "--on-inconclusive",
        type=click.Choice(["auto", "pass", "fail", "report"]),
        help="What follows if the comparison is inconclusive [default: auto, see above].",
    ),
    click.option(
        "--allow",
        multiple=True,
        type=click.Choice(["corpus", "testset", "missing", "cached"]),
        help="Compare although this differs from the baseline's; missing: without the queries that only it scored; "
        "cached: take answers that were not measured for the record.",
    ),
    click.option("--rules", metavar="FILE.toml", help="Rules from the table [gate] of a TOML file, such as a plan."),
)


def rules_of(rules: str | None, **choices: Any) -> GateRules:
    """The rules of the file and of the options: an option takes the place of a single value, and adds to a list."""
    from rankgauge.gating.rules import GateRules, load_rules

    found = {} if rules is None else load_rules(rules)
    for key, value in choices.items():
        if isinstance(value, tuple):
            before = found.get(key, [])
            listed = [before] if isinstance(before, str) else list(before)
            found[key] = list(value) if key == "measures" and value else [*listed, *value]
        elif value is not None:
            found[key] = value
    return GateRules.of(**found)


@click.command(
    epilog="Exit status: 0 passed, 1 a regression or another rule broken, 2 the comparison cannot be made, 3 "
    "inconclusive (only with --on-inconclusive report)."
)
@click.argument("record", metavar="RECORD.json")
@click.option("--baseline", metavar="NAME|FILE", help="A named baseline, a record, an exported baseline, or means.")
@rule_options
@format_option("How to show the result. Default: by the ending of --output, else for a terminal.", "json")
@options.json_flag
@click.option("--junit", metavar="FILE", help="Also write JUnit XML to this file.")
@click.option("--summary", metavar="FILE", help="Also write a Markdown summary to this file.")
@history_option
@options.details
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
    details: bool,
    digits: int,
    language: Language,
    output: str | None,
    **choices: Any,
) -> None:
    """Hold a record against a baseline: did it lose more than the max relative loss, query by query?

    \b
    What the queries say                  auto       pass       fail   report
    surely within the max loss            0          0          0      0
    inconclusive, loss seen within it     0, warns   0, warns   1      3
    inconclusive, loss seen beyond it     1          0, warns   1      3
    surely beyond it, or a rule broken    1          1          1      1

    Targets, floors, latency, errors and judged documents are rules that hold or do not. Without a baseline only these
    are checked. In a GitHub Action the summary is added to the job's page.
    """
    from rankgauge.gating.gate import gate as check
    from rankgauge.history.references import find_baseline
    from rankgauge.record import Record

    form = chosen_format(form, as_json, output)
    for path in (output, junit, summary):
        options.refuse_overwriting(path, [p for p in (record, baseline, rules) if p])
    wanted = rules_of(rules, baseline=baseline, **choices)
    if wanted.baseline is None and not wanted.alone:
        raise DataError("there is nothing to hold the record against: give --baseline NAME|FILE, or a --target")
    loaded = Record.load(record)
    found = None if wanted.baseline is None else find_baseline(wanted.baseline, history)
    result = check(loaded, found, rules=wanted)
    written = {"junit": junit, "summary": summary, "output": output}
    show_results([result], form, digits=digits, language=language, details=details, **written)
    sys.exit(STATUS[result.accepted])


def show_results(
    results: Sequence[GateResult],
    form: str,
    *,
    junit: str | None = None,
    summary: str | None = None,
    digits: int = 4,
    language: Language = "en",
    output: str | None = None,
    details: bool = False,
) -> None:
    """Print what the gates found, and write the files asked for."""
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.reports import report
    from rankgauge.reports.gate import gate_report, headline, warnings_of
    from rankgauge.reports.next_step import after_gate
    from rankgauge.words import Note

    built = gate_report(results)
    page = report(built, format="markdown", digits=digits, language=language)
    if junit is not None:
        report(built, junit, format="junit", language=language)
    if summary is not None:
        write_whole(summary, page.encode())
    append_step(page)
    if form == "json":
        told = [result.to_dict() for result in results]
        write_whole(output or "-", dumps(told[0] if len(told) == 1 else told))
    else:
        look = {"detail": detail_of(details), **terminal_look(output)}
        report(built, output or "-", format=form, digits=digits, language=language, **look)
        if form == "terminal" and output is None and len(results) == 1 and sys.stdout.isatty():
            more = None if details else Note("answer.hint_details")
            tell_hints(more, after_gate(results[0]), language, **terminal_look())
    if output is not None or form in ("json", "junit"):  # the log of a CI job should tell without opening a file
        for result in results:
            for line in (headline(result, language), *warnings_of(result, language)):
                echo(line, err=True)
