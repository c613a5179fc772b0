"""MAPLE: a tree ensemble that explains itself by local linear models.

Reference:
    Plumb, Molitor & Talwalkar, "Model Agnostic Supervised Local Explanations", NeurIPS 2018,
    arXiv:1807.02910.
"""

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted, validate_data

from xassay.errors import InputError, UnknownNameError
from xassay.models.local_ridge import LocalRidge
from xassay.types import Explanation, FloatArray, IntArray

ENSEMBLES = ("random_forest", "gradient_boosting")
SCORES = ("impurity", "reduction")
BATCH_ROWS = 1024


class MapleRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn is untyped
    r"""Regression by local linear models, weighted by how a tree ensemble groups the rows.

    * Weights (SILO): w_i(x) = sum over trees of [row i shares x's leaf] / (training rows in
      that leaf); divided by the number of trees with ``normalise_weights``.
    * Feature scores (DStump): for each tree, the impurity of its root is added to the feature
      split there; ``feature_score="reduction"`` adds the root's impurity reduction instead.
    * The d best features are kept, d being the number whose local weighted ridge models
      predict the validation rows with the least RMSE (ties: the smaller d).
    * The prediction at x is the local model's; the explanation its coefficients.

    Attributes:
        ensemble_: the fitted tree ensemble.
        feature_scores_: score of each feature, shape (p,).
        feature_order_: feature positions by falling score, shape (p,).
        n_features_kept_: the number d of features kept.
        validation_rmse_: RMSE on the validation rows for d = 1 .. p, shape (p,).
        X_train_: the training rows, one for each column of `training_weights`, shape (n_train, p).

    Example:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(300, 4))
        >>> m = MapleRegressor(n_estimators=20, max_features=1.0).fit(X, 3 * X[:, 2])
        >>> int(m.feature_order_[0]), m.explain(X[:1]).coefficients.round(1).tolist()
        (2, [[0.0, 0.0, 3.0, 0.0]])
    """

    def __init__(
        self,
        ensemble: str = "random_forest",
        n_estimators: int = 200,
        max_features: Any = 0.5,
        min_samples_leaf: int = 10,
        alpha: float = 0.001,
        *,
        select_features: bool = True,
        feature_score: str = "impurity",
        normalise_weights: bool = False,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.ensemble = ensemble
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.alpha = alpha
        self.select_features = select_features
        self.feature_score = feature_score
        self.normalise_weights = normalise_weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        X_val: npt.ArrayLike | None = None,
        y_val: npt.ArrayLike | None = None,
    ) -> Self:
        """Grow the trees and choose the features.

        Args:
            X: training rows, shape (n, p).
            y: targets, shape (n,); another model's predictions make this its explainer.
            X_val: rows on which the number of features is chosen; without them a third of
                the training rows is split off for it.
            y_val: their targets.

        Raises:
            ValueError: data that scikit-learn's estimators refuse, fewer than two rows, or
                validation rows without targets.
            InputError: a parameter that cannot be used.
        """
        self._check_parameters()
        rows, targets, val_rows, val_targets = self._parts(X, y, X_val, y_val)
        self.X_train_ = rows.copy()
        self.ensemble_ = self._grow(rows, targets)
        self._train_leaves = self._leaf_matrix(self._leaves(rows), fitting=True)
        self.feature_scores_ = self._root_scores(rows.shape[1])
        self.feature_order_ = np.argsort(-self.feature_scores_, kind="stable")
        self._local = LocalRidge(rows[:, self.feature_order_], targets, self.alpha)
        self.n_features_kept_ = rows.shape[1]
        if self.select_features:
            predicted = np.vstack(
                [
                    self._local.predictions(weights, batch[:, self.feature_order_])
                    for batch, weights in self._batches(val_rows)
                ]
            )
            self.validation_rmse_ = np.sqrt(((predicted - val_targets[:, None]) ** 2).mean(axis=0))
            self.n_features_kept_ = int(np.argmin(self.validation_rmse_)) + 1
        return self

    def _parts(
        self, X: npt.ArrayLike, y: npt.ArrayLike, X_val: npt.ArrayLike | None, y_val: npt.ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Training rows and targets, validation rows and targets."""
        if (X_val is None) != (y_val is None):
            raise InputError("X_val and y_val are given together, or neither")
        checked = {"y_numeric": True, "dtype": np.float64}
        train = validate_data(self, X, y, ensure_min_samples=2, **checked)
        if X_val is None:
            rows, val_rows, targets, val_targets = train_test_split(
                *train, test_size=1 / 3, random_state=self.random_state
            )
        else:
            rows, targets = train
            val_rows, val_targets = validate_data(self, X_val, y_val, reset=False, **checked)
        return rows, targets.astype(np.float64), val_rows, val_targets.astype(np.float64)

    def predict(self, X: npt.ArrayLike) -> FloatArray:
        """The local model's value at each row, shape (rows,)."""
        rows = self._rows(X)
        slopes, intercepts = self._models(rows)
        return np.asarray((slopes * rows).sum(axis=1) + intercepts)

    def explain(self, X: npt.ArrayLike) -> Explanation:
        """The local model at each row: coefficients (zero for dropped features) and intercepts.

        Returns:
            An explanation whose values are its coefficients, shape (rows, p).
        """
        slopes, intercepts = self._models(self._rows(X))
        return Explanation(slopes, coefficients=slopes, intercepts=intercepts)

    def training_weights(self, X: npt.ArrayLike) -> FloatArray:
        """The weight of each training row at each row of X, shape (rows, n_train)."""
        return np.vstack([weights.toarray() for _, weights in self._batches(self._rows(X))])

    def _models(self, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coefficients (rows, p) and intercepts (rows,) of the local models."""
        d = self.n_features_kept_
        coefficients, intercepts = np.zeros(rows.shape), np.empty(len(rows))
        done = 0
        for batch, weights in self._batches(rows):
            span = slice(done, done + len(batch))
            slopes, intercepts[span] = self._local.coefficients(weights, d)
            coefficients[span, self.feature_order_[:d]] = slopes
            done += len(batch)
        return coefficients, intercepts

    def _check_parameters(self) -> None:
        if self.ensemble not in ENSEMBLES:
            raise UnknownNameError("ensemble", self.ensemble, ENSEMBLES)
        if self.feature_score not in SCORES:
            raise UnknownNameError("feature score", self.feature_score, SCORES)
        if self.alpha < 0:
            raise InputError(f"alpha must be at least 0, not {self.alpha}")

    def _grow(self, X: FloatArray, y: FloatArray) -> Any:
        leaf = self.min_samples_leaf
        if isinstance(leaf, (int, np.integer)) and leaf > len(X):
            warnings.warn(
                f"min_samples_leaf={leaf} exceeds the {len(X)} training rows and is lowered to them",
                UserWarning,
                stacklevel=3,
            )
            leaf = len(X)
        shared = {
            "n_estimators": self.n_estimators,
            "max_features": self.max_features,
            "min_samples_leaf": leaf,
            "max_depth": None,
            "random_state": self.random_state,
        }
        if self.ensemble == "random_forest":
            return RandomForestRegressor(**shared, n_jobs=self.n_jobs).fit(X, y)
        return GradientBoostingRegressor(**shared).fit(X, y)

    def _trees(self) -> list[Any]:
        return list(np.asarray(self.ensemble_.estimators_, dtype=object).reshape(-1))

    def _leaves(self, X: FloatArray) -> IntArray:
        """The leaf of each row in each tree, numbered over all trees: (rows, trees)."""
        leaves = np.asarray(self.ensemble_.apply(X), dtype=np.int64).reshape(len(X), -1)
        sizes = [tree.tree_.node_count for tree in self._trees()]
        return leaves + np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)

    def _leaf_matrix(self, leaves: IntArray, *, fitting: bool = False) -> scipy.sparse.csr_array:
        """(rows, leaves of all trees); when fitting, 1 / training rows in the leaf, else 1."""
        n_leaves = sum(tree.tree_.node_count for tree in self._trees())
        rows, trees = leaves.shape
        columns = leaves.reshape(-1)
        values = np.ones(len(columns))
        if fitting:
            scale = trees if self.normalise_weights else 1
            values = 1.0 / np.bincount(columns, minlength=n_leaves)[columns] / scale
        return scipy.sparse.csr_array(
            (values, columns, np.arange(0, len(columns) + 1, trees)), shape=(rows, n_leaves)
        )

    def _batches(self, rows: FloatArray) -> Iterator[tuple[FloatArray, scipy.sparse.csr_array]]:
        """Rows in batches, each with its sparse weights (rows, n_train)."""
        for start in range(0, len(rows), BATCH_ROWS):
            batch = rows[start : start + BATCH_ROWS]
            weights = self._leaf_matrix(self._leaves(batch)) @ self._train_leaves.T
            yield batch, scipy.sparse.csr_array(weights)

    def _root_scores(self, p: int) -> FloatArray:
        scores = np.zeros(p)
        for estimator in self._trees():
            tree = estimator.tree_
            if tree.node_count == 1:
                continue
            gain = tree.impurity[0]
            if self.feature_score == "reduction":
                children = [tree.children_left[0], tree.children_right[0]]
                share = tree.weighted_n_node_samples[children] / tree.weighted_n_node_samples[0]
                gain = gain - share @ tree.impurity[children]
            scores[tree.feature[0]] += gain
        return scores

    def _rows(self, X: npt.ArrayLike) -> FloatArray:
        check_is_fitted(self)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))
