"""What a plan measures: faults of its measures, and whether labels are brought onto chunks."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.errors import RankgaugeError
from rankgauge.evaluation import DEFAULT_MEASURES, make_plan
from rankgauge.evaluation.plan import Plan
from rankgauge.live.chunked import has_passages
from rankgauge.model.testset import TestSet
from rankgauge.plans.systems import SystemPlan

__all__ = ["character_faults", "may_score_passages", "measure_faults"]


def measure_faults(
    names: list[str], contract: str | None, systems: list[SystemPlan], *, has_corpus: bool
) -> Iterator[str]:
    try:
        make_plan(DEFAULT_MEASURES, contract)
    except RankgaugeError as error:
        yield f"contract: {error}"
        contract = None
    try:
        planned = make_plan(names, contract)
    except RankgaugeError as error:
        yield f"measures: {error}"
        return
    budgets = [measure for measure in planned.measures if measure.get("budget") is not None]
    if budgets and not has_corpus and not any(system.chunks for system in systems):
        yield f'measures: {budgets[0]} needs the texts of the documents: corpus = "corpus.jsonl"'
    yield from (f"measures: {fault}" for fault in character_faults(planned, systems))


def character_faults(planned: Plan, systems: list[SystemPlan]) -> Iterator[str]:
    """A measure of characters, and a system of whose chunks nothing is said."""
    characters = [measure for measure in planned.measures if "characters" in measure.definition.needs]
    bare = [system.name for system in systems if system.is_named and not system.has_chunks]
    if characters and bare:
        yield (
            f"{characters[0]} counts characters of chunks and passages, and nothing says what the chunks of "
            f'{bare[0]!r} are: chunks = "chunks.jsonl" under its [[system]], or chunk_ids'
        )


def may_score_passages(tested: TestSet | None, systems: list[SystemPlan]) -> bool:
    """Whether labels are brought onto chunks: those that systems name, or that one's own may bring along."""
    if any(system.has_chunks for system in systems):
        return True
    return tested is not None and has_passages(tested) and not all(system.is_named for system in systems)
