"""Records to draw and print: the bundled example, as files and live, a hostile one and a large one.

They are made as JSON holds them, so that a test can change any part; `made` gives the record itself.
"""

from __future__ import annotations

import copy
import itertools
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge import evaluate, load_run, load_testset
from rankgauge.evaluation import record_of
from rankgauge.record import InputFile, Record
from rankgauge.record.codec import decode
from rankgauge.record.record import name_parts

__all__ = ["comparison_record", "evaluation_record", "hostile_record", "large_record", "live_record", "made", "said"]

EXAMPLE = Path(str(files("rankgauge") / "example"))
MEASURES = ("nDCG@10", "R@10", "RR")
TAGS = ("files", "text", "dates and time", "network", "子进程")


def made(record: dict[str, Any]) -> Record:
    """The record; it may say of means what its scores do not."""
    name_parts()
    return decode(copy.deepcopy(record), Record)


def said(text: str, level: str = "info") -> dict[str, Any]:
    """A note that says just this, in every language."""
    return {"key": "report.list", "parameters": {"items": text}, "level": level}


def evaluation_record(*systems: str) -> dict[str, Any]:
    """The example's systems, scored."""
    scored = [
        evaluate(EXAMPLE / "testset.json", EXAMPLE / f"{name}.run", MEASURES, name=name)
        for name in systems or ("bm25", "hybrid")
    ]
    inputs = {"judgments": InputFile("testset.json", "0" * 64)}
    return record_of(scored, inputs=inputs, provenance=False).to_dict()


@cache
def _compared() -> dict[str, Any]:
    record = evaluation_record()
    testset = load_testset(EXAMPLE / "testset.json")
    texts = {query.id: query.text for query in testset}
    grades = {query.id: dict(query.grades) for query in testset}
    runs = {name: load_run(EXAMPLE / f"{name}.run").to_dict() for name in ("bm25", "hybrid")}
    tags = {query: [TAGS[i % 5]] for i, query in enumerate(record["queries"])}
    record |= {"texts": texts, "tags": tags}
    _add_comparison(record, [("bm25", "hybrid")])
    record["lists"] = {
        query: {
            name: [
                {"doc": doc, "score": score, "grade": grades[query].get(doc, 0 if i % 3 else None)}
                for i, (doc, score) in enumerate(sorted(run[query].items(), key=lambda item: -item[1])[:10])
            ]
            for name, run in runs.items()
        }
        for query in record["queries"][:-1]
    }
    record["relevant"] = {
        query: {"count": len(own), "grades": own}
        for query in record["lists"]
        if (own := {doc: grade for doc, grade in grades[query].items() if grade > 0})
    }
    record["documents"] = {
        doc: f"The title of {doc}\nWhat {doc} is about."
        for query in record["lists"]
        for doc in (*runs["bm25"][query], *grades[query])
    }
    return record


def comparison_record() -> dict[str, Any]:
    """The example's two systems, compared: a record of the shape that the command writes; the last query's lists were
    left out."""
    return copy.deepcopy(_compared())


def live_record() -> dict[str, Any]:
    """The comparison as if both systems had been asked, another had failed, and one had been swept."""
    record = comparison_record()
    for system, p50, failed in zip(record["systems"], (0.0021, 0.0342), ([], ["q03"]), strict=True):
        system["calls"] = {
            "k": 10,
            "concurrency": 4,
            "latency": {"count": 30 - len(failed), "concurrency": 4, "mean": 1.2 * p50, "p50": p50}
            | {"p95": 2 * p50, "p99": 3 * p50},
            "throughput": 3 / p50,
            "cached": 0,
            "failed": failed,
            "errors": {"TimeoutError: 30 s": 1} if failed else {},
            "notes": [said("1 of 30 queries failed", "warning")] if failed else [],
        }
    record["invalid"] = {"dense": said("RuntimeError: no such index")}
    record["sweeps"] = [_sweep()]
    return record


def _sweep() -> dict[str, Any]:
    """Six settings: the third is slower and no better than the second, the fifth is the best."""
    means = (0.35, 0.46, 0.46, 0.52, 0.55, 0.54)
    seconds = (0.0008, 0.0016, 0.0031, 0.0062, 0.0118, 0.0240)
    versions = [
        {"number": i + 1, "parameters": {"ef_search": 2 ** (i + 2), "index": "hnsw"}}
        | {"mean": mean, "interval": {"low": mean - 0.1, "high": mean + 0.1, "level": 0.95, "method": "t"}}
        | {"p50": p50, "p95": 1.7 * p50, "throughput": 1 / p50, "ann_recall": 1 - 0.6 ** (i + 1)}
        | {"on_front": i not in (2, 5)}
        for i, (mean, p50) in enumerate(zip(means, seconds, strict=True))
    ]
    bounds = {"low": 0.43, "high": 0.63, "level": 0.95, "method": "t"}
    held = {"mean": 0.53, "interval": bounds, "folds": 5, "chosen": [5, 5, 6, 5, 4]}
    found = {"versions": versions, "best": "V5", "held_out": held}
    return {"system": "hybrid", "measure": "nDCG@10", "lower_is_better": False, **found}


