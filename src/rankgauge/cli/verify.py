"""`rankgauge verify`."""

from __future__ import annotations

import sys

import click

from rankgauge.cli import options
from rankgauge.cli.echo import echo
from rankgauge.words import Language, say

__all__ = ["verify"]


@click.command()
@click.argument("record", metavar="RECORD.json")
@click.option("--folder", metavar="DIR", help="Where the inputs lie, if not where the record says.")
@options.json_flag
@options.lang
def verify(record: str, folder: str | None, as_json: bool, language: Language) -> None:
    """Compute a record again from its inputs, and say whether it still holds.

    Every input's hash is compared, every score recomputed, and the verdicts of a comparison with them. The exit status
    is 0 if the record holds and 1 if not.
    """
    from dataclasses import asdict
    from pathlib import Path

    from rankgauge.cli.flags import in_flags
    from rankgauge.comparison.verify import verify as check
    from rankgauge.formats.json_values import dumps
    from rankgauge.record import Record

    findings = check(Record.load(record), folder=Path(folder) if folder else None)
    holds = all(finding.holds for finding in findings)
    if as_json:
        click.echo(dumps({"holds": holds, "findings": [asdict(finding) for finding in findings]}).decode())
    else:
        for finding in findings:
            echo(in_flags(finding.sentence(language), ["verify"]))
        echo(say("verify.all_hold" if holds else "verify.not_all", language))
    if not holds:
        sys.exit(1)
