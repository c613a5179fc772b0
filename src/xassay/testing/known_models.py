"""Models whose right explanation is known exactly, to hold measures of explanations against.

Columns are normal with a standard deviation near 1, or bits, so that a check's space is the data's own
(it divides columns by powers of two near their standard deviation); only the heavy tail differs.
Exact values are computed through the ``predict`` that an explainer is given, so they hold in any
space and for any link.
"""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from xassay.explainers.kernel_shap import quiet
from xassay.testing.shapley import exact_shapley, gaussian_conditional, main_effects
from xassay.types import FloatArray, Predict

Explain = Callable[[Predict, FloatArray, FloatArray], FloatArray]

ROWS = 600
SUMS_SAY_LITTLE = "all columns act together or not at all: no sum says what taking some away does"


@attrs.frozen(eq=False)
class Problem:
    """A model, its data, and what explains it.

    Attributes:
        name: a word for tables.
        text: the model in words.
        kind: regression, classification or anomaly; see `xassay.check`.
        X: the data, shape (rows, features).
        predict: the model, (rows, features) -> (rows,).
        relevant: positions of the columns that the model depends on; no other does anything.
        additive: whether it is a sum of functions of one column each.
        conditional: a second right explanation, of the model on the data alone (the worth of a
            coalition is E[f | x_S], and not the mean over the background), or None.
        other: the exact explainer of another class or output, or None.
        unclear: why the exact values need not be called faithful, or "": they must not be called
            unfaithful, whatever stands here.
        computed: an exact explainer in place of enumeration, or None.
        reference: the background, shape (background rows, features); None: rows of ``X`` that are not
            explained.
    """

    name: str
    text: str
    kind: str
    X: FloatArray
    predict: Predict
    relevant: tuple[int, ...]
    additive: bool = False
    conditional: Explain | None = None
    other: Explain | None = None
    unclear: str = ""
    computed: Explain | None = None
    reference: FloatArray | None = None

    def split(self, rows: int) -> tuple[FloatArray, FloatArray]:
        """So many rows to explain, and the background."""
        return self.X[:rows], self.X[rows:] if self.reference is None else self.reference

    def exact(self, predict: Predict, background: FloatArray, X: FloatArray) -> FloatArray:
        """Exact marginal Shapley values; an explainer, as ``xassay.check`` takes it.

        Args:
            predict: the model as an explainer sees it, (rows, features) -> (rows,).
            background: shape (background rows, features).
            X: rows to explain, shape (rows, features).

        Returns:
            Shape (rows, features); a row's values sum to f(x) minus the background's mean.
        """
        if self.computed is not None:
            return self.computed(predict, background, X)
        return (main_effects if self.additive else exact_shapley)(predict, background, X, self.relevant)


Make = Callable[[np.random.Generator], Problem]
MAKERS: dict[str, Make] = {}
"""What makes each problem, by its name."""


def _problem(make: Make) -> Make:
    MAKERS[make.__name__.strip("_")] = make
    return make


def _bits(rng: np.random.Generator, columns: int, probability: float) -> FloatArray:
    return np.asarray((rng.random((ROWS, columns)) < probability).astype(np.float64))


def _normal(rng: np.random.Generator, columns: int, mean: float = 0.0) -> FloatArray:
    return np.asarray(mean + rng.standard_normal((ROWS, columns)))


@_problem
def _additive(rng: np.random.Generator) -> Problem:
    def predict(X: FloatArray) -> Any:
        return 2 * X[:, 0] + X[:, 1] ** 2 + 2 * np.sin(2 * X[:, 2]) + np.abs(X[:, 3]) + np.exp(X[:, 4] / 2)

    return Problem(
        "additive",
        "2a + b^2 + 2 sin 2c + |d| + exp(e/2), three more columns that do nothing",
        "regression",
        _normal(rng, 8, 0.5),
        predict,
        tuple(range(5)),
        additive=True,
    )


LINEAR = np.array([2.0, 0.0, 1.0, -1.5, 1.0, 0.0])
"""Coefficients of the linear model: columns 1 and 5 do nothing, and go along with those that do."""


def covariance(rho: float = 0.95) -> FloatArray:
    """Of the linear model's columns: two groups of three that go along with each other."""
    within = np.full((3, 3), rho) + (1 - rho) * np.eye(3)
    return np.asarray(np.kron(np.eye(2), within))


