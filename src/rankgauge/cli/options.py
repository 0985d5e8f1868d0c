"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from rankgauge.registry import Registry
from rankgauge.words import LANGUAGES

__all__ = [
    "PartOf",
    "conversations",
    "counting",
    "details",
    "digits",
    "input_formats",
    "json_flag",
    "lang",
    "output",
    "passages",
    "read_choices",
    "read_prices",
    "refuse_overwriting",
    "scoring",
    "threshold",
    "together",
]

F = TypeVar("F", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator; help lists them in this order."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class PartOf(click.Choice):  # type: ignore[type-arg]
    """The name of a part of a registry, or one of `more`. Help shows the built-in ones; other packages are asked for
    the rest."""

    def __init__(self, registry: Registry[Any], *more: str) -> None:
        super().__init__([*registry.known, *more])
        self._registry = registry

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from rankgauge.errors import DataError

        try:
            if value not in self.choices:
                self._registry.check(value)
        except DataError as error:
            self.fail(str(error), param, ctx)
        return str(value)


def _default_language() -> str:
    """What RANKGAUGE_LANG says, which has to be a known one; else that of the locale, English where there are no texts
    in it."""
    own = os.environ.get("RANKGAUGE_LANG", "")
    if own:
        return re.split(r"[-_.@]", own.lower())[0]
    locale = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := os.environ.get(name))), "")
    return next((known for known in LANGUAGES if locale.lower().startswith(known)), "en")


lang = click.option(
    "--lang",
    "language",
    type=click.Choice(LANGUAGES),
    default=_default_language,
    show_default="from the locale",
    help="Language of results and explanations.",
)
json_flag = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
digits = click.option(
    "--digits", type=click.IntRange(0, 15), default=4, show_default=True, help="Digits after the point, in tables."
)
details = click.option(
    "--details", is_flag=True, help="Show all the evidence too: p-values, effect sizes, ties, notes and the contract."
)
output = click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write to this file, whole or not at all, instead of standard output (.gz and .zst compress).",
)
input_formats = together(
    click.option(
        "--qrels-format",
        metavar="FORMAT",
        help="trec, json, jsonl, csv, tsv, parquet or beir, if detection is wrong.",
    ),
    click.option("--run-format", metavar="FORMAT", help="The same for the runs."),
)
threshold = click.option(
    "--threshold",
    type=float,
    metavar="SCORE",
    help="A query counts as answered only if its first document scores at least this much: for Handled, and for "
    "queries without an answer.",
)
counting = together(
    click.option("--contract", metavar="PRESET", help="Count as another tool does: see 'rankgauge contracts'."),
    click.option(
        "--missing",
        type=click.Choice(["zero", "skip", "error"]),
        help="A judged query that the run lacks counts zero (default), is skipped, or is an error.",
    ),
    click.option(
        "--ties",
        type=click.Choice(["trec", "given", "stable", "expected"]),
        help="Order: by score, ties by document id descending (trec, default); as given; by score, ties as listed "
        "(stable); or the expected value over all tied orders.",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(["count", "skip"]),
        help="A query without relevant documents counts (default), or is skipped.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["error", "first"]),
        help="A document twice in one list is an error (default), or the better one is kept.",
    ),
    click.option("--rel", type=float, metavar="N", help="Least grade that counts as relevant. Default: 1."),
    click.option("--depth", type=click.IntRange(1), metavar="N", help="Cut every list after N documents first."),
    click.option(
        "--collapse-chunks",
        metavar="REGEX",
        help="Merge chunks into documents first: the expression's first group is the document's id; or a JSON file of "
        "chunk ids and their documents.",
    ),
    click.option(
        "--corpus",
        metavar="FILE",
        help="Texts of the documents (JSON Lines or a BEIR folder), for R(budget=N) and for the lists of a report.",
    ),
)
"""The contract: how to count."""
scoring = together(
    click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        metavar="MEASURE",
        help="A measure, such as nDCG@10 or R@5,10,20; may be given several times. "
        "Default: nDCG@10, AP, RR, R@10, P@10.",
    ),
    counting,
)
"""Measures and contract: what to score and how to count."""
passages = together(
    click.option(
        "--chunks",
        multiple=True,
        metavar="[NAME=]FILE",
        help="What the ids of the runs stand for, where labels are passages or documents and runs return chunks: lines "
        "of JSON, or a table, with id, doc, start, end and text. NAME= gives a run chunks of its own.",
    ),
    click.option(
        "--chunk-ids",
        metavar="REGEX",
        help=r"The same, read from the ids themselves: '^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$'.",
    ),
    click.option(
        "--overlap",
        type=float,
        metavar="SHARE",
        help="Share of a passage that a chunk must hold to be relevant, unless it lies inside it. Default: 0.5.",
    ),
)
"""Labels that are passages, and the chunks they are looked for in."""

