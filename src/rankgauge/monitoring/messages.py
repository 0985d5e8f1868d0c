"""What an alert says: what happened, since when, how much, and what it is not. In English and Chinese."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from rankgauge.monitoring.message_words import UNITS, WORDS
from rankgauge.retrievers.reasons import translated

__all__ = ["message"]

_LISTED = 5
_PERCENTILE = re.compile(r"p\d+(\.\d+)?")
_CHINESE = "\u3001-\u303f\u4e00-\u9fff\uff00-\uffef"
_BETWEEN_CHINESE = re.compile(f"(?<=[{_CHINESE}]) (?=[{_CHINESE}])")


def message(incident: Any, event: str, language: str = "en") -> tuple[str, str]:
    """Title and body of an alert on an incident's row (or a mapping with its columns). What it lacks is left out."""
    text = _Text(incident, language, at_worst=event == "recovered")
    monitor = text.said("monitor") or "rankgauge"
    if event == "recovered":
        title, body = text.words["recovered"].format(what=text.headline()), text.recovered()
    else:
        title, body = text.headline(), text.opened()
    return f"[rankgauge] {monitor}: {_tidy(title)}", _tidy(body)


class _Text:
    """The sentences about one incident."""

    def __init__(self, incident: Any, language: str, *, at_worst: bool = False) -> None:
        self.words, self.language = WORDS.get(language, WORDS["en"]), language if language in WORDS else "en"
        self._row = _mapping(incident)
        self._detail = _detail(self._row.get("detail"))
        if at_worst and "worst" in self._detail:
            self._detail = {**self._detail, "now": self._detail["worst"]}
        self.kind = self.said("kind") or "quality"

    def said(self, name: str) -> str:
        """A column or a detail as one line of text; empty if there is none."""
        value = self._row.get(name) if name in self._row else self._detail.get(name)
        return " ".join(str(value).split()) if isinstance(value, str | int) and not isinstance(value, bool) else ""

    def headline(self) -> str:
        """What happened, in a few words."""
        subject, before, now = self.subject(), self._number("before"), self._number("now")
        if self.kind in ("quality", "slice", "latency"):
            if before is None or now is None:
                key = "rose" if self.kind == "latency" else "worse"
            else:
                key = "fell" if now < before else "rose" if now > before else "changed"
        elif self.kind == "threshold":
            limit = self._number("limit")
            key = "missed" if now is None or limit is None else "below" if now < limit else "above"
        else:
            key = self.kind if self.kind in ("errors", "down", "drift") else "unknown"
        return self.words[key].format(subject=subject, kind=self.kind)

    def opened(self) -> str:
        lines = [*self._facts(), *self._when(), *self._ground(), *self._meaning()]
        return "\n".join(lines)

    def _meaning(self) -> list[str]:
        """What it is not. Where a retriever had repeated itself exactly there was no chance to account for."""
        meaning = [self.words[f"not_{self.kind}"]] if f"not_{self.kind}" in self.words else []
        if self._detail.get("exact") is True and self.kind in ("quality", "slice"):
            return [self.words["exact"], *(meaning if self.kind == "slice" else [])]
        return meaning

    def recovered(self) -> str:
        closed, began = self._moment("closed_at"), self._moment("began_at") or self._moment("opened_at")
        if closed is None:
            first = self.words["is_over"]
        elif began is None or closed < began:
            first = self.words["closed_only"].format(closed=_time(closed))
        else:
            first = self.words["closed"].format(closed=_time(closed), duration=self._duration(closed - began))
        return "\n".join([first, self.words["was"].format(what=" ".join(self._facts())), *self._when()])

    def subject(self) -> str:
        """What it is about: `nDCG@10 of bm25, queries tagged billing`."""
        system, measure = self.said("system"), self.said("measure")
        if self._is_time():
            measure = self.words["latency_name"].format(measure=measure).strip()
        elif self.kind in ("errors", "down"):
            measure = ""
        both = self.words["of"].format(measure=measure, system=system) if system and measure else system or measure
        subject = both or self.said("series") or "rankgauge"
        tag = self.said("slice")
        return self.words["on"].format(subject=subject, slice=tag) if tag else subject

    def _facts(self) -> list[str]:
        """What, how much, and why if that is known."""
        words, limit, reason = self.words, self._shown("limit"), translated(self.said("reason"), self.language)
        facts = self._drift() if self.kind == "drift" else []
        if not facts:
            facts = [self._figures()]
            if self.kind == "errors" and self._is_share("now") and self._count("queries"):
                facts.append(words["errors_queries"].format(queries=self._count("queries")))
            facts += [words["limit"].format(limit=limit)] if limit else []
            facts += self._slices()
        return [*facts, words["reason"].format(reason=reason)] if reason else facts

    def _slices(self) -> list[str]:
        """The slices that fell, where others did not."""
        found = self._detail.get("slices")
        if not isinstance(found, Mapping) or not found:
            return []
        shown = [
            f"{tag} {pair[0]:.4f} → {pair[1]:.4f}"
            for tag, pair in found.items()
            if isinstance(pair, list) and len(pair) == 2 and all(isinstance(x, int | float) for x in pair)
        ]
        return [self.words["slices"].format(slices=self.words["comma"].join(shown))] if shown else []

    def _drift(self) -> list[str]:
        gone, changed = self._number("gone"), self._number("changed")
        total = None if gone is None or changed is None else int(gone + changed)
        documents, queries = self._listed("documents", total), self._listed("queries")
        facts = [self.words["drift_count"].format(documents=documents)] if documents else []
        if total is not None:
            facts.append(self.words["drift_kinds"].format(gone=self.said("gone"), changed=self.said("changed")))
        return [*facts, self.words["drift_queries"].format(queries=queries)] if queries else facts

    def _figures(self) -> str:
        before, now, of = self._shown("before"), self._shown("now"), self._count("queries")
        if self.kind == "errors" and now:
            key = "errors_share" if self._is_share("now") else "errors_count" if of else "errors_now"
        elif now:
            key = self._direction() if before and self.kind != "threshold" else "is_now"
        else:
            return self.headline() + self.words["stop"]
        return self.words[key].format(subject=self.subject(), before=before, now=now, queries=of, share=self._share())

    def _direction(self) -> str:
        before, now = self._number("before"), self._number("now")
        if before is None or now is None or before == now:
            return "changed_from"
        return "fell_from" if now < before else "rose_from"

    def _share(self) -> str:
        """The change relative to what it was: ` (-15.8 %)`."""
        before, now = self._number("before"), self._number("now")
        if before is None or now is None or before <= 0:
            return ""
        share = f"{100 * (now - before) / before:+.1f} %"
        return f"（{share}）" if self.language == "zh" else f" ({share})"

    def _when(self) -> list[str]:
        opened, began = self._moment("opened_at"), self._moment("began_at")
        if opened is None:
            return []
        if began is None or _time(began) >= _time(opened):  # as it is shown, to the minute
            return [self.words["opened"].format(opened=_time(opened))]
        return [self.words["began"].format(began=_time(began), opened=_time(opened))]

    def _ground(self) -> list[str]:
        """How sure it is."""
        evidence, looks = self._number("evidence"), self.said("looks")
        found = [self.words["evidence"].format(evidence=f"{evidence:.3g}")] if evidence and evidence > 1 else []
        return [*found, self.words["looks"].format(looks=looks)] if looks else found

    def _number(self, name: str) -> float | None:
        value = self._detail.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if math.isfinite(value) else None

    def _is_share(self, name: str) -> bool:
        value = self._detail.get(name)
        return isinstance(value, float) and 0 <= value <= 1

    def _shown(self, name: str) -> str:
        """A number as its kind is read: scores with four digits, times in milliseconds, counts whole, shares in %."""
        value = self._number(name)
        if value is None:
            return ""
        if self._is_time():
            return f"{1000 * value:.3g} ms" if value < 0.9995 else f"{value:.2f} s"
        if self.kind == "errors":
            return f"{100 * value:.1f} %" if self._is_share(name) else f"{value:g}"
        return f"{value:.4f}"

    def _is_time(self) -> bool:
        """Whether it is about latency: of its kind, or a limit for a percentile such as p95."""
        return self.kind == "latency" or (
            self.kind == "threshold" and _PERCENTILE.fullmatch(self.said("measure")) is not None
        )

    def _count(self, name: str) -> str:
        value = self._detail.get(name)
        return str(len(value)) if isinstance(value, list | tuple | set | dict) else self._listed(name)

    def _listed(self, name: str, total: int | None = None) -> str:
        """A count, or the first of several names."""
        value = self._detail.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, list | tuple | set | dict) or not value:
            return ""
        names = [str(entry) for entry in value]
        left = max(len(names), total or 0) - len(names[:_LISTED])
        more = self.words["more"].format(more=left) if left else ""
        return self.words["comma"].join(names[:_LISTED]) + more

    def _moment(self, name: str) -> datetime.datetime | None:
        value = self._row.get(name)
        if isinstance(value, str):
            try:
                value = datetime.datetime.fromisoformat(value)
            except ValueError:
                return None
        if not isinstance(value, datetime.datetime):
            return None
        return value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value.astimezone(datetime.UTC)

    def _duration(self, passed: datetime.timedelta) -> str:
        """The two largest units: `3 h 12 min`."""
        seconds = round(passed.total_seconds())
        amounts = (seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60)
        parts = [f"{amount}{unit}" for amount, unit in zip(amounts, UNITS[self.language], strict=True) if amount]
        return " ".join(parts[:2]) or f"0{UNITS[self.language][-1]}"


def _mapping(incident: Any) -> Mapping[str, Any]:
    """The columns of a row, a mapping, or an object with attributes."""
    if isinstance(incident, Mapping):
        return incident
    columns = getattr(incident, "_mapping", None)
    if columns is not None:
        return dict(columns)
    return dict(getattr(incident, "__dict__", {}))


def _detail(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str | bytes):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, Mapping) else {}


def _tidy(text: str) -> str:
    """Without the blanks that the joining of sentences leaves between Chinese characters."""
    return _BETWEEN_CHINESE.sub("", text)


def _time(moment: datetime.datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
