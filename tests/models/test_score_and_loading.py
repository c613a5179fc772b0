"""A model by its place and as a function: one number a row, or one line that says why not."""

import functools
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import cloudpickle
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.models import loading
from xassay.models.score import Score, score_of
from xassay.types import FloatArray

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3)).astype(np.float32).astype(np.float64)
TARGET = X @ [1.0, -2.0, 0.5]
THREE = np.array(["low", "middle", "high"])[np.digitize(TARGET, [-1, 1])]
TWO = np.where(TARGET > 0, "yes", "no")

LINE = LinearRegression().fit(X, TARGET + X[:, 0] ** 2)
CLASSIFIER = LogisticRegression().fit(X, THREE)
BINARY = LogisticRegression().fit(X, TWO)
DETECTOR = IsolationForest(n_estimators=10, random_state=0).fit(X)
DENSITY = KernelDensity().fit(X)


def total(rows: Any) -> Any:
    return np.asarray(rows).sum(axis=1)


def of_three(rows: Any) -> Any:
    return CLASSIFIER.predict_proba(rows)


def of_two(rows: Any) -> Any:
    return BINARY.predict_proba(rows)


def expit(rows: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(rows)[:, 0]))


@pytest.mark.parametrize(
    ("model", "kind", "expected", "method"),
    [
        (LINE, "regression", LINE.predict(X), "LinearRegression.predict"),
        (BINARY, "classification", BINARY.predict_proba(X)[:, 1], "LogisticRegression.predict_proba"),
        (DETECTOR, "anomaly", DETECTOR.decision_function(X), "IsolationForest.decision_function"),
        (DENSITY, "anomaly", DENSITY.score_samples(X), "KernelDensity.score_samples"),
        (LINE.predict, "regression", LINE.predict(X), "predict"),
        (DETECTOR.score_samples, "anomaly", DETECTOR.score_samples(X), "score_samples"),
        (BINARY.decision_function, "classification", BINARY.decision_function(X), "decision_function"),
        (total, "regression", X.sum(axis=1), "total"),
        (total, "anomaly", X.sum(axis=1), "total"),
        (expit, "classification", 1 / (1 + np.exp(-X[:, 0])), "expit"),
        (functools.partial(total), "regression", X.sum(axis=1), "partial"),
    ],
)
def test_every_kind_asks_the_method_that_is_its_own(
    model: Any, kind: str, expected: FloatArray, method: str
) -> None:
    score = score_of(model, kind)
    np.testing.assert_array_equal(score(X), expected)
    assert (score.kind, score.method, score.sign) == (kind, method, 1)


@pytest.mark.parametrize(
    ("model", "estimator"),
    [(LINE, LINE), (LINE.predict, LINE), (total, None), (functools.partial(total), None), ("a".join, None)],
    ids=["estimator", "its method", "function", "partial", "method of no estimator"],
)
def test_the_estimator_is_known_where_there_is_one(model: Any, estimator: Any) -> None:
    assert score_of(model, "regression").estimator is estimator


@pytest.mark.parametrize("model", [CLASSIFIER, CLASSIFIER.predict_proba], ids=["estimator", "method"])
@pytest.mark.parametrize("label", ["low", "middle", "high"])
def test_a_class_is_found_by_its_label(model: Any, label: str) -> None:
    score = score_of(model, "classification", class_=label)
    expected = CLASSIFIER.predict_proba(X)[:, ["high", "low", "middle"].index(label)]
    np.testing.assert_array_equal(score(X), expected)
    assert score.label == label


@pytest.mark.parametrize(
    ("labels", "wanted", "position"),
    [([3, 1], 3, 1), ([3, 1], "1", 0), ([False, True], True, 1), ([False, True], "False", 0)],
)
def test_labels_that_are_no_text_are_found_as_people_write_them(
    labels: list[Any], wanted: Any, position: int
) -> None:
    model = LogisticRegression().fit(X, np.array(labels)[(TARGET > 0).astype(int)])
    assert score_of(model, "classification", class_=wanted).position == position


@pytest.mark.parametrize("wanted", [0, 2, "2", np.int64(1)])
def test_a_class_of_a_function_is_found_by_its_position(wanted: Any) -> None:
    score = score_of(of_three, "classification", class_=wanted)
    np.testing.assert_array_equal(score(X), CLASSIFIER.predict_proba(X)[:, int(wanted)])
    assert score.label == f"class {int(wanted)}"


