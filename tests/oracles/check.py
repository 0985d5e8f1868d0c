"""How results are held against the oracle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from rankgauge import evaluate
from rankgauge.measures import Definition, Measure, all_definitions
from tests.oracles import naive
from tests.oracles.cases import qrels_frame, run_frame

PLAIN = [d for d in all_definitions() if not d.needs & {"subtopics", "characters"}]
CHARACTERS = [d for d in all_definitions() if "characters" in d.needs]
DIVERSE = [d for d in all_definitions() if "subtopics" in d.needs]
CLOSE = {"rel": 1e-9, "abs": 1e-12}

Lists = Mapping[str, Mapping[str, float]]
Values = dict[str, dict[str, float]]


def of_family(family: str) -> list[Definition]:
    return [d for d in PLAIN if d.family == family]


def oracle(measure: Measure, ranking: Sequence[str], grades: Mapping[str, float], subtopics: Any = None) -> float:
    parameters = {p.name: measure.get(p.name) for p in measure.definition.parameters}
    return naive.oracle(measure.name, measure.at, parameters, ranking, grades, subtopics)


def wanted_values(
    chosen: Sequence[Measure],
    qrels: Lists,
    run: Lists,
    order: Callable[[Mapping[str, float]], list[str]] = naive.ranking_of,
) -> Values:
    return {
        query: {str(m): oracle(m, order(run.get(query, {})), grades) for m in chosen} for query, grades in qrels.items()
    }


def expect(result: Any, wanted: Mapping[str, Mapping[str, float]]) -> None:
    """Per-query values, and that no query and no measure is missing."""
    rows = {row.pop("query"): row for row in result.per_query.iter_rows(named=True)}
    assert list(rows) == list(wanted)
    for query, values in wanted.items():
        assert rows[query] == pytest.approx(values, **CLOSE)


def both_kinds(qrels: Lists, run: Lists, chosen: Sequence[Measure], **choices: Any) -> Any:
    """The result from dictionaries, after checking that frames give the very same numbers."""
    result = evaluate(qrels, run, chosen, **choices)
    from_frames = evaluate(qrels_frame(qrels), run_frame(run), chosen, **choices)
    assert result.table.values.tolist() == from_frames.table.values.tolist()
    assert dict(result.mean) == dict(from_frames.mean)
    return result
