"""What a gate found as JUnit XML, which CI systems show as tests: one test case for each rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from rankgauge.gate.outcome import GateResult, Rule
from rankgauge.reports.gate import headline, warnings_of
from rankgauge.words import Language, tell

__all__ = ["render_junit", "render_junit_error"]

# XML 1.0 has no place for these, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(results: Sequence[GateResult], language: Language = "en") -> str:
    """Gate results as test suites. A rule that stops the gate is a failure; one that is left open is skipped."""
    root = Element("testsuites", name="rankgauge gate")
    totals = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for result in results:
        suite = SubElement(root, "testsuite", name=_clean(headline(result, language)))
        counts = dict.fromkeys(totals, 0)
        for rule in result.rules:
            case = SubElement(
                suite, "testcase", classname=_clean(f"rankgauge.{result.system}"), name=_clean(_name(rule)), time="0"
            )
            counts["tests"] += 1
            message = _clean(tell(rule.note, language))
            accepted = result.accepts(rule)
            if accepted is not True:
                outcome = "failure" if accepted is False else "skipped"
                counts["failures" if accepted is False else "skipped"] += 1
                stopped = SubElement(case, outcome, message=message)
                stopped.set("type", rule.status)
                stopped.text = message
            else:
                SubElement(case, "system-out").text = message
        for key, value in counts.items():
            suite.set(key, str(value))
            totals[key] += value
        suite.set("timestamp", result.created)
        warnings = warnings_of(result, language)
        if warnings:
            SubElement(suite, "system-out").text = _clean("\n".join(warnings))
    for key, value in totals.items():
        root.set(key, str(value))
    return _written(root)


def render_junit_error(message: str, record: str) -> str:
    """The test suite of a gate that reached no verdict: one case, which is an error."""
    counts = {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    root = Element("testsuites", {"name": "rankgauge gate", **counts})
    suite = SubElement(root, "testsuite", {"name": "rankgauge gate", **counts})
    case = SubElement(suite, "testcase", classname="rankgauge", name=_clean(f"gate of {record}"), time="0")
    text = _clean(message)
    SubElement(case, "error", message=text.split("\n", 1)[0], type="error").text = text
    return _written(root)


def _written(root: Element) -> str:
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _name(rule: Rule) -> str:
    return rule.name if rule.kind != "measure" else f"no regression in {rule.name}"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("�", text)
