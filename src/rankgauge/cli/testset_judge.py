"""`rankgauge testset judge`."""

from __future__ import annotations

import os
from typing import Any

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import next_step, show
from rankgauge.words import Language

__all__ = ["judge"]

_asked = options.together(
    click.option("--endpoint", metavar="URL", required=True, help="An endpoint of OpenAI's protocol: https://host/v1."),
    click.option(
        "--model",
        "models",
        metavar="NAME",
        required=True,
        multiple=True,
        help="The model that judges. Given several times, each of them judges all pairs.",
    ),
    click.option(
        "--api-key-env",
        metavar="NAME",
        help="The environment variable that holds the key. Default: OPENAI_API_KEY for api.openai.com, else none.",
    ),
)
_told = options.together(
    click.option(
        "--scale", type=click.Choice(["binary", "0-3", "0-10"]), help="Grades, if --rubric is not given. Default: 0-3."
    ),
    click.option("--rubric", metavar="FILE", help="What each grade means: TOML with scale and [grades]."),
    click.option(
        "--prompt", metavar="FILE", help="What the model is told: TOML, as 'testset rubric --prompt' prints it."
    ),
    click.option(
        "--prompt-lang",
        type=click.Choice(["en", "zh"]),
        help="Language of the built-in rubric and prompt. Default: en.",
    ),
    click.option("--aspects", metavar="FILE", help="Points to grade too, by query: JSON, {query: {name: meaning}}."),
    click.option(
        "--samples", type=click.IntRange(1, 100), default=1, show_default=True, help="Ask so often about each document."
    ),
    click.option(
        "--combine",
        type=click.Choice(["vote", "mean"]),
        default="vote",
        show_default=True,
        help="What counts of several samples: the majority, the lower grade where two share it; or the mean.",
    ),
    click.option(
        "--listwise",
        type=click.IntRange(1, 100),
        default=1,
        show_default=True,
        help="Documents of a query that share a call: cheaper, but each is seen beside others.",
    ),
    click.option("--no-reasons", is_flag=True, help="Ask for grades alone: cheaper, and nobody can follow them."),
    click.option(
        "--max-chars", type=click.IntRange(1), default=12_000, show_default=True, help="Cut longer documents."
    ),
    click.option("--max-tokens", type=click.IntRange(1), help="Of an answer. Models that reason need thousands."),
    click.option("--temperature", type=click.FloatRange(0, 2), help="Default: 0; with several samples 0.7."),
)
_spent = options.together(
    click.option("--estimate", is_flag=True, help="Only say what it will cost; ask nothing."),
    click.option("--prices", metavar="IN,OUT", help="Prices of a million tokens, of prompts and of answers."),
    click.option("--currency", default="USD", show_default=True, help="Of the prices."),
    click.option("--max-cost", type=click.FloatRange(0), metavar="MONEY", help="Make no call that could exceed it."),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Make no more calls, retries included."),
    click.option("--max-tokens-total", type=click.IntRange(0), metavar="N", help="Make no call that could exceed it."),
    click.option("--cache", metavar="FILE", help="Answers are kept here. Default: beside --labels."),
    click.option("--concurrency", type=click.IntRange(1, 1000), default=4, show_default=True, help="Calls at a time."),
    click.option("--rpm", type=click.FloatRange(0, min_open=True), metavar="N", help="Requests in a minute."),
    click.option("--tpm", type=click.FloatRange(0, min_open=True), metavar="N", help="Tokens in a minute."),
    click.option(
        "--timeout", type=click.FloatRange(0, min_open=True), default=120.0, show_default=True, help="Seconds."
    ),
)
_guarded = options.together(
    click.option("--anchors", metavar="FILE", help="Labels of people that each run has judged anew, to see drift."),
    click.option(
        "--probe",
        type=click.IntRange(0),
        default=0,
        metavar="N",
        help="Show N documents in other ways first: again, longer, with instructions for the judge.",
    ),
    click.option(
        "--reranker", "rerankers", multiple=True, metavar="NAME", help="A model that the systems rerank with."
    ),
)


