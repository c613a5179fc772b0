"""One run at a time in a folder, and no lock that outlives its process."""

import os
import signal
import subprocess
import sys
import time

import pytest

from xassay.errors import InputError
from xassay.locks import locked

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked on Windows")

HOLD = """
import sys, time
from pathlib import Path
from xassay.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_run_is_told_which_process_holds_the_folder(tmp_path, holder):
    who = f"process {holder.pid}" if sys.platform == "linux" else "another process"
    with pytest.raises(InputError, match=f"{who} runs in this folder"), locked(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_a_killed_process_holds_nothing(tmp_path, holder):
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    with locked(tmp_path):
        pass


def test_the_lock_ends_with_its_block_and_after_an_error(tmp_path):
    with pytest.raises(KeyError), locked(tmp_path):
        raise KeyError
    for _ in range(2):
        with locked(tmp_path):
            pass


def test_a_process_has_its_lock_alone(tmp_path):
    with locked(tmp_path):
        began = time.monotonic()
        with pytest.raises(InputError, match="runs in this folder"), locked(tmp_path):
            pass
        assert time.monotonic() - began < 1


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"), locked(tmp_path / "file" / "run"):
        pass
