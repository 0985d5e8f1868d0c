"""Queries scored by a judge's labels, and those of a sample by people's too.

It takes whole queries: of one that people labelled in part nDCG and AP are not known, and which documents they chose to
label is no random draw, so such queries are refused or left out.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.errors import DataError, counted
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.model.ranked import Floats, Ints
from rankgauge.stats.prediction_powered import LEAST_CHECKED
from rankgauge.testsets.label_sets import LabelSet, read_labels
from rankgauge.testsets.rescoring import ScoredRuns, Units, pooled
from rankgauge.testsets.sampling import Sample, labels_hash, load_sample

__all__ = ["CheckedScores", "checked_scores"]

_LEAST_IN_STRATUM = 2


@dataclass(frozen=True)
class CheckedScores:
    """Scores of each unit (query or conversation) by both kinds of labels."""

    judge: dict[str, Floats]
    """By run: units by measures."""
    people: dict[str, Floats]
    """The same, NaN where nobody checked."""
    strata: Ints
    units: Units
    checked: list[str]
    """The queries that were checked."""
    labels: int
    incomplete: int
    in_order: bool
    drawn: bool
    changed: bool
    only_relevant: bool
    """Whether the judge's labels are of relevant documents alone."""


def checked_scores(
    judge: Any,
    people: Any,
    scored: ScoredRuns,
    sample: Sample | str | os.PathLike[str] | None,
    skip: bool,
    conversations: ConversationRule,
) -> CheckedScores:
    """Every unit scored by the judge's labels, and those that people labelled wholly by theirs."""
    given = load_sample(sample) if isinstance(sample, str | os.PathLike) else sample
    if given is not None and not isinstance(given, Sample):
        raise DataError(f"`sample` must be what draw_sample gave, or the path of its file, not {given!r}")
    by_judge, test_set = read_labels(judge, "judge", people=False)
    by_people, _ = read_labels(people, "people", people=True)
    own, theirs = by_judge.by_query(), by_people.by_query()
    queries = list(own)
    units = Units.by(queries, conversations_of(conversations, queries, test_set))
    wanted = _wanted(given, own, theirs, by_judge)
    checked = _whole_units([query for query, docs in wanted.items() if docs <= theirs.get(query, {}).keys()], units)
    whole = set(checked)
    left = [query for query in wanted if query not in whole]
    if left and not skip:
        lacking = sum(len(wanted[query] - theirs.get(query, {}).keys()) for query in left)
        raise DataError(
            f"{by_people.name}: not labelled wholly: {counted(len(left), 'query', 'queries')} of the sample, such as "
            f"{left[0]!r}; {counted(lacking, 'label')} lacking. Which documents people chose is no random draw, so "
            "label the rest, or leave these queries out: `incomplete='skip'`"
        )
    if len(checked) < LEAST_CHECKED:
        raise DataError(
            f"people labelled {counted(len(checked), 'query', 'queries')} wholly; with fewer than {LEAST_CHECKED} "
            "nothing can be said of the error of the judge"
        )
    depth = None if given is None else given.depth
    if depth is not None:  # by the same documents of all queries
        ranks = pooled(scored.runs.values(), queries, scored.plan, depth)
        own = {query: {doc: grade for doc, grade in own[query].items() if doc in ranks[query]} for query in queries}
    labelled = {query: _of(theirs[query], wanted[query], given is not None) for query in checked}
    f, y = scored.under(own, queries), scored.under(labelled, checked)
    order = list(wanted)
    return CheckedScores(
        judge={name: _by_unit(values, queries, units) for name, values in f.items()},
        people={name: _by_unit(values, checked, units) for name, values in y.items()},
        strata=_strata(given, units, checked),
        units=units,
        checked=checked,
        labels=sum(map(len, labelled.values())),
        incomplete=len(left),
        in_order=given is not None and order[: len(checked)] == checked,
        drawn=given is not None,
        only_relevant=by_judge.only_relevant,
        changed=given is not None and given.labels != labels_hash(by_judge),
    )


def _wanted(
    given: Sample | None, own: Mapping[str, Any], theirs: Mapping[str, Any], judge: LabelSet
) -> dict[str, set[str]]:
    """The documents that people have to have labelled, by query."""
    if given is not None:
        if unknown := [one.query for one in given.drawn if one.query not in own]:
            raise DataError(f"{judge.name}: query {unknown[0]!r} of the sample has no label of the judge any more")
        return {one.query: set(one.docs) for one in given.drawn}
    found = {query: set(own[query]) for query in own if query in theirs}
    if not found:
        raise DataError(
            f"people labelled none of the judge's queries: theirs are such as {next(iter(theirs))!r}, the judge's such "
            f"as {next(iter(own))!r}"
        )
    return found


def _whole_units(complete: Sequence[str], units: Units) -> list[str]:
    """Queries of which all that was drawn with them is labelled."""
    done, sizes = Counter(units.of[query] for query in complete), Counter(units.of.values())
    return [query for query in complete if done[units.of[query]] == sizes[units.of[query]]]


def _of(labels: Mapping[str, float], docs: set[str], drawn: bool) -> dict[str, float]:
    """What people labelled beyond a sample's pool does not count, for it was not asked of all its queries."""
    return {doc: grade for doc, grade in labels.items() if doc in docs} if drawn else dict(labels)


def _by_unit(values: Floats, queries: Sequence[str], units: Units) -> Floats:
    return np.stack([units.values(values[:, j], queries) for j in range(values.shape[1])], axis=1)


def _strata(given: Sample | None, units: Units, checked: Sequence[str]) -> Ints:
    """The stratum of each unit; all in one where too few of one are checked, which proportional shares allow."""
    one = np.zeros(len(units.names), dtype=np.int64)
    if given is None:
        return one
    of = {units.of[query]: given.strata.get(query, 0) for query in units.of}
    found = np.array([of[name] for name in units.names], dtype=np.int64)
    done = {units.of[query] for query in checked}
    numbers = [sum(of[name] == stratum for name in done) for stratum in np.unique(found).tolist()]
    return found if min(numbers) >= _LEAST_IN_STRATUM else one
