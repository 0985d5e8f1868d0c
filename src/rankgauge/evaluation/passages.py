"""Runs of chunks scored against labels that are passages, and what other overlaps would give."""

from __future__ import annotations

import os
import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.engine.matching import BudgetTexts
from rankgauge.engine.scoring import score
from rankgauge.engine.spans import OVERLAP, OVERLAPS, SpanLabels
from rankgauge.errors import DataError
from rankgauge.evaluation.plan import Plan
from rankgauge.formats import load_chunks
from rankgauge.measures import Measure, of_passages
from rankgauge.model.chunks import Chunks, GivenChunks, compiled_ids
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.scores import AtOverlap, Passages, ScoreTable
from rankgauge.model.testset import TestSet

if TYPE_CHECKING:
    from rankgauge.formats import RunParts

__all__ = ["PassageScoring", "checked_chunks"]


def checked_chunks(given: GivenChunks) -> GivenChunks:
    """What is given as `chunks`, with files read."""
    if isinstance(given, Mapping) and not isinstance(given, Chunks):
        return {str(name): _checked(own) for name, own in given.items()}
    return _checked(given)


def _checked(given: Any) -> Chunks | re.Pattern[str]:
    """What stands for the chunks of one system, read."""
    if isinstance(given, str | os.PathLike):
        return load_chunks(given)
    if isinstance(given, re.Pattern):
        return compiled_ids(given)
    if not isinstance(given, Chunks):
        raise DataError(
            "`chunks` must be Chunks, the path of a file of them, a compiled regular expression that reads their "
            f"places from ids, or one of these for each system, not a {type(given).__name__}"
        )
    return given


