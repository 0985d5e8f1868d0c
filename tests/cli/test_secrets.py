"""Canaries: secrets in all the places where people keep them, and then no output of any command holds one.

Only the server that a secret is for may see it.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.cli.command import Done, run_command, run_process
from tests.history.conftest import Server, server
from tests.retrievers.servers import Asked, Reply, Service, calls

__all__ = ["server"]  # the fixture

KINDS = [
    *("userinfo", "api_key", "key", "sig", "amz", "code", "subscription", "token", "secret"),  # in URLs
    *("bearer", "header", "cookie", "body", "password", "whole_url", "embedding"),  # sent otherwise
    *("alert_login", "alert_path", "thrown", "written", "logged", "set_cookie", "redirect", "factory"),
]
CANARY = {kind: f"cAnary{number:02}{kind[:3]}-Zq/{number * 7919:x}+&é" for number, kind in enumerate(KINDS)}
"""With signs that are escaped in URLs, JSON and HTML."""
HISTORY = "cAnary99his-Zq7f3"
QUERIES = 6

MODULE = """
import logging, os, sys
logging.basicConfig()
KEY = os.environ["THROWN_KEY"]

def make(api_key, key_env):
    def search(query, k):
        logging.warning("asking with %s", os.environ["LOGGED_KEY"])
        print("asked with", api_key)
        if query == "word1":
            raise ValueError(f"cannot use {KEY} nor password={os.environ['WRITTEN_KEY']} nor {api_key}")
        return [query.replace("word", "d")]
    return search
"""


def plan_of(url: str) -> str:
    q = {kind: quote(secret, safe="") for kind, secret in CANARY.items()}
    c = {kind: json.dumps(secret, ensure_ascii=False) for kind, secret in CANARY.items()}
    login = url.replace("http://", f"http://searcher:{q['userinfo']}@")
    cookie = json.dumps(f"theme=dark; session={q['cookie']}")
    return f"""
testset = "questions.json"
corpus = "corpus.jsonl"
measures = ["nDCG@10"]

[[system]]
name = "login"
use = "http"
parameters = {{ url = "{login}/basic?api_key={q["api_key"]}&key={q["key"]}", scores = "$.hits[*].score" }}

[[system]]
name = "signed"
use = "http"
[system.parameters]
url = "{url}/s?sig={q["sig"]}&X-Amz-Signature={q["amz"]}&code={q["code"]}&subscription-key={q["subscription"]}"
body = {{ query = "{{query}}", k = "{{k}}", auth = {{ token = "${{BODY_TOKEN}}", password = {c["password"]} }} }}
headers = {{ Authorization = "Bearer ${{BEARER}}", X-API-Key = "{q["header"]}", Cookie = {cookie} }}

[[system]]
name = "variable"
use = "http"
parameters = {{ url = "${{SEARCH_URL}}", body = {{ query = "{{query}}" }} }}

[[system]]
name = "elastic"
use = "elasticsearch"
parameters = {{ url = "${{ELASTIC_URL}}", index = "es", headers = {{ X-Key = "${{BODY_TOKEN}}" }} }}

[[system]]
name = "redirected"
use = "http"
parameters = {{ url = "{url}/moved?token={q["token"]}&client_secret={q["secret"]}" }}

[[system]]
name = "embedded"
use = "dense"
parameters = {{ endpoint = "${{EMBEDDING_URL}}/v1", model = "m", api_key_env = "EMBEDDING_KEY" }}

[[system]]
name = "own"
factory = "own_search:make"
parameters = {{ api_key = {c["factory"]}, key_env = "THROWN_KEY" }}

[calls]
retries = 0
max_failed = 0.5

[outputs]
record = "record.json"
report = "report.html"
table = "table.md"
runs = "runs"

[monitor]
latency = false

