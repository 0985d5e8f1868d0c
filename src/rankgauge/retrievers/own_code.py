"""The user's own code told from that of libraries: which of their lines an error came from."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path

from rankgauge.errors import RankgaugeError
from rankgauge.formats.secrets import masked

__all__ = ["is_own", "text_of", "told"]

_INSTALLED = ("site-packages", "dist-packages")


@cache
def is_own(filename: str) -> bool:
    """Whether a file is neither of Python, nor of an installed package, nor of rankgauge."""
    if filename.startswith("<"):  # typed in, unless it is of Python itself
        return not filename.startswith("<frozen")
    path = Path(os.path.realpath(filename))
    if any(part in _INSTALLED for part in path.parts):
        return False
    places = [sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    places.append(str(Path(__file__).parents[1]))
    return not any(path.is_relative_to(os.path.realpath(place)) for place in places if place)


def text_of(error: BaseException) -> str:
    """What an exception says; nothing for one that cannot be written."""
    try:
        return str(error)
    except Exception:  # whatever the user's class does
        return ""


def told(error: BaseException) -> str:
    """An error in one text, its secrets masked. One of the user's own code has its place behind it:
    `KeyError: 'id' (search.py:12)`."""
    if isinstance(error, RankgaugeError):
        return masked(str(error))
    text = text_of(error)
    said = masked(f"{type(error).__name__}: {text}") if text else type(error).__name__
    place = _place(error)
    return f"{said} ({place})" if place else said


def _place(error: BaseException) -> str:
    """File and line of the last call in the user's own code; empty when there is none."""
    place, trace = "", error.__traceback__
    while trace is not None:
        filename = trace.tb_frame.f_code.co_filename
        if is_own(filename):
            place = f"{_short(filename)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _short(filename: str) -> str:
    """A path as seen from the working folder, if it lies there."""
    try:
        return str(Path(filename).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return filename
