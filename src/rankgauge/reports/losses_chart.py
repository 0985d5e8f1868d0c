"""Where relevant documents were lost, drawn: a bar for each system, its parts in the order of the pipeline."""

from __future__ import annotations

from rankgauge.comparison.loss_notes import place_note
from rankgauge.record import LossPlace, Record
from rankgauge.reports.chart_specs import CATEGORIES, GREY, VERDICTS, Chart, Row, plain, rounded, spec_of
from rankgauge.words import Language, say, tell

__all__ = ["losses_charts"]

_BAR = 44
_FIXED = {"corpus": GREY, "index": CATEGORIES[5], "rank": CATEGORIES[1], "budget": CATEGORIES[3]}
_STAGES = [CATEGORIES[0], CATEGORIES[4], CATEGORIES[6], CATEGORIES[8]]


def losses_charts(record: Record, language: Language, digits: int = 4) -> list[Chart]:
    """One chart of all systems with losses; none without."""
    if not record.losses:
        return []
    rows: list[Row] = []
    tones: dict[str, str] = {}
    for found in record.losses:
        for order, place in enumerate(reversed(found.places)):
            named = plain(tell(place_note(found, place), language))
            tones.setdefault(named, _tone(place, found.stages))
            share = place.documents / max(1, found.documents)
            rows.append(
                {
                    "system": plain(found.system),
                    "place": named,
                    "order": order,
                    "share": rounded(share),
                    "documents": place.documents,
                    "gain": rounded(place.gain),
                    "label": f"{100 * share:.0f} %" if share >= 0.06 else "",
                }
            )
    systems = [plain(found.system) for found in record.losses]
    legend = {"columns": 4, "symbolType": "square"}
    known = {"systems": systems, "places": list(tones), "tones": list(tones.values()), "legend": legend}
    words = {f"l_{name}": say(f"losses.{name}", language) for name in ("documents", "share", "chart_axis", "place")}
    words["l_gain"] = say("losses.gain", language, measure=plain(record.losses[0].measure))
    height = _BAR * len(systems)
    spec = spec_of("losses", language, digits, **known, **words, height=height)
    title = say("losses.chart_title", language)
    first = record.losses[0]
    about = say("losses.chart_about", language, documents=first.documents, queries=first.queries)
    return [Chart("losses", title, spec, rows, height + 90, about=about)]


def _tone(place: LossPlace, stages: list[str]) -> str:
    if place.kind == "found":
        return VERDICTS["better"]
    if place.kind == "stage":
        return _STAGES[min(stages.index(place.stage), len(_STAGES) - 1)]
    return _FIXED[place.kind]
