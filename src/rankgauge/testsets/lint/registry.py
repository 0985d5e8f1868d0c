"""CHECKS: the checks of test sets by name. Other packages add theirs through the entry points `rankgauge.lint`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from rankgauge.registry import Registry
from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material

__all__ = ["CHECKS", "Check", "Need", "check"]

Need = Literal[
    "texts", "corpus", "documents", "documents_or_runs", "runs", "two_runs", "labels", "against", "probe", "graded"
]
"""`texts` are those of queries, `documents` the texts of judged documents, from a corpus or the test set itself."""


@dataclass(frozen=True)
class Check:
    """A function that looks at a test set, and what it takes to look."""

    find: Callable[[Material], Iterable[Finding]]
    needs: tuple[Need, ...] = ()

    def lacks(self, material: Material) -> tuple[str, ...]:
        """What there is not."""
        return tuple(need for need in self.needs if not material.has(need))


def check(*needs: Need) -> Callable[[Callable[[Material], Iterable[Finding]]], Check]:
    """A function as a check."""
    return lambda find: Check(find, needs)


_HERE = "rankgauge.testsets.lint"
CHECKS: Registry[Check] = Registry(
    "check of test sets",
    "rankgauge.lint",
    {
        "missing-documents": f"{_HERE}.check_documents:missing_documents",
        "copied-documents": f"{_HERE}.check_documents:copied_documents",
        "empty-documents": f"{_HERE}.check_documents:empty_documents",
        "query-texts": f"{_HERE}.check_queries:query_texts",
        "repeated-queries": f"{_HERE}.check_queries:repeated_queries",
        "near-queries": f"{_HERE}.check_queries:near_queries",
        "leakage": f"{_HERE}.check_queries:leakage",
        "answer-in-query": f"{_HERE}.check_queries:answer_in_query",
        "synthetic-words": f"{_HERE}.check_queries:synthetic_words",
        "no-relevant": f"{_HERE}.check_grades:no_relevant",
        "one-relevant": f"{_HERE}.check_grades:one_relevant",
        "scale": f"{_HERE}.check_grades:scale",
        "direction": f"{_HERE}.check_direction:direction",
        "arity": f"{_HERE}.check_structure:arity",
        "groups": f"{_HERE}.check_structure:groups",
        "ids": f"{_HERE}.check_structure:ids",
        "tags": f"{_HERE}.check_structure:tags",
        "foreign-runs": f"{_HERE}.check_systems:foreign_runs",
        "coverage": f"{_HERE}.check_systems:coverage",
        "pool": f"{_HERE}.check_systems:pool",
        "saturation": f"{_HERE}.check_systems:saturation",
        "size": f"{_HERE}.check_systems:size",
        "labels": f"{_HERE}.check_judges:labels",
        "conflicts": f"{_HERE}.check_judges:conflicts",
        "judges": f"{_HERE}.check_judges:judges",
        "probe": f"{_HERE}.check_judges:probe",
    },
)
