"""Candidates for a test set from what happened in production: queries that failed, found nothing, scored low or were
given up, the most frequent first. They have no labels, and are no part of a test set until somebody judged them."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.query_logs import load_query_log, log_of_traces, logged_queries
from rankgauge.formats.secrets import masked
from rankgauge.model.frames import is_frame, to_polars
from rankgauge.model.near_duplicates import near_duplicates
from rankgauge.model.query import Query
from rankgauge.model.query_log import LoggedQuery
from rankgauge.model.testset import TestSet
from rankgauge.model.traces import Traces
from rankgauge.stats.levels import check_whole
from rankgauge.words import Note

__all__ = ["REASONS", "CandidateQuery", "Candidates", "Reason", "candidates"]

Reason = Literal["failed", "no-results", "low-score", "abandoned"]
REASONS: Final[tuple[Reason, ...]] = get_args(Reason)
_LEAST_SCORED = 20
"""Queries with scores that a tenth of them says something."""
_LOWEST = 0.1
_LONGEST = 1000
_SHOWN_SIMILAR = 5
_EMAIL = re.compile(r"[\w.+-]{1,256}@[\w-]+(?:\.[\w-]+)+")
_LONG_NUMBER = re.compile(r"(?<![\w.])\+?\d(?:[ ()./-]?\d){8,}(?!\w)")
"""Of telephones, accounts and cards."""
_MASK = "***"


@dataclass(frozen=True)
class CandidateQuery:
    """A query that is worth a judgment, and why."""

    id: str
    text: str
    reasons: tuple[Reason, ...]
    searches: int
    """How often it was asked, with those that are nearly the same."""
    similar: tuple[str, ...] = ()
    """The first of the queries that are nearly the same, and were left out for it."""
    score: float | None = None
    """The mean of its first scores."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Why, and how often in orders of magnitude, so that results can be sliced."""
        return (*self.reasons, f"asked {_magnitude(self.searches)}")


def _magnitude(n: int) -> str:
    if n < 2:
        return "once"
    digits = len(str(n))
    return f"{max(2, 10 ** (digits - 1))}-{10**digits - 1} times"


@named_arguments
@dataclass(frozen=True)
class Candidates:
    """Queries from production that are worth a judgment: `.test_set` has them, without labels."""

    listed: list[CandidateQuery]
    searches: int
    """Of the whole log."""
    distinct: int
    """Queries of the log, those that are typed alike counted once."""
    found: int
    """Candidates before the number was limited."""
    similar: int
    """Candidates left out, since another is nearly the same."""
    known: int
    """Candidates left out, since the test set has nearly the same query."""
    masked: int
    """Queries of which something that looks secret or personal was masked."""
    low_score: float | None
    """Below this the mean of a query's first scores is low."""
    unusable: int = 0
    """Searches left out, since their query is empty, too long, or nothing but what was masked."""
    untold: list[Reason] = field(default_factory=list)
    """Reasons of which the log tells nothing."""
    scored: int = 0
    """Queries with scores, where these are too few for their lowest tenth to say something; else 0."""
    name: str = "candidates"

    @property
    def test_set(self) -> TestSet:
        """The candidates as queries without labels, tagged with why and how often."""
        return TestSet((Query(one.text, {}, one.id, one.tags) for one in self.listed), name=self.name)

    @property
    def reasons(self) -> dict[Reason, int]:
        """How many candidates each reason gave."""
        found = Counter(reason for one in self.listed for reason in one.reasons)
        return {reason: found[reason] for reason in REASONS if found[reason]}

    @property
    def notes(self) -> list[Note]:
        """What a reader must know beside the queries."""
        counts = {"n": len(self.listed), "all": self.found, "distinct": self.distinct, "searches": self.searches}
        key = "none" if not self.listed else "found" if len(self.listed) == self.found else "first"
        notes = [Note(f"candidates.{key}", counts)]
        if self.low_score is not None:
            notes.append(Note("candidates.low_score", {"score": self.low_score}))
        for name in ("similar", "known", "unusable", "masked"):
            if n := getattr(self, name):
                notes.append(Note(f"candidates.{name}", {"n": n}))
        unknown = [reason for reason in self.untold if reason != "low-score" or not self.scored]
        if unknown:
            told = [Note(f"candidates.reason_{reason.replace('-', '_')}") for reason in unknown]
            notes.append(Note("candidates.untold", {"reasons": told}))
        if self.scored:
            notes.append(Note("candidates.few_scored", {"n": self.scored, "least": _LEAST_SCORED}))
        if self.listed:
            notes.append(Note("candidates.review"))
        return notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        listed = [asdict(one) | {"tags": list(one.tags)} for one in self.listed]
        names = ("searches", "distinct", "found", "similar", "known", "unusable", "masked")
        counts = {name: getattr(self, name) for name in names}
        kept = {"low_score": self.low_score, "untold": self.untold, "reasons": self.reasons, "candidates": listed}
        return {"format": "rankgauge.candidates", "version": 1, **counts, **kept}


