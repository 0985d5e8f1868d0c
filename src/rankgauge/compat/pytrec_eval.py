"""pytrec_eval's interface over this library: `from rankgauge.compat import pytrec_eval`.

Same names, same figures (those of trec_eval 9: scores compared as float32, queries that the run lacks left out), and
no compiler to install it. What pytrec_eval takes in silence is an error here: a document twice, a score that is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.engine.averaging import aggregate
from rankgauge.engine.matching import match
from rankgauge.engine.scoring import score_queries
from rankgauge.errors import DataError
from rankgauge.evaluation.trec_eval import CATALOGUE, NICKNAMES, SINCE_10, TrecEval, trec_measures
from rankgauge.measures.presets import find_preset
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]

Number = TypeVar("Number", int, float)
_RULES = "trec_eval9"
_GEOMETRIC = {"gm_map", "gm_bpref"}
_LEAST = 1e-5
"""What the logarithm of a geometric mean is taken of, at least."""

supported_measures = {*CATALOGUE, "runid"} - set(SINCE_10)
supported_nicknames = {name: set(of) & supported_measures | {"runid"} for name, of in NICKNAMES.items()}


@named_arguments
class RelevanceEvaluator:
    """Scores of runs against the same judgments, by query and measure under the names that trec_eval prints."""

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        if isinstance(measures, str):
            raise DataError(f"`measures` must be a set of names such as {{{measures!r}}}, not a text")
        if relevance_level < 1:
            raise DataError(f"`relevance_level` must be 1 or more, not {relevance_level!r}")
        flags = TrecEval(level=None if relevance_level == 1 else relevance_level, version=_RULES)
        self._qrels = Qrels({query: grades for query, grades in query_relevance.items() if grades})
        self._lines, _ = trec_measures([name for name in measures if name != "relstring"], flags)
        self._judged_only = judged_docs_only_flag

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """{query: {measure: value}} of every query that is judged and in the run."""
        if not scores:
            return {}
        ranked = match(self._qrels, Run(scores), find_preset(_RULES).contract.with_changes(missing="skip")).ranked
        if self._judged_only:
            ranked = ranked.judged_only()
        named = {line.name: line.measure for line in self._lines if line.measure is not None}
        values, _ = score_queries(ranked, list(named.values()))
        for j, name in enumerate(named):
            if name in _GEOMETRIC:
                values[:, j] = [math.log(max(value, _LEAST)) for value in values[:, j].tolist()]
        rows = zip(ranked.queries, values.tolist(), ranked.in_run.tolist(), strict=True)
        return {query: dict(zip(named, row, strict=True)) for query, row, there in rows if there}


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """The value of all queries: a sum of counts (`num_...`), a geometric mean (`gm_...`), else the mean."""
    if not len(values):
        raise DataError(f"{measure}: there are no values to take together")
    together = aggregate("sum" if measure.startswith("num_") else "mean", np.asarray(values, dtype=np.float64))
    return math.exp(together) if measure.startswith("gm_") else together  # those values are logarithms


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """{query: {document: grade}} from the lines of TREC judgments."""
    return _parsed(f_qrel, "judgments", (0, 2, 3), 4, int)


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """{query: {document: score}} from the lines of a TREC run."""
    return _parsed(f_run, "run", (0, 2, 4), 6, float)


def _parsed(
    lines: Iterable[str], what: str, columns: tuple[int, int, int], width: int, number: Callable[[str], Number]
) -> dict[str, dict[str, Number]]:
    found: dict[str, dict[str, Number]] = {}
    for row, line in enumerate(lines, start=1):
        parts = line.split()
        if len(parts) != width:
            raise DataError(f"{what}, line {row}: {width} columns are needed, there are {len(parts)}")
        query, doc, value = (parts[column] for column in columns)
        if doc in found.setdefault(query, {}):
            raise DataError(f"{what}, line {row}: document {doc!r} of query {query!r} stands there twice")
        try:
            found[query][doc] = number(value)
        except ValueError:
            raise DataError(f"{what}, line {row}: {value!r} is no number") from None
    return found
