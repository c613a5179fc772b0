"""Runs that are stopped, continued, spread over processes and interrupted."""

import numpy as np
import pytest

from xassay import results, runner
from xassay.errors import InputError
from xassay.studies.check import CheckStudy
from xassay.studies.crem import CremSettings, CremStudy
from xassay.studies.maple import MapleStudy

SETTINGS = {
    "circuits": ("c17", "74182"),
    "explainers": (
        "kernel_shap:nsamples=60",
        "sampling_shap:nsamples=60",
        "lime:n_samples=80",
        "single_flip",
    ),
    "sample": 3,
    "max_background": 30,
}


def run(folder, *, jobs=1, **changes):
    return runner.run(CremStudy(CremSettings(**(SETTINGS | changes))), folder, jobs=jobs)


def content(folder):
    return (folder / "results.parquet").read_bytes(), (folder / "tests.parquet").read_bytes()


def test_results_are_the_same_bytes_for_any_jobs_and_any_order_of_circuits(tmp_path):
    run(tmp_path / "a")
    run(tmp_path / "b", jobs=2)
    run(tmp_path / "c", circuits=SETTINGS["circuits"][::-1], explainers=SETTINGS["explainers"][::-1])
    assert content(tmp_path / "a") == content(tmp_path / "b") == content(tmp_path / "c")


def test_a_stopped_run_continues_to_the_same_bytes(tmp_path):
    run(tmp_path / "whole")

    class Stop:
        done = 0

        def start(self, total, done):
            assert total > done == 0

        def advance(self, label, cost):
            self.done += 1
            if self.done == 5:
                raise KeyboardInterrupt

        def stop(self):
            pass

    study = CremStudy(CremSettings(**SETTINGS))
    with pytest.raises(KeyboardInterrupt):
        runner.run(study, tmp_path / "cut", progress=Stop())
    kept = list((tmp_path / "cut" / "instances").iterdir())
    assert len(kept) == 5
    assert not (tmp_path / "cut" / "results.parquet").exists()
    stamps = {path: path.stat().st_mtime_ns for path in kept}
    run(tmp_path / "cut")
    assert content(tmp_path / "cut") == content(tmp_path / "whole")
    assert stamps == {path: path.stat().st_mtime_ns for path in kept}
    assert results.read_parquet(tmp_path / "cut" / "timings.parquet")["resumed"].sum() == 5


def test_a_broken_part_is_computed_again(tmp_path):
    run(tmp_path)
    before = content(tmp_path)
    victim = next((tmp_path / "instances").iterdir())
    victim.write_bytes(b"PAR1 half a file")
    run(tmp_path)
    assert content(tmp_path) == before


def test_a_folder_of_other_settings_is_refused_and_left_alone(tmp_path):
    run(tmp_path)
    before = content(tmp_path)
    with pytest.raises(InputError, match=r"other settings \(seed: 0, now 1\)"):
        run(tmp_path, seed=1)
    assert content(tmp_path) == before


