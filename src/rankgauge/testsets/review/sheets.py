"""Queues as sheets, for those who review in a spreadsheet.

A sheet holds ids, texts, an empty column for the grade and one for a comment, and a check: a hash of the ids, in
letters that no spreadsheet changes. So a sheet whose ids became dates or numbers, or of which one column was sorted
without the others, is refused with its rows and not read as something else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankgauge.arguments import as_path, check_text, named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.sources import write_whole
from rankgauge.formats.spreadsheets import MOST_TEXT, SEPARATORS, guarded, render_sheet
from rankgauge.testsets.review.judged import PathLike, read_corpus, read_tested
from rankgauge.testsets.review.queued import ReviewQueue, as_queue
from rankgauge.words import Language, check_language, say

__all__ = ["check_of", "save_sheet"]

_COLUMNS = ("query_id", "query", "doc_id", "text", "grade", "comment", "reviewer", "check")
_LETTERS = "bcdfghjklmnpqrst"


def check_of(query: str, doc: str) -> str:
    """Eight letters that belong to a pair."""
    digest = hashlib.sha256(f"{query}\0{doc}".encode("utf-8", "surrogatepass")).digest()
    return "".join(_LETTERS[byte >> 4] + _LETTERS[byte & 15] for byte in digest[:4])


@named_arguments
def save_sheet(
    queue: ReviewQueue,
    path: PathLike,
    test_set: Any,
    *,
    corpus: Mapping[str, str] | PathLike | None = None,
    reviewer: str | None = None,
    separator: str | None = None,
    language: Language = "en",
) -> None:
    """Write a queue as a sheet to be filled in: CSV in UTF-8 with its mark, separated by commas, or by tabs where the
    path ends in .tsv. A document that two are to label has a row for each; `reviewer` writes the rows of one."""
    check_text("separator", separator)
    if separator is not None and separator not in SEPARATORS:
        raise DataError(f"`separator={separator!r}` is none of {', '.join(SEPARATORS)}")
    check_text("reviewer", reviewer)
    language = check_language(language)
    ending = Path(as_path("path", path)).suffix.lower()
    between = SEPARATORS[separator or ("tab" if ending in (".tsv", ".tab") else "comma")]
    texts, queries = read_corpus(corpus), {query.id: query for query in read_tested(test_set)}
    asked = as_queue(queue)
    shared = any(one.reviewers for one in asked)
    columns = [name for name in _COLUMNS if name != "reviewer" or shared]
    rows = [[say(f"review.column_{name}", language) for name in columns]]
    for one in asked if reviewer is None else asked.of(reviewer):
        query = queries.get(one.query)
        held = {} if query is None else query.texts
        text = " ".join(texts.get(one.doc, held.get(one.doc, "")).split())
        cells = {
            "query_id": _id_cell(one.query),
            "query": guarded("" if query is None else query.text),
            "doc_id": _id_cell(one.doc),
            "text": guarded(text[:MOST_TEXT]),
            "grade": "",
            "comment": "",
            "check": check_of(*one.pair),
        }
        for name in [reviewer] if reviewer is not None else one.reviewers or ("",):
            rows.append([({**cells, "reviewer": guarded(name or "")})[column] for column in columns])
    write_whole(path, render_sheet(rows, between))


def _id_cell(name: str) -> str:
    if "\0" in name or any("\ud800" <= letter <= "\udfff" for letter in name):
        raise DataError(f"the id {name!r} holds a character that no sheet can hold; label it in the terminal")
    return guarded(name, exact=True)
