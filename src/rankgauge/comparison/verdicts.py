"""Verdicts, advice and remarks of a comparison in words, English and Chinese."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from rankgauge.comparison.groups import out_of_order
from rankgauge.evaluation.notes import Note, notes_of
from rankgauge.words import Language

if TYPE_CHECKING:
    from rankgauge.comparison.comparison import Comparison
    from rankgauge.comparison.rows import Row

__all__ = ["VERDICTS", "notes_of_comparison", "row_sentence", "summary_of", "uncertainty_notes"]

_FEW_QUERIES = 25

VERDICTS: dict[Language, dict[str, str]] = {
    "en": {"better": "better", "worse": "worse", "equivalent": "equivalent", "inconclusive": "inconclusive"},
    "zh": {"better": "更好", "worse": "更差", "equivalent": "等效", "inconclusive": "无法判断"},
}

# What the tests that are not about means are about.
_LOCATIONS = {"wilcoxon": ("pseudo-median", "伪中位数"), "sign": ("median", "中位数")}

_TEXTS: dict[str, tuple[str, str]] = {
    "better": (
        "{measure}: {b} is better than {a} by {difference} {interval}, corrected p {p}",
        "{measure}：{b} 优于 {a}，差值 {difference} {interval}，校正 p {p}",
    ),
    "worse": (
        "{measure}: {b} is worse than {a}: {difference} {interval}, corrected p {p}",
        "{measure}：{b} 不如 {a}，差值 {difference} {interval}，校正 p {p}",
    ),
    "not by means": (
        "{measure}: {b} is {verdict} than {a} by the {test} test, corrected p {p}: the {what} of the queries that "
        "differ lies in {interval}; the mean difference is {difference}",
        "{measure}：按 {test} 检验，{b} 比 {a} {verdict}，校正 p {p}：得分不同的查询的{what}在 {interval} 之内；"
        "平均差值为 {difference}",
    ),
    "equivalent": (
        "{measure}: {a} and {b} are equivalent: the difference of {difference} {interval} lies within the margin",
        "{measure}：{a} 与 {b} 等效，差值 {difference} {interval} 在容许范围之内",
    ),
    "identical": (
        "{measure}: {a} and {b} score the same on every one of {n} queries",
        "{measure}：{a} 与 {b} 在全部 {n} 个查询上得分相同",
    ),
    "all identical": (
        "{a} and {b} score the same on every one of {n} queries. Choose by cost or speed.",
        "{a} 与 {b} 在全部 {n} 个查询上得分相同。可按成本或速度选择。",
    ),
    "unresolved": (
        "{n} comparisons need at least {least} draws before any can be significant after the correction, and "
        "{samples} were drawn: draw more (samples), or correct by max-t",
        "{n} 个比较至少需要 {least} 次抽样，校正后才可能有显著差异，而只抽样了 {samples} 次："
        "请增加抽样次数（samples），或改用 max-t 校正",
    ),
    "inconclusive": (
        "{measure}: cannot tell {a} and {b} apart with this test set: {difference} {interval}, corrected p {p}; "
        "it could have found a difference of {detectable} or more",
        "{measure}：用这个测试集无法区分 {a} 与 {b}，差值 {difference} {interval}，校正 p {p}；"
        "可检出的最小差值约为 {detectable}",
    ),
    "no difference": (
        "{measure}: cannot tell {a} and {b} apart with this test set: {difference} {interval}, corrected p {p}; "
        "with {n} queries no difference could be called real",
        "{measure}：用这个测试集无法区分 {a} 与 {b}，差值 {difference} {interval}，校正 p {p}；"
        "只有 {n} 个查询，任何差值都无法确认",
    ),
    "no test": (
        "{measure}: {a} and {b} have {n} queries in common, too few to test a difference",
        "{measure}：{a} 与 {b} 只有 {n} 个共同查询，无法检验差值",
    ),
    "win": (
        "{b} beats {a} on {names}{other}. Take {b}.",
        "{b} 在 {names} 上优于 {a}{other}。建议采用 {b}。",
    ),
    "lose": (
        "{b} falls behind {a} on {names}{other}. Keep {a}.",
        "{b} 在 {names} 上不如 {a}{other}。建议保留 {a}。",
    ),
    "mixed": (
        "{b} is better than {a} on {wins} and worse on {losses}. Which matters more is for you to decide.",
        "{b} 在 {wins} 上优于 {a}，在 {losses} 上不如 {a}。取舍取决于哪个指标更重要。",
    ),
    "against the mean": (
        "{b} and {a} differ on {names} by the {test} test, but their means point the other way: many small changes on "
        "one side, a few large ones on the other. Look at the queries that changed most before you decide.",
        "按 {test} 检验，{b} 与 {a} 在 {names} 上有差别，但均值的方向相反：一边是许多小的变化，另一边是少数大的变化。"
        "请先查看变化最大的查询再作决定。",
    ),
    "same": (
        "{a} and {b} are equivalent on {names}: no difference beyond {margin}. Choose by cost or speed.",
        "{a} 与 {b} 在 {names} 上等效，差值不超过 {margin}。可按成本或速度选择。",
    ),
    "open": (
        "This test set cannot tell {a} and {b} apart{other}. That is no proof that they are equal: with {n} queries it "
        "finds differences of about {detectable} ({measure}) or more. Judge more queries, or decide on other grounds.",
        "这个测试集无法区分 {a} 与 {b}{other}。这并不说明两者相同：{n} 个查询只能检出约 {detectable}（{measure}）"
        "以上的差值。请增加有标注的查询，或依据其他因素决定。",
    ),
    "open, no size": (
        "This test set cannot tell {a} and {b} apart{other}. With {n} queries it could not tell any two systems apart. "
        "Judge more queries.",
        "这个测试集无法区分 {a} 与 {b}{other}。{n} 个查询无法区分任何两个系统，请增加有标注的查询。",
    ),
    "rest same": ("; equivalent on {names}", "；在 {names} 上等效"),
    "rest open": ("; on {names} it cannot be told", "；在 {names} 上无法判断"),
    "groups": (
        "By {measure} over {n} queries: {groups}. Systems that share a letter cannot be told apart.",
        "按 {measure}（{n} 个查询）：{groups}。字母相同的系统无法区分。",
    ),
    "ranks": (
        "By {measure} over {n} queries: {groups}. There are too many groups for letters, so the numbers are the ranks "
        "that each system can hold: behind all that are significantly better, before all that are significantly worse.",
        "按 {measure}（{n} 个查询）：{groups}。分组太多，无法用字母表示，因此括号内是各系统可能的名次："
        "排在显著更好的系统之后、显著更差的系统之前。",
    ),
    "nothing in common": (
        "By {measure}: no query has a score of every system, so the systems cannot be put in order.",
        "按 {measure}：没有一个查询同时具有所有系统的得分，因此无法给系统排序。",
    ),
    "not in the order of means": (
        "{measure}: some verdicts of the {test} test contradict the means, and the order of the systems follows the "
        "verdicts",
        "{measure}：{test} 检验的部分结论与均值的高低相反，系统次序以结论为准",
    ),
    "circle": (
        "{measure}: by the {test} test some systems beat each other in a circle, so no order of the systems agrees "
        "with all verdicts",
        "{measure}：按 {test} 检验，部分系统循环相胜，因此没有与全部结论一致的次序",
    ),
    "baseline": (
        "Against {a} ({measure}): {better}; {worse}; {rest}.",
        "与 {a} 相比（{measure}）：{better}；{worse}；{rest}。",
    ),
    "are better": ("better: {names}", "更好：{names}"),
    "are worse": ("worse: {names}", "更差：{names}"),
    "are open": ("not told apart or equivalent: {names}", "无法区分或等效：{names}"),
    "none": ("none", "无"),
    "lower": ("smaller is better: {names}", "以下指标越小越好：{names}"),
    "all signs": (", all {n} assignments of signs", "，全部 {n} 种符号组合"),
    "few": (
        "few queries ({n}): only large differences can be found, and the mean leans on each of them",
        "查询较少（{n} 个）：只能检出较大的差值，且每个查询对均值影响很大",
    ),
    "left out": (
        "{measure}: {n} queries without a score of both {a} and {b} are left out of their comparison",
        "{measure}：{n} 个查询缺少 {a} 或 {b} 的得分，未计入比较",
    ),
    "left out of all": (
        "{measure}: {n} queries without a score of every system are left out of all comparisons and groups, which are "
        "about the other {rest}; the table of means takes each system's own queries",
        "{measure}：{n} 个查询并非所有系统都有得分，未计入任何比较与分组，两者都基于其余 {rest} 个查询；"
        "均值表则基于各系统自己的查询",
    ),
    "family": (
        "p-values are corrected for the {n} comparisons shown ({correction}), and each interval with its own p-value; "
        "level {share} %, test: {test}{draws}",
        "p 值已按所示的 {n} 个比较校正（{correction}），各区间随其 p 值校正；水平 {share} %，检验：{test}{draws}",
    ),
    "one": (
        "one comparison, so there is nothing to correct for; level {share} %, test: {test}{draws}",
        "只有一个比较，无需校正；水平 {share} %，检验：{test}{draws}",
    ),
    "not a mean": (
        "the {test} test is no test of means: its p-value and interval are about the {what} of the queries that differ",
        "{test} 检验并不检验均值：其 p 值与区间针对得分不同的查询的{what}",
    ),
    "unjudged flips": (
        "{measure}, {a} and {b}: labels of the unjudged documents could put the difference anywhere in {bounds}, so "
        "they could name another winner",
        "{measure}，{a} 与 {b}：未标注文档的等级可使差值落在 {bounds} 之内的任何位置，胜者可能改变",
    ),
    "unjudged may flip": (
        "{measure}, {a} and {b}: the difference lies in {bounds} whatever the labels of the unjudged documents; that "
        "is an outer bound, so whether they could name another winner is not known",
        "{measure}，{a} 与 {b}：无论未标注文档等级如何，差值都在 {bounds} 之内；这只是外界，胜者是否可能改变尚不可知",
    ),
    "ties flip": (
        "{measure}, {a} and {b}: other orders of tied documents put the difference in {bounds}, so ties could name "
        "another winner",
        "{measure}，{a} 与 {b}：同分文档的其他次序可使差值落在 {bounds} 之内，胜者可能改变",
    ),
    "draws": (", {n} draws, seed {seed}", "，{n} 次抽样，种子 {seed}"),
    "uncorrected": (
        "nothing is corrected for the {n} comparisons shown: one in {one} true zeros would look real",
        "所示 {n} 个比较未作多重校正：每 {one} 个并不存在的差异就会有一个看似真实",
    ),
}


def _say(key: str, language: Language, **values: object) -> str:
    return _TEXTS[key][0 if language == "en" else 1].format(**values)


def _listed(names: list[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(names)


def _related_p(p: float | None) -> str:
    """= 0.0312, or < 0.0001."""
    return shown_p(p) if p is not None and p < 0.0001 else f"= {shown_p(p)}"


def shown_p(p: float | None) -> str:
    if p is None:
        return "-"
    return f"{p:.4f}" if p >= 0.0001 else "< 0.0001"


def shown_bounds(low: float | None, high: float | None, digits: int = 4) -> str:
    """[low, high]; an open end is an infinity sign."""
    ends = ["-∞" if low is None or low == -math.inf else f"{low:+.{digits}f}"]
    ends.append("∞" if high is None or high == math.inf else f"{high:+.{digits}f}")
    return f"[{ends[0]}, {ends[1]}]"


def row_sentence(row: Row, language: Language) -> str:
    interval = "" if row.interval is None else shown_bounds(row.interval.low, row.interval.high)
    key: str = row.verdict
    if row.p_value is None:
        key = "no test"
    elif row.ties == row.queries:
        key = "identical"
    elif row.verdict == "inconclusive" and row.detectable is None:
        key = "no difference"
    test = next((name for name in _LOCATIONS if row.interval is not None and row.interval.method.startswith(name)), "")
    if test and row.verdict in ("better", "worse"):
        key = "not by means"
    return _say(
        key,
        language,
        measure=row.measure,
        a=row.a,
        b=row.b,
        difference=f"{row.difference:+.4f}",
        interval=interval,
        p=_related_p(row.p_corrected),
        detectable="-" if row.detectable is None else f"{row.detectable:.4f}",
        n=row.queries,
        verdict=VERDICTS[language][row.verdict],
        test=test,
        what=_LOCATIONS[test][0 if language == "en" else 1] if test else "",
    )


def summary_of(comparison: Comparison, language: Language) -> list[str]:
    """One paragraph for two systems; for more, the groups or the standing against the baseline, by measure."""
    if len(comparison.pairs) == 1:
        return [_advice(comparison, language)]
    if comparison.all_pairs:
        return [_standings(comparison, measure.name, language) for measure in comparison.measures]
    paragraphs = []
    alike: dict[tuple[str, ...], list[str]] = {}
    for measure in comparison.measures:
        found = tuple(row.verdict for row in comparison.rows if row.measure == measure.name)
        alike.setdefault(found, []).append(measure.name)
    for names in alike.values():  # measures that say the same are named together
        rows = [row for row in comparison.rows if row.measure == names[0]]
        by: Mapping[str, list[str]] = {
            "are better": [row.b for row in rows if row.verdict == "better"],
            "are worse": [row.b for row in rows if row.verdict == "worse"],
            "are open": [row.b for row in rows if row.verdict in ("equivalent", "inconclusive")],
        }
        said = {
            key: _say(key, language, names=_listed(systems, language) or _say("none", language))
            for key, systems in by.items()
        }
        paragraphs.append(
            _say(
                "baseline",
                language,
                a=comparison.baseline,
                measure=_listed(names, language),
                better=said["are better"],
                worse=said["are worse"],
                rest=said["are open"],
            )
        )
    return paragraphs


def _standings(comparison: Comparison, measure: str, language: Language) -> str:
    """The systems in their order, with letters or ranks."""
    found = comparison.groups.get(measure)
    if found is None:
        return _say("nothing in common", language, measure=measure)
    groups = _listed([f"{own.system} {own.mean:.4f} ({own.label})" for own in found], language)
    n = next(row.queries for row in comparison.rows if row.measure == measure)
    return _say("groups" if found[0].letters else "ranks", language, measure=measure, groups=groups, n=n)


def _advice(comparison: Comparison, language: Language) -> str:
    """What to do with two systems."""
    rows = comparison.rows
    a, b = comparison.pairs[0]
    names = {
        verdict: [row.measure for row in rows if row.verdict == verdict]
        for verdict in ("better", "worse", "equivalent", "inconclusive")
    }
    same, still_open = names["equivalent"], names["inconclusive"]
    other = _say("rest same", language, names=_listed(same, language)) if same else ""
    unknown = _say("rest open", language, names=_listed(still_open, language)) if still_open else ""
    lower = {measure.name: measure.lower_is_better for measure in comparison.measures}
    against = [
        row.measure
        for row in rows
        if row.verdict in ("better", "worse")
        and row.difference
        and (row.verdict == "better") != ((row.difference < 0) == lower[row.measure])
    ]
    if against:
        test = comparison.settings.test
        return _say("against the mean", language, a=a, b=b, names=_listed(against, language), test=test)
    if names["better"] and names["worse"]:
        return _say(
            "mixed",
            language,
            a=a,
            b=b,
            wins=_listed(names["better"], language),
            losses=_listed(names["worse"], language),
        )
    if names["better"] or names["worse"]:
        key, found = ("win", names["better"]) if names["better"] else ("lose", names["worse"])
        return _say(key, language, a=a, b=b, names=_listed(found, language), other=other + unknown)
    if all(row.ties == row.queries for row in rows):
        return _say("all identical", language, a=a, b=b, n=max(row.queries for row in rows))
    if not still_open:
        margin = f"{comparison.settings.margin:g}"
        return _say("same", language, a=a, b=b, names=_listed(same, language), margin=margin)
    row = next(row for row in rows if row.verdict == "inconclusive")
    key = "open" if row.detectable is not None else "open, no size"
    shown = "" if row.detectable is None else f"{row.detectable:.3f}"
    return _say(key, language, a=a, b=b, other=other, n=row.queries, detectable=shown, measure=row.measure)


def uncertainty_notes(comparison: Comparison, language: Language = "en") -> list[Note]:
    """Warnings where unjudged documents or tied orders could make the other system the winner."""
    ranges, _ = comparison.unjudged
    notes = []
    for key, rows in (("unjudged flips", ranges), ("ties flip", comparison.tied.rows)):
        for row in rows:
            if row.changes_winner:
                bounds = shown_bounds(row.low, row.high)
                said = key if getattr(row, "exact", True) else "unjudged may flip"
                text = _say(said, language, measure=row.measure, a=row.a, b=row.b, bounds=bounds)
                notes.append(Note("warning", key.replace(" ", "_"), text))
    return notes


def notes_of_comparison(comparison: Comparison, language: Language = "en") -> list[Note]:
    """Remarks on the comparison, then those on the scores that all or some systems share."""
    notes: list[Note] = []

    def say(level: Literal["info", "warning"], key: str, **values: object) -> None:
        notes.append(Note(level, key, _say(key, language, **values)))

    settings, family = comparison.settings, sum(row.p_value is not None for row in comparison.rows)
    most = max((row.queries for row in comparison.rows), default=0)
    draws = _say("draws", language, n=settings.samples, seed=settings.seed) if settings.samples else ""
    if settings.test == "randomization" and settings.samples and most < 60 and 2**most <= settings.samples:
        draws = _say("all signs", language, n=2**most)
    least = settings.least_samples(family)
    if settings.samples and settings.samples < min(least, 2 ** min(most, 64)):
        say("warning", "unresolved", n=family, least=least, samples=settings.samples)
    if settings.correction == "none" and family > 1:
        say("warning", "uncorrected", n=family, one=round(1 / settings.alpha))
    share = f"{100 * (1 - settings.alpha):g}"
    say(
        "info",
        "family" if family > 1 else "one",
        n=family,
        correction=settings.correction,
        share=share,
        test=settings.test,
        draws=draws,
    )
    if settings.test in ("wilcoxon", "sign"):
        what = _LOCATIONS[settings.test][0 if language == "en" else 1]
        say("warning", "not a mean", test=settings.test, what=what)
    for english, chinese in comparison.remarks:
        notes.append(Note("warning", "remark", english if language == "en" else chinese))
    smaller = [measure.name for measure in comparison.measures if measure.lower_is_better]
    if smaller:
        say("info", "lower", names=_listed(smaller, language))
    counts = [row.queries for row in comparison.rows]
    if counts and 2 <= min(counts) < _FEW_QUERIES:
        say("info", "few", n=min(counts))
    seen: dict[str, int] = {}  # queries left out of all pairs, by measure
    for row in comparison.rows:
        left = len(comparison.queries) - row.queries
        if comparison.all_pairs and len(comparison.pairs) > 1:
            seen[row.measure] = left
        elif left:
            say("warning", "left out", measure=row.measure, a=row.a, b=row.b, n=left)
    for measure, left in seen.items():
        if left:
            say("warning", "left out of all", measure=measure, n=left, rest=len(comparison.queries) - left)
        against, circle = out_of_order(comparison, measure)
        if against or circle:
            key = "circle" if circle else "not in the order of means"
            say("warning", key, measure=measure, test=settings.test)
    shared: dict[tuple[Literal["info", "warning"], str, str], list[str]] = {}
    for evaluation in comparison.evaluations:
        for note in notes_of(evaluation, language):
            if note.key not in ("few", "only_relevant"):  # said of the comparison itself
                shared.setdefault((note.level, note.key, note.text), []).append(evaluation.name)
    for (mark, key, text), names in shared.items():
        who = "" if len(names) == len(comparison.evaluations) else f"{_listed(names, language)}: "
        notes.append(Note(mark, key, f"{who}{text}"))
    return notes
