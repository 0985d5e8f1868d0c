"""Passages found in a corpus: against a plain search, with places that read back exactly."""

from __future__ import annotations

import time
import unicodedata
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.model.normal_text import NormalText, words_of
from rankgauge.testsets import finding
from rankgauge.testsets.finding import Place, find_nearest, find_passages
from tests.oracles.cases import fast

LETTERS = "ab \n\t“”\"'’-—\u00ad\u200bé中文，0\U0001f600"
TEXTS = st.text(LETTERS, max_size=30)


def slow_form(text: str) -> str:
    """The normal form, one character after the other."""
    signs = {"“": '"', "”": '"', "’": "'", "—": "-"}
    kept = "".join(signs.get(c, c) for c in unicodedata.normalize("NFC", text) if c not in "\u00ad\u200b")
    words = kept.split()
    made = ""
    for word in words:
        wide = bool(made) and all("\u2e80" <= c <= "\uffef" for c in (made[-1], word[0]))
        made += word if not made or wide else f" {word}"
    return made


@fast(300)
@given(TEXTS, st.booleans())
def test_the_normal_form(text: str, decomposed: bool) -> None:
    given_text = unicodedata.normalize("NFD", text) if decomposed else text
    form = NormalText(given_text)
    assert form.text == slow_form(text)
    for at, letter in enumerate(form.text):
        start, end = form.place(at, at + 1)
        assert 0 <= start < end <= len(given_text)
        assert letter == " " or NormalText(given_text[start:end]).text == letter
    assert NormalText(form.text).text == form.text


def test_places_of_composed_letters() -> None:
    original = "  “Cafe\u0301”  of\u00adten — no"
    form = NormalText(original)
    assert form.text == '"Café" often - no'
    for part, wanted in (("Café", "Cafe\u0301"), ("often", "of\u00adten"), ('"Café"', "“Cafe\u0301”")):
        at = form.text.index(part)
        start, end = form.place(at, at + len(part))
        assert original[start:end] == wanted


def test_words() -> None:
    assert words_of("It's 3.5%，中文\n文本 ok") == ["It", "s", "3", "5", "中", "文", "文", "本", "ok"]


@fast(200)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.data())
def test_every_place_is_found(texts: list[str], data: st.DataObject) -> None:
    corpus = {f"d{i}": text for i, text in enumerate(texts)}
    doc = data.draw(st.sampled_from(list(corpus)))
    size = len(corpus[doc])
    start = data.draw(st.integers(0, size))
    passage = corpus[doc][start : data.draw(st.integers(start, size))]
    form = slow_form(passage)
    found = find_passages([passage], corpus)[passage]
    forms = {own: slow_form(text) for own, text in corpus.items()}
    wanted = {
        own: [at for at in range(len(text)) if text.startswith(form, at)] for own, text in forms.items() if form
    }
    if not found.whole:
        assert found.docs == {own: len(places) for own, places in wanted.items() if places}
    assert found.total <= sum(map(len, wanted.values()))
    assert bool(found.total) == any(wanted.values())
    for place in found.places:
        assert slow_form(corpus[place.doc][place.start : place.end]) == form


def test_whole_words_win() -> None:
    corpus = {"a": "a party of art", "b": "smart"}
    assert find_passages(["art"], corpus)["art"].places == [Place("a", 11, 14)]
    assert find_passages(["mar"], corpus)["mar"].places == [Place("b", 1, 4)]
    assert find_passages(["文"], {"a": "中文文"})["文"].total == 2


def test_blanks_around_a_passage_stay() -> None:
    corpus = {"a": "one. Two three. Four"}
    assert find_passages([" Two three. "], corpus)[" Two three. "].places == [Place("a", 4, 16)]
    assert find_passages(["\nTwo  three.\n"], corpus)["\nTwo  three.\n"].places == [Place("a", 5, 15)]


def test_blocks_and_slices_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(1)
    words = ["".join(rng.choices("abcde", k=rng.randint(1, 6))) for _ in range(60)]
    corpus = {f"d{i}": " ".join(rng.choices(words, k=rng.randint(1, 80))) for i in range(40)}
    passages = []
    for _ in range(200):
        text = corpus[f"d{rng.randrange(40)}"]
        start = rng.randrange(len(text))
        passages.append(text[start : start + rng.randint(1, 90)])
    whole = find_passages(passages, corpus)
    monkeypatch.setattr(finding, "_BLOCK", 100)
    monkeypatch.setattr(finding, "_SLICE", 37)
    assert find_passages(passages, corpus) == whole


def test_the_nearest_place() -> None:
    corpus = {"a": "Nothing of it. " * 20, "b": "First. Politics have derailed this bill so far. The end comes now."}
    (found, nothing) = find_nearest(["politics have really derailed this bill so far", "12345 67890 xyz"], corpus)
    assert found is not None
    assert corpus["b"][found.place.start : found.place.end].endswith("have derailed this bill so far")
    assert 0.8 < found.similarity < 1
    assert nothing is None


def test_ten_thousand_passages_in_a_large_corpus() -> None:
    """A tenth of what is promised, 50 MB, in a tenth of the time; the time must not grow with passages times text."""
    rng = Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    corpus = {f"d{i}": " ".join(rng.choices(words, k=800)) for i in range(950)}
    passages = []
    for _ in range(10_000):
        text = corpus[f"d{rng.randrange(950)}"]
        start = rng.randrange(len(text) - 300)
        passages.append(text[start : start + rng.randint(30, 300)])
    began = time.process_time()
    found = find_passages(passages, corpus)
    assert time.process_time() - began < 10
    assert all(one.total for one in found.values())
