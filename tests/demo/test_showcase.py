"""The demo tells its story: systems, verdicts, tuning and a report, in either language."""

import shlex
import sys
from pathlib import Path

import pytest

from rankgauge.demo import showcase
from rankgauge.reports.tables import width_of
from rankgauge.words import say
from tests.cli.command import run_command


@pytest.fixture(scope="module")
def found() -> showcase.Showcase:
    """Made once, for it takes some seconds."""
    return showcase.stdlib_showcase()


def test_the_demo(found: showcase.Showcase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(showcase, "stdlib_showcase", lambda say: found)
    done = run_command("demo", "--lang", "zh")
    inconclusive = say("comparison.verdict_inconclusive", "zh")
    for word in ("bm25", "reranked", "ef_search", inconclusive, "rankgauge-demo.html"):
        assert word in done.stdout, word
    page = (tmp_path / "rankgauge-demo.html").read_text()
    assert 'lang="zh' in page
    assert "reranked" in page


def test_the_demo_is_one_screen(found: showcase.Showcase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(showcase, "stdlib_showcase", lambda say: found)
    small = showcase.chinese_showcase()
    monkeypatch.setattr(showcase, "chinese_showcase", lambda say: small)
    for language, decision in (("en", "Keep bm25"), ("zh", "保留 bm25")):
        for options in ([], ["--chinese"]):
            lines = run_command("demo", "--lang", language, *options).stdout.rstrip().splitlines()
            assert len(lines) <= 25
            assert max(map(width_of, lines)) <= 80
            assert lines[2].startswith(decision)
            assert len([line for line in lines if line.startswith(("bm25 ", "dense ", "hybrid ", "reranked "))]) >= 4
            assert any("weight=" in line for line in lines)
            assert ("Python" in lines[0]) is not bool(options)


def test_the_threads_of_libraries_do_not_wait_for_one_another() -> None:
    """One for each call: pools of their own took twice the processor time."""
    pytest.importorskip("threadpoolctl")
    from threadpoolctl import threadpool_info

    with showcase._one_thread():
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}


def test_its_figures_hold_together(found: showcase.Showcase) -> None:
    means = {live.name: live.mean["nDCG@10"] for live in found.evaluations}
    assert means["bm25"] > means["dense"]
    assert found.documents > 4000
    weights, graph = found.sweeps
    assert weights.versions[0].mean == pytest.approx(means["bm25"])  # no weight for the dense part
    recalls = [version.ann_recall for version in graph.versions]
    assert recalls == sorted(recalls)
    assert recalls[-1] > 0.97
    small = showcase.chinese_showcase()
    assert all(live.mean["nDCG@10"] > 0.6 for live in small.evaluations)


def test_all_that_is_missing_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("faiss", "jieba", "jinja2"):
        monkeypatch.setitem(sys.modules, module, None)
    done = run_command("demo", status=2)
    assert not done.stdout
    assert "faiss-cpu, jieba, jinja2: pip install faiss-cpu jieba jinja2 (they are in the extra" in done.stderr
    done = run_command("demo", "--report", "-", status=2)
    assert "faiss-cpu, jieba: pip install faiss-cpu jieba (they are in the extra rankgauge[retrievers])" in done.stderr
    # What can be tried without them is a command that works.
    name, *arguments = shlex.split(done.stderr.rpartition("try: ")[2])
    assert name == "rankgauge"
    assert "hybrid" in run_command(*arguments).stdout
