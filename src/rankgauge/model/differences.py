"""What changed from one version of a test set to another: queries, grades with who gave them, labels, policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from rankgauge.model.labels import Label, LabelPolicy, Labels
from rankgauge.model.query import Query
from rankgauge.words import Note

__all__ = ["GradeChange", "TestSetDifference", "difference_of"]

_OTHER = ("tags", "texts", "groups", "no_answer", "conversation", "spans", "synthetic")


@dataclass(frozen=True)
class GradeChange:
    """A document whose grade is another one."""

    query: str
    doc: str
    before: float | None
    """None where it was not judged."""
    after: float | None
    labels: tuple[Label, ...] = ()
    """Those that the grade comes from now; empty where there are none."""


@dataclass(frozen=True)
class TestSetDifference:
    """What the second test set says otherwise than the first."""

    __test__ = False

    versions: tuple[str, str]
    added: list[str]
    """Ids of queries that the first lacks."""
    removed: list[str]
    reworded: dict[str, tuple[str, str]]
    """Texts before and after, by query."""
    changed: dict[str, list[str]]
    """What else of a query is another: tags, groups ..."""
    grades: list[GradeChange]
    """Of queries that both have."""
    labels_added: list[Label]
    labels_removed: list[Label]
    policies: tuple[LabelPolicy | None, LabelPolicy | None]

    @property
    def same(self) -> bool:
        """Whether both say the same, whatever they are named and however they are ordered."""
        return self.versions[0] == self.versions[1]

    @property
    def notes(self) -> list[Note]:
        """The changes counted."""
        counts = {
            "added": len(self.added),
            "removed": len(self.removed),
            "reworded": len(self.reworded),
            "changed": len(self.changed),
            "grades": len(self.grades),
            "labels_added": len(self.labels_added),
            "labels_removed": len(self.labels_removed),
        }
        notes = [Note(f"testsets.diff_{name}", {"n": n}) for name, n in counts.items() if n]
        if self.policies[0] != self.policies[1]:
            told = [Note("testsets.no_policy") if policy is None else policy.note for policy in self.policies]
            notes.append(Note("testsets.diff_policy", {"before": told[0], "after": told[1]}))
        return [Note("testsets.diff_same")] if self.same else notes

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        plain = {
            "grades": [asdict(one) for one in self.grades],
            "labels_added": [asdict(one) for one in self.labels_added],
            "labels_removed": [asdict(one) for one in self.labels_removed],
            "reworded": {query: list(texts) for query, texts in self.reworded.items()},
            "versions": list(self.versions),
            "policies": [None if policy is None else asdict(policy) for policy in self.policies],
        }
        return {"format": "rankgauge.testset-diff", "version": 1, "same": self.same, **found, **plain}


def difference_of(
    first: Sequence[Query],
    second: Sequence[Query],
    labels: tuple[Labels, Labels],
    policies: tuple[LabelPolicy | None, LabelPolicy | None],
    versions: tuple[str, str],
) -> TestSetDifference:
    """The changes from the first to the second."""
    before, after = {query.id: query for query in first}, {query.id: query for query in second}
    common = [(query, after[query.id]) for query in first if query.id in after]
    others = {
        old.id: [name for name in _OTHER if _plain(getattr(old, name)) != _plain(getattr(new, name))]
        for old, new in common
    }
    had, has = ({(label.voice, label): None for label in own} for own in labels)
    return TestSetDifference(
        versions=versions,
        added=[query.id for query in second if query.id not in before],
        removed=[query.id for query in first if query.id not in after],
        reworded={old.id: (old.text, new.text) for old, new in common if old.text != new.text},
        changed={query: names for query, names in others.items() if names},
        grades=[change for old, new in common for change in _grades(old, new, labels[1], policies[1])],
        labels_added=[label for (_, label) in has if (label.voice, label) not in had],
        labels_removed=[label for (_, label) in had if (label.voice, label) not in has],
        policies=policies,
    )


def _plain(value: Any) -> Any:
    """Lists and tuples alike, as they are in a file."""
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return tuple(value) if isinstance(value, list | tuple) else value


def _grades(old: Query, new: Query, labels: Labels, policy: LabelPolicy | None) -> list[GradeChange]:
    found = []
    for doc in {**old.grades, **new.grades}:
        before, after = old.grades.get(doc), new.grades.get(doc)
        if before != after:
            own = () if policy is None else policy.counting(labels.voices.get((new.id, doc), []))
            found.append(GradeChange(new.id, doc, before, after, tuple(own)))
    return found
