"""Judges that are not independent: of the family of what they judge, or of each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rankgauge.errors import DataError
from rankgauge.model.testset import TestSet
from rankgauge.testsets.judge import Judge
from rankgauge.testsets.model_family import model_family
from rankgauge.words import Note

__all__ = ["family_notes"]

_MADE_BY = "llm:"


def family_notes(judges: Sequence[Judge], test_set: TestSet, rerankers: Any = ()) -> list[Note]:
    """A warning for each judge of the family of a generator of queries or of a reranker: models prefer what their own
    family writes and ranks. Several judges of one family are no second opinion."""
    models = [rerankers] if isinstance(rerankers, str) else rerankers
    if not isinstance(models, Sequence) or not all(isinstance(name, str) for name in models):
        raise DataError("`rerankers` are the names of models, a list of texts")
    made_by = Counter(one.synthetic.removeprefix(_MADE_BY) for one in test_set if one.synthetic.startswith(_MADE_BY))
    notes = []
    for one in judges:
        family = one.family
        if not family:
            continue
        about = {"judge": one.name, "family": family}
        own = {name: n for name, n in made_by.items() if model_family(name) == family}
        if own:
            generator = {"generator": max(own, key=own.__getitem__), "n": sum(own.values()), "of": len(test_set)}
            notes.append(Note("judge.family_generator", {**about, **generator}, "warning"))
        notes += [
            Note("judge.family_reranker", {**about, "reranker": name}, "warning")
            for name in models
            if model_family(name) == family
        ]
    families = Counter(one.family for one in judges if one.family)
    notes += [Note("judge.family_judges", {"family": name, "n": n}) for name, n in families.items() if n > 1]
    return notes
