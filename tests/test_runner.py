"""Runs that are stopped, continued, spread over processes and interrupted."""

import pytest

from xassay import results, runner
from xassay.errors import InputError
from xassay.studies.crem import CremSettings, CremStudy

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
