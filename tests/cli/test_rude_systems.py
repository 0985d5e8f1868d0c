"""Systems that do to the program what they may do in their own: end it, close its streams, leave threads behind. The
status stays what it means: 0 that a record was written, 1 a verdict, 2 an error."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.cli.command import Done, run_process

SEARCH = "\ndef search(query, k):\n    return ['d1']\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    queries = [{"id": f"q{i}", "query": f"text {i}", "relevant_docs": ["d1"]} for i in range(6)]
    (tmp_path / "testset.json").write_text(json.dumps(queries))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(os.path.abspath(path) for path in sys.path if path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(folder: Path, code: str, plan: str = 'use = "rude:search"', rest: str = "", *, command: str = "run") -> Done:
    (folder / "rude.py").write_text(code)
    text = f'testset = "testset.json"\nmeasures = ["RR"]\n[outputs]\nrecord = "record.json"\n{rest}\n'
    text += f'[calls]\ntimeout = 0.5\nretries = 0\n[[system]]\nname = "rude"\n{plan}\n'
    (folder / "plan.toml").write_text(text)
    words = ["monitor", "plan.toml", "--once"] if command == "monitor" else ["run", "plan.toml"]
    done = run_process(*words)
    for trace in ("Traceback", "Fatal Python error", "Exception ignored", "lost sys.stderr"):
        assert trace not in done.stderr, done
    return done


FACTORY = "import sys\ndef make(x=0):\n    sys.exit(0)\n"


def test_a_factory_that_ends_the_program_is_no_success(folder: Path) -> None:
    (folder / "record.json").write_text("the record of last week")
    done = ran(folder, FACTORY, 'factory = "rude:make"')
    assert done.status == 2
    assert "no system could be evaluated: rude: SystemExit: 0 (rude.py:3)" in done.stderr


def test_nor_is_one_in_a_sweep(folder: Path) -> None:
    code = "import sys\ndef make(x=0):\n    if x:\n        sys.exit(0)\n    return lambda query, k: ['d1']\n"
    sweep = '[sweep]\nsystem = "rude"\nmeasure = "RR"\ngrid = { x = [1, 2] }\nfolds = 2'
    done = ran(folder, code, 'factory = "rude:make"', sweep)
    assert done.status == 2
    assert "no version could be evaluated: V1 {'x': 1}: SystemExit: 0 (rude.py:4)" in done.stderr


def test_nor_is_what_looks_for_methods(folder: Path) -> None:
    """Attributes may be computed, of an object or a module."""
    code = "import sys\nclass Client:\n    def __getattr__(self, name):\n        sys.exit(0)\n"
    assert ran(folder, f"{code}search = Client()\n").status == 2
    assert ran(folder, f"{code}def make():\n    return Client()\n", 'factory = "rude:make"').status == 2
    assert ran(folder, "import sys\ndef __getattr__(name):\n    sys.exit(0)\n").status == 2


def test_a_message_that_ends_the_program(folder: Path) -> None:
    code = "import sys\nclass Odd(Exception):\n    def __str__(self):\n        sys.exit(0)\n"
    assert ran(folder, f"{code}def search(query, k):\n    raise Odd\n").status == 2


def test_a_check_of_a_monitor_goes_on(folder: Path) -> None:
    done = ran(folder, FACTORY, 'factory = "rude:make"', "[monitor]\nlatency = false\n", command="monitor")
    assert done.status == 1
    assert "no score of rude could be taken" in done.stderr
    assert "SystemExit: 0 (rude.py:3)" in done.stderr
    code = f"import sys\ndef texts(ids):\n    sys.exit(0)\n{SEARCH}"
    done = ran(folder, code, rest='[monitor]\nlatency = false\ndocuments = "rude:texts"\n', command="monitor")
    assert done.status == 1
    assert "rude:texts failed: SystemExit: 0" in done.stderr


STREAMS = {
    "closed at the start": "import sys\nsys.stdout.close()\nsys.stderr.close()",
    "wrapped anew": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')",
    "both wrapped anew": "import io, sys\n"
    "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\n"
    "sys.stderr = io.TextIOWrapper(sys.stderr.buffer, encoding='utf-8')",
    "detached": "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='utf-8')",
    "through a codec": "import codecs, sys\nsys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)",
    "closed in a block": "import sys\nwith sys.stdout:\n    print('begun')",
    "taken away": "import sys\nsys.stdout = sys.stderr = None",
    "replaced by a closed one": "import io, sys\nsys.stderr = io.StringIO()\nsys.stderr.close()",
}


@pytest.mark.parametrize("code", STREAMS.values(), ids=STREAMS)
def test_streams_that_are_not_the_systems_own(folder: Path, code: str) -> None:
    """Common lines of programs that care about their output; here it is that of another program too."""
    if "close()" in code or "detach" in code:
        done = ran(folder, f"{code}\n{SEARCH}")
        assert (done.status, "RR" in done.stdout) == (0, True), done
        assert (folder / "record.json").exists()
    done = ran(folder, f"{code}\ndef search(query, k):\n    raise ValueError('broken index')\n")
    assert (done.status, done.stdout) == (2, "")
    assert "broken index" in done.stderr


def test_bytes_written_to_standard_error_are_masked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEARCH_KEY", "kw7-Xy9-örtlich")
    code = "import sys\nsys.stdout.buffer.write('key kw7-Xy9-örtlich, büro\\n'.encode())\nsys.stdout.buffer.flush()"
    done = ran(folder, code + "\ndef make(key):\n    return lambda query, k: ['d1']\n",
               'factory = "rude:make"\nparameters = { key = "${SEARCH_KEY}" }')  # fmt: skip
    assert done.status == 0
    assert "key ***, büro\n" in done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(4)\n"
        "def search(query, k):\n    return pool.submit(time.sleep, 1000).result()",
        "import threading\nthreading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "def search(query, k):\n    return ['d1']",
    ],
    ids=["a pool that hangs", "a thread that never ends"],
)
def test_threads_do_not_keep_the_program_from_ending(folder: Path, code: str) -> None:
    began = time.monotonic()
    done = ran(folder, f"import time\n{code}\n")
    assert time.monotonic() - began < 60
    assert done.status == (2 if "pool" in code else 0)
    assert "threads of the systems are still busy" in done.stderr


def test_threads_that_end_have_time_to(folder: Path) -> None:
    code = "import threading, time\ndef work():\n    time.sleep(1)\n    open('flushed', 'w').close()\n"
    done = ran(folder, f"{code}threading.Thread(target=work).start()\n{SEARCH}")
    assert (done.status, "still busy" in done.stderr) == (0, False)
    assert (folder / "flushed").exists()


