"""The command line: parse, call, print."""

import contextlib
import itertools
import os
import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError, Parameter

import xassay
from xassay import texts
from xassay.cli import check, circuits, data, report, studies
from xassay.errors import InputError, RunError, XassayError

app = App(
    name="xassay",
    help="Measure how much of a local explanation is true.",
    version=xassay.__version__,
    help_format="plaintext",
    default_parameter=Parameter(negative=""),
    suppress_keyboard_interrupt=False,
)
run_app = App(name="run", help="Run a study.")
circuits_app = App(name="circuits", help="List, show and export circuits with known faults.")
data_app = App(name="data", help="List and fetch regression tables.")
app.command(run_app)
app.command(circuits_app)
app.command(data_app)

run_app.command(studies.crem)
run_app.command(studies.maple)
app.command(check.check)
app.command(report.report)
circuits_app.command(circuits.list_circuits, name="list")
circuits_app.command(circuits.show)
circuits_app.command(circuits.export)
data_app.command(data.list_data, name="list")
data_app.command(data.fetch_data, name="fetch")

_FAILED, _BAD_INPUT, _INTERRUPTED = 1, 2, 130


def run(arguments: Sequence[str]) -> int:
    """Run one command.

    Returns:
        0 all well, 1 finished but something failed, 2 bad input, 130 interrupted.
    """
    try:
        _refuse_odd(arguments)
        code = app(
            list(arguments),
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()
    except (CycloptsError, XassayError, OSError, MemoryError) as error:
        return _told(error)
    except KeyboardInterrupt:
        sys.stderr.write(
            "xassay: stopped; finished parts are kept, and the same command continues from there\n"
        )
        return _INTERRUPTED
    return code if isinstance(code, int) else 0


def _told(error: BaseException) -> int:
    """Say in one line why a command ended, and its exit code."""
    if isinstance(error, OSError):
        _leave_stdout()
        if not isinstance(error, BrokenPipeError):  # then the reader of our output has left
            place = f"{error.filename}: " if error.filename else ""
            _refuse(f"{place}cannot be read or written: {error.strerror or error}")
        return _FAILED
    if isinstance(error, MemoryError):
        _refuse("this machine's memory is too small for it; use fewer rows, inputs or columns")
        return _FAILED
    code = _refuse(" ".join(str(error).split()) if isinstance(error, CycloptsError) else str(error))
    return _FAILED if isinstance(error, RunError) else code


def _leave_stdout() -> None:
    """Write nothing more, not even at the end, to an output that takes no more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse_odd(arguments: Sequence[str]) -> None:
    """Refuse what no result could name, and options without a value.

    An option whose value is lost, as that of an unset variable, is not an option left out.
    """
    for before, text in itertools.pairwise(["", *arguments]):
        if any("\ud800" <= c <= "\udfff" for c in text):
            raise InputError(f"{text}: is no UTF-8 text, which names in plans and results are; rename it")
        name, equals, value = text.partition("=") if text.startswith("--") else (before, "=", text)
        if equals and not value.strip():
            option = f"{name}: " if name.startswith("--") else ""
            raise InputError(f"{option}the value is empty; leave the option out for its default")


def _refuse(reason: str) -> int:
    with contextlib.suppress(OSError):  # nobody is left to be told
        sys.stderr.write(f"xassay: error: {texts.line(reason)}\n")
    return _BAD_INPUT
