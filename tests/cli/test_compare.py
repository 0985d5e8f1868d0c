"""The commands compare, compare-scores, power, audit and verify, as a user runs them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from rankgauge.words import say
from tests.cli.command import run_command

EXAMPLE = Path(__file__).parents[2] / "src" / "rankgauge" / "example"
FILES = (EXAMPLE / "testset.json", f"bm25={EXAMPLE / 'bm25.run'}", f"hybrid={EXAMPLE / 'hybrid.run'}")


def test_table_leads_with_advice() -> None:
    done = run_command("compare", *FILES, "-m", "nDCG@10", "-m", "RR")
    assert done.stdout.startswith("Inconclusive: bm25 and hybrid do not differ significantly")
    assert "inconclusive" in done.stdout
    assert "make a temporary file" in done.stdout  # texts of the test set
    chinese = run_command("compare", *FILES, "-m", "nDCG@10", "--lang", "zh").stdout
    assert chinese.startswith(say("comparison.verdict_inconclusive", "zh"))


def test_formats() -> None:
    rows = list(csv.DictReader(io.StringIO(run_command("compare", *FILES, "-m", "RR", "-f", "csv").stdout)))
    assert [(row["a"], row["b"], row["verdict"]) for row in rows] == [("bm25", "hybrid", "inconclusive")]
    assert "| RR |" in run_command("compare", *FILES, "-m", "RR", "-f", "markdown").stdout
    assert r"\toprule" in run_command("compare", *FILES, "-m", "RR", "-f", "latex").stdout
    record = json.loads(run_command("compare", *FILES, "-m", "RR", "--json").stdout)
    assert record["comparison"]["settings"]["seed"] == 0
    assert set(record["provenance"]["inputs"]) == {"judgments", "run:bm25", "run:hybrid"}


def test_same_seed_same_record(tmp_path: Path) -> None:
    rows = [
        json.loads(run_command("compare", *FILES, "--json", "--seed", seed).stdout)["comparison"]["rows"]
        for seed in (1, 1, 2)
    ]
    assert rows[0] == rows[1] != rows[2]


def test_ablation_names_the_baseline() -> None:
    done = run_command("compare", *FILES, f"third={EXAMPLE / 'bm25.run'}", "--ablation", "hybrid", "-m", "RR")
    assert done.stdout.startswith("Keep hybrid (by RR).")
    assert "vs hybrid" in done.stdout


def test_rerank() -> None:
    done = run_command("compare", *FILES, "--rerank", "-m", "nDCG@10")
    assert "the candidates hold" in done.stdout
    assert "the best order of the candidates would reach" in done.stdout


def test_verify_a_record(tmp_path: Path) -> None:
    for name in ("testset.json", "bm25.run", "hybrid.run"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    files = (tmp_path / "testset.json", f"a={tmp_path / 'bm25.run'}", f"b={tmp_path / 'hybrid.run'}")
    for command in (("evaluate", *files, "--rel", "1", "--ties", "stable"), ("compare", *files, "--test", "t")):
        record = tmp_path / f"{command[0]}.json"
        run_command(*command, "-m", "nDCG@10,20", "-o", record)
        done = run_command("verify", record)
        assert done.stdout.endswith("the record holds\n")
    (tmp_path / "hybrid.run").write_text((tmp_path / "hybrid.run").read_text().replace("q01", "q02", 0)[:-1])
    done = run_command("verify", record, status=1)
    assert "run:b: does NOT hold" in done.stdout
    assert "has changed" in done.stdout
    (tmp_path / "hybrid.run").unlink()
    assert "is not there" in run_command("verify", record, status=1).stdout


def test_verify_what_a_record_says_of_its_measures(tmp_path: Path) -> None:
    run_command("evaluate", *FILES, "-m", "RR", "-o", tmp_path / "r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    record["measures"][0]["bounds"] = [0, 10]
    (tmp_path / "r.json").write_text(json.dumps(record))
    assert "does NOT hold" in run_command("verify", tmp_path / "r.json", status=1).stdout
    del record["measures"][0]["bounds"]
    (tmp_path / "r.json").write_text(json.dumps(record))
    assert "the record is damaged" in run_command("verify", tmp_path / "r.json", status=2).stderr


def test_records_made_differently_are_not_compared(tmp_path: Path) -> None:
    a, b, c = (tmp_path / name for name in ("a.json", "b.json", "c.json"))
    run_command("evaluate", EXAMPLE / "testset.json", EXAMPLE / "bm25.run", "-o", a)
    run_command("evaluate", EXAMPLE / "testset.json", EXAMPLE / "hybrid.run", "-o", b)
    run_command("evaluate", EXAMPLE / "testset.json", EXAMPLE / "hybrid.run", "--ties", "stable", "-o", c)
    both = run_command("compare-scores", a, b, "-m", "RR")
    direct = json.loads(run_command("compare", *FILES, "-m", "RR", "--json").stdout)["comparison"]["rows"][0]
    assert f"{direct['difference']:+.4f}" in both.stdout
    refused = run_command("compare-scores", a, c, status=2)
    assert "ties: 'trec' and 'stable'" in refused.stderr
    assert "--force" in refused.stderr
    run_command("compare-scores", a, c, "--force")


@pytest.mark.parametrize(
    "table",
    [
        "query,a,b\nq1,0.5,0.7\nq2,0.25,0.75\nq3,,0.5\n",
        "query\tsystem\tvalue\nq1\ta\t0.5\nq1\tb\t0.7\nq2\ta\t0.25\nq2\tb\t0.75\nq3\tb\t0.5\n",
        "query,system,measure,value\nq1,a,RR,0.5\nq1,b,RR,0.7\nq2,a,RR,0.25\nq2,b,RR,0.75\n",
    ],
)
def test_tables_of_scores(tmp_path: Path, table: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(table)
    (row,) = json.loads(run_command("compare-scores", path, "--json").stdout)["comparison"]["rows"]
    assert row["queries"] == 2
    assert row["difference"] == pytest.approx(0.35)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", FILES[0], FILES[1]), "at least two"),
        (("compare", *FILES, "--baseline", "x"), "not among the systems"),
        (("compare", FILES[0], FILES[1], FILES[1]), "two runs are named"),
        (("compare", *FILES, "--test", "t", "--correction", "max-t"), "randomization"),
        (("compare", *FILES, "--alpha", "2"), "alpha"),
        (("compare", *FILES, "--equivalence-margin", "nan"), "equivalence_margin"),
        (("compare", *FILES, "-m", "GMAP"), "no mean"),
        (("compare", *FILES, f"c={EXAMPLE / 'bm25.run'}", "--rerank"), "exactly two"),
        (("compare", *FILES, "--by", "tag", "-m", "RR", "-o", EXAMPLE / "testset.json"), "is an input too"),
        (("power", "--sd", "0.2"), "--difference"),
        (("power", "--difference", "0.1"), "--sd"),
        (("power", "--sd", "0", "--difference", "0.1"), "above 0"),
        (("power", "--sd", "0.2", "--difference", "0"), "other than 0"),
        (("audit", "--n", "1", "--value", "0.5"), "at least 2"),
        (("audit", "--n", "10", "--value", "82"), "between 0 and 1"),
        (("audit", "--n", "10", "--value", "0.5", "--baseline", "0.5"), "no gap"),
        (("verify", EXAMPLE / "testset.json"), "no rankgauge record"),
    ],
)
def test_bad_requests(arguments: tuple[object, ...], message: str) -> None:
    done = run_command(*arguments, status=2)
    assert message in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("table", ["", "a\n1\n", "query,a,b\nq1,x,0.5\n", "query,a,b\nq1,inf,0.5\n"])
def test_bad_tables(tmp_path: Path, table: str) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(table)
    assert str(path) in run_command("compare-scores", path, status=2).stderr


def test_power_and_audit() -> None:
    assert "1229 queries" in run_command("power", "--sd", "0.25", "--difference", "0.02").stdout
    assert "0.0576" in run_command("power", "--sd", "0.25", "--queries", "150").stdout
    both = json.loads(run_command("power", *FILES, "--queries", "150", "--difference", "0.05", "--json").stdout)
    assert both[0]["asked"] == "power"
    assert 0 < both[0]["power"] < 1
    audit = json.loads(run_command("audit", "--n", "50", "--value", "0.82", "--baseline", "0.78", "--json").stdout)
    assert audit["largest_spread"] == pytest.approx(0.1407, abs=1e-4)
    assert "标准差" in run_command("audit", "--n", "50", "--value", "0.82", "--baseline", "0.78", "--lang", "zh").stdout


@pytest.mark.parametrize("place", [0, 1])
def test_standard_input(place: int) -> None:
    files = [EXAMPLE / "testset.json", EXAMPLE / "bm25.run"]
    data = files[place].read_bytes()
    named: list[object] = [files[0], f"a={files[1]}"]
    named[place] = "-" if place == 0 else "a=-"
    done = run_command("compare", *named, FILES[2], "-m", "RR", "--json", stdin=data)
    assert json.loads(done.stdout)["comparison"]["rows"][0]["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part["rows"][0].update(wins=99),
        lambda part: part["rows"][0]["interval"].update(low=-0.15),
        lambda part: part["notes"][0]["parameters"].update(test="t"),
        lambda part: part["changes"][0]["gained"][0].update(a=0.99),
    ],
)
def test_a_forged_record_does_not_hold(tmp_path: Path, change: object) -> None:
    run_command("compare", *FILES, "-m", "RR", "-o", tmp_path / "r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    change(record["comparison"])
    (tmp_path / "r.json").write_text(json.dumps(record))
    assert "comparison: does NOT hold" in run_command("verify", tmp_path / "r.json", status=1).stdout


@pytest.mark.parametrize(
    "change", [{"systems": None}, {"systems": [{}]}, {"kind": "zzz"}, {"comparison": None}, {"queries": 3}]
)
def test_damaged_records(tmp_path: Path, change: dict) -> None:
    run_command("compare", *FILES, "-m", "RR", "-o", tmp_path / "r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    (tmp_path / "r.json").write_text(json.dumps({**record, **change}))
    for command in ("verify", "report"):
        assert str(tmp_path / "r.json") in run_command(command, tmp_path / "r.json", status=2).stderr


def test_a_run_from_standard_input_cannot_be_verified(tmp_path: Path) -> None:
    data = (EXAMPLE / "bm25.run").read_bytes()
    run_command("compare", FILES[0], "a=-", FILES[2], "-m", "RR", "-o", tmp_path / "r.json", stdin=data)
    assert "was no file" in run_command("verify", tmp_path / "r.json", status=2).stderr


@pytest.mark.parametrize(
    "table",
    [
        "query,a,b\n1,0.5,0.4\n1,0.5,0.4\n",
        "query,a,a\n1,0.5,0.4\n",
        "query,a,b\n",
        "query,system,value\n1,a,0.5\n1,a,0.4\n1,b,0.3\n",
    ],
)
def test_tables_that_say_a_thing_twice_or_nothing(tmp_path: Path, table: str) -> None:
    (tmp_path / "scores.csv").write_text(table)
    assert "scores.csv" in run_command("compare-scores", tmp_path / "scores.csv", status=2).stderr


def test_what_was_forced_is_said(tmp_path: Path) -> None:
    a, b = tmp_path / "a.json", tmp_path / "b.json"
    run_command("evaluate", EXAMPLE / "testset.json", EXAMPLE / "bm25.run", "-o", a)
    run_command("evaluate", EXAMPLE / "testset.json", EXAMPLE / "hybrid.run", "--ties", "stable", "-o", b)
    shown = run_command("compare-scores", a, b, "--force", "-m", "RR").stdout
    assert shown.startswith("WARNING")
    assert "only because that was forced" in shown


@pytest.mark.parametrize(
    ("value", "baseline", "words"),
    [(0.9, 0.5, "however the two systems correlate"), (0.82, 0.78, "no correlation"), (0.82, 0.7, "correlate above")],
)
def test_audit_names_only_possible_correlations(value: float, baseline: float, words: str) -> None:
    assert words in run_command("audit", "--n", 50, "--value", value, "--baseline", baseline).stdout
