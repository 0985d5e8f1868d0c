"""Worked examples: one small ranked list, scored step by step."""

from __future__ import annotations

import numpy as np

from rankgauge.measures.gain import gain_of
from rankgauge.measures.measure import Measure
from rankgauge.model.ranked import Characters, RankedGrades, SubtopicHits
from rankgauge.words import Language, say
from rankgauge.words.numbers import plain, score

__all__ = ["example", "worked_example"]

_GRADES = (2.0, 0.0, 3.0, 0.0, 1.0)
"""Grades down the example list; documents of grade 0 are judged non-relevant."""
_MISSED = (1.0,)
"""Grades of the judged documents that were not retrieved."""

_FIRST_SCORE = 0.8
"""Of the first document, for measures with a threshold."""


def example(measure: Measure) -> RankedGrades:
    """The example as kernels see it, with grades cut to what the measure's scale takes."""
    top = measure.get("max_rel") if measure.definition.parameter("max_rel") else measure.get("max_grade")
    cut = float(top) if top else 4.0
    grades = np.minimum(np.array(_GRADES), cut)
    judged = np.sort(np.minimum(np.array(_GRADES + _MISSED), cut))[::-1]
    n = len(grades)
    return RankedGrades(
        queries=["q"],
        in_run=np.ones(1, bool),
        retrieved=np.array([n]),
        starts=np.array([0, n]),
        above=np.arange(n),
        tied=np.ones(n, np.int64),
        grades=grades,
        judged_starts=np.array([0, len(judged)]),
        judged_grades=judged,
        ties_met=np.zeros(1, np.int64),
        subtopics=SubtopicHits(
            np.array([0, n + 1]),
            np.arange(n + 1),
            np.array([0, 0, 1, 0, 0, 1]),
            np.append(grades, 1.0),
            np.array([0, 1, 2, 3, 4, -1]),
        ),
        prefix={f"budget={measure.get('budget')}": np.array([3])},
        top=np.array([_FIRST_SCORE]),
        characters=_characters(),
    )


def _characters() -> Characters:
    """Chunks of 400 characters, the last two of which share 100; 150 gold ones, of which 120 are found."""
    new, gold_new = np.array([400, 400, 400, 400, 300]), np.array([60, 0, 40, 0, 20])
    gold = np.array([150])
    return Characters(np.array([0, 5]), np.full(5, 400), new, gold_new, gold, gold, np.array([0.125]))


def worked_example(measure: Measure, language: Language) -> list[str]:
    """Lines that show the example list, the steps for the common measures, and the score."""
    ranked = example(measure)
    value = float(measure.score(ranked)[0])
    lines = [_listed(measure, ranked, language)]
    if measure.get("budget") is not None:
        fit = int(next(iter(ranked.prefix.values()))[0])
        lines.append(say("measures.example_budget", language, fit=fit))
    lines += _steps(measure, ranked)
    lines.append(f"{measure} = {score(value)}")
    return lines


def _listed(measure: Measure, ranked: RankedGrades, language: Language) -> str:
    """The list: its grades, or the new and gold characters of its chunks."""
    found = ranked.characters
    if "characters" in measure.definition.needs and found is not None:
        chunks = zip(found.length.tolist(), found.new.tolist(), found.gold_new.tolist(), strict=True)
        row = "  ".join(f"{i}:{length}/{new}/{gold}" for i, (length, new, gold) in enumerate(chunks, start=1))
        return say("spans.example_list", language, row=row, gold=int(found.gold[0]))
    row = "  ".join(f"{i}:{plain(grade)}" for i, grade in enumerate(ranked.grades, start=1))
    return say("measures.example_list", language, row=row, missed=list(map(plain, _MISSED)))