def test_a_class_of_an_estimator_is_found_by_its_position() -> None:
    assert score_of(CLASSIFIER, "classification", class_=2).label == "middle"


def test_a_label_that_is_a_float_is_found_by_the_whole_number() -> None:
    model = LogisticRegression().fit(X, (TARGET > 0).astype(float))
    assert score_of(model, "classification", class_=1).position == 1


@pytest.mark.parametrize("model", [BINARY, BINARY.predict_proba, of_two])
def test_of_two_classes_the_second_is_explained(model: Any) -> None:
    np.testing.assert_array_equal(score_of(model, "classification")(X), BINARY.predict_proba(X)[:, 1])


def test_the_only_class_there_is_is_explained() -> None:
    class Sure:
        classes_ = ("always",)

        def predict_proba(self, rows: FloatArray) -> FloatArray:
            return np.ones((len(rows), 1))

    score = score_of(Sure(), "classification")
    assert (score.position, score.label, score(X[:2]).tolist()) == (0, "always", [1, 1])


def test_the_logit_of_a_logistic_regression_is_its_decision_function() -> None:
    score = score_of(BINARY, "classification", link="logit")
    np.testing.assert_allclose(score(X), BINARY.decision_function(X), rtol=1e-12, atol=1e-12)
    other = score_of(BINARY, "classification", class_="no", link="logit")
    np.testing.assert_allclose(other(X), -BINARY.decision_function(X), rtol=1e-12, atol=1e-12)


def test_the_logit_of_certainty_is_infinite_without_a_warning() -> None:
    score = score_of(lambda rows: rows[:, 0], "classification", link="logit")
    answer = score(np.array([[0.0], [1.0], [0.5], [0.75], [np.nan]]))
    np.testing.assert_allclose(answer, [-np.inf, np.inf, 0, np.log(3), np.nan])


@pytest.mark.parametrize("link", ["identity", "logit"])
def test_the_sign_turns_the_score_round_after_the_link(link: str) -> None:
    score = score_of(BINARY, "classification", link=link)
    np.testing.assert_array_equal(attrs.evolve(score, sign=-1)(X), -score(X))


@pytest.mark.parametrize(
    "shaped",
    [
        lambda answer: answer,
        lambda answer: answer[:, None],
        list,
        pd.Series,
        lambda answer: pd.DataFrame({"score": answer}),
        pl.Series,
        lambda answer: answer.astype(object),
    ],
    ids=["vector", "column", "list", "pandas", "frame", "polars", "objects"],
)
def test_an_answer_of_one_number_a_row_is_taken_in_any_form(shaped: Callable[[FloatArray], Any]) -> None:
    found = score_of(lambda rows: shaped(rows[:, 0]), "regression")(X)
    np.testing.assert_array_equal(found, X[:, 0], strict=True)


@pytest.mark.parametrize(
    ("dtype", "expected"), [("float32", [0.5, 0, 1]), ("int64", [0, 0, 1]), ("bool", [1, 0, 1])]
)
def test_scores_are_floats_of_double_precision(dtype: str, expected: list[float]) -> None:
    found = score_of(lambda rows: rows[:, 0].astype(dtype), "regression")(np.array([[0.5], [0], [1]]))
    np.testing.assert_array_equal(found, np.array(expected, dtype=np.float64), strict=True)


