"""A run is a guest in its process: threads, forks, global state and temporary files."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import xassay
from xassay import temporary
from xassay.errors import RunError

X = np.random.default_rng(0).normal(size=(80, 3))


def line(rows):
    return np.asarray(rows) @ [1.0, 2.0, 0.0]


def small(seed=0, **changes):
    options = {"explainers": ["lime:n_samples=100", "random"], "rows": 10, "measures": "fidelity"}
    return xassay.check(line, X, max_background=20, seed=seed, **(options | changes))


def test_checks_in_two_threads_give_what_they_give_alone():
    alone = {seed: small(seed).scores for seed in (1, 2)}
    found = {}
    threads = [threading.Thread(target=lambda s=seed: found.update({s: small(s).scores})) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, scores in alone.items():
        assert found[seed].equals(scores)


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize("limits", [{}, {"timeout": 60}])
def test_the_process_is_left_as_it_was(in_thread, limits):
    def state():
        return (
            repr(np.random.get_state()),
            random.getstate(),
            list(warnings.filters),
            [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)],
            sys.unraisablehook,
            [info["num_threads"] for info in threadpool_info()],
            dict(os.environ),
        )

    small(**limits)  # libraries are loaded
    np.random.seed(7)
    before = state()
    if in_thread:
        thread = threading.Thread(target=lambda: small(**limits))
        thread.start()
        thread.join()
    else:
        small(**limits)
    assert state() == before


def fails_in_a_fork(answers):
    try:
        small()
    except RunError as error:
        answers.put(str(error))


@pytest.mark.skipif(sys.platform == "win32", reason="no fork on Windows")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_is_told_and_does_not_hang():
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=fails_in_a_fork, args=(answers,))
    child.start()
    assert "was forked off one that had loaded polars" in answers.get(timeout=30)
    child.join()


KILLED = """
import os, signal
import numpy as np
import xassay
X = np.random.default_rng(0).normal(size=(60, 3))
asked = 0
def mine(predict, background, rows):
    global asked
    asked += 1
    if asked > 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows
xassay.check(lambda rows: rows.sum(axis=1), X, explainers=mine, rows=12, measures="fidelity")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals on Windows")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path, monkeypatch):
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert list(tmp_path.glob("xassay-*"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = temporary.folder()
    (tmp_path / "xassay-notes-of-mine").mkdir()
    temporary.folder()
    left = {path.name for path in tmp_path.glob("xassay-*")}
    assert mine.name in left
    assert "xassay-notes-of-mine" in left
    assert len(left) == 3


def test_nothing_temporary_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = small()
    found.save(tmp_path / "kept")
    del found
    xassay.run_crem(circuits=["c17"], explainers=["single_flip"], faults=["z4"])
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")
def test_no_worker_stays():
    small(jobs=2)
    time.sleep(0.2)
    own = [path for path in Path("/proc").glob("[0-9]*/stat") if _parent(path) == os.getpid()]
    commands = [(path.parent / "cmdline").read_text() for path in own]
    assert not [command for command in commands if "xassay" in command]


def _parent(stat):
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
