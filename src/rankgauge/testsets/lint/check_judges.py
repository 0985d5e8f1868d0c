"""Checks of who judged: labels by judge, on which scale; and what a probe of the judge finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rankgauge.errors import DataError
from rankgauge.model.labels import LabelPolicy
from rankgauge.testsets.judge_probe import JudgeProbe
from rankgauge.testsets.lint.check_grades import outside, stray_grades
from rankgauge.testsets.lint.findings import Finding
from rankgauge.testsets.lint.material import Material
from rankgauge.testsets.lint.registry import check
from rankgauge.testsets.model_family import model_family
from rankgauge.words import Note

__all__ = ["conflicts", "judges", "labels", "probe"]


@check("labels")
def labels(material: Material) -> Iterator[Finding]:
    """Labels outside the scale, and labels of queries that the test set lacks."""
    assert material.labels is not None
    said = [one for voices in material.labels.voices.values() for one in voices]
    own = {grade for query in material.test_set for grade in query.grades.values()}
    # Grades below 0 that the test set has are told of by its scale: its labels are no slips for having them too.
    whole = (min(0.0, *own), max(own)) if own and max(own) > 0 else None
    bounds = material.scale or (whole if len(own) > 2 else None)
    for (_, judge), _ in sorted(Counter((one.kind, one.judge) for one in said).items()):
        grades = [(one.query, one.doc, one.grade) for one in said if one.judge == judge and one.grade is not None]
        if bounds is None:
            for found in stray_grades(grades):
                if found.kind == "stray_grade":
                    yield Finding("stray_label", "warning", found.items, {**found.parameters, "judge": judge})
        elif items := outside(grades, bounds):
            about = {"judge": judge, "low": bounds[0], "high": bounds[1], "of": len(grades)}
            yield Finding("label_out_of_scale", "error", items, about)
    lost = [{"query": query} for query in dict.fromkeys(one.query for one in said) if query not in material.by_id]
    if lost:
        yield Finding("labels_of_others", "warning", lost)


@check("labels")
def conflicts(material: Material) -> Iterator[Finding]:
    """Documents that are relevant by one label that counts and not by another: which grade they have is a matter of the
    policy."""
    assert material.labels is not None
    found = material.labels.conflicts(material.test_set.policy or LabelPolicy())
    items = []
    for (query, doc), said in found.items():
        low, high = (pick(said, key=lambda one: one.grade or 0.0) for pick in (min, max))
        if query in material.by_id and (low.grade or 0.0) <= 0 < (high.grade or 0.0):
            item = {"query": query, "doc": doc, "judge": high.judge, "grade": high.grade}
            items.append({**item, "judge_other": low.judge, "grade_other": low.grade})
    if items:
        yield Finding("conflicting_labels", "warning", items)


@check("labels")
def judges(material: Material) -> Iterator[Finding]:
    """Labels that are all from models of one family: what they get wrong, they get wrong together."""
    assert material.labels is not None
    kinds = Counter[str]()
    models = Counter[str]()
    for (kind, judge), n in material.labels.sources.items():
        kinds[kind] += n
        if kind == "model":
            models[judge] += n
    families = {model_family(judge) for judge in models}
    if models and kinds.total() == models.total() and len(families) == 1 and (family := families.pop()):
        items = [{"judge": judge, "labels": n} for judge, n in models.most_common()]
        about = {"family": family, "labels": models.total()}
        yield Finding("one_family", "warning", items, about)
    made = {name.partition(":")[2] for query in material.test_set if (name := query.synthetic).startswith("llm:")}
    shared = {model_family(name) for name in made} & {model_family(judge) for judge in models} - {""}
    if shared:
        own = [
            {"query": query.id, "made_by": query.synthetic}
            for query in material.test_set
            if query.synthetic.startswith("llm:") and model_family(query.synthetic.partition(":")[2]) in shared
        ]
        yield Finding("judges_itself", "warning", own, {"family": min(shared)})


@check("probe")
def probe(material: Material) -> Iterator[Finding]:
    """Judges that do what documents tell them, by their probes; and whatever else a function that was given finds."""
    given = material.probe(material) if callable(material.probe) else material.probe
    for one in [given] if isinstance(given, JudgeProbe) else given or ():
        if isinstance(one, JudgeProbe):
            if fell := one.fell_for:
                items = [
                    {"judge": one.judge, "attack": Note(f"judge.probe_{own.kind}"), "raised": own.raised, "of": own.n}
                    for own in sorted(fell, key=lambda own: -own.raised)
                ]
                yield Finding("obeys_documents", "error", items, {"judge": one.judge})
        elif isinstance(one, Finding):
            yield one
        else:
            raise DataError(f"`probe` gave a {type(one).__name__}; it must give a JudgeProbe, or Finding objects")
