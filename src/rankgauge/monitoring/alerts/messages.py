"""What an alert says: what happened, since when, how much, and what it is not; as notes, told when it is sent."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from rankgauge.formats.secrets import masked
from rankgauge.history.monitored import Incident
from rankgauge.words import Language, Note, tell
from rankgauge.words.visible import shortened

__all__ = ["headline", "message", "texts"]

_LISTED = 5
_LONGEST = 1000
"""Characters of a line: what a retriever says of itself may be a whole page."""
_UNITS = (("days", 86400), ("hours", 3600), ("minutes", 60), ("seconds", 1))


def message(incident: Incident, event: str) -> tuple[Note, list[Note]]:
    """Title and body of an alert, for the event `opened` or `recovered`."""
    what = {"monitor": incident.monitor, "what": headline(incident)}
    if event == "recovered":
        return Note("monitor.recovery_title", what), _recovered(incident)
    opened = [*_facts(incident, incident.finding.now), *_when(incident)]
    if incident.finding.checks is not None:
        opened.append(Note("monitor.checks_since", {"checks": incident.finding.checks}))
    return Note("monitor.alert_title", what), [*opened, *_meaning(incident)]


def texts(title: Note, body: Sequence[Note], language: Language) -> tuple[str, str]:
    """A message in words, each note on a line of its own."""
    lines = [shortened(masked(tell(note, language)), _LONGEST) for note in (title, *body)]
    return lines[0], "\n".join(lines[1:])


def headline(incident: Incident) -> Note:
    """What happened, in a few words."""
    found, kind = incident.finding, incident.kind
    if kind in ("quality", "slice"):
        key = "fell" if _falls(found.before, found.now) else "rose"
        return Note(f"monitor.{key}", {"subject": _subject(incident)})
    if kind == "threshold":
        key = "below" if _falls(found.limit, found.now) else "above"
        if _of_latency(incident):
            return Note("monitor.latency_above", _names(incident))
        return Note(f"monitor.{key}", {"subject": _subject(incident)})
    if kind == "forgotten":
        return Note("monitor.forgotten", {"count": found.gone})
    return Note(f"monitor.{'latency_rose' if kind == 'latency' else kind}", _names(incident))


def _subject(incident: Incident) -> Note:
    key = "monitor.subject" if incident.tag is None else "monitor.subject_of_tag"
    return Note(key, _names(incident))


def _names(incident: Incident) -> dict[str, str]:
    names = {"system": incident.system, "measure": incident.measure, "tag": incident.tag}
    return {key: name for key, name in names.items() if name is not None}


def _falls(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and now < before


def _of_latency(incident: Incident) -> bool:
    """Whether it is about time: of its kind, or a limit for a percentile such as p95."""
    measure = incident.measure or ""
    return incident.kind == "latency" or (incident.kind == "threshold" and measure[:1] == "p" and measure[1:].isdigit())


def _facts(incident: Incident, now: float | None) -> list[Note]:
    """What, how much, and why if that is known."""
    found, kind = incident.finding, incident.kind
    if kind == "down":
        return [Note("monitor.down_fact", _names(incident)), Note("monitor.reason", {"reason": found.reason})]
    if kind == "drift":
        return _drift(incident)
    if kind in ("start", "forgotten"):
        assert found.reason is not None
        return [Note(f"monitor.{kind}_fact", {**_names(incident), "count": found.gone}), found.reason]
    if kind == "errors":
        limit = Note("monitor.limit_share", {"limit": found.limit})
        return [Note("monitor.errors_fact", {**_names(incident), "share": now}), limit]
    of_latency = "latency_" if _of_latency(incident) else ""
    about: dict[str, Any] = {**_names(incident)} if of_latency else {"subject": _subject(incident)}
    values = {**about, "before": found.before, "now": now}
    if kind == "threshold":
        limit = Note(f"monitor.{of_latency}limit", {"limit": found.limit})
        return [Note(f"monitor.{of_latency}is_now", values), limit]
    return [_moved(values, of_latency, found.before, now), *_tags(incident)]


def _moved(values: dict[str, Any], of_latency: str, before: float | None, now: float | None) -> Note:
    """From where to where; the relative change where there is one."""
    key = f"monitor.{of_latency}{'fell' if _falls(before, now) else 'rose'}_from"
    if before is not None and now is not None and before > 0:
        return Note(key, {**values, "change": (now - before) / before})
    return Note(f"{key}_only", values)


def _tags(incident: Incident) -> list[Note]:
    """The tags that fell, where others did not."""
    shown = [
        Note("monitor.tag_change", {"tag": tag, "before": before, "now": now})
        for tag, (before, now) in incident.finding.tags.items()
    ]
    return [Note("monitor.tags", {"tags": shown})] if shown else []


def _drift(incident: Incident) -> list[Note]:
    found = incident.finding
    counts = Note("monitor.drift_counts", {"gone": found.gone, "changed": found.changed})
    documents = _listed("drift_documents", found.documents, found.gone + found.changed)
    return [documents, counts, _listed("drift_queries", found.queries, len(found.queries))]


def _listed(key: str, names: list[str], total: int) -> Note:
    """The first of several names, and how many more there are."""
    more = total - len(names[:_LISTED])
    if more > 0:
        return Note(f"monitor.{key}_more", {"names": names[:_LISTED], "more": more})
    return Note(f"monitor.{key}", {"names": names})


def _when(incident: Incident) -> list[Note]:
    opened, began = incident.opened_at, incident.began_at
    if began is None or _minute(began) >= _minute(opened):  # as it is shown
        return [Note("monitor.noticed", {"opened": opened})]
    return [Note("monitor.began", {"began": began, "opened": opened})]


def _meaning(incident: Incident) -> list[Note]:
    """What it is not. Where a retriever had repeated itself exactly there was no chance to account for."""
    meaning = Note(f"monitor.not_{incident.kind}")
    if incident.finding.exact:
        return [Note("monitor.exact"), *([meaning] if incident.kind == "slice" else [])]
    return [meaning]


def _recovered(incident: Incident) -> list[Note]:
    """When it was over, and what it was at its worst."""
    closed, began, found = incident.closed_at, incident.began_at or incident.opened_at, incident.finding
    assert closed is not None
    over = Note("monitor.recovered", {"closed": closed})
    if closed >= began:
        over = Note("monitor.recovered_after", {"closed": closed, "duration": _duration(closed - began)})
    was, *rest = _facts(incident, found.now if found.worst is None else found.worst)
    return [over, Note("monitor.was", {"what": was}), *rest, *_when(incident)]


def _duration(passed: datetime.timedelta) -> Note:
    """In the largest unit that fits, and the one below it: `2 d 1 h`."""
    seconds = round(passed.total_seconds())
    largest = next((i for i, (_, size) in enumerate(_UNITS) if seconds >= size), len(_UNITS) - 1)
    name, size = _UNITS[largest]
    amounts = {name: seconds // size}
    for below, smaller in _UNITS[largest + 1 : largest + 2]:
        amounts |= {below: seconds % size // smaller} if seconds % size >= smaller else {}
    return Note(f"monitor.{'_'.join(amounts)}", dict(amounts))


def _minute(moment: datetime.datetime) -> datetime.datetime:
    return moment.replace(second=0, microsecond=0)
