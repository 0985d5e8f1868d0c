"""Several ranked lists into one: reciprocal rank fusion and weighted sums of normalised scores."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import polars as pl

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError, counted
from rankgauge.evaluation import read_run
from rankgauge.formats import load_run
from rankgauge.model.ordering import best_first
from rankgauge.model.run import Run
from rankgauge.retrievers.checks import check_choice, check_number, check_whole
from rankgauge.retrievers.hits import Hit

__all__ = ["METHODS", "NORMS", "check_weights", "fuse", "fuse_lists"]

METHODS = ("rrf", "weighted")
NORMS = ("min-max", "z-score", "none")
_SMALL, _LARGE = 1e-290, 1e300  # products and sums of a million such terms are exact to the last digit


@named_arguments
def fuse_lists(
    lists: Sequence[Sequence[Hit]],
    method: str = "rrf",
    weights: Sequence[float] | None = None,
    rrf_k: float = 60,
    norm: str = "min-max",
    k: int | None = None,
) -> list[Hit]:
    """One list out of several, each best first. Equal scores: the document that appears first comes first.

    rrf       sum over lists of w / (rrf_k + rank); w = 1 unless given (Cormack, Clarke and Büttcher 2009)
    weighted  sum over lists of w * norm(score); w = 1 / number of lists unless given
    min-max   (s - min) / (max - min) over the list; 1 for every document where all scores are equal
    z-score   (s - mean) / standard deviation (of the population) over the list; 0 where all scores are equal
    none      s as it is

    A list that lacks a document gives it 0. Under min-max that is what the list's last document gets; under z-score it
    is the list's mean, so a document that a list lacks stands above those in the lower half of that list.
    """
    check_options(method, rrf_k, norm)
    shares = check_weights(weights, range(len(lists)), method)
    if k is not None:
        check_whole("k", k, 1)
    parts: dict[str, list[tuple[float, float]]] = {}
    for number, hits in enumerate(lists):
        _check_list(hits, f"list {number + 1}")
        weight = shares[number]
        if method == "rrf":
            terms = [(1.0, weight / (rrf_k + rank)) for rank in range(1, len(hits) + 1)]
        else:
            terms = [(weight, value) for value in _NORMALISE[norm]([float(hit.score) for hit in hits])]
        for hit, term in zip(hits, terms, strict=True):
            parts.setdefault(hit.id, []).append(term)
    fused = [Hit(doc, _summed(terms, doc)) for doc, terms in parts.items()]
    fused.sort(key=lambda hit: -hit.score)
    return fused[:k]


@named_arguments
def fuse(
    runs: Sequence[Any] | Mapping[str, Any],
    method: str = "rrf",
    weights: Sequence[float] | Mapping[str, float] | None = None,
    rrf_k: float = 60,
    norm: str = "min-max",
    k: int | None = None,
    *,
    name: str | None = None,
) -> Run:
    """Several runs as one, every query fused as `retrievers.fuse_lists` does. A run that lacks a query has an empty
    list there. A run is anything that `evaluate` takes as one; with names, {name: run}, weights may go by name too.

    Within a run documents are ranked by score, ties by document id descending, as trec_eval does.
    """
    if not isinstance(runs, Mapping | Sequence) or isinstance(runs, str):
        raise DataError(f"`runs` must be a list of runs, or runs by name, not a {type(runs).__name__}")
    if not runs:
        raise DataError("there is no run to fuse: give a list of runs")
    check_text("name", name)
    check_options(method, rrf_k, norm)
    shares = check_weights(weights, list(runs) if isinstance(runs, Mapping) else range(len(runs)), method)
    read = [_whole(run) for run in (runs.values() if isinstance(runs, Mapping) else runs)]
    names = list(runs) if isinstance(runs, Mapping) else [run.name for run in read]
    lists = [_ranked(run) for run in read]
    queries = dict.fromkeys(query for lists_of_run in lists for query in lists_of_run)
    fused = {}
    for query in queries:
        try:
            hits = fuse_lists([lists_of_run.get(query, []) for lists_of_run in lists], method, shares, rrf_k, norm, k)
        except DataError as error:
            raise DataError(f"query {query!r}: {error}") from None
        fused[query] = {hit.id: hit.score for hit in hits}
    return Run(fused, name=name or "+".join(names))


def _whole(run: Any) -> Run:
    """A run of any kind in memory, its lists complete."""
    if isinstance(run, str | os.PathLike):
        return load_run(run)
    opened = read_run(run)
    return opened if isinstance(opened, Run) else Run.of_frame(pl.concat(opened.parts()), opened.name)


def check_options(method: str, rrf_k: float, norm: str) -> None:
    check_choice("method", method, METHODS)
    check_choice("norm", norm, NORMS)
    check_number("rrf_k", rrf_k, 0)


def check_weights(
    weights: Sequence[float] | Mapping[str, float] | None, names: Sequence[Any], method: str
) -> list[float]:
    """A weight for each list, in their order or by their names; never negative, not all 0."""
    count = len(names)
    if weights is None:
        return [1.0 if method == "rrf" else 1 / count] * count if count else []
    if isinstance(weights, Mapping):
        if set(weights) != set(names) or len(set(names)) < count:
            raise DataError(f"weights are for {list(weights)}, but there are {list(names)}; give each name one weight")
        weights = [weights[name] for name in names]
    if isinstance(weights, str | type) or not hasattr(weights, "__len__"):
        raise DataError(f"weights={weights!r} must be a list of numbers, one for each list")
    if len(weights) != count:
        there = "is" if len(weights) == 1 else "are"
        told = f"{counted(len(weights), 'weight')} for {counted(count, 'list')}"
        raise DataError(f"there {there} {told}; give one for each")
    checked = [check_number(f"weights[{i}]", weight, 0) for i, weight in enumerate(weights)]
    if checked and not any(checked):
        raise DataError("all weights are 0; at least one must be greater")
    return checked


def _check_list(hits: Sequence[Hit], where: str) -> None:
    seen: set[str] = set()
    before = math.inf
    for hit in hits:
        if hit.id in seen:
            raise DataError(f"{where} holds document {hit.id!r} twice; keep the better one")
        seen.add(hit.id)
        if not math.isfinite(hit.score):
            raise DataError(f"{where} gives document {hit.id!r} the score {hit.score}; scores must be finite")
        if hit.score > before:
            raise DataError(f"{where} is not ranked: document {hit.id!r} scores higher than the one before it")
        before = hit.score


def _ranked(run: Run) -> dict[str, list[Hit]]:
    lists: dict[str, list[Hit]] = {}
    if run.mapping is not None:
        lists = {query: [Hit(doc, float(score)) for doc, score in docs.items()] for query, docs in run.mapping.items()}
    else:
        for query, doc, score in run.frame.iter_rows():
            lists.setdefault(query, []).append(Hit(doc, float(score)))
    return {query: best_first(hits) for query, hits in lists.items()}


def _summed(terms: list[tuple[float, float]], doc: str) -> float:
    """The sum of weight * value. fsum does not depend on the order of its terms: documents with equal ranks in another
    order of lists tie exactly. Where terms leave the range in which floats are exact, fractions take their place."""
    products = [weight * value for weight, value in terms]
    largest = max(map(abs, products))
    if _SMALL < largest < _LARGE or not any(weight and value for weight, value in terms):
        return math.fsum(products)
    try:
        return float(sum(Fraction(weight) * Fraction(value) for weight, value in terms))
    except OverflowError:
        raise DataError(
            f"the fused score of document {doc!r} is beyond the largest number; use norm='min-max' or smaller weights"
        ) from None


def _min_max(scores: list[float]) -> list[float]:
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if low == high:
        return [1.0] * len(scores)
    if math.isinf(high - low):  # halves have the same shares, and their range is a number
        scores, low, high = [score / 2 for score in scores], low / 2, high / 2
    return [(score - low) / (high - low) for score in scores]


def _z_score(scores: list[float]) -> list[float]:
    """Of the min-max scores, which have the same z-scores, and whose squares are neither too large nor too small."""
    if not scores or min(scores) == max(scores):
        return [0.0] * len(scores)
    shares = _min_max(scores)
    mean = math.fsum(shares) / len(shares)
    deviation = math.sqrt(math.fsum((share - mean) ** 2 for share in shares) / len(shares))
    return [(share - mean) / deviation for share in shares]


_NORMALISE: dict[str, Callable[[list[float]], list[float]]] = {
    "min-max": _min_max,
    "z-score": _z_score,
    "none": list,
}
