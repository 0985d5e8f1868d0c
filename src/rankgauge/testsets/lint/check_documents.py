"""Checks of documents: those that are not there, and those that are there twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check

__all__ = ["copied_documents", "empty_documents", "missing_documents"]



@check("corpus")
def missing_documents(material: Material) -> Iterator[Finding]:
    """Relevant documents that the corpus lacks, or has under an id that differs in case or blanks alone."""
    assert material.corpus is not None
    gone = [doc for doc in material.relevant if doc not in material.corpus]
    if not gone:
        return
    if len(gone) == len(material.relevant) and not any(nearby(gone[:100], material.corpus).values()):
        sample = next(iter(material.corpus))
        item = {"query": material.relevant[gone[0]][0], "doc": gone[0], "there": sample}
        yield Finding("other_ids", "error", [item], count=len(gone))
        return
    found = nearby(gone, material.corpus)
    written = [{"query": material.relevant[doc][0], "doc": doc, "there": found[doc]} for doc in gone if found[doc]]
    if written:
        yield Finding("respelled_ids", "error", written, safe=True)
    missing = [{"query": material.relevant[doc][0], "doc": doc} for doc in gone if not found[doc]]
    if missing:
        about = {"of": len(material.relevant)}
        yield Finding("missing_documents", "error", missing, about)


def nearby(gone: list[str], corpus: Mapping[str, str]) -> dict[str, str]:
    """The one document of the corpus that has the same id but for case, blanks and composed letters; "" where there is
    none, or more than one."""
    wanted = {_plain(doc) for doc in gone}
    there: dict[str, str | None] = {}
    for doc in corpus:
        if (plain := _plain(doc)) in wanted:
            there[plain] = None if plain in there else doc
    return {doc: there.get(_plain(doc)) or "" for doc in gone}


def _plain(doc: str) -> str:
    if doc.isascii():
        return doc.strip().casefold()
    return unicodedata.normalize("NFC", doc).strip().casefold()


@check("documents")
def copied_documents(material: Material) -> Iterator[Finding]:
    """Copies of relevant documents: those that count as misses, those with another grade, those that count twice."""
    missed: list[dict[str, Any]] = []
    near: list[dict[str, Any]] = []
    contradicting: list[dict[str, Any]] = []
    twice: list[dict[str, Any]] = []
    seen: set[tuple[str, str, str]] = set()
    surplus: set[tuple[str, ...]] = set()  # of five copies four are too many, whatever pairs they make
    for one in material.copies:
        for query in material.relevant[one.original]:
            grades = material.by_id[query].grades
            own, other = grades[one.original], grades.get(one.copy)
            pair = (query, min(one.original, one.copy), max(one.original, one.copy))
            if pair in seen:
                continue
            seen.add(pair)
            item: dict[str, Any] = {"query": query, "doc": one.original, "copy": one.copy}
            if not one.exact:
                if other is None or (own > 0) != (other > 0):
                    near.append({**item, "similarity": one.similarity})
            elif other is None:
                missed.append({**item, "grade": own})
            elif other != own:
                contradicting.append({**item, "grade": own, "grade_copy": other})
            elif pair[::2] not in surplus:
                surplus.add(pair[::2])
                twice.append(item)
    if contradicting:
        yield Finding("contradicting_documents", "error", contradicting)
    if missed:
        queries = len({item["query"] for item in missed})
        yield Finding("copied_documents", "error", missed, {"queries": queries}, safe=True)
    if near:
        yield Finding("near_documents", "warning", near)
    if twice:
        yield Finding("copies_count", "info", twice)


@check("documents")
def empty_documents(material: Material) -> Iterator[Finding]:
    """Relevant documents without a text, which nothing can find by what they say."""
    items = [
        {"query": queries[0], "doc": doc}
        for doc, queries in material.relevant.items()
        if doc in material.documents and not material.documents[doc].strip()
    ]
    if items:
        yield Finding("empty_documents", "warning", items)
