"""Workers that hang, die, are killed or use too much memory harm nobody else, and outlive nobody."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from xassay.errors import InputError
from xassay.processes import Ended, Pool, Shared, packed


@pytest.fixture
def pool():
    made = []

    def make(jobs=1, **limits):
        made.append(Pool(jobs, **limits))
        return made[-1]

    yield make
    for one in made:
        one.close()


def alive(pid):
    """Whether a process runs: one that nobody has waited for yet is dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pid, within=10.0):
    end = time.monotonic() + within
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(pid)


def calls(function, tasks):
    return [(name, packed(function, arguments)) for name, arguments in tasks]


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked up in /proc")


def test_each_task_has_its_value(pool):
    found = dict(pool(2).map(calls(divmod, ((k, (k, 3)) for k in range(7)))))
    assert found == {k: divmod(k, 3) for k in range(7)}


def test_a_pool_is_used_again_with_the_same_workers(pool):
    one = pool()
    first = dict(one.map(calls(os.getpid, [("a", ())])))
    assert dict(one.map(calls(os.getpid, [("b", ())]))) == {"b": first["a"]}
    assert first["a"] != os.getpid()


def test_nothing_to_do_starts_nobody(pool):
    one = pool()
    assert list(one.map(calls(len, []))) == []
    assert one._workers == []


def test_an_error_and_an_exit_are_the_task_s_own(pool):
    found = dict(
        pool().map(calls(lambda f, x: f(x), [("a", (int, "x")), ("b", (sys.exit, 0)), ("c", (int, "3"))]))
    )
    assert found["a"] == Ended("failed", "ValueError: invalid literal for int() with base 10: 'x'")
    assert found["b"] == Ended("failed", "the code asked to end the process (SystemExit: 0)")
    assert found["c"] == 3


def never_returns(_):
    import ctypes

    ctypes.CDLL(None).pause()  # compiled code: no Python runs, no alarm is heard


def catches_everything(_):
    while True:
        try:
            time.sleep(60)
        except BaseException:  # noqa: BLE001, S112 - as careless code does
            continue


@pytest.mark.parametrize("hangs", [time.sleep, never_returns, catches_everything])
def test_a_task_over_its_time_is_stopped_whatever_it_does(pool, hangs):
    """Be it compiled code that does not return, or code that catches all exceptions."""
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    began = time.monotonic()
    try:
        found = dict(
            pool(2, seconds=1.0).map(calls(lambda f, x: f(x), [("a", (hangs, 60)), ("b", (abs, -1))]))
        )
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    assert found == {"a": Ended("timeout", "took longer than 1 s"), "b": 1}
    assert time.monotonic() - began < 20


def test_limits_hold_in_other_threads_too(pool):
    found = {}
    thread = threading.Thread(
        target=lambda: found.update(pool(seconds=0.5).map(calls(time.sleep, [("a", (60,))])))
    )
    thread.start()
    thread.join(30)
    assert found["a"].how == "timeout"


def test_when_time_is_up_what_is_left_is_late(pool):
    one = pool(1, until=time.monotonic() + 600)
    assert dict(one.map(calls(abs, [("start", (-1,))]))) == {"start": 1}  # a busy machine starts slowly
    until = one._until = time.monotonic() + 2
    found = dict(one.map(calls(time.sleep, [("a", (0,)), ("b", (60,)), ("c", (0,))])))
    assert found == {"a": None, **dict.fromkeys("bc", Ended("late", "the run's time was up"))}
    assert time.monotonic() < until + 5


def test_a_process_that_dies_is_tried_once_more(pool, tmp_path):
    def dies_at_first(path):
        first = not path.exists()
        path.touch()
        if first:
            os._exit(0)
        return "done"

    assert dict(pool().map(calls(dies_at_first, [("a", (tmp_path / "seen",))]))) == {"a": "done"}


@pytest.mark.parametrize(
    ("death", "said"), [("os._exit(0)", "exit code 0"), ("os.kill(os.getpid(), 9)", "signal 9")]
)
def test_a_process_that_always_dies_ends_its_task_alone(pool, death, said):
    found = dict(pool().map(calls(exec, [("a", (f"import os; {death}",)), ("b", ("1",))])))
    assert found["b"] is None
    assert found["a"].how == "died"
    assert f"its process ended 2 times ({said})" in found["a"].why


@needs_proc
def test_memory_has_a_limit(pool):
    def takes(n):
        held = b"x" * n
        time.sleep(1)
        return held[:0]

    found = dict(pool(memory=900 * 2**20).map(calls(takes, [("a", (2**31,)), ("b", (10,))])))
    assert found == {"a": Ended("memory", "needed more than 900 MB of memory"), "b": b""}


def test_what_is_shared_is_sent_once_and_what_is_printed_is_no_answer(pool):
    class Counted:
        sent = 0

        def __reduce__(self):
            Counted.sent += 1
            return str, ("big",)

    shared = Shared(Counted())

    def use(one):
        sys.stdout.write("hello")
        sys.stdout.flush()
        return one.value

    found = dict(pool(1).map(calls(use, [(k, (shared,)) for k in range(3)])))
    assert found == dict.fromkeys(range(3), "big")
    assert Counted.sent == 1


def test_what_cannot_be_sent_is_one_line(pool):
    lock = threading.Lock()
    with pytest.raises(InputError, match="a part of the run cannot be sent to another process"):
        list(pool().map(calls(id, [("a", (lock,))])))
    with pytest.raises(InputError, match="the model or an explainer cannot be sent to another process"):
        list(pool().map(calls(id, [("a", (Shared(lock),))])))


@needs_proc
def test_closing_ends_workers_and_what_they_started(pool):
    def starts_another(_):
        return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid

    one = pool()
    (child,) = dict(one.map(calls(starts_another, [("a", (0,))]))).values()
    (worker,) = [each.process.pid for each in one._workers]
    assert alive(child)
    one.close()
    assert gone(worker)
    assert gone(child)


HOST = """
import os, time
from xassay.processes import Pool, packed
pool = Pool(2)
def work(k):
    print(os.getpid(), file=open({log!r}, "a"), flush=True)
    {busy}
for _ in pool.map([(k, packed(work, (k,))) for k in range(2)]):
    pass
"""


@needs_proc
@pytest.mark.parametrize("busy", ["time.sleep(600)", "sum(iter(int, 1))"])
@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_the_process_that_started_them(tmp_path, busy, killed):
    log = tmp_path / "pids"
    host = subprocess.Popen([sys.executable, "-c", HOST.format(log=str(log), busy=busy)])
    end = time.monotonic() + 30
    while time.monotonic() < end and not (log.exists() and len(log.read_text().split()) == 2):
        time.sleep(0.05)
    workers = [int(pid) for pid in log.read_text().split()]
    assert len(workers) == 2
    host.send_signal(killed)
    host.wait()
    assert all(gone(pid) for pid in workers)
