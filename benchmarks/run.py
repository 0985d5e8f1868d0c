"""`make bench`: rankgauge beside its peers, as ratios from one run. Nothing here is a test: machines differ."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import MEASURES

ROUNDS = 3
FOLDER = Path(__file__).parent / "data"
SHAPES = {
    "marco": "6,980 queries x 1,000 documents, 1 judged",
    "rag": "100,000 queries x 10 documents, 3 judged",
    "robust": "250 queries x 1,000 documents, 1,250 judged",
}
OWN = [str(Path(sys.executable).with_name("rankgauge")), "evaluate"]
ASKED = [part for name in MEASURES for part in ("-m", name)]
PEERS = ("pytrec_eval", "ir_measures", "ranx")
# (shape, peer): how many times faster than this peer is aimed at.
GOALS = {
    ("marco", "pytrec_eval"): 4,
    ("marco", "ir_measures"): 10,
    ("marco", "ranx"): 10,
    ("rag", "pytrec_eval"): 3,
    ("rag", "ir_measures"): 3,
    ("rag", "ranx"): 3,
    ("robust", "pytrec_eval"): 1,
    ("robust", "ir_measures"): 1,
    ("robust", "ranx"): 1,
}
DICTIONARY_GOALS = {"marco": 5, "rag": 1, "robust": 1.5}


@dataclass
class Cost:
    seconds: float
    megabytes: float


def measure(command: list[str]) -> Cost:
    """Wall time and peak memory of a whole process. This one stays small, for a child's peak starts at its parent's."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return Cost(seconds, usage.ru_maxrss / 1024)


def files(shape: str) -> list[str]:
    return [str(FOLDER / f"{shape}.qrels"), str(FOLDER / f"{shape}.run")]


def commands(shape: str) -> dict[str, list[str]]:
    peers = {peer: [sys.executable, "-m", "benchmarks.peers", peer, *files(shape)] for peer in PEERS}
    return {"rankgauge": [*OWN, *files(shape), *ASKED], **peers}


def whole_process(shape: str) -> dict[str, Cost]:
    """Best of several rounds in which all tools take turns."""
    best: dict[str, Cost] = {}
    for _ in range(ROUNDS):
        for tool, command in commands(shape).items():
            cost = measure(command)
            known = best.get(tool, cost)
            best[tool] = Cost(min(known.seconds, cost.seconds), max(known.megabytes, cost.megabytes))
    return best


def verdict(ratio: float, goal: float) -> str:
    return f"{ratio:5.1f}x (goal {goal:g}x{'' if ratio >= goal else ', MISSED'})"


def importing() -> dict[str, float]:
    def best(*command: str) -> float:
        return min(measure([sys.executable, "-c", *command]).seconds for _ in range(7))

    bare = best("pass")
    return {
        "import numpy": best("import numpy") - bare,
        "import rankgauge": best("import rankgauge") - bare,
        "import rankgauge; rankgauge.evaluate": best("import rankgauge; rankgauge.evaluate") - bare,
        "rankgauge --help": min(measure([OWN[0], "--help"]).seconds for _ in range(5)),
    }


def main() -> None:
    results: dict[str, object] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    }
    print(f"rankgauge and its peers on this machine ({results['machine']}), best of {ROUNDS} rounds\n")
    subprocess.run([sys.executable, "-m", "benchmarks.shapes"], check=True)
    print("Files, whole process, 5 measures: seconds, peak memory, and how many times faster rankgauge is")
    for shape, about in SHAPES.items():
        costs = whole_process(shape)
        own = costs["rankgauge"]
        print(f"\n  {shape}: {about}")
        for tool, cost in costs.items():
            ratio = "" if tool == "rankgauge" else verdict(cost.seconds / own.seconds, GOALS[shape, tool])
            print(f"    {tool:<12} {cost.seconds:7.2f} s {cost.megabytes:7.0f} MB  {ratio}")
        results[shape] = {tool: vars(cost) for tool, cost in costs.items()}

    print("\nDictionaries in memory, scoring only: seconds of pytrec_eval and rankgauge")
    for shape in SHAPES:
        command = [sys.executable, "-m", "benchmarks.peers", "--dictionaries", *files(shape)]
        timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for order, seconds in timed.items():
            ratio = seconds["pytrec_eval"] / seconds["rankgauge"]
            print(
                f"    {shape:<7} {order:<9} {seconds['pytrec_eval']:6.3f} {seconds['rankgauge']:6.3f}  "
                f"{verdict(ratio, DICTIONARY_GOALS[shape])}"
            )
        results[f"{shape} dictionaries"] = timed

    print("\n100,000 permutations over 6,980 queries x 5 measures x 10 pairs (goal: under 10 s)")
    command = [sys.executable, "-m", "benchmarks.comparisons"]
    timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    ratio = timed["ranx_microseconds"] / timed["microseconds"]
    print(f"    {timed['seconds']:.2f} s for {timed['rows']} rows, all of the comparison")
    print(
        f"    per permutation and row: {timed['microseconds']:.2f} microseconds, ranx's Fisher test "
        f"{timed['ranx_microseconds']:.0f}  {verdict(ratio, 100)}"
    )
    results["randomization"] = timed

    print("\nThe runner: own cost on a 1 ms retriever (goal: below 5 %), 32 calls at a time to a 20 ms endpoint (25x)")
    command = [sys.executable, "-m", "benchmarks.runner"]
    timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print("    " + json.dumps(timed, indent=2).replace("\n", "\n    "))
    results["runner"] = timed

    print("\nA history of 10,000 records (goals: list, show and trend under 1 s, storing one under 50 ms)")
    command = [sys.executable, "-m", "benchmarks.history"]
    timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    print("    " + json.dumps(timed, indent=2).replace("\n", "\n    "))
    results["history"] = timed

    print("\nLabels from 10 million impressions (goals: minutes, below 2 GB); the position-based model beside CLAX's")
    subprocess.run([sys.executable, "-m", "benchmarks.clicks", "write"], check=True, stdout=subprocess.DEVNULL)
    for ending in ("csv", "jsonl", "parquet"):
        log, labels = FOLDER / f"clicks_10000000.{ending}", FOLDER / "labels.jsonl"
        cost = measure([OWN[0], "testset", "clicks", str(log), "-o", str(labels)])
        size = log.stat().st_size / 1e6
        print(f"    {ending:<8} {size:6.0f} MB file: {cost.megabytes:5.0f} MB, {cost.seconds:.0f} s")
        results[f"clicks {ending}"] = vars(cost)
    for tool in ("own", "clax"):
        command = [sys.executable, "-m", "benchmarks.clicks", tool, "1000000"]
        timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        told = f"{timed['seconds']:6.1f} s, error of attraction {timed['error']:.4f}" if timed else "not installed"
        print(f"    {tool:<8} pbm on 1 million impressions: {told}")
        results[f"clicks {tool}"] = timed

    print("\nPeak memory of --stream (goal: below 400 MB whatever the length)")
    for label in ("marco", "marco_x4"):
        run = FOLDER / f"{label}.run"
        cost = measure([*OWN, files("marco")[0], str(run), *ASKED, "--stream"])
        print(f"    {run.stat().st_size / 1e6:6.0f} MB file: {cost.megabytes:5.0f} MB, {cost.seconds:.2f} s")
        results[f"stream {label}"] = vars(cost)

    print("\nStart-up, seconds beyond a bare interpreter (goals: import at most twice numpy's; --help under 0.5 s)")
    for what, seconds in importing().items():
        print(f"    {what:<40} {seconds:.3f}")
        results[what] = seconds
    Path(__file__).with_name("results.json").write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
