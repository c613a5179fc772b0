"""Runs are killed at random moments and continued: are the results the same bytes, and does nothing stay?

    python bench/kills.py             50 kills, shared out over three studies
    python bench/kills.py --kills 6

Each run is killed (SIGKILL) once or twice: the whole process group, one of its processes, or the command
alone. Then the same command runs to its end. It must give the bytes of a run that nobody disturbed, and
no process and no temporary file of the killed run may stay. Linux only: processes are looked up in /proc.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

MODEL = """
import time
import numpy as np


def predict(X):
    X = np.asarray(X, dtype=float)
    return X[:, 0] * 2 - X[:, 1] + X[:, 2] * X[:, 0]
"""

COMMANDS = {
    "crem": [
        *["run", "crem", "--circuits", "c17,74182", "--sample", "15", "--jobs", "2"],
        *["--explainers", "kernel_shap,lime,sampling_shap,single_flip"],
    ],
    "maple": [
        "run",
        "maple",
        "--trials",
        "2",
        "--sample",
        "15",
        "--jobs",
        "2",
        "--experiment",
        "accuracy,blackbox",
    ],
    "check": [
        *["check", "scoring.py:predict", "--data", "d.csv", "--rows", "20", "--jobs", "2"],
        *["--explainers", "permutation_shap,lime,random", "--max-background", "30"],
    ],
}
HOW = ("group", "one", "command")


def main() -> None:
    """Print how many runs were killed, how, and whether all ended in the same bytes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    luck = random.Random(asked.seed)  # noqa: S311 - moments, no secrets
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(_kill_and_continue(Path(folder), asked.kills, luck))


def _kill_and_continue(place: Path, kills: int, luck: random.Random) -> int:
    (place / "scoring.py").write_text(MODEL)
    (place / "d.csv").write_text("a,b,c\n" + "".join(f"{k % 7},{k % 11},{k % 5}.5\n" for k in range(90)))
    whole, seconds = {}, {}
    for study in COMMANDS:
        began = time.monotonic()
        _started(place, study, f"{study}-whole").wait()
        whole[study], seconds[study] = _content(place / f"{study}-whole"), time.monotonic() - began
    found: Counter[str] = Counter()
    for number in range(kills):
        study, how = list(COMMANDS)[number % len(COMMANDS)], HOW[number // len(COMMANDS) % len(HOW)]
        out = f"{study}-{number}"
        found["kills in mid-run"] += _killed(place, study, out, how, luck.uniform(0, seconds[study]))
        code = _started(place, study, out).wait()
        same = code == 0 and _content(place / out) == whole[study]
        found["same bytes" if same else f"OTHER BYTES ({out}, {how})"] += 1
        left = [path.name for path in (place / "tmp").iterdir()]
        rubbish = [path for path in left if not path.startswith("xassay-")]
        found["temporary files of a continued run"] += len(left) - len(rubbish) if code == 0 else 0
        for path in rubbish:
            found[f"TEMPORARY {path}"] += 1
    for name, n in sorted(found.items()):
        print(f"{n:4} {name}")
    return int(found["same bytes"] != kills or any(name.isupper() for name in found))


def _started(place: Path, study: str, out: str) -> "subprocess.Popen[bytes]":
    (place / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(  # noqa: S603 - ourselves
        [sys.executable, "-m", "xassay", *COMMANDS[study], "--quiet", "--out", out],
        cwd=place,
        env={**os.environ, "TMPDIR": str(place / "tmp")},
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _killed(place: Path, study: str, out: str, how: str, after: float) -> int:
    """Kill a run after some seconds; whether it was still going on."""
    running = _started(place, study, out)
    time.sleep(after)
    family = _family(running.pid)
    going_on = running.poll() is None
    victims = {"group": family, "command": [running.pid], "one": family[-1:]}[how]
    for victim in victims:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
    running.wait()
    end = time.monotonic() + 10
    while any(_alive(pid) for pid in family) and time.monotonic() < end:
        time.sleep(0.05)
    stayed = [pid for pid in family if _alive(pid)]
    if stayed:
        raise SystemExit(f"processes {stayed} of {out} outlive it")
    return int(going_on)


def _family(pid: int) -> list[int]:
    """A process and all that it started, the last one last."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, IndexError):
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found = [pid]
    for one in found:
        found += parents.get(one, [])
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _content(folder: Path) -> dict[str, bytes]:
    """What must be the same in every run."""
    tables = ("results", "tests", "patterns", "judgements")
    return {
        name: (folder / f"{name}.parquet").read_bytes()
        for name in tables
        if (folder / f"{name}.parquet").is_file()
    }


if __name__ == "__main__":
    main()