def _steps(measure: Measure, ranked: RankedGrades) -> list[str]:
    rel = measure.get("rel")
    depth = len(ranked.grades) if measure.at is None else int(measure.at)
    relevant = [] if rel is None else [i + 1 for i, g in enumerate(ranked.grades) if g >= rel and i < depth]
    total = 0 if rel is None else int(ranked.n_relevant(rel)[0])
    found = len(relevant)
    if "characters" in measure.definition.needs:
        return []
    if measure.name == "P" and measure.get("over") == "k":
        return [f"h_{depth} = {found}; {found} / {depth}"]
    if measure.get("budget") is not None:
        fit = int(next(iter(ranked.prefix.values()))[0])
        inside = sum(1 for grade in ranked.grades[:fit] if grade >= rel)
        return [f"h_{fit} = {inside}, R = {total}; {inside} / {total}"]
    if measure.name == "R" and measure.get("budget") is None and not measure.get("capped"):
        return [f"h_{depth} = {found}, R = {total}; {found} / {total}"]
    if measure.name == "F1" and measure.get("beta") == 1:
        return [f"P = {found}/{depth}, R = {found}/{total}; 2 P R / (P + R)"]
    if measure.name == "RR":
        return [f"1 / {relevant[0]}" if relevant else "0"]
    if measure.name == "Success":
        return [f"h_{depth} = {found}"]
    if measure.name in ("AllRel", "SetEM"):
        size = f", n = {min(depth, len(ranked.grades))}" if measure.name == "SetEM" else ""
        return [f"h_{depth} = {found}, R = {total}{size}"]
    if measure.name in ("StRecall", "AllGroups"):
        return [_group_step(measure, ranked)]
    if measure.name == "Handled":
        return _handled_steps(measure, depth, found)
    if measure.name == "AP" and measure.get("grades") == "binary" and measure.get("norm") == "R":
        parts = " + ".join(f"{i}/{rank}" for i, rank in enumerate(relevant, start=1))
        return [f"({parts}) / {total}"]
    if measure.name in ("DCG", "nDCG"):
        return _gain_steps(measure, ranked, depth)
    return []


def _group_step(measure: Measure, ranked: RankedGrades) -> str:
    """Which subtopics have a relevant document: {0: rank 1, ...}."""
    rows, depth = ranked.subtopics, measure.at or len(ranked.grades)
    assert rows is not None
    first: dict[int, int] = {}
    for topic, hit, grade in zip(rows.subtopic.tolist(), rows.hit.tolist(), rows.grade.tolist(), strict=True):
        if grade >= measure.get("rel"):
            rank = hit + 1 if 0 <= hit < depth else 0
            first[topic] = min(filter(None, (first.get(topic, 0), rank)), default=0)
    return "; ".join(f"s_{topic + 1}: {rank or '-'}" for topic, rank in sorted(first.items()))


def _handled_steps(measure: Measure, depth: int, found: int) -> list[str]:
    threshold = measure.get("threshold")
    sign = "<" if threshold is not None and threshold > _FIRST_SCORE else ">="
    steps = [] if threshold is None else [f"{plain(_FIRST_SCORE)} {sign} {plain(threshold)}"]
    return [*steps, *([] if measure.at is None else [f"h_{depth} = {found}"])]


def _gain_steps(measure: Measure, ranked: RankedGrades, depth: int) -> list[str]:
    shift = 0 if measure.get("discount") == "log2(i)" else 1

    def dcg(gains: list[float]) -> str:
        return " + ".join(f"{g:g}/log2({max(i + shift, 2)})" for i, g in enumerate(gains, start=1) if g) or "0"

    gains = gain_of(ranked.grades, measure).tolist()
    lines = [f"DCG = {dcg(gains[:depth])}"]
    if measure.name == "nDCG":
        pool = ranked.grades if measure.get("ideal") == "retrieved" else ranked.judged_grades
        ideal = sorted(gain_of(pool, measure).tolist(), reverse=True)[:depth]
        if measure.get("ideal") == "returned":
            ideal = ideal[: len(ranked.grades)]
        lines.append(f"ideal DCG = {dcg(ideal)}")
    return lines
