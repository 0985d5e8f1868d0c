"""What the live figures of a record say: who is on the front of quality and latency, what a tuned version is worth."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rankgauge.retrievers.answers import shortened
from rankgauge.retrievers.reasons import translated
from rankgauge.words import Language

__all__ = [
    "WORDS",
    "calls_sentences",
    "failed_versions",
    "figure",
    "front_of",
    "left_out",
    "live_notes",
    "milliseconds",
    "parameters_text",
    "scored",
    "served",
    "shown_value",
    "sweep_sentences",
    "sweeps_of",
    "varied",
]

Record = Mapping[str, Any]
_TAIL = 100
"""With fewer calls than these the 99th percentile lies between the two slowest ones."""

_FAILED = 10
"""Versions without a score that are named one by one."""

WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "colon": ": ",
        "comma": ", ",
        "warning": "warning",
        "calls": "Latency and throughput beside quality",
        "sweep": "Versions of {system}",
        "system": "system",
        "version": "version",
        "mark": "mark",
        "best": "best",
        "front": "front",
        "rate": "answers/s",
        "concurrency": "concurrency",
        "timed": "timed calls",
        "failed": "failed",
        "repeated": "repeated calls",
        "cached": "from the cache",
        "recall": "ANN recall",
        "left_out": "left out: {reason}",
        "tail": "p99 of fewer than {n} timed calls tells little more than the slowest call.",
        "unbeaten": "By the means of {measure} and p50 alone, no other system is both better and faster than: {names}.",
        "untimed": "{names}: all answers came from the cache, so there is no latency; --fresh asks anew.",
        "only": "Version of {system} by {measure}: {best} ({parameters}) with {mean}; there is no other.",
        "winner": "Best of {n} versions of {system} by {measure}: {best} ({parameters}) with {mean}.",
        "held": "On queries that had no part in choosing it, the chosen version scores {mean}: about {optimism} of the "
        "best version's score was luck.",
        "held_well": "On queries that had no part in choosing it, the chosen version scores {mean}: no luck in the "
        "choice can be seen.",
        "held_interval": "{share} % confidence interval of {best}'s true mean, its choice as the best taken into "
        "account: [{low}, {high}].",
        "not_held": "No queries were held out, so the best version's score is partly luck, nobody knows how much.",
        "chosen": "Chosen {folds} times, each time without one part of the queries: {votes}.",
        "on_front": "No other version is both better and faster than: {names}.",
        "timed_before": "Timed in an earlier start, at the same concurrency: {names}.",
        "failed_title": "Not every version could be evaluated.",
        "failed_version": "left out: {label}: {reason}",
        "failed_more": "left out: {n} more versions, all in the record",
    },
    "zh": {
        "colon": "：",
        "comma": "、",
        "warning": "警告",
        "calls": "延迟与吞吐量（与质量并列）",
        "sweep": "{system} 的各个版本",
        "system": "系统",
        "version": "版本",
        "mark": "标记",
        "best": "最佳",
        "front": "前沿",
        "rate": "每秒应答",
        "concurrency": "并发",
        "timed": "计时调用",
        "failed": "失败",
        "repeated": "重试次数",
        "cached": "来自缓存",
        "recall": "ANN 召回率",
        "left_out": "未计入：{reason}",
        "tail": "计时调用少于 {n} 次时，p99 几乎只反映最慢的一次调用。",
        "unbeaten": "仅就 {measure} 的均值与 p50 而言，没有其他系统比它们既更好又更快：{names}。",
        "untimed": "{names}：全部应答来自缓存，因此没有延迟数据；--fresh 会重新请求。",
        "only": "{system} 只有一个版本 {best}（{parameters}），{measure} 得分 {mean}。",
        "winner": "{system} 的 {n} 个版本按 {measure} 比较，最佳为 {best}（{parameters}），得分 {mean}。",
        "held": "在未参与选择的查询上，选出的版本得分为 {mean}：最佳版本的得分中约有 {optimism} 出于运气。",
        "held_well": "在未参与选择的查询上，选出的版本得分为 {mean}：看不出选择中有运气成分。",
        "held_interval": "{best} 真实均值的 {share} % 置信区间（已计入“选出最佳”的影响）：[{low}, {high}]。",
        "not_held": "没有留出查询，因此最佳版本的得分中有一部分出于运气，多少不得而知。",
        "chosen": "每次去掉一份查询，共选择 {folds} 次：{votes}。",
        "on_front": "没有其他版本比它们既更好又更快：{names}。",
        "timed_before": "以下版本的计时来自之前的运行（并发相同）：{names}。",
        "failed_title": "有版本未能评测。",
        "failed_version": "未计入：{label}：{reason}",
        "failed_more": "未计入：另有 {n} 个版本，详见记录",
    },
}


def served(record: Record) -> bool:
    """Whether live systems were asked for this record."""
    return any(system.get("calls") for system in record["systems"])


def sweeps_of(record: Record) -> list[Mapping[str, Any]]:
    """The sweeps of a record that tried at least one version."""
    found = [*(record.get("sweeps") or []), *([record["sweep"]] if record.get("sweep") else [])]
    return [sweep for sweep in found if sweep["versions"]]


def figure(value: float | None) -> str:
    """Three digits that count, never as a power of ten."""
    if value is None:
        return "-"
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:#.3g}" if size >= 0.0001 else f"{value:.4f}"


def milliseconds(seconds: float | None) -> str:
    return figure(None if seconds is None else 1000 * seconds)


def front_of(points: Sequence[tuple[float, float | None]], *, lower: bool) -> list[bool]:
    """Which (quality, latency) no other one beats: none is at least as good in both and better in one."""
    sign = -1 if lower else 1

    def beaten(quality: float, seconds: float) -> bool:
        return any(
            p50 is not None and sign * other >= sign * quality and p50 <= seconds and (other, p50) != (quality, seconds)
            for other, p50 in points
        )

    return [seconds is not None and not beaten(quality, seconds) for quality, seconds in points]


def shown_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parameters_text(parameters: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={shown_value(value)}" for name, value in parameters.items())


def varied(sweep: Record) -> list[str]:
    """Names of the parameters that differ between versions."""
    names = dict.fromkeys(name for version in sweep["versions"] for name in version["parameters"])
    return [n for n in names if len({shown_value(version["parameters"].get(n)) for version in sweep["versions"]}) > 1]


def live_notes(record: Record, language: Language) -> list[tuple[str, str]]:
    """Remarks on the calls, each with the system it is about."""
    return [
        (system["name"], text)
        for system in record["systems"]
        for text in ((system.get("calls") or {}).get("notes") or {}).get(language) or []
    ]


def left_out(record: Record, language: Language) -> list[str]:
    """Systems that could not be evaluated, with the reason."""
    words = WORDS[language]
    return [
        words["left_out"].format(
            reason=shortened(
                translated(
                    reason if reason.startswith(f"{name}:") else f"{name}{words['colon']}{reason}",
                    language,
                )
            )
        )
        for name, reason in (record.get("invalid") or {}).items()
    ]


def failed_versions(sweep: Record, language: Language) -> list[str]:
    """Versions of a sweep without a score, with the reason: the first ones, and how many more there are."""
    words, failed = WORDS[language], sweep.get("failed") or {}
    lines = [
        words["failed_version"].format(label=label, reason=shortened(translated(reason, language)))
        for label, reason in list(failed.items())[:_FAILED]
    ]
    more = len(failed) - len(lines)
    return lines + ([words["failed_more"].format(n=more)] if more else [])


def _fastest_first(entries: Sequence[tuple[float, str]], words: Mapping[str, str]) -> str:
    return words["comma"].join(f"{name} ({milliseconds(p50)} ms)" for p50, name in sorted(entries))


def calls_sentences(record: Record, language: Language) -> list[str]:
    """What to keep in mind when the latencies are read."""
    words, lines = WORDS[language], []
    asked = {system["name"]: system["calls"] for system in record["systems"] if system.get("calls")}
    cached = [name for name, calls in asked.items() if calls["latency"] is None and calls["cached"]]
    if cached:
        lines.append(words["untimed"].format(names=words["comma"].join(cached)))
    measure = next((measure for measure in record["measures"] if measure["aggregate"] != "sum"), None)
    timed = [system for system in record["systems"] if (system.get("calls") or {}).get("latency")]
    if measure is not None and len(timed) > 1:
        points = [(s["means"][measure["name"]]["value"], s["calls"]["latency"]["p50"]) for s in timed]
        front = front_of(points, lower=measure.get("lower_is_better", False))
        unbeaten = [(p50, s["name"]) for (_, p50), s, holds in zip(points, timed, front, strict=True) if holds]
        lines.append(words["unbeaten"].format(measure=measure["name"], names=_fastest_first(unbeaten, words)))
    if any(calls["latency"] and calls["latency"]["count"] < _TAIL for calls in asked.values()):
        lines.append(words["tail"].format(n=_TAIL))
    return lines


def scored(mean: float, interval: Mapping[str, Any] | None, digits: int) -> str:
    text = f"{mean:.{digits}f}"
    return text if not interval else f"{text} [{interval['low']:.{digits}f}, {interval['high']:.{digits}f}]"


def sweep_sentences(sweep: Record, language: Language, digits: int = 4) -> list[str]:
    """The best version, what the choice is worth on other queries, and the versions on the front."""
    words, versions, held = WORDS[language], sweep["versions"], sweep["held_out"]
    best = next(version for version in versions if version["label"] == sweep["best"])
    lines = [
        words["winner" if len(versions) > 1 else "only"].format(
            n=len(versions),
            system=sweep["system"],
            measure=sweep["measure"],
            best=best["label"],
            parameters=parameters_text(best["parameters"]),
            # The interval of the best version alone does not hold: the version was chosen because its mean was high.
            mean=scored(best["mean"], None if len(versions) > 1 else best["interval"], digits),
        )
    ]
    if held is None:
        lines += [words["not_held"]] if len(versions) > 1 else []
    else:
        luck = sweep["optimism"] * (-1 if sweep.get("lower_is_better") else 1)
        key = "held" if luck >= 0.5 * 10**-digits else "held_well"
        lines.append(words[key].format(mean=f"{held['mean']:.{digits}f}", optimism=f"{luck:.{digits}f}"))
        if bounds := held["interval"]:
            ends = {end: f"{bounds[end]:.{digits}f}" for end in ("low", "high")}
            lines.append(words["held_interval"].format(best=best["label"], share=f"{100 * bounds['level']:g}", **ends))
        votes = Counter(f"V{number}" for number in held["chosen"]).most_common()
        shown = words["comma"].join(f"{n} × {label}" for label, n in votes)
        lines.append(words["chosen"].format(folds=held["folds"], votes=shown))
    front = [(v["p50"], v["label"]) for v in versions if v["on_front"] and v["p50"] is not None]
    if front and len(versions) > 1:
        lines.append(words["on_front"].format(names=_fastest_first(front, words)))
    before = [version["label"] for version in versions if version.get("timed_before")]
    if before:
        lines.append(words["timed_before"].format(names=words["comma"].join(before)))
    return lines
