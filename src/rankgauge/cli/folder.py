"""The working folder, which another program may have removed: relative paths lead nowhere then."""

from __future__ import annotations

import os

__all__ = ["NO_FOLDER", "folder_is_there"]

NO_FOLDER = "the working folder was removed, so that no file can be found or written; change to one that is there (cd)"


def folder_is_there() -> bool:
    """Whether the working folder exists."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True
