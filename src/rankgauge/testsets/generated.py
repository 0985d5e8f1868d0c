"""GeneratedQueries: queries made of documents, what was dropped on the way, and how they compare with people's."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from rankgauge.arguments import named_arguments
from rankgauge.model.testset import TestSet
from rankgauge.testsets.chat_cost import Usage
from rankgauge.testsets.known_items import KINDS
from rankgauge.testsets.query_checks import REASONS
from rankgauge.testsets.realism import Realism
from rankgauge.words import Note
from rankgauge.words.visible import clipped

__all__ = ["GeneratedQueries"]

_MOST_TAKEN: Final = 0.8
"""Share of words taken from the source above which queries favour whatever matches words."""
_FAR: Final = 0.15
_SHOWN: Final = 160  # characters of a failure


@named_arguments
@dataclass(frozen=True)
class GeneratedQueries:
    """A test set of queries that no person asked."""

    test_set: TestSet
    wanted: dict[str, int]
    """How many queries of each kind were asked for."""
    dropped: dict[str, int]
    """Queries that did not pass, by the reason."""
    documents: int
    """Of the corpus."""
    copied: int
    """How many of them have near-copies."""
    by: str
    """How they were spread over the documents: by folder, length, cluster, or not at all."""
    parts: int
    """Folders, quarters by length, or clusters."""
    realism: Realism
    real: Realism | None = None
    """The same of the queries that were given as a sample of people's."""
    maker: str = "known-item"
    seed: int = 0
    forbidden: int = 0
    """How many telling words of each source were forbidden."""
    verified: bool = False
    """Whether a language model looked which documents answer each query."""
    usage: Usage | None = None
    """What the language model took."""
    failures: dict[str, int] = field(default_factory=dict)
    """Calls without a usable answer, by the reason."""
    fault: str = ""
    """What the first of them says."""
    left: int = 0
    """Calls that were not made, since the budget was spent or the run was stopped."""
    stopped: str = ""
    cut_without_words: bool = False
    """Whether Chinese text could not be cut into words."""

    @property
    def made(self) -> dict[str, int]:
        """Queries by kind."""
        found = Counter(tag for query in self.test_set for tag in query.tags if tag in KINDS)
        return {kind: found[kind] for kind in KINDS if found[kind] or kind in self.wanted}

    @property
    def sources(self) -> int:
        """Documents that are relevant to a query."""
        return len({doc for query in self.test_set for doc in query.relevant})

    @property
    def drops(self) -> list[Note]:
        """How many queries did not pass, for each reason."""
        found = [(reason, self.dropped[reason]) for reason in REASONS if self.dropped.get(reason)]
        return [Note(f"generated.dropped_{reason}", {"n": n}) for reason, n in found]

    @property
    def notes(self) -> list[Note]:
        """What these queries can show, and what they cannot."""
        said = []
        n, wanted = len(self.test_set), sum(self.wanted.values())
        taken = self.realism.taken
        if n < wanted and not self.stopped:
            said.append(Note("generated.fewer", {"n": n, "wanted": wanted}, "warning"))
        if self.stopped:
            said.append(Note(f"generated.stopped_{self.stopped}", {"n": self.left}, "warning"))
        if self.failures:
            told = [(Note(f"generated.reason_{reason}"), n) for reason, n in self.failures.items()]
            kinds = [Note("generated.failure", {"n": n, "reason": reason}) for reason, n in told]
            about = {"n": sum(self.failures.values()), "reasons": kinds, "fault": clipped(self.fault, _SHOWN)}
            said.append(Note("generated.failures", about, "warning"))
        if self.cut_without_words:
            said.append(Note("generated.no_jieba", {}, "warning"))
        real = None if self.real is None else self.real.taken
        if taken is not None and real is None and taken > _MOST_TAKEN:
            said.append(Note("generated.lexical", {"share": taken}, "warning"))
        if taken is not None and real is not None and abs(taken - real) > _FAR:
            said.append(Note("generated.unlike_real", {"share": taken, "real": real}, "warning"))
        if self.made.get("unanswerable") and self.maker == "known-item":
            said.append(Note("generated.foreign", {"n": self.made["unanswerable"]}))
        if self.made.get("multi-hop") and self.maker == "known-item":
            said.append(Note("generated.compared", {"n": self.made["multi-hop"]}))
        if self.copied:
            said.append(Note("generated.copies", {"n": self.copied}))
        if self.maker != "known-item" and not self.verified:
            said.append(Note("generated.unverified", {}, "warning"))
        return said

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it, the queries included."""
        return {
            "format": "rankgauge.generated-queries",
            "version": 1,
            "maker": self.maker,
            "seed": self.seed,
            "queries": [
                {"id": query.id, "query": query.text, "tags": list(query.tags), "relevant_docs": query.relevant}
                for query in self.test_set
            ],
            "made": self.made,
            "wanted": self.wanted,
            "dropped": {reason: self.dropped[reason] for reason in REASONS if self.dropped.get(reason)},
            "documents": {"all": self.documents, "sources": self.sources, "with_copies": self.copied},
            "spread": {"by": self.by, "parts": self.parts},
            "forbidden_words": self.forbidden,
            "realism": self.realism.to_dict(),
            "real": None if self.real is None else self.real.to_dict(),
            "verified": self.verified,
            "usage": None if self.usage is None else asdict(self.usage),
            "failures": self.failures,
            "fault": self.fault,
            "left": self.left,
            "stopped": self.stopped,
        }