@click.command()
@click.argument("source", metavar="TESTSET")
@click.option("--pool", metavar="FILE", help="The pairs to judge: JSON Lines with query and doc.")
@click.option("--run", "runs", multiple=True, metavar="FILE", help="The same: the first documents of a run.")
@click.option(
    "--depth", type=click.IntRange(1), default=10, show_default=True, help="How many of each list, with --run."
)
@click.option("--corpus", metavar="FILE", help="Texts of the documents, if the test set does not hold them.")
@click.option("--labels", metavar="FILE", help="Labels are added to this file: JSON Lines. Needed unless --estimate.")
@_asked
@_told
@_spent
@_guarded
@options.json_flag
@options.lang
@click.pass_context
def judge(
    ctx: click.Context,
    source: str,
    pool: str | None,
    runs: tuple[str, ...],
    depth: int,
    corpus: str | None,
    labels: str | None,
    endpoint: str,
    models: tuple[str, ...],
    api_key_env: str | None,
    scale: str | None,
    rubric: str | None,
    prompt: str | None,
    prompt_lang: str | None,
    aspects: str | None,
    samples: int,
    combine: str,
    listwise: int,
    no_reasons: bool,
    max_chars: int,
    max_tokens: int | None,
    temperature: float | None,
    estimate: bool,
    prices: str | None,
    currency: str,
    max_cost: float | None,
    max_calls: int | None,
    max_tokens_total: int | None,
    cache: str | None,
    concurrency: int,
    rpm: float | None,
    tpm: float | None,
    timeout: float,
    anchors: str | None,
    probe: int,
    rerankers: tuple[str, ...],
    as_json: bool,
    language: Language,
) -> None:
    """Let language models grade documents of a pool, of runs, or those that TESTSET names.

    What a model has graded by the same rubric is not asked again. Every answer is kept before the next is asked for,
    so that after any end the same command goes on where it was, and nothing is paid for twice. The exit status is 1 if
    a pair has no grade in the end. The key comes from the environment, and is written nowhere.
    """
    from rankgauge.cli.bars import bars
    from rankgauge.cli.echo import echo
    from rankgauge.errors import DataError
    from rankgauge.formats import load_testset
    from rankgauge.reports.judging_by_models import estimate_report, judge_report
    from rankgauge.testsets.chat_cost import Budget, Prices
    from rankgauge.testsets.judge import Judge
    from rankgauge.testsets.judging import estimate_judging
    from rankgauge.testsets.judging import judge as ask
    from rankgauge.words import say

    if pool is not None and runs:
        raise click.UsageError("--pool and --run exclude each other")
    if labels is None and not estimate:
        raise DataError("--labels names the file that labels are added to: give it")
    told = options.read_prices(prices)
    asked: dict[str, Any] = {
        "scale": scale,
        "rubric": rubric,
        "prompt": prompt,
        "language": prompt_lang,
        "samples": samples,
        "combine": combine,
        "listwise": listwise,
        "reasons": not no_reasons,
        "max_chars": max_chars,
        "max_tokens": max_tokens,
        "temperature": temperature,
        "api_key_env": api_key_env,
        "prices": None if told is None else Prices(*told, currency),
        "timeout": timeout,
        "concurrency": concurrency,
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
    }
    judges = [Judge(endpoint, model, **asked) for model in models]
    budget = Budget(calls=max_calls, tokens=max_tokens_total, cost=max_cost)
    tested = load_testset(source)
    pairs: Any = _pairs_of(tested, runs, depth) if runs else pool
    points = None if aspects is None else _read_aspects(aspects)
    known: dict[str, Any] = {"labels": labels, "cache": cache, "aspects": points, "anchors": anchors, "probe": probe}
    if estimate:
        costs = estimate_judging(pairs, tested, corpus, judge=judges, **known)
        show(estimate_report(costs, budget), _of_estimate(costs), as_json, None, language)
        return
    with bars() as progress:
        found = ask(
            pairs,
            tested,
            corpus,
            judge=judges,
            budget=budget,
            rerankers=rerankers,
            told=lambda costs: _tell(costs, language),
            progress=progress,
            **known,
        )
    show(judge_report(found), found.to_dict(), as_json, None, language)
    answers = cache or f"{os.path.splitext(labels or '')[0]}.answers.jsonl"
    echo(say("judge.wrote", language, path=labels, answers=answers), err=True)
    if found.complete and not as_json:
        next_step("build", language, testset=source, labels=labels)
    ctx.exit(0 if found.complete else 1)


def _read_aspects(path: str) -> Any:
    from rankgauge.formats.json_values import read_json
    from rankgauge.formats.sources import Source

    return read_json(Source(path))


def _tell(costs: Any, language: Language) -> None:
    """What it will cost, before the first call: whoever reads it may still end it."""
    from rankgauge.cli.echo import echo
    from rankgauge.words import say

    if not costs.calls:
        return
    about = {"calls": costs.calls, "prompt": costs.prompt_tokens, "completion": costs.completion_tokens}
    echo(say("judge.estimate", language, **about), err=True)
    if costs.cost is not None:
        about = {"cost": costs.cost, "most": costs.most_cost, "unit": costs.unit}
        echo(say("judge.estimate_cost", language, **about), err=True)


def _of_estimate(found: Any) -> dict[str, Any]:
    from dataclasses import asdict

    return {"format": "rankgauge.judging-estimate", "version": 1, **asdict(found)}


def _pairs_of(tested: Any, runs: tuple[str, ...], depth: int) -> Any:
    """The first documents of the runs for the queries of the test set."""
    from rankgauge.engine.lists import top_lists
    from rankgauge.formats import open_run
    from rankgauge.model.contract import Contract
    from rankgauge.model.judgments import Qrels

    queries = Qrels({query.id: {} for query in tested}, name=tested.name)
    pairs: dict[tuple[str, str], None] = {}
    lists = [top_lists(queries, open_run(path), Contract(), depth) for path in runs]
    for query in queries:
        for found in lists:
            pairs |= dict.fromkeys((query, one.doc) for one in found.get(query, []))
    return list(pairs)
