"""SQLAlchemy, which the history alone needs: imported in one place, so that one place says how to get it."""

from __future__ import annotations

from rankgauge.errors import MissingExtraError

try:
    import sqlalchemy as sa
except ImportError:
    raise MissingExtraError("the history needs SQLAlchemy: pip install 'rankgauge[guard]'") from None

__all__ = ["sa"]
