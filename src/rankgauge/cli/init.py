"""`rankgauge init`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.bars import bars
from rankgauge.cli.echo import echo
from rankgauge.cli.testset_generate import (
    chat_model,
    kinds_option,
    model_options,
    noise_option,
    read_kinds,
)
from rankgauge.words import Language, say

__all__ = ["init"]

_OF_DOCUMENTS = {
    "output": "--output",
    "count": "-n",
    "kinds": "--kinds",
    "real": "--real",
    "forbid_words": "--forbid-words",
    "noise": "--noise",
    "seed": "--seed",
    "endpoint": "--endpoint",
    "model": "--model",
    "api_key_env": "--api-key-env",
    "prices": "--prices",
    "max_cost": "--max-cost",
    "max_calls": "--max-calls",
    "judge_model": "--judge-model",
    "cache": "--cache",
    "encoding": "--encoding",
    "max_bytes": "--max-bytes",
    "force": "--force",
    "as_json": "--json",
}


@click.command()
@click.argument("plan", metavar="[PLAN.toml]", required=False)
@click.option(
    "--from-docs",
    "folder",
    metavar="DIR",
    help="Make a test set of the documents in this folder: .md, .txt, .rst, .html, .pdf.",
)
@click.option("-o", "--output", metavar="FOLDER", help="The new folder for it.  [default: rankgauge-testset]")
@click.option("-n", "count", type=click.IntRange(1), help="How many queries.  [default: 100]")
@kinds_option
@click.option("--real", metavar="FILE", help="Queries of people, to be like them: a test set, or a query in each line.")
@click.option("--forbid-words", type=click.IntRange(0), metavar="N", help="Forbid the N most telling words.")
@noise_option
@click.option("--seed", type=click.IntRange(0), metavar="N", help="Another seed gives other queries.  [default: 0]")
@model_options
@click.option("--judge-model", metavar="NAME", help="A model of the same endpoint that grades what retrievers find.")
@click.option("--cache", metavar="FILE", help="The models' answers are kept here.  [default: beside FOLDER]")
@click.option("--encoding", metavar="NAME", help="Of files that are not UTF-8, such as gb18030.")
@click.option("--max-bytes", type=click.IntRange(1), metavar="N", help="Leave larger files out.  [default: 20000000]")
@click.option("--force", is_flag=True, help="Replace what such a command wrote into the folder before.")
@options.json_flag
@options.lang
@click.pass_context
def init(ctx: click.Context, /, plan: str | None, folder: str | None, language: Language, **given: Any) -> None:
    """Write a commented plan for `rankgauge run` to start from.

    With --from-docs also all that it needs: a corpus of the documents in a folder, queries made of them, the pool of
    what retrievers find for these, and a plan that runs at once. Nothing leaves the machine, unless --endpoint and
    --model name a language model that writes the queries and verifies them.
    """
    if folder is None:
        if unused := [flag for name, flag in _OF_DOCUMENTS.items() if given[name]]:
            raise click.UsageError(f"{unused[0]} goes with --from-docs")
        _write_plan(plan or "plan.toml")
        return
    if plan is not None:
        raise click.UsageError("--from-docs writes a plan into its own folder: leave PLAN.toml out, or name -o FOLDER")
    _start(folder, language, **given)


def _write_plan(plan: str) -> None:
    from rankgauge.errors import DataError
    from rankgauge.formats.sources import write_whole
    from rankgauge.plans.plan import template

    if Path(plan).exists():
        raise DataError(f"{plan} exists already; name another file, or remove it first")
    write_whole(plan, template().encode())
    echo(f"{plan}: edit it, then: rankgauge run --check {plan}")


def _start(
    folder: str,
    language: Language,
    *,
    output: str | None,
    count: int | None,
    kinds: str | None,
    endpoint: str | None,
    model: str | None,
    api_key_env: str | None,
    prices: str | None,
    max_cost: float | None,
    max_calls: int | None,
    judge_model: str | None,
    cache: str | None,
    as_json: bool,
    **choices: Any,
) -> None:
    from rankgauge.cli.testset_showing import show
    from rankgauge.reports.generated import started_report
    from rankgauge.testsets.chat_cost import Budget
    from rankgauge.testsets.starting import init_from_documents

    asked = chat_model(endpoint, model, api_key_env, prices)
    if asked is None and any(value is not None for value in (api_key_env, prices, max_cost, max_calls)):
        raise click.UsageError("--api-key-env, --prices, --max-cost and --max-calls go with --endpoint and --model")
    if asked is None and (judge_model is not None or cache is not None):
        raise click.UsageError("--judge-model and --cache go with --endpoint and --model")
    chosen: dict[str, Any] = {name: value for name, value in choices.items() if value is not None}
    target = output or "rankgauge-testset"
    if asked is not None:
        chosen["cache"] = cache or f"{target.rstrip('/')}.answers.jsonl"
    if judge_model is not None:
        from rankgauge.testsets.judge import Judge

        chosen["judge"] = Judge(
            str(endpoint), judge_model, scale="binary", api_key_env=api_key_env, prices=options.read_prices(prices)
        )
    with bars(lambda what: say(f"generated.doing_{what}", language)) as progress:
        found = init_from_documents(
            folder,
            target,
            n=count or 100,
            kinds=read_kinds(kinds),
            model=asked,
            budget=None if asked is None else Budget(calls=max_calls, cost=max_cost),
            progress=progress,
            **chosen,
        )
    show(started_report(found), found.to_dict(), as_json, None, language)
