"""The databases of the history's tests serve here too."""

from __future__ import annotations

from tests.history.conftest import _no_history_elsewhere, database, history, server

__all__ = ["_no_history_elsewhere", "database", "history", "server"]
