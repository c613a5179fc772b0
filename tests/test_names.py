"""Names that others chose are shown as they are, and nothing obeys them; a full output is one line."""

import io
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from xassay import cli, run_crem, terminal
from xassay.errors import RunError
from xassay.estimates import Estimate
from xassay.report import page, plot
from xassay.texts import MOST_FILE_BYTES, file_safe, line, printable, shortened
from xassay.views import Block, Cell, Column, Line, Plot, Score, Section, Table, View

NASTY = "\x1b[31m[bold]<script>:fire:\x9b\u202e$x^$\r\n\x00\udcff"
FULL = Path("/dev/full")


@given(st.text())
def test_what_is_printable_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    shown = printable(text)
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in shown)
    assert printable(shown) == shown


@pytest.mark.parametrize("name", ["naïve", "Größe [cm²]", "収入", "दर", "a b", "a\u200db"])
def test_names_of_every_script_stay(name: str) -> None:
    assert printable(name) == name


@given(st.text())
def test_part_of_a_file_name_stays_in_its_folder(text: str) -> None:
    safe = file_safe(text)
    assert len(safe.encode()) <= MOST_FILE_BYTES
    assert not safe.startswith(".")
    assert not set(safe) & set("/\\:\0 ")


@given(st.text(), st.integers(7, 80))
def test_a_text_is_shortened_to_its_length(text: str, most: int) -> None:
    assert len(shortened(text, most)) <= most
    assert shortened(text, most) == text or " ... " in shortened(text, most)


def test_a_message_is_one_line_of_bounded_length() -> None:
    assert len(line("a\n" * 100_000)) < 5_000
    assert "\n" not in line("a\nb")


def nasty_view() -> View:
    scores = {NASTY: Score(Estimate(0.5, reason=NASTY)), "failed": Score(Estimate(None, reason=NASTY))}
    columns = (Column(NASTY, NASTY, NASTY), Column("failed", NASTY, NASTY))
    block = Block(NASTY, NASTY, columns, (Line(NASTY, scores, NASTY, (Cell(NASTY),)),), remarks=(NASTY,))
    table = Table(NASTY, (NASTY,), ((Cell(NASTY, strong=True),),))
    data = pl.DataFrame(
        {name: ["\x1b[31m<script>$x^$"] for name in ("panel", "row", "series")}
        | {name: [0.5] for name in ("value", "low", "high", "published")}
    )
    section = Section(
        NASTY, (NASTY,), Plot("dots", data, caption=NASTY, x_label=NASTY), (block,), (table,), (table,)
    )
    return View(NASTY, (NASTY,), ((NASTY, NASTY),), (NASTY,), (NASTY,), (section,))


def test_a_terminal_shows_names_and_does_not_obey_them(capsys) -> None:
    out = Console(file=io.StringIO(), width=400, force_terminal=False, emoji=False)
    terminal.print_view(nasty_view(), out)
    terminal.print_failures(nasty_view())
    bar = terminal.Bar(NASTY, [NASTY])
    bar.start(1.0, 0.0)
    bar.stop()
    said = capsys.readouterr()
    for text in (out.file.getvalue(), said.err):
        assert "\\x1b[31m[bold]<script>:fire:" in text
        assert not set(text) & set("\x1b\x9b\u202e\r\x00\udcff")


def test_a_page_shows_names_and_does_not_obey_them() -> None:
    text = page.render(nasty_view())
    assert "<script" not in text
    assert "\\x1b[31m[bold]&lt;script&gt;" in text
    assert not set(text) & set("\x1b\x9b\u202e\r\x00\udcff")
    text.encode()


def test_a_plot_takes_names_as_they_are() -> None:
    drawn = plot.draw(nasty_view().sections[0].plot)
    assert "<script" not in drawn
    assert "\x1b" not in drawn


@pytest.mark.parametrize(
    "arguments",
    [
        ["circuits", "show", NASTY.replace("\x00", "")],
        ["circuits", "show", "\x1b[31m.bench"],
        ["report", "\x1b[31m"],
        ["run", "crem", "--explainers", "\x1b[31m"],
        ["run", "crem", "--\x1b[31m", "1"],
        ["run", "crem", "--explainers", "z" * 100_000],
        ["\x1b[31m"],
        ["check", "\x1b[31m.py:f", "--data", "\x1b[31m.csv", "--quiet"],
    ],
)
def test_an_error_shows_names_and_does_not_obey_them(capsys, arguments) -> None:
    assert cli.run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "\x1b" not in said.err
    assert len(said.err) < 3_000


@pytest.mark.skipif(not FULL.exists(), reason="no full device here")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "crem", "--help"], ["circuits", "show", "c17"], ["circuits", "list"]]
)
def test_a_full_output_is_one_line(arguments) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "xassay", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "xassay: error: cannot be read or written: No space left on device\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["run", "crem", "--help"], ["check", "--help"], ["circuits", "show", "c17"]]
)
def test_python_may_leave_docstrings_out(arguments) -> None:
    done = subprocess.run(
        [sys.executable, "-OO", "-m", "xassay", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_library_call_without_room_for_a_folder_raises_our_own_error(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
    with pytest.raises(RunError, match=r"no temporary folder can be made: .*set TMPDIR"):
        run_crem(circuits=["c17"], explainers=["single_flip"], faults=["z4"])
