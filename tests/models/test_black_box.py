import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVR

from xassay.errors import InputError, UnknownNameError
from xassay.models import black_box
from xassay.types import FloatArray

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(300, 6)), RNG.normal(size=300)

SOURCE = """
from sklearn.linear_model import Ridge

ready = Ridge(alpha=3.0)
number = 7

def make(alpha=1.0):
    return Ridge(alpha=alpha)

class Silent:
    def fit(self, X, y):
        return self
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("options", [{}, {"C": 5.0, "gamma": 0.03}, {"gamma": "auto"}])
def test_the_fast_support_vectors_equal_scikit_learns(options: dict[str, float]) -> None:
    model = SVR(**options).fit(X, Y)
    fast = black_box.predictor(model, "svr")
    assert isinstance(fast.predict, black_box.RadialSupportVectors)
    far = 3 * RNG.normal(size=(1000, 6))
    np.testing.assert_allclose(fast(far), model.predict(far), rtol=0, atol=1e-11)
    assert fast(far[:0]).shape == (0,)


@pytest.mark.parametrize("options", [{"kernel": "linear"}, {"epsilon": 50.0}])
def test_other_kernels_and_no_support_vectors_are_left_to_scikit_learn(options: dict[str, Any]) -> None:
    model = SVR(**options).fit(X, Y)
    found = black_box.predictor(model, "svr")
    assert not isinstance(found.predict, black_box.RadialSupportVectors)
    np.testing.assert_array_equal(found(X), model.predict(X))


def test_a_model_may_write_to_its_rows_and_answer_in_a_column() -> None:
    class Scribbler:
        def predict(self, rows: FloatArray) -> FloatArray:
            rows *= 0.5
            return rows[:, [0]]

    rows = X.copy()
    np.testing.assert_array_equal(black_box.predictor(Scribbler(), "mine")(rows), X[:, 0] / 2)
    np.testing.assert_array_equal(rows, X)


def test_every_unset_seed_is_set_in_the_parts_of_a_pipeline_too(tmp_path: Path) -> None:
    path = tmp_path / "piped.py"
    path.write_text(
        "from sklearn.pipeline import make_pipeline\nfrom sklearn.ensemble import RandomForestRegressor\n"
        "def make():\n    return make_pipeline(RandomForestRegressor(3))\n"
    )
    one, same, other = (black_box.make(f"{path}:make", seed).fit(X, Y).predict(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("name", black_box.CLASSES)
def test_named_models_fit_and_predict(name: str) -> None:
    options = {"mlp": ":max_iter=2000:hidden_layer_sizes=3", "rf": ":n_estimators=5"}.get(name, "")
    model = black_box.make(name + options, seed=3).fit(X, Y)
    assert black_box.predictor(model, name)(X).shape == (300,)
    assert model.get_params().get("random_state", 3) is not None
    assert black_box.make(name, seed=3).get_params() == black_box.make(name, seed=3).get_params()


def test_an_estimator_its_class_and_a_function_can_be_imported(file: Path) -> None:
    assert black_box.make(f"{file}:ready").alpha == 3
    assert black_box.make(f"{file}:ready:alpha=4").alpha == 4
    assert black_box.make(f"{file}:ready").alpha == 3
    assert black_box.make(f"{file}:make:alpha=5").alpha == 5
    assert black_box.make("sklearn.linear_model:Ridge:alpha=6").alpha == 6


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{}:number", "'int' object is not callable"),
        ("{}:absent", "has no 'absent'"),
        ("{}:make:beta=1", "unexpected keyword argument 'beta'"),
        ("{}:ready:beta=1", "Invalid parameter 'beta'"),
        ("{}:Silent", "Silent has no predict"),
        ("{}", "name what is in the file"),
        ("no_such_module:Thing", "cannot be imported: ModuleNotFoundError"),
        ("sklearn.linear_model:Rigde", "has no 'Rigde'"),
        ("svr:C", "expected option=value, got 'C'"),
        ("svr:D=1", "unexpected keyword argument 'D'"),
    ],
)
def test_models_that_cannot_be_had_are_refused_in_one_line(file: Path, spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        black_box.make(spec.format(file))
    assert "\n" not in str(caught.value)


def test_an_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown model 'svm': did you mean 'svr'"):
        black_box.make("svm")


def test_the_version_changes_with_the_code(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = black_box.version(f"{file}:make")
    file.write_text(SOURCE + "\n# changed\n")
    assert black_box.version(f"{file}:make") != before
    assert black_box.version("svr:C=2") == "svr"
    monkeypatch.syspath_prepend(file.parent)
    for name in ("make", "ready", "Silent", "later"):
        file.write_text(f"{SOURCE}\nfrom functools import partial\nlater = partial(make, alpha=2)\n")
        first = black_box.version(f"mine:{name}")
        file.write_text(file.read_text() + "# changed again\n")
        assert black_box.version(f"mine:{name}") != first
    sys.modules.pop("mine")
