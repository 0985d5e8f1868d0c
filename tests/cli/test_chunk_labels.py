"""Labels that are passages, on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankgauge import Query, Record, Span, TestSet
from tests.cli.command import run_command

IDS = r"^(?P<doc>.+)-(?P<start>\d+)-(?P<end>\d+)$"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    TestSet(
        Query(f"query {i}", {}, f"q{i}", ("odd",) if i % 2 else (), spans=(Span("a", 20 * i, 20 * i + 10),))
        for i in range(6)
    ).save("set.json")
    for size in (20, 40):
        chunks = [f"a-{start}-{start + size}" for start in range(0, 120, size)]
        lines = [{"id": own, "doc": "a", "start": size * i, "end": size * (i + 1)} for i, own in enumerate(chunks)]
        Path(f"chunks{size}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        Path(f"run{size}.json").write_text(json.dumps({f"q{i}": [chunks[20 * i // size]] for i in range(6)}))


def test_chunks_of_a_file() -> None:
    measures = ["-m", "R@1", "-m", "CharP@1"]
    done = run_command("evaluate", "set.json", "run20.json", "--chunks", "chunks20.jsonl", *measures, "-f", "csv")
    rows = [line.split(",")[:3] for line in done.stdout.splitlines()[1:]]
    assert rows == [["run20", "StRecall@1", "1.0000"], ["run20", "CharP@1", "0.5000"]]
    told = run_command("evaluate", "set.json", "run20.json", "--chunks", "chunks20.jsonl", "--details").stdout
    assert "overlap=0.5" in told
    assert "in no chunk" in told
    assert "段落" in run_command(
        "evaluate", "set.json", "run20.json", "--chunks", "chunks20.jsonl", "--details", "--lang", "zh"
    ).stdout


def test_a_record_names_its_chunks_and_verifies() -> None:
    run_command("evaluate", "set.json", "run20.json", "--chunks", "chunks20.jsonl", "--overlap", "0.75", "-o", "r.json")
    record = Record.load("r.json")
    assert record.contract is not None
    assert record.contract.overlap == 0.75
    assert record.provenance.inputs["chunks"].path == "chunks20.jsonl"
    assert record.tags
    run_command("verify", "r.json")
    Path("chunks20.jsonl").write_text(Path("chunks20.jsonl").read_text().replace('"end": 20', '"end": 4'))
    run_command("verify", "r.json", status=1)


def test_places_from_ids() -> None:
    run_command("evaluate", "set.json", "run20.json", "--chunk-ids", IDS, "-m", "CharR", "-o", "r.json")
    assert Record.load("r.json").systems[0].means["CharR"].value == 1
    run_command("verify", "r.json")


def test_chunks_for_each_run() -> None:
    run_command(
        *("compare", "set.json", "small=run20.json", "large=run40.json", "-m", "CharP@1", "-o", "r.json"),
        *("--chunks", "small=chunks20.jsonl", "--chunks", "large=chunks40.jsonl"),
    )
    record = Record.load("r.json")
    assert [system.means["CharP@1"].value for system in record.systems] == [0.5, 0.25]
    assert {"chunks:small", "chunks:large"} <= set(record.provenance.inputs)
    run_command("verify", "r.json")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--chunks", "chunks20.jsonl", "--chunk-ids", IDS], "exclude each other"),
        (["--chunks", "chunks20.jsonl", "--chunks", "chunks40.jsonl"], "need the names of their runs"),
        (["--chunks", "other=chunks20.jsonl"], "names no chunks for 'run20'"),
        (["--chunks", "none.jsonl"], "there is no such file"),
        (["--chunk-ids", "("], "is no regular expression"),
        (["--overlap", "0.5"], "give --chunks too"),
        (["--overlap", "2", "--chunks", "chunks20.jsonl"], "must be a share above 0"),
    ],
)
def test_mistakes(flags: list[str], said: str) -> None:
    assert said in " ".join(run_command("evaluate", "set.json", "run20.json", *flags, status=2).stderr.split())
