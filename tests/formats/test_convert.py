"""What a conversion keeps, and what it names before dropping it."""

from pathlib import Path

import pytest

from rankgauge import Query, TestSet, load_qrels
from rankgauge.errors import FormatError
from rankgauge.formats.convert import convert


@pytest.mark.parametrize("between", ["x.csv", "x.tsv", "x.parquet", "x.jsonl"])
def test_a_runs_tag_comes_back(tmp_path: Path, between: str) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 2.0 my-tag\n")
    convert(str(tmp_path / "a.run"), str(tmp_path / between))
    convert(str(tmp_path / between), str(tmp_path / "b.run"))
    assert (tmp_path / "b.run").read_text().split()[-1] == "my-tag"


def test_json_has_no_place_for_a_runs_tag(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 d 1 2.0 my-tag\n")
    with pytest.raises(FormatError, match="my-tag"):
        convert(str(tmp_path / "a.run"), str(tmp_path / "b.json"))
    convert(str(tmp_path / "a.run"), str(tmp_path / "b.json"), lossy=True)


def test_whole_grades_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q 0 d 2\n")
    convert(str(tmp_path / "a.qrels"), str(tmp_path / "b.csv"))
    assert (tmp_path / "b.csv").read_text().split()[1] == "q,d,2"


@pytest.mark.parametrize("group", ["hop 1", "a\tb", "b\u2003"])
def test_groups_that_columns_cannot_hold(group: str, tmp_path: Path) -> None:
    """They were written as more columns than there are, which nothing could read."""
    grouped = TestSet([Query("q1", {"a": 1, "b": 1}, groups={group: ["a"], "other": ["b"]})])
    with pytest.raises(FormatError, match="cannot hold the subtopic"):
        grouped.save(tmp_path / "out.qrels")
    assert not (tmp_path / "out.qrels").exists()
    grouped.qrels.save(tmp_path / "out.csv")
    assert set(load_qrels(tmp_path / "out.csv").frame["subtopic"]) == {group, "other"}
