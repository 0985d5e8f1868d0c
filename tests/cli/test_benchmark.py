"""`rankgauge benchmark` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge.words import LANGUAGES
from tests.benchmarks import sources
from tests.benchmarks.sources import put
from tests.cli.command import run_command, run_terminal


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("words", [(), ("beir",), ("--language", "zh")])
def test_lists_fit_a_screen(words: tuple[str, ...], language: str) -> None:
    done = run_terminal("benchmark", "list", *words, "--lang", language)
    assert len(done.stdout.splitlines()) <= 25
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


def test_a_long_list_is_whole_with_details() -> None:
    done = run_command("benchmark", "list", "mteb", "--lang", "en")
    assert "10 more: --details" in done.stdout
    whole = run_command("benchmark", "list", "mteb", "--details", "--lang", "en").stdout
    assert sum(line.startswith("mteb-") for line in whole.splitlines()) == 30


def test_one_entry_names_licence_sources_and_citation() -> None:
    done = run_command("benchmark", "show", "dl19-passage", "--lang", "en")
    for said in ("non-commercial research", "msmarco-passage/trec-dl-2019", "0.5058", "castorini/anserini", "--from"):
        assert said in done.stdout
    value = json.loads(run_command("benchmark", "show", "beir-scifact", "--json").stdout)
    assert value["downloads"][0]["md5"] == "5f7d1de60b170fc8027bb7898e2efca1"
    assert value["bm25"]["figures"]["nDCG@10"] == 0.6789


def test_an_entry_without_a_verified_figure_says_so() -> None:
    assert "no BM25 figure could be verified" in run_command("benchmark", "show", "lecard", "--lang", "en").stdout


def test_fetch_run_and_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sources.beir(tmp_path / "raw")
    done = run_command("benchmark", "fetch", "beir-scifact", "--from", "raw", "--lang", "en")
    assert "2 queries with 3 judgments" in done.stdout
    assert "licence: cc-by-nc-4.0" in done.stdout
    put(tmp_path / "my.run", "q1 Q0 d1 1 2 x\nq1 Q0 d3 2 1 x\nq2 Q0 d2 1 1 x\n")
    done = run_command("benchmark", "run", "beir-scifact", "my.run", "-o", "record.json", "--lang", "en")
    assert "my: nDCG@10 1.0000 on 2 queries, published BM25 0.6789 (+0.3211)" in done.stdout
    assert "cc-by-nc-4.0" in done.stdout
    assert run_command("verify", "record.json", "--lang", "en").status == 0
    done = run_command("benchmark", "run", "beir-scifact", "--retriever", "bm25", "-p", "b=0.4", "--json")
    assert json.loads(done.stdout)["figures"][0]["value"] > 0.5


def test_mistakes_name_the_options_of_the_command(tmp_path: Path) -> None:
    said = run_command("benchmark", "fetch", "lecard", "--folder", tmp_path / "kept", status=2).stderr
    assert "download it and give the folder or archive (--from PATH)" in said
    assert "one of them" in run_command("benchmark", "run", "lecard", status=2).stderr
    said = run_command("benchmark", "run", "lecard", "--retriever", "bm25", "-p", "b", status=2).stderr
    assert "write a parameter as KEY=VALUE" in said
    assert "did you mean" in run_command("benchmark", "show", "miracl-zn", status=2).stderr


def test_results_of_mteb_as_a_table(tmp_path: Path) -> None:
    value = {
        "task_name": "SciFact",
        "mteb_version": "2.0",
        "scores": {"test": [{"ndcg_at_10": 0.61, "main_score": 0.61}]},
    }
    put(tmp_path / "org__model" / "rev" / "SciFact.json", json.dumps(value))
    done = run_command("benchmark", "results", tmp_path, "-m", "ndcg_cut_10", "--lang", "en")
    assert "org/model" in done.stdout
    assert "nDCG@10" in done.stdout
    assert json.loads(run_command("benchmark", "results", tmp_path, "--json").stdout)["results"][0]["task"] == "SciFact"


def test_what_no_library_offers_is_taken_from_a_folder() -> None:
    """Nothing is promised that fetching alone could not do, and sets of one's own have no page with a licence."""
    shown = run_command("benchmark", "show", "medcorpus", "--lang", "en").stdout
    assert "licence: that of your own set" in shown
    assert "`rankgauge benchmark fetch medcorpus --from PATH` takes what was downloaded" in " ".join(shown.split())
    assert "`rankgauge benchmark fetch lecard` gets it" not in run_command("benchmark", "show", "lecard").stdout
    assert "`rankgauge benchmark fetch beir-scifact` gets it" in run_command("benchmark", "show", "beir-scifact").stdout
