"""`rankgauge fuse` as a user meets it."""

from __future__ import annotations

import gzip
import json
from importlib.resources import files
from pathlib import Path

import pytest

from rankgauge import Run, evaluate, load_run
from rankgauge.retrievers import fuse
from tests.cli.command import run_command, run_process

EXAMPLE = Path(str(files("rankgauge") / "example"))
SET, BM25, HYBRID = EXAMPLE / "testset.json", EXAMPLE / "bm25.run", EXAMPLE / "hybrid.run"


def same(path: Path, wanted: Run) -> None:
    assert load_run(path).to_dict() == wanted.to_dict()


def test_plain_text_to_standard_output() -> None:
    done = run_process("fuse", BM25, HYBRID)
    assert (done.status, done.stderr) == (0, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert {len(row) for row in rows} == {6}
    assert {row[5] for row in rows} == {"bm25+hybrid"}
    wanted = fuse([load_run(BM25), load_run(HYBRID)])
    assert {(row[0], row[2]): float(row[4]) for row in rows} == {
        (query, doc): score for query, docs in wanted.to_dict().items() for doc, score in docs.items()
    }


@pytest.mark.parametrize("name", ["out.run", "out.run.gz", "out.json", "out.jsonl", "out.csv", "out.parquet", "out"])
def test_ending_tells_the_format(tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    assert run_command("fuse", BM25, HYBRID, "-k", 5, "-o", target).stdout == ""
    same(target, fuse([load_run(BM25), load_run(HYBRID)], k=5))
    if name == "out.json":
        assert isinstance(json.loads(target.read_text()), dict)
    if name.endswith(".gz"):
        assert b" Q0 " in gzip.decompress(target.read_bytes())


def test_weights_in_order_and_by_name(tmp_path: Path) -> None:
    loaded = [load_run(BM25), load_run(HYBRID)]
    wanted = fuse(loaded, "weighted", [0.3, 0.7], norm="z-score")
    options = ("--method", "weighted", "--norm", "z-score", "-o", tmp_path / "out.run")
    run_command("fuse", f"a={BM25}", f"b={HYBRID}", *options, "--weights", "0.3,0.7")
    same(tmp_path / "out.run", wanted)
    run_command("fuse", f"a={BM25}", f"b={HYBRID}", *options, "--weights", "b=0.7, a=0.3", "--tag", "my run")
    same(tmp_path / "out.run", wanted)
    assert (tmp_path / "out.run").read_text().splitlines()[0].endswith(" my_run")
    run_command("fuse", BM25, HYBRID, "--rrf-k", 1, "--weights", "2,1", "-o", tmp_path / "rrf.run")
    same(tmp_path / "rrf.run", fuse(loaded, "rrf", [2, 1], 1))


def test_formats_may_be_mixed_and_one_comes_by_standard_input(tmp_path: Path) -> None:
    run_command("convert", BM25, tmp_path / "bm25.json", "--lossy")
    run_command("fuse", tmp_path / "bm25.json", "-", "-o", tmp_path / "out.run", stdin=HYBRID.read_bytes())
    same(tmp_path / "out.run", fuse([load_run(BM25), load_run(HYBRID)]))
    assert evaluate(SET, tmp_path / "out.run", "nDCG@10").mean["nDCG@10"] > 0.4
    to = run_command("fuse", BM25, HYBRID, "--to", "csv").stdout
    assert to.startswith("query_id,doc_id,score,tag\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((BM25,), "at least two runs"),
        ((BM25, BM25), "two runs are named 'bm25'"),
        ((BM25, "nowhere.run"), "nowhere.run"),
        ((BM25, HYBRID, "--weights", "1"), "1 weight for 2 lists"),
        ((BM25, HYBRID, "--weights", "1,x"), "'x' is no weight"),
        ((BM25, HYBRID, "--weights", "1,-1"), "must be a number of at least 0"),
        ((BM25, HYBRID, "--weights", "0,0"), "all weights are 0"),
        ((f"a={BM25}", f"b={HYBRID}", "--weights", "a=1,c=1"), "weights are for ['a', 'c'], but there are ['a', 'b']"),
        ((f"a={BM25}", f"b={HYBRID}", "--weights", "a=1,1"), "to all weights or to none"),
        ((BM25, HYBRID, "--norm", "z-score"), "--norm is for --method weighted"),
        ((BM25, HYBRID, "--method", "weighted", "--rrf-k", "60"), "--rrf-k is for --method rrf"),
        ((BM25, HYBRID, "--rrf-k", "-2"), "rrf_k=-2.0 must be a number of at least 0"),
        ((BM25, SET), "this is a test set, not a run"),
        (("a=-", "b=-"), "standard input (-) can be given only once"),
        ((BM25, HYBRID, "--method", "sum"), "--method"),
        ((BM25, HYBRID, "-k", "0"), "-k"),
    ],
)
def test_errors_end_with_status_2(arguments: tuple[object, ...], message: str) -> None:
    done = run_command("fuse", *arguments, status=2)
    assert message in done.stderr
    assert not done.stdout


def test_an_input_is_not_overwritten(tmp_path: Path) -> None:
    copy = tmp_path / "bm25.run"
    copy.write_bytes(BM25.read_bytes())
    done = run_command("fuse", copy, HYBRID, "-o", copy, status=2)
    assert "is an input too" in done.stderr
    assert copy.read_bytes() == BM25.read_bytes()


def test_ids_that_plain_text_cannot_hold(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text('{"reset password": {"d1": 0.5}}')
    done = run_command("fuse", tmp_path / "a.json", tmp_path / "b.json", status=2)
    assert "cannot hold the id 'reset password'" in done.stderr
    run_command("fuse", tmp_path / "a.json", tmp_path / "b.json", "-o", tmp_path / "out.json")
    same(tmp_path / "out.json", Run({"reset password": {"d1": 2 / 61}}))
