"""Chunk-level runs collapsed to documents: best score and first position win. What chunks take of a context budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.errors import DataError, counted
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.lengths import length_of
from rankgauge.model.ordering import as_compared, descending_order, rank_lists
from rankgauge.model.ranked import Floats
from rankgauge.model.run import Run

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.formats import RunParts

__all__ = ["ChunkTexts", "Context", "Parents", "Rule", "check_rule", "collapse", "parents_by"]


class Parents(dict[str, str]):
    """The documents of the chunks that a retriever returned, as its results tell them; `told` is the rule as the
    contract has it."""

    def __init__(self, parents: Mapping[str, str], told: str) -> None:
        super().__init__(parents)
        self.told = told


Rule = str | re.Pattern[str] | Mapping[str, str] | Chunks


def check_rule(rule: Rule) -> None:
    """Raise an error unless it is a rule: a regular expression or a mapping."""
    if isinstance(rule, re.Pattern):
        return
    if isinstance(rule, str):
        try:
            re.compile(rule)
        except re.error as error:
            raise DataError(f"`collapse_chunks={rule!r}` is no regular expression: {error}") from None
    elif not isinstance(rule, Mapping):
        raise DataError(
            f"`collapse_chunks=`: a rule is a regular expression or a mapping from chunk to document, not a "
            f"{type(rule).__name__}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class ChunkTexts:
    """Texts of chunks and how to measure them: those of `Chunks`, else their places in the documents of the corpus,
    else what the corpus holds under their ids."""

    rule: Rule
    corpus: Mapping[str, str] | None = None
    length: Callable[[str], float] = len

    def text(self, own: str) -> str | None:
        """The text of a chunk; None where it is not known."""
        corpus = self.corpus or {}
        if isinstance(self.rule, Chunks) and (chunk := self.rule.get(own)) is not None:
            if chunk.text:
                return chunk.text
            if chunk.start is not None and chunk.doc in corpus:
                return corpus[chunk.doc][chunk.start : chunk.end]
        return corpus.get(own)

    def cost(self, chunks: pl.Series) -> Floats:
        """The length of each chunk."""
        known: dict[str, float] = {}
        for own in chunks.unique(maintain_order=True).to_list():
            text = self.text(own)
            if text is None:
                raise DataError(
                    f"chunk {own!r} was retrieved, but its text is not known; a context budget is measured on the "
                    "chunks that were retrieved: give their texts with `collapse_chunks=`, a file of lines such as "
                    '{"id": "d1#0", "doc": "d1", "text": "..."}, or in the corpus under the ids of the chunks'
                )
            known[own] = length_of(text, self.length)
        return np.array([known[own] for own in chunks.to_list()], dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class Context:
    """What the chunks of a list take of a context: in which order they stand, how long each is, and where it is cut."""

    texts: ChunkTexts
    contract: Contract
    cut: float | None = None
    """Chunks behind the longest prefix that fits into this are left out."""


def collapse(run: Run | RunParts, rule: Rule, context: Context | None = None) -> tuple[Run, str]:
    """The run over documents, and the rule as a text for the contract.

    `rule` is a regular expression whose first group (or whole match) is the document's id, or a mapping from chunk id
    to document id. A chunk the rule says nothing of is an error. With a `context`, a column of the same name tells how
    much the chunks up to the first one of each document take, that one included: a document is within a budget if this
    is. A chunk that stands twice is counted once.
    """
    import polars as pl

    parents, text = parents_by(rule)
    frame = pl.concat(run.parts())
    if context is not None:
        frame = frame.sort("query", maintain_order=True)
    found = {chunk: parents(chunk) for chunk in frame["doc"].unique(maintain_order=True).to_list()}
    lost = [chunk for chunk, parent in found.items() if not parent]
    if lost:
        raise DataError(
            f"{run.name}: {len(lost)} chunk ids have no document under the rule ({text}), such as {lost[0]!r}; "
            "mend the rule so that it covers every id"
        )
    by_chunk = pl.DataFrame(
        {"doc": list(found), "parent": list(found.values())}, schema={"doc": pl.String, "parent": pl.String}
    )
    chunks = frame.join(by_chunk, on="doc", how="left", maintain_order="left")
    documents = chunks.group_by("query", "parent", maintain_order=True).agg(pl.col("score").max())
    collapsed = documents.rename({"parent": "doc"})
    if context is not None:
        collapsed = collapsed.with_columns(_reached(chunks, collapsed, context))
        if context.cut is not None:
            collapsed = collapsed.filter(pl.col("context") <= context.cut)
    asked = dict.fromkeys([*frame["query"].unique(maintain_order=True), *run.empty])
    left = set(collapsed["query"])
    return Run.of_frame(collapsed, run.name, empty=[query for query in asked if query not in left]), text


def _reached(chunks: pl.DataFrame, documents: pl.DataFrame, context: Context) -> pl.Series:
    """How much the chunks up to the first one of each document take.

    Chunks stand as their scores say, and where these tie as their documents are ranked, so that the documents come in
    the order in which the contract ranks them.
    """
    import polars as pl

    from rankgauge.model.keys import list_bounds  # takes polars

    contract = context.contract
    starts, _ = list_bounds(documents["query"])
    ranked = rank_lists(documents["score"].to_numpy(), starts, documents["doc"], contract)
    place = np.empty(len(ranked), dtype=np.int64)
    place[ranked] = np.arange(len(ranked))
    placed = documents.select("query", pl.col("doc").alias("parent"), pl.Series("place", place))
    rows = chunks.join(placed, on=["query", "parent"], how="left", maintain_order="left").with_row_index("row")
    if contract.drop_self:
        rows = rows.filter(rows["query"] != rows["parent"])
    if contract.ties != "given":
        rows = rows.sort("query", "place", "row")
        starts, _ = list_bounds(rows["query"])
        rows = rows[descending_order(as_compared(rows["score"].to_numpy(), contract.scores), starts)]
    rows = rows.unique(["query", "doc"], keep="first", maintain_order=True)
    rows = rows.with_columns(pl.Series("context", context.texts.cost(rows["doc"])))
    rows = rows.with_columns(pl.col("context").cum_sum().over("query"))
    first = rows.unique(["query", "parent"], keep="first", maintain_order=True).select("query", "parent", "context")
    found = documents.join(
        first, left_on=["query", "doc"], right_on=["query", "parent"], how="left", maintain_order="left"
    )
    return found["context"]


def parents_by(rule: Rule) -> tuple[Callable[[str], str | None], str]:
    """What gives a chunk its document, and the rule as a text for the contract, which stays the same when documents are
    cut into other chunks."""
    check_rule(rule)
    if isinstance(rule, str | re.Pattern):
        pattern = re.compile(rule)
        return lambda chunk: _parent(pattern, chunk), f"regex {pattern.pattern}"
    if isinstance(rule, Parents):
        return rule.get, rule.told
    if isinstance(rule, Chunks):
        return rule.parents.get, "chunks"
    return rule.get, f"mapping of {counted(len(rule), 'chunk')}"


def _parent(pattern: re.Pattern[str], chunk: str) -> str | None:
    match = pattern.search(chunk)
    if match is None:
        return None
    return match.group(1) if pattern.groups else match.group(0)
