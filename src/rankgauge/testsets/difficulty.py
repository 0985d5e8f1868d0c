"""What a part of a test set is chosen by: how difficult its queries are, and how often they are asked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from rankgauge.errors import FormatError
from rankgauge.evaluation import evaluate
from rankgauge.formats.detect import detect
from rankgauge.formats.json_values import number_of, read_json
from rankgauge.formats.query_logs import load_query_log
from rankgauge.formats.sources import Source
from rankgauge.model.testset import TestSet

__all__ = ["difficulty_of", "read_weights"]


def difficulty_of(test_set: TestSet, run: Any, measure: str) -> dict[str, float]:
    """The score of every query under a run, greater where it is easier; of a query that cannot be scored, the least."""
    found = evaluate(test_set, run, measure)
    about, table = found.measures[0], found.table
    sign = -1.0 if about.definition.lower_is_better else 1.0
    scores = dict(zip(table.queries, (sign * table.values[:, 0]).tolist(), strict=True))
    least = min(scores.values(), default=0.0)
    return {query.id: scores.get(query.id, least) for query in test_set}


def read_weights(path: str | os.PathLike[str]) -> dict[str, float]:
    """Weights by id or text: one JSON object, or the number of searches of each query in a log."""
    source = Source(path)
    if detect(source) == "json":
        value = read_json(source)
        if isinstance(value, Mapping):
            try:
                return {str(query): number_of(weight, f"weight of query {query!r}") for query, weight in value.items()}
            except ValueError as error:
                raise FormatError(source.name, [str(error)]) from None
    searches = Counter[str]()
    for entry in load_query_log(path):
        if entry.text:
            searches[entry.text] += entry.count
    return dict(searches)
