"""`generate_queries`: a test set made of documents, where there are no queries of people yet."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError, FormatError
from rankgauge.formats import load_corpus, load_testset
from rankgauge.formats.queries import read_queries
from rankgauge.formats.sources import Source
from rankgauge.model.testset import Query, TestSet
from rankgauge.retrievers.checks import check_number, check_whole
from rankgauge.testsets.asked_queries import Asking, ask_queries
from rankgauge.testsets.chat import ChatModel
from rankgauge.testsets.chat_cost import Budget, as_budget
from rankgauge.testsets.chat_pace import CallSettings
from rankgauge.testsets.copies import near_copies
from rankgauge.testsets.generated import GeneratedQueries
from rankgauge.testsets.known_items import KINDS, Candidate, Kind, KnownItems
from rankgauge.testsets.query_checks import QueryChecks
from rankgauge.testsets.realism import realism_of
from rankgauge.testsets.source_terms import SourceTerms
from rankgauge.testsets.strata import strata_of

__all__ = ["generate_queries"]

_OFFLINE: Final = {"keyword": 0.6, "question": 0.3, "multi-hop": 0.1}
_ASKED: Final = {"keyword": 0.4, "question": 0.4, "multi-hop": 0.1, "unanswerable": 0.1}
_TURNS: Final = 10  # times that a document is tried for queries of one kind
Progress = Callable[[str, int, int], None]


@named_arguments
def generate_queries(
    corpus: Mapping[str, str] | str | os.PathLike[str],
    n: int = 100,
    *,
    kinds: Mapping[str, float] | None = None,
    seed: int = 0,
    by: str | None = None,
    forbid_words: int = 0,
    noise: float = 0.3,
    real: TestSet | Iterable[str] | str | os.PathLike[str] | None = None,
    model: ChatModel | None = None,
    verify: bool = True,
    budget: Budget | Mapping[str, float] | None = None,
    calls: CallSettings | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> GeneratedQueries:
    """Queries for the documents of a corpus, spread evenly over them, each with the document it is made of as the
    relevant one, and its near-copies.

    Without a `model` they are known items: words and headings of a document that stand together in no other one, and
    as somebody who remembers them badly puts other words among keywords, about a share `noise` of as many. A language
    model writes them in its own words; with `verify` it then looks, in a call of its own, whether that
    document answers the query, and no other one. `kinds` are shares of keyword, question, multi-hop and unanswerable
    queries; `forbid_words` forbids that many telling words of each source. `real` are queries of people: their lengths
    are taken on, a model sees some of them, and both are compared. `cache` keeps the model's answers in a file.
    """
    texts = load_corpus(corpus) if isinstance(corpus, str | os.PathLike) else corpus
    if not isinstance(texts, Mapping):
        raise DataError(f"`corpus` must be texts by id, or the path of a file, not a {type(corpus).__name__}")
    check_whole("n", n, 1)
    check_whole("forbid_words", forbid_words, 0)
    check_whole("seed", seed, 0)
    check_number("noise", noise, 0, 1)
    if model is not None and not isinstance(model, ChatModel):
        raise DataError(f"`model` must be a ChatModel, not a {type(model).__name__}")
    texts = {doc: text for doc, text in texts.items() if text.strip()}
    if not texts:
        raise DataError("the corpus has no document with a text, so there is nothing to ask about")
    wanted = _wanted(kinds or (_OFFLINE if model is None else _ASKED), n)
    sample = _sample(real)
    compared = None if sample is None else realism_of(sample, texts)
    copies = near_copies(texts)
    terms = SourceTerms(texts, None if progress is None else lambda done, total: progress("reading", done, total))
    lengths = compared.lengths if compared else ()
    items = KnownItems(terms, copies, forbid=forbid_words, noise=noise, lengths=lengths, seed=seed)
    strata = strata_of(texts, by, seed)
    work = _Work(items, strata.order(seed), wanted, progress)
    asked: Asking | None = None
    if model is None:
        work.make_known_items()
        accepted = work.accepted
    else:
        styles = [query.text for query in sample or ()]
        asked = ask_queries(
            items, work.order, wanted, model, styles=styles, verify=verify, budget=as_budget(budget), calls=calls,
            cache=cache, seed=seed, progress=progress,
        )  # fmt: skip
        accepted, work.dropped = asked.accepted, asked.dropped
    maker = "known-item" if model is None else f"llm:{model.model}"
    test_set = TestSet(_queries(accepted, items, maker), name="generated")
    return GeneratedQueries(
        test_set=test_set,
        wanted=wanted,
        dropped=dict(work.dropped),
        documents=len(texts),
        copied=len(copies),
        by=strata.by,
        parts=len(strata.parts),
        realism=realism_of(test_set, texts),
        real=compared,
        maker=maker,
        seed=seed,
        forbidden=forbid_words,
        verified=model is not None and verify,
        cut_without_words=model is None and terms.lacks_words,
        **(asked.told if asked else {}),
    )


def _wanted(kinds: Mapping[str, float], n: int) -> dict[str, int]:
    """How many queries of each kind, by largest remainder."""
    if not isinstance(kinds, Mapping) or not kinds:
        raise DataError(f'`kinds` must be shares by kind, such as {{"keyword": 0.5, "question": 0.5}}, not {kinds!r}')
    for kind, share in kinds.items():
        if kind not in KINDS:
            raise DataError(f"`kinds`: {kind!r} is none of {', '.join(KINDS)}")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < float("inf"):
            raise DataError(f"`kinds`: the share of {kind} must be a number from 0, not {share!r}")
    total = sum(kinds.values())
    if not total:
        raise DataError("`kinds`: all shares are 0; give one of them more")
    exact = {kind: n * kinds[kind] / total for kind in KINDS if kinds.get(kind)}
    found = {kind: int(share) for kind, share in exact.items()}
    by_rest = sorted(exact, key=lambda kind: found[kind] - exact[kind])
    for kind in by_rest[: n - sum(found.values())]:
        found[kind] += 1
    return {kind: count for kind, count in found.items() if count}


def _sample(real: Any) -> list[Query] | None:
    """Queries of people."""
    if real is None:
        return None
    if isinstance(real, str | os.PathLike):
        found = _read_sample(real)
    elif isinstance(real, TestSet):
        found = list(real)
    else:
        listed: list[Any] = list(real) if isinstance(real, Iterable) else [None]
        if not all(isinstance(text, str) for text in listed):
            raise DataError("`real` must be a test set, texts of queries, or the path of a file of one of these")
        found = _unlabelled(listed)
    found = [query for query in found if query.text.strip()]
    if not found:
        raise DataError("`real`: there is no query with a text")
    return found


def _read_sample(path: str | os.PathLike[str]) -> list[Query]:
    """A test set, a file of queries with ids, or a line for each query."""
    if Path(path).is_dir():
        return list(load_testset(path))
    source = Source(path)
    if source.head(1024).lstrip()[:1] in (b"{", b"["):
        try:
            return list(load_testset(source))
        except (FormatError, DataError):
            return _unlabelled(read_queries(path).values())
    lines = source.text().splitlines()
    if any("\t" in line for line in lines) or source.bare_name.lower().endswith(".csv"):
        return _unlabelled(read_queries(path).values())
    return _unlabelled(lines)


def _unlabelled(texts: Iterable[str]) -> list[Query]:
    return [Query(text, {}, str(place)) for place, text in enumerate(texts, start=1)]


@dataclass
class _Work:
    """Known items of all kinds, the rarest kinds first; what a kind lacks, keywords make up."""

    items: KnownItems
    order: Sequence[str]
    wanted: Mapping[str, int]
    progress: Progress | None
    accepted: list[Candidate] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._checks = QueryChecks(self.items)
        self._used = Counter[str]()

    def make_known_items(self) -> None:
        left = 0
        if count := self.wanted.get("unanswerable", 0):
            left += count - self._take(self.items.unanswerable(), count)
        for kind in ("multi-hop", "question"):
            if count := self.wanted.get(kind, 0):
                left += count - self._spread(kind, count)
        if count := self.wanted.get("keyword", 0):
            self._spread("keyword", count + left)

    def _spread(self, kind: Kind, count: int) -> int:
        """One query of each document in turn, of those with the fewest first; how many were made."""
        makers = {"keyword": self.items.keyword, "question": self.items.question, "multi-hop": self.items.multi_hop}
        made = 0
        for turn in range(_TURNS):
            before = made
            place = {doc: i for i, doc in enumerate(self.order)}
            for doc in sorted(self.order, key=lambda doc: (self._used[doc], place[doc])):
                if made == count:
                    return made
                made += self._take(makers[kind](doc, turn), 1)
            if made == before:
                break
        return made

    def _take(self, candidates: Iterator[Candidate], count: int) -> int:
        """The first candidates that pass."""
        made = 0
        for one in candidates:
            if (reason := self._checks.fault(one)) is not None:
                self.dropped[reason] += 1
                continue
            self._checks.add(one)
            self.accepted.append(one)
            self._used.update(one.sources)
            made += 1
            if self.progress is not None:
                self.progress("queries", len(self.accepted), sum(self.wanted.values()))
            if made == count:
                break
        return made


def _queries(accepted: Sequence[Candidate], items: KnownItems, maker: str) -> Iterator[Query]:
    """Queries in the order of their kinds and documents, with near-copies as relevant as the source."""
    place = {doc: i for i, doc in enumerate(items.terms.ids)}
    ordered = sorted(accepted, key=lambda one: (KINDS.index(one.kind), [place[doc] for doc in one.sources]))
    width = len(str(len(ordered)))
    for number, one in enumerate(ordered, start=1):
        sides = [(doc, *items.copies.get(doc, ())) for doc in one.sources]
        grades = {doc: 1.0 for side in sides for doc in side}
        groups = dict(zip(one.sources, sides, strict=True)) if len(sides) > 1 else {}
        yield Query(
            one.text,
            grades,
            f"q{number:0{width}}",
            (one.kind,),
            groups=groups,
            no_answer=one.kind == "unanswerable",
            synthetic=maker,
        )
