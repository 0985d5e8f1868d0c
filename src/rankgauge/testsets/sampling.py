"""`draw_sample`: which queries people check, drawn at random, so that what they find holds for the rest.

Whole queries are drawn, for nDCG and AP of a query need the grades of all its pooled documents; in strata, in
proportion to their size. The order is random too, and takes the strata in turns: if people stop early, what they
finished is such a sample as well.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, FormatError
from rankgauge.evaluation import make_plan
from rankgauge.evaluation.conversations import ConversationRule, conversations_of
from rankgauge.formats.json_values import dumps, read_json
from rankgauge.formats.sources import Source, write_whole
from rankgauge.measures import Measure
from rankgauge.model.contract import Contract
from rankgauge.model.pool import Pool, PooledPair
from rankgauge.model.testset import TestSet
from rankgauge.stats.levels import check_whole
from rankgauge.stats.prediction_powered import LEAST_CHECKED
from rankgauge.testsets.label_sets import LabelSet, read_labels
from rankgauge.testsets.rescoring import ScoredRuns, Units, in_memory, pooled

__all__ = ["DrawnQuery", "Sample", "draw_sample", "labels_hash", "load_sample"]

_MOST_STRATA = 4
_LEAST_IN_STRATUM = 2
_IN_STRATUM = 5
"""Queries that a stratum of scores gets at least."""


@dataclass(frozen=True)
class DrawnQuery:
    """A query that people are to check."""

    query: str
    stratum: int
    docs: tuple[str, ...]
    """Its documents to be checked, all of them."""


@named_arguments
@dataclass(frozen=True)
class Sample:
    """A random sample of queries, in the order in which they are to be checked, and what it was drawn from."""

    drawn: tuple[DrawnQuery, ...]
    strata: dict[str, int]
    """The stratum of every query it was drawn from."""
    by: str
    """score, tag or none."""
    seed: int
    depth: int | None
    """Of the pool; None for all documents that the judge labelled."""
    labels: str
    """A hash of the judge's labels."""
    pool: Pool
    """What people are to label."""

    @property
    def queries(self) -> list[str]:
        return [one.query for one in self.drawn]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sample as JSON, whole or not at all; the pool has a file of its own (`save_pool`)."""
        write_whole(path, dumps(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {
            "format": "rankgauge.sample",
            "version": 1,
            "seed": self.seed,
            "by": self.by,
            "depth": self.depth,
            "labels": self.labels,
            "drawn": [{"query": one.query, "stratum": one.stratum, "docs": list(one.docs)} for one in self.drawn],
            "strata": self.strata,
        }


@named_arguments
def load_sample(path: str | os.PathLike[str]) -> Sample:
    """A sample from the file that `Sample.save` wrote."""
    source = Source(path)
    value = read_json(source)
    try:
        if value["format"] != "rankgauge.sample" or value["version"] != 1:
            raise KeyError
        drawn = tuple(DrawnQuery(str(one["query"]), int(one["stratum"]), tuple(one["docs"])) for one in value["drawn"])
        strata = {str(query): int(stratum) for query, stratum in value["strata"].items()}
        depth = None if value["depth"] is None else int(value["depth"])
        pool = Pool([PooledPair(one.query, doc) for one in drawn for doc in one.docs], name=source.name)
        if not {one.query for one in drawn} <= strata.keys():
            raise KeyError
        return Sample(drawn, strata, value["by"], int(value["seed"]), depth, str(value["labels"]), pool)
    except (KeyError, TypeError, ValueError, AttributeError, DataError):
        raise FormatError(source.name, ["this is no sample that `rankgauge testset draw` wrote"]) from None


def labels_hash(judge: LabelSet) -> str:
    """What tells that the judge's labels are others than those the sample was drawn from."""
    said = json.dumps(sorted((*pair, grade) for pair, grade in judge.grades.items()))
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()


