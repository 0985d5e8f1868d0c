"""How far reviewers agree where two of them labelled the same document."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankgauge.model.labels import Labels
from rankgauge.stats.raters import Coefficient, Ratings, coefficient

__all__ = ["ReviewerAgreement", "reviewer_agreement"]


@dataclass(frozen=True)
class ReviewerAgreement:
    """Over documents that two people or more labelled, each for himself."""

    items: int
    same: int
    """Documents to which all gave the same grade."""
    alpha: Coefficient
    """Krippendorff's alpha, ordinal, with queries as clusters."""

    @property
    def share(self) -> float:
        return self.same / self.items

    def to_dict(self) -> dict[str, Any]:
        return {"items": self.items, "same": self.same, "krippendorff_alpha_ordinal": asdict(self.alpha)}


def reviewer_agreement(labels: Labels) -> ReviewerAgreement | None:
    """The agreement of people, adjudications aside; None where no document has the labels of two."""
    own = {
        pair: {one.judge: one.grade for one in voices if one.kind == "person" and not one.adjudicates}
        for pair, voices in labels.voices.items()
    }
    own = {pair: grades for pair, grades in own.items() if len(grades) > 1}
    if not own:
        return None
    judges = sorted({judge for grades in own.values() for judge in grades})
    queries = {query: i for i, query in enumerate(dict.fromkeys(query for query, _ in own))}
    table = np.full((len(own), len(judges)), np.nan)
    for row, grades in enumerate(own.values()):
        for judge, grade in grades.items():
            table[row, judges.index(judge)] = grade
    clusters = np.asarray([queries[query] for query, _ in own])
    same = sum(len(set(grades.values())) == 1 for grades in own.values())
    return ReviewerAgreement(len(own), same, coefficient("krippendorff_alpha_ordinal", Ratings(table, clusters)))
