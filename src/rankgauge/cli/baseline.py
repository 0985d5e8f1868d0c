"""`rankgauge baseline`: named baselines in the history."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.cli.gate import STATUS, rule_options, rules_of, show_results
from rankgauge.cli.keeping import history_option, opened_history, print_json, print_report
from rankgauge.words import say, tell

if TYPE_CHECKING:
    from rankgauge.history.rows import StoredBaseline
    from rankgauge.words import Language

__all__ = ["baseline"]


@click.group()
def baseline() -> None:
    """Set, promote, show and export the named baselines that a gate compares with."""


@baseline.command("set")
@click.argument("name")
@click.argument("record", metavar="RECORD.json")
@click.option("--system", metavar="NAME", help="The system of the record. Default: the only one.")
@click.option("--max-loss", metavar="SHARE", help="Max relative loss that its gates allow, such as 5%.")
@click.option(
    "--target", "targets", multiple=True, metavar="TARGET", help="A target of its gates, such as 'R@10 >= 0.8'."
)
@click.option("--note", metavar="TEXT", help="Why; it is kept.")
@history_option
@options.json_flag
@options.lang
def set_command(
    name: str,
    record: str,
    system: str | None,
    max_loss: str | None,
    targets: tuple[str, ...],
    note: str | None,
    history: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Make a record the baseline NAME, and the anchor that later promotions are held against as well.

    Nothing is checked: use it at the beginning, and after the test set or the contract has changed. Max loss and
    targets that are not given stay as they were.
    """
    from rankgauge.history.baselines import set_baseline
    from rankgauge.record import Record

    loaded = Record.load(record)
    with opened_history(history, create=True, write=True) as opened:
        made = set_baseline(opened, name, loaded, system=system, max_loss=max_loss, targets=targets or None, note=note)
    if as_json:
        print_json(_plain(made))
    else:
        _tell(made, language)


@baseline.command()
@click.argument("name")
@click.argument("record", metavar="RECORD.json")
@rule_options
@click.option("--force", is_flag=True, help="Promote whatever the gate says; needs --note.")
@click.option("--note", metavar="TEXT", help="Why; it is kept.")
@history_option
@options.json_flag
@options.digits
@options.lang
def promote(
    name: str,
    record: str,
    rules: str | None,
    force: bool,
    note: str | None,
    history: str | None,
    as_json: bool,
    digits: int,
    language: Language,
    **choices: Any,
) -> None:
    """Let a record take the place of the baseline NAME, if it holds against it and against the anchor.

    The anchor is the record that was last `set`: held against it too, many small losses, each within the max loss,
    cannot add up. Rules looser than the baseline's own (a larger max loss or alpha, fewer measures, --on-inconclusive
    pass, --allow) need --note, and are kept.

    Exit status 1 if the promotion is refused, 3 if it is inconclusive and --on-inconclusive is report.
    """
    from rankgauge.history.baselines import current_baseline, promote_baseline
    from rankgauge.record import Record

    loaded, wanted = Record.load(record), rules_of(rules, **choices)
    with opened_history(history, write=True) as opened:
        before = current_baseline(opened, name)
        found = promote_baseline(opened, name, loaded, rules=wanted, force=force, note=note)
    if as_json:
        stored = None if found.stored is None else _plain(found.stored)
        print_json({"stored": stored, "gates": [result.to_dict() for result in found.results]})
    else:
        show_results(found.results, "terminal", digits=digits, language=language)
        echo()
        if found.stored is None:
            echo(say("history.stays", language, name=name, version=before.version))
        else:
            _tell(found.stored, language)
    if found.stored is None:
        sys.exit(STATUS[found.accepted])


@baseline.command()
@click.argument("name")
@history_option
@options.json_flag
@options.digits
@options.lang
def show(name: str, history: str | None, as_json: bool, digits: int, language: Language) -> None:
    """Show a baseline: what it is a measurement of, its means and targets, and all its versions."""
    from rankgauge.history.baselines import current_baseline
    from rankgauge.record.identity import identity_of

    with opened_history(history) as opened:
        now, versions = current_baseline(opened, name), opened.baselines(name)
        record = opened.record(now.record_id)
    if as_json:
        means = {measure: mean.value for measure, mean in record.system(now.system).means.items()}
        identity, listed = vars(identity_of(record)), [_plain(version) for version in versions]
        print_json({**_plain(now), "means": means, "identity": identity, "versions": listed})
    else:
        from rankgauge.reports.baselines import baseline_report

        print_report(baseline_report(versions, record), language, digits)


@baseline.command("list")
@history_option
@options.json_flag
@options.lang
def list_command(history: str | None, as_json: bool, language: Language) -> None:
    """List the current version of every baseline."""
    with opened_history(history) as opened:
        found, place = opened.baselines(), str(opened.location)
    if as_json:
        print_json([_plain(stored) for stored in found])
    elif not found:
        echo(say("history.no_baselines", language, history=place))
    else:
        from rankgauge.reports.baselines import baselines_report

        print_report(baselines_report(found), language)


@baseline.command()
@click.argument("name")
@history_option
@options.lang
@options.output
def export(name: str, history: str | None, language: Language, output: str | None) -> None:
    """Write a baseline as one JSON file, to be kept under version control and given to `gate --baseline`."""
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.gating.baseline import export_baseline
    from rankgauge.history.baselines import current_baseline, gate_baseline

    with opened_history(history) as opened:
        now, found = current_baseline(opened, name), gate_baseline(opened, name)
    document = export_baseline(found, set_at=now.set_at.isoformat(timespec="seconds"))
    write_whole(output or "-", dumps(document))
    if output is not None:
        echo(say("history.wrote", language, path=output), err=True)


def _tell(made: StoredBaseline, language: Language) -> None:
    from rankgauge.reports.baselines import baseline_note, promotion_note

    for note in (baseline_note(made), promotion_note(made)):
        if note is not None:
            echo(tell(note, language))


def _plain(made: StoredBaseline) -> dict[str, Any]:
    told = dict(vars(made))
    told |= {key: told[key].isoformat() for key in ("created", "set_at")}
    return told | {"targets": list(made.targets), "looser": list(made.looser)}
