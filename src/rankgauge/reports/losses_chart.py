"""Where relevant documents were lost, drawn: a bar for each system, its parts in the order of the pipeline."""

from __future__ import annotations

from rankgauge.comparison.loss_notes import place_note
from rankgauge.record import LossesResult, LossPlace, Record
from rankgauge.reports.chart_specs import CATEGORIES, GREY, VERDICTS, Chart, Row, plain, rounded, spec_of
from rankgauge.words import Language, Note, numbers, say, tell

__all__ = ["losses_charts"]

_BAR = 44
_FIXED = {"corpus": GREY, "index": CATEGORIES[5], "rank": CATEGORIES[1], "budget": CATEGORIES[3]}
_ENDS = (CATEGORIES[0], CATEGORIES[4])
_BETWEEN = (CATEGORIES[6], CATEGORIES[8], CATEGORIES[7])


def losses_charts(record: Record, language: Language, digits: int = 4) -> list[Chart]:
    """One chart of all systems with losses; none without."""
    if not record.losses:
        return []
    rows: list[Row] = []
    tones: dict[str, str] = {}
    for found in record.losses:
        for order, place in enumerate(reversed(found.places)):
            named = plain(tell(_named(record, found, place), language))
            tones.setdefault(named, _tone(place, found.stages))
            share = place.documents / max(1, found.documents)
            rows.append(
                {
                    "system": plain(found.system),
                    "place": named,
                    "order": order,
                    "share": rounded(share),
                    "documents": place.documents,
                    "gain": "–" if place.kind == "found" else numbers.signed(place.gain, digits),
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


def _named(record: Record, found: LossesResult, place: LossPlace) -> Note:
    """A place; where there are several systems, they share the words for their own last stages."""
    own = place.stage == found.system and len(found.stages) > 1
    return Note("losses.place_last") if own and len(record.losses) > 1 else place_note(found, place)


def _tone(place: LossPlace, stages: list[str]) -> str:
    """The first and the last stage have their own colours, whatever lies between."""
    if place.kind == "found":
        return VERDICTS["better"]
    if place.kind != "stage":
        return _FIXED[place.kind]
    number = stages.index(place.stage)
    if number in (0, len(stages) - 1):
        return _ENDS[0 if number == 0 else 1]
    return _BETWEEN[(number - 1) % len(_BETWEEN)]
