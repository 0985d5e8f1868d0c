"""The tables, the same in SQLite and in PostgreSQL, as a new database gets them; migrations lead older ones there."""

from __future__ import annotations

import datetime
from typing import Any

from rankgauge.history.sql import sa

__all__ = [
    "UTC",
    "baselines",
    "checks",
    "deliveries",
    "detector_states",
    "incidents",
    "leases",
    "means",
    "metadata",
    "records",
]


class UTC(sa.types.TypeDecorator[datetime.datetime]):
    """A moment: stored in UTC, read back with its zone. SQLite knows no zones, so there it is bare and taken as UTC."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime.datetime | None, dialect: Any) -> datetime.datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment without a time zone cannot be stored")
        return value.astimezone(datetime.UTC)

    def process_result_value(self, value: datetime.datetime | None, dialect: Any) -> datetime.datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value.astimezone(datetime.UTC)


metadata = sa.MetaData()

# The document stands last: SQLite then reads the other columns of a row without it.
records = sa.Table(
    "records",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("uid", sa.Text, nullable=False, unique=True),
    sa.Column("created", UTC, nullable=False),
    sa.Column("stored", UTC, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("label", sa.Text),
    sa.Column("test_set", sa.Text),
    sa.Column("corpus", sa.Text),
    sa.Column("contract", sa.Text),
    sa.Column("git", sa.Text),
    sa.Column("rankgauge", sa.Text, nullable=False),
    sa.Column("queries", sa.Integer, nullable=False),
    sa.Column("document", sa.LargeBinary, nullable=False),
    sa.Index("records_by_time", "created", "id"),
    sa.Index("records_by_label", "label", "created", "id"),
    sqlite_autoincrement=True,
)

means = sa.Table(
    "means",
    metadata,
    sa.Column("record_id", sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("system", sa.Text, primary_key=True),
    sa.Column("measure", sa.Text, primary_key=True),
    sa.Column("value", sa.Double, nullable=False),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    sa.Column("queries", sa.Integer, nullable=False),
    sa.Column("position", sa.Integer, nullable=False),  # systems and measures in the record's own order
    sa.Index("means_by_measure", "measure", "system", "record_id"),
)

# Only ever added to: the current baseline of a name is its highest version.
baselines = sa.Table(
    "baselines",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("record_id", sa.ForeignKey("records.id"), nullable=False, index=True),
    sa.Column("system", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("set_at", UTC, nullable=False),
    sa.Column("note", sa.Text),
    sa.Column("max_loss", sa.Double),
    sa.Column("settings", sa.Text, nullable=False),
    sa.Column("anchor_id", sa.ForeignKey("records.id"), nullable=False, index=True),
    sa.UniqueConstraint("name", "version", name="baselines_name_version"),
    sa.CheckConstraint("action IN ('set', 'promote')", name="baselines_action"),
)

checks = sa.Table(
    "checks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("token", sa.Text, nullable=False, unique=True),
    sa.Column("started", UTC, nullable=False),
    sa.Column("finished", UTC),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("record_id", sa.ForeignKey("records.id", ondelete="SET NULL"), index=True),
    sa.Column("detail", sa.Text, nullable=False),
    sa.UniqueConstraint("monitor", "number", name="checks_monitor_number"),
    sa.CheckConstraint("status IN ('running', 'done', 'invalid', 'abandoned')", name="checks_status"),
)

# What a monitor has learned of a system; the system "" is what all have in common.
detector_states = sa.Table(
    "detector_states",
    metadata,
    sa.Column("monitor", sa.Text, primary_key=True),
    sa.Column("system", sa.Text, primary_key=True),
    sa.Column("check_number", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
)

incidents = sa.Table(
    "incidents",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("monitor", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("system", sa.Text),
    sa.Column("measure", sa.Text),
    sa.Column("tag", sa.Text),
    sa.Column("opened_check", sa.Integer, nullable=False),
    sa.Column("opened_at", UTC, nullable=False),
    sa.Column("began_check", sa.Integer),
    sa.Column("began_at", UTC),
    sa.Column("closed_check", sa.Integer),
    sa.Column("closed_at", UTC),
    sa.Column("finding", sa.Text, nullable=False),
    sa.Index("incidents_by_system", "monitor", "system"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("incident_id", sa.ForeignKey("incidents.id"), nullable=False),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("channel", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("created", UTC, nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, default=0, server_default="0"),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("next_try", UTC),
    sa.Column("delivered", UTC),
    sa.Column("error", sa.Text),
    sa.UniqueConstraint("incident_id", "event", "channel", name="deliveries_once"),
    sa.CheckConstraint("event IN ('opened', 'recovered')", name="deliveries_event"),
    sa.CheckConstraint("state IN ('waiting', 'sending', 'absent', 'delivered', 'given_up')", name="deliveries_state"),
)

# Of histories on a server; those in files are held by a lock of the system. Rows stay: the token only ever grows.
leases = sa.Table(
    "leases",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("token", sa.BigInteger, nullable=False),
    sa.Column("holder", sa.Text, nullable=False),
    sa.Column("expires", UTC, nullable=False),
)
