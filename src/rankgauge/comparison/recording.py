"""What a record of a comparison holds beside its rows: texts, the lists that changed most, scores from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankgauge.comparison.systems import ComparedSystems
from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.evaluation.recording import now, provenance_of
from rankgauge.evaluation.scores import Scores
from rankgauge.formats import RunParts
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Floats
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import Changes, InputFile, ListedDocument, Mean, Record, ScoredMeasure, SystemResult
from rankgauge.stats.intervals import mean_interval
from rankgauge.version import __version__
from rankgauge.words.visible import clipped

__all__ = ["lists_of", "scores_record", "texts_of"]

_LISTED = 10  # documents of each list that is shown
_MOST_LISTS = 200  # queries whose lists are shown
_MOST_TEXT = 300  # characters of a query's text


def scores_record(compared: ComparedSystems, *, inputs: Mapping[str, InputFile] | None, provenance: bool) -> Record:
    """The record of scores from elsewhere: there is no contract, and nothing is known of judgments."""
    order = byte_order(compared.queries)
    return Record(
        kind="evaluation",
        created=now(),
        rankgauge=__version__,
        preset=None,
        contract=None,
        measures=list(compared.measures),
        queries=list(compared.queries),
        systems=[
            SystemResult(
                name=system.name,
                means={
                    measure.name: _mean(system.values[order, j][system.counted[order, j]], measure)
                    for j, measure in enumerate(compared.measures)
                },
                per_query={m.name: system.values[:, j].tolist() for j, m in enumerate(compared.measures)},
                counted={
                    measure.name: system.counted[:, j].tolist()
                    for j, measure in enumerate(compared.measures)
                    if not system.counted[:, j].all()
                },
            )
            for system in compared.systems.values()
        ],
        provenance=provenance_of(inputs, commit=provenance),
    )


def _mean(values: Floats, measure: ScoredMeasure) -> Mean:
    return Mean(aggregate(measure.aggregate, values), mean_interval(values, bounds=measure.bounds), len(values))


def texts_of(test_set: TestSet | None) -> dict[str, str]:
    """The texts of the queries, cut to a few lines."""
    return {query.id: clipped(query.text, _MOST_TEXT) for query in test_set or () if query.text != query.id}


def lists_of(
    changes: Sequence[Changes], qrels: Qrels | None, runs: Mapping[str, Run | RunParts], scores: Sequence[Scores]
) -> dict[str, dict[str, list[ListedDocument]]]:
    """The first documents of the queries that changed most, under every system."""
    most = max((len(side) for entry in changes for side in (entry.gained, entry.lost)), default=0)
    queries = list(
        dict.fromkeys(
            change.query
            for rank in range(most)
            for entry in changes
            for side in (entry.gained, entry.lost)
            for change in side[rank : rank + 1]
        )
    )[:_MOST_LISTS]
    if qrels is None or not queries:
        return {}
    from rankgauge.engine.lists import top_lists  # takes polars

    lists: dict[str, dict[str, list[ListedDocument]]] = {query: {} for query in queries}
    for own in scores:
        found = top_lists(qrels, runs[own.name], own.contract, _LISTED, set(queries))
        for query in queries:
            lists[query][own.name] = [ListedDocument(*listed) for listed in found.get(query, [])]
    return lists
