"""What a look came to, in the log and in the metrics."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from typing import Any

from rankgauge.monitoring.ingest import Taken
from rankgauge.monitoring.metrics import Metrics
from rankgauge.monitoring.observing import Observation
from rankgauge.monitoring.watching import SystemWatch
from rankgauge.retrievers.reasons import translated

__all__ = ["in_units", "measure_look", "measured", "scores_of", "tell_look"]


_UNITS = ((3600, "h"), (60, "min"))


def tell_look(say: Callable[..., None], seen: Observation, taken: Taken, language: str = "en") -> None:
    """The look in the log; `say` takes a key of `WORDS` and its values."""
    reasons = {system: translated(reason, language) for system, reason in seen.invalid.items()}
    for system in taken.anew:
        say("anew", system=system, number=taken.number)
    for system in taken.unheld:
        say("unheld", system=system)
    if taken.status == "abandoned":
        say("repeated", number=taken.number)
    elif taken.status == "invalid":
        say("invalid", number=taken.number, reason="; ".join(reasons.values()))
    elif seen.record is None:
        say("nothing", number=taken.number)
    else:
        say("done", number=taken.number, figures=", ".join(_figures(taken)))
        for system, reason in reasons.items():
            say("partly", number=taken.number, system=system, reason=reason)
    for title in taken.opened:
        say("opened", title=title)
    for title in taken.closed:
        say("closed", title=title)
    for title in taken.ended:
        say("ended", title=title)


def _figures(taken: Taken) -> list[str]:
    return [
        f"{key} {last['value']:.4f}"
        for watch in taken.watches.values()
        for key, last in watch.last.items()
        if not key.endswith(("]", " errors", " p95"))
    ]


def in_units(seconds: float) -> str:
    """A time in the unit that suits it: 2.4 s, 15 min, 3.5 h."""
    size, unit = next(((size, unit) for size, unit in _UNITS if seconds >= size), (1, "s"))
    return f"{seconds / size:.3g} {unit}"


def scores_of(record: Mapping[str, Any] | None) -> list[str]:
    """The means of a record, for a look that went no further."""
    return [
        f"{entry['name']} {measure} {mean['value']:.4f}"
        for entry in (record or {}).get("systems", [])
        for measure, mean in entry["means"].items()
        if mean["value"] is not None
    ]


def measured(watches: Mapping[str, SystemWatch]) -> dict[str, Any]:
    """What the watches saw last, as `Metrics.figures` takes it."""
    scores, references, evidence, failed = {}, {}, {}, {}
    latency: dict[tuple[str, str | float], float | None] = {}
    for name, watch in watches.items():
        for key, last in watch.last.items():
            figure = key.removeprefix(f"{name} ")
            if figure == "errors":
                failed[name] = round(last["value"] * last["queries"])
            elif figure == "p95":
                latency[name, "0.95"] = last["value"]
            elif key in watch.series:
                measure, _, tag = figure.partition(" [")
                where = (name, measure, tag.removesuffix("]"))
                scores[where], references[where] = last["value"], last["reference"]
                detector = watch.series[key].detector
                evidence[where] = None if detector is None else max(detector.evidence / math.log(10), 0.0)
    return {
        "scores": scores,
        "references": references,
        "log10_evidence": evidence,
        "latency": latency,
        "failed": failed,
    }


def measure_look(metrics: Metrics, seen: Observation, taken: Taken, open_by_kind: Mapping[str, int]) -> None:
    """The look in the metrics."""
    finished = datetime.datetime.fromisoformat(seen.finished)
    shown = measured(taken.watches)
    metrics.look(seen.monitor, status=taken.status, finished=finished, open_incidents=open_by_kind, **shown)
