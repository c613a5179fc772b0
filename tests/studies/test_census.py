"""Every row by the native engine: the same scores, whichever rows are explained for others."""

from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest

from xassay import explainers, runner
from xassay.errors import InputError, UnknownNameError
from xassay.studies.crem import CremSettings, CremStudy, judging
from xassay.studies.crem.cell import CremCell

NATIVE = ("kernel_shap", "sampling_shap", "exact_shapley", "exact_banzhaf")


def study(**changes: Any) -> CremStudy:
    return CremStudy(CremSettings(**({"circuits": "c17", "sample": None, "repeats": 1} | changes)))


def cell_of(spec: str, **changes: Any) -> CremCell:
    (cell,) = (
        cell
        for cell in study(faults="z4", explainers=spec, **changes).cells
        if cell.noise == max(changes.get("noise", [0]))
    )
    return cell


def scored(cell: CremCell) -> pl.DataFrame:
    """The scores of a cell's pairs, by the rules of the profile xassay."""
    return judging.row_scores(cell, cell.run(), CremSettings())


@pytest.mark.parametrize("spec", NATIVE)
def test_one_copy_under_noise_stands_for_all(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of(spec, noise=[0, 5])
    few = scored(cell)
    record = attrs.evolve(cell.record, table_only=False)
    monkeypatch.setattr(explainers, "record", lambda *_, **__: record)
    all_rows = scored(cell)
    assert len(few) < len(all_rows) == few["copies"].sum()
    assert set(all_rows["copies"]) == {1}
    keys = ["input_row", "output"]
    for metric in ("mrr", "map", "mr_precision", "exact_match", "noise_share"):
        weighted = few.group_by(keys).agg(
            ((pl.col(metric) * pl.col("copies")).sum() / pl.col("copies").sum()).alias(metric)
        )
        plain = all_rows.group_by(keys).agg(pl.col(metric).mean())
        both = weighted.join(plain, on=keys, suffix="_all")
        assert len(both) == len(plain)
        np.testing.assert_allclose(both[metric], both[f"{metric}_all"], atol=1e-12)


def test_lime_explains_every_copy_as_it_sees_the_noise() -> None:
    found = cell_of("lime:n_samples=50", noise=[0, 2]).run()
    assert set(found["copies"]) == {1}


def test_a_census_is_native_and_says_so(tmp_path: Any) -> None:
    done = runner.run(
        study(circuits=("c17", "74182"), explainers=("lime:n_samples=60", "exact_shapley", "single_flip")),
        tmp_path,
    )
    assert dict(done.scores.select("explainer", "engine").unique().iter_rows()) == {
        "lime:n_samples=60": "native",
        "exact_shapley": "native",
        "single_flip": "native",
    }
    exact = done.scores.filter(level="circuit, these versions", explainer="exact_shapley")
    assert exact["ci_low"].null_count() == len(exact) == 8
    pairs = done.scores.filter(level="circuit", metric="map").group_by("circuit").agg(pl.col("n").max())
    assert dict(pairs.iter_rows()) == {"c17": 132, "74182": 1560}


def test_the_engine_can_be_asked_for_either_way() -> None:
    engines = [
        [cell.record.engine for cell in study(faults="z4", **asked).cells]
        for asked in (
            {"explainers": ("lime", "lime_continuous")},
            {"explainers": "lime", "engine": "package"},
            {"explainers": "lime", "sample": 3},
            {"explainers": "lime", "sample": 3, "engine": "native"},
            {"explainers": "lime:engine=native", "sample": 3},
        )
    ]
    assert engines == [["native", "lime"], ["lime"], ["lime"], ["native"], ["native"]]
    with pytest.raises(UnknownNameError, match="unknown engine 'nativ': did you mean 'native'"):
        study(engine="nativ")


def test_the_whole_background_is_used_unless_it_is_capped() -> None:
    sizes = {
        (cell.record.engine, cell.max_background): cell.background_size
        for asked in ({}, {"engine": "package"}, {"max_background": 7})
        for cell in study(circuits="74182", faults="z2", explainers="kernel_shap", noise=[4], **asked).cells
        if cell.noise
    }
    assert sizes == {
        ("native", None): (4915, 4915),
        ("shap", 1000): (1000, 4915),
        ("native", 7): (7, 4915),
    }


def test_intervals_of_a_native_census_come_from_its_draws(tmp_path: Any) -> None:
    asked = study(circuits="74182", explainers="kernel_shap:nsamples=60", repeats=3)
    done = runner.run(asked, tmp_path)
    (row,) = done.scores.filter(level="circuit", metric="map").iter_rows(named=True)
    assert row["ci_low"] < row["value"] < row["ci_high"]
    by_version: dict[str, list[float]] = {}
    for cell in asked.cells:
        (path,) = (tmp_path / "instances").glob(f"{cell.label}-{cell.key}-*.parquet")
        stored = pl.read_parquet(path)
        found = judging.row_scores(cell, stored, asked.settings)
        by_version.setdefault(str(cell.fault), []).append(found["map"].mean())
    assert {len(repeats) for repeats in by_version.values()} == {3}
    assert row["value"] == pytest.approx(np.mean([np.mean(repeats) for repeats in by_version.values()]))


def test_results_of_a_native_census_are_the_same_bytes_for_any_jobs(tmp_path: Any) -> None:
    asked = {"explainers": ("kernel_shap", "lime:n_samples=50"), "noise": (0, 2), "repeats": 2}
    runner.run(study(**asked), tmp_path / "a")
    runner.run(study(**asked), tmp_path / "b", jobs=2)
    for table in ("results", "tests"):
        assert (tmp_path / "a" / f"{table}.parquet").read_bytes() == (
            tmp_path / "b" / f"{table}.parquet"
        ).read_bytes()


@pytest.mark.parametrize("spec", ["kernel_shap", "sampling_shap", "lime"])
@pytest.mark.parametrize(("circuit", "rows"), [("c17", 32), ("74182", 126), ("74283", 125), ("74181", 72)])
def test_the_native_engine_scores_as_the_package_does(spec: str, circuit: str, rows: int) -> None:
    """Means over 500 pairs of a circuit, or all it has, within three standard errors of the differences."""
    found = {}
    for engine in ("native", "package"):
        cells = study(circuits=circuit, explainers=spec, engine=engine, sample=rows, max_background=60).cells
        found[engine] = pl.concat(scored(cell).with_columns(fault=pl.lit(str(cell.fault))) for cell in cells)
    both = found["native"].join(found["package"], on=["fault", "row", "output"], suffix="_package")
    assert len(both) == len(found["package"]) >= (132 if circuit == "c17" else 500)
    for metric in ("mrr", "map", "mr_precision"):
        apart = (both[metric] - both[f"{metric}_package"]).drop_nans()
        assert abs(apart.mean()) <= 3 * apart.std() / np.sqrt(len(apart)) + 1e-12, metric


@pytest.mark.parametrize("noise", [4, 6])
def test_repeats_under_noise_keep_their_clusters(tmp_path: Any, noise: int) -> None:
    done = runner.run(
        study(
            faults="z4",
            explainers=("kernel_shap:nsamples=20", "exact_shapley"),
            engine="native",
            sample=100,
            noise=(0, noise),
            repeats=3,
        ),
        tmp_path,
    )
    assert not done.failed
    rows = done.scores.filter(level="circuit", metric="mrr", noise=noise)
    assert set(rows["n"]) == {100}


def test_a_profile_that_asks_for_more_than_the_native_engine_has_gets_the_package() -> None:
    asked = {"explainers": ("kernel_shap", "sampling_shap", "lime"), "circuits": "c17", "faults": "z4"}
    engines = {
        profile: {cell.explainer: cell.record.engine for cell in study(profile=profile, **asked).cells}
        for profile in ("xassay", "paper", "crem-code")
    }
    assert engines == {
        "xassay": {"kernel_shap": "native", "sampling_shap": "native", "lime": "native"},
        "paper": {"kernel_shap": "shap", "sampling_shap": "native", "lime": "native"},
        "crem-code": {"kernel_shap": "shap", "sampling_shap": "native", "lime": "lime"},
    }
    notices = " ".join(study(profile="crem-code", **asked).notices)
    assert "kernel_shap, lime not by the native engine" in notices
    with pytest.raises(
        InputError, match="profile paper asks kernel_shap for l1_reg, which the native engine"
    ):
        study(profile="paper", engine="native", **asked)


def test_copies_stand_for_one_another_though_an_input_is_constant_in_the_background() -> None:
    cell = cell_of("sampling_shap", noise=[0, 4], profile="crem-code")
    assert set(cell.run()["copies"]) == {16}


def test_the_notice_of_small_backgrounds_names_whom_it_concerns() -> None:
    *_, notice = study(circuits="74181", faults="z6", explainers=("lime_continuous", "kernel_shap")).notices
    assert "sampled down to 1,000 rows for lime_continuous: 74181" in notice