@dataclass(frozen=True)
class PassageScoring:
    """Chunks and overlap: how labels become judgments of the chunks that a run returns."""

    given: GivenChunks
    overlap: float | None = None
    length: Callable[[str], int] = len

    @property
    def share(self) -> float:
        return OVERLAP if self.overlap is None else self.overlap

    @cached_property
    def one(self) -> Chunks | re.Pattern[str] | None:
        """The chunks of all systems; None where each has its own."""
        return None if self._by_system else _checked(self.given)

    @property
    def _by_system(self) -> bool:
        return isinstance(self.given, Mapping) and not isinstance(self.given, Chunks)

    @cached_property
    def _own(self) -> dict[str, Chunks | re.Pattern[str]]:
        assert isinstance(self.given, Mapping)
        return {str(name): _checked(own) for name, own in self.given.items()}

    @cached_property
    def _resolved(self) -> dict[tuple[int, int], SpanLabels]:
        """Kept for all runs that share test set and chunks."""
        return {}

    def check(self) -> None:
        """Read what is given, before a run is."""
        _ = self._own if self._by_system else self.one

    def check_name(self, name: str | None) -> None:
        """Raise an error where each system has its own chunks, and this one has none."""
        if self._by_system and not self._own:
            raise DataError("`chunks` is empty: it says nothing of any system; leave it out, or give Chunks or a file")
        if self._by_system and name not in self._own:
            raise DataError(f"`chunks` names no chunks for {name!r}; it has: {', '.join(self._own)}")

    def chunks_of(self, name: str | None, run: Run | RunParts, labelled: TestSet | None = None) -> Chunks:
        """The chunks that a system's ids stand for; where ids tell places, those that labels name too."""
        found = self.one
        if found is None:
            self.check_name(name)
            found = self._own[str(name)]
        if isinstance(found, Chunks):
            return found
        import polars as pl

        ids = dict.fromkeys(pl.concat(part["doc"] for part in run.parts()).unique(maintain_order=True).to_list())
        ids |= dict.fromkeys(doc for query in labelled or () for doc in query.relevant if found.search(doc))
        return Chunks.of_ids(ids, found, name=run.name)

    def within(
        self,
        run: Run | RunParts,
        contract: Contract,
        name: str | None,
        budget: float,
        corpus: Mapping[str, str] | None,
    ) -> Run:
        """The run without the chunks behind the longest prefix of each list that fits into a context budget."""
        from rankgauge.engine.chunks import ChunkTexts, Context, Parents, collapse

        chunks = self.chunks_of(name, run)
        each = Parents({chunk: chunk for part in run.parts() for chunk in part["doc"]}, "")  # every chunk for itself
        context = Context(ChunkTexts(chunks, corpus, self.length), contract, budget)
        return collapse(run, each, context)[0]

    def contract_choices(self, name: str | None) -> dict[str, Any]:
        found = self.one if self.one is not None else self._own.get(name or "")
        return {"overlap": self.share, "chunk_ids": found.pattern if isinstance(found, re.Pattern) else None}

    def labels(self, labelled: TestSet, chunks: Chunks) -> SpanLabels:
        key = id(labelled), id(chunks)
        known = self._resolved.get(key)
        if known is None or known.test_set is not labelled or known.chunks is not chunks:
            known = self._resolved[key] = SpanLabels(labelled, chunks, self.share)
        return known

    def shared_qrels(self, labelled: TestSet) -> Qrels | None:
        """The judgments of all systems; None where each has its own chunks, and so its own judgments."""
        return self.labels(labelled, self.one).qrels(self.share) if isinstance(self.one, Chunks) else None

    def _texts(self, chunks: Chunks, corpus: Mapping[str, str] | None) -> BudgetTexts | None:
        """What measures with a context budget need: the texts of chunks, as they tell them, or by their places in the
        corpus, or by their ids in it."""
        texts: Mapping[str, str] = chunks.texts
        if corpus is not None:
            if len(texts) < len(chunks):
                from rankgauge.engine.chunks import ChunkTexts

                known = ChunkTexts(chunks, corpus)
                texts = {own: text for own in chunks if (text := known.text(own)) is not None}
            texts = ChainMap(dict(texts), corpus)  # type: ignore[arg-type]
        return BudgetTexts(texts, self.length) if texts else None

    def scored(
        self,
        labelled: TestSet,
        run: Run | RunParts,
        plan: Plan,
        name: str | None,
        corpus: Mapping[str, str] | None,
        stream: bool,
    ) -> tuple[ScoreTable, Plan]:
        """The scores, and the plan, whose contract and measures tell that labels are passages."""
        chunks = self.chunks_of(name, run, labelled)
        labels = self.labels(labelled, chunks)
        contract = plan.contract.with_changes(**self.contract_choices(name))
        plan = replace(plan, contract=contract, measures=[of_passages(measure) for measure in plan.measures])
        texts = self._texts(chunks, corpus)
        table = score(labels.qrels(self.share), run, plan.measures, contract, texts=texts, stream=stream, labels=labels)
        found = Passages(
            labels=labels.labels,
            spans=labels.spans,
            by_text=labels.by_text,
            in_no_chunk=labels.in_no_chunk(self.share),
            split=labels.split,
            unknown=_unknown(run, chunks),
            misread=labels.misread[0],
            compared=labels.misread[1],
            overlaps=_at_overlaps(labels, run, plan, texts, self.share),
        )
        return replace(table, coverage=replace(table.coverage, passages=found)), plan


def _unknown(run: Run | RunParts, chunks: Chunks) -> int:
    """How many different ids of a run are not among the chunks; all of them are a mistake."""
    import polars as pl

    ids = pl.concat(part["doc"] for part in run.parts()).unique(maintain_order=True).to_list()
    missing = [chunk for chunk in ids if chunk not in chunks]
    if missing and len(missing) == len(ids):
        known = next(iter(chunks), "")
        raise DataError(
            f"{run.name}: none of its ids is among the chunks of {chunks.name}: {missing[0]!r} in the run, {known!r} "
            "among the chunks; give the chunks that this run was made with"
        )
    return len(missing)


def _at_overlaps(
    labels: SpanLabels, run: Run | RunParts, plan: Plan, texts: BudgetTexts | None, own: float
) -> list[AtOverlap]:
    """The means at other overlaps, of the measures that depend on one."""
    asked: Sequence[Measure] = [m for m in plan.measures if "characters" not in m.definition.needs]
    if not labels.spans or not asked:
        return []
    if not isinstance(run, Run):
        import polars as pl

        run = Run.of_frame(pl.concat(run.parts()), run.name)
    found = []
    for overlap in sorted({*OVERLAPS, own}):
        contract = plan.contract.with_changes(overlap=overlap)
        table = score(labels.qrels(overlap), run, asked, contract, texts=texts)
        means = dict(zip(table.measures, table.aggregates.tolist(), strict=True))
        found.append(AtOverlap(overlap, labels.in_no_chunk(overlap), means))
    return found