@named_arguments
def candidates(
    source: str | os.PathLike[str] | Traces | Iterable[LoggedQuery] | Any,
    *,
    n: int = 200,
    reasons: Sequence[str] = REASONS,
    low_score: float | None = None,
    least: int = 2,
    known: TestSet | None = None,
    columns: Mapping[str, str] | None = None,
    name: str = "candidates",
) -> Candidates:
    """Queries of production that are worth a judgment.

    `source` is a log of searches (CSV, TSV, Parquet, JSON Lines, a data frame), traces, or the path of either. A query
    is a candidate if at least half of its searches failed or found nothing, if the mean of its first scores is below
    `low_score` (default: the lowest tenth of the queries), or if nobody clicked though it was asked `least` times. Of
    queries that are nearly the same the most frequent one stays; those that `known` has too are left out. What looks
    like a secret, an e-mail address or a telephone number is masked. `columns` names columns of the log that are not
    found by their names: {"text": "phrase"}.
    """
    wanted = _checked(reasons)
    n, least = check_whole("n", n, 1), check_whole("least", least, 1)
    entries = [entry for entry in _entries(source, columns) if entry.count]
    masks = {text: _masked(text) for text in dict.fromkeys(entry.text for entry in entries)}
    groups: dict[str, list[LoggedQuery]] = {}
    for entry in entries:
        if 0 < len(entry.text) <= _LONGEST and masks[entry.text].strip("* "):
            groups.setdefault(" ".join(masks[entry.text].casefold().split()), []).append(entry)
    seen = [_Seen(own, masks) for own in groups.values()]
    limit = _limit(seen, low_score)
    scored = sum(one.score is not None for one in seen)
    clicked = any(one.clicks for one in seen)
    why = {id(one): one.reasons(limit, least if clicked else None, wanted) for one in seen}
    chosen = sorted((one for one in seen if why[id(one)]), key=lambda one: (-one.searches, one.text))
    rest, repeats = _without_known(chosen, known)
    kept = _without_similar(rest)
    listed = [
        CandidateQuery(
            f"log-{hashlib.sha256(one.text.casefold().encode('utf-8', 'surrogatepass')).hexdigest()[:10]}",
            one.text,
            tuple(dict.fromkeys(reason for member in (one, *others) for reason in why[id(member)])),
            one.searches + sum(other.searches for other in others),
            tuple(other.text for other in others[:_SHOWN_SIMILAR]),
            one.score,
        )
        for one, others in kept
    ]
    listed.sort(key=lambda one: (-one.searches, one.text))
    return Candidates(
        listed[:n],
        sum(entry.count for entry in entries),
        len(seen),
        len(listed),
        len(rest) - len(kept),
        repeats,
        sum(text != mask for text, mask in masks.items()),
        limit if "low-score" in wanted else None,
        sum(entry.count for entry in entries) - sum(one.searches for one in seen),
        [reason for reason in wanted if not _told(reason, entries, limit, clicked=clicked)],
        scored if limit is None and "low-score" in wanted else 0,
        name,
    )


def _checked(reasons: Sequence[str]) -> list[Reason]:
    given = [reasons] if isinstance(reasons, str) else list(reasons)
    if unknown := [one for one in given if one not in REASONS]:
        raise DataError(f"`reasons`: {unknown[0]!r} is none of {', '.join(REASONS)}")
    return [reason for reason in REASONS if reason in given]


