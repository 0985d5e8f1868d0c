"""What a record of a comparison holds beside its rows: texts, result lists, scores from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice

from rankgauge.comparison.systems import ComparedSystems
from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.evaluation.recording import now, provenance_of
from rankgauge.evaluation.scores import Scores
from rankgauge.formats import RunParts
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Floats, Ints
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import (
    Changes,
    InputFile,
    ListedDocument,
    Mean,
    Record,
    RelevantDocuments,
    ScoredMeasure,
    SystemResult,
)
from rankgauge.stats.intervals import mean_interval
from rankgauge.version import __version__
from rankgauge.words.visible import clipped

__all__ = ["documents_of", "lists_of", "relevant_of", "scores_record", "texts_of", "with_lists"]

_LISTED = 10  # documents of each list that is kept
_MOST_LISTED = 20_000  # documents of all lists together: 200 queries of 10 systems, 1000 of 2
_RELEVANT = 20  # relevant documents of each query
_BEGINNING = 160  # characters of a document
_MOST_CHARACTERS = 1_000_000  # of all documents together
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
                    measure.name: _mean(compared, order[system.counted[order, j]], system.values[:, j], measure)
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
        conversations=compared.conversations,
    )


def _mean(compared: ComparedSystems, rows: Ints, scores: Floats, measure: ScoredMeasure) -> Mean:
    """Over some rows, in their order."""
    values, clusters = scores[rows], None if compared.clusters is None else compared.clusters[rows]
    interval = mean_interval(values, bounds=measure.bounds, clusters=clusters)
    return Mean(aggregate(measure.aggregate, values), interval, len(values))


def texts_of(test_set: TestSet | None) -> dict[str, str]:
    """The texts of the queries, cut to a few lines."""
    return {query.id: clipped(query.text, _MOST_TEXT) for query in test_set or () if query.text != query.id}


def lists_of(
    queries: Sequence[str],
    changes: Sequence[Changes],
    qrels: Qrels,
    runs: Mapping[str, Run | RunParts],
    scores: Sequence[Scores],
) -> dict[str, dict[str, list[ListedDocument]]]:
    """The first documents of every query under every system; of too many queries those that changed most."""
    from rankgauge.engine.lists import top_lists  # takes polars

    most = max((len(side) for entry in changes for side in (entry.gained, entry.lost)), default=0)
    changed = (
        change.query
        for rank in range(most)
        for entry in changes
        for side in (entry.gained, entry.lost)
        for change in side[rank : rank + 1]
    )
    room = max(1, _MOST_LISTED // (_LISTED * len(scores)))
    tellable = (query for query in dict.fromkeys(chain(changed, queries)) if _has_columns(query, runs.values()))
    kept = list(islice(tellable, room))
    lists: dict[str, dict[str, list[ListedDocument]]] = {query: {} for query in kept}
    for own in scores:
        found = top_lists(qrels, runs[own.name], own.contract, _LISTED, set(kept))
        for query in kept:
            lists[query][own.name] = [ListedDocument(*listed) for listed in found.get(query, [])]
    return lists


def with_lists(
    record: Record,
    scores: Sequence[Scores],
    runs: Mapping[str, Run | RunParts],
    qrels: Qrels,
    test_set: TestSet | None,
    corpus: Mapping[str, str] | None,
) -> Record:
    """A record of evaluations with the texts of the queries, the first documents of their lists, and what is relevant,
    so that a reader can open every query."""
    listed = lists_of(record.queries, [], qrels, runs, scores)
    relevant = relevant_of(list(listed), qrels)
    documents = documents_of(listed, relevant, corpus)
    return replace(record, texts=texts_of(test_set), lists=listed, relevant=relevant, documents=documents)


def _has_columns(query: str, runs: Iterable[Run | RunParts]) -> bool:
    """Whether its lists can stand in columns, which hold no half of a surrogate pair; such a list is scored without."""
    try:
        for run in runs:
            if isinstance(run, Run) and run.mapping is not None:
                "".join(map(str, run.mapping.get(query, ()))).encode()
    except UnicodeEncodeError:
        return False
    return True


def relevant_of(queries: Sequence[str], qrels: Qrels) -> dict[str, RelevantDocuments]:
    """The relevant documents of these queries, so that a reader sees which ones a list lacks."""
    grades: dict[str, dict[str, float]] = {query: {} for query in queries}
    if qrels.mapping is not None:
        for query in queries:
            grades[query] = {doc: grade for doc, grade in qrels.mapping.get(query, {}).items() if grade > 0}
    else:
        import polars as pl

        wanted = pl.col("query").is_in(queries) & (pl.col("grade") > 0)
        for query, doc, grade in qrels.frame.filter(wanted).select("query", "doc", "grade").iter_rows():
            grades[query][doc] = max(grade, grades[query].get(doc, 0.0))  # the best of its subtopics
    return {
        query: RelevantDocuments(len(own), dict(sorted(own.items(), key=lambda item: (-item[1], item[0]))[:_RELEVANT]))
        for query, own in grades.items()
    }


def documents_of(
    lists: Mapping[str, Mapping[str, Sequence[ListedDocument]]],
    relevant: Mapping[str, RelevantDocuments],
    corpus: Mapping[str, str] | None,
) -> dict[str, str]:
    """The beginnings of the documents that a reader of the lists meets, each on two lines: title and text."""
    if not corpus:
        return {}
    met = dict.fromkeys(
        doc
        for query, by_system in lists.items()
        for doc in (*(entry.doc for own in by_system.values() for entry in own), *relevant[query].grades)
    )
    found: dict[str, str] = {}
    room = _MOST_CHARACTERS
    for doc in met:
        text = corpus.get(doc)
        if text:
            title, _, rest = text.partition("\n")
            found[doc] = clipped(
                "\n".join(filter(None, (" ".join(part.split()) for part in (title, rest)))), _BEGINNING
            )
            room -= len(found[doc])
            if room < 0:
                break
    return found
