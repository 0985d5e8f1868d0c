"""A baseline by what people call it: a file, or a name in the history. Files need no database."""

from __future__ import annotations

import os
import re

from rankgauge.errors import DataError
from rankgauge.formats.secrets import masked_address
from rankgauge.gate.baseline import Baseline, is_file_name, load_baseline
from rankgauge.history.addresses import looks_like_address

__all__ = ["UnknownBaselineError", "check_name", "find_baseline"]

_NAME = re.compile(r"\w[\w@+:-]{0,99}")


class UnknownBaselineError(DataError):
    """There is no baseline of that name, or no such file, yet."""


def check_name(name: str) -> None:
    """Raise `DataError` for what is no name of a baseline."""
    if not _NAME.fullmatch(name):
        raise DataError(
            f"{name!r} is no name for a baseline: letters, digits and - _ @ + : name one, without the dots and slashes "
            "that would make it look like a file"
        )


def find_baseline(reference: str | os.PathLike[str], history: str | os.PathLike[str] | None = None) -> Baseline:
    """The baseline in a file, or the current one of a name."""
    if not isinstance(reference, str) or is_file_name(reference):
        return _in_file(os.fspath(reference))
    check_name(reference)
    from rankgauge.history.baselines import gate_baseline
    from rankgauge.history.faults import NoHistoryError
    from rankgauge.history.store import History

    try:
        opened = History.open(history, create=False, write=False)
    except NoHistoryError as error:
        raise UnknownBaselineError(
            f"{error}; the baseline {reference!r} is looked for there: make it with "
            f"rankgauge baseline set {reference} RECORD.json, or give a file"
        ) from None
    with opened:
        return gate_baseline(opened, reference)


def _in_file(path: str) -> Baseline:
    if path != "-" and not os.path.exists(path):
        if looks_like_address(path):
            raise DataError(
                f"{masked_address(path)}: this looks like an address of a database; give it with --history, and the name of "
                "the baseline with --baseline"
            )
        raise UnknownBaselineError(
            f"{masked_address(path)}: there is no such file; write it with rankgauge baseline export NAME -o FILE, or give the "
            "name of a baseline in the history"
        )
    return load_baseline(path)
