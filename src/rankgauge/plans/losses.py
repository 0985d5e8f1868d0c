"""Where the systems of a plan lost relevant documents: those that tell their stages, or name their candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankgauge.comparison.losses import losses_of_list
from rankgauge.live.evaluation import LiveEvaluation
from rankgauge.model.run import Run
from rankgauge.model.testset import Corpus, TestSet
from rankgauge.plans.plan import RunPlan
from rankgauge.record import LossesResult

__all__ = ["losses_of_systems"]


def losses_of_systems(
    plan: RunPlan, test_set: TestSet, corpus: Corpus | None, found: Sequence[LiveEvaluation]
) -> list[LossesResult]:
    """One for each system of several stages."""
    by_name = {live.name: live for live in found}
    named = {system.name: system.candidates for system in plan.systems}
    made = []
    for live in found:
        earlier = _candidates(live.name, named, by_name) or _stages(live)
        run, k = live.retrieval.run, live.retrieval.k
        if not earlier or k is None:
            continue
        known = None if live.recorder is None else live.recorder.ids
        indexed = None if known is None or corpus is None or known == set(corpus) else known
        made.append(losses_of_list(live, test_set, earlier, run, k=k, corpus=corpus, indexed=indexed))
    return made


def _candidates(name: str, named: Mapping[str, str | None], by_name: Mapping[str, LiveEvaluation]) -> dict[str, Run]:
    """The lists of the systems that one comes from, first to last; one that could not be evaluated ends the chain."""
    chain: dict[str, Run] = {}
    while (before := named.get(name)) is not None and before in by_name:
        chain = {before: by_name[before].retrieval.run, **chain}
        name = before
    return chain


def _stages(live: LiveEvaluation) -> dict[str, Run]:
    """The stages that the retriever tells itself, under names other than the system's."""
    return {f"{stage} of {live.name}" if stage == live.name else stage: run for stage, run in live.stages.items()}
