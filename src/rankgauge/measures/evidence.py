"""Several pieces of evidence, which are needed together; and queries whose right result is nothing.

Notation: h_k relevant documents among the first k, R relevant documents in all, n documents retrieved. Groups are the
subtopics of the judgments: hops of a question, say, each of which one document serves. Where judgments have none, each
relevant document is a group of its own.
"""

from __future__ import annotations

import numpy as np

from rankgauge.errors import DataError
from rankgauge.measures.counting import hits, relevant_in_all, returned, success
from rankgauge.measures.diversity import groups_seen
from rankgauge.measures.measure import Measure
from rankgauge.measures.parameters import depth_of
from rankgauge.measures.ties import probability_of_all
from rankgauge.model.ranked import Bools, Floats, RankedGrades

__all__: list[str] = []


def all_relevant(ranked: RankedGrades, measure: Measure) -> Floats:
    total = relevant_in_all(ranked, measure)
    if ranked.has_ties:
        return np.where(total > 0, probability_of_all(ranked, measure.get("rel"), depth_of(measure, ranked)), 0.0)
    return np.where((total > 0) & (hits(ranked, measure) == total), 1.0, 0.0)


def exact_set(ranked: RankedGrades, measure: Measure) -> Floats:
    return np.where(
        returned(ranked, measure) == relevant_in_all(ranked, measure), all_relevant(ranked, measure), 0.0
    )


def all_groups(ranked: RankedGrades, measure: Measure) -> Floats:
    if ranked.subtopics is None:
        return all_relevant(ranked, measure)
    seen, groups = groups_seen(ranked, measure)
    return np.where((groups > 0) & (seen == groups), 1.0, 0.0)


def answered(ranked: RankedGrades, measure: Measure) -> Bools:
    """Which queries get an answer: their list is not empty, and its first score reaches the threshold, if there is
    one."""
    threshold, given = measure.get("threshold"), np.asarray(ranked.retrieved > 0)
    if threshold is None:
        return given
    if ranked.top is None:
        raise DataError(f"{measure} needs the scores of the lists, which are not known here")
    reached: Bools = np.greater_equal(ranked.top, threshold)  # NaN, of an empty list, does not
    return given & reached


def handled(ranked: RankedGrades, measure: Measure) -> Floats:
    given = answered(ranked, measure)
    right = given * (np.ones(len(ranked)) if measure.at is None else success(ranked, measure))
    return right if ranked.no_answer is None else np.where(ranked.no_answer, ~given, right)
