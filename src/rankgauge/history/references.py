"""A baseline by what people call it: a file, or a name in the history. Files need no database."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankgauge.arguments import as_path, named_arguments
from rankgauge.errors import DataError
from rankgauge.formats.secrets import masked_address
from rankgauge.gating.baseline import Baseline, is_file_name, load_baseline
from rankgauge.history.names import UnknownBaselineError, check_name, looks_like_address

if TYPE_CHECKING:
    from rankgauge.history.store import History

__all__ = ["find_baseline"]


@named_arguments
def find_baseline(
    reference: str | os.PathLike[str], history: History | str | os.PathLike[str] | None = None
) -> Baseline:
    """The baseline in a file, or the current one of a name in the history: an open one, or its place (see
    `History.open`)."""
    if not isinstance(reference, str) or is_file_name(reference):
        return _in_file(as_path("reference", reference))
    check_name(reference)
    from rankgauge.history.baselines import gate_baseline
    from rankgauge.history.faults import NoHistoryError
    from rankgauge.history.store import History

    if isinstance(history, History):
        return gate_baseline(history, reference)
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
        shown = masked_address(path)
        if looks_like_address(path):
            raise DataError(
                f"{shown}: this looks like an address of a database; give it with `history=`, and the name of the "
                "baseline with `baseline=`"
            )
        raise UnknownBaselineError(
            f"{shown}: there is no such file; write it with rankgauge baseline export NAME -o FILE, or give the name "
            "of a baseline in the history"
        )
    return load_baseline(path)
