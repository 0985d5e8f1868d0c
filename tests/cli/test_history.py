"""`rankgauge history` and `--keep` as a user runs them."""

from __future__ import annotations

import csv
import datetime
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa

from rankgauge.errors import DataError
from rankgauge.history.rows import Settings
from rankgauge.history.schema import baselines
from rankgauge.history.store import History
from rankgauge.history.times import parse_moment
from rankgauge.record import Record
from rankgauge.record.identity import canonical, uid_of
from rankgauge.reports import report
from rankgauge.reports.trend import trend_report
from tests.cli.command import run_command, run_process
from tests.history.records import START, make_record
from tests.parts import DRAWN

QRELS = "".join(f"q{q} 0 d{d} {(q + d) % 3}\n" for q in range(12) for d in range(5))


def run_text(seed: int) -> str:
    random = np.random.default_rng(seed)
    return "".join(f"q{q} Q0 d{d} 0 {random.random():.4f} x\n" for q in range(12) for d in range(8))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    (tmp_path / "qrels.txt").write_text(QRELS)
    for name, seed in (("a.run", 1), ("b.run", 2)):
        (tmp_path / name).write_text(run_text(seed))
    return tmp_path


@pytest.fixture
def filled(folder: Path) -> Path:
    """Ten days: from the 7th another test set, on the last another contract too."""
    with History.open() as history:
        for day in range(10):
            record = make_record(
                day,
                systems=("bm25", "hybrid"),
                test_set="b" * 64 if day >= 6 else "a" * 64,
                contract={"ties": "expected"} if day == 9 else None,
            )
            history.add(record, label="odd" if day % 2 else "even")
    return folder


def printed(*arguments: object) -> str:
    return run_command("history", *arguments).stdout


def refused(*arguments: object) -> str:
    return run_command(*arguments, status=2).stderr


# Keeping --------------------------------------------------------------------------------------------------------------


def test_what_evaluate_keeps_is_the_record_it_writes(folder: Path) -> None:
    done = run_command("evaluate", "qrels.txt", "a.run", "--keep", "--label", "first", "-o", "record.json")
    assert done.stderr == "wrote record.json\nkept as record 1 of .rankgauge/history.db\n"
    assert printed("add", "record.json") == "record.json: record 1 is the same already\n"
    with History.open() as history:
        stored = history.get("latest")
        assert history.record(stored) == Record.load(folder / "record.json")
        assert (stored.label, len(str(stored.test_set))) == ("first", 64)


def test_what_is_printed_does_not_depend_on_keeping(folder: Path) -> None:
    for command in (["evaluate", "qrels.txt", "a.run"], ["compare", "qrels.txt", "a.run", "b.run"]):
        plain, kept = run_command(*command), run_command(*command, "--keep")
        assert kept.stdout == plain.stdout
        assert kept.stderr.removeprefix(plain.stderr).startswith("kept as record")


def test_compare_keeps_the_record_it_writes(folder: Path) -> None:
    run_command("compare", "qrels.txt", "a.run", "b.run", "--keep", "--history", "other.db", "-o", "record.json")
    assert "record 1 is the same already" in printed("add", "record.json", "--history", "other.db")
    assert printed("show", "latest", "--history", "other.db").startswith("Inconclusive")


def test_run_keeps_under_the_name_of_the_plan(folder: Path) -> None:
    (folder / "testset.json").write_text(json.dumps([{"id": "q", "query": "text", "relevant_docs": ["text-1"]}]))
    (folder / "kept_search_module.py").write_text("def search(query, k):\n    return [f'{query}-1']\n")
    plan = 'testset = "testset.json"\nmeasures = ["R@5"]\n[[system]]\nname = "s"\nuse = "kept_search_module:search"\n'
    (folder / "nightly.toml").write_text(plan + '[outputs]\nrecord = "record.json"\n')
    done = run_command("run", "nightly.toml", "--keep", "--lang", "zh")
    assert "已存入 .rankgauge/history.db，编号 1" in done.stderr
    assert "record 1 is the same already" in printed("add", "record.json")
    with History.open() as history:
        assert history.get(1).label == "nightly"


