"""What a MAPLE run is asked to do, checked before anything runs."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from xassay import explainers, tabular
from xassay.errors import InputError, UnknownNameError
from xassay.models import black_box
from xassay.studies.options import check_distinct, check_some, check_whole, floats, strings
from xassay.tabular import Dataset, files

EXPERIMENTS = ("accuracy", "self", "blackbox", "patterns")
DEFAULT_EXPLAINERS = ("maple", "lime")
MIN_SAMPLES_LEAF = 10
LEAST_SIGMA, MOST_SIGMA = 1e-6, 1e3
LIME_SAMPLES = MappingProxyType({"self": 100, "blackbox": 5000})
"""Random rows of LIME: few where MAPLE is explained, as in the study."""


@attrs.frozen
class Profile:
    """Choices that belong together, under one name.

    Attributes:
        keep_row_counter: whether a file's unnamed row counter is a feature.
        trials: number of trials of each experiment.
    """

    keep_row_counter: bool
    trials: Mapping[str, int] = attrs.field(hash=False)


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "xassay": Profile(keep_row_counter=False, trials=dict.fromkeys(EXPERIMENTS, 5)),
        "paper": Profile(
            keep_row_counter=True, trials={"accuracy": 50, "self": 25, "blackbox": 25, "patterns": 10}
        ),
    }
)


@attrs.frozen
class MapleSettings:
    """Settings of the MAPLE evaluation.

    Attributes:
        experiment: ``accuracy`` (MAPLE against its trees and a line), ``self`` (MAPLE explained by itself
            and by others), ``blackbox`` (other models explained), ``patterns`` (global patterns found).
        datasets: tables: those of "xassay data list", or ``.csv`` and ``.parquet`` files.
        target: column to predict, where files are given.
        data_dir: folder that holds the UCI tables as ``<name>.csv``. Default: where "xassay data
            fetch" puts them, or the folder named in XASSAY_DATA.
        trials: how often each table is split anew. Default: 5; with profile paper 50 for
            accuracy, 25 for self and blackbox, 10 for patterns.
        sigma: standard deviations of the perturbations, in those of the columns.
        models: black boxes: ``svr``, ``rf``, ``mlp``, ``package.module:Class``, or ``file.py:make``; with
            options as in ``rf:n_estimators=300``.
        explainers: explainers that yield local linear models: ``maple``, ``lime``, or ``file.py:function``;
            with options as in ``lime:n_samples=1000``.
        profile: ``xassay``, or ``paper`` (the files' row counter is a feature, and as many trials).
        sample: test rows explained in each trial. Default: all.
        seed: seed of everything random.

    Raises:
        InputError: a value that cannot be used; the message names the option.
    """

    experiment: tuple[str, ...] = attrs.field(default=EXPERIMENTS, converter=strings)
    datasets: tuple[str, ...] = attrs.field(default=tabular.datasets.EMBEDDED, converter=strings)
    target: str | None = None
    data_dir: str | None = None
    trials: int | None = None
    sigma: tuple[float, ...] = attrs.field(default=(0.1, 0.25), converter=floats)
    models: tuple[str, ...] = attrs.field(default=("svr",), converter=strings)
    explainers: tuple[str, ...] = attrs.field(default=DEFAULT_EXPLAINERS, converter=strings)
    profile: str = "xassay"
    sample: int | None = None
    seed: int = 0

    def __attrs_post_init__(self) -> None:
        for option in ("experiment", "datasets", "sigma", "models", "explainers"):
            check_some(option, getattr(self, option))
            check_distinct(option, getattr(self, option))
        for name in self.experiment:
            if name not in EXPERIMENTS:
                raise UnknownNameError("experiment", name, EXPERIMENTS)
        if self.profile not in PROFILES:
            raise UnknownNameError("profile", self.profile, PROFILES)
        self._check_numbers()
        for spec in self.models:
            black_box.make(spec)
        for spec in self.explainers:
            self._check_explainer(spec)

    def _check_numbers(self) -> None:
        for sigma in self.sigma:
            if not (np.isfinite(sigma) and sigma > 0):
                raise InputError(f"sigma must be above 0, not {sigma:g}")
            if not LEAST_SIGMA <= sigma <= MOST_SIGMA:
                raise InputError(
                    f"sigma is in standard deviations: {sigma:g} does not lie from {LEAST_SIGMA:g} to "
                    f"{MOST_SIGMA:g}"
                )
        for option in ("trials", "sample"):
            if getattr(self, option) is not None:
                check_whole(option, getattr(self, option), 1)
        check_whole("seed", self.seed, 0)

    def _check_explainer(self, spec: str) -> None:
        explainers.registry.check_spec(spec)
        linear = explainers.record(spec).local_linear
        options = self.explainer_options("blackbox", spec)
        if options.get("rounding", "none") != "none":
            raise InputError(
                f"explainer {spec!r} rounds its draws, which on standardised columns says nothing; use lime"
            )
        if linear is False or options.get("treatment", "gaussian") != "gaussian":
            known = [name for name in explainers.available() if explainers.record(name).local_linear]
            known.remove("lime_continuous")
            raise InputError(
                f"explainer {spec!r} yields no local linear model (coefficients and intercepts), which the "
                f"causal metric needs; these do: {', '.join(known)}, and functions of yours that return them"
            )

    @property
    def rules(self) -> Profile:
        """The profile."""
        return PROFILES[self.profile]

    def n_trials(self, experiment: str) -> int:
        """Trials of an experiment."""
        return self.rules.trials[experiment] if self.trials is None else self.trials

    def explainer_options(self, experiment: str, spec: str) -> dict[str, Any]:
        """An explainer's options in an experiment: the study's, the user's over them."""
        _, _, given = explainers.registry.split(spec)
        options = explainers.registry.default_options(explainers.record(spec))
        if "treatment" in options:
            options |= {"treatment": "gaussian", "n_samples": LIME_SAMPLES[experiment]}
        return {**options, **given}


def load_tables(settings: MapleSettings) -> list[Dataset]:
    """The tables of a run, in the order asked for, each known to be fit for use.

    Raises:
        InputError: a table that cannot be had or split, has too few rows for the trees, or
            bears another's name; or a target without a file or a file without a target.
    """
    for name in settings.datasets:
        if not files.is_file(name) and (Path(name).suffix or "/" in name):
            raise InputError(f"table {name!r}: is neither a known table nor a .csv or .parquet file")
        if not files.is_file(name) and name not in tabular.available():
            raise UnknownNameError("table", name, tabular.available())
    if settings.target is not None and not any(map(files.is_file, settings.datasets)):
        raise InputError("target: goes with a .csv or .parquet file in datasets")
    keep = settings.rules.keep_row_counter
    tables: dict[str, Dataset] = {}
    for name in settings.datasets:
        if not files.is_file(name):
            table = tabular.load(name, data_dir=settings.data_dir, keep_row_counter=keep)
        elif settings.target is None:
            raise InputError(f"{name}: name the column to predict, with target")
        else:
            table = tabular.read(name, settings.target, keep_row_counter=keep)
        if table.name in tables:
            raise InputError(f"two tables are called {table.name}; rename a file")
        training, _, _ = tabular.part_sizes(len(table.X))
        if training < MIN_SAMPLES_LEAF:
            raise InputError(
                f"table {table.name!r}: a training part of {training} rows is too small for leaves of "
                f"{MIN_SAMPLES_LEAF} (min_samples_leaf); give at least {2 * MIN_SAMPLES_LEAF} rows"
            )
        tabular.split(table, seed=settings.seed)
        tables[table.name] = table
    return list(tables.values())
