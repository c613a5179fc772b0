"""Runs on a Dask cluster: a real scheduler and two worker processes on this machine, one of them killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from xassay import results, runner
from xassay.errors import InputError, RunError
from xassay.studies.crem import CremSettings, CremStudy
from xassay.work import Limits

pytest.importorskip("distributed", reason="the extra xassay[cluster] is not installed")

SETTINGS = {
    "circuits": ("c17",),
    "explainers": ("kernel_shap:nsamples=60", "lime:n_samples=80", "single_flip"),
    "sample": 3,
    "max_background": 30,
}


def started(*command):
    return subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


class Machines:
    """A scheduler and workers, each a process."""

    def __init__(self, folder):
        self.file = folder / "scheduler.json"
        self.scheduler = started(
            *["distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"],
            *["--scheduler-file", str(self.file)],
        )
        self.workers = []
        end = time.monotonic() + 60
        while not self.file.exists() and time.monotonic() < end:
            time.sleep(0.1)
        self.address = results.read_json(self.file)["address"]

    def worker(self, folder):
        self.workers.append(
            started(
                *["distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard"],
                *["--no-nanny", "--local-directory", str(folder)],
            )
        )

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def machines(tmp_path):
    made = Machines(tmp_path)
    yield made
    made.end()


def run(folder, cluster=None, **changes):
    study = CremStudy(CremSettings(**(SETTINGS | changes)))
    return runner.run(study, folder, cluster=cluster, limits=changes.pop("limits", None))


def content(folder):
    return (folder / "results.parquet").read_bytes(), (folder / "tests.parquet").read_bytes()


def test_results_are_the_same_bytes_though_a_worker_is_killed(tmp_path, machines):
    run(tmp_path / "alone")
    for number in range(2):
        machines.worker(tmp_path / f"w{number}")
    slow = tmp_path / "slow.py"
    slow.write_text(
        "import time\n\n\ndef explain(predict, background, X):\n    time.sleep(0.2)\n    return X - 0.5\n"
    )
    settings = {"explainers": (*SETTINGS["explainers"], f"{slow}:explain")}
    run(tmp_path / "alone-too", **settings)

    class KillsOne:
        done = 0

        def start(self, total, done):
            pass

        def advance(self, label, cost):
            self.done += 1
            if self.done == 3:
                os.kill(machines.workers[0].pid, signal.SIGKILL)

        def stop(self):
            pass

    study = CremStudy(CremSettings(**(SETTINGS | settings)))
    found = runner.run(study, tmp_path / "many", cluster=machines.address, progress=KillsOne())
    assert not found.failures
    assert machines.workers[0].poll() is not None
    assert content(tmp_path / "many") == content(tmp_path / "alone-too")


def test_workers_of_our_own_give_the_same_bytes(tmp_path):
    run(tmp_path / "alone")
    run(tmp_path / "local", "local:2")
    assert content(tmp_path / "local") == content(tmp_path / "alone")
    run(tmp_path / "local", "nonsense")  # there is nothing to do, and nobody is asked
    assert results.read_parquet(tmp_path / "local" / "timings.parquet")["resumed"].all()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:9", r"cluster tcp://127\.0\.0\.1:9: no scheduler answers"),
        ("local:0", "write a number of workers"),
        ("local:x", "write a number of workers"),
        ("nonsense://x", "no scheduler answers"),
    ],
)
def test_a_scheduler_that_cannot_be_reached_is_named(tmp_path, address, said):
    with pytest.raises(InputError, match=said):
        run(tmp_path / "run", address)


def test_a_cluster_without_workers_is_named(tmp_path, machines, monkeypatch):
    monkeypatch.setattr("xassay.processes.cluster._WORKER_SECONDS", 0.5)
    with pytest.raises(InputError, match=r"no worker within 0\.5 s; start one"):
        run(tmp_path / "run", machines.address)


def test_workers_of_other_versions_are_named_before_anything_runs(tmp_path, machines, monkeypatch):
    machines.worker(tmp_path / "w")
    from xassay import work

    real = work.versions
    monkeypatch.setattr(
        work, "versions", lambda: {**real(), "numpy": "1.0"} if os.getpid() == MINE else real()
    )
    with pytest.raises(InputError, match=r"worker tcp://\S+ has numpy \S+, this process 1\.0; results could"):
        run(tmp_path / "run", machines.address)
    assert not (tmp_path / "run" / "instances").exists()


MINE = os.getpid()


def test_limits_hold_there_and_a_lost_scheduler_is_named(tmp_path, machines):
    machines.worker(tmp_path / "w")
    mine = tmp_path / "mine.py"
    mine.write_text("import os\n\n\ndef explain(predict, background, X):\n    os._exit(0)\n")
    settings = {"explainers": ("single_flip", f"{mine}:explain"), "faults": ("z4",)}
    study = CremStudy(CremSettings(**(SETTINGS | settings)))
    found = runner.run(study, tmp_path / "dies", cluster=machines.address, limits=Limits(cell=60))
    assert [reason.partition(":")[0] for reason in found.failures.values()] == [
        "its process ended 2 times (exit code 0)"
    ]

    class EndsIt:
        def start(self, total, done):
            machines.scheduler.kill()

        def advance(self, label, cost):
            pass

        def stop(self):
            pass

    mine.write_text(
        "import time\n\n\ndef explain(predict, background, X):\n    time.sleep(1)\n    return X\n"
    )
    study = CremStudy(CremSettings(**(SETTINGS | settings)))
    with pytest.raises((RunError, InputError), match="cluster tcp"):
        runner.run(study, tmp_path / "lost", cluster=machines.address, progress=EndsIt())
