"""The command line as a user meets it: exit codes, one-line errors, what is printed."""

import subprocess
import sys
import time

import pytest

from xassay import cli, runner

QUICK = ["run", "crem", "--circuits", "c17", "--explainers", "single_flip,random", "--sample", "3"]


def call(capsys, *arguments):
    code = cli.run(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_run_prints_ours_interval_published_and_difference(capsys, tmp_path):
    arguments = ["run", "crem", "--circuits", "c17", "--explainers", "lime", "--sample", "2"]
    code, out, err = call(capsys, *arguments, "--out", str(tmp_path))
    assert code == 0
    assert "published (diff.)" in out
    assert "0.655 (" in out
    assert "c17, background 0.6" in out
    assert "report.html" in out
    assert "4 cells" in err
    assert (tmp_path / "report.html").exists()


def test_quiet_prints_nothing(capsys, tmp_path):
    assert call(capsys, *QUICK, "--out", str(tmp_path), "--quiet") == (0, "", "")


def test_the_same_command_finds_its_own_folder_and_continues(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, first, _ = call(capsys, *QUICK)
    _, second, err = call(capsys, *QUICK)
    assert first == second
    assert "100% was already computed" in err
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_failing_explainer_exits_with_1(capsys, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def explain(predict, background, X):\n    raise ValueError('nothing to say')\n")
    asked = [
        "run",
        "crem",
        "--circuits",
        "c17",
        "--explainers",
        f"{path}:explain",
        "--out",
        str(tmp_path / "r"),
    ]
    code, out, err = call(capsys, *asked)
    assert code == 1
    assert "failed" in out
    assert err.count("nothing to say") == 1
    code, out, err = call(capsys, *asked, "--quiet")
    assert (code, out) == (1, "")
    assert "nothing to say" in err


BAD = {
    "circuit": ["run", "crem", "--circuits", "c71"],
    "circuit file": ["run", "crem", "--circuits", "absent.bench"],
    "fault": ["run", "crem", "--faults", "z99"],
    "explainer": ["run", "crem", "--explainers", "kernel_shp"],
    "explainer file": ["run", "crem", "--explainers", "absent.py:explain"],
    "explainer without function": ["run", "crem", "--explainers", "absent.py"],
    "explainer option": ["run", "crem", "--explainers", "lime:n_samples=none"],
    "proportion": ["run", "crem", "--background", "1.2"],
    "proportion word": ["run", "crem", "--background", "half"],
    "noise": ["run", "crem", "--noise", "0,x"],
    "option": ["run", "crem", "--sampel", "3"],
    "option value": ["run", "crem", "--sample", "many"],
    "jobs": [*QUICK, "--jobs", "0"],
    "a word too many": ["run", "crem", "--circuits", "c17", "74182"],
    "tie rule": ["run", "crem", "--ties", ""],
    "number that is not whole": ["run", "crem", "--sample", "2.5"],
    "huge seed": ["run", "crem", "--seed", "9223372036854775808"],
    "no folder": ["run", "crem", "--out", ""],
    "empty list": ["run", "crem", "--explainers", ""],
    "list of nothing": ["run", "crem", "--circuits", " , "],
    "empty text": ["check", "model.joblib", "--data", "d.csv", "--target", ""],
    "empty after equals": ["check", "model.joblib", "--data", "d.csv", "--target="],
    "lost requirement": ["check", "model.joblib", "--data", "d.csv", "--require", ""],
    "all and sample": ["run", "crem", "--all", "--sample", "3"],
    "option twice": ["run", "crem", "--explainers", "lime:n_samples=9:n_samples=8"],
    "same fault twice": ["run", "crem", "--circuits", "c17", "--faults", "z4,z4:and"],
    "command": ["rn"],
    "report folder": ["report", "absent"],
    "show": ["circuits", "show", "c18"],
    "export layout": ["circuits", "export", "--out", "x", "--layout", "csv"],
    "data": ["data", "fetch", "hosing"],
    "export without folder": ["circuits", "export"],
}


@pytest.mark.parametrize("arguments", BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("xassay: error: ")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


NETLISTS = {
    "cycle": ("bench", "INPUT(a)\nOUTPUT(z)\nz = AND(a, y)\ny = NOT(z)", ":3:"),
    "undriven": ("bench", "INPUT(a)\nOUTPUT(z)\nz = AND(a, b)", ":3:"),
    "doubly driven": ("bench", "INPUT(a)\nOUTPUT(z)\nz = NOT(a)\nz = BUF(a)", ":4:"),
    "unknown operator": ("bench", "INPUT(a)\nOUTPUT(z)\nz = MAJ(a, a)", ":3:"),
    "fan-in": ("bench", "INPUT(a)\nINPUT(b)\nOUTPUT(z)\nz = NOT(a, b)", ":4:"),
    "flip-flop": ("bench", "INPUT(a)\nOUTPUT(z)\nz = DFF(a)", "DFF"),
    "empty": ("bench", "", "empty"),
    "missing output": ("bench", "INPUT(a)\nOUTPUT(z)\ny = NOT(a)", ":2:"),
    "sys fan-in": ("sys", "c.\n[a,b].\n[z].\n[[and3,g1,z,a,b]].\n", ":4:"),
    "sys cut short": ("sys", "c.\n[a,b].\n[z].\n[[and2,g1,z,a,b]", "ends"),
}


@pytest.mark.parametrize(("suffix", "text", "words"), NETLISTS.values(), ids=NETLISTS)
def test_a_bad_netlist_is_one_line_naming_file_and_line(capsys, tmp_path, suffix, text, words):
    path = tmp_path / f"bad.{suffix}"
    path.write_text(text)
    code, _, err = call(capsys, "run", "crem", "--circuits", str(path), "--out", str(tmp_path / "run"))
    assert code == 2
    assert str(path) in err
    assert words in err
    assert err.count("\n") == 1


def test_binary_junk_is_one_line(capsys, tmp_path):
    path = tmp_path / "junk.bench"
    path.write_bytes(bytes(range(256)) * 4)
    code, _, err = call(capsys, "circuits", "show", str(path))
    assert (code, err.count("\n")) == (2, 1)
    assert "not a text file" in err


def test_circuits_are_listed_shown_and_exported(capsys, tmp_path):
    code, out, _ = call(capsys, "circuits", "list")
    assert code == 0
    assert "74181" in out
    assert "z6 z32 z33 o8" in out
    code, out, _ = call(capsys, "circuits", "show", "c17")
    assert code == 0
    assert "0.6250" in out
    code, out, _ = call(
        capsys,
        "circuits",
        "export",
        "--circuits",
        "c17",
        "--noise",
        "0,2",
        "--layout",
        "study",
        "--out",
        str(tmp_path),
    )
    assert code == 0
    assert "18 files" in out
    assert len(list(tmp_path.rglob("*.csv"))) == 18


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["run"],
        ["run", "crem"],
        ["report"],
        ["data"],
        ["data", "list"],
        ["data", "fetch"],
        ["circuits"],
        ["circuits", "show"],
        ["circuits", "export"],
    ],
)
def test_every_command_has_help(capsys, command):
    code, out, _ = call(capsys, *command, "--help")
    assert code == 0
    assert "Usage: xassay" in out
    if command not in ([], ["run"], ["circuits"], ["data"]):
        assert "Example: xassay" in out


def test_python_dash_m_is_the_same_command():
    done = subprocess.run(
        [sys.executable, "-m", "xassay", "circuits", "show", "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("xassay: error: unknown circuit")


def test_an_interrupt_says_how_to_continue(capsys, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run", interrupted)
    code, _, err = call(capsys, *QUICK)
    assert code == 130
    assert "continues from there" in err


def test_tables_are_listed_with_where_they_are(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XASSAY_DATA", str(tmp_path))
    (tmp_path / "music.csv").write_text("")
    code, out, _ = call(capsys, "data", "list")
    lines = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0
    assert len(lines) == 11
    assert lines["diabetes"].strip() == lines["music"].strip() == "yes"


def test_a_fetch_without_a_network_is_one_line(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("xassay.tabular.datasets.URL", "http://127.0.0.1:9/{revision}/{name}.csv")
    monkeypatch.setattr("xassay.tabular.datasets.cache_folder", lambda: tmp_path)
    code, _, err = call(capsys, "data", "fetch", "music")
    assert (code, err.count("\n")) == (2, 1)
    assert "cannot be downloaded" in err


def test_a_maple_run_prints_its_tables_and_its_report_says_what_failed(capsys, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def explain(predict, background, X):\n    raise ValueError('nothing to say')\n")
    asked = ["run", "maple", "--experiment", "blackbox", "--datasets", "diabetes", "--trials", "2"]
    asked += ["--sample", "3", "--explainers", f"maple,{path}:explain", "--out", str(tmp_path / "r")]
    code, out, err = call(capsys, *asked)
    assert code == 1
    assert "svr explained, sigma 0.1" in out
    assert "nothing to say" in err
    code, again, err = call(capsys, "report", str(tmp_path / "r"))
    assert code == 1
    assert "nothing to say" in err
    assert "svr explained, sigma 0.1" in again


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--sigma", "0"], "sigma must be above 0"),
        (["--sigma", "wide"], "is no comma-separated list of numbers"),
        (["--datasets", "nowhere.csv", "--target", "y"], "nowhere.csv: cannot be read"),
        (["--explainers", "kernel_shap"], "yields no local linear model"),
        (["--experiment", "all"], "unknown experiment 'all'"),
        (["--trials", "2.5"], "trials"),
    ],
)
def test_a_maple_run_refuses_bad_input_in_one_line(capsys, options, words):
    code, out, err = call(capsys, "run", "maple", *options)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_run_that_is_told_to_end_keeps_what_it_has(tmp_path):
    arguments = ["run", "crem", "--circuits", "c17,74182", "--explainers", "kernel_shap", "--jobs", "2"]
    running = subprocess.Popen(
        [sys.executable, "-m", "xassay", *arguments, "--out", str(tmp_path / "r")],
        stderr=subprocess.PIPE,
        text=True,
    )
    for _ in range(600):
        if list((tmp_path / "r").glob("instances/*.parquet")) or running.poll() is not None:
            break
        time.sleep(0.1)
    running.terminate()
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "finished parts are kept" in err
    assert "Traceback" not in err


def test_a_file_in_place_of_the_folder_is_refused(capsys, tmp_path):
    (tmp_path / "r").write_text("mine")
    code, _, err = call(capsys, *QUICK, "--out", str(tmp_path / "r"))
    assert code == 2
    assert "r is a file; choose another --out" in err
