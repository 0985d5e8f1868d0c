"""`rankgauge run` and `rankgauge init`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from rankgauge.cli import options
from rankgauge.cli.keeping import Keeping, keeping

if TYPE_CHECKING:
    from rankgauge.plans.plan import RunPlan
    from rankgauge.plans.running import Outcome

__all__ = ["init", "run"]

_WORDS = {
    "en": {
        "fine": "{path}: {systems} systems, {measures}: nothing wrong with it",
        "fine_one": "{path}: 1 system, {measures}: nothing wrong with it",
        "kept": "interrupted: the answers so far are kept in {cache}; the same command goes on from there",
        "not_kept": "interrupted: no answers are kept (cache = false), so the same command begins anew",
        "invalid": "left out: {reason}",
        "wrote": "wrote {path}",
    },
    "zh": {
        "fine": "{path}：{systems} 个系统，{measures}：没有问题",
        "fine_one": "{path}：1 个系统，{measures}：没有问题",
        "kept": "已中断：已得到的应答保存在 {cache} 中；再次运行同一命令即可继续",
        "not_kept": "已中断：未保存应答（cache = false），再次运行同一命令将从头开始",
        "invalid": "未计入：{reason}",
        "wrote": "已写入 {path}",
    },
}


@click.command()
@click.argument("plan", metavar="PLAN.toml")
@click.option("--check", is_flag=True, help="Only look whether the plan is right.")
@click.option("--fresh", is_flag=True, help="Forget what earlier starts have answered.")
@keeping
@options.json_flag
@options.digits
@options.lang
def run(
    plan: str,
    check: bool,
    fresh: bool,
    keep: bool,
    history: str | None,
    label: str | None,
    as_json: bool,
    digits: int,
    language: str,
) -> None:
    """Ask the systems of a plan every query, score and compare them, and write what the plan asks for.

    A start that was interrupted goes on where it was: only what has no answer yet is asked. `rankgauge init` writes a
    plan to start from.
    """
    from contextlib import redirect_stdout
    from functools import partial

    out = sys.stdout
    # What a system prints must not stand among the results.
    with redirect_stdout(sys.stderr):
        invalid = _run(plan, check, fresh, partial(Keeping, keep, history, label), as_json, digits, language, out)
        if invalid:
            sys.exit(2)


def _run(
    plan: str,
    check: bool,
    fresh: bool,
    made: Callable[[], Keeping],
    as_json: bool,
    digits: int,
    language: str,
    out: TextIO,
) -> bool:
    """Whether a system was left out."""
    from rankgauge.plans.plan import load_plan
    from rankgauge.plans.running import run_plan

    words = _WORDS[language]
    loaded = load_plan(plan, hint="") if check else load_plan(plan)
    if check:
        measures = ", ".join(loaded.measures)
        fine = words["fine_one" if len(loaded.systems) == 1 else "fine"]
        click.echo(fine.format(path=plan, systems=len(loaded.systems), measures=measures), file=out)
        return False
    kept = made()
    try:
        with _progress() as progress:
            outcome = run_plan(loaded, fresh=fresh, progress=progress)
    except KeyboardInterrupt:
        said = words["not_kept"] if loaded.cache is None else words["kept"].format(cache=loaded.cache)
        raise KeyboardInterrupt(said) from None
    if as_json:
        from rankgauge.formats.json_values import dumps

        click.echo(dumps(outcome.record).decode(), file=out)
    else:
        from rankgauge.reports.tables import terminal_width

        width = terminal_width(out)
        text = _rendered(outcome.record, "table", language, digits=digits, width=width)
        click.echo(text, nl=False, file=out)
    for path in _written(loaded, outcome, language):
        click.echo(words["wrote"].format(path=path), err=True)
    kept.store(outcome.record, language, label=Path(plan).stem)
    if outcome.invalid:
        from rankgauge.retrievers.answers import shortened
        from rankgauge.retrievers.reasons import translated

        for reason in outcome.invalid.values():
            click.echo(words["invalid"].format(reason=shortened(translated(reason, language))), err=True)
    return bool(outcome.invalid)


def _progress() -> Any:
    """A bar with rate and remaining time on a terminal; nothing elsewhere."""
    from contextlib import contextmanager

    @contextmanager
    def bar() -> Any:
        if not sys.stderr.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        rate = TextColumn("{task.fields[rate]}")
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True)) as drawn:
            tasks: dict[str, Any] = {}

            def tell(name: str, done: int, total: int) -> None:
                if name not in tasks:
                    tasks[name] = drawn.add_task(name, total=total, rate="")
                task = drawn.tasks[tasks[name]]
                drawn.update(tasks[name], completed=done, rate=f"{task.speed:.1f}/s" if task.speed else "")

            yield tell

    return bar()


def _rendered(record: dict[str, Any], form: str, language: str, **looks: Any) -> str:
    from rankgauge.words import check_language

    chosen = check_language(language)
    if record["kind"] == "comparison":
        from rankgauge.reports.comparison import render as render_comparison

        return render_comparison(record, form, language=chosen, **looks)
    from rankgauge.reports.evaluation import render

    return render(record, form, language=chosen, **looks)


def _written(plan: RunPlan, outcome: Outcome, language: str) -> list[Path]:
    """Write the outputs of the plan, each whole."""
    from rankgauge.errors import FormatError
    from rankgauge.formats.json_values import dumps
    from rankgauge.formats.sources import write_whole
    from rankgauge.words import check_language

    chosen, outputs, record = check_language(language), plan.outputs, outcome.record
    written = []

    def write(name: str, data: bytes) -> None:
        path = plan.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FormatError(str(path), [f"cannot be written: {error.filename}: {error.strerror}"]) from None
        write_whole(path, data)
        written.append(path)

    if outputs.record:
        write(outputs.record, dumps(record))
    if outputs.report:
        from rankgauge.reports.html import render_html

        write(outputs.report, render_html(record, chosen).encode())
    if outputs.table:
        form = options.chosen_form(None, False, outputs.table, ("csv", "markdown", "latex"))
        write(outputs.table, _rendered(record, form, language).encode())
        if form == "csv":  # a spreadsheet reads one table from a file
            from rankgauge.reports.calls import calls_files

            for name, text in calls_files(record, outputs.table).items():
                write(name, text.encode())
    if outputs.runs:
        from rankgauge.formats.convert import refuse_blanks
        from rankgauge.formats.json_lists import render_run_json
        from rankgauge.formats.trec import render_run

        for live in outcome.evaluations:
            try:
                refuse_blanks(live.retrieval.run, live.name)
            except FormatError:  # TREC columns cannot hold white space in ids; JSON can
                write(f"{outputs.runs}/{live.name}.json", render_run_json(live.retrieval.run))
            else:
                write(f"{outputs.runs}/{live.name}.run", render_run(live.retrieval.run.frame, live.name))
    return written


@click.command()
@click.argument("plan", metavar="[PLAN.toml]", default="plan.toml")
def init(plan: str) -> None:
    """Write a commented plan for `rankgauge run` to start from."""
    from rankgauge.errors import DataError
    from rankgauge.formats.sources import write_whole
    from rankgauge.plans.plan import template

    if Path(plan).exists():
        raise DataError(f"{plan} exists already; name another file, or remove it first")
    write_whole(plan, template().encode())
    click.echo(f"{plan}: edit it, then: rankgauge run --check {plan}")
