from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import InputError
from xassay.explainers import registry
from xassay.types import Explanation, FloatArray

Write = Callable[[str], str]

SOURCE = """
import numpy as np
from xassay.types import Explanation

def as_array(predict, background, X):
    return X - background.mean(axis=0)

def as_list(predict, background, X):
    return as_array(predict, background, X).tolist()

def as_explanation(predict, background, X):
    return Explanation(as_array(predict, background, X))

def flat(predict, background, X):
    return as_array(predict, background, X)[0]

def scaled(predict, background, X, factor=1, word=""):
    return X * factor + len(word)

def draws(predict, background, X):
    return np.random.standard_normal(X.shape)

def nosy(predict, background, X):
    assert X.shape == (1, 2) and predict(X).shape == (1,)
    return X

def careless(predict, background, X):
    given = X + background[0]
    background[:] = X[:] = 0
    return given

def narrow(predict, background, X):
    return X[:, :1]

def wordy(predict, background, X):
    return [["high", "low"]]

def fragile(predict, background, X):
    if X[0, 0] == 3:
        raise KeyError("three")
    return X

not_callable = 3
"""

BACKGROUND = np.array([[0.0, 1.0], [1.0, 4.0]])
ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def total(rows: FloatArray) -> FloatArray:
    return rows.sum(axis=1)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(source: str) -> str:
        path = tmp_path / "mine.py"
        path.write_text(source)
        return str(path)

    return to_file


@pytest.fixture
def file(write: Write) -> str:
    return write(SOURCE)


def explain(spec: str, predict: Callable[..., Any] = total, **options: Any) -> Explanation:
    return explainers.make(spec, predict=predict, background=BACKGROUND, **options).explain(ROWS)


@pytest.mark.parametrize("function", ["as_array", "as_list", "as_explanation", "flat"])
def test_any_form_of_values_will_do(file: str, function: str) -> None:
    found = explain(f"{file}:{function}")
    assert not found.errors
    np.testing.assert_allclose(found.values, ROWS - [0.5, 2.5])


@pytest.mark.parametrize(
    ("written", "options", "expected"),
    [
        ("", {}, ROWS),
        (":factor=2", {}, 2 * ROWS),
        (":factor=2:word=abc", {}, 2 * ROWS + 3),
        (":factor=2", {"factor": 3}, 3 * ROWS),
    ],
)
def test_options_reach_the_function(
    file: str, written: str, options: dict[str, Any], expected: FloatArray
) -> None:
    np.testing.assert_array_equal(explain(f"{file}:scaled{written}", **options).values, expected)


def test_the_function_is_given_one_row_and_one_output_at_a_time(file: str) -> None:
    found = explain(f"{file}:nosy", lambda rows: np.stack([total(rows)] * 3, axis=1))
    assert not found.errors
    np.testing.assert_array_equal(found.values, np.repeat(ROWS[:, :, None], 3, axis=2))


def test_the_function_is_given_copies(file: str) -> None:
    found = explain(f"{file}:careless", lambda rows: np.stack([total(rows)] * 2, axis=1))
    np.testing.assert_array_equal(found.values, np.repeat(np.add(ROWS, [0, 1])[:, :, None], 2, axis=2))


def test_draws_from_numpys_global_state_follow_seed_and_row(file: str) -> None:
    found = explain(f"{file}:draws", seed=1).values
    assert len(np.unique(found)) == found.size
    np.testing.assert_array_equal(explain(f"{file}:draws", seed=1).values, found)
    assert not np.isclose(explain(f"{file}:draws", seed=2).values, found).any()


