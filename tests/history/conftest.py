"""Databases for the tests: each test that asks for `database` runs on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from rankgauge.history.store import History
from tests.parts import here

_NUMBERS = itertools.count()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


class Server:
    """A PostgreSQL server of its own, on a free port of the loopback, with a password."""

    user, password = "tester", "s3cret pass/word@"

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        self.port = free_port()
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

    def processes(self) -> list[int]:
        """The server's own process, and one for each connection and task."""
        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(first)], capture_output=True, text=True, check=False)
        return [first, *map(int, found.stdout.split())]

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """All of it stopped: connections stay, new ones are taken by the system, and nothing is ever answered."""
        processes = self.processes()
        try:
            self._signal(signal.SIGSTOP, processes)
            yield
        finally:
            # Those that were stopped, without asking `ps` for them: an interrupt in the middle of that would leave
            # them so.
            self._signal(signal.SIGCONT, processes)

    def _signal(self, number: signal.Signals, processes: Sequence[int] | None = None) -> None:
        """To all of its processes; one may have ended since they were listed."""
        for process in self.processes() if processes is None else processes:
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def new_database(self) -> str:
        """The name of a new database: a pooler takes no option for a schema."""
        import psycopg

        name = f"history_{next(_NUMBERS)}"
        self._signal(signal.SIGCONT)
        with psycopg.connect(self.url("postgres"), autocommit=True, connect_timeout=20) as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
        return name

    def new(self) -> str:
        """The address of a new, empty schema, which is to its user what a database is, and made sooner."""
        import psycopg

        name = f"history_{next(_NUMBERS)}"
        self._signal(signal.SIGCONT)  # whatever an earlier test left
        with psycopg.connect(self.url("postgres"), autocommit=True, connect_timeout=20) as connection:
            connection.execute(f"CREATE SCHEMA {name}")  # type: ignore[call-overload]
        return f"{self.url('postgres')}?options=-csearch_path%3D{name}"


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    # pytest's own folders are for their owner alone, and the server is another user.
    with tempfile.TemporaryDirectory(prefix="rankgauge-postgresql-") as folder:
        server = Server(here("postgresql"), Path(folder))
        yield server
        server.stop()


class Pooler:
    """A PgBouncer before a server, which gives each transaction another session."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.port, settings = server, free_port(), folder / "pooler.ini"
        at = f"host=127.0.0.1 port={server.port} user={server.user} password='{server.password}'"
        settings.write_text(
            f"[databases]\nstatements = {at} dbname=postgres pool_mode=statement\n* = {at}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\nauth_type = any\nunix_socket_dir =\n"
            "pool_mode = transaction\ndefault_pool_size = 3\nmin_pool_size = 0\n"
        )
        if os.geteuid() == 0:
            shutil.chown(settings, "postgres")
        # Not by runuser, which takes two seconds to end what it has started.
        user: dict[str, Any] = (
            {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        )
        with open(folder / "pooler.log", "ab") as log:
            command = [str(here("pgbouncer")), str(settings)]
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=log, stderr=log, **(user if os.geteuid() == 0 else {})
            )
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert time.monotonic() < end, (folder / "pooler.log").read_text()
                time.sleep(0.02)

    def url(self, database: str) -> str:
        return f"postgresql://tester@127.0.0.1:{self.port}/{database}"

    def new(self) -> str:
        """The address of a new, empty database through the pooler."""
        return self.url(self.server.new_database())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)


@pytest.fixture(scope="session")
def pooler(server: Server) -> Iterator[Pooler]:
    pooler = Pooler(server, server.folder)
    yield pooler
    pooler.stop()


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
