"""What several systems retrieved, document by document; and, before there is any label, what to judge first.

Without labels no measure has a value, and so none has a range that a label could narrow. With the discount
d(r) = 1 / log2(1 + r) of a document at rank r, and d = 0 where a system did not retrieve it within the depth, a
document is then worth

    mean over systems of d  +  mean over pairs of systems of |d_a - d_b|,

its weight in what the systems gain, and in how they differ, whatever its label turns out to be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rankgauge.formats import RunParts
from rankgauge.model.contract import Contract
from rankgauge.model.judgments import Qrels
from rankgauge.model.run import Run

__all__ = ["Retrieved", "queries_of", "retrieved", "worth"]


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A document, and its rank in each system that retrieved it within the depth."""

    query: str
    doc: str
    ranks: dict[str, int]

    @property
    def best(self) -> int:
        return min(self.ranks.values())


def queries_of(runs: Mapping[str, Run | RunParts]) -> list[str]:
    """The queries of all runs, in the order in which they come first."""
    found: dict[str, None] = {}
    for run in runs.values():
        if isinstance(run, Run) and run.mapping is not None:
            found |= dict.fromkeys(map(str, run.mapping))
            continue
        for part in run.parts():
            found |= dict.fromkeys(part["query"].unique(maintain_order=True).to_list())
    return list(found)


def retrieved(
    runs: Mapping[str, Run | RunParts], depth: int, queries: Sequence[str], contract: Contract
) -> Iterator[Retrieved]:
    """The first `depth` documents of each system, query by query: the best ranked first, those of more systems first
    among them."""
    from rankgauge.engine.lists import top_lists  # takes polars

    asked = Qrels({query: {} for query in queries})
    lists = {name: top_lists(asked, run, contract, depth) for name, run in runs.items()}
    for query in queries:
        found: dict[str, dict[str, int]] = {}
        for name, listed in lists.items():
            for rank, entry in enumerate(listed.get(query, ()), start=1):
                found.setdefault(entry.doc, {})[name] = rank
        own = [Retrieved(query, doc, ranks) for doc, ranks in found.items()]
        yield from sorted(own, key=lambda one: (one.best, -len(one.ranks), one.doc))


def worth(ranks: Mapping[str, int], systems: Sequence[str]) -> float:
    """What a label of a document is worth before there are any, by the formula above."""
    discounts = [1 / math.log2(1 + ranks[name]) if name in ranks else 0.0 for name in systems]
    pairs = [abs(a - b) for a, b in combinations(discounts, 2)]
    return sum(discounts) / len(discounts) + (sum(pairs) / len(pairs) if pairs else 0.0)
