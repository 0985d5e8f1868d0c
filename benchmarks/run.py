"""`make bench`: rankgauge beside its peers, as ratios from one run. Nothing here is a test: machines differ.

`python -m benchmarks.run files sizes` runs some of the parts. Every run leaves one file in `benchmarks/results`, with
the facts about the machine, all figures, and which bars they met.
"""

from __future__ import annotations

import compileall
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rankgauge
from benchmarks import shuffled
from benchmarks.bars import Bars
from benchmarks.chart import bars_of, save_picture
from benchmarks.costs import ASKED, OWN, WITHOUT_NATIVE, Cost, best, machine, measure
from benchmarks.sizes import DISK, KINDS, ROWS, costs, rows_that_fit

__all__ = ["ASKED", "OWN", "measure"]

ROUNDS = 3
FOLDER = Path(__file__).parent / "data"
RESULTS = Path(__file__).parent / "results"
SHAPES = {
    "marco": "6,980 queries x 1,000 documents, 1 judged",
    "rag": "100,000 queries x 10 documents, 3 judged",
    "robust": "250 queries x 1,000 documents, 1,250 judged",
}
PEERS = ("pytrec_eval", "ir_measures", "ranx")
# How many times faster than each peer is aimed at.
FILE_BARS = {"marco": (12, 10, 10), "rag": (5, 3, 3), "robust": (1.8, 1, 1)}
DICTIONARY_BARS = {"marco": 12, "rag": 3, "robust": 2}
# Without the compiled module, beside pytrec_eval: what NumPy and polars reached before there was one, less a tenth, by
# which runs differ.
PLAIN_FILE_BARS = {"marco": 5.9, "rag": 2.4, "robust": 1.2}
PLAIN_DICTIONARY_BARS = {"marco": 9.9, "rag": 1.2, "robust": 0.8}

Found = dict[str, Any]


def files(shape: str) -> list[str]:
    return [str(FOLDER / f"{shape}.qrels"), str(FOLDER / f"{shape}.run")]


def from_files(bars: Bars) -> Found:
    print("Files, whole process, 5 measures: seconds, peak memory, and how many times faster rankgauge is")
    found: Found = {}
    for shape, about in SHAPES.items():
        peers = {peer: [sys.executable, "-m", "benchmarks.peers", peer, *files(shape)] for peer in PEERS}
        own_command = [*OWN, *files(shape), *ASKED]
        compared = best({"rankgauge": own_command, "no module": [*WITHOUT_NATIVE, *own_command], **peers}, ROUNDS)
        own, without = compared["rankgauge"], compared["no module"]
        print(f"\n  {shape}: {about}")
        for tool, cost in compared.items():
            held = ""
            if tool in PEERS:
                ratio = cost.seconds / own.seconds
                held = str(bars.times(f"{shape} files, {tool}", ratio, FILE_BARS[shape][PEERS.index(tool)]))
            if tool == PEERS[0]:
                ratio = cost.seconds / without.seconds
                plain = bars.times(f"{shape} files, {tool}, without the module", ratio, PLAIN_FILE_BARS[shape])
                held += f"; without the module {plain}"
            print(f"    {tool:<12} {cost.seconds:7.2f} s {cost.cpu:7.2f} CPU s {cost.megabytes:7.0f} MB  {held}")
        found[shape] = {tool: vars(cost) for tool, cost in compared.items()}
    scan = _scan()
    if scan is not None:
        run = files("marco")
        compared = best({"scan": [scan, run[1]], "rankgauge": [*OWN, *run, *ASKED]}, ROUNDS)
        ratio = compared["rankgauge"].seconds / compared["scan"].seconds
        held = str(bars.most("marco files, a bare scan in one thread", ratio, 1.5, "x"))
        print(f"\n  a bare scan of marco: {compared['scan'].seconds:.2f} s; rankgauge takes {held}")
        found["scan"] = {tool: vars(cost) for tool, cost in compared.items()}
    else:
        bars.skip("the bare scan: there is no C++ compiler")
    return found


def _scan() -> str | None:
    """The compiled scan, where there is a compiler."""
    compiler = shutil.which("c++")
    if compiler is None:
        return None
    program = FOLDER / "scan"
    source = Path(__file__).with_name("scan.cpp")
    subprocess.run([compiler, "-std=c++17", "-O3", str(source), "-o", str(program)], check=True)
    return str(program)


