"""`rankgauge testset generate`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from rankgauge.cli import options
from rankgauge.cli.testset_showing import show
from rankgauge.words import Language, say

if TYPE_CHECKING:
    from rankgauge.testsets.chat import ChatModel

__all__ = ["chat_model", "generate", "kinds_option", "model_options", "noise_option", "read_kinds"]


def read_kinds(text: str | None) -> dict[str, float] | None:
    """`keyword=0.5,question=0.5`, or names alone for equal shares."""
    if text is None:
        return None
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, share = part.partition("=")
        if name.strip() in found:
            raise click.UsageError(f"--kinds names {name.strip()} twice")
        try:
            found[name.strip()] = float(share) if equals else 1.0
        except ValueError:
            raise click.UsageError(f"--kinds: {share!r} is no number; write such as keyword=0.5,question=0.5") from None
    return found


kinds_option = click.option(
    "--kinds",
    metavar="KIND=SHARE,...",
    help="Shares of keyword, question, multi-hop and unanswerable queries. "
    "Default: keyword=0.6,question=0.3,multi-hop=0.1; with --model keyword=0.4,question=0.4 and 0.1 of the others.",
)
noise_option = click.option(
    "--noise",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Without a model: words of similar documents among keywords, as of somebody who remembers badly.  "
    "[default: 0.3]",
)
model_options = options.together(
    click.option("--endpoint", metavar="URL", help="An endpoint of OpenAI's protocol, such as https://host/v1."),
    click.option("--model", metavar="NAME", help="The language model that writes the queries."),
    click.option("--api-key-env", metavar="NAME", help="The environment variable that holds the key."),
    click.option("--prices", metavar="IN,OUT", help="Prices of a million tokens, prompt and completion."),
    click.option("--max-cost", type=float, metavar="MONEY", help="Stop before more is spent; needs --prices."),
    click.option("--max-calls", type=click.IntRange(0), metavar="N", help="Stop after so many calls."),
)


def chat_model(
    endpoint: str | None, model: str | None, api_key_env: str | None, prices: str | None, max_tokens: int = 300
) -> ChatModel | None:
    """The language model that the flags name; None where they name none."""
    if model is None and endpoint is None:
        return None
    if model is None or endpoint is None:
        raise click.UsageError("--endpoint and --model go together")
    from rankgauge.testsets.chat import ChatModel

    return ChatModel(
        endpoint,
        model,
        api_key_env=api_key_env,
        temperature=0.7,
        max_tokens=max_tokens,
        prices=options.read_prices(prices),
    )


@click.command()
@click.argument("corpus", metavar="CORPUS")
@click.option("-n", "count", type=click.IntRange(1), default=100, show_default=True, help="How many queries.")
@kinds_option
@click.option("--real", metavar="FILE", help="Queries of people, to be like them: a test set, or a query in each line.")
@click.option(
    "--forbid-words",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Forbid the N words that tell the source from other documents best.",
)
@click.option(
    "--by",
    type=click.Choice(["folder", "length", "cluster", "none"]),
    help="Spread the queries over these parts of the documents. Default: folders if ids are paths, else length.",
)
@noise_option
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Another seed gives other queries.")
@model_options
@click.option("--no-verify", is_flag=True, help="Do not ask the model which documents answer each query.")
@click.option("--cache", metavar="FILE", help="The model's answers are kept here.  [default: beside --output]")
@click.option("-o", "--output", metavar="FILE", help="Write the test set to this file.")
@options.json_flag
@options.lang
@click.pass_context
def generate(
    ctx: click.Context,
    corpus: str,
    count: int,
    kinds: str | None,
    real: str | None,
    forbid_words: int,
    noise: float | None,
    by: str | None,
    seed: int,
    endpoint: str | None,
    model: str | None,
    api_key_env: str | None,
    prices: str | None,
    max_cost: float | None,
    max_calls: int | None,
    no_verify: bool,
    cache: str | None,
    output: str | None,
    as_json: bool,
    language: Language,
) -> None:
    """Make a test set of documents, where there are no queries of people yet.

    Without --model, queries are known items: words and headings of a document that stand together in no other one. A
    model writes them in its own words and verifies them. Each query is marked as synthetic, whatever becomes of it.

    CORPUS is a file or folder as other commands take it for --corpus. `rankgauge init --from-docs` makes one of a
    folder of Markdown, HTML and PDF.
    """
    from rankgauge.cli.bars import bars
    from rankgauge.reports.generated import generated_report
    from rankgauge.testsets.chat_cost import Budget
    from rankgauge.testsets.generating import generate_queries

    options.refuse_overwriting(output, [path for path in (corpus, real, cache) if path])
    chosen: dict[str, Any] = {"kinds": read_kinds(kinds), "by": by, "seed": seed, "forbid_words": forbid_words}
    if noise is not None:
        chosen["noise"] = noise
    asked = chat_model(endpoint, model, api_key_env, prices)
    if asked is None and (given := [name for name, value in _OF_MODEL.items() if ctx.params[name]]):
        raise click.UsageError(f"{_OF_MODEL[given[0]]} goes with --endpoint and --model")
    if asked is not None and cache is None and output not in (None, "-"):
        cache = f"{os.path.splitext(str(output))[0]}.answers.jsonl"
    with bars(lambda what: say(f"generated.doing_{what}", language)) as progress:
        found = generate_queries(
            corpus,
            count,
            real=real,
            model=asked,
            verify=not no_verify,
            budget=None if asked is None else Budget(calls=max_calls, cost=max_cost),
            cache=cache,
            progress=progress,
            **chosen,
        )
    if output is not None and len(found.test_set):
        found.test_set.save(output, "json" if output == "-" else None)
    written = output if len(found.test_set) else None
    show(generated_report(found), found.to_dict(), as_json, written, language)
    ctx.exit(0 if len(found.test_set) and not found.stopped else 1)


_OF_MODEL = {
    "api_key_env": "--api-key-env",
    "prices": "--prices",
    "max_cost": "--max-cost",
    "max_calls": "--max-calls",
    "no_verify": "--no-verify",
    "cache": "--cache",
}
