"""Aspects of documents, criteria or nuggets that a judge graded, as subtopics: what alpha_nDCG and StRecall measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.model.judgments import Qrels
from rankgauge.model.labels import LabelPolicy, Labels
from rankgauge.retrievers.checks import check_number

__all__ = ["aspect_qrels", "check_aspects"]


@named_arguments
def aspect_qrels(labels: Labels, policy: LabelPolicy = LabelPolicy(), *, least: float = 1.0) -> Qrels:  # noqa: B008
    """Judgments whose subtopics are the aspects of the labels: a document belongs to each aspect that it covers with a
    grade of `least` or more. One that covers none is judged, and not relevant."""
    import polars as pl

    if not isinstance(labels, Labels) or not isinstance(policy, LabelPolicy):
        raise DataError("`labels` are Labels, such as load_labels gives, and `policy` is a LabelPolicy")
    check_number("least", least)
    if not labels.aspects:
        raise DataError(
            f"{labels.name}: no label is of an aspect; judge with a rubric that has criteria, or `aspects=`"
        )
    rows: list[tuple[str, str, str, float]] = []
    covered, judged = set(), dict[tuple[str, str], None]()
    for aspect in labels.aspects:
        for query, grades in labels.of_aspect(aspect).grades(policy).items():
            for doc, grade in grades.items():
                judged[query, doc] = None
                if grade >= least:
                    covered.add((query, doc))
                    rows.append((query, aspect, doc, grade))
    rows += [(query, "0", doc, 0.0) for query, doc in judged if (query, doc) not in covered]
    columns = ["query", "subtopic", "doc", "grade"]
    return Qrels(pl.DataFrame(rows, schema=columns, orient="row"), name=labels.name)


def check_aspects(aspects: Any) -> dict[str, dict[str, str]]:
    """What is to be covered, by query: names of aspects and their meanings. A list of texts names itself."""
    if not isinstance(aspects, Mapping):
        raise DataError('`aspects` are a mapping such as {"q1": {"price": "What it costs"}}')
    found: dict[str, dict[str, str]] = {}
    for query, given in aspects.items():
        own = given if isinstance(given, Mapping) else {one: one for one in given} if isinstance(given, list) else None
        if own is None or not all(isinstance(part, str) and part.strip() for pair in own.items() for part in pair):
            raise DataError(f"`aspects` of query {query!r} are texts by their names, or a list of texts")
        found[str(query)] = {name.strip(): text.strip() for name, text in own.items()}
    return found
