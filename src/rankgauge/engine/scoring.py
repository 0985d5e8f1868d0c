"""Judgments, run and measures in; a score table out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.engine.averaging import aggregate, byte_order
from rankgauge.engine.matching import BudgetTexts, CharacterLabels, Matched, match
from rankgauge.errors import ContractError, DataError, MeasureError
from rankgauge.measures import Measure
from rankgauge.measures.gain import gain_of
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.ranked import Bools, Floats, Ints, RankedGrades
from rankgauge.model.run import Run
from rankgauge.model.scores import Coverage, Grades, Lengths, ScoreTable

if TYPE_CHECKING:
    from rankgauge.engine.spans import SpanLabels
    from rankgauge.formats import RunParts

__all__ = ["counted_queries", "score", "score_matched", "score_queries"]


_DEEPEST = 2**62
"""Documents; no list has more."""


def score(
    qrels: Qrels,
    run: Run | RunParts,
    measures: Sequence[Measure],
    contract: Contract,
    *,
    texts: BudgetTexts | None = None,
    stream: bool = False,
    labels: SpanLabels | None = None,
) -> ScoreTable:
    """Score one run. `texts` gives documents their length, for measures with a context budget; `labels` are the
    passages that the judgments were made from, for measures of characters."""
    budgets = [measure for measure in measures if measure.get("budget") is not None]
    measured = isinstance(run, Run) and run.mapping is None and "context" in run.frame.columns  # of merged chunks
    if budgets and texts is None and not measured:
        raise DataError(f"{budgets[0]} needs the texts of the documents: give them with `corpus=`")
    of_characters = [measure for measure in measures if "characters" in measure.definition.needs]
    if (budgets or of_characters) and contract.ties == "expected":
        raise ContractError(
            f"{(budgets or of_characters)[0]} needs one order of the list; choose `ties='trec'`, `ties='stable'` or "
            "`ties='given'`"
        )
    limits = {int(measure.get("budget")) for measure in budgets}
    spans = CharacterLabels(labels, _deepest(of_characters)) if labels is not None and of_characters else None
    matched = match(qrels, run, contract, limits=limits, texts=texts, stream=stream, spans=spans)
    return score_matched(qrels, matched, measures, contract, name=run.name, texts=texts)


def score_matched(
    qrels: Qrels,
    matched: Matched,
    measures: Sequence[Measure],
    contract: Contract,
    *,
    name: str,
    texts: BudgetTexts | None = None,
) -> ScoreTable:
    """Score a run whose judged documents were found, wherever that was."""
    ranked = matched.ranked if contract.depth is None else matched.ranked.limited(contract.depth)
    missing = ~ranked.in_run & ~_apart(ranked, contract)
    if contract.missing == "error" and missing.any():
        first = [ranked.queries[i] for i in np.flatnonzero(missing)[:5]]
        raise ContractError(
            f"{name}: {int(missing.sum())} judged queries are missing from the run, such as "
            f"{', '.join(map(repr, first))}; count them with `missing='zero'` or leave them out with `missing='skip'`"
        )
    values, sampled = score_queries(ranked, measures)
    _require_numbers(values, measures, ranked)
    counted = counted_queries(ranked, measures, contract)
    order = byte_order(ranked.queries)
    totals = [aggregate(m.definition.aggregate, values[:, j], counted[:, j], order) for j, m in enumerate(measures)]
    return ScoreTable(
        name=name,
        queries=ranked.queries,
        measures=[str(measure) for measure in measures],
        values=values,
        counted=counted,
        aggregates=np.array(totals, dtype=np.float64),
        in_run=ranked.in_run,
        retrieved=ranked.retrieved,
        contract=contract,
        coverage=replace(
            _coverage(qrels, ranked, measures, matched, order, texts, contract),
            ceilings=_ceilings(ranked, measures, counted, order, contract.depth),
        ),
        sampled=sampled,
        top=ranked.top,
        scored=_has_scores(matched.ranked),
        no_answer=ranked.no_answer,
        answerable=_answerable(ranked, contract),
    )


def _has_scores(ranked: RankedGrades) -> bool:
    """Whether first scores differ by more than the lengths of their lists.

    Those of lists of ids count down from the length of the list, or from the same number (ranks turned into scores).
    """
    if ranked.top is None:
        return False
    known = np.isfinite(ranked.top)
    top, lengths = ranked.top[known], ranked.retrieved[known]
    return bool(len(top) and (top != top[0]).any() and (top != lengths).any())


def _answerable(ranked: RankedGrades, contract: Contract) -> Bools | None:
    """Queries with an answer, beside those without one."""
    if ranked.no_answer is None:
        return None
    from rankgauge.measures import parse_measure

    return counted_queries(ranked, [parse_measure("Handled")], contract)[:, 0] & ~ranked.no_answer


def _apart(ranked: RankedGrades, contract: Contract) -> Bools:
    """Which queries have no answer and are judged by that alone."""
    if ranked.no_answer is None or contract.no_answer == "count":
        return np.zeros(len(ranked), dtype=bool)
    return ranked.no_answer


def _deepest(measures: Sequence[Measure]) -> int | None:
    """The greatest depth; None where one of them looks at the whole list, or as far as a budget goes."""
    depths = [measure.at for measure in measures if measure.definition.at is not None]
    return None if None in depths else max((int(at) for at in depths if at is not None), default=0)


def _require_numbers(values: Floats, measures: Sequence[Measure], ranked: RankedGrades) -> None:
    """A measure from elsewhere may be undefined for a query; a mean over the others would be of another quantity."""
    if np.isfinite(values).all():
        return
    row, j = (int(place) for place in np.argwhere(~np.isfinite(values))[0])
    raise MeasureError(
        f"{measures[j]} is no finite number for query {ranked.queries[row]!r}; a measure has to give one for every "
        "query, such as 0 where it is undefined"
    )


def score_queries(ranked: RankedGrades, measures: Sequence[Measure]) -> tuple[Floats, dict[str, int]]:
    """One column for each measure; and for which of them tied orders had to be drawn, for how many queries."""
    values = np.zeros((len(ranked), len(measures)))
    drawn: dict[str, int] = {}
    for j, measure in enumerate(measures):
        if measure.exact_over_ties(ranked):
            values[:, j] = measure.score(ranked)
            continue
        from rankgauge.engine.orders import expected_scores  # few evaluations need it

        values[:, j], queries = expected_scores(ranked, measure)
        if queries:
            drawn[str(measure)] = queries
    return values, drawn


def has_relevant(ranked: RankedGrades, measure: Measure) -> Bools:
    """Which queries have a document that this measure can reward."""
    if measure.get("gains") is not None:
        rewarded = gain_of(ranked.judged_grades, measure) > 0
        return np.bincount(ranked.judged_owner[rewarded], minlength=len(ranked)) > 0
    graded = not measure.definition.relevance or measure.get("grades") == "scaled"
    rel = None if graded else measure.get("rel")
    if rel is None:
        return ranked.cached(
            "has_gain", lambda: np.bincount(ranked.judged_owner[ranked.judged_grades > 0], minlength=len(ranked)) > 0
        )
    return ranked.n_relevant(rel) > 0


def counted_queries(ranked: RankedGrades, measures: Sequence[Measure], contract: Contract) -> Bools:
    """Which queries enter the mean of which measure, under the contract."""
    counted = np.ones((len(ranked), len(measures)), dtype=bool)
    if contract.missing == "skip":
        counted &= ranked.in_run[:, None]
    for j, measure in enumerate(measures):
        if contract.no_relevant == "skip":
            counted[:, j] &= has_relevant(ranked, measure)
        if ranked.no_answer is not None and "no_answer" in measure.definition.needs:
            counted[ranked.no_answer, j] = True  # a file has no other way to return nothing than to lack the query
        elif ranked.no_answer is not None and contract.no_answer == "skip":
            counted[ranked.no_answer, j] = False
    return counted


def _ceilings(
    ranked: RankedGrades, measures: Sequence[Measure], counted: Bools, order: Ints, depth: int | None
) -> dict[str, float]:
    """The greatest means of R@k and P@k: of n relevant documents min(k, n) are among the first k at best.

    R@k: mean of min(k, n) / n, below 1 where a query has more than k; P@k: mean of min(k, n) / k, below 1 where one has
    fewer.
    """
    found: dict[str, float] = {}
    for j, measure in enumerate(measures):
        if measure.name not in ("R", "P") or not isinstance(measure.at, int) or {*dict(measure.values)} - {"rel"}:
            continue
        relevant = ranked.n_relevant(float(measure.get("rel")))
        best = np.minimum(relevant, min(measure.at, depth or _DEEPEST, _DEEPEST))
        shares = best / (np.maximum(relevant, 1) if measure.name == "R" else float(measure.at))
        ceiling = aggregate("mean", shares, counted[:, j], order)
        if ceiling < 1:
            found[str(measure)] = ceiling
    return found


def _depths(measures: Iterable[Measure]) -> list[int]:
    depths = {int(m.at) for m in measures if m.at is not None and isinstance(m.at, int)}
    return sorted({10} | {max(depths)} if depths else {10})


def _lengths(ranked: RankedGrades) -> Lengths | None:
    longest = int(ranked.retrieved.max(initial=0))
    if not longest:
        return None
    full = ranked.retrieved == longest
    found = np.bincount(ranked.owner[ranked.grades > 0], minlength=len(ranked))
    wanted = np.bincount(ranked.judged_owner[ranked.judged_grades > 0], minlength=len(ranked))
    return Lengths(
        lists=int((ranked.retrieved > 0).sum()),
        longest=longest,
        at_longest=int(full.sum()),
        incomplete=int((full & (found < wanted)).sum()),
    )


def _grades(grades: Floats) -> Grades | None:
    above = grades[grades > 0]
    if not len(above):
        return None
    known: list[float] = []
    other = np.ones(len(above), dtype=bool)
    while len(known) < 5 and other.any():  # no sorting of millions to count a few
        known.append(float(above[np.argmax(other)]))
        other &= above != known[-1]
    return Grades(float(above.min()), float(above.max()), len(known))


def _coverage(
    qrels: Qrels,
    ranked: RankedGrades,
    measures: Sequence[Measure],
    matched: Matched,
    order: Ints,
    texts: BudgetTexts | None,
    contract: Contract,
) -> Coverage:
    from rankgauge.measures import parse_measure

    rels = [m.get("rel") for m in measures if m.definition.relevance and m.get("rel") is not None]
    rel = rels[0] if rels else 1.0
    others = ~_apart(ranked, contract)
    answered = (ranked.retrieved > 0) & others
    judged_at = {}
    if not qrels.only_relevant and answered.any():
        for depth in _depths(measures):
            judged_at[depth] = aggregate("mean", parse_measure(f"Judged@{depth}").score(ranked), answered, order)
    return Coverage(
        judged_queries=len(ranked),
        run_queries=matched.run_queries,
        missing=int((~ranked.in_run & others).sum()),
        no_relevant=int(((ranked.n_relevant(rel) == 0) & others).sum()),
        not_judged=matched.run_queries - int(ranked.in_run.sum()),
        tied_documents=int(ranked.ties_met.sum()),
        tied_queries=int((ranked.ties_met > 0).sum()),
        judged_at=judged_at,
        only_relevant=qrels.only_relevant,
        id_mismatch=None if len(ranked.grades) else matched.example_ids,
        lengths=_lengths(ranked),
        grades=_grades(ranked.judged_grades),
        collection=None if texts is None else len(texts.texts),
        no_answer=0 if ranked.no_answer is None else int(ranked.no_answer.sum()),
        ungrouped=ranked.subtopics is None and any("subtopics" in m.definition.needs for m in measures),
    )
