"""A run that is killed continues to the same bytes, and nothing of it stays; bench/kills.py kills fifty."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")

COMMAND = [
    *[sys.executable, "-m", "xassay", "run", "crem", "--circuits", "c17", "--sample", "12", "--jobs", "2"],
    *["--explainers", "lime:n_samples=300,single_flip,slow.py:explain", "--quiet", "--out"],
]
SLOW = "import time\n\n\ndef explain(predict, background, X):\n    time.sleep(0.05)\n    return X - 0.5\n"


def family(pid):
    """A process and all that it started."""
    found = [pid]
    for one in found:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                if int(stat.read_text().rpartition(")")[2].split()[1]) == one:
                    found.append(int(stat.parent.name))
    return found


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def started(place, out):
    return subprocess.Popen([*COMMAND, out], cwd=place, stderr=subprocess.PIPE, text=True)


def content(folder):
    return [(folder / f"{name}.parquet").read_bytes() for name in ("results", "tests")]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    (folder / "slow.py").write_text(SLOW)
    whole = started(folder, "whole")
    assert whole.communicate() == (None, "")
    assert whole.returncode == 0
    return folder


@pytest.mark.parametrize("how", ["all", "a worker", "the command", "its child"])
def test_a_killed_run_continues_to_the_same_bytes(place, how):
    out = place / how.replace(" ", "-")
    running = started(place, out.name)
    end = time.monotonic() + 60
    while len(list(out.glob("instances/*.parquet"))) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    pids = family(running.pid)
    assert len(pids) >= 4  # the command, its child, two workers
    victims = {"all": pids, "a worker": pids[-1:], "the command": pids[:1], "its child": pids[1:2]}[how]
    for pid in victims:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    _, said = running.communicate()
    assert running.returncode == {"all": -9, "the command": -9, "a worker": 0, "its child": 1}[how]
    assert "Traceback" not in said
    end = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in pids if alive(pid)]
    kept = {path.name for path in out.glob("instances/*.parquet")}
    again = started(place, out.name)
    assert again.communicate() == (None, "")
    assert again.returncode == 0
    assert content(out) == content(place / "whole")
    assert kept <= {path.name for path in out.glob("instances/*.parquet")}
