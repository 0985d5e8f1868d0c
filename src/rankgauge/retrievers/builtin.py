"""Retrievers over a corpus that are put together of others, by plain parameters, as a plan has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Annotated, Any

from rankgauge.retrievers.bm25 import BM25
from rankgauge.retrievers.checks import Bounds, Choices, check_choice, check_number, check_whole, faults_of
from rankgauge.retrievers.dense import Dense
from rankgauge.retrievers.encoders import Dimensions, EndpointUrl, KeyVariable, ModelName, check_model
from rankgauge.retrievers.fusion import METHODS, NORMS, check_options
from rankgauge.retrievers.hybrid import Hybrid
from rankgauge.retrievers.interface import Retriever
from rankgauge.retrievers.mmr import MMR, RELEVANCES
from rankgauge.retrievers.rerank import Rerank
from rankgauge.retrievers.term_proximity import TermProximity
from rankgauge.retrievers.text import TextLanguage

__all__ = ["hnsw", "hybrid", "mmr", "rerank"]

_BASES = ("bm25", "dense", "hybrid")
_PROXIMITY = "term-proximity"


hnsw = partial(Dense, index="hnsw")
"""Dense retrieval with an approximate index."""


def hybrid(
    corpus: Mapping[str, str],
    *,
    weight: Annotated[float, "The dense share: 0 is BM25 alone, 1 dense alone.", Bounds(0, 1)] = 0.5,
    method: Annotated[str, "How the two lists are fused.", Choices(METHODS)] = "weighted",
    norm: Annotated[str, "How scores are made comparable before weighting.", Choices(NORMS)] = "min-max",
    rrf_k: Annotated[float, "rrf: the constant added to ranks.", Bounds(0)] = 60,
    depth: Annotated[int, "Documents taken from each list.", Bounds(1)] = 100,
    k1: Annotated[float, "BM25: how much repeats of a term count.", Bounds(0)] = 1.2,
    b: Annotated[float, "BM25: how much long documents are held back.", Bounds(0, 1)] = 0.75,
    dimensions: Dimensions = 256,
    model: ModelName = None,
    endpoint: EndpointUrl = None,
    api_key_env: KeyVariable = None,
    language: TextLanguage = "auto",
) -> Hybrid:
    """BM25 and dense retrieval over one corpus."""
    check_number("weight", weight, 0, 1)
    check_options(method, rrf_k, norm)
    check_whole("depth", depth, 1)
    lexical = BM25(corpus, k1=k1, b=b, language=language)
    dense = Dense(
        corpus, dimensions=dimensions, model=model, endpoint=endpoint, api_key_env=api_key_env, language=language
    )
    weights = [1 - weight, weight]
    return Hybrid(
        {"bm25": lexical, "dense": dense}, weights=weights, method=method, norm=norm, rrf_k=rrf_k, depth=depth
    )


def mmr(
    corpus: Mapping[str, str],
    *,
    base: Annotated[str, "The retriever whose documents are chosen from.", Choices(_BASES)] = "dense",
    lambda_: Annotated[float, "1 is pure relevance, 0 pure diversity.", Bounds(0, 1)] = 0.5,
    depth: Annotated[int, "Documents to choose from.", Bounds(1)] = 50,
    relevance: Annotated[str, "Relevance by cosine or by the base's scores.", Choices(RELEVANCES)] = "cosine",
    dimensions: Dimensions = 256,
    language: TextLanguage = "auto",
) -> MMR:
    """Maximal marginal relevance over another retriever."""
    check_choice("base", base, _BASES)
    dense = Dense(corpus, dimensions=dimensions, language=language)
    lexical = BM25(corpus, language=language) if base != "dense" else None
    retriever: Retriever = dense
    if lexical is not None:
        retriever = lexical if base == "bm25" else Hybrid([lexical, dense])
    return MMR(retriever, dense, lambda_=lambda_, depth=depth, relevance=relevance)


def rerank(
    corpus: Mapping[str, str],
    *,
    base: Annotated[str, "The retriever whose documents are re-ranked.", Choices(_BASES)] = "bm25",
    scorer: Annotated[str, f"{_PROXIMITY}, or a sentence-transformers cross-encoder."] = _PROXIMITY,
    depth: Annotated[int, "Documents to re-rank.", Bounds(1)] = 50,
    language: TextLanguage = "auto",
) -> Rerank:
    """Another retriever, its best documents re-ranked."""
    made: dict[str, Callable[..., Retriever]] = {"bm25": BM25, "dense": Dense, "hybrid": hybrid}
    retriever = made[check_choice("base", base, _BASES)](corpus, language=language)
    scores = TermProximity(corpus, language=language) if scorer == _PROXIMITY else scorer
    return Rerank(retriever, scores, corpus=corpus, depth=depth)


def _hybrid_needs(**parameters: Any) -> list[str]:
    return list(dict.fromkeys([*BM25.needs(**parameters), *Dense.needs(**parameters)]))


_NEEDS: dict[str, Callable[..., list[str]]] = {"bm25": BM25.needs, "dense": Dense.needs, "hybrid": _hybrid_needs}


def _mmr_needs(base: str = "dense", **parameters: Any) -> list[str]:
    return list(dict.fromkeys([*Dense.needs(**parameters), *_NEEDS[base](**parameters)]))


def _rerank_needs(base: str = "bm25", scorer: str = _PROXIMITY, **parameters: Any) -> list[str]:
    return _NEEDS[base](**parameters) + ([] if scorer == _PROXIMITY else faults_of(lambda: check_model(scorer)))


hnsw.needs = partial(Dense.needs, index="hnsw")  # type: ignore[attr-defined]
hybrid.needs = _hybrid_needs  # type: ignore[attr-defined]
mmr.needs = _mmr_needs  # type: ignore[attr-defined]
rerank.needs = _rerank_needs  # type: ignore[attr-defined]
