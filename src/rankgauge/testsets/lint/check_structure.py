"""Checks of what queries say of themselves: tags, groups, ids."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check

__all__ = ["arity", "groups", "ids", "tags"]

_HOPS = re.compile(r"(?i)(multi|two|three|[2-9])[-_ ]?hops?|multi[-_ ]?(doc|document|passage|evidence)s?")
_NO_ANSWER = re.compile(r"(?i)(un|not?[-_ ]?)answer(able)?s?|answer[-_ ]?none|out[-_ ]of[-_ ](scope|domain)")
_FEW = 10  # queries of a tag whose mean says little


@check()
def arity(material: Material) -> Iterator[Finding]:
    """Queries that are tagged as needing several documents, or none, and have another number."""
    single, answered = [], []
    for query in material.test_set:
        hops = next((tag for tag in query.tags if _HOPS.fullmatch(tag)), None)
        if hops is not None and not query.no_answer:
            evidence = max(len(query.groups) or len(query.relevant), len(query.spans))
            if evidence == 1:
                single.append({"query": query.id, "tag": hops})
        nothing = next((tag for tag in query.tags if _NO_ANSWER.fullmatch(tag)), None)
        if nothing is not None and query.relevant:
            answered.append({"query": query.id, "tag": nothing, "doc": query.relevant[0]})
    if single:
        yield Finding("one_hop", "warning", single)
    if answered:
        yield Finding("answer_after_all", "warning", answered)


@check()
def groups(material: Material) -> Iterator[Finding]:
    """Groups of evidence that are no several: one group alone, or a document that is all of them."""
    alone = [{"query": query.id} for query in material.test_set if len(query.groups) == 1]
    if alone:
        yield Finding("one_group", "info", alone)
    everywhere = []
    for query in material.test_set:
        if len(query.groups) > 1:
            common = set.intersection(*(set(docs) for docs in query.groups.values()))
            if common:
                everywhere.append({"query": query.id, "doc": min(common), "groups": len(query.groups)})
    if everywhere:
        yield Finding("in_every_group", "info", everywhere)


@check()
def ids(material: Material) -> Iterator[Finding]:
    """Ids with blanks at their ends or signs that nobody sees, and ids that differ by no more than their case, unless
    the corpus holds both."""
    docs = dict.fromkeys(doc for query in material.test_set for doc in query.grades)
    queries = [query.id for query in material.test_set]
    own_ids = queries if any(query.id != query.text for query in material.test_set) else []
    odd = [{"id": name} for name in (*own_ids, *docs) if _odd(name)]
    if odd:
        yield Finding("odd_ids", "warning", odd)
    known = material.corpus or {}
    clashes = [{"id": a, "other": b} for a, b in _collisions(own_ids)]
    clashes += [{"id": a, "other": b} for a, b in _collisions(docs) if a not in known or b not in known]
    if clashes:
        yield Finding("id_collisions", "warning", clashes)


def _odd(name: str) -> bool:
    if name.isprintable():  # whose only blank is the space
        return name != name.strip()
    return any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Zs") for character in name.replace(" ", ""))


def _collisions(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Names that are one but for case, blanks and the composition of letters. Where ids are codes in which case counts,
    as in base64, most names of a kind differ in more."""
    known: dict[str, str] = {}
    for name in names:
        if _odd(name):
            continue
        plain = " ".join(unicodedata.normalize("NFC", name).casefold().split())
        if known.setdefault(plain, name) != name:
            yield known[plain], name


@check()
def tags(material: Material) -> Iterator[Finding]:
    """Tags with few queries, and tags that differ by no more than their case."""
    by_tag = material.test_set.tags
    few = [{"tag": tag, "queries": len(own)} for tag, own in by_tag.items() if len(own) < _FEW]
    if few:
        yield Finding("few_tagged", "info", few, {"of": len(by_tag), "least": _FEW})
    same = [{"tag": a, "other": b} for a, b in _collisions(by_tag)]
    if same:
        yield Finding("tag_spellings", "info", same)