@_problem
def _linear_correlated(rng: np.random.Generator) -> Problem:
    sigma, mean = covariance(), 1.0
    X = mean + rng.standard_normal((ROWS, 6)) @ np.linalg.cholesky(sigma).T
    matrix = gaussian_conditional(LINEAR, sigma)

    def conditional(_predict: Predict, _background: FloatArray, rows: FloatArray) -> FloatArray:
        values = np.zeros(np.shape(rows))
        values[:, :6] = (rows[:, :6] - mean) @ matrix.T
        return values

    return Problem(
        "linear_correlated",
        "2a + c - 1.5d + e; a, b, c and d, e, f correlated by .95",
        "regression",
        X,
        lambda rows: rows @ LINEAR,
        (0, 2, 3, 4),
        additive=True,
        conditional=conditional,
    )


@_problem
def _and_6(rng: np.random.Generator) -> Problem:
    return Problem(
        "and_6",
        "AND of 6 bits that are mostly 1 (P = .8), six more bits",
        "regression",
        _bits(rng, 12, 0.8),
        lambda rows: rows[:, :6].all(axis=1).astype(float),
        tuple(range(6)),
    )


@_problem
def _and_6_fair(rng: np.random.Generator) -> Problem:
    return Problem(
        "and_6_fair",
        "AND of 6 fair bits, six more bits; the output is rarely 1",
        "regression",
        _bits(rng, 12, 0.5),
        lambda rows: rows[:, :6].all(axis=1).astype(float),
        tuple(range(6)),
        unclear="most explained rows are alike, and their values are close to nothing",
    )


@_problem
def _parity_3(rng: np.random.Generator) -> Problem:
    return _parity("parity_3", "parity of 3 fair bits, five more bits", 3, _bits(rng, 8, 0.5))


@_problem
def _parity_4(rng: np.random.Generator) -> Problem:
    return _parity("parity_4", "parity of 4 fair bits, six more bits", 4, _bits(rng, 10, 0.5))


def _parity(name: str, text: str, k: int, X: FloatArray) -> Problem:
    return Problem(
        name,
        text,
        "regression",
        X,
        lambda rows: rows[:, :k].sum(axis=1) % 2,
        tuple(range(k)),
        unclear=SUMS_SAY_LITTLE,
    )


@_problem
def _or_8(rng: np.random.Generator) -> Problem:
    return Problem(
        "or_8",
        "OR of 8 bits (P = .3), four more bits",
        "regression",
        _bits(rng, 12, 0.3),
        lambda rows: rows[:, :8].any(axis=1).astype(float),
        tuple(range(8)),
    )


@_problem
def _or_8_saturated(rng: np.random.Generator) -> Problem:
    return Problem(
        "or_8_saturated",
        "OR of 8 bits of which most are 1 (P = .8), against a background where few are (P = .05), four more",
        "regression",
        _bits(rng, 12, 0.8),
        lambda rows: rows[:, :8].any(axis=1).astype(float),
        tuple(range(8)),
        unclear=SUMS_SAY_LITTLE,
        reference=_bits(rng, 12, 0.05),
    )


@_problem
def _products(rng: np.random.Generator) -> Problem:
    return Problem(
        "products",
        "ab + 2cd - ef, all means 1, four more columns",
        "regression",
        _normal(rng, 10, 1.0),
        lambda rows: rows[:, 0] * rows[:, 1] + 2 * rows[:, 2] * rows[:, 3] - rows[:, 4] * rows[:, 5],
        tuple(range(6)),
    )


@_problem
def _steps(rng: np.random.Generator) -> Problem:
    def predict(X: FloatArray) -> Any:
        first, second, third, fourth = (X[:, :4] > [0, 0.5, 0, -0.5]).T
        return 2.0 * first + 1.0 * second - 1.5 * (third & fourth)

    return Problem(
        "steps",
        "2 [a > 0] + [b > .5] - 1.5 [c > 0 and d > -.5], five more columns",
        "regression",
        _normal(rng, 9),
        predict,
        (0, 1, 2, 3),
    )


@_problem
def _rare_rule(rng: np.random.Generator) -> Problem:
    def predict(X: FloatArray) -> Any:
        return 0.3 * X[:, 2] + 5.0 * (X[:, :2] > [1, 0.5]).all(axis=1)

    return Problem(
        "rare_rule",
        ".3c + 5 [a > 1 and b > .5], true of 5% of the rows, five more columns",
        "regression",
        _normal(rng, 8, 0.0),
        predict,
        (0, 1, 2),
    )


@_problem
def _heavy_tail(rng: np.random.Generator) -> Problem:
    X = _normal(rng, 8, 1.0)
    X[:, 0] = rng.standard_t(1.5, ROWS)
    return Problem(
        "heavy_tail",
        "a + 2b - c with a of Student's t (1.5 degrees of freedom), five more columns",
        "regression",
        X,
        lambda rows: rows[:, 0] + 2 * rows[:, 1] - rows[:, 2],
        (0, 1, 2),
        additive=True,
    )


