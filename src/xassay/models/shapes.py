"""Data whose global pattern is known: where reading one off local distributions is shown.

Reference:
    Plumb, Molitor & Talwalkar, "Model Agnostic Supervised Local Explanations", NeurIPS 2018,
    arXiv:1807.02910, section 5.4.
"""

from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from xassay.errors import InputError, UnknownNameError
from xassay.models.maple import MapleRegressor
from xassay.seeds import generator, legacy_seed
from xassay.types import FloatArray

N_FEATURES = 5
N_TREES = 200
LEAF = 10

SHAPES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda x: x - 0.5,
    "s_curve": lambda x: np.clip(3 * x - 1.5, -0.5, 0.5),
    "steps": lambda x: np.digitize(x, [1 / 3, 2 / 3]) / 2 - 0.5,
}
"""What feature 0 does to the target, from -0.5 to 0.5: a line; a plateau up to 1/3, a ramp, a
plateau from 2/3; three levels with steps at 1/3 and 2/3."""


def demonstration(
    shape: str, *, n: int = 200, noise: float = 0.1, seed: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Rows of five uniform features, and a target that follows the first one only.

    Args:
        shape: ``linear``, ``s_curve`` or ``steps``, see `SHAPES`.
        n: number of rows.
        noise: standard deviation of the normal noise on the target.
        seed: fixes the rows and the noise.

    Returns:
        X, uniform on [0, 1], shape (n, 5), and y = shape(x_0) + noise, shape (n,).

    Raises:
        InputError: an unknown shape, fewer than two rows, or noise that is negative.

    Example:
        >>> X, y = demonstration("steps", noise=0.0)
        >>> X.shape, np.unique(y).tolist()
        ((200, 5), [-0.5, 0.0, 0.5])
    """
    if shape not in SHAPES:
        raise UnknownNameError("shape", shape, SHAPES)
    if n < 2:  # noqa: PLR2004 - a forest needs two rows
        raise InputError(f"n must be at least 2, not {n}")
    if not (noise >= 0 and np.isfinite(noise)):
        raise InputError(f"noise must be at least 0, not {noise}")
    rng = generator(seed, "demonstration", shape)
    X = rng.uniform(size=(n, N_FEATURES))
    return X, SHAPES[shape](X[:, 0]) + noise * rng.standard_normal(n)


def demonstrate(
    shape: str, seed: int = 0, *, n: int = 200, noise: float = 0.1
) -> tuple[MapleRegressor, FloatArray]:
    """Fit a random forest to a demonstration, and MAPLE to the forest's predictions.

    Both forests consider every feature at a split (``max_features=1.0``, scikit-learn's
    default). With half of five features three splits in five cannot use the active one, split
    on noise instead, and blur the boundaries that the demonstration is to show.

    MAPLE validates on the rows it is fitted to. Validation only chooses the number of features,
    on which no weight depends, and rows split off would be lost to the local distributions.

    Args:
        shape: as in `demonstration`, and likewise n and noise.
        seed: fixes the data and both forests.
        n: number of rows.
        noise: standard deviation of the target's noise.

    Returns:
        The fitted MAPLE and its rows, shape (n, 5).

    Raises:
        InputError: as `demonstration` does.

    Example:
        >>> model, X = demonstrate("linear", n=60)
        >>> int(model.feature_order_[0]), X.shape
        (0, (60, 5))
    """
    X, y = demonstration(shape, n=n, noise=noise, seed=seed)
    forest = RandomForestRegressor(
        N_TREES,
        min_samples_leaf=LEAF,
        max_features=1.0,
        random_state=legacy_seed(seed, "demonstration", shape, "forest"),
    )
    predicted = forest.fit(X, y).predict(X)
    model = MapleRegressor(
        n_estimators=N_TREES,
        min_samples_leaf=LEAF,
        max_features=1.0,
        random_state=legacy_seed(seed, "demonstration", shape, "maple"),
    )
    return model.fit(X, predicted, X_val=X, y_val=predicted), X
