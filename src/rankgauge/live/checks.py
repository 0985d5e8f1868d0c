"""What is given to a live evaluation, looked at before the first call: a slip must not cost a thousand of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rankgauge.engine.chunks import check_rule
from rankgauge.errors import ContractError, DataError
from rankgauge.evaluation import Scoring
from rankgauge.formats import load_corpus
from rankgauge.model.chunks import Chunks
from rankgauge.model.lengths import length_of
from rankgauge.retrievers.checks import check_corpus

__all__ = ["check_scoring", "documents_of"]


def check_scoring(scoring: Scoring, *, own_texts: bool = False) -> None:
    """Raise the errors that scoring would raise after the last call; with `own_texts` the retriever may bring along
    what measures with a budget need."""
    plan = scoring.plan
    budgets = [measure for measure in plan.measures if measure.get("budget") is not None]
    has_texts = own_texts or scoring.chunks is not None
    has_texts = has_texts or (isinstance(scoring.rule, Chunks) and bool(scoring.rule.texts))
    if budgets and scoring.corpus is None and not has_texts:
        raise DataError(f"{budgets[0]} needs the texts of the documents: give corpus=")
    if budgets and plan.contract.ties == "expected":
        raise ContractError(f"{budgets[0]} needs one order of the list; choose ties='trec', 'stable' or 'given'")
    characters = [measure for measure in plan.measures if "characters" in measure.definition.needs]
    if characters and scoring.chunks is None and not scoring.own_chunks:
        raise DataError(f"{characters[0]} counts characters of chunks and passages: say what the chunks are, `chunks=`")
    if characters and isinstance(scoring.chunks, Chunks) and all(own.start is None for own in scoring.chunks.values()):
        raise DataError(
            f"{characters[0]} needs `start` and `end` of every retrieved chunk, and no chunk of {scoring.chunks.name} "
            "has them"
        )
    if callable(scoring.tokenizer):
        length_of("text", scoring.tokenizer)
    if scoring.passages is not None:
        scoring.passages.check()
    if scoring.rule is not None:
        check_rule(scoring.rule)


def documents_of(corpus: Any) -> Mapping[str, str] | None:
    """The texts by id; a path is read."""
    if corpus is None:
        return None
    if isinstance(corpus, str | os.PathLike):
        return load_corpus(corpus)
    if not isinstance(corpus, Mapping):
        raise DataError(
            f"a corpus is a mapping from document id to text, or the path of a file, not a {type(corpus).__name__}"
        )
    check_corpus(corpus)
    return corpus