def test_draws_do_not_depend_on_the_folder(file: str, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copy = Path(file).rename(elsewhere / "mine.py")
    moved = explain(f"{copy}:draws").values
    Path(file).write_text(SOURCE)
    np.testing.assert_array_equal(explain(f"{file}:draws").values, moved)


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (
            "narrow",
            r"ExplainerError: mine.py:narrow returned shape (1, 1) for one row of 2 columns, expected (1, 2)",
        ),
        ("wordy", "ValueError: could not convert string to float: 'high'"),
    ],
)
def test_values_that_are_none_fail_their_rows(file: str, function: str, error: str) -> None:
    found = explain(f"{file}:{function}")
    assert found.errors == dict.fromkeys(range(3), error)
    assert np.isnan(found.values).all()


def test_a_function_that_raises_fails_that_row_alone(file: str) -> None:
    found = explain(f"{file}:fragile")
    assert found.errors == {1: "KeyError: 'three'"}
    np.testing.assert_array_equal(found.values, [ROWS[0], [np.nan, np.nan], ROWS[2]])


@pytest.mark.parametrize(
    ("source", "function", "message"),
    [
        pytest.param(SOURCE, "as_aray", "has no 'as_aray'", id="no such function"),
        pytest.param(SOURCE, "not_callable", "'not_callable' of .* is no function", id="no function"),
        pytest.param("def f(:", "f", "cannot be run: SyntaxError", id="syntax error"),
        pytest.param("1 / 0", "f", "cannot be run: ZeroDivisionError: division by zero", id="raises"),
        pytest.param("import no_such_module", "f", "cannot be run: ModuleNotFoundError", id="import fails"),
    ],
)
def test_a_file_that_gives_no_function_is_refused(
    write: Write, source: str, function: str, message: str
) -> None:
    path = write(source)
    for _ in range(2):
        with pytest.raises(InputError, match=message) as caught:
            explainers.record(f"{path}:{function}")
        assert path in str(caught.value)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"lost\.py: cannot be read: No such file"):
        explainers.record(f"{tmp_path}/lost.py:explain")


def test_a_file_without_a_function_name_is_refused_with_advice(file: str) -> None:
    with pytest.raises(InputError, match=r"name the function too, as in .*mine\.py:explain"):
        explainers.record(file)


def test_a_changed_file_is_another_version_and_runs_anew(write: Write) -> None:
    spec = f"{write('def f(predict, background, X): return X')}:f"
    before, values = explainers.record(spec), explain(spec).values
    write("def f(predict, background, X): return 2 * X")
    assert explainers.record(spec).version != before.version
    np.testing.assert_array_equal(explain(spec).values, 2 * values)


def test_an_unchanged_file_runs_once(write: Write, tmp_path: Path) -> None:
    log = tmp_path / "log"
    source = f"with open({str(log)!r}, 'a') as log:\n    log.write('x')\ndef f(p, b, X): return X\n"
    spec = f"{write(source)}:f"
    assert explainers.record(spec) == explainers.record(spec)
    assert log.read_text() == "x"


@pytest.mark.parametrize(
    ("code", "options", "words"),
    [
        ("def f(predict, background, X): return X", ":foo=1", "foo"),
        ("def f(): return 1", "", "too many positional arguments"),
        ("def f(predict, background, X, *, needed): return X", "", "needed"),
    ],
)
def test_a_function_that_cannot_be_called_so_is_refused_at_once(
    tmp_path: Path, code: str, options: str, words: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(code)
    with pytest.raises(InputError, match=words):
        registry.check_spec(f"{path}:f{options}")


def test_a_function_may_leave_python_and_only_its_rows_fail(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import sys\n\ndef f(predict, background, X):\n    sys.exit(3)\n")
    explained = registry.make(f"{path}:f", predict=lambda rows: rows[:, 0], background=np.eye(2)).explain(
        np.eye(2)
    )
    assert explained.errors == {0: "SystemExit: 3", 1: "SystemExit: 3"}


def test_modules_beside_the_file_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "beside_the_file.py").write_text("GAIN = 4")
    path = tmp_path / "mine.py"
    path.write_text(
        "import beside_the_file\n\ndef f(predict, background, X):\n    return X * beside_the_file.GAIN\n"
    )
    explained = registry.make(f"{path}:f", predict=lambda rows: rows[:, 0], background=np.eye(2)).explain(
        [[1, 0]]
    )
    assert explained.values.tolist() == [[4.0, 0.0]]


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_a_users_local_linear_model_is_kept(tmp_path: Path, n_outputs: int) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from xassay.types import Explanation\n\n\ndef f(predict, background, X):\n"
        "    level = predict(X)\n    return Explanation(X, coefficients=2 * X, intercepts=level)\n"
    )
    rows = np.eye(2)
    found = registry.make(
        f"{path}:f", predict=lambda X: X[:, :n_outputs] if n_outputs > 1 else X[:, 0], background=rows
    ).explain(rows)
    assert found.coefficients is not None
    assert found.intercepts is not None
    np.testing.assert_array_equal(found.coefficients, 2 * found.values)
    np.testing.assert_array_equal(found.intercepts, rows if n_outputs > 1 else rows[:, 0])


