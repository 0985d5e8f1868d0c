"""Files of queries: every form that collections keep them in gives the same texts; faults have their place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import FormatError
from rankgauge.formats.queries import read_queries

TEXTS = {"1": "reset password", "q2": "退款 需要 多久", "30": 'say "no", twice'}
FORMS = {
    "q.tsv": "".join(f"{key}\t{text}\n" for key, text in TEXTS.items()),
    "head.tsv": "qid\tquery\n" + "".join(f"{key}\t{text}\n" for key, text in TEXTS.items()),
    "other.tsv": "query\tquery_id\n" + "".join(f"{text}\t{key}\n" for key, text in TEXTS.items()),
    "q.txt": "\n".join(f"{key}\t{text}" for key, text in TEXTS.items()) + "\n\n",
    "q.csv": 'id,text\n1,reset password\nq2,退款 需要 多久\n30,"say ""no"", twice"\n',
    "q.jsonl": "".join(json.dumps({"_id": key, "text": text}) + "\n" for key, text in TEXTS.items()),
    "odd.jsonl": "".join(json.dumps({"query_id": key, "query": text, "n": 1}) + "\n" for key, text in TEXTS.items()),
    "q.json": json.dumps(TEXTS, indent=2),
    "line.json": json.dumps(TEXTS),
    "list.json": json.dumps([{"id": key, "question": text} for key, text in TEXTS.items()]),
    "bom.tsv": "\ufeff" + "".join(f"{key}\t{text}\n" for key, text in TEXTS.items()),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(FORMS[name], "utf-8")
    assert read_queries(tmp_path / name) == TEXTS
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(FORMS[name].encode()))
    assert read_queries(tmp_path / f"{name}.gz") == TEXTS


def test_a_beir_folder(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text(FORMS["q.jsonl"])
    assert read_queries(tmp_path) == TEXTS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1\treset\nreset password\n3\t\n", r"2 faults.*line 2.*line 3"),
        ("1\treset\n1\tother\n", "line 2|the id '1' stands twice"),
        ("\n", "it holds no query"),
        ('{"_id": "1"}\n', "no query with an id and a text"),
        ('{"_id": "1", "text": "a"}\n{"_id"\n', "this is no JSON"),
        ("[1, 2]", "2 faults"),
        ('{"1": 3}', "no query with an id and a text"),
    ],
)
def test_faults_have_their_place(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    with pytest.raises(FormatError, match=f"(?s){said}"):
        read_queries(tmp_path / "q")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="there is no such file"):
        read_queries(tmp_path / "nowhere.tsv")


WORDS = st.text("abcdefgh ä退", min_size=1).filter(lambda text: text.strip() == text and text)


@given(st.dictionaries(st.from_regex(r"[a-z]{1,4}[0-9]{1,3}", fullmatch=True), WORDS, min_size=1, max_size=5))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, texts: dict[str, str]) -> None:
    folder = tmp_path_factory.mktemp("queries")
    (folder / "q.tsv").write_text("".join(f"{key}\t{text}\n" for key, text in texts.items()), "utf-8")
    (folder / "q.jsonl").write_text("".join(json.dumps({"_id": k, "text": t}) + "\n" for k, t in texts.items()))
    assert read_queries(folder / "q.tsv") == read_queries(folder / "q.jsonl") == texts