def hostile_record(text: str) -> dict[str, Any]:
    """The live comparison with `text` in every place that comes from outside."""
    record = live_record()
    old_systems = [system["name"] for system in record["systems"]]
    queries = {query: f"{query}{text}" for query in record["queries"]}
    systems = {name: f"{name}{text}" for name in old_systems}
    systems |= {measure["name"]: f"{measure['name']}{text}" for measure in record["measures"]}

    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {renamed(key): renamed(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [renamed(entry) for entry in value]
        return queries.get(value, systems.get(value, value)) if isinstance(value, str) else value

    record = renamed(record)
    record["texts"] = {query: f"{text} {shown}" for query, shown in record["texts"].items()}
    record["tags"] = {query: [f"{tag}{text}" for tag in tags] for query, tags in record["tags"].items()}
    for lists in record["lists"].values():
        for entry in itertools.chain.from_iterable(lists.values()):
            entry["doc"] += text
    for entry in record["relevant"].values():
        entry["grades"] = {f"{doc}{text}": grade for doc, grade in entry["grades"].items()}
    record["documents"] = {f"{doc}{text}": f"{text}\n{shown}{text}" for doc, shown in record["documents"].items()}
    for entry in record["comparison"]["slices"]:
        entry["tag"] += text
    record["comparison"]["notes"].append(said(text, "warning"))
    record["invalid"] = {f"dense{text}": said(text)}
    for system in record["systems"]:
        system["notes"].append(said(text, "warning"))
        system["calls"] |= {"notes": [said(text)], "errors": {text: 1}}
    for version in record["sweeps"][0]["versions"]:
        version["parameters"] = {f"ef{text}": version["number"], f"index{text}": text}
    record["provenance"]["inputs"] = {f"run:{text}": {"path": text, "sha256": text}}
    return record


@cache
def _large(systems: int, queries: int, measures: int) -> dict[str, Any]:
    random = np.random.default_rng(7)
    record = comparison_record()
    names = [f"retriever-{i + 1:02d}" for i in range(systems)]
    ids = [f"{i * 37 + 1048585}" for i in range(queries)]
    scales = ["nDCG@10", "R@10", "RR", "AP", "P@10", "Success@5"][:measures]
    hard = random.normal(0, 1.2, queries)
    template = record["systems"][0]
    made = []
    for i, name in enumerate(names):
        per_query = {}
        for measure in scales:
            raw = 1 / (1 + np.exp(-(hard + random.normal(0.12 * i, 1, queries))))
            steps = {"R@10": 4, "P@10": 10, "Success@5": 1}.get(measure)
            per_query[measure] = (np.round(raw * steps) / steps if steps else raw).tolist()
        entry = copy.deepcopy(template) | {"name": name, "per_query": per_query, "counted": {}}
        entry["means"] = {m: _mean(values) for m, values in per_query.items()}
        made.append(entry)
    record |= {
        "systems": made,
        "queries": ids,
        "measures": [{**record["measures"][0], "name": name} for name in scales],
        "texts": {query: f"what is the answer to question number {query} of this set" for query in ids},
        "tags": {query: [TAGS[i % 5]] for i, query in enumerate(ids)},
        "lists": {},
        "relevant": {},
        "documents": {},
    }
    _add_comparison(record, list(itertools.combinations(names, 2)))
    groups = {m: sorted(made, key=lambda s: -s["means"][m]["value"]) for m in scales}
    record["comparison"]["groups"] = {
        m: [
            {"system": s["name"], "mean": s["means"][m]["value"], "letters": "abcdefgh"[i // 2 : i // 2 + 1 + i % 2]}
            | {"ranks": [i + 1, i + 1]}
            for i, s in enumerate(ranked)
        ]
        for m, ranked in groups.items()
    }
    return record


def large_record(systems: int = 10, queries: int = 7000, measures: int = 5) -> dict[str, Any]:
    """Made-up scores in quantity; not to be changed, for it is kept."""
    return _large(systems, queries, measures)


def _mean(values: list[float]) -> dict[str, Any]:
    array = np.asarray(values)
    half = 1.96 * float(array.std(ddof=1)) / len(values) ** 0.5
    bounds = {"low": float(array.mean()) - half, "high": float(array.mean()) + half, "level": 0.95, "method": "t"}
    return {"value": float(array.mean()), "interval": bounds, "queries": len(values)}


def _row(measure: str, a: str, b: str, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    d = y - x
    half = 1.96 * float(d.std(ddof=1)) / len(d) ** 0.5 if len(d) > 1 else None
    mean = float(d.mean())
    low, high = (None, None) if half is None else (mean - half, mean + half)
    verdict = "inconclusive"
    if low is not None and high is not None:
        verdict = "better" if low > 0 else "worse" if high < 0 else "inconclusive"
        verdict = "equivalent" if low > -0.01 and high < 0.01 else verdict
    return {
        "measure": measure,
        "a": a,
        "b": b,
        "mean_a": float(x.mean()),
        "mean_b": float(y.mean()),
        "difference": mean,
        "interval": {"low": low, "high": high, "level": 0.95, "method": "randomization"},
        "relative_change": mean / float(x.mean()) if x.mean() else None,
        "p_value": 0.0213,
        "p_corrected": 0.0001,
        "effect": mean / float(d.std(ddof=1)) if len(d) > 1 and d.any() else None,
        "wins": int((d > 0).sum()),
        "ties": int((d == 0).sum()),
        "losses": int((d < 0).sum()),
        "queries": len(d),
        "p_equivalent": 0.41,
        "detectable": 0.07,
        "verdict": verdict,
    }


def _add_comparison(record: dict[str, Any], pairs: list[tuple[str, str]]) -> None:
    scores = {s["name"]: {m: np.asarray(v) for m, v in s["per_query"].items()} for s in record["systems"]}
    measures = [measure["name"] for measure in record["measures"]]
    ids = record["queries"]
    rows, slices, changes = [], [], []
    for measure, (a, b) in itertools.product(measures, pairs):
        x, y = scores[a][measure], scores[b][measure]
        rows.append(_row(measure, a, b, x, y))
        order = np.argsort(x - y, kind="stable")
        listed = [
            {"query": ids[i], "a": float(x[i]), "b": float(y[i]), "difference": float(y[i] - x[i])} for i in order
        ]
        gained = [change for change in listed[:5] if change["difference"] > 0]
        lost = [change for change in listed[:-6:-1] if change["difference"] < 0]
        changes.append({"measure": measure, "a": a, "b": b, "gained": gained, "lost": lost})
        for tag in TAGS:
            mask = np.asarray([tag in record["tags"].get(query, ()) for query in ids])
            slices.append({"tag": tag, "row": _row(measure, a, b, x[mask], y[mask])})
    slices[0]["row"]["interval"]["low"] = None
    record["kind"] = "comparison"
    record["comparison"] = {
        "settings": {
            "test": "randomization",
            "correction": "holm",
            "alpha": 0.05,
            "equivalence_margin": 0.01,
            "seed": 0,
            "samples": 100000,
        },
        "baseline": None,
        "rows": rows,
        "groups": {
            m: [{"system": b, "mean": float(scores[b][m].mean()), "letters": "a", "ranks": [1, 2]} for b in pairs[0]]
            for m in measures
        },
        "changes": changes,
        "slices": slices,
        "agreement": [
            *(
                {"kind": "measures", "a": x, "b": y, "over": "systems", "of": "", "tau": 0.82}
                for x, y in itertools.combinations(measures, 2)
            ),
            *(
                {"kind": "systems", "a": a, "b": b, "over": "queries", "of": measures[0], "tau": 0.61}
                for a, b in pairs[:3]
            ),
        ],
        "unjudged": {
            "rows": [
                {"measure": m, "a": a, "b": b, "low": -0.04, "high": 0.21, "exact": i == 0, "documents": 41}
                | {"observed": 0.05}
                for i, m in enumerate(measures)
                for a, b in pairs[:1]
            ],
        },
        "tied": {
            "systems": [
                {"measure": measures[0], "system": a, "low": 0.47, "expected": 0.48, "high": 0.5, "observed": 0.48}
                for a in pairs[0]
            ],
            "rows": [
                {"measure": measures[0], "a": a, "b": b, "low": 0.01, "high": 0.08, "observed": 0.05}
                for a, b in pairs[:1]
            ],
        },
        "notes": list(record["systems"][0]["notes"]),
    }