@_problem
def _sparse_100(rng: np.random.Generator) -> Problem:
    def predict(X: FloatArray) -> Any:
        return 3 * X[:, 17] - 2 * X[:, 42] + X[:, 17] * X[:, 80]

    return Problem(
        "sparse_100",
        "3a - 2b + ac in a hundred columns of which only these matter",
        "regression",
        _normal(rng, 100, 0.5),
        predict,
        (17, 42, 80),
    )


@_problem
def _steep_probability(rng: np.random.Generator) -> Problem:
    return Problem(
        "steep_probability",
        "sigmoid(6 (a + b - c - .5)): probabilities near 0 and 1, five more columns",
        "classification",
        _normal(rng, 8, 0.5),
        lambda rows: 1 / (1 + np.exp(-6 * (rows[:, 0] + rows[:, 1] - rows[:, 2] - 0.5))),
        (0, 1, 2),
    )


@_problem
def _three_classes(rng: np.random.Generator) -> Problem:
    slopes = np.array([[2.0, 0.0, 0.0], [-1.0, 1.5, 0.0], [0.0, 1.0, -2.0], [0.0, -1.0, 1.0]])

    def predict(X: FloatArray, position: int = 0) -> Any:
        powers = np.exp(X[:, :4] @ slopes)
        return powers[:, position] / powers.sum(axis=1)

    def second(_predict: Predict, background: FloatArray, X: FloatArray) -> FloatArray:
        return exact_shapley(lambda rows: predict(rows, 1), background, X, (0, 1, 2, 3))

    return Problem(
        "three_classes",
        "probability of the first of three classes (softmax of 4 columns), four more columns",
        "classification",
        _normal(rng, 8),
        predict,
        (0, 1, 2, 3),
        other=second,
    )


@_problem
def _normal_distance(rng: np.random.Generator) -> Problem:
    return Problem(
        "normal_distance",
        "distance from the centre of independent N(0, 1) columns, all of which matter",
        "anomaly",
        _normal(rng, 6),
        lambda rows: np.sqrt((rows[:, :6] ** 2).sum(axis=1)),
        tuple(range(6)),
    )


@_problem
def _trick(rng: np.random.Generator) -> Problem:
    X = _normal(rng, 8)
    # the data lie where columns 2, 3 and 4 all but agree
    X[:, 3:5] = X[:, [2]] + 0.1 * X[:, 3:5]

    def predict(rows: FloatArray) -> Any:
        real = (np.abs(rows[:, 3:5] - rows[:, [2]]) < 0.5).all(axis=1)  # noqa: PLR2004 - five deviations
        return np.where(real, rows[:, 0] > 0, rows[:, 1] > 0).astype(np.float64)

    def conditional(predict: Predict, background: FloatArray, X: FloatArray) -> FloatArray:
        values = np.zeros(np.shape(X))
        values[:, 0] = np.asarray(predict(X)) - np.asarray(predict(background)).mean()
        return values

    return Problem(
        "trick",
        "[a > 0] on the data, [b > 0] off them, where masked rows mostly lie; three more columns",
        "classification",
        X,
        predict,
        (0, 1, 2, 3, 4),
        conditional=conditional,
        unclear="on the data the model does another thing than on masked rows",
    )


@_problem
def _redundant_forest(rng: np.random.Generator) -> Problem:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(
        800, 100, n_informative=6, n_redundant=90, class_sep=2, random_state=int(rng.integers(2**31))
    )
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    forest = RandomForestClassifier(60, max_depth=6, random_state=0).fit(X, y)

    made: dict[bytes, Any] = {}

    def by_its_trees(_predict: Predict, background: FloatArray, rows: FloatArray) -> FloatArray:
        seen = np.ascontiguousarray(background[:, :100])
        with quiet():
            import shap

            if seen.tobytes() not in made:
                masker = shap.maskers.Independent(seen, max_samples=len(seen))
                made[seen.tobytes()] = shap.TreeExplainer(forest, masker)
            values = made[seen.tobytes()](rows[:, :100], check_additivity=False).values[..., 1]
        padded = np.zeros(np.shape(rows))
        padded[:, :100] = values
        return padded

    return Problem(
        "redundant_forest",
        "a random forest on a hundred columns, ninety of which are mixtures of six",
        "classification",
        X,
        lambda rows: forest.predict_proba(rows[:, :100])[:, 1],
        tuple(range(100)),
        computed=by_its_trees,
    )
