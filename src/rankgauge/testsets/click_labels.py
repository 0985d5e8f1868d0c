"""`click_labels`: grades with intervals from what people clicked."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.formats import load_testset
from rankgauge.formats.click_logs.columns import CLICKED, Reading
from rankgauge.formats.click_logs.gathering import normal_query
from rankgauge.formats.click_logs.reading import ClickForm, load_clicks
from rankgauge.formats.labels import save_labels
from rankgauge.model.clicks import ClickTable
from rankgauge.model.labels import Labels
from rankgauge.model.ranked import Bools
from rankgauge.model.testset import TestSet
from rankgauge.stats.click_evidence import Positions, positions, relevance_intervals
from rankgauge.testsets.click_choice import CHAINS, FITS, ClickModel, TriedModel, choose, lists_of, try_models
from rankgauge.testsets.click_grades import ClickAgreement, agreement_of, cuts_of, labels_of, own_cuts
from rankgauge.words import Note

__all__ = ["ClickLabels", "click_labels"]

CONFIDENCE = 0.95
_MOST = 10**9
_WHOLE = {"scale": (1, 20), "least_impressions": (1, _MOST), "depth": (1, 1000), "seed": (0, _MOST),
          "most_per_session": (1, _MOST)}  # fmt: skip
_BUSY = 0.2  # the share of lists from which one session is told of
_FEW_MOVED = 0.1  # the share of impressions below which positions hardly varied


@named_arguments
@dataclass(frozen=True)
class ClickLabels:
    """Labels from clicks, and what they rest on."""

    labels: Labels
    model: str
    tried: Sequence[TriedModel]
    """Models on held-out lists, best first, and last the click rate of ranks alone; empty where lists are too few.

    The simplest within one standard error of the best is taken."""
    cuts: tuple[float, ...]
    """The least relevance of grade 1, 2, ...: the chance of a click on a document that is examined (dbn: and that the
    click satisfies)."""
    read: int
    """Lines, rows or events of the log."""
    lists: int | None
    """None where the log does not tell what was shown together."""
    impressions: float
    clicks: float
    left_out: Mapping[str, int]
    """Entries that do not count, by reason."""
    pairs: int
    """Pairs of query and document that were shown."""
    refused: int
    """Those shown too rarely for a label."""
    least_impressions: int
    positions: Positions
    examination: tuple[float, ...]
    """How often each rank is examined."""
    prior_mean: float
    """What rare pairs are drawn towards, and how many examinations that counts as."""
    prior_strength: float
    by_attraction: bool = True
    """Whether relevance is the chance of a click alone, not of one that satisfies."""
    unknown_queries: int = 0
    """Queries of the log that the test set has not."""
    unlabelled_queries: int = 0
    """Queries of the test set without a label."""
    agreement: ClickAgreement | None = None
    unclicked: int = 0
    """Labels of pairs that were never clicked."""
    unclicked_relevant: int = 0
    """Those of them with a grade above 0: pairs that were shown too rarely to tell that nobody wants them."""
    busiest_session: float = 0.0
    bases: Mapping[int, int] = field(default_factory=dict)

    @property
    def grades(self) -> dict[int, int]:
        """How many labels there are of each grade."""
        found = dict.fromkeys(range(len(self.cuts) + 1), 0)
        for label in self.labels:
            found[int(label.grade or 0)] += 1
        return found

    @property
    def open_labels(self) -> int:
        """Labels whose interval holds every grade."""
        return sum(label.spread == len(self.cuts) for label in self.labels)

    @property
    def informative(self) -> bool | None:
        """Whether the model predicts clicks better than ranks alone do, by more than a standard error; None where that
        was not compared."""
        by_name = {one.model: one for one in self.tried}
        if self.model not in by_name:
            return None
        rank = by_name["rank"]
        return by_name[self.model].perplexity < rank.perplexity and rank.behind > 1

    @property
    def notes(self) -> list[Note]:
        """What could change what the labels are taken for."""
        notes = []

        def warn(key: str, **parameters: Any) -> None:
            notes.append(Note(f"clicks.{key}", parameters, "warning"))

        if not self.labels:
            warn("no_labels", n=self.pairs, least=self.least_impressions)
        if self.informative is False:
            own = next(one.perplexity for one in self.tried if one.model == self.model)
            warn("uninformative", own=own, rank=self.tried[-1].perplexity)
        apart = {"n": len(self.positions.apart), "first": min(self.positions.apart, default=0)}
        if apart["n"] and self.model in CHAINS:
            notes.append(Note("clicks.pbm_left_out", apart))
        elif apart["n"]:
            warn("not_identified", **apart)
        elif self.positions.ranks > 1 and self.positions.shows_of_moved < _FEW_MOVED:
            warn("few_moved", moved=self.positions.moved, pairs=self.positions.pairs,
                 share=self.positions.shows_of_moved)  # fmt: skip
        if self.by_attraction and self.model == "dbn":
            warn("no_satisfaction")
        if self.labels and self.open_labels:
            warn("open_labels", n=self.open_labels, labels=len(self.labels))
        if self.unclicked_relevant > self.unclicked / 2:
            warn("unclicked_relevant", n=self.unclicked_relevant, unclicked=self.unclicked)
        if len(self.labels) > 1 and len(used := [grade for grade, n in self.grades.items() if n]) == 1:
            warn("one_grade", grade=used[0])
        if self.busiest_session > _BUSY:
            warn("busy", share=self.busiest_session)
        if self.bases:
            warn("bases", zero=self.bases[0], one=self.bases[1])
        if self.unknown_queries:
            notes.append(Note("clicks.unknown_queries", {"n": self.unknown_queries}))
        if self.unlabelled_queries:
            notes.append(Note("clicks.unlabelled_queries", {"n": self.unlabelled_queries}))
        notes.append(Note("clicks.never_shown_documents"))
        return notes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the labels as JSON Lines, whole or not at all."""
        save_labels(self.labels, path)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, without the labels."""
        return {
            "format": "rankgauge.click-labels",
            "version": 1,
            "labels": len(self.labels),
            "queries": len({label.query for label in self.labels}),
            "grades": {str(grade): n for grade, n in self.grades.items()},
            "cuts": list(self.cuts),
            "model": self.model,
            "informative": self.informative,
            "tried": [asdict(one) for one in self.tried],
            "read": self.read,
            "lists": self.lists,
            "impressions": self.impressions,
            "clicks": self.clicks,
            "left_out": dict(self.left_out),
            "pairs": self.pairs,
            "refused": self.refused,
            "least_impressions": self.least_impressions,
            "open_labels": self.open_labels,
            "unclicked": self.unclicked,
            "unclicked_relevant": self.unclicked_relevant,
            "positions": asdict(self.positions),
            "examination": list(self.examination),
            "by_attraction": self.by_attraction,
            "prior": {"mean": self.prior_mean, "strength": self.prior_strength},
            "unknown_queries": self.unknown_queries,
            "unlabelled_queries": self.unlabelled_queries,
            "agreement": None if self.agreement is None else asdict(self.agreement),
            "busiest_session": self.busiest_session,
            "notes": [{"key": note.key, "parameters": note.parameters, "level": note.level} for note in self.notes],
        }


@named_arguments
def click_labels(
    log: Any,
    *,
    format: ClickForm | None = None,  # noqa: A002
    model: ClickModel | Literal["auto"] = "auto",
    scale: int = 3,
    cuts: Sequence[float] | Literal["quantiles"] | None = None,
    least_impressions: int = 10,
    test_set: TestSet | str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    click_actions: Sequence[str] = CLICKED,
    least_dwell: float = 0.0,
    most_per_session: int | None = None,
    depth: int = 50,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> ClickLabels:
    """Grades with intervals from a log of what was shown and clicked.

    `log` is a file (CSV, TSV, Parquet, JSON Lines, UBI), several of them, a data frame or rows as mappings: documents
    that were shown with position and click, whole lists, counts, or events. A click model tells relevance from
    position; with `model="auto"` it is the one that predicts held-out clicks best. Grades run from 0 to `scale`:
    relevance r is turned into the grade whose chance (2^g - 1) / 2^scale of expected reciprocal rank (Chapelle et al.
    2009) it is nearest to, unless `cuts` says where grades 1, 2, ... begin, or that grades are to be equally frequent
    (`"quantiles"`). Pairs shown less than `least_impressions` times get no label. With `test_set`, labels name its
    queries, found by id or by text.
    """
    _check_choices(model, least_dwell, columns, click_actions)
    _check_numbers(scale=scale, least_impressions=least_impressions, depth=depth, seed=seed,
                   most_per_session=1 if most_per_session is None else most_per_session)  # fmt: skip
    known = load_testset(test_set) if isinstance(test_set, str | os.PathLike) else test_set
    if known is not None and not isinstance(known, TestSet):
        raise DataError(f"`test_set` must be a TestSet or the path of one, not a {type(known).__name__}")
    given = None if cuts is None or isinstance(cuts, str) else own_cuts(cuts, scale)
    if isinstance(cuts, str) and cuts != "quantiles":
        raise DataError(f"`cuts={cuts!r}`: give numbers between 0 and 1, or 'quantiles'")
    reading = Reading(dict(columns or {}), tuple(click_actions), least_dwell, depth, most_per_session)
    table = load_clicks(log, reading, form=format, progress=progress)
    lists = lists_of(table)
    spread = positions(lists)
    if model in CHAINS and not table.whole:
        raise DataError(
            f"`model={model!r}` needs to know what was shown together, and the log does not tell: add a column `list` "
            "or `session`, or take 'pbm' or 'coec'"
        )
    names = [name for name in FITS if table.whole or name not in CHAINS]
    if model == "auto" and not spread.identified:
        names.remove("pbm")
    tried = try_models(lists, table, names, seed)
    chosen = choose(tried, spread) if model == "auto" else model
    fitted = FITS[chosen](lists)
    low, high = relevance_intervals(fitted, CONFIDENCE)
    labelled, names_of, unknown = _queries(table, known)
    often = lists.shows >= least_impressions
    use = np.flatnonzero(often & labelled)
    edges = cuts_of(cuts, given, scale, fitted.relevance[use])
    made = labels_of(table, lists, fitted, (low, high), use, names_of, edges)
    never = use[lists.clicks[use] == 0]
    return ClickLabels(
        labels=made,
        model=chosen,
        tried=tried,
        cuts=edges,
        read=table.read,
        lists=table.lists if table.whole else None,
        impressions=table.shows,
        clicks=table.clicks,
        left_out=table.left_out,
        pairs=int(labelled.sum()),
        refused=int((labelled & ~often).sum()),
        least_impressions=least_impressions,
        positions=spread,
        examination=tuple(float(value) for value in fitted.examination),
        prior_mean=fitted.prior.mean,
        prior_strength=fitted.prior.strength,
        by_attraction=fitted.by_attraction,
        unknown_queries=unknown,
        unlabelled_queries=0 if known is None else len({query.id for query in known} - {one.query for one in made}),
        agreement=None if known is None else agreement_of(known, table, fitted.relevance, use, names_of),
        unclicked=len(never),
        unclicked_relevant=int((fitted.relevance[never] >= edges[0]).sum()),
        busiest_session=table.busiest,
        bases=table.bases,
    )


def _check_choices(model: Any, dwell: Any, columns: Any, actions: Any) -> None:
    if model not in ("auto", *get_args(ClickModel)):
        raise DataError(f"`model={model!r}` is none of auto, {', '.join(get_args(ClickModel))}")
    if isinstance(dwell, bool) or not isinstance(dwell, int | float) or not 0 <= dwell < _MOST:
        raise DataError(f"`least_dwell={dwell!r}` must be a number of seconds from 0 on"[:200])
    if columns is not None and not isinstance(columns, Mapping):
        raise DataError(f"`columns={columns!r}` must be a mapping such as {{'doc': 'item'}}"[:200])
    if isinstance(actions, str) or not isinstance(actions, Sequence) or not all(isinstance(a, str) for a in actions):
        raise DataError(f"`click_actions={actions!r}` must be a list of names such as ['click']"[:200])


def _check_numbers(**numbers: Any) -> None:
    for name, value in numbers.items():
        first, last = _WHOLE[name]
        if isinstance(value, bool) or not isinstance(value, int) or not first <= value <= last:
            raise DataError(f"`{name}={value!r}` must be a whole number from {first} to {last}"[:200])


def _queries(table: ClickTable, known: TestSet | None) -> tuple[Bools, list[str], int]:
    """Which pairs are of queries that are asked for, the names of all queries, and how many are not asked for."""
    if known is None:
        return np.ones(len(table.pair_query), dtype=bool), list(table.queries), 0
    ids = {query.id: query.id for query in known}
    texts: dict[str, str] = {}
    for query in known:
        texts.setdefault(normal_query(query.text), query.id)
    names = [ids.get(name) or texts.get(normal_query(name)) or "" for name in table.queries]
    asked = np.array([bool(name) for name in names], dtype=bool)
    own = np.unique(table.pair_query)
    return asked[table.pair_query], names, int((~asked[own]).sum())
