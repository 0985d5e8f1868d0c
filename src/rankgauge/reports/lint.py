"""What is wrong with a test set, as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.reports.document import Block, Cell, Column, Marked, Notes, Outcome, Report, Status, Table
from rankgauge.testsets.lint.findings import Finding, Mended, NotMade
from rankgauge.testsets.lint.linting import Lint
from rankgauge.words import Note

__all__ = ["lint_report"]

_FIRST = 4  # findings on the first screen
_EXAMPLES = 5  # of each, where all is shown
_MENDS = 20
_STATUS: dict[str, Status] = {"error": "fail", "warning": "warn", "info": "pass"}
_MARKS = {"error": "warn", "warning": "warn", "info": "quiet"}


def lint_report(found: Lint, mended: Sequence[Mended] | None = None, *, whole: bool = False) -> Report:
    """Counts first, then the worst findings with an example and what mends them; all of them with more examples, where
    the `whole` is wanted."""
    return Report(Note("lint.title"), list(_blocks(found, mended, whole)), data={"findings": _data(found)})


def _blocks(found: Lint, mended: Sequence[Mended] | None, whole: bool) -> Iterator[Block]:
    counts = found.counts
    worst = next((severity for severity, n in counts.items() if n), "info")
    about = {"queries": len(found.material.test_set), "made": len(found.made), "not_made": len(found.not_made)}
    if found.findings:
        numbers = {"errors": counts["error"], "warnings": counts["warning"], "infos": counts["info"]}
        yield Outcome(Note("lint.decision", {**about, **numbers}), _STATUS[worst])
        if whole:
            yield _table(found.findings, _EXAMPLES)
        else:
            yield _table(found.findings[:_FIRST], 1)
            if (more := len(found.findings) - _FIRST) > 0:
                yield Notes([Note("lint.more", {"n": more})])
    else:
        yield Outcome(Note("lint.clean", about), "pass")
    if mended is not None:
        yield from _mended(mended)
    needs = {"corpus" if need == "documents" else need for one in found.not_made for need in one.needs}
    lacking = [f"lint.need_{need}" for need in _GIVEN if need in needs]
    if lacking and not whole:
        yield Notes([Note("lint.lacking", {"n": len(found.not_made), "needs": [Note(key) for key in lacking]})])
    if found.not_made:
        yield _not_made(found.not_made)


_GIVEN = ("texts", "corpus", "runs", "labels", "against")
"""What can be given with a path."""


def _table(findings: Sequence[Finding], n: int) -> Table:
    """Each finding in as many rows as it has things to say, with its first examples."""
    rows: list[list[Cell]] = []
    for one in findings:
        level = Marked((Note(f"lint.severity_{one.severity}"),), _MARKS[one.severity])
        rows.append([level, one.note])
        for example in one.examples(n):
            rows.append(["", Note("lint.example", {"text": example})])
        if n > 1 and (more := one.count - min(n, len(one.items))) > 0:
            rows.append(["", Note("lint.examples_more", {"n": more})])
        if one.advice is not None and (whole := n > 1 or not one.command):
            rows.append(["", Note("lint.mend", {"text": one.advice})])
        if one.command:
            rows.append(["", one.command if whole else Note("lint.mend", {"text": one.command})])
    columns = [Column(Note("lint.severity")), Column(Note("lint.finding"))]
    return Table("findings", columns, rows, light=True)


def _mended(mended: Sequence[Mended]) -> Iterator[Block]:
    if not mended:
        yield Notes([Note("lint.nothing_mended")])
        return
    listed: list[Note] = [one.note for one in mended[:_MENDS]]
    if (more := len(mended) - _MENDS) > 0:
        listed.append(Note("lint.examples_more", {"n": more}))
    yield Notes([Note("lint.mends", {"n": len(mended)})])
    yield Notes(listed, detail="evidence", bulleted=True)


def _not_made(not_made: Sequence[NotMade]) -> Table:
    rows: list[list[Cell]] = []
    for one in not_made:
        needs = list(dict.fromkeys(f"lint.need_{need}" for need in one.needs))
        told = Note("lint.failed", {"reason": one.reason}) if one.reason else None
        rows.append([one.check, told or Marked(tuple(Note(key) for key in needs), "")])
    columns = [Column(Note("lint.check")), Column(Note("lint.needs"))]
    return Table("not-made", columns, rows, title=Note("lint.not_made"), detail="evidence", light=True)


def _data(found: Lint) -> Table:
    """One row for each finding, for programs."""
    heads = ("check", "kind", "severity", "count", "command")
    rows: list[list[Cell]] = [[one.check, one.kind, one.severity, one.count, one.command] for one in found.findings]
    return Table("findings", [Column(head, "plain") for head in heads], rows)
