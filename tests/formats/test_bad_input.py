"""What must work although it looks odd, and what must fail with a clear word, status 2 and nothing half-written."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from rankgauge import RankgaugeError, evaluate, load_qrels, load_run
from rankgauge.errors import FormatError
from rankgauge.formats.sources import write_whole
from tests.cli.command import run_command

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n"
RUN = "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\nq2 Q0 d3 1 9 t\nq2 Q0 d1 2 8 t\n"


def zst(text: str) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        write_whole(Path(folder) / "x.zst", text.encode())
        return (Path(folder) / "x.zst").read_bytes()


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


ODD = {
    "byte-order mark": "\ufeff" + RUN,
    "windows line ends": RUN.replace("\n", "\r\n"),
    "old mac line ends": RUN.replace("\n", "\r"),
    "tabs": RUN.replace(" ", "\t"),
    "several spaces": RUN.replace(" ", "   "),
    "mixed white space": RUN.replace(" Q0 ", "\t Q0  "),
    "leading and trailing spaces": "".join(f"  {line}  \n" for line in RUN.splitlines()),
    "comments": "# a run\n" + RUN + "# the end\n",
    "comment of six words": "# a b c d 5\n" + RUN,
    "blank lines": "\n\n" + RUN.replace("\n", "\n\n"),
    "lines of white space": RUN.replace("\n", "\n \t \n"),
    "extra columns": RUN.replace(" t\n", " t and more\n"),
    "extra columns in one line": RUN.replace(" 1.5 t", " 1.5 t and more"),
    "no last line end": RUN.rstrip("\n"),
    "plus signs and exponents": RUN.replace("2.5", "+2.5e0"),
    "not grouped by query": "\n".join(RUN.splitlines()[i] for i in (2, 0, 3, 1)) + "\n",
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_runs_are_read(tmp_path: Path, odd: str) -> None:
    plain = evaluate(write(tmp_path, "qrels", QRELS), write(tmp_path, "run", RUN), ["AP", "nDCG@2"])
    result = evaluate(write(tmp_path, "qrels", QRELS), write(tmp_path, "odd", ODD[odd]), ["AP", "nDCG@2"])
    assert result.mean == plain.mean
    assert load_run(tmp_path / "odd").to_dict() == load_run(tmp_path / "run").to_dict()


@pytest.mark.parametrize(
    "odd", ["byte-order mark", "windows line ends", "tabs", "several spaces", "comments", "blank lines"]
)
def test_odd_judgments_are_read(tmp_path: Path, odd: str) -> None:
    change = {
        "byte-order mark": "\ufeff" + QRELS,
        "windows line ends": QRELS.replace("\n", "\r\n"),
        "tabs": QRELS.replace(" ", "\t"),
        "several spaces": QRELS.replace(" ", "  "),
        "comments": "# judgments\n" + QRELS,
        "blank lines": QRELS.replace("\n", "\n\n"),
    }[odd]
    assert load_qrels(write(tmp_path, "odd", change)).to_dict() == load_qrels(write(tmp_path, "plain", QRELS)).to_dict()


def test_quotes_and_other_scripts_in_ids(tmp_path: Path) -> None:
    ids = ['"quoted', "it's", "中文文档", "émile", "a,b", "'", '""']
    qrels = write(tmp_path, "qrels", "".join(f"查询 0 {doc} 1\n" for doc in ids))
    run = write(tmp_path, "run", "".join(f"查询 Q0 {doc} {i} {-i} t\n" for i, doc in enumerate(ids)))
    assert evaluate(qrels, run, "R@10").mean["R@10"] == 1.0


def test_compressed_files(tmp_path: Path) -> None:
    qrels = write(tmp_path, "qrels.gz", gzip.compress(QRELS.encode()))
    run = write(tmp_path, "run.zst", zst(RUN))
    assert (
        evaluate(qrels, run, "AP").mean == evaluate(write(tmp_path, "q", QRELS), write(tmp_path, "r", RUN), "AP").mean
    )


def test_identical_repeats_of_a_judgment_are_merged(tmp_path: Path) -> None:
    assert load_qrels(write(tmp_path, "qrels", QRELS + QRELS)).to_dict() == {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 2}}


# name: (judgments, run, parts of the message)
BAD = {
    "empty run": (QRELS, "", ["run", "empty"]),
    "empty judgments": ("", RUN, ["qrels", "empty"]),
    "only comments": (QRELS, "# nothing\n\n", ["run", "empty"]),
    "too few columns": (QRELS, RUN + "q2 Q0 d7 3 7\n", ["run:5", "5 columns; 6 are needed"]),
    "short and long lines make up for each other": (QRELS, "q1 Q0 d1 1 2\nq1 Q0 d2 2 1 t t\n", ["run:1", "5 columns"]),
    "double space and a column short": (QRELS, "q1 Q0 d1  1 2\n", ["run:1", "5 columns"]),
    "text in the score column": (QRELS, RUN.replace("1.5", "high"), ["run:2", "'high' is no finite number"]),
    "underscore in a number": (QRELS, RUN.replace("1.5", "1_5"), ["run:2", "'1_5' is no finite number"]),
    "not a number": (QRELS, RUN.replace("1.5", "nan"), ["run:2", "'nan' is no finite number"]),
    "infinity": (QRELS, RUN.replace("1.5", "-inf"), ["run:2", "'-inf' is no finite number"]),
    "too large a number": (QRELS, RUN.replace("1.5", "1e999"), ["run:2", "no finite number"]),
    "grade is no number": (QRELS.replace("d2 0", "d2 yes"), RUN, ["qrels:2", "the grade 'yes' is no finite number"]),
    "document twice": (
        QRELS,
        RUN + "q2 Q0 d3 3 7 t\n",
        ["run:5", "'d3' of query 'q2' stands already on line 3", "--duplicates first"],
    ),
    "contradicting judgments": (QRELS + "q1 0 d1 2\n", RUN, ["qrels:4", "has grade 2, but grade 1 on line 1"]),
    "judgments given as run": (QRELS, QRELS, ["3 faults", "this looks like judgments"]),
    "run given as judgments": (RUN, RUN, ["this looks like a run"]),
    "not UTF-8": (QRELS, "q1 Q0 文档 1 2 t\n".encode("gb18030"), ["run:1", "not UTF-8"]),
    "no query in common": (QRELS, RUN.replace("q", "x"), ["no query in common", "'x1'", "'q1'"]),
    "queries written differently": (
        "007 0 d 1\n",
        "7 Q0 d 1 1 t\n",
        ["no query in common", "same numbers written differently"],
    ),
    "documents written differently": ("1 0 007 1\n", "1 Q0 7 1 1 t\n", ["no document in common", "write them alike"]),
    "a contradicting test set": (
        '[{"query": "a", "relevant_docs": ["d1"], "relevance_scores": {"d1": 0}}]',
        RUN,
        ["query 1", "listed as relevant, but scored 0"],
    ),
    "damaged gzip": (QRELS, gzip.compress(RUN.encode())[:-12], ["damaged"]),
    "damaged zstandard": (QRELS, zst(RUN * 50)[:-9], ["damaged"]),
    "broken JSON": (QRELS, '{"q1": {"d1": 1}', ["no JSON"]),
    "JSON with a number as a text": (QRELS, '{"q1": {"d1": "0.5"}}', ["the score '0.5' is a text; write a number"]),
    "texts of queries for judgments": (
        '{"_id": "q1", "text": "reset it"}\n{"_id": "q2", "text": "close it"}\n',
        RUN,
        ["it has the text of a query and no judgments"],
    ),
    "JSON with NaN": (QRELS, '{"q1": {"d1": NaN}}', ["NaN is no finite number"]),
    "CSV without a header": (QRELS, "query_id,score\nq1,2\n", ["run"]),
    "CSV with a text score": (QRELS, "query_id,doc_id,score\nq1,d1,high\n", ["run:2", "'high' is no finite number"]),
}


@pytest.mark.parametrize("bad", BAD)
def test_bad_input_fails_clearly(tmp_path: Path, bad: str) -> None:
    qrels, run, parts = BAD[bad]
    write(tmp_path, "qrels", qrels)
    write(tmp_path, "run", run)
    target = tmp_path / "out.json"
    done = run_command("evaluate", tmp_path / "qrels", tmp_path / "run", "-o", target, status=2)
    for part in parts:
        assert part in done.stderr, done.stderr
    assert done.stderr.startswith("rankgauge: ")
    assert not done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["qrels", "run"]
    with pytest.raises(RankgaugeError):
        evaluate(tmp_path / "qrels", tmp_path / "run")


def test_missing_file(tmp_path: Path) -> None:
    write(tmp_path, "qrels", QRELS)
    done = run_command("evaluate", tmp_path / "qrels", tmp_path / "nowhere", status=2)
    assert "nowhere: there is no such file" in done.stderr
    (tmp_path / "folder").mkdir()
    done = run_command("evaluate", tmp_path / "folder", tmp_path / "qrels", status=2)
    assert "folder: no file is in this folder" in done.stderr


def test_all_faults_are_listed_up_to_twenty(tmp_path: Path) -> None:
    run = write(tmp_path, "run", RUN + "".join(f"q1 Q0 x{i} 1 bad{i} t\n" for i in range(30)))
    with pytest.raises(FormatError) as caught:
        load_run(run)
    assert caught.value.total == 30
    assert len(caught.value.faults) == 20
    assert "line 5: the score 'bad0'" in str(caught.value)
    assert "and 10 more" in str(caught.value)


def test_duplicates_can_be_told_to_keep_the_better_one(tmp_path: Path) -> None:
    qrels = write(tmp_path, "qrels", "q 0 a 1\nq 0 b 1\n")
    run = write(tmp_path, "run", "q Q0 b 1 5 t\nq Q0 a 2 4 t\nq Q0 a 3 9 t\nq Q0 n 4 6 t\n")
    result = evaluate(qrels, run, ["AP", "NumRet"], duplicates="first")
    assert result.mean["AP"] == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert result.mean["NumRet"] == 3
    given = evaluate(qrels, run, "AP", duplicates="first", ties="given")
    assert given.mean["AP"] == 1.0


def test_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    from rankgauge.formats import sources

    target = write(tmp_path, "out.json", "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(FormatError, match="No space left"):
        sources.write_whole(target, b"new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_record_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "record.json").write_text('{"format": "rankgauge.record", "version": 2}')
    with pytest.raises(FormatError, match="this is a record"):
        load_run(tmp_path / "record.json")
