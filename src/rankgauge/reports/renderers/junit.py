"""JUnit XML, which CI systems show as tests: one test case for each check."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rankgauge.errors import DataError
from rankgauge.reports.cells import Look, note_line, told
from rankgauge.reports.document import Check, Report
from rankgauge.words import Language

__all__ = ["render"]

_OUTCOMES = {"fail": ("failure", "failures"), "open": ("skipped", "skipped"), "error": ("error", "errors")}


def render(report: Report, *, language: Language = "en", **_: Any) -> str:
    """Checks as test suites: what stops a gate is a failure, what is left open is skipped."""
    if not report.suites:
        raise DataError("JUnit XML holds the checks of a gate, and this report has none; choose another format")
    look = Look(language)
    root = Element("testsuites", name="rankgauge gate")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in report.suites:
        made = SubElement(root, "testsuite", name=told(suite.title, look))
        counts = dict.fromkeys(totals, 0)
        for check in suite.checks:
            case = SubElement(made, "testcase", classname=told(suite.system, look), name=told(check.name, look))
            case.set("time", "0")
            counts["tests"] += 1
            _add_outcome(case, check, counts, look)
        for key, value in counts.items():
            made.set(key, str(value))
            totals[key] += value
        if suite.created:
            made.set("timestamp", suite.created)
        if suite.warnings:
            lines = [note_line(note, look) for note in suite.warnings]
            SubElement(made, "system-out").text = "\n".join(lines)
    for key, value in totals.items():
        root.set(key, str(value))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_outcome(case: Element, check: Check, counts: dict[str, int], look: Look) -> None:
    # An error may be several lines of ours.
    listed = check.words.split("\n") if isinstance(check.words, str) else [check.words]
    message = "\n".join(told(line, look) for line in listed)
    if check.outcome == "pass":
        SubElement(case, "system-out").text = message
        return
    element, count = _OUTCOMES[check.outcome]
    counts[count] += 1
    stopped = SubElement(case, element, message=message.split("\n", 1)[0], type=check.status)
    stopped.text = message
