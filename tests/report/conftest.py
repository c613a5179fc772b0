"""Runs to report on."""

import itertools
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import polars as pl
import pytest

from xassay import results
from xassay.statistics import corrected_resampled_t, holm, welch_holm

DATASETS = (
    "autompgs",
    "communities",
    "crimes",
    "day",
    "happiness",
    "housing",
    "music",
    "winequality-red",
)
MODELS = ("LM", "RF", "SILO+RF", "MAPLE+RF", "GBRT", "SILO+GBRT", "MAPLE+GBRT")


@attrs.frozen
class MapleRun:
    """Makes the files of a MAPLE run, in the form in which the study saves them.

    Values are drawn at random about ``scale``; ``maple`` is three times as good as others, and
    next to exact on happiness.
    """

    experiments: tuple[str, ...] = ("accuracy", "self", "blackbox", "patterns")
    datasets: tuple[str, ...] = DATASETS
    trials: int = 6
    sigmas: tuple[float, ...] = (0.1, 0.25)
    models: tuple[str, ...] = ("svr",)
    explainers: tuple[str, ...] = ("maple", "lime")
    published: bool = True
    changes: dict[str, Any] = attrs.field(factory=dict)

    def write(self, folder: Path) -> Path:
        """Write the run; its folder."""
        settings = {
            "experiment": list(self.experiments),
            "datasets": list(self.datasets),
            "target": None,
            "trials": None,
            "sigma": list(self.sigmas),
            "models": list(self.models),
            "explainers": list(self.explainers),
            "profile": "xassay",
            "sample": None,
            "seed": 0,
            **self.changes,
        }
        plan = {"study": "maple", "settings": settings, "notices": ["a < b"], "versions": {"xassay": "1"}}
        rows = self.rows()
        results.write_json({**plan, "schema": 1}, folder / "plan.json")
        results.write_parquet(results.frame(rows, results.RESULTS), folder / "results.parquet")
        results.write_parquet(results.frame(self.tests(rows), results.TESTS), folder / "tests.parquet")
        if "patterns" in self.experiments:
            results.write_parquet(self.patterns(), folder / "patterns.parquet")
        return folder

    def rows(self) -> list[dict[str, Any]]:
        """The scores of trials, then of data sets."""
        rng = np.random.default_rng(0)
        series = []
        if "accuracy" in self.experiments:
            for model, dataset in itertools.product(MODELS, self.datasets):
                series.append((dataset, model, None, None, "rmse", 0.5))
                if model.startswith("MAPLE"):
                    series.append((dataset, model, None, None, "features_kept", 8.0))
        explained = ["MAPLE+RF"] if "self" in self.experiments else []
        explained += self.models if "blackbox" in self.experiments else []
        for model, dataset, sigma, name in itertools.product(
            explained, self.datasets, self.sigmas, self.explainers
        ):
            error = (0.1 if name == "maple" else 0.3) * (1 + sigma)
            error = 3e-5 if (name, dataset) == ("maple", "happiness") else error
            series.append((dataset, model, name, sigma, "causal_rmse", error))
            series.append((dataset, model, name, sigma, "causal_skill", 1 - 4 * error))
        if "patterns" in self.experiments:
            series += [(s, "rf", None, None, "pattern_match", 1.0) for s in ("linear", "s_curve", "steps")]
        return [row for each in series for row in self._rows(rng, *each)]

    def _rows(self, rng, dataset, model, explainer, sigma, metric, centre) -> list[dict[str, Any]]:
        fixed = {
            "study": "maple",
            "dataset": dataset,
            "model": model,
            "explainer": explainer,
            "engine": "native" if explainer else None,
            "options": "n_samples=100" if explainer else None,
            "sigma": sigma,
            "metric": metric,
            "profile": "xassay",
            "seed": 0,
            "n_failed": 0,
            "n_undefined": 0,
            "status": "ok",
        }
        values = centre * (1 + 0.1 * rng.standard_normal(self.trials))
        trials = [
            {**fixed, "level": "trial", "trial": k, "value": value, "n": 50} for k, value in enumerate(values)
        ]
        spread = 2 * values.std() / np.sqrt(self.trials)
        several = self.trials > 1
        has_published = self.published and metric in ("rmse", "causal_rmse")
        return [
            *trials,
            {
                **fixed,
                "level": "dataset",
                "value": values.mean(),
                "ci_low": values.mean() - spread if several else None,
                "ci_high": values.mean() + spread if several else None,
                "n": 50 * self.trials,
                "published": float(f"{centre * 1.1:.2g}") if has_published else None,
                "published_source": "MAPLE Table 9 (paper)" if has_published else None,
            },
        ]

    def tests(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Both tests of all pairs of explainers, and of MAPLE against what it is made of."""
        found: dict[tuple[Any, ...], list[float]] = {}
        for row in rows:
            if row["level"] == "trial":
                key = (row["metric"], row["model"], row["explainer"], row["sigma"], row["dataset"])
                found.setdefault(key, []).append(row["value"])
        tests = []
        if "accuracy" in self.experiments:
            for ensemble, other in itertools.product(("RF", "GBRT"), ("LM", "{}", "SILO+{}")):
                pair = (f"MAPLE+{ensemble}", other.format(ensemble))
                keys = [("rmse", name, None, None) for name in pair]
                tests += self._tests(found, keys, "rmse", None, pair, None)
        models = {key[1] for key in found if key[0] == "causal_rmse"}
        for model, sigma, pair in itertools.product(
            sorted(models), self.sigmas, itertools.combinations(self.explainers, 2)
        ):
            keys = [("causal_rmse", model, name, sigma) for name in pair]
            tests += self._tests(found, keys, "causal_rmse", model, pair, sigma)
        corrected = holm(np.array([test["p_value"] for test in tests]))
        return [{**test, "p_holm": p_holm} for test, p_holm in zip(tests, corrected, strict=True)]

    def _tests(self, found, keys, metric, model, pair, sigma) -> list[dict[str, Any]]:
        scores = {d: tuple(np.array(found[(*key, d)]) for key in keys) for d in self.datasets}
        results_of = {
            "welch": welch_holm(scores),
            "corrected_resampled_t": {d: corrected_resampled_t(*both, 100, 50) for d, both in scores.items()},
        }
        return [
            {
                "study": "maple",
                "metric": metric,
                "dataset": dataset,
                "model": model,
                "sigma": sigma,
                "blocks": "trials",
                "test": test,
                "first": pair[0],
                "second": pair[1],
                "statistic": result.statistic,
                "df1": result.df,
                "p_value": result.p_value,
                "n_blocks": self.trials,
            }
            for test, by_dataset in results_of.items()
            for dataset, result in by_dataset.items()
        ]

    def patterns(self) -> pl.DataFrame:
        """Quantiles of the active feature over the influential points, by shape and grid value."""
        grid = np.linspace(0, 1, 11)
        step = np.clip(np.floor(grid * 3), 0, 2) / 3 + 1 / 6
        frames = []
        for shape, centre, half in (
            ("linear", np.clip(grid, 0.1, 0.9), 0.1),
            ("s_curve", np.clip(grid, 0.15, 0.85), 0.15),
            ("steps", step, 0.16),
        ):
            at = {"low": -1.0, "q1": -0.5, "median": 0.0, "q3": 0.5, "high": 1.0}
            columns = {name: centre + share * half for name, share in at.items()}
            frames.append(pl.DataFrame({"shape": [shape] * 11, "grid": grid, **columns}))
        return pl.concat(frames)


@pytest.fixture(scope="session")
def maple_run():
    """The maker of MAPLE runs, to be varied."""
    return MapleRun


@pytest.fixture(scope="session")
def maple_folder(tmp_path_factory):
    """A MAPLE run as most are."""
    return MapleRun().write(tmp_path_factory.mktemp("maple"))
