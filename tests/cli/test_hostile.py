"""Every command with hostile names in all it reads and is given: what it prints keeps the rules of its format."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import rankgauge
from rankgauge.cli.app import app
from rankgauge.record import Record
from rankgauge.reports.renderers import RENDERERS
from rankgauge.words import LANGUAGES
from tests.cli.command import Done, run_command
from tests.hostile import HOSTILE, ORDINARY, RULES, lines
from tests.reports.samples import hostile_record

PLACE = "half\ue000"
"""Stands for half of a surrogate pair until the file is written, since not all that makes one can hold it."""
WHOLE = {**HOSTILE, "surrogate": PLACE}
IDS = [*WHOLE.values(), *ORDINARY]
TEXTS = [text for kind, text in HOSTILE.items() if kind not in ("surrogate", "xml")]
"""Those that a command line and a database can hold."""
NAME = "\x1b[31m\n::error::x ##[error]\u202e@octocat <b>x</b>|`[y](http:z) {a}\u200b\\"
LONG = "".join(TEXTS)
FILE = "::error::\x1b[31m\n::error::\u202e@octocat <b> \udcff.json"
SEARCH = f"""
TEXTS = {TEXTS!r}
def search(query, k):
    if len(query) % 5 == 0:
        raise RuntimeError("".join(TEXTS))
    return [(f"{{query}}{{i}}", 1.0 - i / 100) for i in range(k)]
def broken(query, k):
    raise RuntimeError("".join(TEXTS))