def test_no_row_gives_no_score() -> None:
    assert score_of(total, "regression")(X[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("kind", "answer", "words"),
    [
        ("regression", X[:, :2], r"gives shape \(80, 2\) for 80 rows, expected \(80,\)"),
        ("regression", X[:5, 0], r"gives shape \(5,\) for 80 rows"),
        ("regression", 3.0, r"gives shape \(\) for 80 rows"),
        ("regression", None, r"gives shape \(\)"),
        ("regression", [X[:, 0]], r"gives shape \(1, 80\)"),
        ("regression", TWO, "gives ndarray, expected numbers"),
        ("regression", [*TWO], "gives list, expected numbers"),
        ("regression", X[:, 0] * 1j, "gives ndarray, expected numbers"),
        ("regression", [[1], [2, 3]], "gives list, expected numbers"),
        ("regression", {"a": 1}, "gives dict, expected numbers"),
        ("classification", X[:5], r"gives shape \(5, 3\) for 80 rows"),
        ("classification", np.ones((80, 2, 2)), r"gives shape \(80, 2, 2\)"),
    ],
)
def test_an_answer_that_is_no_number_a_row_is_an_error_in_one_line(
    kind: str, answer: Any, words: str
) -> None:
    def model(rows: Any) -> Any:
        return answer

    with pytest.raises(ExplainerError, match=f"model {words}") as caught:
        score_of(model, kind)(X)
    assert "\n" not in str(caught.value)


def test_probabilities_in_a_single_column_are_taken() -> None:
    found = score_of(lambda rows: expit(rows)[:, None], "classification")(X)
    np.testing.assert_array_equal(found, expit(X))


def test_a_class_beyond_the_last_column_is_an_error_in_one_line() -> None:
    with pytest.raises(ExplainerError, match="class 5"):
        score_of(of_two, "classification", class_=5)(X)


@pytest.mark.parametrize(
    ("model", "wanted"), [(BINARY.decision_function, "no"), (expit, 0)], ids=["label", "position"]
)
def test_the_first_of_two_classes_is_not_silently_the_second(model: Any, wanted: Any) -> None:
    try:
        found = score_of(model, "classification", class_=wanted)(X)
    except (InputError, ExplainerError):
        return
    assert not np.array_equal(found, score_of(model, "classification")(X))


def test_dates_are_no_scores() -> None:
    def model(rows: Any) -> Any:
        return np.full(len(rows), "2020-01-02", dtype="datetime64[D]")

    with pytest.raises(ExplainerError, match="expected numbers"):
        score_of(model, "regression")(X)


@pytest.mark.parametrize(
    ("model", "options", "words"),
    [
        (LINE, {"kind": "regress"}, "unknown kind 'regress'.*regression"),
        (BINARY, {"kind": "classification", "link": "probit"}, "unknown link 'probit'.*identity, logit"),
        (LINE, {"kind": "regression", "class_": 1}, "class and link go with kind classification"),
        (DETECTOR, {"kind": "anomaly", "link": "logit"}, "go with kind classification, not anomaly"),
        (LinearRegression, {"kind": "regression"}, "is the class LinearRegression; give a fitted one"),
        (LINE, {"kind": "classification"}, "LinearRegression has no predict_proba"),
        (LINE, {"kind": "anomaly"}, "LinearRegression has no decision_function or score_samples"),
        (SVC().fit(X, TWO), {"kind": "classification"}, "SVC has no predict_proba"),
        (LocalOutlierFactor(), {"kind": "anomaly"}, "LocalOutlierFactor has no decision_function"),
        (None, {"kind": "regression"}, "NoneType has no predict"),
        (7, {"kind": "regression"}, "int has no predict"),
        (CLASSIFIER, {"kind": "classification"}, "name the class to explain; .* high, low, middle"),
        (
            CLASSIFIER.predict_proba,
            {"kind": "classification"},
            "name the class to explain; .* high, low, middle",
        ),
        (CLASSIFIER, {"kind": "classification", "class_": "hihg"}, "unknown class 'hihg'.*'high'"),
        (total, {"kind": "classification", "class_": "yes"}, "class 'yes': the model names no classes"),
        (total, {"kind": "classification", "class_": -1}, "class -1: .* give its position"),
        (total, {"kind": "classification", "class_": 1.5}, "class 1.5: .* give its position"),
    ],
)
def test_a_model_without_a_score_of_the_kind_is_refused_in_one_line(
    model: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises((InputError, UnknownNameError), match=words) as caught:
        score_of(model, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (LINE, {"kind": "regression"}),
        (LINE.predict, {"kind": "regression"}),
        (CLASSIFIER, {"kind": "classification", "class_": "low", "link": "logit"}),
        (DETECTOR, {"kind": "anomaly"}),
    ],
)
def test_a_pickled_score_scores_alike(model: Any, options: dict[str, Any]) -> None:
    score = attrs.evolve(score_of(model, **options), sign=-1)
    copy = pickle.loads(pickle.dumps(score))  # noqa: S301 - its own
    np.testing.assert_array_equal(copy(X), score(X))
    for field in ("method", "kind", "position", "label", "link", "sign"):
        assert getattr(copy, field) == getattr(score, field)


def test_a_score_of_a_lambda_goes_to_other_processes() -> None:
    score = score_of(lambda rows: rows[:, 0] * 3, "regression")
    copy = pickle.loads(cloudpickle.dumps(score))  # noqa: S301 - its own
    np.testing.assert_array_equal(copy(X), X[:, 0] * 3)


def score_of_file(place: Path) -> Score:
    return score_of(loading.load(f"{place}:model"), "regression")


def test_a_score_that_is_made_again_is_not_sent_and_keeps_its_sign(tmp_path: Path) -> None:
    place = tmp_path / "mine.py"
    place.write_text("model = lambda rows: rows[:, 0] * 3\n")
    score = attrs.evolve(score_of_file(place), again=functools.partial(score_of_file, place), sign=-1)
    sent = cloudpickle.dumps(score)
    place.write_text("model = lambda rows: rows[:, 0] * 5\n")
    copy = pickle.loads(sent)  # noqa: S301 - its own
    np.testing.assert_array_equal(score(X), -3 * X[:, 0])
    np.testing.assert_array_equal(copy(X), -5 * X[:, 0])


SOURCE = """
import numpy as np
from sklearn.linear_model import LinearRegression

fitted = LinearRegression().fit([[0.0], [1.0]], [1.0, 3.0])

def predict(rows):
    return np.asarray(rows)[:, 0] * 2 + 1

class Model:
    inner = fitted
    def predict(self, rows):
        return predict(rows)

made = Model()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE)
    return path


@pytest.mark.parametrize("name", ["fitted", "predict", "made", "made.predict", "Model.inner"])
def test_a_model_is_found_in_a_package_by_its_name(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    module = f"xassay_test_{name.replace('.', '_')}"
    file.rename(file.with_name(f"{module}.py"))
    monkeypatch.syspath_prepend(file.parent)
    model = loading.load(f"{module}:{name}")
    sys.modules.pop(module)
    np.testing.assert_allclose(score_of(model, "regression")(np.array([[0.0], [4.0]])), [1, 9])


@pytest.mark.parametrize("name", ["fitted", "predict", "made"])
def test_a_model_is_found_in_a_file_by_its_name(file: Path, name: str) -> None:
    model = loading.load(f"{file}:{name}")
    np.testing.assert_allclose(score_of(model, "regression")(np.array([[0.0], [4.0]])), [1, 9])


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{}", r"name what is in it, as in .*mine\.py:predict"),
        ("{}:absent", "has no 'absent'"),
        ("{}:Model", "is a class; name a fitted model, or a function"),
        ("sklearn.linear_model:Ridge", "is a class; name a fitted model, or a function"),
        ("{}:predict:alpha=3", "takes no options"),
        ("{}:predict:alpha", "expected option=value"),
        ("{}.none.py:predict", "cannot be read: No such file"),
        ("no_such_module:model", "cannot be imported: ModuleNotFoundError"),
        ("math:nothing", "has no 'nothing'"),
        ("model", r"expected file\.py:name, package\.module:name, or a file that ends in \.onnx, \.skops"),
        ("model.txt", r"expected file\.py:name"),
        ("", r"expected file\.py:name"),
        ("none.onnx", "none.onnx: no such file"),
        ("none.skops", "none.skops: no such file"),
        ("none.pkl", "none.pkl: no such file"),
        ("none.JOBLIB", "none.JOBLIB: no such file"),
    ],
)
def test_a_place_without_a_model_is_refused_in_one_line(file: Path, spec: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        loading.load(spec.format(file))
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_run_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("raise ValueError('first\\nsecond')\n")
    with pytest.raises(InputError, match=r"broken\.py: cannot be run: ValueError: first$"):
        loading.load(f"{path}:model")


@pytest.mark.parametrize("suffix", [".pkl", ".pickle", ".joblib", ".PKL"])
def test_a_pickle_is_loaded_where_it_is_allowed_alone(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    joblib.dump(LINE, path)
    with pytest.raises(InputError, match=r"a pickle runs whatever code is in it.*--allow-pickle") as caught:
        loading.load(str(path))
    assert "\n" not in str(caught.value)
    model = loading.load(str(path), allow_pickle=True)
    np.testing.assert_array_equal(model.predict(X), LINE.predict(X))


class Trap:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_no_code_of_a_refused_pickle_is_run(tmp_path: Path) -> None:
    path, touched = tmp_path / "trap.pkl", tmp_path / "touched"
    path.write_bytes(pickle.dumps(Trap(touched)))
    with pytest.raises(InputError):
        loading.load(str(path))
    assert not touched.exists()
    loading.load(str(path), allow_pickle=True)
    assert touched.exists()


@pytest.mark.parametrize("content", [b"", b"no pickle\n"])
def test_a_pickle_that_is_none_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.pkl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.pkl: cannot be loaded") as caught:
        loading.load(str(path), allow_pickle=True)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "package", "extra"),
    [("model.onnx", "onnxruntime", "onnx"), ("model.skops", "skops", "skops")],
)
def test_a_package_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, package: str, extra: str
) -> None:
    (tmp_path / spec).write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"needs {package}: pip install 'xassay\[{extra}\]'"):
        loading.load(str(tmp_path / spec))


@pytest.mark.parametrize(
    "model",
    [LINE, CLASSIFIER, make_pipeline(StandardScaler(), LinearRegression()).fit(X, TARGET)],
    ids=["regressor", "classifier", "pipeline"],
)
def test_a_skops_file_holds_the_model(tmp_path: Path, model: Any) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    skops.dump(model, tmp_path / "model.skops")
    loaded = loading.load(str(tmp_path / "model.skops"))
    assert type(loaded) is type(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_skops_file_of_unknown_types_is_loaded_where_it_is_allowed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    (tmp_path / "xassay_test_double.py").write_text("def double(rows):\n    return 2 * rows\n")
    monkeypatch.syspath_prepend(tmp_path)
    double = loading.load("xassay_test_double:double")
    model = make_pipeline(FunctionTransformer(double), LinearRegression()).fit(X, TARGET)
    path = tmp_path / "model.skops"
    skops.dump(model, path)
    with pytest.raises(
        InputError, match=r"not know to be safe \(xassay_test_double.double\); say --allow-pickle"
    ) as caught:
        loading.load(str(path))
    assert "\n" not in str(caught.value)
    loaded = loading.load(str(path), allow_pickle=True)
    sys.modules.pop("xassay_test_double")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_skops_file_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("skops", reason="skops is not installed")
    path = tmp_path / "broken.skops"
    path.write_bytes(b"no archive\n")
    with pytest.raises(InputError, match=r"broken\.skops: cannot be read as skops: BadZipFile") as caught:
        loading.load(str(path))
    assert "\n" not in str(caught.value)


Saver = Callable[..., str]


@pytest.fixture
def saved(tmp_path: Path) -> Saver:
    """Saves a scikit-learn model as ONNX, and gives its place."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    path = tmp_path / "model.onnx"

    def save(model: Any, inputs: Any = None, **options: Any) -> str:
        inputs = (
            [("rows", skl2onnx.common.data_types.FloatTensorType([None, 3]))] if inputs is None else inputs
        )
        target = {"": 15, "ai.onnx.ml": 3}
        made = skl2onnx.convert_sklearn(
            model,
            initial_types=inputs,
            options={id(model): options} if options else None,
            target_opset=target,
        )
        path.write_bytes(made.SerializeToString())
        return str(path)

    return save


CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_an_onnx_regressor_predicts_as_the_model_it_was(saved: Saver, form: Callable[..., Any]) -> None:
    model = loading.load(saved(make_pipeline(StandardScaler(), LinearRegression()).fit(X, TARGET)))
    assert model.feature_names_in_ is None
    np.testing.assert_allclose(score_of(model, "regression")(form(X)), TARGET, **CLOSE)


@pytest.mark.parametrize("zipmap", [True, False, "columns"])
@pytest.mark.parametrize("labels", [THREE, np.digitize(TARGET, [-1, 1]) * 7 + 5], ids=["text", "whole"])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_an_onnx_classifier_gives_the_probabilities_of_the_model_it_was(
    saved: Saver, zipmap: Any, labels: Any, position: int
) -> None:
    fitted = LogisticRegression().fit(X, labels)
    model = loading.load(saved(fitted, zipmap=zipmap))
    found = score_of(model, "classification", class_=position)(X)
    np.testing.assert_allclose(found, fitted.predict_proba(X)[:, position], **CLOSE)
    assert list(model.predict(X)) == list(fitted.predict(X))


def test_an_onnx_isolation_forest_scores_as_the_model_it_was(saved: Saver) -> None:
    score = score_of(loading.load(saved(DETECTOR)), "anomaly")
    np.testing.assert_allclose(score(X), DETECTOR.decision_function(X), **CLOSE)


FRAME = pd.DataFrame(
    {
        "length": X[:, 0],
        "count": RNG.integers(0, 9, 80),
        "colour": RNG.choice(["red", "blue", "green"], 80),
    }
)


@pytest.fixture
def of_a_frame(saved: Saver) -> tuple[Any, str]:
    """A pipeline over a frame, and the place where it is saved with one input a column."""
    types = pytest.importorskip("skl2onnx.common.data_types", reason="skl2onnx is not installed")
    prepared = ColumnTransformer(
        [("numbers", StandardScaler(), ["length", "count"]), ("codes", OneHotEncoder(), ["colour"])]
    )
    model = make_pipeline(prepared, LinearRegression()).fit(FRAME, TARGET)
    inputs = [
        ("length", types.FloatTensorType([None, 1])),
        ("count", types.Int64TensorType([None, 1])),
        ("colour", types.StringTensorType([None, 1])),
    ]
    return model, saved(model, inputs)


@pytest.mark.parametrize("order", [["length", "count", "colour"], ["colour", "length", "count"]])
@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame])
def test_an_onnx_pipeline_takes_its_inputs_from_columns_by_name(
    of_a_frame: tuple[Any, str], form: Callable[..., Any], order: list[str]
) -> None:
    fitted, place = of_a_frame
    model = loading.load(place)
    assert list(model.feature_names_in_) == ["length", "count", "colour"]
    table = form(FRAME[order].to_dict("list"))
    np.testing.assert_allclose(score_of(model, "regression")(table), fitted.predict(FRAME), **CLOSE)


