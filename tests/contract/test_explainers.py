"""Laws that every explainer obeys: the registered ones, plug-ins, and a user's own file."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.testing import EXPLAINER_LAWS
from xassay.testing.laws.checking import of_record
from xassay.testing.laws.explainer import ExplainerSubject
from xassay.testing.laws.explainer_data import BACKGROUND, NO_ANSWERS, NO_ROWS, ROWS, first
from xassay.types import Explainer

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
SKIPPED = {
    "random": {"constant_model": "it draws without a look at the model"},
    "zscore": {"constant_model": "it looks at the data alone"},
}
"""Laws that are not meant for an explainer, and why."""
DRAWS = "not judged: it draws, and its draws go by column"

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


@pytest.fixture
def subject(name: str, make: Make, record: explainers.ExplainerRecord) -> ExplainerSubject:
    return of_record(record, make, asks=name not in BLIND)


LAW_CASES = [
    pytest.param(law, case, id=f"{law.name}-{case}".rstrip("-"))
    for law in EXPLAINER_LAWS.values()
    for case in law.cases
]


@pytest.mark.parametrize(("law", "case"), LAW_CASES)
def test_law(law: Any, case: str, name: str, subject: ExplainerSubject) -> None:
    if law.name in SKIPPED.get(name, {}):
        with pytest.raises(AssertionError, match="values of one row differ"):  # else it need not be skipped
            law.outcome(subject, [case])
        return
    draws = law.name == "column_order" and subject.stochastic
    assert law.outcome(subject, [case]) == (DRAWS if draws else "held")


MESSAGES = {
    "one_row": r"returned shape \(1,\) for 12 rows",
    "complex": "expected real numbers",
    "no_output": r"returned shape \(12, 0\)",
    "error": "predict failed on the background: ZeroDivisionError",
    "a_number": r"returned shape \(\) for 12 rows",
    "long": r"returned shape \(13,\) for 12 rows",
    "cube": r"returned shape \(12, 1, 1\)",
    "text": "returned list, expected real numbers",
}
ROW_MESSAGES = {
    "narrow": "the rows have 5 features, the background 6",
    "one_row": r"must have shape \(rows, features\), got \(6,\)",
    "text": "must hold numbers only",
    "few_ids": "row_ids must be 5 integers",
    "float_ids": "row_ids must be 5 integers",
}


@pytest.mark.parametrize("case", NO_ANSWERS)
def test_a_model_that_returns_no_score_a_row_is_refused(make: Make, case: str) -> None:
    with pytest.raises(ExplainerError, match=MESSAGES[case]):
        make(*NO_ANSWERS[case])


@pytest.mark.parametrize("background", [np.zeros((0, 6)), []])
def test_a_background_without_rows_is_refused(make: Make, background: Any) -> None:
    with pytest.raises(InputError, match="the background"):
        make(background=background)


@pytest.mark.parametrize("case", NO_ROWS)
def test_rows_that_do_not_fit_are_refused(make: Make, case: str) -> None:
    rows, row_ids = NO_ROWS[case]
    with pytest.raises(InputError, match=ROW_MESSAGES[case]):
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
