"""The four experiments of the MAPLE evaluation, each on one split of one table.

Reference:
    Plumb, Molitor & Talwalkar, "Model Agnostic Supervised Local Explanations", NeurIPS 2018,
    arXiv:1807.02910, section 5.
"""

import copy
import warnings

import attrs
import numpy as np
import polars as pl

from xassay import explainers, specs, tabular
from xassay.errors import ExplainerError
from xassay.metrics.causal import causal_losses_and_trivial
from xassay.models import MapleRegressor, black_box, demonstrate, global_pattern
from xassay.seeds import global_state, legacy_seed
from xassay.studies.maple.explained import SELF, Explained
from xassay.tabular import Dataset, Split
from xassay.types import Explanation, FloatArray, IntArray, Predict

MODELS = ("LM", "RF", "SILO+RF", "MAPLE+RF", "GBRT", "SILO+GBRT", "MAPLE+GBRT")
SHAPES = {"linear": "none", "s_curve": "plateaus", "steps": "steps"}
"""Shapes of the experiment ``patterns``, and the diagnosis that is true of each."""

N_INFLUENTIAL = 20
GRID = np.linspace(0, 1, 11)


@attrs.frozen(eq=False)
class Part:
    """One split of a table.

    Attributes:
        split: the parts, standardised.
        X: test rows that are explained.
        row_ids: their numbers in the table.
        seed: the run's seed.
        words: what tells this split's draws from another's.
    """

    split: Split
    X: FloatArray
    row_ids: IntArray
    seed: int
    words: tuple[str, int]

    def seed_of(self, *purpose: str) -> int:
        """A 32-bit seed for one purpose on this split."""
        return legacy_seed(self.seed, *purpose, *self.words)


def prepare(table: Dataset, seed: int, trial: int, sample: int | None) -> Part:
    """Split a table; the test rows are in random order, so the first are a sample."""
    parts = tabular.split(table, seed=seed, trial=trial)
    return Part(parts, parts.X_test[:sample], parts.test_rows[:sample], seed, (table.name, trial))


def accuracy(part: Part) -> pl.DataFrame:
    """Test predictions of the seven models; RF, SILO and MAPLE of an ensemble share its trees.

    Returns:
        One row a model and test row: ``model``, ``row``, ``target``, ``prediction`` and
        ``features_kept`` (null for models that keep all).
    """
    from sklearn.linear_model import LinearRegression

    parts = part.split
    line = LinearRegression().fit(parts.X_train, parts.y_train)
    fitted: list[tuple[str, Predict, int | None]] = [("LM", line.predict, None)]
    for ensemble, name in (("random_forest", "RF"), ("gradient_boosting", "GBRT")):
        maple = fit_maple(part, ensemble)
        fitted += [
            (name, maple.ensemble_.predict, None),
            (f"SILO+{name}", keeping_all(maple).predict, None),
            (f"MAPLE+{name}", maple.predict, maple.n_features_kept_),
        ]
    frames = [
        pl.DataFrame(
            {
                "model": model,
                "row": parts.test_rows,
                "target": parts.y_test,
                "prediction": np.asarray(predict(parts.X_test), dtype=np.float64),
                "features_kept": pl.Series([kept] * len(parts.X_test), dtype=pl.Int64),
            }
        )
        for model, predict, kept in fitted
    ]
    return pl.concat(frames)


def fit_maple(part: Part, ensemble: str = "random_forest") -> MapleRegressor:
    """MAPLE with the study's settings, on a split's training and validation rows."""
    parts = part.split
    maple = MapleRegressor(ensemble, random_state=part.seed_of("maple", ensemble))
    return maple.fit(parts.X_train, parts.y_train, parts.X_val, parts.y_val)


def keeping_all(maple: MapleRegressor) -> MapleRegressor:
    """SILO over the trees of a fitted MAPLE: the same with all features kept."""
    silo = copy.copy(maple)
    silo.select_features = False
    silo.n_features_kept_ = silo.n_features_in_
    return silo


