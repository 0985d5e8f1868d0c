"""`losses`: at which stage each relevant document was lost, and how much improving each stage could gain."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.comparison.lost_documents import Located, Sizes, locate
from rankgauge.comparison.recording import documents_of, lists_of, relevant_of, texts_of
from rankgauge.engine.chunks import Rule, parents_by
from rankgauge.errors import ContractError, DataError, counted
from rankgauge.evaluation import Evaluation, Scoring, hashed, make_plan, read_judgments, record_of
from rankgauge.evaluation.scores import Scores
from rankgauge.formats.ids import load_ids
from rankgauge.measures import Measure, parse_measure
from rankgauge.model.chunks import Chunks
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.record import Headroom, InputFile, LossesResult, LostDocument, Record
from rankgauge.record.result import Result
from rankgauge.stats.levels import check_whole
from rankgauge.visible import visible
from rankgauge.words import Language, tell

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.formats import RunParts

__all__ = ["Losses", "known_documents", "losses", "losses_of", "losses_of_list", "recall_of"]

_MOST_LOST = 5_000  # documents that a record lists
_MOST_OF_QUERY = 20


@named_arguments
class Losses(Result):
    """Where relevant documents were lost: `.places`, `.headroom`, `.per_query`, `.lost`, `.record`."""

    def __init__(
        self,
        result: LossesResult,
        evaluation: Evaluation,
        *,
        qrels: Qrels,
        run: Run | RunParts,
        corpus: Mapping[str, str] | None = None,
        sources: Mapping[str, Any] | None = None,
    ) -> None:
        self.result, self.evaluation, self.sources = result, evaluation, dict(sources or {})
        self.places, self.headroom, self.lost = result.places, result.headroom, result.lost
        self._qrels, self._run, self._corpus = qrels, run, corpus

    def to_record(self, *, inputs: Mapping[str, InputFile] | None = None, lists: bool = True) -> Record:
        """The result document: recall of the last stage, and where the rest was lost. `lists` adds the first documents
        of every query; `inputs` are the files by role, where they are not those that were given to `losses`."""
        own = self.evaluation
        files = hashed(self.sources) if inputs is None else inputs
        record = record_of([own], inputs=files, test_set=own.test_set)
        record = replace(record, losses=[self.result], texts=texts_of(own.test_set))
        if not lists:
            return record
        listed = lists_of(list(own.table.queries), [], self._qrels, {own.name: self._run}, [own])
        relevant = relevant_of(list(listed), self._qrels)
        return replace(record, lists=listed, relevant=relevant, documents=documents_of(listed, relevant, self._corpus))

    @cached_property
    def record(self) -> Record:
        """The result document with all its parts."""
        return self.to_record()

    def to_frame(self) -> pl.DataFrame:
        """One row for each place: documents lost there, their share, and what finding them could gain at most."""
        import polars as pl

        places, result = self.places, self.result
        grades = sum(place.grades for place in places) or 1.0
        return pl.DataFrame(
            {
                "place": [place.kind for place in places],
                "stage": [place.stage or None for place in places],
                "documents": [place.documents for place in places],
                "share": [place.documents / max(1, result.documents) for place in places],
                "share_by_grade": [place.grades / grades for place in places],
                "queries": [place.queries for place in places],
                "gain": [place.gain for place in places],
            },
            schema_overrides={"stage": pl.String},
        )

    @property
    def per_query(self) -> pl.DataFrame:
        """One row for each query, one column of documents for each place."""
        import polars as pl

        queries = pl.Series(list(self.evaluation.table.queries), dtype=pl.String)
        return pl.DataFrame({"query": queries, **self.result.per_query})

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        return [tell(note, "en") for note in self.result.notes if note.level == "warning"]

    def summary(self, language: Language = "en") -> list[str]:
        """Where most is lost, and what can be gained."""
        from rankgauge.comparison.loss_notes import lead_notes

        return [tell(note, language) for note in lead_notes(self.result)]

    def to_json(self) -> str:
        return self.record.to_json()

    def __repr__(self) -> str:
        stages = visible(" → ".join(self.result.stages))
        return f"Losses({stages}: {self.result.missed} of {counted(self.result.documents, 'relevant document')} missed)"


@named_arguments
def losses(
    qrels: Qrels | TestSet | Mapping[str, Any] | str | os.PathLike[str] | Any,
    stages: Mapping[str, Any],
    k: int = 10,
    *,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    indexed: Iterable[str] | str | os.PathLike[str] | None = None,
    budget: int | None = None,
    tokenizer: Callable[[str], int] | None = None,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
) -> Losses:
    """Where each relevant document was lost, and how much improving that stage could gain at most in recall.

    `stages` maps names to runs of any kind that `evaluate` takes, or to live evaluations, in the order of the pipeline,
    such as {"candidates": run, "reranked": run}; the last list is what the reader gets, cut after `k` documents.
    `corpus`, texts by id or a path, and `indexed`, the ids of the index or a file of them, tell what could not be
    retrieved at all. `budget` is the length of texts that fit into a prompt: in characters, or as `tokenizer` counts.
    `depth` cuts the last list alone. The other choices are those of `evaluate`.

    Every relevant document has exactly one place: not in the corpus, not in the index, not in the list of a stage,
    ranked below k, cut by the budget, or found; found over all is R@k of each query.
    """
    k = check_whole("k", k, 1)
    budget = None if budget is None else check_whole("budget", budget, 1)
    if not isinstance(stages, Mapping) or not stages:
        raise DataError('`stages` are given by name, first to last: {"candidates": run, "reranked": run}')
    stages = {name: getattr(run, "run", run) if isinstance(run, Scores) else run for name, run in stages.items()}
    asked = [f"R@{k}", *([] if budget is None else [f"R(budget={budget})"])]
    plan = make_plan(asked, contract, ties, missing, no_relevant, duplicates, depth, rel)
    _in_order(plan.contract)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer)
    if budget is not None and corpus is None and not (isinstance(scoring.rule, Chunks) and scoring.rule.texts):
        raise DataError("`budget=` needs the texts of the documents: give them with `corpus=`")
    judgments, test_set = read_judgments(qrels)
    unmeasured = scoring.changed(plan=replace(plan, measures=plan.measures[:1], asked=plan.asked[:1]))
    last = list(stages)[-1]
    opened = {
        str(name): (scoring if name is last else unmeasured).opened(run, str(name)) for name, run in stages.items()
    }
    last = str(last)
    told = opened[last][1]
    merged = replace(scoring, plan=replace(unmeasured.plan, contract=told.contract), collapse_chunks=None)
    evaluation = merged.evaluation(test_set or judgments, opened[last][0], last)
    result = losses_of(
        evaluation,
        judgments,
        {name: run for name, (run, _) in opened.items()},
        k=k,
        corpus=known_documents(scoring.documents, scoring.rule),
        indexed=_indexed(indexed, scoring),
        budget=budget,
        sizes=None if budget is None else Sizes(scoring.documents or {}, tokenizer or len, scoring.rule),
    )
    sources = scoring.sources(qrels, {last: list(stages.values())[-1]})
    sources |= {f"stage:{name}": run for name, run in stages.items() if str(name) != last}
    return Losses(
        result,
        evaluation,
        qrels=judgments,
        run=opened[last][0],
        corpus=scoring.documents,
        sources=sources | {"indexed": indexed},
    )


def _indexed(given: Any, scoring: Scoring) -> frozenset[str] | None:
    """The ids of an index; chunks among them are those of their documents."""
    if given is None:
        return None
    if isinstance(given, str | os.PathLike):
        given = load_ids(given)
    if not isinstance(given, Iterable):
        raise DataError(f"`indexed` must be a list of document ids, or the path of a file of them, not {given!r}")
    return frozenset(known_documents(frozenset(map(str, given)), scoring.rule) or ())


def known_documents(ids: Collection[str] | None, rule: Rule | None) -> Collection[str] | None:
    """The documents of a corpus or an index, which may hold them under the ids of their chunks."""
    if ids is None or rule is None:
        return ids
    parent = parents_by(rule)[0]
    return {doc for own in ids for doc in (own, parent(own)) if doc}


def recall_of(measures: Sequence[Measure], k: int) -> Measure:
    """The first recall at a depth among some measures, else that at k."""
    for measure in measures:
        if isinstance(measure.at, int):
            if measure.name == "R" and not measure.get("capped") and not measure.get("judged_only"):
                return measure
            if measure.name == "StRecall":  # of passages: a place has a document, or a chunk
                return parse_measure("R").with_at(measure.at)
    return parse_measure(f"R@{k}")


def losses_of_list(
    scored: Scores,
    qrels: Qrels | TestSet,
    earlier: Mapping[str, Run | RunParts],
    run: Run | RunParts,
    *,
    k: int,
    corpus: Collection[str] | None = None,
    indexed: Collection[str] | None = None,
    budget: int | None = None,
    sizes: Sizes | None = None,
    without: Collection[str] = (),
) -> LossesResult:
    """Of a list that was scored before, by its own recall or that at k. Queries `without` known stages are left out."""
    if scored.name in earlier:
        raise DataError(f"a stage and a run are both named {scored.name!r}; name them apart")
    measure = recall_of(scored.measures, k)
    evaluation = Scoring(make_plan(measure, _in_order(scored.contract))).evaluation(qrels, run, scored.name)
    depth = int(measure.at or k)
    judgments, _ = read_judgments(qrels)
    return losses_of(
        evaluation,
        judgments,
        {**earlier, scored.name: run},
        k=depth,
        corpus=corpus,
        indexed=indexed,
        budget=budget,
        sizes=sizes,
        without=without,
    )


def _in_order(contract: Contract) -> Contract:
    if contract.ties == "expected":
        raise ContractError(
            "one place for each document needs one order of the list; choose `ties='trec'`, `ties='stable'` or "
            "`ties='given'`"
        )
    return contract


def losses_of(
    evaluation: Evaluation,
    judgments: Qrels,
    stages: Mapping[str, Run | RunParts],
    *,
    k: int,
    corpus: Collection[str] | None = None,
    indexed: Collection[str] | None = None,
    budget: int | None = None,
    sizes: Sizes | None = None,
    without: Collection[str] = (),
) -> LossesResult:
    """The places of all relevant documents, and what they are worth. `evaluation` is of recall at k of the last stage,
    and tells which queries count."""
    from rankgauge.comparison.loss_notes import notes_of_losses

    (measure,) = evaluation.measures
    queries = list(evaluation.table.queries)
    known = np.array([query not in without for query in queries], dtype=bool)
    located = locate(
        judgments,
        stages,
        evaluation.contract,
        k=k,
        rel=measure.get("rel"),
        queries=queries,
        counted=evaluation.table.counted[:, 0] & known,
        corpus=corpus,
        indexed=indexed,
        budget=budget,
        sizes=sizes,
    )
    places = [located.filled(place) for place in located.places]
    relevant = located.counts([place.key for place in places])
    full = replace(located, place=np.full(len(located.place), located.number("found")))
    names = list(stages)
    found = LossesResult(
        system=names[-1],
        stages=names,
        measure=str(measure),
        k=k,
        budget=budget,
        mean=located.recall(),
        ceiling=full.recall(fitting=False),
        documents=int(relevant.sum()),
        queries=int(located.counted.sum()),
        places=places,
        headroom=list(_headroom(located, names)),
        per_query={place.key: located.counts([place.key]).tolist() for place in places},
        lost=_lost(located),
    )
    return replace(found, notes=list(notes_of_losses(found, located)))


def _headroom(located: Located, stages: Sequence[str]) -> Iterator[Headroom]:
    """Each part of the pipeline that could be improved, first to last."""
    now, known = located.recall(), [place.key for place in located.places]

    def of(kind: Any, stage: str, keys: Sequence[str]) -> Headroom:
        gain = located.recall(keys, fitting=kind != "budget") - now
        return Headroom(kind, stage, int(located.counts(keys).sum()), max(0.0, gain))

    for kind in ("corpus", "index"):
        if kind in known:
            yield of(kind, "", [kind])
    first, *later = stages
    yield of("first", first, [f"stage:{first}"])
    for name in later[:-1]:
        yield of("stage", name, [f"stage:{name}"])
    cut = ["rank", *(["budget"] if "budget" in known else [])]
    yield of("order", stages[-1], [*(f"stage:{name}" for name in later[-1:]), *cut])
    if "budget" in known:
        yield of("budget", "", ["budget"])


def _lost(located: Located) -> dict[str, list[LostDocument]]:
    """The documents that were not found, those of the queries that lost most first, best grades first."""
    gone = np.flatnonzero(located.place != located.number("found"))
    counts = np.bincount(located.owner[gone], minlength=len(located.queries))
    keys = (-located.grades[gone], located.owner[gone], -counts[located.owner[gone]])
    found: dict[str, list[LostDocument]] = {}
    room = _MOST_LOST
    for row in gone[np.lexsort(keys)].tolist():
        listed = found.setdefault(located.queries[located.owner[row]], [])
        if len(listed) < _MOST_OF_QUERY and room:
            ranks = [int(own[row]) or None for own in located.ranks]
            key = located.places[located.place[row]].key
            listed.append(LostDocument(located.docs[row], float(located.grades[row]), key, ranks))
            room -= 1
    return {query: listed for query, listed in found.items() if listed}
