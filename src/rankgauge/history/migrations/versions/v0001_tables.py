"""The first tables. A new database gets those of the newest step at once, from the schema; later steps begin here."""

from __future__ import annotations

revision = "0001"
down_revision = None


def upgrade() -> None:
    pass
