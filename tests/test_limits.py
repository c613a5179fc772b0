"""What takes too long is stopped, and what came before it is kept."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import cloudpickle
import polars as pl
import pytest

from xassay import runner
from xassay.limits import OutOfTime, time_limit
from xassay.runner import Limits
from xassay.types import Failure

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")

LONG = 60.0


@pytest.fixture(autouse=True)
def _signals_as_before() -> Iterator[None]:
    before = signal.getsignal(signal.SIGALRM)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def alarm() -> tuple[float, float]:
    return signal.getitimer(signal.ITIMER_REAL)


def sleep() -> None:
    time.sleep(LONG)


def compute() -> None:
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        pass


def catch_exceptions() -> None:
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        try:
            time.sleep(LONG)
        except Exception:  # noqa: BLE001, S112 - as careless code does
            continue


def catch_everything_once() -> None:
    try:
        time.sleep(LONG)
    except BaseException:  # noqa: BLE001 - as careless code does
        time.sleep(LONG)


def catch_in_the_end() -> None:
    try:
        time.sleep(LONG)
    finally:
        time.sleep(LONG)


@pytest.mark.parametrize("work", [sleep, compute, catch_exceptions])
def test_work_that_takes_too_long_is_stopped_at_once(work: Any) -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.1):
        work()
    assert 0.1 <= time.monotonic() - began < 1
    assert alarm() == (0, 0)


@pytest.mark.parametrize("work", [catch_everything_once, catch_in_the_end])
def test_work_that_catches_the_first_alarm_is_stopped_by_the_next(work: Any) -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.1):
        work()
    assert 1 <= time.monotonic() - began < 3
    assert alarm() == (0, 0)


@pytest.mark.parametrize("seconds", [0, -1, 1e-9])
def test_no_time_at_all_stops_what_does_not_end_at_once(seconds: float) -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(seconds):
        sleep()
    assert time.monotonic() - began < 1


def test_what_is_stopped_is_no_exception() -> None:
    assert not issubclass(OutOfTime, Exception)


def test_work_that_ends_in_time_is_not_disturbed() -> None:
    done = []
    with time_limit(0.2):
        done.append(1)
    time.sleep(0.3)
    assert done == [1]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_passes_and_the_alarm_is_off(error: type[BaseException]) -> None:
    with pytest.raises(error), time_limit(LONG):
        raise error
    assert alarm() == (0, 0)


def handler(number: int, frame: Any) -> None:
    raise AssertionError("nobody rang")


@pytest.mark.parametrize("before", [handler, signal.SIG_DFL, signal.SIG_IGN])
@pytest.mark.parametrize("seconds", [0.05, LONG])
def test_the_handler_that_was_there_comes_back(before: Any, seconds: float) -> None:
    signal.signal(signal.SIGALRM, before)
    try:
        with time_limit(seconds):
            assert signal.getsignal(signal.SIGALRM) is not before
            time.sleep(0.1)
    except OutOfTime:
        assert seconds == 0.05
    assert signal.getsignal(signal.SIGALRM) == before


def test_none_is_no_limit_and_touches_no_alarm() -> None:
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, LONG, 7)
    with time_limit(None):
        assert signal.getsignal(signal.SIGALRM) is handler
        left, interval = alarm()
    assert left == pytest.approx(LONG, abs=1)
    assert interval == 7


def test_other_threads_than_the_main_one_have_no_limit() -> None:
    done: list[Any] = []

    def work() -> None:
        with time_limit(0.05):
            done.append(alarm())
            time.sleep(0.2)
            done.append("to the end")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [(0, 0), "to the end"]


def test_an_inner_limit_stops_the_inner_work_alone() -> None:
    began = time.monotonic()
    with time_limit(LONG):
        with pytest.raises(OutOfTime), time_limit(0.1):
            sleep()
        left, _ = alarm()
        assert left == pytest.approx(LONG - (time.monotonic() - began), abs=0.1)
    assert alarm() == (0, 0)


def nested(inner: float | None, seconds: float) -> None:
    with time_limit(inner):
        time.sleep(seconds)
    sleep()


@pytest.mark.parametrize("inner", [0.1, None])
def test_the_outer_limit_holds_after_an_inner_one(inner: float | None) -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.3):
        nested(inner, 0.01)
    assert 0.3 <= time.monotonic() - began < 0.9


def test_an_outer_limit_that_has_passed_meanwhile_rings_right_after_the_inner_one() -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.1):
        nested(LONG, 0.3)
    assert time.monotonic() - began < 0.9


def test_a_longer_inner_limit_does_not_put_the_outer_one_off() -> None:
    began = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.1), time_limit(LONG):
        time.sleep(1)
    assert time.monotonic() - began < 0.5


def test_the_time_left_of_another_timer_comes_back_less_what_has_passed() -> None:
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, LONG)
    with time_limit(30):
        time.sleep(0.3)
    assert alarm()[0] == pytest.approx(LONG - 0.3, abs=0.2)


@pytest.mark.parametrize("interval", [0.0, 7.0])
def test_the_interval_of_another_timer_comes_back(interval: float) -> None:
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, LONG, interval)
    with time_limit(30):
        pass
    assert alarm()[1] == interval


@pytest.mark.parametrize("seconds", [float("inf"), float("nan")])
def test_a_limit_that_no_timer_takes_leaves_the_handler_alone(seconds: float) -> None:
    signal.signal(signal.SIGALRM, handler)
    try:
        with time_limit(seconds):
            pass
    except (OverflowError, ValueError):
        pass
    assert signal.getsignal(signal.SIGALRM) is handler


@attrs.frozen
class Sleeper:
    """A cell that sleeps before it answers."""

    key: str
    seconds: float = 0.0
    turn: int = 0
    cost: float = 1.0

    @property
    def label(self) -> str:
        return f"cell-{self.key}"

    def run(self) -> pl.DataFrame:
        time.sleep(self.seconds)
        return pl.DataFrame({"from": [self.key]})


@attrs.define
class Sleepers:
    """A study of such cells, that keeps what it was given to score."""

    cells: Sequence[Sleeper]
    name: str = "sleepers"
    tables: Sequence[str] = ("results", "tests")
    notices: Sequence[str] = ()
    found: dict[str, str] = attrs.field(factory=dict)
    failures: dict[str, Failure] = attrs.field(factory=dict)

    def plan(self) -> dict[str, Any]:
        return {"study": self.name, "settings": {}}

    def score(
        self, frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
    ) -> Mapping[str, pl.DataFrame]:
        self.found = {key: frame["from"].item() for key, frame in frames.items()}
        self.failures = dict(failures)
        return {"results": pl.DataFrame({"n": [len(frames)]}), "tests": pl.DataFrame({"n": [0]})}


@pytest.fixture(autouse=True, scope="module")
def _workers_know_this_file() -> Iterator[None]:
    module = sys.modules[__name__]
    cloudpickle.register_pickle_by_value(module)
    yield
    cloudpickle.unregister_pickle_by_value(module)


def statuses(study: Sleepers) -> dict[str, str]:
    return {key: failure.status for key, failure in study.failures.items()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_over_its_time_is_a_timeout_and_the_others_are_kept(tmp_path: Path, jobs: int) -> None:
    study = Sleepers([Sleeper("a"), Sleeper("b", LONG), Sleeper("c"), Sleeper("d", LONG)])
    done = runner.run(study, tmp_path, jobs=jobs, limits=Limits(cell=0.3))
    assert study.found == {"a": "a", "c": "c"}
    assert statuses(study) == {"b": "timeout", "d": "timeout"}
    assert done.failures == dict.fromkeys(["cell-b-b", "cell-d-d"], "took longer than 0.3 s")
    assert {path.stem[:8] for path in (tmp_path / "instances").iterdir()} == {"cell-a-a", "cell-c-c"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_cells_that_have_not_begun_when_the_time_is_up_are_skipped(tmp_path: Path, jobs: int) -> None:
    study = Sleepers([Sleeper("a"), Sleeper("b"), Sleeper("c")])
    done = runner.run(study, tmp_path, jobs=jobs, limits=Limits(run=0))
    assert study.found == {}
    assert statuses(study) == dict.fromkeys("abc", "skipped")
    assert set(done.failures.values()) == {"the run's time was up"}
    assert list((tmp_path / "instances").glob("*")) == []


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 12.0), (2, 14.0)])
def test_when_the_run_is_over_cells_at_work_are_stopped_and_finished_ones_kept(
    tmp_path: Path, jobs: int, seconds: float
) -> None:
    workers_started = Sleepers([Sleeper("a"), Sleeper("b")])
    runner.run(workers_started, tmp_path / "before", jobs=jobs)
    early = [Sleeper(f"early{k}") for k in range(3)]
    stuck = [Sleeper(f"stuck{k}", LONG, turn=1) for k in range(jobs)]
    late = [Sleeper(f"late{k}", turn=2) for k in range(3)]
    study = Sleepers([*late, *stuck, *early])
    began = time.monotonic()
    runner.run(study, tmp_path / "run", jobs=jobs, limits=Limits(run=seconds))
    assert seconds <= time.monotonic() - began < seconds + 5
    assert set(study.found) == {cell.key for cell in early}
    assert statuses(study) == {cell.key: "skipped" for cell in [*stuck, *late]}


def test_the_shorter_of_both_limits_counts(tmp_path: Path) -> None:
    study = Sleepers([Sleeper("a", LONG), Sleeper("b", turn=1)])
    runner.run(study, tmp_path / "cell", limits=Limits(cell=0.2, run=LONG))
    assert (study.found, statuses(study)) == ({"b": "b"}, {"a": "timeout"})
    runner.run(study, tmp_path / "run", limits=Limits(cell=LONG, run=0.2))
    assert (study.found, statuses(study)) == ({}, {"a": "skipped", "b": "skipped"})


@pytest.mark.parametrize("limits", [None, Limits(), Limits(cell=LONG), Limits(run=LONG)])
def test_cells_in_time_are_not_touched_by_limits(tmp_path: Path, limits: Limits | None) -> None:
    study = Sleepers([Sleeper("a", 0.05), Sleeper("b")])
    assert runner.run(study, tmp_path, limits=limits).failures == {}
    assert study.found == {"a": "a", "b": "b"}


def test_the_same_command_again_computes_what_was_stopped_and_skipped(tmp_path: Path) -> None:
    slow, fast = (
        Sleepers([Sleeper("a"), Sleeper("b", seconds, turn=1), Sleeper("c", turn=2)]) for seconds in (LONG, 0)
    )
    runner.run(slow, tmp_path, limits=Limits(run=12.0))
    kept = next((tmp_path / "instances").glob("cell-a-a-*.parquet")).stat().st_mtime_ns
    assert (set(slow.found), statuses(slow)) == ({"a"}, {"b": "skipped", "c": "skipped"})
    runner.run(fast, tmp_path, limits=Limits(run=LONG))
    assert (set(fast.found), statuses(fast)) == ({"a", "b", "c"}, {})
    assert next((tmp_path / "instances").glob("cell-a-a-*.parquet")).stat().st_mtime_ns == kept


def test_a_run_out_of_time_tells_its_progress_of_every_cell(tmp_path: Path) -> None:
    told: list[Any] = []

    class Listener:
        def start(self, total: float, done: float) -> None:
            told.append((total, done))

        def advance(self, label: str, cost: float) -> None:
            told.append(label)

        def stop(self) -> None:
            told.append("stop")

    study = Sleepers([Sleeper("a", cost=2), Sleeper("b")])
    runner.run(study, tmp_path, progress=Listener(), limits=Limits(run=0))
    assert told == [(3, 0), "cell-a", "cell-b", "stop"]


def busy_and_on(callback: Callable[[], None]) -> None:
    with time_limit(0.05):
        callback()  # the exception does not leave it
        time.sleep(30)


def test_a_limit_that_is_lost_in_a_callback_holds_and_is_not_reported():
    import ctypes

    ended = []

    @ctypes.CFUNCTYPE(None)
    def busy() -> None:
        try:
            time.sleep(30)
        finally:
            ended.append(True)

    told: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", told.append)
        with pytest.raises(OutOfTime):
            busy_and_on(busy)
        assert sys.unraisablehook == told.append
    assert ended
    assert not told


NEVER = """
import ctypes
from xassay.limits import process_limit, time_limit
with process_limit({seconds}), time_limit(0.1):
    try:
        ctypes.CDLL(None).{call}
    except BaseException:
        ctypes.CDLL(None).pause()
print("on")
"""


@pytest.mark.parametrize(
    ("seconds", "call", "code", "said"),
    [("1", "pause()", 1, ""), ("60", "getpid()", 0, "on\n"), ("None", "getpid()", 0, "on\n")],
)
def test_a_process_ends_where_compiled_code_never_returns(
    seconds: str, call: str, code: int, said: str
) -> None:
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", NEVER.format(seconds=seconds, call=call)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, said, "")
    assert time.monotonic() - began < 30
