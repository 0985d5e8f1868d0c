"""One result of a list: its id and its score, whatever it is: an id, a pair, a dictionary, a document, a row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Final
from uuid import UUID

from rankgauge.errors import RetrieverError
from rankgauge.retrievers.fields import ABSENT, HOLDERS, Field, fields_of, row_of, shown, signed_path, step_text

__all__ = [
    "BARE",
    "ID_FIELDS",
    "LONGEST_ID",
    "SCORE_FIELDS",
    "Fields",
    "id_text",
    "number_of",
    "score_place",
]

# An id that the user put beside the text goes before the one that a store made up.
ID_FIELDS: Final = (
    *(f"{holder}.id" for holder in HOLDERS),
    *("id", "_id", "doc_id", "docid", "document_id", "corpus_id", "chunk_id", "node_id", "uuid"),
    *(f"{holder}.{name}" for name in ("doc_id", "docid", "document_id", "chunk_id") for holder in HOLDERS),
    "metadata.source",
)
"""Where the id of a result is looked for, in this order."""
SCORE_FIELDS: Final = (
    *("score", "_score", "similarity", "relevance_score", "-distance", "-_distance"),
    *("metadata.score", "metadata.relevance_score", "metadata.similarity", "-metadata.distance"),
)
"""Where the score is looked for, in this order; `-` stands before what is smaller for better results."""
BARE: Final = (str, bytes, UUID, Integral, type(None))
"""What can be an id by itself."""
LONGEST_ID: Final = 10_000
"""Characters; more are a text in the place of an id."""

_IDS: Final = [signed_path(text) for text in ID_FIELDS]
_SCORES: Final = [signed_path(text) for text in SCORE_FIELDS]
_NO_FIELD: Final = Field(None, ())
# Names that databases give to a column of scores, expressions included; a year or a price is no score.
_LIKE_A_SCORE: Final = re.compile(r"score|rank|dist|sim|bm25|cos|relev|[(<*/+]", re.IGNORECASE)


class Fields:
    """Where id and score of a result are: under the paths given, else in the usual places."""

    def __init__(self, id_field: str | None, score_field: str | None) -> None:
        self.id, self.score = Field(id_field, _IDS), Field(score_field, _SCORES)
        self.given = id_field is not None or score_field is not None

    def parts(self, entry: Any, rank: int) -> tuple[Any, Any, bool]:
        """Id, score (None where there is none), and whether the score is to be negated, of one result."""
        kind = type(entry)
        if kind is str or (kind is not dict and isinstance(entry, BARE)):
            if entry is not None:
                _refuse(entry, rank, self.id, self.score)
            return entry, None, False
        if (row := _columns_of(entry)) is not None:
            found, score, negative = self._of_row(entry, row, rank)
        elif isinstance(entry, tuple | list):
            found, score, negative = self._of_pair(entry, rank)
        else:
            found = self._located(entry, rank)
            score, negative = self.score.find(entry)
        if score is ABSENT:
            if self.score.given is not None:
                raise RetrieverError(
                    f"result {rank} has no {self.score.given!r}; set score_field otherwise ({fields_of(entry)})"
                )
            score = None
        return found, score, negative

    def _of_row(self, entry: Any, row: Mapping[str, Any], rank: int) -> tuple[Any, Any, bool]:
        """Of a row whose columns have names: by these, else by position, as of a pair."""
        names = list(row)
        two = len(names) == 2 and _numeric(row[names[1]])
        found, (score, negative) = self.id.find(entry)[0], self.score.find(entry)
        placed = found is ABSENT and self.id.given is None and (two or len(names) == 1)
        if placed:
            first = row[names[0]]
            found = first if isinstance(first, BARE) else self._located(first, rank)
        elif found is ABSENT:
            found = self._located(entry, rank)
        if score is ABSENT and self.score.given is None and two and (placed or _LIKE_A_SCORE.search(names[1])):
            score = row[names[1]]
        return found, score, negative

    def _of_pair(self, entry: Any, rank: int) -> tuple[Any, Any, bool]:
        """Of an (id, score) or (document, score) pair, or of a row whose parts have names such as [0]."""
        score, negative = self.score.find(entry) if self.score.given else (ABSENT, False)
        found = self.id.find(entry)[0] if self.id.given else ABSENT
        pair = len(entry) == 2 and _numeric(entry[1])
        if found is ABSENT and not self.id.given and len(entry) == 1 and isinstance(entry[0], BARE):
            found = entry[0]  # a row of one column
        score_first = not self.id.given and isinstance(entry[0], Real) and not isinstance(entry[0], Integral)
        if found is ABSENT and (not pair or score_first):
            raise RetrieverError(_no_pair(entry, rank))
        bare = isinstance(entry[0], BARE)
        if found is ABSENT:
            if bare and self.id.given is not None:
                _refuse(entry, rank, self.id, _NO_FIELD)
            found = entry[0] if bare else self._located(entry[0], rank)
        if score is ABSENT and self.score.given is not None:
            if not bare:  # of a document beside its score
                score, negative = self.score.find(entry[0])
            if score is ABSENT:
                _refuse(entry, rank, _NO_FIELD, self.score)
        if score is ABSENT and pair:
            score = entry[1]
        return found, score, negative

    def _located(self, entry: Any, rank: int) -> Any:
        found = self.id.find(entry)[0]
        if found is ABSENT:
            place = f"under {self.id.given!r}" if self.id.given else "in any of the usual places"
            meant = "" if self.id.given is None else _meant(self.id.given, entry)
            raise RetrieverError(
                f"result {rank} has no id {place}; {meant}name the field that holds it with id_field "
                f"({fields_of(entry)})"
            )
        return found


def _meant(given: str, entry: Any) -> str:
    """The same field, where it lies below one that holds what the user stored."""
    found = next((f"{holder}.{given}" for holder in HOLDERS if Field(f"{holder}.{given}", ()).place(entry)), None)
    return f"did you mean {found!r}? Else " if found else ""


def score_place(entry: Any) -> str:
    """The path under which the score of a result was found, as `score_field` takes it."""
    row = _columns_of(entry)
    if row is None and isinstance(entry, tuple | list):
        return "[1]"
    named = Field(None, _SCORES).place(entry)
    if named or row is None:
        return named
    return step_text(list(row)[1]) if len(set(row)) == 2 else "[1]"


def _columns_of(entry: Any) -> Mapping[str, Any] | None:
    """The parts of a row or named tuple by name; None for all else."""
    names = getattr(entry, "_fields", None) if isinstance(entry, Sequence) else None
    return row_of(entry) if names is None else dict(zip(names, entry, strict=True))


def _no_pair(entry: Any, rank: int) -> str:
    """What to do about a row that is no pair of id and score."""
    numbers = [at for at, part in enumerate(entry) if isinstance(part, Real) and not isinstance(part, bool)]
    texts = [at for at, part in enumerate(entry) if isinstance(part, str | bytes)]
    if not numbers and len(entry) == 2 and len(texts) == 2 and _reads_as_number(entry[1]):
        return f"result {rank}: the score {shown(entry[1])} is a text; give a number, such as float(score)"
    if isinstance(entry, list) and len(entry) in (len(texts), len(numbers)):
        return (
            f"result {rank} is {shown(entry)}; if it is a list of ids within a list, as a search for several queries "
            "gives it, return the inner one, such as answer['ids'][0], or pairs, list(zip(ids, scores)); if it is one "
            "result, name its id: id_field='[0]'"
        )
    score = next((at for at in reversed(numbers) if not isinstance(entry[at], Integral)), (numbers or [1])[-1])
    own = next((at for at in [*texts, *numbers] if at != score), 0)
    return (
        f"result {rank} is {shown(entry)}, which is no (id, score) pair; name its parts, for example with "
        f"id_field='[{own}]' and score_field='[{score}]'"
    )


def _reads_as_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numeric(value: Any) -> bool:
    return value is None or hasattr(value, "__float__")


def _refuse(entry: Any, rank: int, *fields: Field) -> None:
    """A field that was named, and that results of this shape cannot have, must not be passed over in silence."""
    for name, given in zip(("id_field", "score_field"), (one.given for one in fields), strict=True):
        if given is not None:
            raise RetrieverError(
                f"result {rank} is {shown(entry)}, which has no {given!r}; leave {name} out, or give results that have "
                "this field"
            )


def id_text(value: Any, rank: int, entry: Any) -> str:
    """An id as text."""
    if isinstance(value, str | bytes) and len(value) > LONGEST_ID:
        raise RetrieverError(
            f"result {rank}: the id has {len(value)} characters, more than {LONGEST_ID}; name the right field with "
            f"id_field ({fields_of(entry)})"
        )
    if isinstance(value, str):
        return value
    if isinstance(value, Integral | UUID) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    raise RetrieverError(
        f"result {rank}: the id {shown(value)} is neither a text nor a whole number; "
        f"name the right field with id_field ({fields_of(entry)})"
    )


def number_of(score: Any, rank: int, entry: Any) -> float:
    """A score as a number."""
    try:
        return float(score)
    except (TypeError, ValueError, OverflowError):
        raise RetrieverError(
            f"result {rank}: the score {shown(score)} is no number; name the right field with score_field "
            f"({fields_of(entry)})"
        ) from None
