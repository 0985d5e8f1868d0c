"""`rankgauge run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.bars import bars
from rankgauge.cli.echo import echo, tell_imports
from rankgauge.cli.keeping import Keeping, keeping
from rankgauge.cli.showing import detail_of, tell_hints, terminal_look
from rankgauge.cli.streams import systems_apart
from rankgauge.words import Language, Note, say, tell
from rankgauge.words.visible import shortened

if TYPE_CHECKING:
    from rankgauge.gating.baseline import Baseline
    from rankgauge.gating.rules import GateRules
    from rankgauge.live.evaluation import LiveEvaluation
    from rankgauge.plans.plan import RunPlan
    from rankgauge.plans.running import Outcome

__all__ = ["run"]


@click.command()
@click.argument("plan", metavar="[PLAN.toml]", default="plan.toml")
@click.option("--check", is_flag=True, help="Only look whether the plan is right.")
@click.option("--fresh", is_flag=True, help="Forget what earlier starts have answered.")
@click.option("--no-gate", is_flag=True, help="Only measure: leave the plan's [gate] table to `rankgauge gate`.")
@keeping
@options.json_flag
@options.details
@options.digits
@options.lang
def run(
    plan: str,
    check: bool,
    fresh: bool,
    no_gate: bool,
    keep: bool,
    history: str | None,
    label: str | None,
    as_json: bool,
    details: bool,
    digits: int,
    language: Language,
) -> None:
    """Ask the systems of a plan every query, score and compare them, and write what the plan asks for.

    A start that was interrupted goes on where it was: only what has no answer yet is asked. After one that has finished
    everything is asked anew, unless the plan says cache = true. `rankgauge init` writes a plan to start from.

    A [gate] table in the plan is applied to what was measured: the exit status is 1 if it stops, 3 if it only reports.
    """
    from rankgauge.plans.plan import load_plan
    from rankgauge.plans.running import run_plan
    from rankgauge.reports import report
    from rankgauge.reports.next_step import next_step

    hint = "" if check else "rankgauge run --check looks again without running anything"
    out = sys.stdout
    with systems_apart() as restore:
        if check:
            tell_imports(plan, language)  # a plan is code
        loaded = load_plan(plan, hint=hint)
        restore()
        if check:
            if not no_gate:
                _gated(loaded, history, language)
            text = say("live.checked", language, path=plan, systems=len(loaded.systems), measures=loaded.measures)
            echo(text, file=out)
            return
        gated = None if no_gate else _gated(loaded, history, language)
        kept = Keeping(keep, history, label)
        written: list[Path] = []

        def write(outcome: Outcome) -> None:
            restore()
            written.extend(_written(loaded, outcome, language))
            kept.store(outcome.record, language, label=Path(plan).stem)

        try:
            with bars() as progress:
                outcome = run_plan(loaded, fresh=fresh, progress=progress, write=write)
        except KeyboardInterrupt:
            key = "live.stopped_lost" if loaded.cache is None else "live.stopped_kept"
            cache = None if loaded.cache is None else loaded.shown(loaded.cache)
            raise KeyboardInterrupt(say(key, language, cache=cache)) from None
        record = outcome.record
        if as_json:
            click.echo(record.to_json(), file=out)
        else:
            text = report(
                record, language=language, digits=digits, detail=detail_of(details), **terminal_look(stream=out)
            )
            click.echo(text, nl=False, file=out)
        if written:
            echo(say("live.wrote", language, path=[loaded.shown(path) for path in written]), err=True)
        for name, reason in outcome.invalid.items():
            echo(say("live.left_out", language, name=name, reason=shortened(tell(reason, language))), err=True)
    if gated is None and not as_json and out.isatty():
        tell_hints(None if details else Note("answer.hint_details"), next_step(record), language, **terminal_look())
    status = 0
    if gated is not None:
        look: dict[str, Any] = {"as_json": as_json, "details": details, "digits": digits, "language": language}
        status = _apply_gate(outcome, *gated, **look)
    sys.exit(2 if outcome.invalid else status)


def _gated(plan: RunPlan, history: str | None, language: Language) -> tuple[GateRules, Baseline | None] | None:
    """The rules of the plan and their baseline, looked for before anything is asked; None where there is no gate, or
    none that can be applied."""
    rules = plan.gate
    if rules is None:
        return None
    relative = any(target.relation != "absolute" for target in (*rules.targets, *rules.floors))
    if rules.baseline is None and (relative or not rules.alone):
        echo(say("chunks.gate_not_applied", language, plan=plan.given), err=True)
        return None
    from rankgauge.errors import DataError
    from rankgauge.history.references import find_baseline

    names = [system.name for system in plan.systems]
    if rules.system is not None and rules.system not in names:
        raise DataError(f"gate.system: the plan has no system {rules.system!r}; it has: {', '.join(names)}")
    if rules.system is None and len(names) > 1:
        raise DataError(
            f"the gate holds one system against its rules, and the plan has {', '.join(names)}: write "
            f'system = "{names[0]}" under [gate], or give `no_gate=True`'
        )
    return rules, None if rules.baseline is None else find_baseline(rules.baseline, history)


def _apply_gate(
    outcome: Outcome,
    rules: GateRules,
    baseline: Baseline | None,
    *,
    as_json: bool,
    details: bool,
    digits: int,
    language: Language,
) -> int:
    """Hold what was measured against the rules, tell the verdict, and give the exit status."""
    from rankgauge.cli.gate import STATUS, show_results
    from rankgauge.gating.gate import gate
    from rankgauge.reports.gate import headline, warnings_of

    result = gate(outcome.record, baseline, rules=rules)
    if as_json:
        for line in (headline(result, language), *warnings_of(result, language)):
            echo(line, err=True)
    else:
        click.echo()
        show_results([result], "terminal", digits=digits, language=language, details=details)
    return STATUS[result.accepted]


def _written(plan: RunPlan, outcome: Outcome, language: Language) -> list[Path]:
    """Write the outputs of the plan, each whole."""
    from rankgauge.formats.leftovers import remove_leftovers
    from rankgauge.reports import report

    outputs, written = plan.outputs, []
    if outputs.record:
        written.append(_placed(plan.folder / outputs.record))
        outcome.record.save(written[-1])
    for name in filter(None, (outputs.report, outputs.table)):
        written.append(_placed(plan.folder / name))
        report(outcome.record, written[-1], language=language)
    if outputs.runs:
        remove_leftovers(plan.folder / outputs.runs)
        written += [_save_run(live, _placed(plan.folder / outputs.runs / live.name)) for live in outcome.evaluations]
    return written


def _placed(path: Path) -> Path:
    """The path, in a folder that is there."""
    from rankgauge.errors import FormatError
    from rankgauge.formats.private import make_folders

    try:
        make_folders(path.parent)
    except OSError as error:
        raise FormatError(str(path), [f"cannot be written: {error.filename}: {error.strerror}"]) from None
    return path


def _save_run(live: LiveEvaluation, path: Path) -> Path:
    """Write a system's lists as TREC text; as JSON where ids hold white space, which TREC columns cannot."""
    from rankgauge.errors import FormatError
    from rankgauge.formats.convert import save

    files = {form: path.with_name(f"{path.name}{ending}") for ending, form in ((".run", "trec"), (".json", "json"))}
    for form, file in files.items():
        try:
            save(live.retrieval.run, file, form)
            break
        except FormatError:
            if form == "json":
                raise
    for other in {*files.values()} - {file}:
        other.unlink(missing_ok=True)  # of an earlier start: it would pass for this one's
    return file
