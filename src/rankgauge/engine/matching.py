"""The seam between data and kernels: (judgments, run) to ranks and grades of the judged documents.

`match` chooses how: dictionaries directly, columns in memory, or a file part by part. All of them give the same
`RankedGrades`; another implementation of this one function can take their place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.engine.match_mappings import match_mappings
from rankgauge.engine.match_native import NativeMatch, match_native, match_native_frames, match_native_mappings
from rankgauge.engine.match_text import TextMatcher
from rankgauge.errors import DataError, FormatError
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.lengths import length_of
from rankgauge.model.ranked import Floats, RankedGrades
from rankgauge.model.run import Run
from rankgauge.model.text_rows import IrregularTextError, TextRows
from rankgauge.native import native

if TYPE_CHECKING:
    import polars as pl

    from rankgauge.engine.match_frames import Budgets
    from rankgauge.engine.spans import SpanLabels
    from rankgauge.formats import RunParts, Source

__all__ = ["BudgetTexts", "CharacterLabels", "Matched", "checked_ids", "marked_no_answer", "match"]


@dataclass(frozen=True, eq=False, repr=False)
class Matched:
    """The kernels' view of a run, how many queries the run has in all, and ids to show in messages."""

    ranked: RankedGrades
    run_queries: int
    example_ids: tuple[str, str] | None = None
    """A document of the run and a judged one, where none of the judged was found."""


