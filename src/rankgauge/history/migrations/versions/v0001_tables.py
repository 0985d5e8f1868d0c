"""The first tables: records and their means, baselines; checks, detector states, incidents, deliveries of monitors."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_TIME = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "records",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("uid", sa.Text, nullable=False, unique=True),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("stored", _TIME, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("label", sa.Text),
        sa.Column("test_set", sa.Text),
        sa.Column("corpus", sa.Text),
        sa.Column("contract", sa.Text),
        sa.Column("git", sa.Text),
        sa.Column("rankgauge", sa.Text, nullable=False),
        sa.Column("queries", sa.Integer, nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
        # Without it SQLite gives the number of a removed record to the next one.
        sqlite_autoincrement=True,
    )
    op.create_index("records_by_time", "records", ["created", "id"])
    op.create_index("records_by_label", "records", ["label", "created", "id"])
    op.create_table(
        "means",
        sa.Column("record_id", sa.Integer, sa.ForeignKey("records.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("system", sa.Text, primary_key=True),
        sa.Column("measure", sa.Text, primary_key=True),
        sa.Column("value", sa.Double, nullable=False),
        sa.Column("low", sa.Double),
        sa.Column("high", sa.Double),
        sa.Column("queries", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
    )
    op.create_index("means_by_measure", "means", ["measure", "system", "record_id"])
    op.create_table(
        "baselines",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("record_id", sa.Integer, sa.ForeignKey("records.id"), nullable=False),
        sa.Column("system", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("set_at", _TIME, nullable=False),
        sa.Column("note", sa.Text),
        sa.Column("max_loss", sa.Double),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("anchor_id", sa.Integer, sa.ForeignKey("records.id"), nullable=False),
        sa.UniqueConstraint("name", "version", name="baselines_name_version"),
        sa.CheckConstraint("action IN ('set', 'promote')", name="baselines_action"),
    )
    op.create_index("ix_baselines_record_id", "baselines", ["record_id"])
    op.create_index("ix_baselines_anchor_id", "baselines", ["anchor_id"])
    _monitors()


def _monitors() -> None:
    op.create_table(
        "checks",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("monitor", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("token", sa.Text, nullable=False, unique=True),
        sa.Column("started", _TIME, nullable=False),
        sa.Column("finished", _TIME),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("record_id", sa.Integer, sa.ForeignKey("records.id", ondelete="SET NULL")),
        sa.Column("detail", sa.Text, nullable=False),
        sa.UniqueConstraint("monitor", "number", name="checks_monitor_number"),
        sa.CheckConstraint("status IN ('running', 'done', 'invalid', 'abandoned')", name="checks_status"),
    )
    op.create_index("ix_checks_record_id", "checks", ["record_id"])
    op.create_table(
        "detector_states",
        sa.Column("monitor", sa.Text, primary_key=True),
        sa.Column("system", sa.Text, primary_key=True),
        sa.Column("check_number", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
    )
    op.create_table(
        "incidents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("monitor", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("system", sa.Text),
        sa.Column("measure", sa.Text),
        sa.Column("tag", sa.Text),
        sa.Column("opened_check", sa.Integer, nullable=False),
        sa.Column("opened_at", _TIME, nullable=False),
        sa.Column("began_check", sa.Integer),
        sa.Column("began_at", _TIME),
        sa.Column("closed_check", sa.Integer),
        sa.Column("closed_at", _TIME),
        sa.Column("finding", sa.Text, nullable=False),
    )
    op.create_index("incidents_by_system", "incidents", ["monitor", "system"])
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("incident_id", sa.Integer, sa.ForeignKey("incidents.id"), nullable=False),
        sa.Column("event", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("created", _TIME, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("next_try", _TIME),
        sa.Column("delivered", _TIME),
        sa.Column("error", sa.Text),
        sa.UniqueConstraint("incident_id", "event", "channel", name="deliveries_once"),
        sa.CheckConstraint("event IN ('opened', 'recovered')", name="deliveries_event"),
        sa.CheckConstraint(
            "state IN ('waiting', 'sending', 'absent', 'delivered', 'given_up')", name="deliveries_state"
        ),
    )
