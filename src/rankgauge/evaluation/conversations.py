"""Which queries are turns of one conversation, as the caller or the test set says."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np

from rankgauge.errors import FormatError
from rankgauge.evaluation.scores import Scores
from rankgauge.formats.json_values import read_json
from rankgauge.formats.sources import Source
from rankgauge.model.conversations import conversations_by
from rankgauge.model.testset import TestSet
from rankgauge.stats.clusters import clustered, design_effect
from rankgauge.stats.differences import Column
from rankgauge.words import Note

__all__ = ["FEW_CONVERSATIONS", "ConversationRule", "conversation_notes", "conversations_of", "effect_note"]

FEW_CONVERSATIONS = 20

ConversationRule = str | os.PathLike[str] | Mapping[str, str] | None
"""A regular expression on the ids, a mapping from query to conversation, the `Path` of one; None for the test set's."""


def conversations_of(rule: ConversationRule, queries: Sequence[str], test_set: TestSet | None = None) -> dict[str, str]:
    """The conversation of each of the queries that belongs to one."""
    if rule is None:
        own = {} if test_set is None else test_set.conversations
        return {query: own[query] for query in queries if query in own} if own else {}
    if isinstance(rule, os.PathLike):
        source = Source(rule)
        rule = read_json(source)
        if not isinstance(rule, Mapping):
            raise FormatError(source.name, ['conversations are one object {"query id": "conversation", ...}'])
    return conversations_by(rule, queries)


def conversation_notes(scores: Scores) -> list[Note]:
    """How many conversations the queries are turns of, and what that costs."""
    table, clusters = scores.table, scores.clusters
    assert clusters is not None
    counted = table.counted.any(axis=1)
    n, conversations = int(counted.sum()), len(np.unique(clusters[counted]))
    effects = []
    for j, measure in enumerate(scores.measures):
        if measure.definition.aggregate == "mean":
            column = Column(np.where(table.counted[:, j], table.values[:, j], 0.0), table.counted[:, j])
            effects.append(design_effect(column, clustered(column, clusters)))
    about = {"n": n, "conversations": conversations, "effect": effect_note(effects)}
    notes = [Note("conversations.clustered", about)]
    if conversations == 1:
        notes.append(Note("conversations.one", {}, "warning"))
    elif conversations < FEW_CONVERSATIONS:
        notes.append(Note("conversations.few", {"n": conversations}, "warning"))
    return notes


def effect_note(effects: Sequence[float | None]) -> Note | str:
    """The design effects of several figures, to be told as one range."""
    known = [effect for effect in effects if effect is not None]
    if not known:
        return ""
    low, high = min(known), max(known)
    if f"{low:.2f}" == f"{high:.2f}":
        return Note("conversations.effect_one", {"low": low})
    return Note("conversations.effect_range", {"low": low, "high": high})