conversations = click.option(
    "--conversations",
    metavar="REGEX",
    help="Which queries are turns of one conversation, where the test set does not tell: the expression's first group "
    "in a query's id is the conversation; or a JSON file of query ids and their conversations.",
)


def read_choices(choices: dict[str, Any]) -> dict[str, Any]:
    """Files named among the choices, read: the corpus, a mapping of chunks, one of conversations. Chunks by file or by
    their ids become one choice."""
    read: dict[str, Any] = {}
    if "chunk_ids" in choices:
        read["chunks"] = given_chunks(choices.get("chunks") or (), choices.pop("chunk_ids"))
    if choices.get("conversations") and os.path.isfile(choices["conversations"]):
        read["conversations"] = Path(choices["conversations"])
    if choices.get("corpus"):
        from rankgauge.formats import load_corpus

        read["corpus"] = load_corpus(choices["corpus"])
    rule = choices.get("collapse_chunks")
    if rule and os.path.isfile(rule):
        from rankgauge.formats import load_chunks

        read["collapse_chunks"] = load_chunks(rule)
    return read


def given_chunks(files: tuple[str, ...], ids: str | None) -> Any:
    """Chunks as the library takes them: a path, one for each system, or an expression; None where none are given."""
    from rankgauge.errors import DataError

    if ids is not None:
        if files:
            raise DataError("--chunks and --chunk-ids exclude each other")
        from rankgauge.model.chunks import compiled_ids

        return compiled_ids(ids)
    named = [text.partition("=") for text in files if not os.path.exists(text)]
    own = {name: path for name, equals, path in named if equals}
    if len(files) - len(own) > 1 or (own and len(own) < len(files)):
        raise DataError("several --chunks need the names of their runs: --chunks a=FILE --chunks b=FILE")
    return own or (files[0] if files else None)


def read_chunks(given: Any) -> Any:
    """The files of chunks read, once for all runs."""
    from rankgauge.formats import load_chunks

    if isinstance(given, dict):
        return {name: load_chunks(path) for name, path in given.items()}
    return load_chunks(given) if isinstance(given, str) else given


def chunk_paths(given: Any) -> dict[str, Any]:
    """The files of chunks by their roles in a record."""
    return {f"chunks:{name}": path for name, path in given.items()} if isinstance(given, dict) else {"chunks": given}


def refuse_overwriting(output: str | None, inputs: Iterable[str]) -> None:
    """An output that is one of the inputs is a slip of the hand."""
    from rankgauge.errors import DataError

    if output is None or not os.path.exists(output):
        return
    for path in inputs:
        if os.path.exists(path) and os.path.samefile(path, output):
            raise DataError(f"{output} is an input too; name another file for the output")


def read_prices(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        first, second = map(float, text.split(","))
    except ValueError:
        raise click.UsageError(f"--prices: {text!r} is no pair of numbers such as 0.15,0.60") from None
    return first, second
