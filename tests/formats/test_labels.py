"""Labels on disk: the same after a round trip, and none lost by a file that was cut short."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import FormatError
from rankgauge.formats.labels import LabelFile, load_labels, save_labels
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
