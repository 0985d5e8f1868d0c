"""Where the systems of a plan lost relevant documents: those that tell their stages, or name their candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from rankgauge.comparison.losses import known_documents, losses_of_list
from rankgauge.comparison.lost_documents import Sizes
from rankgauge.live.evaluation import LiveEvaluation
from rankgauge.model.corpus import Corpus
from rankgauge.model.run import Run
from rankgauge.model.testset import TestSet
from rankgauge.plans.plan import RunPlan
from rankgauge.record import LossesResult, Note

__all__ = ["losses_of_systems"]


def losses_of_systems(
    plan: RunPlan, test_set: TestSet, corpus: Corpus | None, found: Sequence[LiveEvaluation]
) -> list[LossesResult]:
    """One for each system of several stages. Where the plan measures within a context budget, the first of these
    budgets is a place where documents are lost too; where labels are brought onto chunks, the documents are these."""
    by_name = {live.name: live for live in found}
    named = {system.name: system.candidates for system in plan.systems}
    made = []
    for live in found:
        earlier = _candidates(live.name, named, by_name) or _stages(live)
        k = live.retrieval.k
        if not earlier or k is None or live.contract.ties == "expected":  # where documents have no one place
            continue
        budget = next((int(size) for measure in live.measures if (size := measure.get("budget")) is not None), None)
        documents = corpus if live.labels is None else None
        texts = (corpus if live.labels is None else live.labels.chunks.texts) or {}
        own = losses_of_list(
            live,
            test_set if live.labels is None else live.judged,
            earlier,
            live.run,
            k=k,
            corpus=known_documents(documents, live.rule),
            indexed=_indexed(live, documents),
            budget=budget,
            sizes=None if budget is None else Sizes(texts, rule=live.rule),
            without=live.unknown_stages,
        )
        made.append(replace(own, notes=[*_notes(live), *own.notes]))
    return made


def _notes(live: LiveEvaluation) -> Iterator[Note]:
    if unknown := live.unknown_stages:
        yield Note("losses.unknown_stages", {"n": len(unknown), "error": next(iter(unknown.values()))}, "warning")
    if live.labels is not None:
        yield Note("losses.of_chunks")


def _indexed(live: LiveEvaluation, corpus: Corpus | None) -> Collection[str] | None:
    """The documents in its index, where it tells them and they are not all of the corpus."""
    known = None if live.recorder is None or live.labels is not None else live.recorder.ids
    if known is None or corpus is None or known == set(corpus):
        return None
    return known_documents(known, live.rule)


def _candidates(name: str, named: Mapping[str, str | None], by_name: Mapping[str, LiveEvaluation]) -> dict[str, Run]:
    """The lists of the systems that one comes from, first to last; one that could not be evaluated ends the chain."""
    chain: dict[str, Run] = {}
    while (before := named.get(name)) is not None and before in by_name:
        chain = {before: by_name[before].run, **chain}
        name = before
    return chain


def _stages(live: LiveEvaluation) -> dict[str, Run]:
    """The stages that the retriever tells itself, under names other than the system's."""
    return {f"{stage} of {live.name}" if stage == live.name else stage: run for stage, run in live.stages.items()}
