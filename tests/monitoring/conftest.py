"""The databases of the history's tests serve here too."""

from __future__ import annotations

from tests.history.conftest import _environment, database, history, pooler, server

__all__ = ["_environment", "database", "history", "pooler", "server"]
