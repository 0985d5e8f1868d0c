"""`evaluate_retriever`: ask a live retriever every query of a test set, and score what it answers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.evaluation import (
    DEFAULT_MEASURES,
    GivenChunks,
    Scoring,
    make_plan,
)
from rankgauge.live.asking import Asking
from rankgauge.live.evaluation import LiveEvaluation
from rankgauge.measures import Measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.testset import TestSet
from rankgauge.retrievers.configuration import is_closed
from rankgauge.retrievers.costs import check_cost
from rankgauge.retrievers.journal import Journal
from rankgauge.retrievers.work import CallSettings

__all__ = ["evaluate_retriever"]


@named_arguments
def evaluate_retriever(
    retriever: Any,
    test_set: TestSet | Mapping[str, Any] | Sequence[Any] | str | os.PathLike[str] | Any,
    k: int | None = 10,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    name: str | None = None,
    queries: Mapping[str, str] | str | os.PathLike[str] | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    concurrency: int = 1,
    timeout: float = 30.0,
    retries: int = 2,
    backoff: float = 0.5,
    max_failed: float = 0.05,
    cache: str | os.PathLike[str] | Journal | None = None,
    configuration: Mapping[str, Any] | None = None,
    id_field: str | None = None,
    score_field: str | None = None,
    parent_field: str | None = None,
    cost: str | Callable[[str, Any], float | None] | None = None,
    cost_unit: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    tokenizer: Callable[[str], int] | None = None,
    chunks: GivenChunks | None = None,
    overlap: float | None = None,
) -> LiveEvaluation:
    """Ask a retriever every query of the test set for k documents, and score the answers.

    A retriever is an object with `search(query, k)`, a function of query and k (both may be async), or a LangChain
    retriever. With k=None it is not told how many, and all that it gives by itself count. `test_set` is a test set or
    its path, a dictionary {text: {document: grade}}, a list of queries, a data frame; or judgments, whose texts are
    then in `queries`, a mapping from id to text or the path of a file. A query that fails counts as an empty list and
    is named; if more than `max_failed` of them fail, it is an error. `corpus`, texts by id or the path of a file, tells
    which documents exist. `cost` tells what an answer cost, in a unit of the name `cost_unit`: a path into what the
    retriever returned ("usage.total_tokens"), a header ("header:x-cost"), or a function of the query's text and what
    was returned. The choices from `contract` on are those of `evaluate`.

    Where results are chunks, `collapse_chunks` says of which documents, or `parent_field`, the field of a result that
    holds the document's id, or a retriever has them as its attribute `chunks` (`Chunks`; also `corpus`, texts by id,
    for measures with a context budget). Chunks of which nothing is said are an error.

    With `cache`, a folder, answers are kept as they come, and a later start asks only what is missing. They are found
    again by the query's text, k, the name, the corpus, and `configuration`: a dictionary of all that the answers depend
    on, such as the version of an index. Retrievers of `rankgauge.retrievers` say that themselves; for any other,
    `cache` without `configuration` is an error. A `Journal` of your own serves as `cache` too. Kept answers
    pass a gate only if they are those of a retriever of `rankgauge.retrievers` that asks no server, or with
    `allow="cached"`.
    """
    calls = CallSettings(k, concurrency, timeout, retries, backoff, max_failed)
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer, chunks=chunks, overlap=overlap, own_chunks=True)
    check_cost(cost, cost_unit)
    own_texts = corpus is None  # of the retriever, which is looked at before the first call
    fields = (id_field, score_field, queries, parent_field)
    asking = Asking.of(test_set, corpus, calls, scoring, *fields, own_texts=own_texts)
    kept = asking.keeping(cache, configuration, retriever, cost)
    live = asking.ask(retriever, name, kept, progress, cost, cost_unit, stages=True)
    live.proven = configuration is None and not isinstance(cache, Journal) and is_closed(retriever)
    return live
