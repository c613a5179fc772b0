"""Laws that every explainer obeys: the registered ones, plug-ins, and a user's own file."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest

from xassay import explainers
from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.types import Explainer, Explanation, FloatArray

FILE = "a user's file"
QUICK: dict[str, dict[str, Any]] = {
    "kernel_shap": {"nsamples": 40},
    "sampling_shap": {"nsamples": 60},
    "lime": {"n_samples": 200},
    "lime_continuous": {"n_samples": 200},
    "maple": {"n_estimators": 20, "min_samples_leaf": 2},
    "permutation_shap": {"npermutations": 1},
    "shapiq": {"budget": 20},
}
BLIND = {"random", "maple", "zscore"}
"""Explainers that never ask the model about the explained rows: nothing it does there can fail them."""

SOURCE = """
import numpy as np

def occlude(predict, background, X):
    n = X.shape[1]
    occluded = np.repeat(X, n, axis=0)
    occluded[range(n), range(n)] = background[np.random.randint(len(background), size=n), range(n)]
    return predict(X) - predict(occluded)
"""

Make = Callable[..., Explainer]

KINDS = [
    (name, engine)
    for name in explainers.available()
    for engine in explainers.engines(name)
    if not explainers.record(name, engine).wants_model  # these have their own tests: any function is no model
]

pytestmark = pytest.mark.parametrize(
    ("name", "engine"), [*KINDS, (FILE, None)], ids=lambda part: str(part).replace("None", "")
)


def first(rows: FloatArray) -> FloatArray:
    """((1 and 2) xor (3 or not 4)); features 5 and 6 do nothing."""
    return ((rows[:, 0] * rows[:, 1]) != np.maximum(rows[:, 2], 1 - rows[:, 3])).astype(float)


def second(rows: FloatArray) -> FloatArray:
    return rows[:, 1] * (1 - rows[:, 4]) + rows[:, 5]


def bits(seed: int, shape: tuple[int, int]) -> FloatArray:
    return np.random.default_rng(seed).integers(0, 2, shape).astype(float)


BACKGROUND = bits(0, (12, 6))
ROWS = np.array(
    [[1, 1, 1, 0, 1, 0], [1, 1, 0, 1, 0, 1], [0, 1, 0, 0, 1, 1], [1, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0.0]]
)

WIDE_BACKGROUND = bits(1, (12, 16))
"""Wide enough that the failing row, all ones, is never met while another row is explained."""
WIDE_ROWS = np.vstack([bits(2, (1, 16)), np.ones((1, 16)), bits(3, (1, 16))])


def unless_all_ones(answer: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    def predict(rows: FloatArray) -> FloatArray:
        failing = rows.all(axis=1)
        return np.where(failing, answer(rows), first(rows)) if failing.any() else first(rows)

    return predict


def broken(_: FloatArray) -> FloatArray:
    raise ZeroDivisionError("the model broke")


def undecided(rows: FloatArray) -> FloatArray:
    return np.full(len(rows), np.nan)


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("explainer") / "mine.py"
    file.write_text(SOURCE)
    return f"{file}:occlude"


@pytest.fixture
def record(name: str, engine: str | None, spec: str) -> explainers.ExplainerRecord:
    return explainers.record(spec if name == FILE else name, engine)


@pytest.fixture
def make(name: str, engine: str | None, spec: str) -> Make:
    def quick(
        predict: Callable[..., Any] = first, background: Any = BACKGROUND, seed: int = 0, **options: Any
    ) -> Explainer:
        chosen = {**QUICK.get(name, {}), **options}
        registered = spec if name == FILE else name
        return explainers.make(
            registered, predict=predict, background=background, seed=seed, engine=engine, **chosen
        )

    return quick


def assert_same(found: Explanation, expected: FloatArray) -> None:
    assert not found.errors
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)


def test_it_implements_the_protocol(make: Make) -> None:
    assert isinstance(make(), Explainer)


def test_every_row_and_feature_has_a_finite_value(make: Make) -> None:
    found = make().explain(ROWS)
    assert found.values.shape == ROWS.shape
    assert np.isfinite(found.values).all()
    assert not found.errors


def test_no_rows_give_no_values(make: Make) -> None:
    assert make().explain(ROWS[:0]).values.shape == (0, 6)


@pytest.mark.parametrize("shape", [(1, 6), (12, 1), (1, 1)])
def test_one_feature_or_one_background_row_is_enough_except_for_a_fit(
    make: Make, shape: tuple[int, int], record: explainers.ExplainerRecord
) -> None:
    if record.surrogate and shape[0] == 1:
        with pytest.raises(InputError, match="a background of 1 row cannot be fitted"):
            make(lambda rows: rows.sum(axis=1), np.zeros(shape))
        return
    found = make(lambda rows: rows.sum(axis=1), np.zeros(shape)).explain(np.ones((2, shape[1])))
    assert not found.errors
    assert np.isfinite(found.values).all()


def test_equal_seeds_give_equal_values(make: Make) -> None:
    np.testing.assert_array_equal(make(seed=3).explain(ROWS).values, make(seed=3).explain(ROWS).values)


def test_explaining_again_gives_equal_values(make: Make) -> None:
    explainer = make()
    np.testing.assert_array_equal(explainer.explain(ROWS).values, explainer.explain(ROWS).values)


def test_the_seed_matters_where_and_only_where_there_are_draws(
    make: Make, record: explainers.ExplainerRecord
) -> None:
    changed = not np.array_equal(make(seed=0).explain(ROWS).values, make(seed=1).explain(ROWS).values)
    assert changed == record.stochastic


def test_the_row_id_matters_where_and_only_where_there_are_draws(
    make: Make, record: explainers.ExplainerRecord
) -> None:
    same = np.repeat(ROWS[:1], 5, axis=0)
    equal_ids, other_ids = make().explain(same, row_ids=[7] * 5), make().explain(same, row_ids=range(5))
    assert_same(equal_ids, equal_ids.values[[0] * 5])
    differ = not np.array_equal(other_ids.values, other_ids.values[[0] * 5])
    assert differ == (record.stochastic and not record.surrogate)


def test_batch_size_and_row_order_do_not_matter(make: Make) -> None:
    together = make().explain(ROWS).values
    explainer, order = make(), [3, 0, 4, 2, 1]
    assert_same(explainer.explain(ROWS[order], row_ids=order), together[order])
    for row_id in range(len(ROWS)):
        assert_same(explainer.explain(ROWS[[row_id]], row_ids=[row_id]), together[[row_id]])


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(lambda scores: scores[:, None], id="column"),
        pytest.param(lambda scores: scores.tolist(), id="list"),
        pytest.param(lambda scores: scores.astype(np.float32), id="float32"),
        pytest.param(lambda scores: scores.astype(bool), id="bool"),
        pytest.param(lambda scores: pd.DataFrame({"score": scores}), id="frame"),
    ],
)
def test_the_form_of_the_prediction_does_not_matter(make: Make, form: Callable[[FloatArray], Any]) -> None:
    assert_same(make(lambda rows: form(first(rows))).explain(ROWS), make().explain(ROWS).values)


def test_several_outputs_equal_one_at_a_time(make: Make) -> None:
    both = make(lambda rows: np.stack([first(rows), second(rows)], axis=1)).explain(ROWS)
    alone = [make(predict).explain(ROWS).values for predict in (first, second)]
    assert_same(both, np.stack(alone, axis=2))


@pytest.mark.parametrize("dtype", [bool, int, np.int8, np.float32])
def test_the_type_of_the_rows_does_not_matter(make: Make, dtype: type) -> None:
    found = make(background=BACKGROUND.astype(dtype)).explain(ROWS.astype(dtype))
    assert_same(found, make().explain(ROWS).values)


def test_frames_explain_like_arrays(make: Make) -> None:
    found = make(background=pd.DataFrame(BACKGROUND)).explain(pd.DataFrame(ROWS))
    assert_same(found, make().explain(ROWS).values)


@pytest.mark.parametrize("predict", [first, unless_all_ones(broken)])
def test_the_global_random_state_is_left_alone(
    make: Make, predict: Callable[..., Any], record: explainers.ExplainerRecord
) -> None:
    before = np.random.get_state()
    with pytest.raises(ExplainerError) if record.tabulates and predict is not first else nullcontext():
        make(predict, WIDE_BACKGROUND).explain(WIDE_ROWS)
    after = np.random.get_state()
    np.testing.assert_array_equal(after[1], before[1])
    assert after[2:] == before[2:]


def test_explaining_leaves_rows_and_background_alone(make: Make) -> None:
    rows, background = ROWS.copy(), BACKGROUND.copy()
    make(background=background).explain(rows)
    np.testing.assert_array_equal(rows, ROWS)
    np.testing.assert_array_equal(background, BACKGROUND)


@pytest.mark.parametrize("answer", [broken, undecided])
def test_a_row_that_fails_is_nan_and_named_and_alone(
    make: Make,
    name: str,
    answer: Callable[[FloatArray], FloatArray],
    record: explainers.ExplainerRecord,
) -> None:
    if record.tabulates:
        with pytest.raises(ExplainerError, match="on the table of all combinations"):
            make(unless_all_ones(answer), WIDE_BACKGROUND)
        return
    fine = make(first, WIDE_BACKGROUND).explain(WIDE_ROWS)
    found = make(unless_all_ones(answer), WIDE_BACKGROUND).explain(WIDE_ROWS)
    failed = [] if name in BLIND else [1]
    assert list(found.errors) == failed
    assert np.isnan(found.values[failed]).all()
    others = np.delete(np.arange(3), failed)
    np.testing.assert_allclose(found.values[others], fine.values[others], rtol=0, atol=1e-12)
    if answer is broken:
        assert set(found.errors.values()) <= {"ZeroDivisionError: the model broke"}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param(lambda rows: rows[:1, 0], r"returned shape \(1,\) for 12 rows", id="one row"),
        pytest.param(lambda rows: rows[:, 0] + 1j, "expected real numbers", id="complex"),
        pytest.param(lambda rows: rows[:, :0], r"returned shape \(12, 0\)", id="no output"),
        pytest.param(lambda _: 1 / 0, "predict failed on the background: ZeroDivisionError", id="error"),
        pytest.param(lambda _: 1.0, r"returned shape \(\) for 12 rows", id="a number"),
        pytest.param(lambda rows: np.zeros(len(rows) + 1), r"returned shape \(13,\) for 12 rows", id="long"),
        pytest.param(lambda rows: np.zeros((len(rows), 1, 1)), r"returned shape \(12, 1, 1\)", id="cube"),
        pytest.param(lambda rows: ["high"] * len(rows), "returned list, expected real numbers", id="text"),
    ],
)
def test_a_model_that_returns_no_score_a_row_is_refused(
    make: Make, answer: Callable[[FloatArray], Any], message: str
) -> None:
    with pytest.raises(ExplainerError, match=message):
        make(answer)


@pytest.mark.parametrize("background", [np.zeros((0, 6)), []])
def test_a_background_without_rows_is_refused(make: Make, background: Any) -> None:
    with pytest.raises(InputError, match="the background"):
        make(background=background)


@pytest.mark.parametrize(
    ("rows", "row_ids", "message"),
    [
        pytest.param(ROWS[:, :5], None, "the rows have 5 features, the background 6", id="narrow"),
        pytest.param(ROWS[0], None, r"must have shape \(rows, features\), got \(6,\)", id="one row"),
        pytest.param([["a"] * 6], None, "must hold numbers only", id="text"),
        pytest.param(ROWS, [0, 1], "row_ids must be 5 integers", id="few ids"),
        pytest.param(ROWS, [0.0, 1.0, 2.0, 3.0, 4.0], "row_ids must be 5 integers", id="float ids"),
    ],
)
def test_rows_that_do_not_fit_are_refused(make: Make, rows: Any, row_ids: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make().explain(rows, row_ids=row_ids)


def test_a_model_that_cannot_be_called_is_refused(make: Make) -> None:
    with pytest.raises(InputError, match="predict must be a function, got str"):
        make("model.pkl")


def test_an_unknown_option_is_refused_or_reaches_the_users_function(make: Make, name: str) -> None:
    if name == FILE:
        assert "unexpected keyword argument 'sample'" in make(sample=1).explain(ROWS[:1]).errors[0]
        return
    with pytest.raises(UnknownNameError, match=f"unknown option of explainer {name} 'sample'"):
        make(sample=1)


def test_a_model_that_writes_to_its_rows_harms_nobody(make: Make) -> None:
    def scribbles(rows: FloatArray) -> FloatArray:
        scores = first(rows)
        rows[:] = 1 - rows
        return scores

    np.testing.assert_array_equal(make(scribbles).explain(ROWS).values, make(first).explain(ROWS).values)
