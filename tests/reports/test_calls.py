"""Live figures as tables and sentences: what the record holds, in every form and both languages."""

from __future__ import annotations

import csv
import html
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rankgauge import load_testset, sweep
from rankgauge.record import SweepResult
from rankgauge.reports import report
from rankgauge.reports.build import record_report
from rankgauge.reports.calls import sweep_notes
from rankgauge.reports.document import Table
from rankgauge.reports.renderers.csv import companions
from rankgauge.stats.pareto import pareto_front
from rankgauge.words import LANGUAGES, Language, numbers, say, tell
from tests.cli.command import run_command
from tests.reports.samples import EXAMPLE, comparison_record, evaluation_record, live_record, made, said

FORMS = ("terminal", "markdown", "latex", "csv")


def live_evaluation() -> dict[str, Any]:
    record = live_record()
    del record["comparison"]
    return record | {"kind": "evaluation"}


def shown(record: dict[str, Any], form: str, language: Language = "en") -> str:
    return report(made(record), format=form, language=language, detail="evidence")


def part(record: dict[str, Any], name: str, form: str = "markdown", language: Language = "en") -> list[str]:
    """The lines from the title of a table on, up to the next empty line behind it."""
    (table,) = (t for t in record_report(made(record)).shown() if isinstance(t, Table) and t.name == name)
    title = tell(table.title, language)  # type: ignore[arg-type]
    text = shown(record, form, language).partition(title)[2]
    return text.strip("*\n").split("\n\n" if form != "markdown" else "\n\n**")[0].splitlines()


def notes(sweep: dict[str, Any], language: Language = "en") -> list[str]:
    """What is said of a sweep."""
    record = made(evaluation_record() | {"sweeps": [sweep]})
    return [tell(note, language) for note in sweep_notes(record.sweeps[0])]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_records_of_files_look_as_before(form: str, language: Language) -> None:
    for record in (comparison_record(), evaluation_record()):
        assert say("report.calls_title", language) not in shown(record, form, language)
        assert shown(record | {"invalid": {}, "sweeps": []}, form, language) == shown(record, form, language)