def explanation(part: Part, who: Explained, sigmas: tuple[float, ...]) -> pl.DataFrame:
    """How far an explainer's local linear models hold around each test row.

    Returns:
        One row a test row and sigma: ``row``, ``sigma``, ``loss`` and ``trivial`` (means over
        the draws of the squared errors of the explanation and of the constant f(x); NaN where
        the row failed), ``error``, and ``values`` and ``intercept`` of the local model.

    Raises:
        ExplainerError: the explainer yields no local linear model.
    """
    predict, explained = _explained(part, who)
    linear = _local_models(explained, who.explainer)
    with warnings.catch_warnings():
        # the columns are standardised by the training part; the test rows may well look otherwise
        warnings.filterwarnings("ignore", message=".*do not look standardised")
        losses, trivial = causal_losses_and_trivial(
            linear, predict, part.X, sigmas, seed=part.seed_of("causal"), row_ids=part.row_ids
        )
    wrong = [explained.errors.get(position) for position in range(len(part.X))]
    frames = []
    for sigma, own, constant in zip(sigmas, losses.mean(axis=2), trivial.mean(axis=2), strict=True):
        reasons = [
            error or (_reason(beside) if np.isnan(ours + beside) else None)
            for error, ours, beside in zip(wrong, own, constant, strict=True)
        ]
        failed = np.array([reason is not None for reason in reasons], dtype=np.bool_)
        frames.append(
            pl.DataFrame(
                {
                    "row": part.row_ids,
                    "sigma": sigma,
                    "loss": np.where(failed, np.nan, own),
                    "trivial": np.where(failed, np.nan, constant),
                    "error": pl.Series(reasons, dtype=pl.String),
                    "values": pl.Series(explained.values.tolist(), dtype=pl.List(pl.Float64)),
                    "intercept": linear.intercepts,
                }
            )
        )
    return pl.concat(frames)


def _reason(trivial: float) -> str:
    """Why a row has no loss, where its explainer named no error."""
    return "the model's output is not finite" if np.isnan(trivial) else "the explanation is not finite"


def _explained(part: Part, who: Explained) -> tuple[Predict, Explanation]:
    """The model's predictions, and the explanation of the test rows."""
    parts = part.split
    if who.model == SELF:
        maple = fit_maple(part)
        if who.itself:
            return maple.predict, maple.explain(part.X)
        predict: Predict = maple.predict
    else:
        name = specs.without_folder(who.model)
        # every explainer of a trial explains the same model: its draws are its own
        with global_state(part.seed_of("model", name)):
            model = black_box.make(who.model_source, part.seed_of("model", name))
            model.fit(parts.X_train.copy(), parts.y_train.copy())
        predict = black_box.predictor(model, who.model)
        predict(parts.X_train)
    options = dict(who.options)
    if explainers.record(who.source).surrogate:
        options["validation"] = parts.X_val
    explainer = explainers.make(
        who.source,
        predict=predict,
        background=parts.X_train,
        seed=part.seed_of("explain", specs.without_folder(who.model)),
        **options,
    )
    return predict, explainer.explain(part.X, row_ids=part.row_ids)


def _local_models(explained: Explanation, explainer: str) -> Explanation:
    """The explanation with its local models; NaN throughout where every single row failed."""
    if explained.coefficients is not None and explained.intercepts is not None:
        return explained
    if len(explained.errors) < len(explained.values):
        raise ExplainerError(
            f"{explainer} yields no local linear model (coefficients and intercepts), which the causal "
            "metric needs"
        )
    nothing = np.full(explained.values.shape, np.nan)
    return attrs.evolve(explained, coefficients=nothing, intercepts=nothing[:, 0])


def patterns(shape: str, seed: int, trial: int) -> pl.DataFrame:
    """What the influential training points say of a feature that acts through a known shape.

    Returns:
        One row a grid point: ``grid``, ``influential`` (the feature's values at the most
        influential training points, over all draws), and ``verdict``.
    """
    own = legacy_seed(seed, "patterns", shape, trial)
    maple, rows = demonstrate(shape, seed=own)
    found = global_pattern(maple, rows, 0, grid=GRID, n_influential=N_INFLUENTIAL, seed=own)
    influential = found.influential.reshape(len(GRID), -1)
    return pl.DataFrame(
        {
            "grid": GRID,
            "influential": pl.Series(influential.tolist(), dtype=pl.List(pl.Float64)),
            "verdict": found.verdict,
        }
    )
