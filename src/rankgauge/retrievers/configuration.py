"""What a retriever's answers depend on, for those who keep answers.

The retrievers of this package say it themselves, as `configuration`. Any other has to be told: earlier its bytecode and
state were hashed, which could see neither the libraries it calls nor the index behind its connection, and answers of
an older index were taken for current ones. What is not said is an error, so that no answer is kept under too little.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from rankgauge.errors import DataError
from rankgauge.retrievers.attributes import attribute

__all__ = ["configuration_of", "corpus_version", "described", "is_closed", "own_configuration"]

_LIBRARIES = ("rankgauge", "PyStemmer", "bm25s", "faiss-cpu", "jieba", "numpy", "scikit-learn")


def configuration_of(retriever: Any, name: str) -> dict[str, Any]:
    """What its answers depend on, or an error that says what to give."""
    said = own_configuration(retriever)
    if said is None:
        raise DataError(
            f"{name}: answers are kept under what they depend on, which only you know of a {type(retriever).__name__}. "
            "Give configuration={...} with all of it, such as configuration={'index': '2024-05-01', 'ef_search': 64}; "
            "or leave cache out"
        )
    return said


def own_configuration(part: Any) -> dict[str, Any] | None:
    """What a retriever of this package, or a part of one, says of itself; None where it holds what it does not know.

    An attribute of this name in other people's classes may mean anything, so it is not asked for.
    """
    if not type(part).__module__.startswith("rankgauge."):
        return None
    said: dict[str, Any] | None = attribute(part, "configuration")
    return said


def is_closed(retriever: Any) -> bool:
    """Whether its configuration is all that its answers depend on: it asks no server, which may have changed."""
    said = own_configuration(retriever)
    return said is not None and not _has_address(said)


def _has_address(value: Any) -> bool:
    if isinstance(value, Mapping):
        return "url" in value or any(map(_has_address, value.values()))
    return False


def described(corpus: Mapping[str, str], parts: Mapping[str, Any], **parameters: Any) -> dict[str, Any] | None:
    """The configuration of a retriever over a corpus, made of other parts; None if one of them cannot tell its own."""
    inner = {name: own_configuration(part) for name, part in parts.items()}
    if None in inner.values():
        return None
    return {"versions": _versions(), "corpus": corpus_version(corpus), "parts": inner, **parameters}


def corpus_version(corpus: Mapping[str, str] | None) -> str | None:
    """A hash of ids and texts in their order, which decides between equal scores, so that answers from another corpus
    are not taken for this one's."""
    if corpus is None:
        return None
    digest = hashlib.sha256()
    for doc in corpus:
        digest.update(f"{len(doc)}:{doc}{len(corpus[doc])}:".encode("utf-8", "surrogatepass"))
        digest.update(corpus[doc].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@cache
def _versions() -> dict[str, str]:
    """Versions of what ranks documents: another one may rank them otherwise."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for library in _LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            continue
    return found
