"""Labels on disk: the same after a round trip, and none lost by a file that was cut short."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import FormatError
from rankgauge.formats import load_qrels
from rankgauge.formats.labels import LabelFile, load_labels, save_labels
from rankgauge.formats.loading import load_judgments
from rankgauge.model.labels import KINDS, Label, Labels

text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
labels = st.builds(
    Label,
    text,
    text,
    st.none() | st.floats(-5, 5),
    text,
    st.sampled_from(KINDS),
    st.sampled_from(["", "2026-05-01T12:00:00+00:00"]),
    text,
    text,
    st.just("") | text,
    st.none() | st.floats(-5, 0),
    st.none() | st.floats(0, 5),
)


@given(given=st.lists(labels, max_size=8))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, given: list[Label]) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    known = Labels(given)
    save_labels(known, path)
    assert load_labels(path) == known
    with LabelFile(path) as file:
        assert file.labels == known
        assert file.add(known) == len(Labels([*known, *known])) - len(known)  # said again: nothing new but changes back


def test_a_label_that_was_cut_short_is_no_label(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with LabelFile(path) as file:
        file.add([Label("q", "d", 1, "ana"), Label("q", "e", 2, "ana", reason="names the year")])
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        expected = (length >= first - 1) + (length >= len(whole) - 1)
        assert len(load_labels(path)) == expected
        with LabelFile(path) as file:
            assert len(file.labels) == expected
            file.add([Label("q", "f", 0, "bo")])
        assert len(load_labels(path)) == expected + 1


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with LabelFile(tmp_path / "l.jsonl"), pytest.raises(FormatError, match="another process"):
        LabelFile(tmp_path / "l.jsonl")
    LabelFile(tmp_path / "l.jsonl").close()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[]", "a label is an object"),
        ('{"query": "q"}', 'no "doc"'),
        ('{"query": "q", "doc": "d", "grade": "2", "judge": "a"}', "no finite number"),
        ('{"query": "q", "doc": "d", "grade": 2, "judge": "a", "grad": 1}', '"grad" is no part'),
        ("{", "no JSON"),
    ],
)
def test_faults_name_their_line(tmp_path: Path, line: str, says: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f'{{"query": "q", "doc": "d", "grade": 1, "judge": "a"}}\n{line}\n')
    with pytest.raises(FormatError, match=f":2: .*{says}"):
        load_labels(path)
    with pytest.raises(FormatError, match=says):
        LabelFile(path)


@pytest.mark.parametrize("data", [b'[{"id": "q1", "query": "x"}]', b'{"query": "q"}', b"not JSON", b'{"id": 1', b"3"])
def test_a_file_of_something_else_loses_nothing(data: bytes, tmp_path: Path) -> None:
    """Only what begins as our own lines do is a line that was cut short."""
    (tmp_path / "other").write_bytes(data)
    with pytest.raises(FormatError, match="this is no label"):
        LabelFile(tmp_path / "other")
    assert (tmp_path / "other").read_bytes() == data


@pytest.mark.parametrize("data", [b'{"query":' + b"[" * 200_000, b"[" * 200_000])
def test_a_last_line_nested_too_deeply(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(data)
    with pytest.raises(FormatError, match="no label"):
        LabelFile(path)
    assert path.read_bytes() == data


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of a file's size")
def test_what_follows_a_full_disk_is_whole(tmp_path: Path) -> None:
    """Half of a label must not stay, or the next one is written behind it and neither can be read."""
    program = """
import resource, signal, sys
from rankgauge.errors import FormatError
from rankgauge.formats import load_qrels
from rankgauge.formats.loading import load_judgments
from rankgauge.formats.labels import LabelFile
from rankgauge.model.labels import Label
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with LabelFile(sys.argv[1]) as file:
    file.add([Label("q", "d", 1, "ana")])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        file.add([Label("q", "e", 2, "ana", reason="x" * 500)])
    except FormatError as error:
        assert "cannot be written" in str(error)
    else:
        raise SystemExit("the disk was not full")
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    file.add([Label("q", "f", 3, "ana")])
"""
    path = tmp_path / "labels.jsonl"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)
    assert [(label.doc, label.grade) for label in load_labels(path)] == [("d", 1.0), ("f", 3.0)]


@pytest.mark.parametrize("end", ["\n", ""])
def test_two_grades_in_one_line_are_none(end: str, tmp_path: Path) -> None:
    """The second must not win without a word."""
    path = tmp_path / "labels.jsonl"
    path.write_text('{"query": "q", "doc": "d", "grade": 1, "grade": 3, "judge": "ana"}' + end)
    if end:
        with pytest.raises(FormatError, match="'grade' stands twice"):
            load_labels(path)
    with pytest.raises(FormatError, match="'grade' stands twice"):
        LabelFile(path)
    assert path.stat().st_size == len('{"query": "q", "doc": "d", "grade": 1, "grade": 3, "judge": "ana"}' + end)


def test_queries_without_labels_are_no_judgments(tmp_path: Path) -> None:
    """They were once read as judgments of a query named "queries"."""
    (tmp_path / "q.json").write_text('{"queries": [{"id": "q0", "text": "hello"}]}')
    with pytest.raises(FormatError, match="queries without labels"):
        load_judgments(tmp_path / "q.json")
    (tmp_path / "j.json").write_text('{"queries": {"d1": 1}}')
    assert load_qrels(tmp_path / "j.json").to_dict() == {"queries": {"d1": 1.0}}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("q.txt", "q1 0 d1 1\nq1 0 d2 0\n", "TREC judgments"),
        ("q.json", '{\n"q1": {"d1": 1},\n"q2": {"d2": 2}\n}', "judgments"),
        ("r.txt", "q1 Q0 d1 1 9.5 a\nq1 Q0 d2 2 8.5 a\n", "a run"),
        ("s.json", '{"queries": [{"id": "q0",\n"text": "hello",\n"relevant_docs": ["d1"]}]}', "a test set"),
    ],
)
def test_a_file_of_another_kind_is_named(name: str, text: str, kind: str, tmp_path: Path) -> None:
    """Each of its lines was a fault."""
    (path := tmp_path / name).write_text(text)
    with pytest.raises(FormatError, match=f"this seems to be {kind}, not labels") as raised:
        load_labels(path)
    assert raised.value.total == 1
    assert "rankgauge testset" in raised.value.hint


def test_a_label_without_a_judge_is_no_judgment(tmp_path: Path) -> None:
    (path := tmp_path / "l.jsonl").write_text('{"query": "q", "doc": "d", "grade": 1}\n' * 2)
    with pytest.raises(FormatError, match='it has no "judge"'):
        load_labels(path)
