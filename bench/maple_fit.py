"""What MAPLE's choice of features costs beside its forest, and beside the textbook loop.

Usage: python bench/maple_fit.py FOLDER

FOLDER holds communities.csv and music.csv: an unnamed row counter, features, the target last.
One thread. The textbook fits one weighted Ridge a validation row and number of features, with
the same forest; it is timed on a sample of them and scaled up.
"""

import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from xassay.models import MapleRegressor
from xassay.types import FloatArray

SAMPLED_ROWS = 12


def main() -> None:
    """Print one table: a line a data set."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    print(
        f"{'data set':12} {'train':>10} {'forest':>8} {'MAPLE':>8} {'ratio':>6} {'textbook':>9} {'ratio':>6}"
    )
    with threadpool_limits(1):
        for name in ("communities", "music"):
            print(_line(name, pl.read_csv(folder / f"{name}.csv").to_numpy().astype(np.float64)))


def _line(name: str, table: FloatArray) -> str:
    rng = np.random.default_rng(0)
    table = table[rng.permutation(len(table))]
    n, m = len(table) // 2, len(table) // 4
    scale = table[:n].std(axis=0, ddof=1)
    table = ((table - table[:n].mean(axis=0)) / np.where(scale < 1e-10, 1, scale))[:, scale >= 1e-10]  # noqa: PLR2004
    X, y, X_val, y_val = table[:n, :-1], table[:n, -1], table[n : n + m, :-1], table[n : n + m, -1]
    model = MapleRegressor()
    began = time.perf_counter()
    model.fit(X, y, X_val=X_val, y_val=y_val)
    whole = time.perf_counter() - began
    began = time.perf_counter()
    model.ensemble_.fit(X, y)
    forest = time.perf_counter() - began
    chosen = rng.choice(m, SAMPLED_ROWS, replace=False)
    weights = model.training_weights(X_val[chosen])
    began = time.perf_counter()
    for row, w in zip(X_val[chosen], weights, strict=True):
        for d in range(1, X.shape[1] + 1):
            kept = model.feature_order_[:d]
            Ridge(alpha=model.alpha).fit(X[:, kept], y, sample_weight=w).predict(row[None, kept])
    textbook = (time.perf_counter() - began) / SAMPLED_ROWS * m + forest
    shape = f"{X.shape[0]}x{X.shape[1]}"
    return (
        f"{name:12} {shape:>10} {forest:7.2f}s {whole:7.2f}s {whole / forest:6.2f} {textbook:8.1f}s "
        f"{textbook / whole:6.1f}"
    )


if __name__ == "__main__":
    main()