def _entries(source: Any, columns: Mapping[str, str] | None) -> list[LoggedQuery]:
    if isinstance(source, str | os.PathLike):
        return load_query_log(source, columns)
    if isinstance(source, Traces):
        return log_of_traces(source)
    if is_frame(source):
        return logged_queries(list(enumerate(to_polars(source).to_dicts(), start=1)), "the log", columns)
    if isinstance(source, Iterable) and not isinstance(source, bytes | Mapping):
        listed = list(source)
        if all(isinstance(entry, LoggedQuery) for entry in listed):
            return listed
        return logged_queries(list(enumerate(listed, start=1)), "the log", columns)
    raise DataError(f"`source` must be a log, traces, or the path of either, not a {type(source).__name__}")


def _masked(text: str) -> str:
    """Without what looks secret or personal: a test set is kept, shared and sent to judges."""
    return _LONG_NUMBER.sub(_MASK, _EMAIL.sub(_MASK, masked(text)))


class _Seen:
    """All searches of one query."""

    def __init__(self, entries: Sequence[LoggedQuery], masks: Mapping[str, str]) -> None:
        spelled = Counter[str]()
        for entry in entries:
            spelled[masks[entry.text]] += entry.count
        self.text = min(spelled, key=lambda text: (-spelled[text], text))
        self.searches = spelled.total()
        self.failed = sum(entry.count for entry in entries if entry.failed)
        told = [entry for entry in entries if entry.results is not None and not entry.failed]
        self.told = sum(entry.count for entry in told)
        self.empty = sum(entry.count for entry in told if not entry.results)
        scored = [(entry.score, entry.count) for entry in entries if entry.score is not None]
        self.score = sum(score * n for score, n in scored) / sum(n for _, n in scored) if scored else None
        clicks = [entry.clicks for entry in entries if entry.clicks is not None]
        self.clicks = sum(clicks) if clicks else None

    def reasons(self, limit: float | None, least: int | None, wanted: Sequence[Reason]) -> tuple[Reason, ...]:
        empty = bool(self.empty) and 2 * self.empty >= self.told
        found: dict[Reason, bool] = {
            "failed": bool(self.failed) and 2 * self.failed >= self.searches,
            "no-results": empty,
            "low-score": limit is not None and self.score is not None and not empty and self.score < limit,
            "abandoned": least is not None and self.clicks == 0 and not empty and self.searches >= least,
        }
        return tuple(reason for reason in wanted if found[reason])


def _limit(seen: Sequence[_Seen], given: float | None) -> float | None:
    if given is not None:
        if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
            raise DataError(f"`low_score` must be a number, not {given!r}")
        return float(given)
    scores = [one.score for one in seen if one.score is not None]
    return float(np.quantile(scores, _LOWEST)) if len(scores) >= _LEAST_SCORED else None


def _told(reason: Reason, entries: Sequence[LoggedQuery], limit: float | None, *, clicked: bool) -> bool:
    """Whether the log could show it."""
    if reason == "no-results":
        return any(entry.results is not None for entry in entries)
    if reason == "low-score":
        return limit is not None and any(entry.score is not None for entry in entries)
    return clicked if reason == "abandoned" else any(entry.failed for entry in entries)


def _without_known(chosen: Sequence[_Seen], known: TestSet | None) -> tuple[list[_Seen], int]:
    if known is None:
        return list(chosen), 0
    if not isinstance(known, TestSet):
        raise DataError(f"`known` must be a TestSet, not a {type(known).__name__}; read a file with TestSet.load")
    texts = [query.text for query in known]
    pairs = list(near_duplicates([*texts, *(one.text for one in chosen)]))
    same = {b - len(texts) for a, b in pairs if a < len(texts) <= b}
    same |= {b - len(texts) for a, b in pairs if a - len(texts) in same}  # what is typed as one of them
    return [one for i, one in enumerate(chosen) if i not in same], len(same)


def _without_similar(chosen: Sequence[_Seen]) -> list[tuple[_Seen, list[_Seen]]]:
    """The most frequent of those that are nearly the same, and the others with it."""
    near: dict[int, list[int]] = {}
    for a, b in near_duplicates([one.text for one in chosen]):
        near.setdefault(b, []).append(a)
    leaders: dict[int, list[_Seen]] = {}
    for i, one in enumerate(chosen):
        first = next((a for a in sorted(near.get(i, ())) if a in leaders), None)
        if first is None:
            leaders[i] = []
        else:
            leaders[first].append(one)
    return [(chosen[i], others) for i, others in leaders.items()]
