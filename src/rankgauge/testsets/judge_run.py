"""One judge at work: probed, held against anchors, then asked for what is open."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rankgauge.errors import RetrieverError
from rankgauge.formats.labels import LabelFile
from rankgauge.model.labels import Label, Labels
from rankgauge.testsets.chat_cache import AnswerCache
from rankgauge.testsets.chat_cost import Ledger, Usage
from rankgauge.testsets.chat_requests import CallFailure
from rankgauge.testsets.judge import Judge
from rankgauge.testsets.judge_anchors import AnchorReport, first_grades, held_against
from rankgauge.testsets.judge_answers import Verdict
from rankgauge.testsets.judge_asking import Asked, Group, Pair, Tell, ask_judge, opinion_of
from rankgauge.testsets.judge_probe import JudgeProbe, probe_groups
from rankgauge.testsets.judge_result import JudgeFailure, JudgeReport, distribution
from rankgauge.testsets.judge_work import Work, anchor_sample

__all__ = ["JudgeRun", "LabelStore"]


class LabelStore:
    """Labels as they come, in a file or in memory."""

    def __init__(self, file: LabelFile | None) -> None:
        self._file, self._own = file, list[Label]()

    @property
    def labels(self) -> Labels:
        return Labels(self._own) if self._file is None else self._file.labels

    def add(self, labels: Sequence[Label]) -> None:
        if self._file is None:
            self._own += labels
        else:
            self._file.add(labels)


class JudgeRun:
    """What one judge does and what came of it. `stopped` says that no more may be asked, of this judge or the next."""

    def __init__(
        self,
        work: Work,
        judge: Judge,
        store: LabelStore,
        ledger: Ledger,
        answers: AnswerCache | None,
        progress: Callable[[int, int], object] | None,
        stopped: str,
    ) -> None:
        self.work, self.judge, self.store, self.ledger, self.answers = work, judge, store, ledger, answers
        self.progress, self.stopped = progress, stopped
        self.failures: list[JudgeFailure] = []
        self.left: list[tuple[str, str, str]] = []
        self._spreads: list[float] = []
        self._served: set[str] = set()

    def report(self, people: Mapping[Pair, float], probe: int) -> JudgeReport:
        """Do all of it."""
        judge, work, before = self.judge, self.work, replace(self.ledger.spent)
        at_first = work.open(judge, self.store.labels)
        probed = self._probed(probe) if probe and not self.stopped else None
        anchored = self._anchored(people) if people and not self.stopped else None
        open_ones = work.open(judge, self.store.labels)
        self._judge(open_ones)
        self.failures += [JudgeFailure(judge.name, *pair, "no_text") for pair in work.textless]
        return JudgeReport(
            judge.name,
            judge.model,
            judge.family,
            judge.version,
            judge.configuration,
            len(work.pairs),
            len(work.pairs) - len(at_first) - len(work.textless),
            len(self._spreads) + len(set(at_first) - set(open_ones)),
            len(self.failures),
            len(self.left),
            _since(before, self.ledger.spent),
            distribution(self.store.labels, judge.name, work.pairs),
            sum(self._spreads) / len(self._spreads) if self._spreads else 0.0,
            tuple(sorted(self._served)),
            anchored,
            probed,
        )

    def _judge(self, pairs: Sequence[Pair]) -> None:
        name, wanted = self.judge.name, set(pairs)

        def tell(pair: Pair, verdicts: Sequence[Verdict]) -> None:
            if pair in wanted:
                self._spreads.append(self._label(pair, verdicts).spread)

        if self.stopped:
            self.left += [(name, *pair) for pair in pairs]
            return
        asked = self._ask(self.work.groups(self.judge, pairs, self.answers), tell)
        for pair, why in asked.failures.items():
            if pair in wanted:
                self.failures.append(JudgeFailure(name, *pair, why.reason, why.detail, why.raw, why.tries))
        self.left += [(name, *pair) for pair in asked.left if pair in wanted]

    def _ask(self, groups: Sequence[Group], tell: Tell, first: int = 0) -> Asked:
        """Ask. Of several judges, one that cannot be reached does not keep the others from judging."""
        several = len(self.work.judges) > 1
        try:
            asked = ask_judge(
                self.judge,
                groups,
                ledger=self.ledger,
                cache=self.answers,
                first=first,
                tell=tell,
                progress=self.progress,
            )
        except RetrieverError as error:
            if not several:
                raise
            return Asked(failures={pair: CallFailure("", "call", str(error)) for one in groups for pair in one.pairs})
        self._served |= asked.served
        self.stopped = asked.stopped
        return asked

    def _label(self, pair: Pair, verdicts: Sequence[Verdict]) -> Label:
        """What the samples of a pair come to, kept as labels: of the document and of its aspects."""
        judge, found = self.judge, opinion_of(verdicts, self.judge.combine)
        several = len(verdicts) > 1
        label = Label(
            *pair,
            found.grade,
            judge.name,
            "model",
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            judge.version,
            found.reason,
            low=found.low if several else None,
            high=found.high if several else None,
        )
        aspects = [
            replace(label, grade=grade, aspect=name, reason="", low=None, high=None)
            for name, grade in found.criteria.items()
        ]
        self.store.add([*aspects, label])
        return label

    def _probed(self, n: int) -> JudgeProbe:
        groups = self.work.groups(self.judge, self.work.pairs, self.answers)
        found = probe_groups(self.judge, groups, n, ledger=self.ledger, cache=self.answers, progress=self.progress)
        self.stopped = found.stopped
        return found

    def _anchored(self, people: Mapping[Pair, float]) -> AnchorReport | None:
        """Anchors are judged anew in each run, but not again by one that goes on where another was killed."""
        judge, answers = self.judge, self.answers
        before = first_grades(self.store.labels, judge.name, judge.version)
        groups = self.work.anchor_groups(judge, people)
        asked = self._ask(groups, self._label, anchor_sample(judge, answers))
        if answers is not None and not asked.stopped:
            answers.end_round(judge.name)
        now = {pair: opinion_of(verdicts, judge.combine).grade for pair, verdicts in asked.verdicts.items()}
        return held_against(judge.name, now, people, before)


def _since(before: Usage, now: Usage) -> Usage:
    """What was spent between two moments."""
    names = ("calls", "kept", "prompt_tokens", "completion_tokens", "guessed")
    counts = {name: getattr(now, name) - getattr(before, name) for name in names}
    cost = None if now.cost is None else now.cost - (before.cost or 0.0)
    return Usage(**counts, cost=cost, unit=now.unit)
