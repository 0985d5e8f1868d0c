"""Which layout a JSON value or a table has, and the functions that read it.

A layout is recognised by keys that no other one has; one that is shared is read only by its name (`format="..."`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rankgauge.errors import FormatError
from rankgauge.formats.detect import FORMATS
from rankgauge.formats.imports import collections, examples
from rankgauge.formats.imports.mtrag import MTRAG
from rankgauge.model.testset import Query

__all__ = ["LAYOUTS", "Layout", "layout_named", "layout_of"]


@dataclass(frozen=True)
class Layout:
    """How one tool writes test sets."""

    name: str
    about: str
    """What it is called, and where such files come from."""
    read: Callable[[Any], list[Query]]
    keys: frozenset[str]
    """Keys of the object, or of the first entry of the list, that tell it."""
    corpus: Callable[[Any], dict[str, str]] | None = None
    """The texts of the documents, where the file holds them."""


def _layout(name: str, about: str, read: Any, *keys: str, corpus: Any = None) -> Layout:
    return Layout(name, about, read, frozenset(keys), corpus)


LAYOUTS = {
    layout.name: layout
    for layout in (
        _layout("squad", "SQuAD 1.1 and 2.0", collections.squad, "data", corpus=collections.squad_corpus),
        _layout(
            "llamaindex",
            "LlamaIndex: EmbeddingQAFinetuneDataset",
            collections.embedding_pairs,
            "queries",
            "corpus",
            "relevant_docs",
            corpus=collections.embedding_corpus,
        ),
        _layout("llamaindex-rag", "LlamaIndex: LabelledRagDataset", examples.labelled, "examples"),
        _layout("opensearch", "OpenSearch Search Relevance Workbench", collections.opensearch, "judgmentRatings"),
        _layout("quepid", "Quepid: a book's export", collections.quepid, "query_doc_pairs"),
        _layout(
            "chunking-evaluation",
            "chunking_evaluation: questions with the places of their passages",
            collections.references,
            "question",
            "references",
            "corpus_id",
        ),
        _layout("ragas", "ragas", examples.ragas, "user_input"),
        _layout("ragas-0.1", "ragas before 0.2", examples.old_ragas, "question", "ground_truth"),
        _layout("langfuse", "Langfuse: items of a dataset", examples.langfuse, "input"),
        _layout("deepeval", "DeepEval: goldens", examples.deepeval, "input", "expected_output"),
        _layout("phoenix", "Phoenix: examples of a dataset", examples.phoenix, "input", "output"),
        _layout("phoenix-csv", "Phoenix: a dataset as CSV", examples.phoenix_table, "example_id"),
    )
}
"""In the order in which they are tried."""


def layout_of(value: Any) -> Layout | None:
    """The layout of a JSON value, or None where it is none of these."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, Mapping):
        return None
    found = next((layout for layout in LAYOUTS.values() if layout.keys <= set(first) and _fits(layout, first)), None)
    if found is None and collections.judgment_lists(first):
        return LAYOUTS["opensearch"]
    if found is None and (page := examples.page_of(value)) is not value:
        paged = layout_of(page)
        return paged if paged in (LAYOUTS["langfuse"], LAYOUTS["phoenix"]) else None
    return found


def _fits(layout: Layout, first: Mapping[str, Any]) -> bool:
    """Keys that others use too are looked into."""
    if layout.name == "squad":
        data = first["data"]
        return isinstance(data, list) and bool(data) and isinstance(data[0], Mapping) and "paragraphs" in data[0]
    if layout.name == "langfuse":
        as_python = {"expected_output", "metadata"} <= set(first) and "context" not in first  # as DeepEval has
        return "expectedOutput" in first or as_python
    if layout.name == "phoenix-csv":
        return any(str(key).startswith("input_") for key in first)
    return not (layout.name == "llamaindex" and not isinstance(first["queries"], Mapping))


def layout_named(name: str) -> Layout:
    """The layout of this name."""
    if name not in LAYOUTS:
        known = f"{', '.join(FORMATS)}; of other tools: {', '.join([*LAYOUTS, *MTRAG])}"
        raise FormatError(name, [f"no such format; known are: {known}"])
    return LAYOUTS[name]
