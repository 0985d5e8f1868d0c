"""Waiting for a PostgreSQL server, never for ever: a server that hangs, or is cut off, answers no cancel either."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

from rankgauge.errors import DataError
from rankgauge.history.sql import sa

if TYPE_CHECKING:
    import psycopg

__all__ = ["SECONDS", "VARIABLE", "bounded", "seconds_to_wait"]

VARIABLE = "RANKGAUGE_HISTORY_TIMEOUT"
SECONDS = 30.0
"""How long to wait for other writers of a file, or for each answer of a server, where nobody says otherwise."""
_LEAST, _MOST = 0.5, 3600.0
_INTERVAL = 0.1
_IDLE = 2.0
"""A transaction may rest between two statements, while a check is worked on, for so many times as long."""
# Without them a system gives up a connection that was cut off after two hours.
_KEEPALIVES = {"keepalives": "1", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3"}
# An idle connection that was cut off holds nothing, but counts among those that a server allows.
_SEEN_BY_SERVER: LiteralString = (
    "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), "
    "set_config('tcp_keepalives_count', '3', false)"
)
_T = TypeVar("_T")


def seconds_to_wait() -> float:
    """The environment's choice, else `SECONDS`."""
    written = os.environ.get(VARIABLE, "").strip()
    try:
        seconds = float(written) if written else SECONDS
    except ValueError:
        seconds = 0.0
    if not _LEAST <= seconds <= _MOST:
        raise DataError(f"{VARIABLE}: {written[:40]!r} is no number of seconds from {_LEAST} to {_MOST:g}")
    return seconds


def bounded(url: sa.URL, seconds: float, **options: Any) -> sa.Engine:
    """An engine of which no statement waits longer than so many seconds for the server's answer.

    Nothing relies on a session, so that a pooler may give each transaction another one: no prepared statements, and
    limits that are set within each transaction. Those make the server end what a lost client left behind.
    """
    whole = {"application_name": "rankgauge", "tcp_user_timeout": str(round(1000 * seconds)), **_KEEPALIVES}
    whole["connect_timeout"] = str(math.ceil(min(max(seconds, 2), 10)))
    url = url.update_query_dict({key: value for key, value in whole.items() if key not in url.query})
    # Before a connection is used again it is tried: after the server was away the next one is simply made anew.
    engine = sa.create_engine(
        url, pool_pre_ping=True, hide_parameters=True, connect_args={"prepare_threshold": None}, **options
    )
    kind = _kind(seconds)
    limits = _limits(seconds)

    @sa.event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, arguments: Any, named: Any) -> psycopg.Connection[Any]:
        connection = kind.connect(*arguments, **named)
        connection.execute(_SEEN_BY_SERVER)
        connection.commit()
        return connection

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        connection.exec_driver_sql(limits)

    return engine


def _limits(seconds: float) -> str:
    """A statement that sets the server's own limits for one transaction."""
    patience = round(1000 * seconds)
    values = {
        "statement_timeout": patience,
        "lock_timeout": patience,
        "idle_in_transaction_session_timeout": round(_IDLE * patience),
        "tcp_user_timeout": patience,
    }
    return "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in values.items())


def _kind(seconds: float) -> type[psycopg.Connection[Any]]:
    """Connections that wait for so long; the driver is imported when there is a server."""
    import psycopg
    from psycopg import waiting

    # A little longer than the server's own limit: an error that it sends says more.
    patience = seconds + min(1.0, seconds / 4)

    class Bounded(psycopg.Connection[Any]):
        def wait(self, gen: Any, *_: Any, **__: Any) -> Any:
            """All that is said to the server is waited for here. After an interrupt or in vain, the connection ends."""
            try:
                return waiting.wait(_until(gen, patience), self.pgconn.socket, interval=_INTERVAL)
            except TimeoutError:
                self.pgconn.finish()
                raise psycopg.OperationalError(f"no answer within {seconds:g} s") from None
            except (KeyboardInterrupt, SystemExit):
                self.pgconn.finish()
                raise

    return Bounded


def _until(steps: Generator[Any, Any, _T], patience: float) -> Generator[Any, Any, _T]:
    """The steps of a statement, for a limited time: each is made when the socket allows it, or at the next interval."""
    end = time.monotonic() + patience
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            wanted = steps.send(ready)
            if time.monotonic() >= end:
                steps.close()
                raise TimeoutError
    except StopIteration as done:
        result: _T = done.value
        return result