@pytest.mark.parametrize("form", ["terminal", "markdown"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_figures_and_sentences_are_in_every_form(form: str, language: Language) -> None:
    for record in (live_record(), live_evaluation()):
        text = shown(record, form, language)
        words = [say(f"report.{name}", language) for name in ("calls_title", "cached", "ann_recall", "best", "front")]
        for wanted in ("2.10", "4.20", "6.30", "68.4", "1429", "87.7", *words):
            assert wanted in text, wanted
        for wanted in ("no such index", "0.5500 [0.4500, 0.6500]", "0.5300", "[0.4300, 0.6300]", "0.0200"):
            assert wanted in text, wanted
        assert "1 of 30 queries failed" in text


def test_rows_of_the_table() -> None:
    table = part(live_record(), "calls")
    assert table[0] == (
        "| system | nDCG@10 | p50 ms | p95 ms | p99 ms | QPS | concurrency | timed calls | failed | from the cache |"
    )
    assert table[2].startswith("| bm25 | 0.4795 | 2.10 | 4.20 | 6.30 | 1429 | 4 | 30 | 0 | 0 |")
    record = live_record()
    record["systems"][0]["calls"]["repeated"] = 7
    table = part(record, "calls")
    assert table[0].endswith("| failed | repeated calls | from the cache |")
    assert table[2].startswith("| bm25 | 0.4795 | 2.10 | 4.20 | 6.30 | 1429 | 4 | 30 | 0 | 7 | 0 |")
    versions = part(live_record(), "sweep-1")
    assert versions[0] == "| version | ef_search | index | mark | nDCG@10 | p50 ms | p95 ms | QPS | ANN recall |"
    front = "Pareto front"
    assert [row.split(" | ")[3] for row in versions[2:8]] == [front, front, "", front, f"▲ best, {front}", ""]


def test_a_csv_file_holds_one_table(tmp_path: Path) -> None:
    """What a spreadsheet opens is the table of scores alone; the others are files of their own, with plain numbers."""
    record = live_record()
    record["sweeps"][0]["failed"] = {"V7": said("{'ef_search': -1}: ValueError: no such, value")}
    assert shown(record, "csv") == shown(comparison_record(), "csv")
    assert shown(live_evaluation(), "csv") == shown(evaluation_record(), "csv")
    files = companions(record_report(made(record)), "out/summary.csv")
    assert list(files) == ["out/summary-calls.csv", "out/summary-sweep.csv"]
    assert list(companions(record_report(made(record)), "a.CSV.gz")) == ["a-calls.CSV.gz", "a-sweep.CSV.gz"]
    assert companions(record_report(made(comparison_record())), "a.csv") == {}
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
    report(made(record), tmp_path / "s.csv")
    assert {path.name for path in tmp_path.iterdir()} == {"s.csv", "s-calls.csv", "s-sweep.csv"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_versions_that_failed_are_shown(language: Language) -> None:
    record = live_record()
    long = "x" * 5000
    reason = "{'ef_search': -1}: ValueError: <no> such value"
    record["sweeps"][0]["failed"] = {"V7": said(reason), "V8": said(long)}
    line = say("report.left_out", language, name="V7", reason=reason)
    for form in ("terminal",):
        text = "\n".join(part(record, "sweep-1", form, language))
        assert say("report.warning", language, text=line) in text
        assert "x" * 200 in text
        assert long not in text
    body = shown(record, "html", language).partition('<section id="sweep"')[2].partition("</section>")[0]
    assert html.escape(line, quote=False).replace("'", "&#39;") in body
    assert long not in body
    record["sweeps"][0]["failed"] = {f"V{n}": said("not asked") for n in range(7, 37)}
    text = shown(record, "terminal", language)
    assert text.count("not asked") == 10
    assert say("report.left_out_more", language, n=20) in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_times_of_an_earlier_start_are_told(language: Language) -> None:
    (found,) = live_record()["sweeps"]
    plain = notes(found, language)
    versions = [version | {"timed_before": 30 * (i < 2)} for i, version in enumerate(found["versions"])]
    more = [line for line in notes(found | {"versions": versions}, language) if line not in plain]
    assert more == [say("report.timed_before", language, names=["V1", "V2"])]


def test_long_reasons_are_cut_where_they_are_shown() -> None:
    record = live_record() | {"invalid": {"a": said("no " * 2000)}}
    assert max(len(line) for line in shown(record, "latex").splitlines() if "excluded" in line) < 400


def test_what_a_tuned_version_is_worth() -> None:
    (found,) = live_record()["sweeps"]
    best, held, interval, chosen, front = notes(found)
    assert best == "Best of 6 versions of hybrid by nDCG@10: V5 (ef_search=64, index=hnsw) with 0.5500."
    assert held == say("report.held_out", "en", mean=0.53, optimism=0.02)
    assert interval.startswith("95 % confidence interval of V5's true mean")
    assert interval.endswith(": [0.4300, 0.6300].")
    summed = found | {"held_out": found["held_out"] | {"interval": None}}
    assert len(notes(summed)) == 4
    assert chosen.endswith("3 × V5, 1 × V6, 1 × V4.")
    assert front.endswith("V1 (0.800 ms), V2 (1.60 ms), V4 (6.20 ms), V5 (11.8 ms).")
    better = found | {"held_out": found["held_out"] | {"mean": 0.56}}
    assert notes(better)[1] == say("report.held_out_well", "en", mean=0.56)
    assert notes(found | {"held_out": None})[1] == say("report.not_held_out", "en")
    untimed = [version | {"p50": None, "p95": None} for version in found["versions"]]
    assert len(notes(found | {"versions": untimed})) == 4
    (only,) = notes(found | {"versions": found["versions"][4:5], "held_out": None}, "zh")
    assert "0.5500 [0.4500, 0.6500]" in only


def test_luck_where_lower_is_better() -> None:
    (found,) = live_record()["sweeps"]
    found = {**found, "lower_is_better": True}
    worse = found | {"held_out": found["held_out"] | {"mean": 0.57}}
    assert notes(worse)[1] == say("report.held_out", "en", mean=0.57, optimism=0.02)
    assert notes(found)[1] == say("report.held_out_well", "en", mean=0.53)


def test_answers_from_the_cache_have_no_latency() -> None:
    record = live_record()
    record["systems"][0]["calls"] |= {"latency": None, "throughput": None, "cached": 30}
    text = "\n".join(part(record, "calls"))
    assert "| bm25 | 0.4795 | - | - | - | - | 4 | 0 | 0 | 30 |" in text
    assert say("report.untimed", "en", names=["bm25"]) in text
    record["systems"][1]["calls"]["latency"]["count"] = 100
    assert say("report.tail", "en", n=100) not in shown(record, "markdown")
    assert say("report.tail", "en", n=100) in shown(live_record(), "markdown")


def test_systems_on_the_front() -> None:
    record = live_record()
    assert "p50: bm25 (2.10 ms), hybrid (34.2 ms)." in shown(record, "terminal")
    record["measures"][0]["lower_is_better"] = True
    assert "p50: bm25 (2.10 ms).\n" in shown(record, "terminal")


def test_reasons_name_their_system_and_stand_on_one_line() -> None:
    record = live_record() | {"invalid": {"a": said("down"), "b": said("no parameter k9\nin it")}}
    lines = [line for line in shown(record, "latex").splitlines() if "excluded" in line]
    assert lines == ["% warning: excluded: a: down", "% warning: excluded: b: no parameter k9\\nin it"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0.0000"), (0.00001234, "0.0123"), (0.033, "33.0"), (0.09996, "100"), (12.3456, "12346")],
)
def test_milliseconds(seconds: float, text: str) -> None:
    assert numbers.figure(1000 * seconds) == text
    assert "e" not in numbers.figure(1234567.0)


def test_latencies_of_a_leaderboard_have_one_decimal() -> None:
    values = (0, 0.0034, 0.0679, 7.01, 1234.5)
    assert [numbers.glance(value) for value in values] == ["0.0", "0.003", "0.1", "7.0", "1234.5"]


@pytest.mark.parametrize("lower", [False, True])
def test_front_by_definition(lower: bool) -> None:
    rng = random.Random(4)
    for _ in range(50):
        points = [(rng.randint(0, 4) / 4, rng.choice([None, 1, 2, 3])) for _ in range(6)]
        for (quality, seconds), on_front in zip(points, pareto_front(points, lower_is_better=lower), strict=True):
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
    result: SweepResult = found.result
    record = replace(made(evaluation_record()), sweeps=[replace(result, system="own")])
    text = report(record, detail="evidence")
    assert "Best of 3 versions of own by R@10: V3 (depth=2)" in text
    assert f"{found.versions[1].ann_recall:.4f}" in text
    rows = list(csv.DictReader(io.StringIO(companions(record_report(record), "a.csv")["a-sweep.csv"])))
    assert [row["on_front"] for row in rows[:3]] == [str(version.on_front).lower() for version in found.versions]


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
    done = run_command("run", tmp_path / "plan.toml", "--details", status=2)
    record = json.loads((tmp_path / "record.json").read_text())
    best = record["sweeps"][0]["best"]
    for text in (
        done.stdout,
        (tmp_path / "table.md").read_text(),
        run_command("report", tmp_path / "record.json", "--details").stdout,
    ):
        assert f"Best of 3 versions of own by R@5: {best}" in text
        assert "gone: RuntimeError: no such index" in text
        assert "cache" in text
    assert "gone: RuntimeError: no such index" in done.stderr
    assert 'id="sweep"' in (tmp_path / "report.html").read_text(encoding="utf-8")
