"""A judge that is right: a server whose model grades by what the documents of a test say, through the real prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rankgauge.model.testset import Corpus, Query, TestSet
from tests.retrievers.servers import Asked
from tests.testsets.chat_server import Model, model, said

_DOCUMENT = re.compile(r"\[\[document (\d+) (\w+) begins\]\]\n(.*?)\n\[\[document \1 \2 ends\]\]", re.DOTALL)
_QUERY = re.compile(r"\[\[query (\w+) begins\]\]\n(.*?)\n\[\[query \1 ends\]\]", re.DOTALL)


def documents_of(asked: Asked) -> list[str]:
    """The documents that a request shows, in its order."""
    return [text for _, _, text in _DOCUMENT.findall(said(asked))]


def query_of(asked: Asked) -> str:
    found = _QUERY.search(said(asked))
    assert found is not None
    return found[2]


def true_grade(text: str) -> int:
    """What a document of `collection` is worth: it says so, for those who know where to look."""
    found = re.search(r"worth (\d+)", text)
    return int(found[1]) if found else 0


def answered(grades: list[int], **more: Any) -> dict[str, Any]:
    """An answer in the form that is asked for."""
    if len(grades) == 1:
        return {"reason": "since", "grade": grades[0], **more}
    listed = [{"document": i, "reason": "since", "grade": grade, **more} for i, grade in enumerate(grades, start=1)]
    return {"grades": listed}


@contextmanager
def right_judge(grade: Callable[[str], int] = true_grade) -> Iterator[Model]:
    with model(lambda asked: answered([grade(text) for text in documents_of(asked)])) as server:
        yield server


def collection(queries: int = 4, docs: int = 5) -> tuple[TestSet, Corpus]:
    """Queries that name documents without saying how good they are."""
    texts = {f"d{q}-{d}": f"text {q} {d} worth {(q + d) % 4}" for q in range(queries) for d in range(docs)}
    named = [Query(f"what is {q}?", {f"d{q}-{d}": 0 for d in range(docs)}, f"q{q}", texts={}) for q in range(queries)]
    return TestSet(named, name="named"), Corpus(texts)