@dataclass(frozen=True, eq=False, repr=False)
class BudgetTexts:
    """Texts of the documents and how to measure them: by characters, or by a tokenizer's count."""

    texts: Mapping[str, str]
    length: Callable[[str], int] = len

    def cost(self, docs: pl.Series) -> Floats:
        """Length of each document."""
        known: dict[str, float] = {}
        for doc in docs.unique().to_list():
            if doc not in self.texts:
                raise DataError(
                    f"document {doc!r} was retrieved, but the corpus has no text for it; "
                    "a context budget needs the text of every retrieved document"
                )
            known[doc] = length_of(self.texts[doc], self.length)
        return np.array([known[doc] for doc in docs.to_list()], dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class CharacterLabels:
    """Gold passages whose characters are counted, down to a depth of the lists."""

    labels: SpanLabels
    depth: int | None


def match(
    qrels: Qrels,
    run: Run | RunParts,
    contract: Contract,
    *,
    limits: set[int] | None = None,
    texts: BudgetTexts | None = None,
    stream: bool = False,
    spans: CharacterLabels | None = None,
) -> Matched:
    """Find the judged documents in the run. `limits` are the context budgets to be counted, `spans` the passages whose
    characters are."""
    return marked_no_answer(_match(qrels, run, contract, limits, texts, stream, spans), qrels)


def marked_no_answer(found: Matched, qrels: Qrels) -> Matched:
    """The same, with the queries marked that have no answer."""
    if not qrels.no_answer:
        return found
    marked = np.fromiter(map(qrels.no_answer.__contains__, found.ranked.queries), bool, len(found.ranked))
    return replace(found, ranked=replace(found.ranked, no_answer=marked))


def _match(
    qrels: Qrels,
    run: Run | RunParts,
    contract: Contract,
    limits: set[int] | None,
    texts: BudgetTexts | None,
    stream: bool,
    spans: CharacterLabels | None,
) -> Matched:
    plain = not limits and spans is None
    if isinstance(run, Run) and run.mapping is not None and qrels.mapping is not None and plain and not stream:
        ranked = match_native_mappings(qrels, run, contract)
        if ranked is None:
            ranked = match_mappings(qrels, run, contract)
        matched = Matched(ranked, len(run.mapping))
        _require_overlap(matched, qrels, list(run.mapping)[:5], run.name)
        return matched if len(ranked.grades) else replace(matched, example_ids=_require_same_ids(qrels, run))
    text = None if isinstance(run, Run) else run.text
    if not isinstance(run, Run) and text is not None and qrels.text is not None and plain and not contract.drop_self:
        matched_text = _match_text(qrels, qrels.text, run, text, contract)
        if matched_text is not None:
            return matched_text
    if isinstance(run, Run) and plain and not stream:
        matched_rows = _compiled(match_native_frames(qrels, run, contract), qrels, run.name)
        if matched_rows is not None:
            return matched_rows
    return _match_frames(qrels, run, contract, limits or set(), texts, stream, spans)


def _compiled(found: NativeMatch | None, qrels: Qrels, name: str) -> Matched | None:
    """What the compiled module found; where that is nothing, others look for the reason."""
    if found is None or not len(found.ranked.grades):
        return None
    matched = Matched(found.ranked, found.run_queries)
    _require_overlap(matched, qrels, found.first_queries, name)
    return matched


def _match_text(qrels: Qrels, judgments: TextRows, run: RunParts, text: Source, contract: Contract) -> Matched | None:
    """Plain TREC text on both sides needs no data frames; None where it is not that plain."""
    if run.is_large and not run.seems_grouped:
        return None  # before the compiled module gathers the whole file
    compiled = _compiled(match_native(judgments, text, contract), qrels, run.name)
    if compiled is not None:
        return compiled
    try:
        rows = run.rows()
        ranked = (matcher := TextMatcher(judgments, contract)).add_all(rows)
    except IrregularTextError:
        return None
    if not len(ranked.grades):
        return None
    matched = Matched(ranked, matcher.run_queries)
    _require_overlap(matched, qrels, matcher.first_queries, run.name)
    return matched


def _match_frames(
    qrels: Qrels,
    run: Run | RunParts,
    contract: Contract,
    limits: set[int],
    texts: BudgetTexts | None,
    stream: bool,
    spans: CharacterLabels | None,
) -> Matched:
    from rankgauge.engine.characters import CharacterCounts
    from rankgauge.engine.match_frames import FrameMatcher, JudgmentIndex, NotGroupedError
    from rankgauge.engine.spilling import by_query

    if stream and isinstance(run, Run):
        raise FormatError(
            run.name,
            ["a run in memory cannot be streamed: give the path of a file or a folder, or leave out `stream=True`"],
        )
    index = JudgmentIndex.kept(qrels)
    budgets: Budgets = {f"budget={limit}": ((texts or BudgetTexts({})).cost, limit) for limit in limits}

    unique = not isinstance(run, Run) and not run.repeats
    ruled = contract.with_changes(duplicates="error") if unique else contract

    def gather(parts: Iterable[pl.DataFrame]) -> FrameMatcher:
        characters = None if spans is None else CharacterCounts(spans.labels, index.judged.queries, spans.depth)
        matcher = FrameMatcher(index, ruled, run, budgets, characters)
        for part in parts:
            matcher.add(part)
        matcher.add_empty(run.empty)
        return matcher

    try:
        matcher = gather([run.frame] if isinstance(run, Run) else _ahead(_whole_queries(_told(run))))
    except NotGroupedError:
        import polars as pl

        if not isinstance(run, Run) and not limits and spans is None and not stream and _may_hold(run):
            frame = pl.concat(run.parts())
            if not any(True for _ in run.empty):
                whole = Run.of_frame(frame, run.name)
                if (matched_rows := _compiled(match_native_frames(qrels, whole, ruled), qrels, run.name)) is not None:
                    return matched_rows
            del frame
        if isinstance(run, Run) or not (stream or run.is_large):
            matcher = gather([pl.concat(run.parts()).sort("query", maintain_order=True)])
        else:
            matcher = gather(by_query(_ahead(_told(run)), run))
            matcher.first_queries = _first_rows(run)["query"].unique(maintain_order=True).head(5).to_list()
    matched = Matched(matcher.finish(), matcher.run_queries)
    return checked_ids(matched, qrels, matcher.first_queries, run.name, lambda: _first_rows(run))


def _may_hold(run: RunParts) -> bool:
    """Whether the compiled module is here to be given the run at once."""
    return native() is not None and run.fits_module


def checked_ids(
    matched: Matched, qrels: Qrels, first_queries: list[str], name: str, sample: Callable[[], pl.DataFrame]
) -> Matched:
    """The same, if run and judgments speak of the same queries and documents. `sample` gives rows of the run, for the
    reason why no document was found."""
    _require_overlap(matched, qrels, first_queries, name)
    if len(matched.ranked.grades):
        return matched
    return replace(matched, example_ids=_require_same_ids(qrels, Run.of_frame(sample(), name)))


def _first_rows(run: Run | RunParts) -> pl.DataFrame:
    """The first part that has rows."""
    empty = None
    for part in run.parts():
        if len(part):
            return part
        empty = part
    assert empty is not None
    return empty


def _whole_queries(parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same rows, cut only between queries."""
    import polars as pl

    rest: pl.DataFrame | None = None
    for part in parts:
        if not len(part):
            continue
        frame = part if rest is None else pl.concat([rest, part])
        queries = frame["query"]
        others = np.flatnonzero((queries != queries[-1]).to_numpy())
        cut = int(others[-1]) + 1 if len(others) else 0
        if cut:
            yield frame.slice(0, cut)
        rest = frame.slice(cut)
    if rest is not None:
        yield rest


def _told(run: RunParts) -> Iterator[pl.DataFrame]:
    """The parts of a run, with how much of it was read."""
    for part in run.parts():
        run.tell("read", run.done, run.size)
        yield part


def _ahead(parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same parts, each read in a thread while the one before is worked on."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max_workers=1) as reader:
        coming = reader.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = reader.submit(next, parts, None)
            yield part


def _require_overlap(matched: Matched, qrels: Qrels, run_ids: list[str], name: str) -> None:
    if matched.ranked.in_run.any():
        return
    judged = [str(query) for query in list(matched.ranked.queries)[:5]]
    if not judged:
        raise DataError(f"{qrels.name}: there is no judged query")
    if not matched.run_queries:
        raise DataError(f"{name}: the run holds no query")
    hint = ""
    if _plain(judged) & _plain(run_ids):
        hint = "; the ids are the same numbers written differently: write them alike"
    raise DataError(
        f"{name} and {qrels.name} have no query in common{hint}. Run: {_listed(run_ids)}; judgments: {_listed(judged)}"
    )


def _require_same_ids(qrels: Qrels, run: Run) -> tuple[str, str] | None:
    """No judged document was found at all: is it that the two files write the same ids differently?

    If not, a document of the run and a judged one, for a hint.
    """
    judged, lists = qrels.to_dict(), run.to_dict()
    example = None
    for query in [query for query in judged if query in lists][:100]:
        docs, found = list(judged[query]), list(lists[query])
        if example is None and docs and found:
            example = (found[0], docs[0])
        if _plain(docs) & _plain(found) and not set(docs) & set(found):
            raise DataError(
                f"{run.name} and {qrels.name} have no document in common, because the same numbers are written "
                f"differently: {_listed(found)} in the run, {_listed(docs)} in the judgments; write them alike"
            )
    return example


def _plain(ids: list[str]) -> set[str]:
    """Ids that are numbers, in one spelling: 007, 7 and 7.0 are 7."""
    plain = set()
    for text in ids:
        try:
            value = float(text)
        except ValueError:
            continue
        if value == value and abs(value) < 1e15 and value == int(value):
            plain.add(str(int(value)))
    return plain


def _listed(ids: list[str]) -> str:
    ids = list(dict.fromkeys(ids))  # a query stands in a run once for each document
    return ", ".join(map(repr, ids[:3])) + (", ..." if len(ids) > 3 else "")
