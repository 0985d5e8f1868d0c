"""MT-RAG (IBM): judgments of chunks by turn of a conversation, and the turns' texts in files beside them.

The ids of turns are conversation<::>turn, those of chunks end with the characters they hold, -start-end.
"""

from __future__ import annotations

import os
from pathlib import Path

from rankgauge.errors import FormatError
from rankgauge.formats.json_values import read_json_lines
from rankgauge.formats.sources import Source
from rankgauge.formats.tables import read_qrels_table
from rankgauge.model.testset import Query, TestSet

__all__ = ["MTRAG", "read_mtrag"]

MTRAG = {"mtrag": "lastturn", "mtrag-rewrite": "rewrite", "mtrag-questions": "questions"}
"""Formats by name, and which text of a turn each takes: its question, the question rewritten to stand alone, or the
questions of all turns so far."""
_TURN, _SPEAKER = "<::>", "|user|: "


def read_mtrag(path: str | os.PathLike[str], form: str) -> TestSet:
    """A test set from the file of judgments, such as clapnq_qrels.tsv or clapnq/qrels/dev.tsv, and that of the texts
    beside it, such as clapnq_lastturn.jsonl."""
    source = Source(path)
    texts = _texts(Path(os.fspath(path)), MTRAG[form])
    judged = read_qrels_table(source, "tsv").to_dict()
    lost = [query for query in judged if query not in texts]
    if lost:
        raise FormatError(source.name, [f"turn {lost[0]!r} has no text beside it ({len(lost)} such turns)"])
    return TestSet(
        (
            Query(texts[query], grades, query, conversation=query.partition(_TURN)[0] if _TURN in query else "")
            for query, grades in judged.items()
        ),
        name=source.name,
    )


def _texts(path: Path, kind: str) -> dict[str, str]:
    folder = path.parent.parent if path.parent.name == "qrels" else path.parent
    start = path.name.split("_qrels")[0] + "_" if "_qrels" in path.name else ""
    files = sorted(folder.glob(f"{start}*{kind}.jsonl"))
    if len(files) != 1:
        found = "no file" if not files else f"{len(files)} files"
        raise FormatError(str(path), [f"{found} {start}*{kind}.jsonl with the texts of the turns in {folder}"])
    source = Source(files[0])
    texts: dict[str, str] = {}
    for number, item in read_json_lines(source):
        own, text = (item.get("_id"), item.get("text")) if isinstance(item, dict) else (None, None)
        if not isinstance(own, str) or not isinstance(text, str):
            raise FormatError(source.name, [f"line {number}: no object with _id and text"])
        texts[own] = "\n".join(line.removeprefix(_SPEAKER).strip() for line in text.splitlines())
    return texts
