"""Chunk-level runs collapsed to documents: best score and first position win."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rankgauge.errors import DataError
from rankgauge.model.chunks import Chunks
from rankgauge.model.run import Run

if TYPE_CHECKING:
    from rankgauge.formats import RunParts

__all__ = ["check_rule", "collapse"]


def check_rule(rule: str | Mapping[str, str] | Chunks) -> None:
    """Raise an error unless it is a rule: a regular expression or a mapping."""
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


def collapse(run: Run | RunParts, rule: str | Mapping[str, str] | Chunks) -> tuple[Run, str]:
    """The run over documents, and the rule as a text for the contract.

    `rule` is a regular expression whose first group (or whole match) is the document's id, or a mapping from chunk id
    to document id. A chunk the rule says nothing of is an error.
    """
    import polars as pl

    check_rule(rule)
    if isinstance(rule, Chunks):
        rule = rule.parents
    frame = pl.concat(run.parts())
    chunks = frame["doc"].unique(maintain_order=True)
    if isinstance(rule, str):
        pattern = re.compile(rule)
        found = {chunk: _parent(pattern, chunk) for chunk in chunks.to_list()}
        text = f"regex {rule}"
    else:
        found = {chunk: rule.get(chunk) for chunk in chunks.to_list()}
        text = f"mapping of {len(rule)} chunks"
    lost = [chunk for chunk, parent in found.items() if not parent]
    if lost:
        raise DataError(
            f"{run.name}: {len(lost)} chunk ids have no document under the rule ({text}), such as {lost[0]!r}; "
            "mend the rule so that it covers every id"
        )
    parents = pl.DataFrame(
        {"doc": list(found), "parent": list(found.values())}, schema={"doc": pl.String, "parent": pl.String}
    )
    collapsed = (
        frame.join(parents, on="doc", how="left", maintain_order="left")
        .group_by("query", "parent", maintain_order=True)
        .agg(pl.col("score").max())
        .rename({"parent": "doc"})
    )
    return Run.of_frame(collapsed, run.name), text


def _parent(pattern: re.Pattern[str], chunk: str) -> str | None:
    match = pattern.search(chunk)
    if match is None:
        return None
    return match.group(1) if pattern.groups else match.group(0)