def from_dictionaries(bars: Bars) -> Found:
    print("Dictionaries in memory, scoring only: CPU seconds of pytrec_eval and rankgauge, each in one thread")
    found: Found = {}
    for shape in SHAPES:
        timed = _told("benchmarks.peers", "--dictionaries", *files(shape))
        for order, seconds in timed.items():
            ratio = seconds["pytrec_eval"] / seconds["rankgauge"]
            held = bars.times(f"{shape} dictionaries, {order}", ratio, DICTIONARY_BARS[shape])
            print(f"    {shape:<7} {order:<9} {seconds['pytrec_eval']:6.3f} {seconds['rankgauge']:6.3f}  {held}")
            ratio = seconds["pytrec_eval"] / seconds["no module"]
            plain = bars.times(f"{shape} dictionaries, {order}, without", ratio, PLAIN_DICTIONARY_BARS[shape])
            print(f"    {'':<7} {'':<9} {'without the module':>13} {seconds['no module']:6.3f}  {plain}")
        found[shape] = timed
    return found


def by_size(bars: Bars) -> Found:
    print("Cost against size, whole process")
    sizes = {rows: costs(rows) for rows in rows_that_fit()}
    if missing := set(ROWS) - set(sizes):
        bars.skip(f"cost at {max(missing):,} rows, for want of {DISK / 1e9:.0f} GB on the disk")
    print(bars_of(sizes))
    return {kind: {str(rows): vars(cost[kind]) for rows, cost in sizes.items()} for kind in KINDS}


def in_no_order(bars: Bars) -> Found:
    print(f"{shuffled.ROWS:,} rows in no order, with the compiled module and without; frames: the call, beside them")
    return shuffled.in_no_order(bars)


def randomization(bars: Bars) -> Found:
    print("100,000 permutations over 6,980 queries x 5 measures x 10 pairs")
    timed: Found = _told("benchmarks.comparisons")
    ratio = timed["ranx_microseconds"] / timed["microseconds"]
    print(f"    {timed['rows']} rows: {bars.most('randomization of all pairs', timed['seconds'], 10, ' s')}")
    print(
        f"    per permutation and row: {timed['microseconds']:.2f} microseconds, ranx's Fisher test "
        f"{timed['ranx_microseconds']:.0f}  {bars.times('randomization, ranx', ratio, 100)}"
    )
    return timed


def runner(bars: Bars) -> Found:
    print("The runner: own cost on a retriever of 1 ms, and 32 calls at a time to an endpoint of 20 ms")
    timed: Found = _told("benchmarks.runner")
    print("    " + json.dumps(timed, indent=2).replace("\n", "\n    "))
    for name in ("sleeping 1 ms", "computing 1 ms"):
        print(f"    {name}: {bars.most(f'runner, {name}', 100 * timed[name]['own_cost'], 5, ' %')}")
    print(f"    together: {bars.times('runner, 32 at a time', timed['http 20 ms, 32 at a time']['speedup'], 25)}")
    return timed


def history(bars: Bars) -> Found:
    print("A history of 10,000 records")
    timed: Found = _told("benchmarks.history")
    for name, most in {"store_one_record_s": 0.05, "list_s": 1, "show_s": 1, "trend_s": 1}.items():
        print(f"    {name:<20} {bars.most(f'history, {name}', timed[name], most, ' s')}")
    print("    " + json.dumps(timed, indent=2).replace("\n", "\n    "))
    return timed


def clicks(bars: Bars) -> Found:
    print("Labels from 10 million impressions; the position-based model beside CLAX's")
    subprocess.run([sys.executable, "-m", "benchmarks.clicks", "write"], check=True, stdout=subprocess.DEVNULL)
    found: Found = {}
    for ending in ("csv", "jsonl", "parquet"):
        log, labels = FOLDER / f"clicks_10000000.{ending}", FOLDER / "labels.jsonl"
        cost = measure([OWN[0], "testset", "clicks", str(log), "-o", str(labels)])
        held = bars.most(f"clicks from {ending}", cost.megabytes, 2000, " MB")
        print(f"    {ending:<8} {log.stat().st_size / 1e6:6.0f} MB file: {cost.seconds:.0f} s, {held}")
        found[ending] = vars(cost)
    for tool in ("own", "clax"):
        command = [sys.executable, "-m", "benchmarks.clicks", tool, "1000000"]
        timed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
        told = f"{timed['seconds']:6.1f} s, error of attraction {timed['error']:.4f}" if timed else "not installed"
        print(f"    {tool:<8} pbm on 1 million impressions: {told}")
        found[tool] = timed
    return found


def stream(bars: Bars) -> Found:
    print("Peak memory of --stream, whatever the length")
    found: Found = {}
    for label in ("marco", "marco_x4"):
        run = FOLDER / f"{label}.run"
        cost = measure([*OWN, files("marco")[0], str(run), *ASKED, "--stream"])
        held = bars.most(f"--stream of {label}", cost.megabytes, 400, " MB")
        print(f"    {run.stat().st_size / 1e6:6.0f} MB file: {cost.seconds:.2f} s, {held}")
        found[label] = vars(cost)
    return found