@pytest.mark.parametrize(
    "table", [FRAME.drop(columns="colour"), FRAME.to_numpy()], ids=["a column less", "matrix"]
)
def test_an_onnx_pipeline_says_which_column_it_lacks(of_a_frame: tuple[Any, str], table: Any) -> None:
    model = loading.load(of_a_frame[1])
    with pytest.raises(InputError, match=r"colour|column"):
        model.predict(table)


@pytest.mark.parametrize(
    "kind",
    [
        "FLOAT",
        "DOUBLE",
        "INT64",
        *(
            pytest.param(
                kind,
            )
            for kind in ("BOOL", "INT32", "UINT8", "FLOAT16")
        ),
    ],
)
def test_onnx_inputs_of_every_number_type_are_given_theirs(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    onnx = pytest.importorskip("onnx", reason="onnx comes with skl2onnx, which is not installed")
    helper, number = onnx.helper, onnx.TensorProto.FLOAT
    names = ["a", "b"]
    inputs = [
        helper.make_tensor_value_info(name, getattr(onnx.TensorProto, kind), [None, 1]) for name in names
    ]
    casts = [helper.make_node("Cast", [name], [f"{name}_number"], to=number) for name in names]
    add = helper.make_node("Add", [f"{name}_number" for name in names], ["total"])
    output = helper.make_tensor_value_info("total", number, [None, 1])
    graph = helper.make_graph([*casts, add], "adds", inputs, [output])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    path = tmp_path / "adds.onnx"
    path.write_bytes(made.SerializeToString())
    model = loading.load(str(path))
    table = pd.DataFrame({"b": [0, 1, 1], "a": [0, 0, 1]})
    assert score_of(model, "regression")(table).tolist() == [0, 1, 2]


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_an_onnx_model_of_one_output_has_no_probabilities_and_no_scores(saved: Saver, method: str) -> None:
    model = loading.load(saved(LINE))
    with pytest.raises(InputError, match="has one output, and no probabilities or scores") as caught:
        getattr(model, method)(X)
    assert "\n" not in str(caught.value)


def test_an_onnx_file_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"no model\n")
    with pytest.raises(InputError, match=r"broken\.onnx: cannot be loaded as ONNX") as caught:
        loading.load(str(path))
    assert "\n" not in str(caught.value)


def test_a_pickled_onnx_model_and_its_score_answer_alike(saved: Saver) -> None:
    score = score_of(loading.load(saved(BINARY)), "classification", class_=0)
    model_copy = pickle.loads(pickle.dumps(score.estimator))  # noqa: S301 - its own
    score_copy = pickle.loads(pickle.dumps(score))  # noqa: S301 - its own
    np.testing.assert_array_equal(model_copy.predict_proba(X), score.estimator.predict_proba(X))
    np.testing.assert_array_equal(score_copy(X), score(X))


def test_an_onnx_model_of_a_relative_path_is_found_from_another_folder(
    saved: Saver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place = Path(saved(LINE))
    monkeypatch.chdir(place.parent)
    sent = pickle.dumps(loading.load(place.name))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    copy = pickle.loads(sent)  # noqa: S301 - its own
    np.testing.assert_allclose(copy.predict(X)[:, 0], LINE.predict(X), **CLOSE)
