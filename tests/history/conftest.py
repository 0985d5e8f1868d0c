"""Databases for the tests: each test that asks for `database` runs on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankgauge.history.store import History
from tests.parts import here

_NUMBERS = itertools.count()


class Server:
    """A PostgreSQL server of its own, on a free port of the loopback, with a password."""

    user, password = "tester", "s3cret pass/word@"

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self.port = int(found.getsockname()[1])
        (folder / "password").write_text(self.password)
        if os.geteuid() == 0:  # the server refuses to be root
            shutil.chown(folder, "postgres")
            shutil.chown(folder / "password", "postgres")
        self._run(
            "initdb", "-D", "data", "-U", self.user, "--pwfile=password", "-A", "scram-sha-256", "-E", "UTF8", "-N"
        )
        self.start()

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        with open(self.folder / "output", "ab") as out:  # a pipe would stay open in the server
            done = subprocess.run(command, cwd=self.folder, stdout=out, stderr=out, timeout=60, check=False)
        assert done.returncode == 0, (self.folder / "output").read_text()

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self._run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def url(self, database: str) -> str:
        from urllib.parse import quote

        return f"postgresql://{self.user}:{quote(self.password, safe='')}@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """The address of a new, empty schema, which is to its user what a database is, and made sooner."""
        import psycopg

        name = f"history_{next(_NUMBERS)}"
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}")  # type: ignore[call-overload]
        return f"{self.url('postgres')}?options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    # pytest's own folders are for their owner alone, and the server is another user.
    with tempfile.TemporaryDirectory(prefix="rankgauge-postgresql-") as folder:
        server = Server(here("postgresql"), Path(folder))
        yield server
        server.stop()


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No history elsewhere; and the many processes of these tests start sooner with compiled modules."""
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path_factory.getbasetemp() / "compiled"))


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("postgresql"))])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "history.db")
    server: Server = request.getfixturevalue("server")
    return server.new()


@pytest.fixture
def history(database: str) -> Iterator[History]:
    """An open, empty history."""
    with History.open(database) as opened:
        yield opened
