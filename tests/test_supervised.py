"""Success only after an explicit verdict, whatever the user's code does to its process."""

import signal
import subprocess
import sys
import time

import pytest

MODEL = """
import os, sys
import numpy as np
asked = 0


def after(n, end):
    def predict(X):
        global asked
        asked += 1
        if asked > n:
            end()
        return np.asarray(X, dtype=float).sum(axis=1)
    return predict


def leave():
    os._exit(0)


def ask_to_leave():
    sys.exit(0)


def crash():
    import ctypes
    ctypes.string_at(0)


never = after(10**9, leave)
leaves_at_once, asks_at_once, crashes_at_once = after(0, leave), after(0, ask_to_leave), after(0, crash)
leaves, asks, crashes = after(30, leave), after(30, ask_to_leave), after(30, crash)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("supervised")
    (folder / "scoring.py").write_text(MODEL)
    rows = "\n".join(f"{k % 7},{k % 5},{k % 3}" for k in range(60))
    (folder / "d.csv").write_text(f"a,b,c\n{rows}\n")
    return folder


def command(model, *more):
    return [
        *[sys.executable, "-m", "xassay", "check", f"scoring.py:{model}", "--data", "d.csv", "--rows", "12"],
        *["--explainers", "permutation_shap", "--measures", "fidelity", "--quiet"],
        *["--require", "permutation_shap.fidelity>=0.5", "--out", f"run-{model}", *more],
    ]


def test_a_good_model_passes_the_gate(place):
    done = subprocess.run(command("never"), cwd=place, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "model", ["leaves_at_once", "asks_at_once", "crashes_at_once", "leaves", "asks", "crashes"]
)
def test_no_end_of_the_process_passes_the_gate(place, model):
    done = subprocess.run(command(model), cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode in {1, 2}
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()


@pytest.mark.parametrize(("arguments", "code"), [(["check"], 2), (["run", "crem", "--circuits", "none"], 2)])
def test_the_child_s_code_is_the_command_s(place, arguments, code):
    done = subprocess.run(
        [sys.executable, "-m", "xassay", *arguments], cwd=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == code
    assert done.stderr.startswith("xassay: error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals on Windows")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_to_the_command_alone_stops_the_run(place, number):
    running = subprocess.Popen(
        [
            *[sys.executable, "-m", "xassay", "run", "crem", "--all", "--engine", "package"],
            *["--out", f"signal-{number}"],
        ],
        cwd=place,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while not list(place.glob(f"signal-{number}/plan.json")) and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(0.5)
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "stopped; finished parts are kept" in said
    assert "Traceback" not in said
