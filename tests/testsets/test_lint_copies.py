"""Copies of documents and queries that ask the same, against naive comparisons of all pairs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.model.alike_queries import Alike, Asked, alike_queries, repeated
from rankgauge.model.normal_text import NormalText, same_text
from rankgauge.model.query_words import one_letter_apart
from rankgauge.testsets.lint import copies
from rankgauge.testsets.lint.copies import Copy, find_copies, likeness
from tests.oracles.cases import fast


def naive(originals: dict[str, str], corpus: dict[str, str]) -> dict[tuple[str, str], float]:
    """All pairs compared, by the shingles of four words; the words here hold neither signs nor digits."""
    shingles = {
        doc: {tuple(text.split()[i:][:4]) for i in range(len(text.split()) - 3)} for doc, text in corpus.items()
    }
    found = {}
    for a in originals:
        for b in corpus:
            if a != b and corpus[a].split() == corpus[b].split():
                found[a, b] = 1.0
            elif a != b and min(len(corpus[a].split()), len(corpus[b].split())) >= 12:
                alike = len(shingles[a] & shingles[b]) / len(shingles[a] | shingles[b])
                if alike >= 0.9:
                    found[a, b] = min(alike, 0.999)
    return found


def corpus_of(seed: int, documents: int = 150, words: int = 120) -> dict[str, str]:
    """Documents of a small vocabulary, some of which are copies, with more or fewer words changed."""
    chance = random.Random(seed)
    known = ["".join(chance.choices("abcdefgh", k=4)) for _ in range(200)]
    texts = [" ".join(chance.choices(known, k=chance.randint(3, words))) for _ in range(documents)]
    for i in range(0, documents, 5):
        copied = texts[chance.randrange(documents)].split()
        for _ in range(chance.randrange(3)):
            copied[chance.randrange(len(copied))] = chance.choice(known)
        texts[i] = chance.choice((" ", "  ", "\n")).join(copied)
    return {f"d{i}": text for i, text in enumerate(texts)}


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
@pytest.mark.parametrize("block", [50, 5_000, 10_000_000])
def test_no_exact_copy_is_missed_and_no_other_pair_is_told(
    seed: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_BLOCK", block)
    corpus = corpus_of(seed)
    originals = dict(list(corpus.items())[::3])
    steps: list[tuple[int, int]] = []
    found = find_copies(originals, corpus, lambda done, total: steps.append((done, total)))
    assert steps == sorted(set(steps))
    assert steps[-1:] == [(len(corpus), len(corpus))] * (block < 1_000_000)
    told = {(one.original, one.copy): one.similarity for one in found}
    assert len(told) == len(found)
    assert told == naive(originals, corpus)
    assert {one.exact for one in found} == {True, False}


@pytest.mark.parametrize(
    ("a", "b", "exact"),
    [
        ("it’s “here” – now", 'it\'s "here"  -\nnow', True),
        ("北京 大学", "北京大学", True),
        ("cafe\u0301", "café", True),
        ("x", "x", True),
        ("Case counts", "case counts", False),
        ("c++", "c", False),
        ("", "", True),
    ],
)
def test_what_is_the_same_text(a: str, b: str, exact: bool) -> None:
    assert (likeness(a, b) == 1) is exact


LONG = "the pump must be switched off before the valve of the second tank is opened by hand and the pressure is read"


@pytest.mark.parametrize(
    ("change", "near"),
    [
        ((LONG, LONG.upper()), True),
        ((LONG, f"{LONG} twice"), True),
        ((f"{LONG} {LONG[::-1]} in 2019", f"{LONG} {LONG[::-1]} in 2020"), False),
        ((f"{LONG} {LONG[::-1]} and done", f"{LONG} {LONG[::-1]} and not done"), False),
        (("short text", "short texts"), False),
    ],
)
def test_what_is_nearly_the_same(change: tuple[str, str], near: bool) -> None:
    assert (copies._ALIKE <= likeness(*change) < 1) is near
    assert likeness(*change) == likeness(*reversed(change))


def test_boilerplate_costs_no_copy() -> None:
    """Hundreds of documents that differ in one word, and one copy of each of two."""
    page = "all rights reserved by the owners of this site and nothing of it may be copied without a word number"
    corpus = {f"d{i}": f"{page} {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(300)}
    corpus |= {"x": corpus["d7"], "y": corpus["d250"]}
    found = [one for one in find_copies({doc: corpus[doc] for doc in ("d7", "d250")}, corpus) if one.exact]
    assert found == [Copy("d250", "y", 1.0), Copy("d7", "x", 1.0)]


def test_one_text_under_many_ids_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = {f"d{i}": LONG for i in range(40)} | {"other": LONG[::-1]}
    found = find_copies({doc: corpus[doc] for doc in ("d1", "d2", "other")}, corpus)
    assert {(one.original, one.copy) for one in found} == {
        (original, f"d{i}") for original in ("d1", "d2") for i in range(40) if original != f"d{i}"
    }
    monkeypatch.setattr(copies, "_COMPARED", 10)
    assert len(find_copies({"d1": LONG}, corpus)) == 9  # itself is the tenth


def test_nothing_to_look_for() -> None:
    assert find_copies({}, {"d": "text"}) == []
    assert find_copies({"d": ""}, {"d": "", "e": ""}) == []
    assert find_copies({"d": "..."}, {"d": "...", "e": "..."}) == []
    assert find_copies({"d": "text"}, {}) == []


@fast(60)
@given(st.lists(st.text(max_size=30), max_size=12))
def test_whatever_the_texts_copies_are_equal_texts(texts: list[str]) -> None:
    corpus = {f"d{i}": text for i, text in enumerate(texts)}
    told = {(one.original, one.copy) for one in find_copies(corpus, corpus) if one.exact}
    for a, b in told:
        assert same_text(corpus[a], corpus[b])
    forms = {doc: NormalText(text).text for doc, text in corpus.items()}
    for a, form in forms.items():
        for b, other in forms.items():
            if a != b and form == other and form.isascii() and any(c.isalnum() for c in form):
                assert (a, b) in told


# --- queries ----------------------------------------------------------------------------------------------------------


WORDS = [
    *("how", "do", "i", "reset", "the", "password", "of", "my"),
    *("router", "please", "show", "what", "is", "a", "vpn"),
]


@fast(60)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), max_size=12))
def test_pairs_are_symmetric_and_no_query_is_told_twice(drawn: list[list[str]]) -> None:
    queries = [Asked(f"q{i}", " ".join(words)) for i, words in enumerate(drawn)]
    found = alike_queries(queries)
    assert len({one.second for one in found}) == len(found)
    assert all(one.first != one.second for one in found)
    texts = {query.id: query.text for query in queries}
    same = {query.id for group in repeated(queries) for query in group}
    for one in found:
        assert texts[one.first] != texts[one.second]
    back = alike_queries(queries[::-1])
    assert {one.second for one in found} | {one.first for one in found} | same == (
        {one.second for one in back} | {one.first for one in back} | same
    )


def test_across_two_sets_pairs_are_of_one_each() -> None:
    own = [Asked("a", "reset the password"), Asked("b", "reset my password")]
    others = [Asked("x", "how reset a password"), Asked("y", "reset password"), Asked("z", "password reset")]
    found = alike_queries(own, others)
    assert {one.second for one in found} == {"y"}
    assert {one.first for one in found} <= {"a", "b"}
    assert alike_queries(own, []) == []
    assert alike_queries([], others) == []


def test_shared_documents_are_evidence() -> None:
    texts = "maximum weight of checked bag in economy class", "maximum weight of checked bag in economy"
    together = [Asked(f"q{i}", text, frozenset({"d"})) for i, text in enumerate(texts)]
    apart = [Asked(f"q{i}", text, frozenset({f"d{i}"})) for i, text in enumerate(texts)]
    assert alike_queries(together) == [Alike("q0", "q1")]
    assert alike_queries(apart) == []


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        ("accommodation", "accomodation", True),
        ("recieving", "receiving", True),
        ("temperture", "temperature", True),
        ("similarr", "similar", True),
        ("analyzer", "analyser", True),
        ("lightning", "lightening", True),
        ("version1", "version2", False),
        ("house", "horse", False),
        ("reading", "heading", False),
        ("conversion", "conversation", False),
    ],
)
def test_one_slip(a: str, b: str, apart: bool) -> None:
    assert one_letter_apart(a, b) is apart
    assert one_letter_apart(b, a) is apart
