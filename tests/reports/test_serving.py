"""Live figures as tables and sentences: what the record holds, in every form and both languages."""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from rankgauge import load_testset, sweep
from rankgauge.reports.calls import calls_files, calls_parts
from rankgauge.reports.calls_facts import WORDS, failed_versions, figure, front_of, milliseconds, sweep_sentences
from rankgauge.reports.comparison import render as render_comparison
from rankgauge.reports.evaluation import render as render_evaluation
from rankgauge.reports.html import render_html
from rankgauge.words import LANGUAGES, Language
from tests.cli.command import run_command
from tests.reports.samples import EXAMPLE, comparison_record, evaluation_record, live_record

FORMS = ("table", "markdown", "latex", "csv")


def live_evaluation() -> dict[str, Any]:
    record = live_record()
    del record["comparison"]
    return record | {"kind": "evaluation"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_records_of_files_look_as_before(form: str, language: Language) -> None:
    for record, render in ((comparison_record(), render_comparison), (evaluation_record(), render_evaluation)):
        assert calls_parts(record, form, language=language) == []
        assert render(record | {"invalid": {}, "sweeps": []}, form, language=language) == render(
            record, form, language=language
        )


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_and_sentences_are_in_every_form(form: str, language: Language) -> None:
    for record, render in ((live_record(), render_comparison), (live_evaluation(), render_evaluation)):
        text = render(record, form, language=language)
        words = WORDS[language]
        assert [part for part in calls_parts(record, form, language=language) if part not in text] == []
        for wanted in ("2.10", "4.20", "6.30", "68.4", "1429", "87.7", words["cached"], words["recall"]):
            assert wanted in text, wanted
        for wanted in ("no such index", "0.5500 [0.4500, 0.6500]", "0.5300", "[0.4300, 0.6300]", "0.0200"):
            assert wanted in text, wanted
        assert record["systems"][1]["calls"]["notes"][language][0] in text
        assert words["comma"].join([words["best"], words["front"]]) in text


def test_rows_of_the_table() -> None:
    table = calls_parts(live_record(), "markdown")[0].splitlines()
    assert table[2] == (
        "| system | nDCG@10 | p50 ms | p95 ms | p99 ms | answers/s | concurrency | timed calls | failed "
        "| from the cache |"
    )
    assert table[4].startswith("| bm25 | 0.4795 | 2.10 | 4.20 | 6.30 | 1429 | 4 | 30 | 0 | 0 |")
    record = live_record()
    record["systems"][0]["calls"]["repeated"] = 7
    table = calls_parts(record, "markdown")[0].splitlines()
    assert table[2].endswith("| failed | repeated calls | from the cache |")
    assert table[4].startswith("| bm25 | 0.4795 | 2.10 | 4.20 | 6.30 | 1429 | 4 | 30 | 0 | 7 | 0 |")
    versions = calls_parts(live_record(), "markdown")[1].splitlines()
    assert versions[2] == "| version | ef_search | index | mark | nDCG@10 | p50 ms | p95 ms | answers/s | ANN recall |"
    assert [row.split(" | ")[3] for row in versions[4:10]] == ["front", "front", "", "front", "best, front", ""]


def test_a_csv_file_holds_one_table() -> None:
    """What a spreadsheet opens is the table of scores alone; the others are files of their own, with plain numbers."""
    record = live_record()
    record["sweeps"][0]["failed"] = {"V7": "{'ef_search': -1}: ValueError: no such, value"}
    assert render_comparison(record, "csv") == render_comparison(comparison_record(), "csv")
    assert render_evaluation(live_evaluation(), "csv") == render_evaluation(evaluation_record(), "csv")
    files = calls_files(record, "out/summary.csv")
    assert list(files) == ["out/summary-calls.csv", "out/summary-sweep.csv"]
    assert list(calls_files(record, "a.CSV.gz")) == ["a-calls.CSV.gz", "a-sweep.CSV.gz"]
    assert calls_files(comparison_record(), "a.csv") == {}
    systems, versions = (list(csv.DictReader(io.StringIO(text))) for text in files.values())
    assert [row["system"] for row in systems] == ["bm25", "hybrid"]
    assert float(systems[1]["p95_seconds"]) == pytest.approx(0.0684)
    assert (systems[1]["failed"], systems[1]["timed"]) == ("1", "29")
    assert [row["version"] for row in versions] == ["V1", "V2", "V3", "V4", "V5", "V6", "held out", "V7"]
    assert [row["best"] for row in versions] == ["false"] * 4 + ["true", "false", "", ""]
    assert versions[3]["parameter.ef_search"] == "32"
    assert float(versions[6]["mean"]) == 0.53
    assert versions[7]["failed"] == "{'ef_search': -1}: ValueError: no such, value"
    assert all(None not in row and None not in row.values() for row in (*systems, *versions))


@pytest.mark.parametrize("language", LANGUAGES)
def test_versions_that_failed_are_shown(language: Language) -> None:
    record, words = live_record(), WORDS[language]
    long = "x" * 5000
    record["sweeps"][0]["failed"] = {"V7": "{'ef_search': -1}: ValueError: <no> such value", "V8": long}
    shown = words["failed_version"].format(label="V7", reason="{'ef_search': -1}: ValueError: <no> such value")
    for form in ("table", "markdown", "latex"):
        part = calls_parts(record, form, language=language)[1]
        assert f"{words['warning']}{words['colon']}{shown}" in part
        assert "x" * 200 in part
        assert long not in part
    page = render_html(record, language)
    body = page.partition('<section id="sweep"')[2].partition("</section>")[0]
    assert words["failed_title"] in body
    assert html.escape(shown, quote=False).replace("'", "&#39;") in body
    assert words["failed_title"] not in render_html(live_record(), language).partition('<section id="sweep"')[2]
    record["sweeps"][0]["failed"] = {f"V{n}": "not asked" for n in range(7, 37)}
    lines = failed_versions(record["sweeps"][0], language)
    assert len(lines) == 11
    assert lines[-1] == words["failed_more"].format(n=20)


@pytest.mark.parametrize("language", LANGUAGES)
def test_times_of_an_earlier_start_are_told(language: Language) -> None:
    (found,) = live_record()["sweeps"]
    plain = sweep_sentences(found, language)
    versions = [version | {"timed_before": 30 * (i < 2)} for i, version in enumerate(found["versions"])]
    said = [line for line in sweep_sentences(found | {"versions": versions}, language) if line not in plain]
    assert said == [WORDS[language]["timed_before"].format(names=WORDS[language]["comma"].join(["V1", "V2"]))]


def test_long_reasons_are_cut_where_they_are_shown() -> None:
    record = live_record() | {"invalid": {"a": "a: " + "no " * 2000}}
    assert len(calls_parts(record, "latex")[0].splitlines()[1]) < 400


def test_one_sweep_by_its_older_name() -> None:
    record = live_record()
    record["sweep"] = record.pop("sweeps")[0]
    assert calls_parts(record, "table") == calls_parts(live_record(), "table")


def test_what_a_tuned_version_is_worth() -> None:
    (found,) = live_record()["sweeps"]
    best, held, interval, chosen, front = sweep_sentences(found, "en")
    assert best == "Best of 6 versions of hybrid by nDCG@10: V5 (ef_search=64, index=hnsw) with 0.5500."
    assert "scores 0.5300: about 0.0200 of the best version's score was luck" in held
    assert interval.startswith("95 % confidence interval of V5's true mean")
    assert interval.endswith(": [0.4300, 0.6300].")
    summed = found | {"held_out": found["held_out"] | {"interval": None}}
    assert len(sweep_sentences(summed, "en")) == 4
    assert chosen.endswith("3 × V5, 1 × V6, 1 × V4.")
    assert front.endswith("V1 (0.800 ms), V2 (1.60 ms), V4 (6.20 ms), V5 (11.8 ms).")
    assert "no luck" in sweep_sentences(found | {"optimism": -0.01}, "en")[1]
    assert "No queries were held out" in sweep_sentences(found | {"held_out": None, "optimism": None}, "en")[1]
    untimed = [version | {"p50": None, "p95": None} for version in found["versions"]]
    assert len(sweep_sentences(found | {"versions": untimed}, "en")) == 4
    alone = {"versions": found["versions"][4:5], "held_out": None, "optimism": None}
    (only,) = sweep_sentences(found | alone, "zh")
    assert "0.5500 [0.4500, 0.6500]" in only


def test_luck_where_lower_is_better() -> None:
    (found,) = live_record()["sweeps"]
    found = {**found, "lower_is_better": True}
    assert "about 0.0200" in sweep_sentences(found | {"optimism": -0.02}, "en")[1]
    assert "no luck" in sweep_sentences(found, "en")[1]


def test_answers_from_the_cache_have_no_latency() -> None:
    record = live_record()
    record["systems"][0]["calls"] |= {"latency": None, "throughput": None, "cached": 30}
    text = calls_parts(record, "markdown")[0]
    assert "| bm25 | 0.4795 | - | - | - | - | 4 | 0 | 0 | 30 |" in text
    assert "bm25: all answers came from the cache" in text
    record["systems"][1]["calls"]["latency"]["count"] = 100
    assert "p99" not in calls_parts(record, "markdown")[0].split("|")[-1]


def test_systems_on_the_front() -> None:
    record = live_record()
    assert (
        "no other system is both better and faster than: bm25 (2.10 ms), hybrid (34.2 ms)."
        in (calls_parts(record, "table")[0])
    )
    record["measures"][0]["lower_is_better"] = True
    assert "faster than: bm25 (2.10 ms).\n" in calls_parts(record, "table")[0]


def test_reasons_name_their_system_once() -> None:
    record = live_record() | {"invalid": {"a": "a: down", "b": "no parameter k9\nin it"}}
    lines = calls_parts(record, "latex")[0].splitlines()
    assert lines[1:3] == ["% warning: left out: a: down", "% warning: left out: b: no parameter k9 in it"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(None, "-"), (0.0, "0.0000"), (0.00001234, "0.0123"), (0.033, "33.0"), (0.09996, "100"), (12.3456, "12346")],
)
def test_milliseconds(seconds: float | None, shown: str) -> None:
    assert milliseconds(seconds) == shown
    assert "e" not in figure(1234567.0)


