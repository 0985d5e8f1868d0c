"""The state of a monitor, for people."""

from __future__ import annotations

import math
from typing import Any

from rankgauge.reports.tables import Table, render_terminal

__all__ = ["render_status"]

_WORDS = {
    "en": {
        "header": ["figure", "state", "now", "reference", "noise", "evidence", "needed"],
        "learning": "learning",
        "exact": "exact",
        "provisional": "learning noise",
        "watching": "watching",
        "alarm": "ALARM",
        "none": "{monitor}: no look yet",
        "last": "{monitor}: look {number} ({status}), {started}; looks so far: {counts}",
        "figure": "evidence of a fall (in ALARM: of a recovery) and what it takes, as powers of ten; with all figures "
        "together, a false alarm comes once in {every:,.0f} looks on average, or more rarely",
        "incident": "open since {opened}: {kind}, {series} (began {began})",
        "quiet": "no open incident",
        "undelivered": "alerts that are still to be delivered: {count}",
        "statuses": {},
        "kinds": {},
    },
    "zh": {
        "header": ["指标", "状态", "当前", "参照", "波动", "证据", "所需"],
        "learning": "学习中",
        "exact": "精确重复",
        "provisional": "学习波动",
        "watching": "监测中",
        "alarm": "告警",
        "none": "{monitor}：尚未检查",
        "last": "{monitor}：第 {number} 次检查（{status}），{started}；累计：{counts}",
        "figure": "证据为下降（告警状态下为恢复）的证据，与所需值同为 10 的幂；全部指标合计，"
        "平均至少 {every:,.0f} 次检查才有一次误报",
        "incident": "自 {opened} 起未恢复：{kind}，{series}（始于 {began}）",
        "quiet": "没有未恢复的事件",
        "undelivered": "尚未送达的告警：{count}",
        "statuses": {"done": "完成", "invalid": "无分数", "abandoned": "中断", "running": "进行中"},
        "kinds": {
            "quality": "质量下降",
            "slice": "部分查询质量下降",
            "latency": "延迟上升",
            "errors": "查询失败",
            "threshold": "超出限值",
            "down": "无法得到分数",
            "drift": "标准答案文档有变化",
        },
    },
}


def render_status(status: dict[str, Any], *, language: str = "en", digits: int = 4, width: int | None = None) -> str:
    """Last look, all figures, open incidents."""
    words: dict[str, Any] = _WORDS[language]
    if status["last"] is None:
        return str(words["none"].format(monitor=status["monitor"])) + "\n"
    statuses = words["statuses"]
    counts = ", ".join(f"{statuses.get(name, name)} {count}" for name, count in sorted(status["looks"].items()))
    last = status["last"]
    lines = [
        words["last"].format(
            monitor=status["monitor"],
            number=last["number"],
            status=statuses.get(last["status"], last["status"]),
            started=_moment(last["started"]),
            counts=counts,
        ),
        "",
    ]
    if status["series"]:
        rows = [_row(entry, words, digits) for entry in status["series"]]
        lines += [render_terminal(Table(words["header"], rows, 2), width=width)]
        lines += [words["figure"].format(every=status["false_alarm_every"])]
    for incident in status["incidents"]:
        began = _moment(incident["began"] or incident["opened"])
        kind = words["kinds"].get(incident["kind"], incident["kind"])
        known = {"kind": kind, "series": incident["series"], "began": began}
        lines.append(words["incident"].format(opened=_moment(incident["opened"]), **known))
    if not status["incidents"]:
        lines.append(words["quiet"])
    if status["undelivered"]:
        lines.append(words["undelivered"].format(count=status["undelivered"]))
    return "\n".join(lines) + "\n"


def _row(entry: dict[str, Any], words: dict[str, Any], digits: int) -> list[str]:
    def number(name: str, places: int = digits) -> str:
        return "" if entry[name] is None else f"{entry[name]:.{places}f}"

    def figure(name: str) -> str:
        if entry[name] is not None and entry["series"].endswith(" p95"):
            return f"{1000 * entry[name]:.3g} ms"
        return number(name)

    def noise() -> str:
        """Of latencies the noise is that of their logarithm: shown as the share that it is."""
        if entry["noise"] is not None and entry["series"].endswith(" p95"):
            return f"{100 * math.expm1(entry['noise']):.0f} %"
        return number("noise")

    state = words["alarm"] if entry["alarm"] else words[entry["phase"]]
    return [
        entry["series"],
        state,
        figure("value"),
        figure("reference"),
        noise(),
        "" if entry["evidence"] is None else f"{max(entry['evidence'], 0.0):.1f}",
        number("needed", 1),
    ]


def _moment(text: str) -> str:
    return text[:16].replace("T", " ") + " UTC"
