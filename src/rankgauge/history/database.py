"""A history's database: opened, brought to this release's tables, read and written in transactions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Self

from rankgauge.arguments import named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.private import begin_private
from rankgauge.history.connecting import WAIT, WRITE, engine_for, look_at_file
from rankgauge.history.damage import damage_told
from rankgauge.history.faults import NoHistoryError, told
from rankgauge.history.location import Location, resolve
from rankgauge.history.migrating import REVISIONS, known_step, migrate
from rankgauge.history.sql import sa
from rankgauge.history.waiting import seconds_to_wait

__all__ = ["Database"]

Fence = Callable[[sa.Connection], None]


class Database:
    """An open database; a context manager, and several threads may use it."""

    def __init__(
        self,
        location: Location,
        engine: sa.Engine,
        timeout: float,
        fence: Fence | None = None,
        wait: float | None = None,
    ) -> None:
        self.location = location
        self.engine = engine
        self.timeout = timeout
        self._fence = fence
        self._wait = timeout if wait is None else wait

    @classmethod
    @named_arguments
    def open(
        cls,
        location: str | os.PathLike[str] | Location | None = None,
        *,
        create: bool = True,
        write: bool = True,
        timeout: float | None = None,
        cramped: bool = False,
    ) -> Self:
        """Open the history at a path or URL (see `resolve`), and bring its tables to this release's.

        `create` makes one where there is none. Without `write` nothing is going to be stored, and a file that cannot be
        written is read as it is. `timeout` is how many seconds to wait for other writers of a file, or for each answer
        of a server; default: the environment's RANKGAUGE_HISTORY_TIMEOUT, else 30. `cramped` is for a file on a full
        disk, to remove something from it (see `prune_history`): nobody else can use it meanwhile.
        """
        if location is not None and not isinstance(location, str | os.PathLike | Location):
            raise DataError(f"a history is opened by a path or an address, not by a {type(location).__name__}")
        timeout = seconds_to_wait() if timeout is None else timeout
        place = (location if isinstance(location, Location) else resolve(location)).anchored()
        look_at_file(place, create=create)
        if create and place.path is not None:
            begin_private(place.path)
        history = cls(place, engine_for(place, timeout, write=write, cramped=cramped), timeout)
        try:
            with history.read() as connection:
                at = known_step(connection, place)
            if at is None and not create:
                raise NoHistoryError(f"there is no history in {place} yet: 'rankgauge history add' begins one")
            if at != REVISIONS[-1]:
                with history.begin() as connection:
                    migrate(connection, place)
        except BaseException:
            history.close()
            raise
        return history

    def close(self) -> None:
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def fenced(self, fence: Fence) -> Self:
        """The same history, in which each write transaction begins with `fence`, which raises where it must not be."""
        return type(self)(self.location, self.engine, self.timeout, fence, self._wait)

    def waiting(self, seconds: float) -> Self:
        """The same history, whose transactions wait at most so long for other writers of a file."""
        return type(self)(self.location, self.engine, self.timeout, self._fence, min(seconds, self.timeout))

    def begin(self) -> AbstractContextManager[sa.Connection]:
        """A connection in a write transaction: committed at the end, rolled back by an exception."""
        return self._transaction(write=True)

    def read(self) -> AbstractContextManager[sa.Connection]:
        """A connection in a transaction that only reads."""
        return self._transaction(write=False)

    @contextmanager
    def _transaction(self, *, write: bool) -> Iterator[sa.Connection]:
        with told(self.location), self.engine.connect() as connection:
            own = self.location.path is not None and "timeout" not in self.location.url.query
            connection.execution_options(**{WRITE: write, WAIT: self._wait if own else None})
            with connection.begin():
                if write and self._fence is not None:
                    self._fence(connection)
                with damage_told(self.location, connection):
                    yield connection
