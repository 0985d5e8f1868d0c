"""The tables, the same in SQLite and in PostgreSQL, as a new database gets them; migrations lead older ones there."""

from __future__ import annotations

from typing import get_args

from rankgauge.history.cells import UTC, Big, Bytes, Digest, Json, Number, Share, Text, Whole, Word
from rankgauge.history.holder import Holder
from rankgauge.history.monitored import KINDS, Finding, State, Status
from rankgauge.history.rows import Settings
from rankgauge.history.sql import sa
from rankgauge.words import Note

__all__ = [
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

metadata = sa.MetaData()

# The document stands last: SQLite then reads the other columns of a row without it.
records = sa.Table(
    "records",
    metadata,
    sa.Column("id", Whole(), primary_key=True),
    sa.Column("uid", Digest(), nullable=False, unique=True),
    sa.Column("created", UTC(), nullable=False),
    sa.Column("stored", UTC(), nullable=False),
    sa.Column("kind", Word("evaluation", "comparison"), nullable=False),
    sa.Column("label", Text(null=True)),
    sa.Column("test_set", Text(null=True)),
    sa.Column("corpus", Text(null=True)),
    sa.Column("contract", Text(null=True)),
    sa.Column("git", Text(null=True)),
    sa.Column("rankgauge", Text(), nullable=False),
    sa.Column("queries", Whole(), nullable=False),
    sa.Column("document", Bytes(), nullable=False),
    sa.Index("records_by_time", "created", "id"),
    sa.Index("records_by_label", "label", "created", "id"),
    sqlite_autoincrement=True,
)

means = sa.Table(
    "means",
    metadata,
    sa.Column("record_id", Whole(), sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("system", Text(), primary_key=True),
    sa.Column("measure", Text(), primary_key=True),
    sa.Column("value", Number(), nullable=False),
    sa.Column("low", Number(null=True)),
    sa.Column("high", Number(null=True)),
    sa.Column("queries", Whole(), nullable=False),
    sa.Column("position", Whole(), nullable=False),  # systems and measures in the record's own order
    sa.Index("means_by_measure", "measure", "system", "record_id"),
)

# Only ever added to: the current baseline of a name is its highest version.
baselines = sa.Table(
    "baselines",
    metadata,
    sa.Column("id", Whole(), primary_key=True),
    sa.Column("name", Text(), nullable=False),
    sa.Column("version", Whole(), nullable=False),
    sa.Column("record_id", Whole(), sa.ForeignKey("records.id"), nullable=False, index=True),
    sa.Column("system", Text(), nullable=False),
    sa.Column("action", Word("set", "promote"), nullable=False),
    sa.Column("set_at", UTC(), nullable=False),
    sa.Column("note", Text(null=True)),
    sa.Column("max_loss", Share(null=True)),
    sa.Column("settings", Json(Settings), nullable=False),
    sa.Column("anchor_id", Whole(), sa.ForeignKey("records.id"), nullable=False, index=True),
    sa.UniqueConstraint("name", "version", name="baselines_name_version"),
    sa.CheckConstraint("action IN ('set', 'promote')", name="baselines_action"),
)

checks = sa.Table(
    "checks",
    metadata,
    sa.Column("id", Whole(), primary_key=True),
    sa.Column("monitor", Text(), nullable=False),
    sa.Column("number", Whole(), nullable=False),
    sa.Column("token", Text(), nullable=False, unique=True),
    sa.Column("started", UTC(), nullable=False),
    sa.Column("finished", UTC(null=True)),
    sa.Column("status", Word(*get_args(Status)), nullable=False),
    sa.Column("record_id", Whole(null=True), sa.ForeignKey("records.id", ondelete="SET NULL"), index=True),
    sa.Column("detail", Json(dict), nullable=False),
    sa.UniqueConstraint("monitor", "number", name="checks_monitor_number"),
    sa.CheckConstraint("status IN ('running', 'done', 'invalid', 'abandoned')", name="checks_status"),
)

# What a monitor has learned of a system; the system "" is what all have in common.
detector_states = sa.Table(
    "detector_states",
    metadata,
    sa.Column("monitor", Text(), primary_key=True),
    sa.Column("system", Text(), primary_key=True),
    sa.Column("check_number", Whole(), nullable=False),
    sa.Column("state", Json(dict), nullable=False),
)

incidents = sa.Table(
    "incidents",
    metadata,
    sa.Column("id", Whole(), primary_key=True),
    sa.Column("monitor", Text(), nullable=False),
    sa.Column("kind", Word(*KINDS), nullable=False),
    sa.Column("system", Text(null=True)),
    sa.Column("measure", Text(null=True)),
    sa.Column("tag", Text(null=True)),
    sa.Column("opened_check", Whole(), nullable=False),
    sa.Column("opened_at", UTC(), nullable=False),
    sa.Column("began_check", Whole(null=True)),
    sa.Column("began_at", UTC(null=True)),
    sa.Column("closed_check", Whole(null=True)),
    sa.Column("closed_at", UTC(null=True)),
    sa.Column("finding", Json(Finding), nullable=False),
    sa.Index("incidents_by_system", "monitor", "system"),
)

deliveries = sa.Table(
    "deliveries",
    metadata,
    sa.Column("id", Whole(), primary_key=True),
    sa.Column("incident_id", Whole(), sa.ForeignKey("incidents.id"), nullable=False),
    sa.Column("event", Word("opened", "recovered"), nullable=False),
    sa.Column("channel", Text(), nullable=False),
    sa.Column("title", Json(Note), nullable=False),
    sa.Column("body", Json(list[Note]), nullable=False),
    sa.Column("created", UTC(), nullable=False),
    sa.Column("attempts", Whole(), nullable=False, default=0, server_default="0"),
    sa.Column("state", Word(*get_args(State)), nullable=False),
    sa.Column("next_try", UTC(null=True)),
    sa.Column("delivered", UTC(null=True)),
    sa.Column("error", Text(null=True)),
    sa.UniqueConstraint("incident_id", "event", "channel", name="deliveries_once"),
    sa.CheckConstraint("event IN ('opened', 'recovered')", name="deliveries_event"),
    sa.CheckConstraint("state IN ('waiting', 'sending', 'absent', 'delivered', 'given_up')", name="deliveries_state"),
)

# Of histories on a server; those in files are held by a lock of the system. Rows stay: the token only ever grows.
leases = sa.Table(
    "leases",
    metadata,
    sa.Column("name", Text(), primary_key=True),
    sa.Column("token", Big(), nullable=False),
    sa.Column("holder", Json(Holder), nullable=False),
    sa.Column("expires", UTC(), nullable=False),
)
