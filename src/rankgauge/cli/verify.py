"""`rankgauge verify`."""

from __future__ import annotations

import sys

import click

from rankgauge.cli import options

__all__ = ["verify"]

_WORDS = {
    "en": ("holds", "does NOT hold", "the record holds", "the record does not hold"),
    "zh": ("成立", "不成立", "记录成立", "记录不成立"),
}


@click.command()
@click.argument("record", metavar="RECORD.json")
@click.option("--folder", metavar="DIR", help="Where the inputs lie, if not where the record says.")
@options.json_flag
@options.lang
def verify(record: str, folder: str | None, as_json: bool, language: str) -> None:
    """Compute a record again from its inputs, and say whether it still holds.

    Every input's hash is compared, every score recomputed, and the verdicts of a comparison with them. The exit status
    is 0 if the record holds and 1 if not.
    """
    from dataclasses import asdict
    from pathlib import Path

    from rankgauge.comparison.verify import verify as check
    from rankgauge.evaluation.old_record import load_record

    findings = check(load_record(record), folder=Path(folder) if folder else None)
    holds = all(finding.holds for finding in findings)
    if as_json:
        from rankgauge.formats.json_values import dumps

        click.echo(dumps({"holds": holds, "findings": [asdict(finding) for finding in findings]}).decode())
    else:
        yes, no, all_yes, not_all = _WORDS[language]
        for finding in findings:
            click.echo(f"{finding.what}: {yes if finding.holds else no} ({finding.detail})")
        click.echo(all_yes if holds else not_all)
    if not holds:
        sys.exit(1)
