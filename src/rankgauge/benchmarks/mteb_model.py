"""A retriever as a model of MTEB: an object with its search protocol (`index`, `search`, `mteb_model_meta`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

from rankgauge.arguments import check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.extras import optional
from rankgauge.model.corpus import Corpus
from rankgauge.retrievers.registry import build
from rankgauge.retrievers.runner import run_queries

__all__ = ["MtebModel"]


class MtebModel:
    """What `mteb.evaluate(model, tasks)` takes for a model. `make` gives the retriever of a corpus (texts by id), or is
    the name of a built-in one, with its `parameters`.

    A list's scores are the retriever's own unless they rise with the ranks: MTEB sorts by them, and by id among ties,
    as the contract `beir` does.
    """

    @named_arguments
    def __init__(
        self,
        make: str | Callable[[Mapping[str, str]], Any],
        *,
        name: str = "rankgauge/retriever",
        revision: str = "1",
        parameters: Mapping[str, Any] | None = None,
        concurrency: int = 1,
        timeout: float = 30.0,
    ) -> None:
        check_text("name", name)
        if not isinstance(make, str) and not callable(make):
            raise DataError(f"`make` must be the name of a retriever, or a function that makes one, not {make!r}")
        self._make, self._parameters = make, dict(parameters or {})
        self.name, self.revision = name, revision
        self._concurrency, self._timeout = concurrency, timeout
        self._retriever: Any = None
        self._size = 0

    @property
    def mteb_model_meta(self) -> Any:
        """What MTEB files the results under."""
        meta = optional("mteb.models.model_meta", "mteb_model_meta", "mteb", "mteb")
        return meta.ModelMeta.create_empty({"name": self.name, "revision": self.revision})

    def index(self, corpus: Iterable[Mapping[str, Any]], **_: Any) -> None:
        """Build the retriever over rows with `id`, `title` and `text`."""
        texts = {}
        for row in corpus:
            title, text = str(row.get("title") or ""), str(row.get("text") or row.get("body") or "")
            texts[str(row["id"])] = f"{' '.join(title.split())}\n{text}" if title.strip() else text
        self._size = len(texts)
        documents = Corpus(texts)
        made = self._make
        self._retriever = build(made, documents, **self._parameters) if isinstance(made, str) else made(documents)

    def search(
        self,
        queries: Iterable[Mapping[str, Any]],
        *,
        top_k: int,
        top_ranked: Mapping[str, Iterable[str]] | None = None,
        **_: Any,
    ) -> dict[str, dict[str, float]]:
        """The first `top_k` documents of each query with their scores; of the `top_ranked` ones alone, where these are
        given."""
        if self._retriever is None:
            raise DataError("there is nothing to search: `index` comes first")
        asked = {str(row["id"]): str(row["text"]) for row in queries}
        allowed = None if top_ranked is None else {query: set(map(str, docs)) for query, docs in top_ranked.items()}
        fewest = self._size if allowed is None else min((len(allowed.get(query, ())) for query in asked), default=0)
        k = max(1, min(top_k + self._size - fewest, self._size))
        limits = self._concurrency, self._timeout
        result = run_queries(self._retriever, asked, k, concurrency=limits[0], timeout=limits[1], max_failed=0.0)
        if result.failed:
            errors = ", ".join(f"{error} ({n})" for error, n in result.errors.items()) or "no answer"
            raise DataError(f"{len(result.failed)} of {len(asked)} queries failed: {errors}")
        found: dict[str, dict[str, float]] = {query: {} for query in asked}
        for answer in result.answers:
            within = None if allowed is None else allowed.get(answer.query, set())
            hits = [(hit.id, float(hit.score)) for hit in answer.hits if within is None or hit.id in within]
            found[answer.query] = _falling(hits[:top_k])
        return found


def _falling(hits: list[tuple[str, float]]) -> dict[str, float]:
    if all(first[1] >= second[1] for first, second in pairwise(hits)):
        return dict(hits)
    return {doc: float(len(hits) - rank) for rank, (doc, _) in enumerate(hits)}
