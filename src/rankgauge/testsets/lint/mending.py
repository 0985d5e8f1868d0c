"""What can be mended without a judgment: nothing is guessed, and whatever was changed is listed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rankgauge.model.alike_queries import repeated
from rankgauge.model.testset import Query, TestSet
from rankgauge.testsets.lint.check_documents import nearby
from rankgauge.testsets.lint.check_queries import asked, contradiction
from rankgauge.testsets.lint.findings import Mended
from rankgauge.testsets.lint.material import Material

__all__ = ["mend"]


def mend(material: Material, checks: Collection[str]) -> tuple[TestSet, list[Mended]]:
    """The test set with what some checks look for mended, where that can be, and each change.

    Queries without a text are left out; ids that differ from the corpus by case or blanks alone become those of the
    corpus; exact copies of relevant documents get their grades; queries with the same text and no contradicting grades
    become one.
    """
    done: list[Mended] = []
    queries = list(material.test_set)
    if "query-texts" in checks:
        done += [Mended("empty_query", query.id) for query in queries if _is_empty(query)]
        queries = [query for query in queries if not _is_empty(query)]
    if "missing-documents" in checks and material.corpus is not None:
        gone = [doc for doc in material.relevant if doc not in material.corpus]
        there = {doc: name for doc, name in nearby(gone, material.corpus).items() if name}
        queries = [_renamed(query, there, done) for query in queries]
    if "copied-documents" in checks:
        copies: dict[str, list[str]] = {}
        for one in material.copies:
            if one.exact:
                copies.setdefault(one.original, []).append(one.copy)
        queries = [_with_copies(query, copies, done) for query in queries] if copies else queries
    if "repeated-queries" in checks:
        queries = _merged(TestSet(queries, name=material.test_set.name), done)
    return material.test_set.with_queries(queries), done


def _is_empty(query: Query) -> bool:
    return not any(character.isalnum() for character in query.text)


def _renamed(query: Query, there: Mapping[str, str], done: list[Mended]) -> Query:
    """The query with the ids of the corpus; not where the right id is judged already."""
    own = {doc: there[doc] for doc in query.grades if doc in there and there[doc] not in query.grades}
    if not own:
        return query
    done += [Mended("respelled_ids", query.id, doc, name) for doc, name in own.items()]
    return replace(
        query,
        grades={own.get(doc, doc): grade for doc, grade in query.grades.items()},
        texts={own.get(doc, doc): text for doc, text in query.texts.items()},
        groups={name: tuple(own.get(doc, doc) for doc in docs) for name, docs in query.groups.items()},
        spans=tuple(replace(span, doc=own.get(span.doc, span.doc)) for span in query.spans),
    )


def _with_copies(query: Query, copies: Mapping[str, list[str]], done: list[Mended]) -> Query:
    """The query with the grade of a relevant document for its unjudged copies, and their places in its groups; not
    where its copies were judged otherwise."""
    grades, groups = dict(query.grades), {name: list(docs) for name, docs in query.groups.items()}
    for doc in query.relevant:
        own = copies.get(doc, [])
        if {query.grades[copy] for copy in own if copy in query.grades} - {query.grades[doc]}:
            continue
        for copy in own:
            if copy not in grades:
                grades[copy] = query.grades[doc]
                done.append(Mended("copied_documents", query.id, copy, doc))
                for docs in groups.values():
                    if doc in docs:
                        docs.append(copy)
    return query if len(grades) == len(query.grades) else replace(query, grades=grades, groups=groups)


def _merged(test_set: TestSet, done: list[Mended]) -> list[Query]:
    """The queries, where those with one text and no contradiction are one."""
    made = {query.id: query for query in test_set}
    for group in repeated(asked(test_set)):
        first = group[0].id
        for one in group[1:]:
            a, b = made[first], made[one.id]
            if contradiction(a, b) is not None or a.no_answer != b.no_answer or dict(a.groups) != dict(b.groups):
                continue
            if a.groups and dict(a.grades) != dict(b.grades):
                continue
            if a.synthetic != b.synthetic:
                continue
            done.append(Mended("repeated_queries", one.id, to=first))
            made[first] = replace(
                a,
                grades={**b.grades, **a.grades},
                tags=tuple(dict.fromkeys((*a.tags, *b.tags))),
                texts={**b.texts, **a.texts},
                spans=tuple(dict.fromkeys((*a.spans, *b.spans))),
            )
            del made[one.id]
    return list(made.values())