[[alert]]
name = "ops"
url = "${{OPS_URL}}"
"""


def environment(url: str, sink: str) -> dict[str, str]:
    q = {kind: quote(secret, safe="") for kind, secret in CANARY.items()}
    named = {
        "BODY_TOKEN": CANARY["body"].replace("é", "e"),
        "BEARER": q["bearer"],
        "SEARCH_URL": url.replace("http://", f"http://me:{q['whole_url']}@") + "/basic",
        "ELASTIC_URL": url.replace("http://", f"http://me:{q['whole_url']}@"),
        "EMBEDDING_URL": url,
        "EMBEDDING_KEY": q["embedding"],
        "THROWN_KEY": CANARY["thrown"],
        "WRITTEN_KEY": q["written"],
        "LOGGED_KEY": "x",
        "OPS_URL": sink.replace("http://", f"http://ops:{q['alert_login']}@") + f"/hook/{q['alert_path']}",
    }
    return {**os.environ, **named, "LOGGED_KEY": f"token={q['logged']}", "PYTHONWARNINGS": "ignore"}


def spellings(secret: str) -> set[str]:
    """How a program may write it, each cut before the last signs."""
    plain = {secret, quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1], secret[:14]}
    return {form for form in plain if form}


def answer(asked: Asked) -> Reply:
    """A search that echoes what it was asked with: the third query fails, and some places always do."""
    headers = {name.lower(): value for name, value in asked.headers.items()}
    where = asked.path.partition("?")[0]
    echo = {"headers": headers, "path": asked.path, "body": asked.body}
    plain = " ".join(secret for secret in CANARY.values() if secret in repr(echo))
    cookie = {"Set-Cookie": f"sid={quote(CANARY['set_cookie'])}; Path=/"}
    said = f"denied {plain} {json.dumps(echo)} Set-Cookie: {cookie['Set-Cookie']}".encode()
    if where == "/moved":
        target = f"http://elsewhere.example/?access_token={quote(CANARY['redirect'], safe='')}"
        return Reply(said, 302, {"Location": target, **cookie})
    if where == "/basic" and not headers.get("authorization", "").startswith("Basic "):
        return Reply(said, 401, {"WWW-Authenticate": "Basic", **cookie})
    if where.endswith("/embeddings"):
        return Reply(said, 401, cookie)
    query = json.dumps(asked.body)
    if '"word3"' in query or where == "/s":
        return Reply(said, 400, cookie)
    found = [f"d{i}" for i in range(QUERIES) if f'"word{i}"' in query]
    if where.endswith("/_search"):
        return Reply({"hits": {"hits": [{"_id": doc, "_score": 1.0} for doc in found]}}, headers=cookie)
    return Reply({"hits": [{"id": doc, "score": 1.0} for doc in found]}, headers=cookie)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, Service, Service]]:
    """A folder with a plan, a search, and a sink for alerts."""
    entries = [{"id": f"q{i}", "query": f"word{i}", "relevant_docs": [f"d{i}"]} for i in range(QUERIES)]
    (tmp_path / "questions.json").write_text(json.dumps(entries))
    documents = [json.dumps({"_id": f"d{i}", "text": f"word{i}"}) for i in range(QUERIES)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(documents))
    (tmp_path / "own_search.py").write_text(MODULE)
    with calls(answer) as search, calls(lambda _: Reply({})) as sink:
        (tmp_path / "plan.toml").write_text(plan_of(search.url))
        yield tmp_path, search, sink


def commands(folder: Path, env: dict[str, str], history: object) -> Iterator[tuple[str, Done]]:
    """A run, a gate and a check of a monitor, one after another."""
    plan, record = folder / "plan.toml", folder / "record.json"

    def do(*arguments: object) -> Done:
        done = run_process(*arguments, env={**env, "PYTHONDONTWRITEBYTECODE": "1"})
        assert "Traceback" not in done.stderr, done.stderr
        return done

    place = ("--history", history)
    yield "run", do("run", plan, "--fresh", "--keep", *place)
    yield "monitor", do("monitor", plan, "--once", *place)
    yield "baseline", do("baseline", "set", "main", record, "--system", "own", *place)
    yield "gate", do("gate", record, "--baseline", "main", "--system", "own", *place)


def cells(database: Path) -> str:
    """All that a history holds, unpacked."""
    with closing(sqlite3.connect(database)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table}")]
    return "\n".join(map(unpacked, (cell for row in rows for cell in row)))


def unpacked(cell: Any) -> str:
    if not isinstance(cell, bytes | memoryview):
        return str(cell)
    try:
        return zlib.decompress(bytes(cell)).decode()
    except zlib.error:
        return bytes(cell).decode("utf-8", "replace")


def check(outputs: dict[str, str], more: tuple[str, ...] = ()) -> None:
    """No output holds a canary, however spelled."""
    assert len(CANARY) >= 20
    logins = {f"me:{CANARY['whole_url']}", f"searcher:{CANARY['userinfo']}", f"ops:{CANARY['alert_login']}"}
    forms = {form: kind for kind, secret in CANARY.items() for form in spellings(secret)}
    forms |= {b64encode(login.encode()).decode(): login for login in logins} | dict.fromkeys(more, "history")
    found = {(place, kind, form) for place, text in outputs.items() for form, kind in forms.items() if form in text}
    assert not found


def everything(folder: Path, done: dict[str, Done], sink: Service) -> dict[str, str]:
    outputs = {
        f"{name} {stream}": getattr(one, stream) for name, one in done.items() for stream in ("stdout", "stderr")
    }
    given = {"plan.toml", "own_search.py"}
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in given:
            outputs[str(path.relative_to(folder))] = path.read_bytes().decode("utf-8", "replace")
    outputs["alerts"] = "\n".join(json.dumps(asked.body, ensure_ascii=False) for asked in sink.asked)
    return outputs


def saw_all(search: Service, sink: Service) -> None:
    """Each server got what was meant for it: the secrets work."""
    seen = repr([(asked.path, asked.headers, asked.body) for asked in search.asked])
    for kind in ("api_key", "key", "sig", "amz", "code", "subscription", "token", "secret", "header", "cookie"):
        assert quote(CANARY[kind], safe="") in seen, kind
    for kind in ("bearer", "embedding"):
        assert f"Bearer {quote(CANARY[kind], safe='')}" in seen, kind
    assert CANARY["password"] in seen
    assert CANARY["body"].replace("é", "e") in seen
    sent = {asked.headers.get("authorization", "").removeprefix("Basic ") for asked in search.asked}
    logins = {b64decode(login).decode() for login in sent if login and " " not in login}
    assert {f"searcher:{CANARY['userinfo']}", f"me:{CANARY['whole_url']}"} <= logins
    assert sink.asked
    assert quote(CANARY["alert_path"], safe="") in sink.asked[0].path
    assert (
        sink.asked[0].headers["Authorization"]
        == f"Basic {b64encode(b'ops:' + CANARY['alert_login'].encode()).decode()}"
    )


def test_no_output_holds_a_secret(place: tuple[Path, Service, Service]) -> None:
    folder, search, sink = place
    (folder / ".rankgauge").mkdir(mode=0o700)
    done = dict(commands(folder, environment(search.url, sink.url), folder / ".rankgauge" / "history.db"))
    assert done["run"].status == 2, done["run"]  # systems that could not be evaluated are named
    assert done["gate"].status == 1, done["gate"]  # queries failed
    assert done["monitor"].status == 1, done["monitor"]  # systems are down
    saw_all(search, sink)
    outputs = everything(folder, done, sink)
    outputs["cells"] = cells(folder / ".rankgauge" / "history.db")
    assert {"record.json", "report.html", "table.md", ".rankgauge/history.db"} <= outputs.keys()
    check(outputs)
    journals = [text for name, text in outputs.items() if name.endswith(".jsonl") and '"error"' in text]
    assert journals
    for text in (outputs["record.json"], outputs["run stderr"], outputs["cells"], outputs["alerts"], *journals):
        assert "***" in text
    for path in (folder / ".rankgauge", *(folder / ".rankgauge").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_record_from_elsewhere(tmp_path: Path) -> None:
    """What another program, or an older release, has written down is masked where it is read."""
    record = tmp_path / "record.json"
    questions = [{"id": "q1", "query": "word1", "relevant_docs": ["d1"]}]
    (tmp_path / "questions.json").write_text(json.dumps(questions))
    (tmp_path / "run.json").write_text(json.dumps({"q1": {"d1": 1.0}}))
    run_command("evaluate", tmp_path / "questions.json", tmp_path / "run.json", "-o", record)
    content = json.loads(record.read_text())
    error = f"status 401: http://me:{HISTORY}@host/?key={HISTORY}"
    note = {"key": "live.error", "parameters": {"error": error}, "level": "warning"}
    version = {"number": 1, "parameters": {"url": error, "api_key": HISTORY}, "mean": 1.0, "interval": None}
    version |= dict.fromkeys(("p50", "p95", "throughput", "ann_recall"))
    content["invalid"] = {"other": note}
    content["systems"][0]["calls"] = {
        "k": 10,
        "concurrency": 1,
        "latency": None,
        "throughput": None,
        "errors": {error: 1},
        "notes": [note],
    }
    content["sweeps"] = [
        {"system": "s", "measure": "RR", "lower_is_better": False, "versions": [version], "best": "V1"}
        | {"failed": {"V2": note}}
    ]
    record.write_text(json.dumps(content))
    for form in ("terminal", "markdown", "html"):
        shown = run_command("report", record, "-f", form).stdout
        assert "***" in shown
        assert HISTORY not in shown
    run_command("history", "add", record, "--history", tmp_path / "history.db")
    assert HISTORY not in cells(tmp_path / "history.db")


def test_a_mistyped_command_shows_no_password() -> None:
    done = run_command(f"postgresql://me:{HISTORY}@db/x", status=2)
    assert "me:***@db" in done.stderr
    assert HISTORY not in done.stderr


@pytest.mark.needs("postgresql")
def test_nor_does_a_server(place: tuple[Path, Service, Service], server: Server) -> None:
    """With a history in PostgreSQL, named as libpq does, with its password."""
    import psycopg

    folder, search, sink = place
    database = f"canary_{os.getpid()}"
    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {database}")  # type: ignore[call-overload]
    password = server.password.replace("'", "\\'")
    dsn = f"host=127.0.0.1 port={server.port} user={server.user} password='{password}' dbname={database}"
    done = dict(islice(commands(folder, environment(search.url, sink.url), dsn), 2))
    assert done["run"].status == 2, done["run"]
    assert done["monitor"].status == 1, done["monitor"]
    outputs = everything(folder, done, sink)
    with psycopg.connect(server.url(database)) as connection:
        connection.adapters.register_loader("timestamptz", psycopg.types.string.TextLoader)  # one is -infinity
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        assert len(tables) > 3
        rows = [row for (table,) in tables for row in connection.execute(f"SELECT * FROM {table}")]  # type: ignore[call-overload]
    outputs["cells"] = "\n".join(unpacked(cell) for row in rows for cell in row)
    assert "***" in outputs["cells"]
    check(outputs, (server.password, quote(server.password, safe="")))
    assert not [path for path in folder.iterdir() if "host=" in path.name or "dbname" in path.name]
    wrong = run_process("history", "list", "--history", dsn.replace(password, f"{HISTORY} wrong"))
    assert wrong.status == 2
    assert HISTORY not in wrong.stderr + wrong.stdout
