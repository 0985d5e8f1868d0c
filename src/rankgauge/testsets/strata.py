"""Documents to ask about, spread evenly over the parts of a collection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final, Literal, get_args

from rankgauge.errors import DataError
from rankgauge.extras import optional

__all__ = ["Spread", "Strata", "strata_of"]

Spread = Literal["folder", "length", "cluster", "none"]
_LENGTHS: Final = 4
_MOST_FOLDERS: Final = 50
_CLUSTERS: Final = 20


@dataclass(frozen=True)
class Strata:
    """Parts of a collection, and their documents."""

    by: Spread
    parts: Mapping[str, Sequence[str]]

    def order(self, seed: int) -> list[str]:
        """All documents at random, so that each beginning of the order has of each part its share."""
        chance = Random(seed)
        placed: list[tuple[float, str]] = []
        for docs in self.parts.values():
            own = list(docs)
            chance.shuffle(own)
            start = chance.random()
            placed += [((place + start) / len(own), doc) for place, doc in enumerate(own)]
        return [doc for _, doc in sorted(placed)]


def strata_of(corpus: Mapping[str, str], by: str | None, seed: int) -> Strata:
    """By folder where ids are paths of several, else by length, unless `by` says how."""
    if by is not None and by not in get_args(Spread):
        raise DataError(f"`by={by!r}` is none of {', '.join(get_args(Spread))}")
    folders = _folders(list(corpus))
    chosen = by or ("folder" if len(set(folders)) > 1 else "length")
    if chosen == "none":
        named = ["" for _ in corpus]
    elif chosen == "folder":
        named = folders
    elif chosen == "length":
        named = _lengths(corpus)
    else:
        named = _clusters(corpus, seed)
    parts: dict[str, list[str]] = {}
    for doc, name in zip(corpus, named, strict=True):
        parts.setdefault(name, []).append(doc)
    return Strata(chosen, parts)  # type: ignore[arg-type]


def _folders(ids: Sequence[str]) -> list[str]:
    """The folder of each id, as deep as there are not too many of them."""
    paths = [doc.split("/")[:-1] for doc in ids]
    named = ["" for _ in ids]
    for depth in range(1, 1 + max(map(len, paths), default=0)):
        deeper = ["/".join(path[:depth]) for path in paths]
        if len(set(deeper)) > _MOST_FOLDERS:
            break
        named = deeper
    return named


def _lengths(corpus: Mapping[str, str]) -> list[str]:
    """Quarters of the documents, the shortest first."""
    order = sorted(range(len(corpus)), key=[len(text) for text in corpus.values()].__getitem__)
    quarter = [""] * len(order)
    for place, i in enumerate(order):
        quarter[i] = str(1 + place * _LENGTHS // len(order))
    return quarter


def _clusters(corpus: Mapping[str, str], seed: int) -> list[str]:
    """Clusters of documents that share words."""
    from rankgauge.retrievers.text import tokenizer_for

    text = optional("sklearn.feature_extraction.text", "clusters of documents", "scikit-learn")
    cluster = optional("sklearn.cluster", "clusters of documents", "scikit-learn")
    vectors = text.TfidfVectorizer(analyzer=tokenizer_for("auto"), sublinear_tf=True, max_features=20_000, min_df=1)
    rows = vectors.fit_transform(corpus.values())
    count = max(1, min(_CLUSTERS, len(corpus) // 5))
    found = cluster.MiniBatchKMeans(count, random_state=seed, n_init=3).fit_predict(rows)
    sizes = Counter(found.tolist())
    place = {name: i for i, (name, _) in enumerate(sizes.most_common(), start=1)}
    return [str(place[name]) for name in found.tolist()]
