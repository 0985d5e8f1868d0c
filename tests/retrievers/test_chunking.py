"""Chunks of a corpus: every mode obeys the same laws, over any text, and cuts where a reader would."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankgauge
from rankgauge import chunk
from rankgauge.errors import DataError
from rankgauge.retrievers.chunking import BY
from rankgauge.retrievers.splitting import headings

LENGTHS = {
    "characters": len,
    "words": lambda text: len(text.split()),
    "tokens": lambda text: len(re.findall(r"\w{1,3}|\S", text)),
}
PARTS = [
    *(" ", "\n", "\n\n", "\t", "\u3000", "a", "word", "sentence. ", "Why? ", "x" * 40, "....", "é", "\U0001f600"),
    *("第一句。", "你好，", "“好！”", "# Title\n", "```\n# no\n```\n", "- entry\n"),
]
TEXTS = st.one_of(st.lists(st.sampled_from(PARTS), max_size=40).map("".join), st.text(max_size=120))


@settings(max_examples=300, deadline=None)
@given(
    text=TEXTS,
    size=st.integers(1, 60),
    share=st.floats(0, 0.99),
    by=st.sampled_from(BY),
    unit=st.sampled_from(sorted(LENGTHS)),
)
def test_laws_of_all_modes(text: str, size: int, share: float, by: str, unit: str) -> None:
    if not text.strip():
        with pytest.raises(DataError, match="holds no text"):
            chunk({"d": text}, size, by=by)
        return
    length = LENGTHS[unit]
    overlap = int(share * size)
    made = chunk({"d": text}, size, overlap, by=by, length=length)
    assert list(made) == [f"d#{number}" for number in range(len(made))]
    covered = [False] * len(text)
    before = (-1, -1)
    for one in made.values():
        assert one.start is not None
        assert one.end is not None
        assert one.doc == "d"
        assert one.text == text[one.start : one.end]
        assert one.text == one.text.strip()
        assert one.text
        assert length(one.text) <= size or one.end - one.start == 1
        assert one.start > before[0]  # each brings something new
        assert one.end > before[1]
        if one.start < before[1]:
            assert length(text[one.start : before[1]]) <= overlap
        before = (one.start, one.end)
        covered[one.start : one.end] = [True] * (one.end - one.start)
    assert all(done or character.isspace() for done, character in zip(covered, text, strict=True))
    assert dict(made) == dict(chunk({"d": text}, size, overlap, by=by, length=length))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["# One\n", "## Two\n", "Some text. More of it.\n", "\n", "Un\n==\n"]), max_size=20))
def test_no_chunk_reaches_across_a_heading(texts: list[str]) -> None:
    text = "".join([*texts, "end"])
    heads = [start for start, _ in headings(text)]
    for one in chunk({"d": text}, 50, by="headings").values():
        assert one.start is not None
        assert one.end is not None
        inner = [start for start in heads if one.start < start < one.end]
        # Only headings that follow one another without a text between stand in one chunk.
        assert all(not re.search(r"Some|More", text[one.start : start]) for start in inner)


def test_greedy_over_sentences() -> None:
    text = "One two. Three four. Five six seven. Eight."
    assert list(chunk({"d": text}, 20).texts.values()) == ["One two. Three four.", "Five six seven.", "Eight."]
    assert list(chunk({"d": text}, 24, 12).texts.values()) == ["One two. Three four.", "Five six seven. Eight."]
    assert list(chunk({"d": text}, 30, 13).texts.values())[1] == "Three four. Five six seven."
    assert list(chunk({"d": text}, 30, 0.5).texts.values())[1] == "Three four. Five six seven."
    assert list(chunk({"d": "One. Two. Three. Four."}, 14, 5).texts.values()) == ["One. Two.", "Two. Three.", "Four."]


def test_words_and_characters() -> None:
    assert list(chunk({"d": "aa bb cc dd"}, 5, by="words").texts.values()) == ["aa bb", "cc dd"]
    assert list(chunk({"d": "aa bb cc dd"}, 5, by="characters").texts.values()) == ["aa bb", "cc dd"]
    assert list(chunk({"d": "aa bb ccc"}, 4, by="characters").texts.values()) == ["aa b", "b cc", "c"]
    assert list(chunk({"d": "aa bb"}, 3, 1, by="words", length=len).texts.values()) == ["aa", "bb"]
    assert list(chunk({"d": "abcdefgh"}, 4, 2, by="characters").texts.values()) == ["abcd", "cdef", "efgh"]
    assert list(chunk({"d": "short incomprehensibilities"}, 10, by="words").texts.values()) == [
        "short",
        "incomprehe",
        "nsibilitie",
        "s",
    ]


def test_chinese_sentences() -> None:
    text = "今天天气很好。我们去公园吧！“好啊！”他说。你呢？"
    cut = ["今天天气很好。", "我们去公园吧！", "“好啊！”他说。", "你呢？"]
    assert list(chunk({"d": text}, 8).texts.values()) == cut
    assert next(iter(chunk({"d": text}, 4, by="words").texts.values())) == "今天天气"


def test_headings_of_markdown() -> None:
    text = """preface

# Title

## First
text of the first
```python
# a comment, no heading
```
more

Second
------
text of the second
~~~
## neither
~~~
    # indented code
| a |
|---|
#hashtag
# Third #
"""
    parts = list(chunk({"d": text}, 1000, by="headings").texts.values())
    assert [part.split("\n")[0] for part in parts] == ["preface", "# Title", "Second", "# Third #"]
    assert "# a comment" in parts[1]
    assert "#hashtag" in parts[2]


def test_a_corpus_of_several_documents(tmp_path: Path) -> None:
    file = tmp_path / "corpus.jsonl"
    file.write_text('{"_id": "a", "text": "One. Two."}\n{"_id": "b", "text": "Three."}\n{"_id": "c", "text": ""}\n')
    made = chunk(file, 5)
    assert made.parents == {"a#0": "a", "a#1": "a", "b#0": "b", "b#1": "b"}
    assert made.by_document == {"a": ["a#0", "a#1"], "b": ["b#0", "b#1"]}
    rankgauge.save_chunks(made, tmp_path / "chunks.jsonl")
    assert dict(rankgauge.load_chunks(tmp_path / "chunks.jsonl")) == dict(made)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"size": 0}, "size=0 must be a whole number of at least 1"),
        ({"size": 10, "overlap": 10}, "overlap=10 must be less than size=10"),
        ({"size": 10, "overlap": -1}, "overlap=-1 must be a number of at least 0"),
        ({"size": 10, "by": "pages"}, "by='pages' must be one of characters, words, sentences, headings"),
        ({"size": 10, "length": 3}, "`length` must be a function"),
        ({"size": 10, "length": lambda text: "3"}, "`length` must give a text a number"),
        ({"size": 10, "lenght": len}, "did you mean length"),
    ],
)
def test_mistakes_are_told(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=re.escape(said)):
        chunk({"d": "a text"}, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("part", ["Some words. ", "." * 50, "\n" * 50, "x" * 50, "#\n", "好" * 50], ids=range(6))
def test_a_megabyte_takes_a_moment(by: str, part: str) -> None:
    start = time.perf_counter()
    chunk({"d": "A" + part * (1_000_000 // len(part))}, 800, 100, by=by)
    assert time.perf_counter() - start < 5