@pytest.mark.parametrize("lower", [False, True])
def test_front_by_definition(lower: bool) -> None:
    rng = random.Random(4)
    for _ in range(50):
        points = [(rng.randint(0, 4) / 4, rng.choice([None, 1, 2, 3])) for _ in range(6)]
        for (quality, seconds), on_front in zip(points, front_of(points, lower=lower), strict=True):
            beaten = seconds is None
            for other, p50 in points:
                if p50 is not None and seconds is not None:
                    as_good = other <= quality if lower else other >= quality
                    beaten |= as_good and p50 <= seconds and (other != quality or p50 != seconds)
            assert on_front is not beaten


def test_a_real_sweep() -> None:
    """A record's part made by the package itself has every key that the tables read."""
    test_set = load_testset(EXAMPLE / "testset.json")
    relevant = {query.text: [doc for doc, grade in query.grades.items() if grade > 0] for query in test_set}

    def make(depth: int) -> Any:
        return lambda text, k: relevant[text][:depth]

    found = sweep(make, {"depth": [0, 1, 2]}, test_set, measure="R@10", exact={"depth": 9})
    record = evaluation_record() | {"sweeps": [{"system": "own", **found.to_dict()}]}
    (part,) = calls_parts(json.loads(json.dumps(record)), "table")
    assert "Best of 3 versions of own by R@10: V3 (depth=2)" in part
    assert f"{found.versions[1].ann_recall:.4f}" in part
    rows = list(csv.DictReader(io.StringIO(calls_files(record, "a.csv")["a-sweep.csv"])))
    assert [row["on_front"] for row in rows[:3]] == [str(version.on_front).lower() for version in found.versions]


