"""Bringing a database to the tables of this release: made new, moved on from an older release, or refused."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankgauge.errors import DataError
from rankgauge.history.location import Location
from rankgauge.history.schema import metadata
from rankgauge.history.sql import sa

__all__ = ["FOLDER", "REVISIONS", "VERSION_TABLE", "current", "known_step", "migrate"]

FOLDER = Path(__file__).parent / "migrations"
# The names of all steps in their order, so that a database that is up to date is known without loading Alembic.
REVISIONS: Sequence[str] = ("0001", "0002")
# A name of its own: the database may also be that of an application that uses Alembic.
VERSION_TABLE = "rankgauge_version"
_version = sa.Table(VERSION_TABLE, sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True))
_LOCK = zlib.crc32(b"rankgauge migrations")


def current(connection: sa.Connection) -> str | None:
    """The step a database is at; `None` for one without a history."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    return connection.execute(sa.select(_version.c.version_num)).scalar()


def known_step(connection: sa.Connection, location: Location) -> str | None:
    """The step a database is at, which this release has to know."""
    at = current(connection)
    if at is not None and at not in REVISIONS:
        raise DataError(
            f"{location}: this history was written by a newer rankgauge (its tables are at step {at}, this release "
            f"knows them up to {REVISIONS[-1]}); update rankgauge"
        )
    return at


def migrate(connection: sa.Connection, location: Location) -> None:
    """Bring a database to the last step, all in the caller's write transaction.

    Several processes may open a new database at once: the first one does the work, the others wait and find it done.
    """
    if connection.dialect.name == "postgresql":  # SQLite's write transaction is alone already
        connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    at = known_step(connection, location)
    if at == REVISIONS[-1]:
        return
    if at is None:
        others = sorted(set(metadata.tables) & set(sa.inspect(connection).get_table_names()))
        if others:
            raise DataError(
                f"{location}: this database holds tables of something else ({', '.join(others)}); "
                "give the history a database of its own"
            )
        metadata.create_all(connection)
        _version.create(connection, checkfirst=True)
        connection.execute(sa.insert(_version).values(version_num=REVISIONS[-1]))
    else:
        _upgrade(connection)


def _upgrade(connection: sa.Connection) -> None:
    from rankgauge.extras import optional

    optional("alembic", "a history that is moved on to a new release", "alembic", "guard")
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    script = ScriptDirectory(str(FOLDER))

    def steps(at: Any, _: Any) -> Any:
        return script._upgrade_revs("head", at)

    with EnvironmentContext(Config(), script, fn=steps) as environment:
        environment.configure(connection=connection, version_table=VERSION_TABLE, transactional_ddl=True)
        with environment.begin_transaction():
            environment.run_migrations()
