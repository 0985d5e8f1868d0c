"""All commands. Each lives in a module of its own that is imported when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from rankgauge.cli.echo import in_lines
from rankgauge.cli.folder import NO_FOLDER, folder_is_there
from rankgauge.cli.groups import LazyGroup, Table
from rankgauge.cli.interrupt import Interrupted, ReaderGone
from rankgauge.cli.verdicts import tell_failure, withdraw
from rankgauge.errors import RankgaugeError
from rankgauge.visible import visible_lines

__all__ = ["app"]

_WORDS = "rankgauge.words"
"""In a context: the words behind the program's name."""

_COMMANDS: Table = {
    "evaluate": ("rankgauge.cli.evaluate", "evaluate", "Score runs against judgments."),
    "evaluate-traces": ("rankgauge.cli.traces", "evaluate_traces", "Score traces of agents: several calls a question."),
    "compare": ("rankgauge.cli.compare", "compare", "Compare runs: which differences are significant."),
    "compare-scores": ("rankgauge.cli.compare", "compare_scores", "Compare per-query scores from a CSV or records."),
    "run": ("rankgauge.cli.run", "run", "Evaluate live retrievers by a plan: quality, latency, sweeps."),
    "init": ("rankgauge.cli.init", "init", "Write a plan for `run`, or a whole test set from documents."),
    "gate": ("rankgauge.cli.gate", "gate", "Hold a record against a baseline: pass, regression, or inconclusive."),
    "baseline": ("rankgauge.cli.baseline", "baseline", "Set, promote, show and export named baselines."),
    "history": ("rankgauge.cli.history", "history", "Keep records over time: list, compare, see the trend."),
    "monitor": ("rankgauge.cli.monitor", "monitor", "Watch live retrievers on schedule, and raise alerts."),
    "report": ("rankgauge.cli.report", "report", "Show a record again: HTML, tables, charts."),
    "verify": ("rankgauge.cli.verify", "verify", "Compute a record again: does it still hold?"),
    "power": ("rankgauge.cli.size", "power", "How many queries find a difference, or what so many find."),
    "audit": ("rankgauge.cli.size", "audit", "What a published mean over n queries can mean."),
    "judge-next": ("rankgauge.cli.judge_next", "judge_next", "Which unjudged documents to judge next."),
    "losses": ("rankgauge.cli.losses", "losses", "Where relevant documents were lost: index, candidates, reranker."),
    "benchmark": ("rankgauge.cli.benchmark", "benchmark", "Public benchmarks: get them, run on them."),
    "trec_eval": ("rankgauge.cli.trec_eval", "trec_eval", "Print what trec_eval prints, line by line."),
    "reconcile": ("rankgauge.cli.reconcile", "reconcile", "Find out why a figure differs from another tool's."),
    "measures": ("rankgauge.cli.explain", "measures", "List all measures, and which to use when."),
    "explain": ("rankgauge.cli.explain", "explain", "Explain a measure: formula, example, range, use, targets."),
    "contracts": ("rankgauge.cli.explain", "contracts", "List the contract presets: how other tools count."),
    "fuse": ("rankgauge.cli.fuse", "fuse", "Fuse runs into one: reciprocal ranks or weighted scores."),
    "testset": ("rankgauge.cli.testset", "testset", "Build, check and care for a test set."),
    "chunk": ("rankgauge.cli.chunk", "chunk", "Cut the documents of a corpus into chunks."),
    "convert": ("rankgauge.cli.convert", "convert", "Convert a run, judgments or a test set."),
    "completion": ("rankgauge.cli.completion", "completion", "Print the script that completes commands in a shell."),
    "demo": ("rankgauge.cli.demo", "demo", "Four retrievers compared in one screen, offline."),
}

_SECTIONS = {
    "Begin": "demo init",
    "Score and compare": "evaluate compare compare-scores evaluate-traces trec_eval report verify",
    "Live retrievers": "run monitor",
    "Stop regressions": "gate baseline history",
    "Understand a result": "losses judge-next power audit reconcile",
    "Measures": "measures explain contracts",
    "Data": "testset benchmark chunk fuse convert",
    "Shell": "completion",
}
"""The commands as --help lists them: by what one wants to do."""


class _App(LazyGroup):
    """The program as a whole, which tells how every way of ending it is told."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:15}", self.table[name][2]) for name in names.split()])

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **options: Any) -> click.Context:
        words = list(args)
        try:
            withdraw(words)
            made = super().make_context(info_name, args, *rest, **options)
        except KeyboardInterrupt as stop:
            raise Interrupted(*stop.args) from None
        except BrokenPipeError:
            raise ReaderGone from None
        except click.ClickException as error:
            tell_failure(words, error.format_message())
            raise _shown(error) from None
        made.meta[_WORDS] = words
        return made

    def invoke(self, ctx: click.Context) -> Any:
        """The command that was called. Ctrl-C, also at a question (`Abort`), leaves it as an interrupt."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort) as stop:
            raise Interrupted(*stop.args) from None
        except BrokenPipeError:
            raise ReaderGone from None
        except click.ClickException as error:
            tell_failure(ctx.meta[_WORDS], error.format_message())
            raise _shown(error) from None


def _shown(error: click.ClickException) -> click.ClickException:
    """A mistake in the arguments as it may be shown: they may have been made from names of files. It is broken at words
    on a terminal, and tells of an option that is unknown here where there is one like it."""
    told = error.format_message()
    harmless = visible_lines(told) + (_elsewhere(error) if isinstance(error, click.NoSuchOption) else "")
    prefix = "Error: "
    harmless = in_lines(prefix + harmless, sys.stderr).removeprefix(prefix)
    return error if told == harmless else click.UsageError(harmless, getattr(error, "ctx", None))


def _elsewhere(error: click.NoSuchOption) -> str:
    """Where an option that the command lacks is: it takes the same as an argument, or other commands have it."""
    if error.possibilities or error.ctx is None:
        return ""
    having: dict[str, set[str]] = {}
    for name, (module, attribute, _) in _COMMANDS.items():
        for option in getattr(import_module(module), attribute).params:
            if error.option_name in option.opts:
                having[name] = {option.name, option.name.removesuffix("s")}
    own = [one for one in error.ctx.command.params if isinstance(one, click.Argument)]
    for argument in own:
        if any(argument.name in names for names in having.values()):
            shown = argument.make_metavar(error.ctx)
            return f" {shown} is an argument: {error.ctx.command_path} {shown}"
    return f" It is an option of: {', '.join(having)}." if having else ""


@click.command(cls=_App, table=_COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="rankgauge", prog_name="rankgauge", message="%(prog)s %(version)s")
@click.option(
    "--max-size",
    metavar="SIZE",
    help="Largest compressed or piped input, unpacked, and largest record, such as 20GB. "
    "Default: 4 GB and 50 times the compressed size (TREC text: 200 times), 256 MB for a record.",
)
@click.pass_context
def app(ctx: click.Context, max_size: str | None) -> None:
    """Measure retrieval quality: scores under an explicit contract, confidence intervals, tested differences."""
    if not folder_is_there():
        raise RankgaugeError(NO_FOLDER)
    if max_size is not None:
        from rankgauge.formats.limits import VARIABLE, size_of

        size_of(max_size, "--max-size")
        before = os.environ.get(VARIABLE, "")
        os.environ[VARIABLE] = max_size
        ctx.call_on_close(lambda: os.environ.update({VARIABLE: before}))