def test_words_are_in_both_languages() -> None:
    assert WORDS["en"].keys() == WORDS["zh"].keys()
    for key, text in WORDS["en"].items():
        assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", WORDS["zh"][key])), key


def test_command(tmp_path: Path) -> None:
    """A plan's table, printed and written, and the same from its record."""
    queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": [f"text {i}-1"]} for i in range(12)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    (tmp_path / "shifted_search_module.py").write_text(
        "def make(shift=0):\n    return lambda query, k: [f'{query}-{i + shift}' for i in range(k)]\n"
        "def broken():\n    raise RuntimeError('no such index')\n"
    )
    (tmp_path / "plan.toml").write_text(
        'testset = "testset.json"\nmeasures = ["R@5"]\n[calls]\nk = 5\n'
        '[[system]]\nname = "own"\nfactory = "shifted_search_module:make"\n'
        '[[system]]\nname = "gone"\nfactory = "shifted_search_module:broken"\n'
        '[sweep]\nsystem = "own"\nmeasure = "R@5"\ngrid = { shift = [0, 1, 2] }\n'
        '[outputs]\nrecord = "record.json"\ntable = "table.md"\nreport = "report.html"\n'
    )
    spreadsheet = (tmp_path / "plan.toml").read_text().replace("table.md", "table.csv")
    (tmp_path / "spreadsheet.toml").write_text(spreadsheet)
    run_command("run", tmp_path / "spreadsheet.toml", status=2)
    assert (tmp_path / "table.csv").read_text().startswith("system,measure,value")
    assert len((tmp_path / "table-calls.csv").read_text().splitlines()) == 2
    assert len((tmp_path / "table-sweep.csv").read_text().splitlines()) == 5
    done = run_command("run", tmp_path / "plan.toml", status=2)
    record = json.loads((tmp_path / "record.json").read_text())
    best = record["sweeps"][0]["best"]
    for text in (
        done.stdout,
        (tmp_path / "table.md").read_text(),
        run_command("report", tmp_path / "record.json").stdout,
    ):
        assert f"Best of 3 versions of own by R@5: {best}" in text
        assert "left out: gone: RuntimeError: no such index" in text
        assert "from the cache" in text
    assert "left out: gone" in done.stderr
    assert 'id="sweep"' in (tmp_path / "report.html").read_text(encoding="utf-8")