def starting(bars: Bars) -> Found:
    print("Start-up, seconds beyond a bare interpreter")

    def least(*command: str) -> float:
        return min(measure([sys.executable, "-c", *command]).seconds for _ in range(7))

    bare = least("pass")
    numpy = least("import numpy") - bare
    found = {
        "import numpy": numpy,
        "import rankgauge": least("import rankgauge") - bare,
        "import rankgauge; rankgauge.evaluate": least("import rankgauge; rankgauge.evaluate") - bare,
        "rankgauge --help": min(measure([OWN[0], "--help"]).seconds for _ in range(5)),
    }
    held = {
        "import rankgauge; rankgauge.evaluate": 2 * numpy,  # at most as much again as numpy alone
        "rankgauge --help": 0.5,
    }
    for what, seconds in found.items():
        told = bars.most(what, seconds, held[what], " s") if what in held else f"{seconds:.3f} s"
        print(f"    {what:<40} {told}")
    return found


def on_spark(bars: Bars) -> Found:
    from benchmarks.spark import BARS, absent

    print("A run in Parquet on Spark, 5 measures, second run on two cores, beside Spark's own RankingMetrics")
    if (lacking := absent()) is not None:
        bars.skip(f"Spark: {lacking}")
        return {}
    timed: Found = _told("benchmarks.spark")
    for queries, found in timed.items():
        own, peer, rows = found["rankgauge"], found["RankingMetrics"], f"{found['rows']:,} rows"
        held = bars.times(f"Spark, {rows}", peer / own, BARS[int(queries)])
        print(f"    {rows:>14}: {own:6.2f} s, RankingMetrics {peer:6.2f} s  {held}")
        print(f"    {'':>14}  {found['rows_per_core']:,.0f} rows per second and core")
    return timed


def arrays(bars: Bars) -> Found:
    print("Scores in arrays beside torchmetrics, searches by embeddings beside the whole matrix of scores")
    if missing := [name for name in ("torch", "torchmetrics") if find_spec(name) is None]:
        bars.skip(f"arrays beside torchmetrics: {' and '.join(missing)} not installed: make .venv/.tensors")
        return {}
    found: Found = {}
    if shutil.which("nvidia-smi") is None:
        bars.skip("arrays on a GPU: there is none")
    for device in ("cpu", *(["cuda"] if shutil.which("nvidia-smi") else [])):
        with TemporaryDirectory() as folder:
            target = Path(folder) / "figures.json"
            command = [sys.executable, "-m", "benchmarks.tensors", "--device", device, "--json", str(target)]
            subprocess.run(command, check=True)
            told = json.loads(target.read_text())
        bars.take(told["bars"])
        found[device] = told["figures"]
    return found


PARTS: dict[str, Callable[[Bars], Found]] = {
    "files": from_files,
    "dictionaries": from_dictionaries,
    "shuffled": in_no_order,
    "sizes": by_size,
    "randomization": randomization,
    "runner": runner,
    "history": history,
    "clicks": clicks,
    "stream": stream,
    "starting": starting,
    "arrays": arrays,
    "spark": on_spark,
}


def _told(module: str, *arguments: str) -> Any:
    command = [sys.executable, "-m", module, *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def keep(results: dict[str, object]) -> Path:
    """One file for each run, named by its time."""
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"{time.strftime('%Y-%m-%dT%H%M%SZ', time.gmtime())}.json"
    target.write_text(json.dumps(results, indent=2) + "\n")
    return target


def main(asked: list[str]) -> None:
    if unknown := [part for part in asked if part not in PARTS]:
        raise SystemExit(f"there is no part {unknown[0]!r}; the parts are {', '.join(PARTS)}")
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # a run takes minutes: each line at once
    # An installed package is compiled; a checkout that has changed is not, and each process would do it again.
    compileall.compile_dir(Path(rankgauge.__file__).parent, quiet=1)
    facts, bars = machine(), Bars()
    print(f"rankgauge and its peers on {facts['processor']}, {facts['cores']} cores, Python {facts['python']}\n")
    parts = asked or list(PARTS)
    if {from_files, from_dictionaries, stream} & {PARTS[part] for part in parts}:
        subprocess.run([sys.executable, "-m", "benchmarks.shapes"], check=True)
    found: Found = {}
    for part in parts:
        found[part] = PARTS[part](bars)
        print()
    print(bars.told())
    target = keep({"machine": facts, "figures": found, "bars": bars.to_list()})
    print(f"written: {target}")
    if "sizes" in found:
        by_kind = found["sizes"]
        sizes = {int(rows): {kind: Cost(**each[rows]) for kind, each in by_kind.items()} for rows in by_kind["marco"]}
        if save_picture(sizes, picture := target.with_suffix(".svg")):
            print(f"written: {picture}")


if __name__ == "__main__":
    main(sys.argv[1:])