def test_keeping_is_refused_before_the_work(folder: Path) -> None:
    (folder / "taken").mkdir()
    message = refused("evaluate", "missing.txt", "a.run", "--keep", "--history", "taken")
    assert message == "rankgauge: taken: this is a folder; name a file in it, such as taken/history.db\n"
    assert "go with --keep" in refused("evaluate", "qrels.txt", "a.run", "--label", "x")
    assert "a label needs" in refused("evaluate", "qrels.txt", "a.run", "--keep", "--label", " ")


def test_the_environment_names_the_history(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKGAUGE_HISTORY", str(folder / "team.db"))
    run_command("evaluate", "qrels.txt", "a.run", "--keep")
    assert (folder / "team.db").is_file()
    assert not (folder / ".rankgauge").exists()


# Adding, listing, showing ---------------------------------------------------------------------------------------------


def test_add_takes_all_or_nothing(folder: Path) -> None:
    for day in range(2):
        make_record(day).save(folder / f"{day}.json")
    (folder / "bad.json").write_text(json.dumps({**make_record(3).to_dict(), "created": "soon"}))
    assert "bad.json: 'created' is 'soon'" in refused("history", "add", "0.json", "bad.json")
    with History.open() as history:
        assert history.records() == []
    assert printed("add", "0.json", "1.json", "0.json", "--lang", "zh").splitlines() == [
        "0.json：已存入，编号 1",
        "1.json：已存入，编号 2",
        "0.json：已有相同的记录，编号 1",
    ]
    (folder / "other.json").write_text("{}")
    assert "other.json: this is no rankgauge record" in refused("history", "add", "other.json", "0.json")
    assert "there is no such file" in refused("history", "add", "missing.json")


def test_list(filled: Path) -> None:
    lines = printed("list").splitlines()
    assert lines[0].split() == ["id", "time", "(UTC)", "label", "system", "commit", "nDCG@10", "AP"]
    record = make_record(9, systems=("bm25", "hybrid"))
    means = [f"{record.systems[0].means[m].value:.4f}" for m in ("nDCG@10", "AP")]
    assert lines[2].split() == ["10", "2026-01-10", "12:00", "odd", "bm25", "00000000", *means]
    assert lines[3].split()[0] == "hybrid"
    assert len(lines) == 2 + 20
    narrowed = ("--label", "odd", "--system", "bm25", "-m", "map", "--since", "2026-01-03", "--until", "2026-01-08")
    lines = printed("list", *narrowed).splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["8", "6", "4"]
    assert lines[0].split()[-1] == "AP"
    assert printed("list", "--label", "none") == "no record matches\n"
    assert printed("list", "--label", "none", "--lang", "zh") == "没有符合条件的记录\n"
    assert "时间（UTC）" in printed("list", "--lang", "zh")


def test_list_as_json_and_with_baselines(filled: Path) -> None:
    with History.open() as history, history.begin() as connection:
        row = {
            "record_id": 3,
            "anchor_id": 1,
            "system": "bm25",
            "action": "set",
            "set_at": START,
            "settings": Settings(),
        }
        connection.execute(sa.insert(baselines).values(name="main", version=1, **row))
    listed = json.loads(printed("list", "--json", "--limit", "8"))
    assert [entry["id"] for entry in listed] == list(range(10, 2, -1))
    assert listed[-1]["baselines"] == ["main"]
    made = make_record(2, systems=("bm25", "hybrid"))
    assert listed[-1]["uid"] == uid_of(made)
    assert listed[-1]["means"]["hybrid"]["AP"]["value"] == made.systems[1].means["AP"].value
    assert "baseline of" in printed("list")


def test_show(filled: Path) -> None:
    record = make_record(8, systems=("bm25", "hybrid"), test_set="b" * 64)
    assert json.loads(printed("show", "9", "--json")) == json.loads(record.to_json())
    assert json.loads(printed("show", uid_of(record)[:8], "--json")) == json.loads(record.to_json())
    assert json.loads(printed("show", "latest", "--label", "even", "--json")) == json.loads(record.to_json())
    mean = record.systems[0].means["nDCG@10"]
    assert mean.interval is not None
    assert f"{mean.value:.4f} [{mean.interval.low:.4f}" in printed("show", "latest~1", "--details")


# Comparing ------------------------------------------------------------------------------------------------------------


def test_diff_pairs_the_queries(filled: Path) -> None:
    shown = json.loads(printed("diff", "2", "5", "--system", "hybrid", "-m", "ndcg@10", "--json"))
    (row,) = shown["comparison"]["rows"]
    scores = [np.array(make_record(day, systems=("bm25", "hybrid")).systems[1].per_query["nDCG@10"]) for day in (1, 4)]
    assert (row["a"], row["b"]) == ("hybrid #2", "hybrid #5")
    assert row["difference"] == pytest.approx((scores[1] - scores[0]).mean())
    assert (row["wins"], row["losses"]) == ((scores[1] > scores[0]).sum(), (scores[1] < scores[0]).sum())
    # The same as comparing the exported files.
    run_command("history", "export", "2", "5", "-o", "out")
    files = sorted((filled / "out").iterdir())
    for file, number in zip(files, (2, 5), strict=True):
        record = json.loads(file.read_text())
        record["systems"] = [{**record["systems"][1], "name": f"hybrid #{number}"}]
        file.write_text(json.dumps(record))
    other = json.loads(run_command("compare-scores", *files, "-m", "nDCG@10", "--json").stdout)
    assert other["comparison"]["rows"][0] == row
    text = printed("diff", "2", "5", "--system", "hybrid", "--lang", "zh")
    assert "hybrid #2 与 hybrid #5" in text


def test_diff_refuses_what_is_not_the_same_quantity(filled: Path) -> None:
    assert "judgments: the files differ" in refused("history", "diff", "1", "8", "--system", "bm25")
    assert "contract: ties" in refused("history", "diff", "9", "10", "--system", "bm25")
    assert "forced" in printed("diff", "1", "8", "--system", "bm25", "--force")
    assert "choose one with --system: bm25, hybrid" in refused("history", "diff", "1", "2")
    assert "record #1 has no system 'x'; it has: bm25, hybrid" in refused("history", "diff", "1", "2", "--system", "x")
    assert "compared with itself" in refused("history", "diff", "latest", "10", "--system", "bm25")


def test_diff_of_single_systems_needs_no_name(folder: Path) -> None:
    for name in ("a", "b"):
        run_command("evaluate", "qrels.txt", f"{name}.run", "--keep")
    rows = json.loads(printed("diff", "latest~1", "latest", "--json"))["comparison"]["rows"]
    assert (rows[0]["a"], rows[0]["b"]) == ("a #1", "b #2")
    truth = json.loads(run_command("compare", "qrels.txt", "a.run", "b.run", "--quick", "--json").stdout)
    for own, other in zip(rows, truth["comparison"]["rows"], strict=True):
        for key in ("measure", "difference", "interval", "p_value", "p_corrected", "verdict"):
            assert own[key] == other[key], key


# Trends ---------------------------------------------------------------------------------------------------------------


def test_trend_draws_every_point_and_tells_breaks(filled: Path) -> None:
    text = printed("trend", "nDCG@10", "--label", "odd")
    blocks = text.split("\n\n")
    assert [block.splitlines()[0] for block in blocks[:2]] == ["nDCG@10, bm25", "nDCG@10, hybrid"]
    lines = blocks[0].splitlines()[3:]
    days = [line.split()[0].removeprefix("2026-01-") for line in lines]
    assert days == ["02", "04", "06", "──", "08", "──", "10"]
    assert (lines[3], lines[5]) == ("── other test set ──", "── other contract ──")
    assert "are not the same quantity" in blocks[-1]
    # The marks stand where the numbers are.
    points = [line for line in lines if "●" in line]
    values = [float(line.split()[3]) for line in points]
    places = [line.index("●") for line in points]
    in_order = [place for _, place in sorted(zip(values, places, strict=True))]
    assert in_order == sorted(in_order)
    assert in_order[0] < in_order[-1]
    chinese = printed("trend", "nDCG@10", "--label", "odd", "--lang", "zh")
    assert "── 测试集已更换 ──" in chinese
    assert "不是同一个量" in chinese


def test_trend_without_labels_in_common_has_a_line_for_each(filled: Path) -> None:
    names = [series["name"] for series in json.loads(printed("trend", "AP", "--system", "bm25", "--json"))["series"]]
    assert names == ["even · bm25", "odd · bm25"]


def test_trend_for_programs(filled: Path) -> None:
    run_command("history", "trend", "ndcg_cut_10", "--system", "hybrid", "-o", "t.csv")
    rows = sorted(csv.DictReader(io.StringIO((filled / "t.csv").read_text())), key=lambda row: row["created"])
    truth = [make_record(day, systems=("bm25", "hybrid")).systems[1].means["nDCG@10"] for day in range(10)]
    assert [float(row["value"]) for row in rows] == [mean.value for mean in truth]  # to the last digit
    assert [float(row["low"]) for row in rows] == [mean.interval.low for mean in truth if mean.interval]
    data = json.loads(printed("trend", "nDCG@10", "--limit", "3", "--system", "bm25", "--label", "even", "--json"))
    points = data["series"][0]["points"]
    assert [point["record"] for point in points] == [5, 7, 9]
    assert [point["changed"] for point in points] == [None, "test_set", None]


@pytest.mark.parametrize("language", DRAWN)
def test_trend_as_charts(filled: Path, language: str) -> None:
    for ending in ("svg", "png", "html"):
        done = run_command("history", "trend", "nDCG@10", "--lang", language, "-o", f"t.{ending}")
        assert "20" in done.stderr
    svg = (filled / "t.svg").read_text()
    assert ("other test set" if language == "en" else "测试集已更换") in svg
    assert (filled / "t.png").read_bytes().startswith(b"\x89PNG")
    page = (filled / "t.html").read_text()
    assert len(re.findall(r"<td[^>]*>#\d", page)) == 20
    assert "<script" not in page
    assert "src=" not in page


def test_trend_of_hostile_names_is_escaped(folder: Path) -> None:
    with History.open() as history:
        for day in range(3):
            history.add(make_record(day, systems=("<img src=x onerror=alert(1)>\\", "中 文")))
    run_command("history", "trend", "nDCG@10", "-o", "t.html")
    assert "<img" not in (folder / "t.html").read_text()


def test_trend_of_one_point_and_of_many(folder: Path) -> None:
    with History.open() as history:
        history.add(make_record(0))
        run_command("history", "trend", "AP", "-o", "one.png")
        assert "●" in printed("trend", "AP")
        with history.begin() as connection:
            for number in range(1, 60):
                created = START + datetime.timedelta(minutes=number)
                history.add(make_record(number, created=created), connection=connection)
    text = printed("trend", "AP")
    assert text.count("●") == 30
    assert text.endswith("The newest 30 are shown; --limit shows more.\n")
    assert printed("trend", "AP", "--limit", "60").count("●") == 60


def test_a_narrow_terminal(filled: Path) -> None:
    with History.open() as history:
        points = history.trend("nDCG@10", system="bm25")
    for width in (50, 60, 80, 120, 200):
        drawn = [line for line in report(trend_report(points), width=width).splitlines() if "●" in line]
        assert max(map(len, drawn)) <= width
        assert len(drawn) == 10


# Pruning and exporting ------------------------------------------------------------------------------------------------


def test_prune_is_dry_unless_told(filled: Path) -> None:
    with History.open() as history, history.begin() as connection:
        row = {
            "record_id": 2,
            "anchor_id": 1,
            "system": "bm25",
            "action": "set",
            "set_at": START,
            "settings": Settings(),
        }
        connection.execute(sa.insert(baselines).values(name="main", version=1, **row))
    dry = printed("prune", "--keep", "6")
    assert dry.splitlines() == [
        "2 records would be removed, 2026-01-03 12:00 to 2026-01-04 12:00: 4, 3",
        "Nothing was removed yet: add --yes to do it.",
        "kept, since a baseline needs them: 2, 1",
    ]
    assert printed("prune", "--before", "2026-01-04", "--lang", "zh").startswith("将删除 1 条记录")
    assert printed("prune", "--keep", "6", "--yes").startswith("2 records removed, 2026-01-03")
    with History.open() as history:
        assert [stored.id for stored in history.records()] == [10, 9, 8, 7, 6, 5, 2, 1]
    assert printed("prune", "--keep", "6", "--yes").startswith("no record is to be removed")
    assert "say what to remove" in refused("history", "prune")


def test_export_and_add_again(filled: Path) -> None:
    run_command("history", "export", "--all", "-o", "all.jsonl.gz")
    run_command("history", "export", "--all", "-o", "out")
    assert "10" in printed("add", "all.jsonl.gz", "--history", "other.db")
    with History.open() as first, History.open("other.db") as second:
        assert {stored.uid for stored in first.records()} == {stored.uid for stored in second.records()}
        assert list(first.export())[3][1] == list(second.export())[3][1]
    record = make_record(0, systems=("bm25", "hybrid"))
    assert (filled / "out" / f"000001-{uid_of(record)[:12]}.json").read_bytes() == canonical(record.to_dict())
    assert printed("export", "1", "-o", "-").encode() == canonical(record.to_dict()) + b"\n"
    assert "name the records, or say --all" in refused("history", "export", "-o", "x")


# Errors ---------------------------------------------------------------------------------------------------------------


def test_errors_name_the_place_and_the_remedy(folder: Path) -> None:
    for command in (["list"], ["show", "1"], ["trend", "AP"], ["prune", "--keep", "1"], ["export", "--all", "-o", "x"]):
        message = refused("history", *command)
        assert message.startswith(
            "rankgauge: there is no history at .rankgauge/history.db yet: 'rankgauge history add'"
        )
    assert not (folder / ".rankgauge").exists()
    History.open().close()
    assert "there are: no records at all" in refused("history", "trend", "AP")
    assert "'soon' is no time; write a date such as" in refused("history", "list", "--since", "soon")
    assert "the ending tells what to write" in refused("history", "trend", "AP", "-o", "t.xyz")
    assert "there is no record 'latest': it holds 0" in refused("history", "show", "latest")
    message = refused("history", "list", "--history", "postgresql://u:s3cret@127.0.0.1:1/db")
    assert "postgresql://u:***@127.0.0.1:1/db: the server cannot be used" in message
    assert "s3cret" not in message


def test_without_sqlalchemy(folder: Path) -> None:
    code = "import sys; sys.modules['sqlalchemy'] = None; sys.argv = ['rankgauge', 'history', 'list']; "
    code += "from rankgauge.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "rankgauge: the history needs SQLAlchemy: pip install SQLAlchemy (it is in the extra rankgauge[guard])\n"
    )


def test_as_a_process(filled: Path) -> None:
    done = run_process("history", "list", "--limit", "1")
    assert (done.status, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 4


def test_moments() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=8))
    assert parse_moment("2026-01-31") == datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)
    assert parse_moment("2026-01-31", whole_day=True) == datetime.datetime(2026, 2, 1, tzinfo=datetime.UTC)
    assert parse_moment("2026-01-31T08:00+08:00") == datetime.datetime(2026, 1, 31, 8, tzinfo=zone)
    now = datetime.datetime.now(datetime.UTC)
    for text, length in (("12h", 0.5), ("7d", 7), ("2w", 14)):
        assert abs(now - parse_moment(text) - datetime.timedelta(days=length)).total_seconds() < 60
    wrong: list[Any] = ["", "x", "7", "2026-13-01", "999999w", "9999-12-31"]
    for text in wrong[:-1]:
        with pytest.raises(DataError, match="is no time"):
            parse_moment(text)
    with pytest.raises(DataError, match="is no time"):
        parse_moment(wrong[-1], whole_day=True)