@named_arguments
def draw_sample(
    labels: Any,
    n: int,
    runs: Mapping[str, Any] | None = None,
    measures: str | Measure | Sequence[str | Measure] = "nDCG@10",
    *,
    depth: int | None = None,
    strata: str | None = None,
    seed: int = 0,
    contract: str | Contract | None = None,
    rel: float | None = None,
    conversations: ConversationRule = None,
) -> Sample:
    """Which queries people check: `n` of those that the judge labelled, drawn at random with a seed.

    `labels` are the judge's: labels, judgments or a test set. People check all documents of a query that the judge
    labelled; with `depth`, those among the first so many of one of the `runs`. `strata` are `score` (default where
    there are runs): queries on which the runs score, or with two runs differ, alike by the judge's labels; `tag`, the
    first tag in the test set; or `none`. Turns of a conversation are drawn together, and `n` counts conversations.
    """
    n = check_whole("n", n, 1)
    seed = check_whole("seed", seed, 0)
    check_text("strata", strata, "score, tag or none")
    judge, test_set = read_labels(labels, "judge", people=False)
    if judge.only_relevant:
        raise DataError(
            f"{judge.name}: its labels are of relevant documents alone, so people would never see what it missed; add "
            "the documents that it rejected, with grade 0"
        )
    queries = list(judge.by_query())
    units = Units.by(queries, conversations_of(conversations, queries, test_set))
    if n > len(units.names):
        raise DataError(f"`n={n}`: the judge labelled {len(units.names)} of what is drawn; draw fewer")
    if n < LEAST_CHECKED:
        raise DataError(f"`n={n}`: with fewer than {LEAST_CHECKED} nothing can be said of the error of the judge")
    plan = make_plan(measures, contract, rel=rel)
    lists = None if runs is None else in_memory(runs, 1)
    by: str = strata or ("none" if lists is None else "score")
    if by == "score":
        if lists is None:
            raise DataError("`strata='score'` needs runs; give them, or strata='none'")
        number = _by_score(ScoredRuns(lists, plan), judge, queries, units, n)
    elif by == "tag":
        number = _by_tag(test_set, queries, units, n)
    elif by == "none":
        number = dict.fromkeys(units.names, 0)
    else:
        raise DataError(f"`strata={strata!r}` is none of score, tag, none")
    order = _drawn(number, n, seed)
    ranks = _ranks(lists, queries, plan, depth)
    members: dict[str, list[str]] = {}
    for query in queries:
        members.setdefault(units.of[query], []).append(query)
    own = judge.by_query()
    drawn, pairs = [], []
    for name in order:
        for query in members[name]:
            docs = [doc for doc in own[query] if ranks is None or doc in ranks[query]]
            drawn.append(DrawnQuery(query, number[name], tuple(docs)))
            pairs += [PooledPair(query, doc, (), None if ranks is None else ranks[query][doc]) for doc in docs]
    if empty := next((one.query for one in drawn if not one.docs), None):
        raise DataError(f"query {empty!r}: the judge labelled none of its first {depth} documents; take more of them")
    strata_of = {query: number[units.of[query]] for query in queries}
    return Sample(tuple(drawn), strata_of, by, seed, depth, labels_hash(judge), Pool(pairs, name="sample"))


def _ranks(lists: Any, queries: Sequence[str], plan: Any, depth: int | None) -> dict[str, dict[str, int]] | None:
    if depth is None:
        return None
    depth = check_whole("depth", depth, 1)
    if lists is None:
        raise DataError("`depth=` is that of the runs' lists; give the runs too")
    return pooled(lists.values(), queries, plan, depth)


def _by_score(scored: ScoredRuns, judge: LabelSet, queries: Sequence[str], units: Units, n: int) -> dict[str, int]:
    """Strata of equal size by the first measure: the difference of two runs, the mean of one or of more."""
    found = [values[:, 0] for values in scored.under(judge.by_query(), queries).values()]
    score = found[1] - found[0] if len(found) == 2 else np.mean(found, axis=0)
    value = units.values(score, queries)
    k = max(1, min(_MOST_STRATA, n // _IN_STRATUM))
    place = np.empty(len(value), dtype=np.int64)
    place[np.argsort(value, kind="stable")] = np.arange(len(value))
    return {name: int(place[i] * k // len(value)) for i, name in enumerate(units.names)}


def _by_tag(test_set: TestSet | None, queries: Sequence[str], units: Units, n: int) -> dict[str, int]:
    """By first tags; those too rare for two of the sample go together."""
    if test_set is None or not test_set.tags:
        raise DataError("`strata='tag'` needs a test set whose queries have tags")
    first = {query.id: (query.tags or ("",))[0] for query in test_set}
    tag = {units.of[query]: first.get(query, "") for query in reversed(queries)}
    sizes = {name: sum(own == name for own in tag.values()) for name in sorted(set(tag.values()))}
    large = [name for name, size in sizes.items() if size * n / len(tag) >= _LEAST_IN_STRATUM]
    number = {name: i for i, name in enumerate(large)}
    rest = sum(size for name, size in sizes.items() if name not in number)
    alone = rest * n / len(tag) >= _LEAST_IN_STRATUM or not large
    joined = len(large) if alone else number[min(large, key=lambda name: sizes[name])]
    return {name: number.get(own, joined) for name, own in ((name, tag[name]) for name in units.names)}


def _drawn(number: Mapping[str, int], n: int, seed: int) -> list[str]:
    """The sample in its order: strata in proportion to their size by largest remainders, two of each at least."""
    members: dict[int, list[str]] = {}
    for name, stratum in number.items():
        members.setdefault(stratum, []).append(name)
    exact = {stratum: n * len(own) / len(number) for stratum, own in members.items()}
    share = {stratum: int(value) for stratum, value in exact.items()}
    by_rest = sorted(exact, key=lambda stratum: (share[stratum] - exact[stratum], stratum))
    for stratum in by_rest[: n - sum(share.values())]:
        share[stratum] += 1
    rng = random.Random(seed)
    placed = []
    for stratum in sorted(members):
        chosen = rng.sample(members[stratum], share[stratum])
        placed += [((i + rng.random()) / share[stratum], name) for i, name in enumerate(chosen)]
    return [name for _, name in sorted(placed)]
