"""Scores that rise from the first document to the last: distances, or a list that is upside down.

One list cannot tell. All of them together can: where every list only rises, the retriever lists its best documents
first and calls a distance score, as databases and vector stores do. Then its order counts, which is the order that its
users see. Where some lists fall, scores are scores, and a list that rises is put in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rankgauge.retrievers.answers import Answer
from rankgauge.retrievers.hits import ListFault

__all__ = ["with_order_settled"]


def with_order_settled(answers: Sequence[Answer]) -> list[Answer]:
    """The answers, those with rising scores in the order that all answers together speak for."""
    several = [answer for answer in answers if len(answer.hits) > 1]
    rising = [answer for answer in several if _rising(answer) is not None]
    # Lists of equal scores say nothing; where they are the most, one that rises may have a stray document at its end.
    if 2 * len(rising) < len(several) or any(map(_falls, several)):
        return list(answers)
    return [answer if (fault := _rising(answer)) is None else _kept(answer, fault) for answer in answers]


def _rising(answer: Answer) -> ListFault | None:
    return next((fault for fault in answer.faults if fault.given), None)


def _falls(answer: Answer) -> bool:
    """Whether its scores speak against distances: some of them fall."""
    return _rising(answer) is None and answer.hits[0].score > answer.hits[-1].score


def _kept(answer: Answer, fault: ListFault) -> Answer:
    faults = [replace(own, kind="rising", given=()) if own is fault else own for own in answer.faults]
    return answer._replace(hits=list(fault.given), faults=faults)