def test_coefficients_without_intercepts_are_refused_with_what_to_return(tmp_path: Path) -> None:
    path = tmp_path / "half.py"
    path.write_text(
        "from xassay.types import Explanation\n"
        "def explain(predict, background, X):\n"
        "    return Explanation(0 * X, coefficients=0 * X)\n"
    )
    made = explainers.make(f"{path}:explain", predict=lambda rows: rows[:, 0], background=np.eye(3))
    (error,) = made.explain(np.eye(3)[:1]).errors.values()
    assert "returned coefficients but no intercepts: return intercepts=" in error


STATING = """
from xassay.types import Explanation

def both(predict, background, X):
    base = predict(background).mean()
    return Explanation(
        X, coefficients=2 * X, intercepts=predict(X), additive=True, base=base, unit="odds"
    )

def plain(predict, background, X):
    return Explanation(X, additive=False)

def late(predict, background, X):
    if X[0, 0] == 1:
        raise KeyError("first")
    return Explanation(X, base=[7.0], unit="odds")

def wavering(predict, background, X):
    return Explanation(X, additive=bool(X[0, 0]))

def torn(predict, background, X):
    return Explanation(X, unit="odds" if predict(X)[0] > 0 else "score")
"""


@pytest.fixture
def states(tmp_path: Path) -> Callable[..., Explanation]:
    path = tmp_path / "stating.py"
    path.write_text(STATING)

    def explain(name: str, n_outputs: int = 1) -> Explanation:
        made = registry.make(
            f"{path}:{name}",
            predict=lambda X: X[:, :n_outputs] if n_outputs > 1 else X[:, 0],
            background=np.array([[1.0, 4.0], [2.0, 0.0]]),
        )
        return made.explain(np.eye(2))

    return explain


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_what_a_users_explanation_says_of_itself_is_kept(states: Any, n_outputs: int) -> None:
    found = states("both", n_outputs)
    assert (found.additive, found.unit) == (True, "odds")
    assert found.coefficients is not None
    np.testing.assert_array_equal(found.base, [1.5, 1.5] if n_outputs == 1 else [[1.5, 2], [1.5, 2]])
    plain = states("plain", n_outputs)
    assert (plain.additive, plain.base, plain.unit, plain.errors) == (False, None, "score", {})


def test_the_first_row_that_is_explained_says_what_the_explanation_is(states: Any) -> None:
    found = states("late")
    assert list(found.errors) == [0]
    assert (found.additive, found.unit) == (None, "odds")
    np.testing.assert_array_equal(found.base, [np.nan, 7.0])


def test_rows_and_outputs_that_say_different_things_fail(states: Any) -> None:
    found = states("wavering")
    assert found.errors == {
        1: "ExplainerError: the explainer says additive=False and unit='score' of this row, "
        "additive=True and unit='score' of another"
    }
    assert found.additive is True
    (first, second) = states("torn", 2).errors.values()
    assert first == second
    assert "must give all outputs the same additive and unit" in first
