"""`evaluate`: judgments and runs of any kind in, means with intervals and all that a reader must know out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.engine.matching import BudgetTexts
from rankgauge.engine.scoring import score
from rankgauge.errors import DataError, RankgaugeError, counted
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.evaluation.inputs import hashed, read_judgments, read_run
from rankgauge.evaluation.notes import notes_of
from rankgauge.evaluation.plan import DEFAULT_MEASURES, Plan, make_plan
from rankgauge.evaluation.recording import record_of
from rankgauge.evaluation.rising import rising_list
from rankgauge.evaluation.scores import Scores
from rankgauge.formats import RunParts, load_chunks, load_corpus
from rankgauge.formats.names import run_name
from rankgauge.measures import Measure
from rankgauge.measures.explanations import sentence
from rankgauge.model.chunks import Chunks, GivenChunks
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run
from rankgauge.model.scores import ScoreTable
from rankgauge.model.testset import TestSet, as_testset
from rankgauge.record import Record
from rankgauge.record.frames import bounds_of
from rankgauge.record.result import Result
from rankgauge.words import Language, Note, tell

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.engine.chunks import Context
    from rankgauge.evaluation.passages import PassageScoring
    from rankgauge.evaluation.per_query import PerQuery

__all__ = ["Evaluation", "Scoring", "evaluate"]


@named_arguments
class Evaluation(Scores, Result):
    """Scores of one run: `.mean`, `.interval`, `.per_query`, `.warnings`, `.contract`, `.coverage`, `.record`."""

    def __init__(
        self,
        table: ScoreTable,
        plan: Plan,
        name: str | None = None,
        *,
        sources: Mapping[str, Any] | None = None,
        test_set: TestSet | None = None,
        conversations: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(table, plan, name, conversations=conversations)
        self.sources = dict(sources or {})
        self.test_set = test_set

    @cached_property
    def per_query(self) -> PerQuery:
        """One row for each counted query, one column for each measure, found under any of its spellings."""
        from rankgauge.evaluation.per_query import PerQuery  # takes polars, which dictionaries do without

        return PerQuery(self, {query.id: query.text for query in self.test_set or () if query.text != query.id})

    @cached_property
    def notes(self) -> list[Note]:
        """What a careful reader must know beside the scores."""
        return notes_of(self)

    @property
    def warnings(self) -> list[str]:
        """What a careful reader must be warned of, in English."""
        return [tell(note, "en") for note in self.notes if note.level == "warning"]

    def sentences(self, language: Language = "en") -> dict[str, str]:
        """One plain sentence about each result."""
        return {str(m): sentence(m, self.mean[m], language) for m in self.measures}

    @cached_property
    def record(self) -> Record:
        """The result document. Files among the inputs are hashed, so that a gate or `verify` knows them again."""
        return record_of([self], inputs=hashed(self.sources), test_set=self.test_set)

    def to_frame(self) -> pl.DataFrame:
        """One row for each measure: its mean, the confidence interval and the queries that count."""
        import polars as pl

        counted = self.table.counted.sum(axis=0).tolist()
        return pl.DataFrame(
            {
                "measure": list(self.mean),
                "mean": list(self.mean.values()),
                **bounds_of(list(self.interval.values())),
                "queries": counted,
            }
        )

    def to_json(self) -> str:
        return self.record.to_json()


@dataclass(frozen=True)
class Scoring:
    """How runs are scored: the plan, and the other choices of `evaluate`, which every function that scores takes."""

    plan: Plan
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None
    tokenizer: Callable[[str], int] | None = None
    stream: bool = False
    chunks: GivenChunks | None = None
    overlap: float | None = None
    cut: float | None = None
    """Chunks behind the longest prefix that fits into this context budget are left out of every list."""
    conversations: ConversationRule = None
    own_chunks: bool = False
    """Whether a retriever may bring its chunks along."""

    def __post_init__(self) -> None:
        if self.collapse_chunks is not None and self.chunks is not None:
            raise RankgaugeError(
                "`collapse_chunks=` merges chunks into documents, and `chunks=` brings the labels onto chunks: give "
                "one of them"
            )
        if self.overlap is not None:
            Contract(overlap=self.overlap)  # which refuses what is no share
        if not self.own_chunks:
            self.check_overlap()
        chunked = isinstance(self.collapse_chunks, Chunks | os.PathLike) or self.chunks is not None
        if self.tokenizer is not None and self.corpus is None and not chunked:
            raise RankgaugeError("a tokenizer measures texts: give `corpus` too")
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise DataError(f"`tokenizer` must be a function that gives a text its length, not {self.tokenizer!r}")
        if not isinstance(self.corpus, str | os.PathLike | Mapping | None):
            raise DataError(
                "a corpus is a mapping from document id to text, or the path of a file, not a "
                f"{type(self.corpus).__name__}"
            )

    def check_overlap(self) -> None:
        """Raise an error where there are no chunks that an overlap could be of."""
        if self.overlap is not None and self.chunks is None:
            raise RankgaugeError(
                "`overlap=` is the share of a passage that a chunk must hold to be relevant: give `chunks=` too"
            )

    @cached_property
    def rule(self) -> str | re.Pattern[str] | Mapping[str, str] | Chunks | None:
        """What merges chunks into documents; a mapping in a file is read."""
        given = self.collapse_chunks
        return load_chunks(given) if isinstance(given, os.PathLike) else given

    @cached_property
    def documents(self) -> Mapping[str, str] | None:
        """The texts of the documents; those in a file are read."""
        return load_corpus(self.corpus) if isinstance(self.corpus, str | os.PathLike) else self.corpus

    @property
    def texts(self) -> BudgetTexts | None:
        """What measures with a context budget need."""
        return None if self.documents is None else BudgetTexts(self.documents, self.tokenizer or len)

    @cached_property
    def passages(self) -> PassageScoring | None:
        """How labels are brought onto chunks, where chunks are given."""
        if self.chunks is None:
            return None
        from rankgauge.evaluation.passages import PassageScoring  # few runs are of chunks

        return PassageScoring(self.chunks, self.overlap, self.tokenizer or len)

    @property
    def context(self) -> Context | None:
        """What measures with a context budget need where chunks are merged: the budget is that of the chunks."""
        budgets = any(measure.get("budget") is not None for measure in self.plan.measures)
        if self.rule is None or (not budgets and self.cut is None):
            return None
        from rankgauge.engine.chunks import ChunkTexts, Context

        return Context(ChunkTexts(self.rule, self.documents, self.tokenizer or len), self.plan.contract, self.cut)

    def changed(self, **changes: Any) -> Scoring:
        """With other choices; passages are not looked for again where their chunks stay."""
        made = replace(self, **changes)
        if "passages" in vars(self) and not {"chunks", "overlap", "tokenizer"} & changes.keys():
            vars(made)["passages"] = self.passages
        return made

    def sources(self, qrels: Any, runs: Mapping[str, Any]) -> dict[str, Any]:
        """All inputs by their roles."""
        named = {f"run:{name}": run for name, run in runs.items()}
        chunks = self.collapse_chunks if isinstance(self.collapse_chunks, os.PathLike) else None
        given = {"judgments": qrels, **named, "corpus": self.corpus, "collapse_chunks": chunks}
        if isinstance(self.chunks, Mapping) and not isinstance(self.chunks, Chunks):
            return given | {f"chunks:{name}": own for name, own in self.chunks.items()}
        return given | {"chunks": self.chunks}

    def check_labels(self, test_set: TestSet | None) -> None:
        """Raise an error where labels are quoted texts alone that stand nowhere: whatever is found would score 0."""
        if self.passages is not None or test_set is None:
            return
        quoted = [
            query.id
            for query in test_set
            if not query.relevant and any(not span.doc and span.grade > 0 for span in query.spans)
        ]
        if quoted:
            raise DataError(
                f"{test_set.name}: the labels of {counted(len(quoted), 'query')}, such as {quoted[0]!r}, are quoted "
                "texts alone, and nothing says where these stand: say what the chunks are, `chunks=`, or bind them to "
                "documents with rankgauge testset anchor"
            )

    def opened(self, run: Any, name: str | None) -> tuple[Run | RunParts, Plan]:
        """A run with its chunks merged, and the plan, whose contract tells so."""
        opened = read_run(run, name, stream=self.stream)
        if self.passages is not None and self.cut is not None:
            return self.passages.within(opened, self.plan.contract, name, self.cut, self.documents), self.plan
        if self.rule is None:
            return opened, self.plan
        from rankgauge.engine.chunks import collapse

        merged, told = collapse(opened, self.rule, self.context)
        return merged, replace(self.plan, contract=self.plan.contract.with_changes(collapse=told))

    def evaluation(self, qrels: Any, run: Any, name: str | None = None) -> Evaluation:
        """The scores of one run."""
        check_text("name", name)
        judgments, test_set = read_judgments(qrels)
        opened, plan = self.opened(run, name)
        self.check_labels(test_set)
        if self.passages is None:
            table = score(judgments, opened, plan.measures, plan.contract, texts=self.texts, stream=self.stream)
        else:
            labelled = test_set if test_set is not None else as_testset(judgments)
            table, plan = self.passages.scored(labelled, opened, plan, name, self.documents, self.stream)
        called = name or (run_name(run) if isinstance(run, str | os.PathLike) else table.name)
        sources = self.sources(qrels, {called: run})
        turns = conversations_of(self.conversations, table.queries, test_set)
        made = Evaluation(table, plan, called, sources=sources, test_set=test_set, conversations=turns)
        made.rising = rising_list(opened, plan.contract)
        if self.passages is None:
            made.spans = sum(len(query.spans) for query in test_set or ())
        return made


@named_arguments
def evaluate(
    qrels: Qrels | TestSet | Mapping[str, Mapping[str, float]] | str | os.PathLike[str] | Any,
    run: Run | Mapping[str, Any] | str | os.PathLike[str] | Any,
    measures: str | Measure | Sequence[str | Measure] = DEFAULT_MEASURES,
    *,
    contract: str | Contract | None = None,
    ties: str | None = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    duplicates: str | None = None,
    depth: int | None = None,
    rel: float | None = None,
    threshold: float | None = None,
    collapse_chunks: str | re.Pattern[str] | os.PathLike[str] | Mapping[str, str] | Chunks | None = None,
    corpus: Mapping[str, str] | str | os.PathLike[str] | None = None,
    tokenizer: Callable[[str], int] | None = None,
    stream: bool = False,
    conversations: ConversationRule = None,
    name: str | None = None,
    chunks: GivenChunks | None = None,
    overlap: float | None = None,
) -> Evaluation:
    """Score a run against judgments.

    Both may be dictionaries of dictionaries, `Qrels`/`Run`, data frames of polars, pandas or pyarrow, or paths; they
    are only read. `contract` names a preset such as 'trec_eval', or is a `Contract`; the single choices override it.
    `rel` is the least grade that counts as relevant, `threshold` the score that a list's first document needs for the
    query to count as answered (`Handled`, and `.no_answer` where queries have none). `collapse_chunks` merges chunks
    into documents first: a regular expression whose first group is the document's id, a mapping from chunk to document,
    `Chunks`, or a `Path` to one. `corpus`, texts by id or a path, and `tokenizer`, which gives a text its length, serve
    measures with a context budget; where chunks are merged, it is the chunks that must fit, so their texts are needed
    (`Chunks`, or in the corpus by their ids).

    `chunks` says what the ids of the run stand for where it returns chunks and the labels are passages or documents:
    `Chunks`, the path of a file of them, or a compiled expression that reads document, start and end from an id. A
    chunk is relevant to a passage if it holds at least the share `overlap` of it (default: 0.5), or lies wholly inside
    it; recall then counts passages.

    `conversations` tells which queries are turns of one conversation, where the test set does not: a regular expression
    whose first group in a query's id is the conversation, a mapping from query to conversation, or a `Path` to one.
    Intervals then take conversations for independent, not queries.
    """
    plan = make_plan(measures, contract, ties, missing, no_relevant, duplicates, depth, rel, threshold)
    scoring = Scoring(plan, collapse_chunks, corpus, tokenizer, stream, chunks, overlap, conversations=conversations)
    return scoring.evaluation(qrels, run, name)
