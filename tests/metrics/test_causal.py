import numpy as np
import pytest

from xassay.errors import InputError
from xassay.metrics import causal_losses, causal_losses_and_trivial, causal_rmse, causal_skill
from xassay.types import Explanation, FloatArray

ROWS = np.random.default_rng(0).standard_normal((400, 3))
SLOPES = np.array([1.0, -2.0, 0.5])


def linear(rows: FloatArray) -> FloatArray:
    return rows @ SLOPES + 4


def itself(rows: FloatArray = ROWS) -> Explanation:
    slopes = np.tile(SLOPES, (len(rows), 1))
    return Explanation(slopes, coefficients=slopes, intercepts=np.full(len(rows), 4.0))


def test_a_linear_model_explained_by_itself_has_no_loss() -> None:
    assert causal_losses(itself(), linear, ROWS).max() < 1e-24
    assert causal_rmse(itself(), linear, ROWS) < 1e-12


@pytest.mark.parametrize("sigma", [0.1, 0.25, 1.0])
def test_the_tangent_of_a_parabola_errs_by_root_three_sigma_squared(sigma: float) -> None:
    x = np.random.default_rng(1).standard_normal((4000, 1))
    tangent = Explanation(2 * x, coefficients=2 * x, intercepts=-(x[:, 0] ** 2))
    found = causal_rmse(tangent, lambda rows: rows[:, 0] ** 2, x, sigma=sigma, n_samples=10)
    assert found == pytest.approx(np.sqrt(3) * sigma**2, rel=0.05)


def test_the_recipe_written_out_gives_the_same_number() -> None:
    def model(rows: FloatArray) -> FloatArray:
        return np.sin(rows).sum(axis=1)

    losses = causal_losses(itself(), model, ROWS, sigma=(0.1, 0.5), n_samples=4, seed=3)
    assert losses.shape == (2, 400, 4)
    assert causal_rmse(itself(), model, ROWS, sigma=0.5, n_samples=4, seed=3) == pytest.approx(
        np.sqrt(np.mean(losses[1]))
    )
    calls: list[FloatArray] = []

    def spied(rows: FloatArray) -> FloatArray:
        calls.append(rows)
        return model(rows)

    causal_losses(itself(), spied, ROWS, sigma=(0.1, 0.5), n_samples=4, seed=3)
    (shown,) = calls
    moved = shown.reshape(2, 400, 4, 3)
    np.testing.assert_allclose((moved[1] - ROWS[:, None]), 5 * (moved[0] - ROWS[:, None]), atol=1e-12)
    expected = (moved @ SLOPES + 4 - np.sin(moved).sum(axis=-1)) ** 2
    np.testing.assert_allclose(losses, expected, atol=1e-12)
    assert np.std(moved[1] - ROWS[:, None]) == pytest.approx(0.5, rel=0.05)


def test_the_noise_belongs_to_the_row_and_not_to_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    def model(rows: FloatArray) -> FloatArray:
        return np.cos(rows[:, 0])

    whole = causal_losses(itself(), model, ROWS)
    some = [7, 2, 300]
    alone = causal_losses(itself(ROWS[some]), model, ROWS[some], row_ids=some)
    np.testing.assert_allclose(alone, whole[:, some], atol=1e-12)
    monkeypatch.setattr("xassay.metrics.causal.BATCH_VALUES", 50)
    np.testing.assert_allclose(causal_losses(itself(), model, ROWS), whole, atol=1e-12)


def test_rows_without_finite_output_are_left_out_and_counted() -> None:
    def gaps(rows: FloatArray) -> FloatArray:
        return np.where(rows[:, 0] > 1, np.nan, linear(rows) + 1)

    losses = causal_losses(itself(), gaps, ROWS)
    assert np.isnan(losses).any()
    with pytest.warns(RuntimeWarning, match=r"\d+ of 400 rows left out"):
        assert causal_rmse(itself(), gaps, ROWS) == pytest.approx(1)
    with pytest.warns(RuntimeWarning, match="400 of 400"):
        assert np.isnan(causal_rmse(itself(), lambda rows: rows[:, 0] * np.nan, ROWS))


def test_columns_on_another_scale_are_named_with_what_was_measured() -> None:
    with pytest.warns(UserWarning, match=r"1 columns .*column 1: mean 500, standard deviation 9\d"):
        causal_losses(itself(), linear, ROWS * [1, 100, 1] + [0, 500 - ROWS[:, 1].mean() * 100, 0])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"explanation": Explanation(ROWS)}, "no local linear model"),
        ({"explanation": itself(ROWS[:5])}, "coefficients have shape"),
        ({"sigma": 0.0}, "sigma"),
        ({"sigma": (0.1, -1.0)}, "sigma"),
        ({"sigma": ()}, "sigma"),
        ({"sigma": float("nan")}, "sigma"),
        ({"n_samples": 0}, "n_samples"),
        ({"row_ids": [1, 2]}, "row_ids"),
        ({"predict": lambda rows: rows}, r"shape \(4000, 3\)"),
        ({"predict": lambda _: 1.0}, r"shape \(\)"),
    ],
    ids=range(10),
)
def test_what_cannot_be_measured_is_refused(changes: dict[str, object], words: str) -> None:
    arguments = {"explanation": itself(), "predict": linear, "X": ROWS} | changes
    with pytest.raises(InputError, match=words):
        causal_losses(**arguments)


def test_a_model_that_writes_to_its_rows_changes_no_loss() -> None:
    def scribbles(rows: FloatArray) -> FloatArray:
        scores = np.sin(rows).sum(axis=1)
        rows[:] = 0
        return scores

    def reads(rows: FloatArray) -> FloatArray:
        return np.sin(rows).sum(axis=1)

    kept = ROWS.copy()
    for measure in (causal_losses, causal_losses_and_trivial):
        np.testing.assert_array_equal(measure(itself(), scribbles, ROWS), measure(itself(), reads, ROWS))
    np.testing.assert_array_equal(ROWS, kept)


def test_the_trivial_losses_are_those_of_the_constant_explanation() -> None:
    def model(rows: FloatArray) -> FloatArray:
        return np.sin(rows).sum(axis=1)

    flat = np.zeros(ROWS.shape)
    constant = Explanation(flat, coefficients=flat, intercepts=model(ROWS))
    losses, trivial = causal_losses_and_trivial(itself(), model, ROWS, seed=5)
    np.testing.assert_array_equal(losses, causal_losses(itself(), model, ROWS, seed=5))
    np.testing.assert_allclose(trivial, causal_losses(constant, model, ROWS, seed=5), atol=1e-15)
    expected = 1 - np.sqrt(losses.mean(axis=(1, 2)) / trivial.mean(axis=(1, 2)))
    np.testing.assert_allclose(causal_skill(itself(), model, ROWS, (0.1, 0.25), seed=5), expected)


def test_a_row_that_fails_at_one_sigma_counts_at_the_others() -> None:
    def gaps(rows: FloatArray) -> FloatArray:
        return np.where(np.abs(rows[:, 0]) > 2, np.nan, rows[:, 0] ** 2)

    with pytest.warns(RuntimeWarning, match="rows left out"):
        both = causal_rmse(itself(), gaps, ROWS, sigma=(0.1, 2.0))
    with pytest.warns(RuntimeWarning, match="rows left out"):
        assert causal_rmse(itself(), gaps, ROWS, sigma=0.1) == pytest.approx(both[0])
