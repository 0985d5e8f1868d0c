"""A lease as a row of the history: who holds it, a fencing token, and when it ends by the server's clock.

It needs no session, so a pooler or a connection that was cut off does not matter. The token grows with each holder;
whoever writes checks in the same transaction that its own is the newest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from rankgauge.errors import RankgaugeError
from rankgauge.history.connecting import engine_for
from rankgauge.history.damage import damage_told
from rankgauge.history.faults import LeaseLostError, told
from rankgauge.history.holder import Holder
from rankgauge.history.location import Location
from rankgauge.history.schema import leases
from rankgauge.history.sql import sa

__all__ = ["LONGEST", "RowLock"]

LONGEST = 60.0
"""Seconds that a lease may last without being renewed."""
_FREE = f"(expires <= clock_timestamp() OR expires > clock_timestamp() + interval '{2 * LONGEST:.0f} s')"
"""A moment farther away than any lease lasts was written before the server's clock was set back."""
_HOLDER = sa.bindparam("holder", type_=leases.c.holder.type)
_UNTIL = "expires = clock_timestamp() + make_interval(secs => :seconds)"
_RENEW = sa.text(f"UPDATE leases SET {_UNTIL} WHERE name = :name AND token = :token")
_END = sa.text("UPDATE leases SET expires = '-infinity' WHERE name = :name AND token = :token")
_SEE = sa.text(f"SELECT token, holder, {_FREE} AS free FROM leases WHERE name = :name").columns(
    token=leases.c.token.type, holder=leases.c.holder.type
)
_FIRST = sa.text(
    "INSERT INTO leases (name, token, holder, expires) VALUES (:name, 1, :holder, "
    "clock_timestamp() + make_interval(secs => :seconds)) ON CONFLICT DO NOTHING RETURNING token"
).bindparams(_HOLDER)
# A row that is locked is being renewed by the holder, with what it writes.
_TAKE = sa.text(
    f"UPDATE leases SET token = token + 1, holder = :holder, {_UNTIL} WHERE name = (SELECT name FROM leases "
    f"WHERE name = :name AND token = :token AND (:gone OR {_FREE}) FOR UPDATE SKIP LOCKED) RETURNING token"
).bindparams(_HOLDER)


class RowLock:
    """The row of one name. While it is held, a thread renews it three times as often as needed."""

    def __init__(self, location: Location, name: str, seconds: float, timeout: float) -> None:
        self._location, self._name, self._seconds = location, name, seconds
        # An answer that comes later than the next renewal helps nobody.
        self._engine = engine_for(location, min(timeout, seconds / 3))
        self._holder = Holder.here()
        self._token: int | None = None
        self._until = 0.0
        self._changing = threading.Lock()
        self._done = threading.Event()

    def take(self) -> bool:
        """Renew it, or take it where nobody has it; False where another has."""
        with self._changing:
            if self._token is not None and self._renew():
                return True
            self._done.set()
            self._token = None
            begun = time.monotonic()
            with self._asked() as connection:
                token = self._found(connection)
            if token is None:
                self._engine.dispose()
                return False
            self._token, self._until, self._done = token, begun + self._seconds, threading.Event()
            threading.Thread(target=self._keep, args=(self._done,), name="lease", daemon=True).start()
            return True

    def _found(self, connection: sa.Connection) -> int | None:
        """The token that makes it ours; None while another has it."""
        values: dict[str, Any] = {"name": self._name, "holder": self._holder, "seconds": self._seconds}
        row = connection.execute(_SEE, values).one_or_none()
        if row is None:
            return connection.execute(_FIRST, values).scalar()
        gone = row.holder.gone()
        if not (row.free or gone):
            return None
        return connection.execute(_TAKE, {**values, "token": row.token, "gone": gone}).scalar()

    def _renew(self) -> bool:
        begun = time.monotonic()
        with self._asked() as connection:
            ours = self._renewed(connection)
        if ours:
            self._until = begun + self._seconds
        return ours

    def _renewed(self, connection: sa.Connection) -> bool:
        values = {"name": self._name, "token": self._token, "seconds": self._seconds}
        return bool(connection.execute(_RENEW, values).rowcount == 1)

    def _keep(self, done: threading.Event) -> None:
        """Renew it until it is given back or another's. A server that is away is noticed by whoever uses it."""
        while not done.wait(self._seconds / 3):
            with suppress(RankgaugeError, sa.exc.SQLAlchemyError), self._changing:
                if done.is_set():
                    return
                if not self._renew():
                    self._until = 0.0
                    return

    def holds(self) -> bool:
        """Whether it is ours for some time yet, by the last answer of the server; nothing is asked."""
        return self._token is not None and time.monotonic() < self._until

    def fence(self, connection: sa.Connection) -> None:
        """In the caller's transaction: nobody else takes it before that ends, or `LeaseLostError`."""
        if self._token is None or not self._renewed(connection):
            self._until = 0.0
            raise LeaseLostError(f"{self._name!r} is another process's by now; nothing was written")

    def free(self) -> None:
        """Give it back. Where the server is away it ends by itself."""
        self._done.set()
        with self._changing, suppress(RankgaugeError, sa.exc.SQLAlchemyError):
            token, self._token = self._token, None
            if token is not None:
                with self._asked() as connection:
                    connection.execute(_END, {"name": self._name, "token": token})
        self._engine.dispose()

    @contextmanager
    def _asked(self) -> Iterator[sa.Connection]:
        """A transaction of its own."""
        with (
            told(self._location),
            self._engine.connect() as connection,
            connection.begin(),
            damage_told(self._location, connection),
        ):
            yield connection