"""
FORMATS = [*RENDERERS.known, "json"]

# The arguments of a command's runs; how its output is to be read: by a format, as JSON, by the file it is in, or not at
# all where it is data for programs; and its status. %FORMAT stands for every format.
ASKED = ["--endpoint", "http://127.0.0.1:1/v1", "--model", NAME]
LOST = ["plain-testset.json", "--stage", f"{NAME}=plain-a.json"]
NAMED = [f"{NAME}=plain-a.json", "b\u202e=plain-b.json"]
AS_RUNS = [word for run in NAMED for word in ("--run", run)]
CASES: dict[str, list[tuple[list[str], str, int]]] = {
    "evaluate": [
        (["testset.json", f"{NAME}=a.json", FILE, "-q", "-f", "%FORMAT"], "%FORMAT", 0),
        (["testset.json", "a.json", "--keep", "--label", NAME, "--history", "h\x1b.db"], "terminal", 0),
        (["testset.json", "a.json", "--missing", "error", "--corpus", FILE], "terminal", 2),
    ],
    "evaluate-traces": [
        (["plain-testset.json", f"{NAME}=traces.jsonl", "-f", "%FORMAT"], "%FORMAT", 0),
        (["plain-testset.json", f"{NAME}=traces.jsonl", "--budget", "calls", "--samples", "100"], "terminal", 0),
        (["plain-testset.json", "traces.jsonl", "--budget", NAME], "terminal", 2),
        (["plain-testset.json", FILE], "terminal", 2),
    ],
    "losses": [
        ([*LOST, "--stage", "last=plain-b.json", "-k", "2", "-f", "%FORMAT"], "%FORMAT", 0),
        ([*LOST, "--corpus", "texts.jsonl", "--details"], "terminal", 0),
        (["testset.json", "--stage", NAME], "terminal", 2),
    ],
    "chunk": [(["texts.jsonl", "--size", "10"], "data", 0), ([FILE, "--size", "10"], "terminal", 2)],
    "benchmark list": [
        (["beir"], "terminal", 0),
        (["--language", "zh", "--json"], "json", 0),
        ([NAME], "terminal", 2),
        (["--language", NAME], "terminal", 2),
    ],
    "benchmark show": [(["beir-scifact", "--json"], "json", 0), ([NAME], "terminal", 2)],
    "benchmark fetch": [
        (["beir-scifact", "--from", "beir", "--folder", f"fetched{FILE}"], "terminal", 2),  # it is there
        (["beir-scifact", "--from", FILE, "--folder", "none"], "terminal", 2),
        ([NAME, "--from", "beir"], "terminal", 2),
    ],
    "benchmark run": [
        (["beir-scifact", "plain-a.json", "--folder", "beir"], "terminal", 0),
        (["beir-scifact", "plain-a.json", "--folder", f"fetched{FILE}", "--beside", "mteb", "--json"], "json", 0),
        (["beir-scifact", "--retriever", "bm25", "-p", f"{NAME}=1", "--folder", "beir"], "terminal", 2),
        (["beir-scifact", FILE, "--folder", FILE], "terminal", 2),
    ],
    "benchmark results": [
        (["mteb"], "terminal", 0),
        (["mteb", "--json"], "json", 0),
        (["mteb", "-m", NAME], "terminal", 2),
        ([FILE], "terminal", 2),
    ],
    "testset anchor": [
        (["quoted.json", "--corpus", "texts.jsonl", "-o", "anchored.json"], "terminal", 1),
        (["quoted.json", "--corpus", "texts.jsonl", "--json"], "json", 1),
        (["quoted.json", "--corpus", FILE], "terminal", 2),
    ],
    "testset clicks": [
        (["clicks.jsonl", "--least-impressions", "1"], "terminal", 1),  # too few clicks to learn from
        (["clicks.jsonl", "--least-impressions", "1", "--testset", "testset.json", "--json"], "json", 1),
        (["clicks.jsonl", "--least-impressions", "1", "-o", "-"], "data", 1),
        (["strange.jsonl"], "terminal", 2),
        (["clicks.jsonl", "--columns", f"doc={NAME}"], "terminal", 2),
    ],
    "testset drift": [
        (["quoted.json", "--corpus", "texts.jsonl"], "terminal", 1),
        (["quoted.json", "--corpus", "texts.jsonl", "--json"], "json", 1),
    ],
    "testset generate": [
        (["texts.jsonl", "-n", "5", "-o", f"g{FILE}.json"], "terminal", 0),
        (["texts.jsonl", "-n", "5", "--real", "plain-testset.json", "--json"], "json", 0),
        (["texts.jsonl", "--kinds", NAME], "terminal", 2),
        (["texts.jsonl", "-n", "2", *ASKED], "terminal", 2),
    ],
    "testset rubric": [
        (["--prompt"], "data", 0),
        (["-o", f"out{FILE}"], "terminal", 0),
        (["--scale", NAME], "terminal", 2),
    ],
    "testset judge": [
        (["plain-testset.json", *ASKED, "--estimate", "--prices", "1,2", "--currency", NAME], "terminal", 0),
        (["plain-testset.json", *ASKED, "--estimate", "--corpus", "texts.jsonl", "--json"], "json", 0),
        (["testset.json", *ASKED, "--estimate", "--rubric", FILE], "terminal", 2),
        (["testset.json", "--corpus", "texts.jsonl", *ASKED, "--labels", "judged.jsonl"], "terminal", 2),
    ],
    "testset lint": [
        (["testset.json", "a.json", f"{NAME}=b.json", "--corpus", "texts.jsonl", "--details"], "terminal", 1),
        (["plain-testset.json", "--mend", "-o", f"m{FILE}.json", "--against", "testset.json", "--json"], "json", 1),
        (["testset.json", "--only", NAME], "terminal", 2),
    ],
    "testset queue": [
        (["testset.json", "--labels", "reviewed.jsonl", "--reviewers", NAME], "terminal", 0),
        (["plain-testset.json", f"{NAME}=plain-a.json", "plain-b.json", "--json"], "json", 0),
        (["plain-testset.json", "--all", "-o", "queue.jsonl"], "terminal", 0),
        (["testset.json", "--all", "-o", "sheet.csv"], "terminal", 2),  # no sheet holds half of a surrogate pair
        (["plain-testset.json", "--pool", FILE], "terminal", 2),
    ],
    "testset label": [
        (["testset.json", "--corpus", "texts.jsonl", "--labels", "mine.jsonl", "--judge", NAME], "terminal", 0),
        (["testset.json", "--labels", FILE, "--judge", NAME, "--json"], "json", 2),
    ],
    "testset import-reviews": [
        (["reviews.csv", "--labels", f"l{FILE}", "--judge", NAME], "terminal", 0),
        (["reviews.csv", "--labels", "more.jsonl", "--judge", f"{NAME}2", "--json"], "json", 0),
        (["reviews.csv", "--labels", "more.jsonl", "--judge", NAME, "--scale", "2-3"], "terminal", 2),
    ],
    "testset adjudicate": [
        (["testset.json", "--labels", "reviewed.jsonl", "--list"], "terminal", 1),
        (["testset.json", "--labels", "reviewed.jsonl", "--list", "--json"], "json", 1),
        (["testset.json", "--labels", "reviewed.jsonl", "--judge", NAME], "terminal", 0),
    ],
    "testset history": [
        (["reviewed.jsonl"], "terminal", 0),
        (["reviewed.jsonl", TEXTS[0], "--json"], "json", 0),
        (["reviewed.jsonl", TEXTS[0], TEXTS[1]], "terminal", 0),
    ],
    "testset build": [
        (["testset.json", "-o", "built.json"], "terminal", 0),
        (["plain-testset.json", "--labels", "labels.jsonl", "--skip-unknown", "--json"], "json", 0),
        (["testset.json", "--labels", "labels.jsonl"], "terminal", 2),
        (["testset.json", "--policy", NAME], "terminal", 2),
    ],
    "testset show": [
        (["testset.json"], "terminal", 0),
        (["testset.json", "--json"], "json", 0),
        ([FILE], "terminal", 0),  # a run reads as judgments do
    ],
    "testset diff": [
        (["testset.json", "plain-testset.json"], "terminal", 1),
        (["quoted.json", "testset.json", "--json"], "json", 1),
    ],
    "testset merge": [
        (["plain-testset.json", "quoted.json", "-o", "merged.json"], "terminal", 0),
        (["testset.json", "plain-testset.json"], "terminal", 2),
        (["testset.json", "plain-testset.json", "--conflicts", "first", "--json"], "json", 0),
    ],
    "testset split": [
        (["plain-testset.json", "--tune", "t1.json", "--test", "t2.json", "--by", "tag"], "terminal", 0),
        (["plain-testset.json", "--tune", f"t{FILE}", "--test", "t2.json", "--json"], "json", 0),
    ],
    "testset sample": [(["plain-testset.json", "-n", "3", "--by", "tag", "-o", "drawn.json"], "terminal", 0)],
    "testset pool": [
        ([f"{NAME}=plain-a.json", "plain-b.json", "-k", "3", "-o", "pool.jsonl"], "terminal", 0),
        (["plain-a.json", "plain-b.json", "-o", "pool.jsonl", "--json"], "json", 0),
    ],
    "testset candidates": [
        (["searches.jsonl", "-o", "new.json"], "terminal", 0),
        (["searches.jsonl", "--json"], "json", 0),
        (["traces.jsonl"], "terminal", 0),
        (["--monitor", NAME], "terminal", 2),
        (["searches.jsonl", "--column", f"text={NAME}"], "terminal", 2),
    ],
    "testset agreement": [
        (["plain-qrels.json", f"{NAME}=plain-qrels.json", *AS_RUNS, "--details"], "terminal", 0),
        (["qrels.json", "plain-testset.json", f"{NAME}=plain-qrels.json", "--json"], "json", 0),
        (["plain-qrels.json", FILE, "--scale", NAME], "terminal", 2),
        ([f"{NAME}={FILE}"], "terminal", 2),
    ],
    "testset draw": [
        (["qrels.json", *NAMED, "-n", "12", "--sample", "sample.json", "-o", f"pool{FILE}"], "terminal", 0),
        (["plain-qrels.json", "-n", "12", "--sample", "plain-sample.json", "--json"], "json", 0),
        (["plain-testset.json", "-n", "12", "--strata", "tag", "--sample", "sample.json"], "terminal", 2),
        (["plain-qrels.json", *NAMED, "--depth", "1", "-n", "12", "--sample", f"s{FILE}"], "terminal", 0),
        ([FILE, "-n", "900", "--sample", "sample.json"], "terminal", 2),
    ],
    "testset correct": [
        (["plain-qrels.json", "plain-qrels.json", *NAMED, "--details"], "terminal", 1),
        (["plain-qrels.json", "plain-testset.json", *NAMED, "-m", "AP", "--json"], "json", 1),
        (["qrels.json", "qrels.json", *NAMED, "--sample", "sample.json", "--incomplete", "skip"], "terminal", 1),
        (["plain-qrels.json", "qrels.json", *NAMED, "--sample", FILE], "terminal", 2),
        (["plain-qrels.json", FILE, *NAMED], "terminal", 2),
    ],
    "testset size": [
        (["plain-qrels.json", *NAMED, "--judge", "plain-testset.json", "--details"], "terminal", 1),
        (["plain-qrels.json", *NAMED, "--difference", "0.3", "--json"], "json", 0),
        (["plain-qrels.json", *NAMED, "--judge", FILE], "terminal", 2),
    ],
    "compare": [
        (["testset.json", f"{NAME}=a.json", "b.json", "--samples", "100", "--by", "tag", "-f", "%FORMAT"], "%FORMAT", 0)
    ],
    "compare-scores": [
        (["scores.csv", "--samples", "100", "-f", "%FORMAT"], "%FORMAT", 0),
        ([FILE, "scores.csv"], "terminal", 2),
    ],
    "run": [
        (["plan.toml"], "terminal", 2),  # one of its systems answers nothing
        (["plan.toml", "--json"], "json", 2),
        (["plan.toml", "--check"], "terminal", 0),
        (["bad.toml", "--check"], "terminal", 2),
    ],
    "init": [
        (["plan.toml"], "terminal", 2),
        (["--from-docs", FILE], "terminal", 2),
        (["--from-docs", "pages", "-o", f"new{FILE}", "--force"], "terminal", 0),
        (["--from-docs", "pages", "-o", f"new{FILE}", "--force", "--json"], "json", 0),
        (["--from-docs", ".", "-o", FILE], "terminal", 2),
    ],
    "gate": [
        (["alone.json", "--baseline", "alone.json", "--target", "nDCG@10 >= 0.9", "-f", "%FORMAT"], "%FORMAT", 1),
        *(
            (["kept.json", "--baseline", "kept.json", "--system", text, "-f", "%FORMAT"], "%FORMAT", 0)
            for text in map(HOSTILE.get, ("link", "latex"))
            if text is not None
        ),
        (["kept.json", "--baseline", "alone.json", "--system", NAME], "terminal", 2),
        (["alone.json", "--baseline", NAME], "terminal", 2),
    ],
    "baseline set": [(["main", "alone.json", "--note", NAME], "terminal", 0), ([NAME, "alone.json"], "terminal", 2)],
    "baseline promote": [
        (["main", "alone.json", "--note", NAME], "terminal", 0),
        (["main", "alone.json", "--json"], "json", 0),
        (["main", "kept.json", "--system", HOSTILE["github"]], "terminal", 1),
    ],
    "baseline show": [(["main"], "terminal", 0), (["main", "--json"], "json", 0), ([NAME], "terminal", 2)],
    "baseline list": [([], "terminal", 0), (["--json"], "json", 0), (["--history", f"no{FILE}"], "terminal", 2)],
    "baseline export": [(["main"], "json", 0), (["main", "-o", f"out{FILE}"], "terminal", 0)],
    "history add": [
        (["kept.json", "alone.json", "--label", "@octocat"], "terminal", 0),
        ([FILE], "terminal", 2),
    ],
    "history list": [([], "terminal", 0), (["--system", NAME], "terminal", 0), (["--json"], "json", 0)],
    "history show": [(["1"], "terminal", 0), (["2"], "terminal", 0), (["1", "--json"], "json", 0)],
    "history diff": [(["2", "3"], "terminal", 0), (["1", "2", "--system", NAME], "terminal", 2)],
    "history prune": [(["--keep", "0"], "terminal", 0)],
    "history vacuum": [([], "terminal", 0), (["--json"], "json", 0)],
    "history export": [(["1", "-o", "-"], "json", 0), (["1", "-o", f"{FILE}l"], "terminal", 0)],
    "history trend": [
        (["nDCG@10"], "terminal", 0),
        (["nDCG@10", "--json"], "json", 0),
        (["nDCG@10", "-o", "trend.csv"], "trend.csv", 0),
        (["nDCG@10", "--limit", "1", "-o", "trend.html"], "trend.html", 0),
        (["nDCG@10", "--system", NAME, "-o", "trend.svg"], "trend.svg", 0),
        ([NAME], "terminal", 2),
    ],
    "monitor": [
        (["plan.toml", "--check"], "terminal", 0),
        (["plan.toml", "--once"], "terminal", 1),
        (["plan.toml", "--once", "--json"], "json", 1),
        (["plan.toml", "--status"], "terminal", 0),
        (["plan.toml", "--status", "--json"], "json", 0),
        (["plan.toml", "--relearn"], "terminal", 0),
    ],
    "report": [
        (["record.json", "-f", "%FORMAT"], "%FORMAT", 0),
        (["live.json", "-f", "%FORMAT"], "%FORMAT", 0),
        (["record.json", "--pair", NAME, NAME, "--charts", "charts"], "terminal", 2),
    ],
    "verify": [
        (["made.json"], "terminal", 0),
        (["made.json", "--json"], "json", 0),
        (["made.json", "--folder", "elsewhere"], "terminal", 1),
        (["live.json"], "terminal", 2),
    ],
    "power": [(["qrels.json", f"{NAME}=a.json", "b.json", "--difference", "0.1"], "terminal", 0)],
    "audit": [(["--n", "50", "--value", "0.5"], "terminal", 0)],
    "judge-next": [
        (["plain-qrels.json", f"{NAME}=plain-a.json", "plain-b.json"], "terminal", 0),
        (["plain-qrels.json", "plain-a.json", "-f", "csv"], "csv", 0),
        (["plain-qrels.json", "plain-a.json", "--json"], "json", 0),
        (["plain-qrels.json", "plain-a.json", "-f", "trec"], "data", 2),  # ids with blanks
        (["qrels.json", "a.json"], "terminal", 2),  # no column holds half of a surrogate pair
    ],
    "trec_eval": [(["testset.json", "a.json", "-q", "-m", "official", "-m", "runid"], "trec_eval", 0)],
    "reconcile": [(["qrels.json", "a.json", "-m", "nDCG@10", "--value", "0.5"], "terminal", 0)],
    "measures": [([], "terminal", 0), (["--json"], "json", 0)],
    "explain": [(["nDCG@10"], "terminal", 0), ([NAME], "terminal", 2), (["nDCG@10", "--json"], "json", 0)],
    "contracts": [([], "terminal", 0), (["--json"], "json", 0)],
    "fuse": [
        (["a.json", "b.json", "--to", "json"], "data", 0),
        (["a.json", "b.json", "--weights", NAME], "terminal", 2),
    ],
    "convert": [
        (["plain-a.json", f"out{FILE}l"], "terminal", 0),
        (["a.json", "-", "--to", "json"], "data", 0),
        (["a.json", "out.csv"], "terminal", 2),
    ],
    "completion": [(["bash"], "data", 0)],
    "demo": [],  # it reads nothing
}
UNFIT = {"junit": set(CASES) - {"gate"}, "csv": {"gate"}, "trec_eval": {"gate"}}
"""Formats that have no place for what a command found, and say so."""


def _leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        yield from _leaves(found, (*path, name))


COMMANDS = dict(_leaves(app))


def test_no_command_is_without_a_case() -> None:
    assert set(CASES) == set(COMMANDS)
    for name, command in COMMANDS.items():
        formats = next((option.type for option in command.params if option.name == "form"), None)
        if isinstance(formats, click.Choice) and set(RENDERERS.known) <= set(formats.choices):
            assert [form for _, form, _ in CASES[name] if form == "%FORMAT"], f"{name} writes all formats"


def _written(path: str, value: Any) -> None:
    """JSON with half a surrogate pair where the placeholder is."""
    Path(path).write_text(json.dumps(value).replace("\\ue000", "\\ud800"), encoding="utf-8")


def _toml(text: str) -> str:
    return '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text) + '"'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inputs whose every id, name, tag, text and file is hostile, and a history of their records."""
    made = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for ids, start in ((IDS, ""), ([name for name in IDS if name != PLACE], "plain-")):
            judged = {query: {doc: (i + k) % 2 for k, doc in enumerate(ids[i : i + 4])} for i, query in enumerate(ids)}
            runs = [
                {query: {ids[(i + j + k * k) % len(ids)]: 9.0 - k for k in range(6)} for i, query in enumerate(ids)}
                for j in range(len(WHOLE))
            ]
            for name, value in {"a": runs[0], "b": runs[1], "qrels": judged}.items():
                _written(f"{start}{name}.json", value)
            asked = [
                {"id": query, "query": f"{query}\n{i}", "tags": [query, ids[0]], "relevant_docs": list(docs)}
                for i, (query, docs) in enumerate(judged.items())
            ]
            _written(f"{start}testset.json", asked)
            named = dict(zip(WHOLE.values() if not start else TEXTS, runs, strict=False))
            compared = rankgauge.compare(judged, named, ["nDCG@10", "R@3"], baseline=HOSTILE["github"], samples=100)
            _written("kept.json" if start else "record.json", compared.to_record().to_dict())
        _written(FILE, runs[2])
        texts = [{"_id": doc, "text": f"{doc} one two {LONG}"} for doc in IDS]
        Path("texts.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts), encoding="utf-8")
        spans = [{"text": text} for text in (*TEXTS, LONG, f"nowhere {LONG}")]
        _written("quoted.json", [{"id": LONG[:50], "query": LONG, "tags": TEXTS, "spans": spans}])
        shown = [
            {"list": text, "query": text, "doc": doc, "position": place, "clicked": int(doc == text)}
            for text in TEXTS
            for place, doc in enumerate(dict.fromkeys([*TEXTS[:3], text]), start=1)
        ]
        Path("clicks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in shown), encoding="utf-8")
        Path("strange.jsonl").write_text(json.dumps(dict.fromkeys(TEXTS, 1)) + "\n", encoding="utf-8")
        traces = [
            {"query_id": query, "question": LONG, "calls": [{"query": LONG, "results": list(docs)[:2]}] * 2}
            for query, docs in runs[0].items()
        ]
        traces += [{"question": text, "calls": [{"query": text, "results": [text]}]} for text in TEXTS]
        Path("traces.jsonl").write_text("".join(json.dumps(trace) + "\n" for trace in traces), encoding="utf-8")
        said = [
            {"query": query, "doc": doc, "grade": grade, "judge": judge, "reason": LONG}
            for i, query in enumerate(IDS)
            for doc in IDS[i : i + 2]
            for judge, grade in ((NAME, 1), (LONG, 2))
        ]
        said.append({"query": TEXTS[0], "doc": TEXTS[1], "grade": 3, "judge": NAME, "adjudicates": True})
        said_lines = (json.dumps(label).replace("\\ue000", "\\ud800") for label in said)
        Path("reviewed.jsonl").write_text("".join(f"{label}\n" for label in said_lines), encoding="utf-8")
        cells = [f"'{text}" for text in TEXTS if "\0" not in text]
        with open("reviews.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow(["query_id", "doc_id", "grade", "comment"])
            csv.writer(file).writerows([cell, cell, "1", "".join(cells)] for cell in cells)
        searches = [{"query": text, "result_count": 0, "time": text} for text in (*TEXTS, LONG)]
        Path("searches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in searches), encoding="utf-8")
        labels = [{"query": text, "doc": text, "grade": 1, "judge": NAME, "reason": LONG} for text in [*TEXTS, LONG]]
        Path("labels.jsonl").write_text("".join(json.dumps(one) + "\n" for one in labels), encoding="utf-8")
        Path("beir", "qrels").mkdir(parents=True)
        ids = [text for text in TEXTS if "\0" not in text and text.split() == [text]]
        for file in ("corpus.jsonl", "queries.jsonl"):
            rows = [{"_id": one, "title": LONG, "text": f"{one} {LONG}"} for one in ids]
            Path("beir", file).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        Path("beir", "qrels", "test.tsv").write_text(
            "query-id\tcorpus-id\tscore\n" + "".join(f"{one}\t{one}\t1\n" for one in ids), encoding="utf-8"
        )
        fetched = run_command("benchmark", "fetch", "beir-scifact", "--from", "beir", "--folder", f"fetched{FILE}")
        check(fetched, "terminal")
        Path("mteb", FILE).mkdir(parents=True)
        figures = {"task_name": NAME, "mteb_version": LONG, "dataset_revision": LONG}
        figures["scores"] = {text: [{"ndcg_at_10": 0.5, "hf_subset": text}] for text in TEXTS}
        Path("mteb", FILE, "model_meta.json").write_text(json.dumps({"name": NAME, "revision": LONG}))
        Path("mteb", FILE, "Task.json").write_text(json.dumps(figures))
        for path, run in {"alone.json": runs[0], "other.json": runs[1]}.items():
            _written(path, rankgauge.evaluate(judged, run, ["nDCG@10", "R@3"], name=NAME).record.to_dict())
        _written("live.json", hostile_record("".join(HOSTILE.values())))
        heads = ["::error::x", "=1+1", "@octocat", "<b>", "\u202e", "[a](http://evil.example)"]
        rows = [["query", *heads]]
        rows += [[f"q{i}", *(str((i * 7 + j) % 10 / 10) for j in range(len(heads)))] for i in range(12)]
        Path("scores.csv").write_text("".join(f"{','.join(row)}\n" for row in rows), encoding="utf-8")
        (made / "hostile_search_module.py").write_text(SEARCH)
        plan = 'testset = "plain-testset.json"\nmeasures = ["R@5"]\n[calls]\nk = 5\nretries = 0\n'
        for kind, use in (("escape", "search"), ("github", "broken"), ("azure", "search"), ("bidi", "search")):
            plan += f'[[system]]\nname = {_toml(HOSTILE[kind])}\nuse = "hostile_search_module:{use}"\n'
        plan += '[monitor]\nname = "@octocat"\n'
        Path("plan.toml").write_text(plan, encoding="utf-8")
        Path("bad.toml").write_text(f"{plan}[{_toml(LONG)}]\nx = {_toml(LONG)}\n", encoding="utf-8")
        run_command("history", "add", "kept.json", "alone.json", "other.json")
        run_command("baseline", "set", "main", "alone.json")
        run_command("evaluate", "testset.json", f"{NAME}=a.json", FILE, "-o", "made.json")
        Path("elsewhere").mkdir()
        Path("pages").mkdir()
        for number in range(3):
            Path("pages", f"{number}{FILE}.md").write_text(f"# Boiler{number} valves\n\n{LONG}", "utf-8", "replace")
        Path("pages", f"empty{FILE}.md").write_text("")
        for path in ("testset.json", "a.json"):
            Path("elsewhere", path).write_bytes(Path("plain-" + path).read_bytes())
        Path("elsewhere", FILE).write_bytes(Path("a.json").read_bytes())
    return made


@pytest.fixture(autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    monkeypatch.chdir(folder)


def check(done: Done, form: str) -> None:
    """The rules of standard error, which is for people, and of the output."""
    RULES["terminal"](done.stderr)
    if form == "json":
        assert done.status == 2 or json.loads(done.stdout)
    elif form.startswith("trend"):
        rule = {"csv": "csv", "html": "html", "svg": "junit"}[form.rpartition(".")[2]]
        RULES[rule](Path(form).read_text(encoding="utf-8"))
    elif form != "data" and done.stdout:
        RULES[form](done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_outputs_keep_their_rules(name: str, folder: Path) -> None:
    takes = {option.name for option in COMMANDS[name].params}
    for arguments, form, status in CASES[name]:
        formats = FORMATS[:-1] if name == "report" else FORMATS
        for chosen in formats if form == "%FORMAT" else [form]:
            once = "language" not in takes or chosen.endswith(("html", "svg"))
            for language in LANGUAGES[:1] if once else LANGUAGES:
                words = [chosen if word == "%FORMAT" else word for word in arguments]
                words += ["--lang", language] if "language" in takes else []
                unfit = form == "%FORMAT" and name in UNFIT.get(chosen, ())
                check(run_command(*name.split(), *words, status=2 if unfit else status), chosen)
    if (folder / "summary.md").exists():
        RULES["markdown"]((folder / "summary.md").read_text(encoding="utf-8"))


def test_a_new_plan_keeps_the_rules() -> None:
    """It is never written over, so its name is used once."""
    check(run_command("init", f"new{FILE}.toml"), "terminal")


@pytest.mark.parametrize("name", CASES)
def test_mistakes_keep_the_rules(name: str) -> None:
    """Hostile words for all arguments and options: a message and status 2, or the command does without."""
    argument = FILE + LONG[:150]
    for words in ([argument], [argument] * 3, [f"--{argument}"], ["--lang", argument], ["--report", f"no/{argument}"]):
        if name == "demo" and words[0] == "--report":
            continue  # the demo takes seconds before it writes
        done = run_command(*name.split(), *words, status=None)
        assert done.status in (0, 1, 2)
        RULES["terminal"](done.stderr)
        RULES["terminal"](done.stdout)


def test_programs_get_exact_names(folder: Path) -> None:
    """JSON is data: nothing in it is changed."""
    done = run_command("evaluate", "testset.json", "a.json", "--json")
    assert json.loads(done.stdout)["queries"] == [*HOSTILE.values(), *ORDINARY]
    assert Record.load("alone.json").systems[0].name == NAME


def test_ordinary_names_stay_as_they_are() -> None:
    done = run_command("evaluate", "testset.json", "a.json", "-q")
    for name in ORDINARY:
        assert name in done.stdout
    done = run_command("trec_eval", "testset.json", "a.json", "-q")
    for name in ORDINARY:
        assert f"\t{name}\t" in done.stdout


def test_colours_and_folds_are_ours_alone() -> None:
    """A narrow table breaks its cells into lines, none of which may be a command."""
    text = rankgauge.report(Record.load("record.json"), format="terminal", width=60, color=True)
    assert "\x1b[1m" in text
    lines(re.sub(r"\x1b\[(?:0|1|2|3[1236]|1;3[123])m", "", text), folded=True)


def test_python_shows_no_controls() -> None:
    """Results, their warnings, and errors, as an interactive session or a test shows them."""
    judged, run = json.loads(Path("plain-qrels.json").read_bytes()), json.loads(Path("plain-a.json").read_bytes())
    result = rankgauge.evaluate(judged, run, name=NAME)
    compared = rankgauge.compare(judged, {NAME: run, LONG: run}, samples=100)
    results = [result, compared, rankgauge.load_run(FILE), rankgauge.load_testset("testset.json")]
    shown = [*result.warnings, *compared.warnings, *(repr(one).replace("##[", "") for one in results)]
    for make in (
        lambda: rankgauge.load_run(f"no{FILE}"),
        lambda: rankgauge.evaluate(judged, {LONG: {"d": 1.0}}),
        lambda: rankgauge.evaluate(judged, run, [NAME]),
        lambda: str(rankgauge.RankgaugeError(LONG)),
    ):
        try:
            shown.append(str(make()))
        except rankgauge.RankgaugeError as error:
            shown.append(str(error))
    for text in shown:
        RULES["terminal"](text)


def test_labels_of_metrics() -> None:
    """Read back by Prometheus' own parser they are what they were, and no line is forged."""
    parser = pytest.importorskip("prometheus_client.parser")
    from rankgauge.model.series import SeriesKey
    from rankgauge.monitoring.loop.metrics import Metrics
    from rankgauge.monitoring.loop.status import SeriesStatus

    metrics = Metrics()
    metrics.begin("monitor", ["console"])
    keys = [SeriesKey(HOSTILE["html"], "nDCG@10", text) for text in HOSTILE.values()]
    metrics.figures("monitor", [SeriesStatus(key, "watching", False, value=0.5, queries=3) for key in keys])
    text = metrics.text()
    assert all(line.startswith(("#", "rankgauge_")) for line in text.splitlines())
    found = [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]
    tags = [sample.labels["tag"] for sample in found if sample.name == "rankgauge_score"]
    assert len(tags) == len(HOSTILE)
    for tag in tags:
        RULES["terminal"](tag)