COUNTED = """
from pathlib import Path

def explain(predict, background, X):
    with (Path(__file__).parent / "calls").open("a") as calls:
        calls.write("x" * len(X))
    return X * [[3, 1, 2, 2, 1, 0, 0]]
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"ties": "ordered"},
        {"truth": "function"},
        {"truth": "model", "ties": "reversed"},
        {"profile": "paper"},
    ],
    ids=str,
)
def test_what_decides_scores_alone_may_change_in_a_folder_and_explains_nothing_anew(tmp_path, changes):
    (tmp_path / "mine.py").write_text(COUNTED)
    asked = {
        "circuits": ("c17",),
        "explainers": ("sampling_shap", "lime:n_samples=80", f"{tmp_path}/mine.py:explain"),
        "sample": 5,
        "noise": (0,),
    }
    first = run(tmp_path / "run", **asked).scores
    calls = (tmp_path / "calls").stat().st_size
    assert calls >= 20
    again = run(tmp_path / "run", **asked, **changes)
    assert (tmp_path / "calls").stat().st_size == calls
    timings = results.read_parquet(tmp_path / "run" / "timings.parquet")
    assert len(timings) == 12
    assert timings["resumed"].all()
    run(tmp_path / "fresh", **asked, **changes)
    assert content(tmp_path / "run") == content(tmp_path / "fresh")
    assert not again.scores["value"].equals(first["value"])
    plans = [results.read_plan(tmp_path / name / "plan.json") for name in ("run", "fresh")]
    assert plans[0] == plans[1]
    run(tmp_path / "run", **asked)
    assert results.read_parquet(tmp_path / "run" / "results.parquet").equals(first, null_equal=True)


@pytest.mark.parametrize("profile", ["paper", "crem-code"])
def test_a_profile_that_asks_for_other_explanations_is_refused_in_a_folder(tmp_path, profile):
    run(tmp_path, circuits=("c17",))
    before = content(tmp_path)
    with pytest.raises(InputError, match=r"other settings \(profile: .*'paper'.*, now "):
        run(tmp_path, circuits=("c17",), profile=profile)
    assert content(tmp_path) == before


def test_a_run_stopped_before_it_has_new_scores_leaves_the_plan_of_the_old_ones(tmp_path):
    class Stop:
        def start(self, total, done):
            raise KeyboardInterrupt

        def stop(self):
            pass

    run(tmp_path, circuits=("c17",))
    before = content(tmp_path), (tmp_path / "plan.json").read_bytes()
    study = CremStudy(CremSettings(**(SETTINGS | {"circuits": ("c17",), "truth": "model"})))
    with pytest.raises(KeyboardInterrupt):
        runner.run(study, tmp_path, progress=Stop())
    assert (content(tmp_path), (tmp_path / "plan.json").read_bytes()) == before


def test_an_edited_explainer_file_is_run_again(tmp_path):
    path = tmp_path / "mine.py"
    settings = {"circuits": ("c17",), "explainers": (f"{path}:explain",)}
    path.write_text("def explain(predict, background, X):\n    return X\n")
    first = run(tmp_path / "run", **settings).scores
    path.write_text("def explain(predict, background, X):\n    return 1 - X\n")
    assert not run(tmp_path / "run", **settings).scores.equals(first)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        run(tmp_path / "file" / "run")


def test_jobs_below_one_are_refused(tmp_path):
    with pytest.raises(InputError, match="jobs"):
        run(tmp_path, jobs=0)


def test_a_worker_that_dies_ends_its_cell_and_not_the_run(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import os\n\n\ndef explain(predict, background, X):\n"
        "    open(__file__ + '.log', 'a').write('x')\n    os._exit(3)\n"
    )
    done = run(
        tmp_path / "run",
        jobs=2,
        circuits=("c17",),
        explainers=("single_flip", f"{path}:explain"),
        faults=("z4",),
    )
    (reason,) = done.failures.values()
    assert reason.startswith("its process ended 2 times (exit code 3)")
    assert (tmp_path / "mine.py.log").read_text() == "xx"
    assert done.scores.filter(explainer="single_flip", status="ok").height > 0


@pytest.mark.parametrize("jobs", [1, 2])
def test_code_that_asks_to_end_the_process_fails_its_cell(tmp_path, jobs):
    path = tmp_path / "mine.py"
    path.write_text("import sys\n\n\ndef explain(predict, background, X):\n    sys.exit(0)\n")
    done = run(tmp_path / "run", jobs=jobs, circuits=("c17",), explainers=("single_flip", f"{path}:explain"))
    assert done.failures
    assert all(reason.endswith("rows: SystemExit: 0") for reason in done.failures.values())
    assert done.failed
    assert done.scores.filter(explainer="single_flip", status="ok").height > 0


def test_a_file_edited_during_the_run_fails_its_cells_and_ends_no_run(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def explain(predict, background, X):\n    return X\n")
    study = CremStudy(
        CremSettings(circuits=("c17",), explainers=(f"{path}:explain", "single_flip"), sample=3)
    )
    path.write_text("def explain(predict, background, X):\n    return 1 - X\n")
    done = runner.run(study, tmp_path / "run")
    assert done.failed
    assert all("changed during the run" in reason for reason in done.failures.values())
    assert done.scores.filter(explainer="single_flip", status="ok").height > 0


def test_a_node_name_with_a_slash_is_found_again(tmp_path):
    path = tmp_path / "slash.bench"
    path.write_text("INPUT(a)\nINPUT(b)\nOUTPUT(u1/z)\nu1/z = AND(a, b)\n")
    for _ in range(2):
        run(tmp_path / "run", circuits=(str(path),), explainers=("single_flip",))
    assert results.read_parquet(tmp_path / "run" / "timings.parquet")["resumed"].all()


def test_a_relative_file_means_the_same_in_every_process(tmp_path, monkeypatch):
    for name, sign in (("a", 1), ("b", -1)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "mine.py").write_text(
            f"def explain(predict, background, X):\n    return {sign} + X * {sign + 2}\n"
        )
        monkeypatch.chdir(folder)
        settings = {"circuits": ("c17",), "explainers": ("mine.py:explain", "single_flip")}
        run(folder / "one", jobs=1, **settings)
        run(folder / "two", jobs=2, **settings)
        assert content(folder / "one") == content(folder / "two")


def test_a_part_of_another_cell_is_not_taken_for_its_own(tmp_path):
    run(tmp_path)
    before = content(tmp_path)
    first, second, *_ = sorted((tmp_path / "instances").iterdir())
    first.write_bytes(second.read_bytes())
    second.write_bytes((tmp_path / "results.parquet").read_bytes())
    run(tmp_path)
    assert content(tmp_path) == before


def test_any_damage_of_a_part_is_found_and_the_part_computed_again(tmp_path):
    settings = {"circuits": ("c17",), "explainers": ("single_flip",), "faults": ("z4",)}
    run(tmp_path, **settings)
    before = content(tmp_path)
    (whole,) = (tmp_path / "instances").iterdir()
    good = whole.read_bytes()
    luck = np.random.default_rng(0)
    for place in luck.integers(len(good), size=25):
        damaged = bytearray(good)
        damaged[place] ^= 1 << luck.integers(8)
        for path in (tmp_path / "instances").iterdir():
            path.unlink()
        whole.write_bytes(damaged)
        assert not run(tmp_path, **settings).failed
        assert content(tmp_path) == before
        assert not results.read_parquet(tmp_path / "timings.parquet")["resumed"].any()
        (left,) = (tmp_path / "instances").iterdir()
        assert left.read_bytes() != bytes(damaged)


def test_timings_outlive_a_run_that_had_nothing_to_do(tmp_path):
    run(tmp_path)
    before = results.read_parquet(tmp_path / "timings.parquet")
    run(tmp_path)
    after = results.read_parquet(tmp_path / "timings.parquet")
    assert before["seconds"].equals(after["seconds"])
    assert after["resumed"].all()


@pytest.mark.parametrize("study", ["crem", "maple", "check"])
def test_no_table_of_any_study_is_overwritten(tmp_path, study):
    """Whatever a run writes is protected, as the study declares it."""

    class Declared:
        name = study
        cells, notices = (), ()
        tables = {"crem": CremStudy, "maple": MapleStudy, "check": CheckStudy}[study].tables

        def plan(self):
            return {"study": self.name, "settings": {}}

    for name in (*(f"{table}.parquet" for table in Declared.tables), "timings.parquet", "report.html"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(InputError, match="would overwrite"):
            runner.run(Declared(), folder)
        assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize("text", ["[]", "{}", '{"settings": 3, "study": "crem"}', "{"])
def test_a_plan_that_is_none_is_one_line(tmp_path, text):
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(InputError, match=r"plan\.json"):
        run(tmp_path)


def test_a_folder_with_files_of_the_same_names_is_left_alone(tmp_path):
    (tmp_path / "results.parquet").write_text("mine")
    with pytest.raises(InputError, match="would overwrite"):
        run(tmp_path)
    assert (tmp_path / "results.parquet").read_text() == "mine"
