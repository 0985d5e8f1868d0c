"""Retrievers of LlamaIndex, with the real library: vectors from counted words, no model and no network."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document, VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding

from rankgauge import Query, TestSet, evaluate_retriever
from tests.retrievers.test_adapters import DOCUMENTS, VECTORS, vector


class Counting(BaseEmbedding):
    def _get_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return vector(query)

    def _get_text_embedding(self, text: str) -> list[float]:
        return vector(text)


@pytest.fixture(scope="module")
def index() -> Any:
    documents = [Document(text=text, doc_id=doc) for doc, text in DOCUMENTS.items()]
    return VectorStoreIndex.from_documents(documents, embed_model=Counting())


def test_documents_are_found_by_their_own_ids(index: Any) -> None:
    """The nodes that LlamaIndex cuts have ids of their own; `ref_doc_id` is the document's."""
    query, best = "dog bird", "d2"
    tested = TestSet([Query(query, {best: 1})])
    for depth in (2, 5):
        retriever = index.as_retriever(similarity_top_k=depth, embed_model=Counting())
        live = evaluate_retriever(retriever, tested, measures=["RR"], id_field="node.ref_doc_id")
        assert live.mean["RR"] == 1.0
        [answer] = live.retrieval.answers
        assert {hit.id for hit in answer.hits} <= VECTORS.keys()
        assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
