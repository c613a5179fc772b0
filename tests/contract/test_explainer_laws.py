"""Each law of explainers catches an explainer that breaks it, in each of its cases."""

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from xassay import explainers
from xassay.errors import ExplainerError, InputError, UnknownNameError
from xassay.explainers.user import record_of_function
from xassay.testing import EXPLAINER_LAWS, LawBroken, check_explainer
from xassay.testing.laws.explainer import ExplainerSubject
from xassay.testing.laws.explainer_data import first
from xassay.types import Explanation


def occlude(predict: Any, background: Any, X: Any) -> Any:
    """Draws a background row for each column, from numpy's global generator."""
    n = X.shape[1]
    occluded = np.repeat(X, n, axis=0)
    occluded[range(n), range(n)] = background[np.random.randint(len(background), size=n), range(n)]
    return predict(X) - predict(occluded)


def flip(predict: Any, background: Any, X: Any) -> Any:
    """Turns each bit; without draws."""
    return predict(X) - predict(np.where(np.eye(X.shape[1], dtype=bool), 1 - X, X))


def drawing(predict: Any, background: Any, seed: int = 0) -> Any:
    return record_of_function("occlude", occlude).factory(predict=predict, background=background, seed=seed)


def plain(predict: Any, background: Any, seed: int = 0) -> Any:
    return record_of_function("flip", flip).factory(predict=predict, background=background, seed=seed)


def spoiled(change: Callable[..., Any], inner: Any = plain) -> Any:
    """An explainer whose explanations are changed: ``change(found, X, ids, made)`` -> Explanation."""

    class Spoiled:
        def __init__(self, predict: Any, background: Any, seed: int = 0) -> None:
            self.predict, self.background, self.seed = predict, background, seed
            self.inner, self.calls = inner(predict, background, seed), 0

        def explain(self, X: Any, row_ids: Any = None) -> Any:
            self.calls += 1
            ids = np.arange(len(X)) if row_ids is None else np.asarray(row_ids)
            return change(self.inner.explain(X, row_ids=row_ids), X, ids, self)

    return Spoiled


def values(change: Callable[..., Any], inner: Any = plain) -> Any:
    """The same, where values alone are changed."""
    return spoiled(lambda found, *rest: Explanation(change(found.values, *rest), errors=found.errors), inner)


class Naive:
    """Takes answers and rows as they come, if they are arrays of the usual type."""

    def __init__(self, predict: Any, background: Any, seed: int = 0) -> None:
        self.predict, self.background = predict, background
        self._usual(background)

    @staticmethod
    def _usual(array: Any) -> Any:
        if not isinstance(array, np.ndarray) or array.dtype != np.float64:
            raise TypeError("not what I know")
        return array

    def explain(self, X: Any, row_ids: Any = None) -> Explanation:
        scores = self._usual(self.predict(self._usual(X)))
        if scores.ndim != 1:
            raise TypeError("not what I know")
        return Explanation(X * scores[:, None])


class TakesAll:
    """Answers whatever it is given."""

    def __init__(self, predict: Any, background: Any, seed: int = 0) -> None:
        pass

    def explain(self, X: Any, row_ids: Any = None) -> Explanation:
        return Explanation(np.zeros((len(X), 6)))


class Scribbled(TakesAll):
    """Uses rows after it gave them to the model."""

    def __init__(self, predict: Any, background: Any, seed: int = 0) -> None:
        self.predict = predict

    def explain(self, X: Any, row_ids: Any = None) -> Explanation:
        rows = X.copy()
        scores = self.predict(rows)
        return Explanation(rows * scores[:, None])


def unlawful(act: Callable[[], Any], *, only_on_failure: bool = False) -> Any:
    def change(found: Explanation, *_: Any) -> Explanation:
        if found.errors or not only_on_failure:
            act()
        return found

    return spoiled(change)


def writes(what: str) -> Any:
    def change(found: Explanation, X: Any, ids: Any, made: Any) -> Explanation:
        (X if what == "rows" else made.background)[0, 0] = 9
        return found

    return spoiled(change)


def refuses(shape: tuple[int, int]) -> Any:
    def make(predict: Any, background: Any, seed: int = 0) -> Any:
        if background.shape == shape:
            raise ValueError("too small")
        return plain(predict, background, seed)

    return make


def raises_on_failure(found: Explanation, *_: Any) -> Explanation:
    if found.errors:
        raise ZeroDivisionError("the model broke")
    return found


def nameless(found: Explanation, *_: Any) -> Explanation:
    return Explanation(found.values)


def excused(found: Explanation, *_: Any) -> Explanation:
    return Explanation(np.where(np.isnan(found.values), 0, found.values), errors=found.errors)


def swallowed(found: Explanation, *_: Any) -> Explanation:
    return Explanation(np.nan_to_num(found.values))


def spread(found: Explanation, *_: Any) -> Explanation:
    return Explanation(found.values + 0.1 * len(found.errors), errors=found.errors)


def reasonless(found: Explanation, *_: Any) -> Explanation:
    return Explanation(found.values, errors=dict.fromkeys(found.errors, "oh"))


def holed(found: Any, *_: Any) -> Any:
    found = found.copy()
    found[1:2, 2] = np.nan
    return found


def named(found: Explanation, *_: Any) -> Explanation:
    holes = found.values.copy()
    holes[:1] = np.nan
    return Explanation(holes, errors=dict.fromkeys(range(len(holes[:1])), "I gave up"))


fresh = np.random.default_rng(0)
OF_A_BATCH = values(lambda found, *_: found - found.mean(axis=0))
TINY = values(lambda found, X, *_: 1e-14 * (np.arange(6) if len(X) == 1 else np.arange(6)[::-1]) + 0 * found)
BY_PLACE = values(
    lambda found, X, ids, made: found + np.random.default_rng(made.seed).random(np.shape(found))
)
Adversary = tuple[str, str | None, Any, dict[str, Any]]
ADVERSARIES: list[Adversary] = [
    # law, case (None: every one), explainer, what it says of itself
    ("protocol", None, lambda predict, background, seed=0: object(), {}),
    ("protocol", None, spoiled(lambda found, *_: found.values), {}),
    ("shape_and_finite", None, values(lambda found, *_: found[:, :5]), {}),
    ("shape_and_finite", None, values(holed), {}),
    ("shape_and_finite", None, spoiled(named), {}),
    ("no_rows", None, values(lambda found, *_: found if len(found) else np.zeros((1, 6))), {}),
    ("no_rows", None, values(lambda found, *_: found / found[0, 0] * found[0, 0]), {}),
    ("small_tables", "one_background_row", refuses((1, 6)), {}),
    ("small_tables", "one_feature", refuses((12, 1)), {"surrogate": True}),
    ("small_tables", "one_of_both", refuses((1, 1)), {}),
    ("small_tables", "one_background_row", plain, {"surrogate": True}),
    ("small_tables", None, values(lambda found, X, ids, made: found * (np.nan if len(X) == 2 else 1)), {}),
    ("small_tables", "one_feature", values(lambda found, *_: np.tile(found, 2)[:, :6]), {}),
    ("same_seed", None, values(lambda found, *_: found + fresh.random(found.shape)), {}),
    ("explained_again", None, values(lambda found, X, ids, made: found + made.calls), {}),
    ("seed_matters", None, plain, {"stochastic": True}),
    ("seed_matters", None, drawing, {"stochastic": False}),
    ("row_ids_fix_draws", None, BY_PLACE, {}),
    ("row_ids_fix_draws", None, plain, {"stochastic": True}),
    ("row_ids_fix_draws", None, drawing, {"stochastic": False}),
    ("row_ids_fix_draws", None, drawing, {"stochastic": True, "surrogate": True}),
    ("rows_are_independent", None, OF_A_BATCH, {}),
    ("rows_are_independent", None, BY_PLACE, {}),
    ("rows_are_independent", None, TINY, {}),
    ("form_of_answers", None, Naive, {}),
    ("several_outputs", None, values(lambda found, *_: found[..., 0] if found.ndim == 3 else found), {}),
    ("several_outputs", None, values(lambda found, *_: found[..., ::-1] if found.ndim == 3 else found), {}),
    ("form_of_rows", None, Naive, {}),
    ("global_state", None, unlawful(lambda: np.random.seed(0)), {}),
    ("global_state", None, unlawful(random.random), {}),
    ("global_state", None, unlawful(lambda: warnings.filters.append(warnings.filters[0])), {}),
    ("global_state", "fails", unlawful(lambda: np.random.seed(0), only_on_failure=True), {}),
    ("global_state", "fails", spoiled(raises_on_failure), {}),
    ("inputs_are_left_alone", None, writes("rows"), {}),
    ("inputs_are_left_alone", None, writes("background"), {}),
    ("failing_row", None, spoiled(swallowed), {}),
    ("failing_row", None, spoiled(nameless), {}),
    ("failing_row", None, spoiled(excused), {}),
    ("failing_row", None, spoiled(raises_on_failure), {}),
    ("failing_row", None, spoiled(spread), {}),
    ("failing_row", "raises", spoiled(reasonless), {}),
    ("failing_row", None, plain, {"asks": False}),
    ("failing_row", None, TakesAll, {"asks": True}),
    ("failing_row", None, plain, {"tabulates": True}),
    ("column_order", None, values(lambda found, *_: found * np.arange(1, found.shape[1] + 1)), {}),
    ("constant_model", None, values(lambda found, *_: found + np.arange(found.shape[1])), {}),
    ("answers_that_are_no_scores", None, TakesAll, {}),
    ("empty_background", None, TakesAll, {}),
    ("rows_that_do_not_fit", None, TakesAll, {}),
    ("model_without_a_call", None, TakesAll, {}),
    ("model_that_writes", None, Scribbled, {}),
]
CASES = [
    pytest.param(law, case, made, said, id=f"{number}-{law}-{case}")
    for number, (law, only, made, said) in enumerate(ADVERSARIES)
    for case in ([only] if only else EXPLAINER_LAWS[law].cases)
]


@pytest.mark.parametrize(("law", "case", "made", "said"), CASES)
def test_a_law_catches_what_breaks_it(law: str, case: str, made: Any, said: dict[str, Any]) -> None:
    with warnings.catch_warnings(), pytest.raises(LawBroken, match=f"law {law} is broken: ") as caught:
        EXPLAINER_LAWS[law].outcome(ExplainerSubject(made, **said), [case])
    assert caught.value.law == law
    assert caught.value.given
    assert caught.value.seen
    assert case in caught.value.given


def test_every_case_of_every_law_catches_something() -> None:
    caught = {(law, case) for law, case, *_ in (case.values for case in CASES)}
    assert caught == {(law.name, case) for law in EXPLAINER_LAWS.values() for case in law.cases}


@pytest.mark.parametrize("made", [flip, occlude, plain, drawing, values(lambda found, *_: found)])
def test_lawful_explainers_pass_as_functions_and_as_factories(made: Any) -> None:
    stochastic = made in (occlude, drawing)
    found = check_explainer(made, stochastic=stochastic, asks=True)
    assert list(found) == list(EXPLAINER_LAWS)
    told = {law: outcome for law, outcome in found.items() if outcome != "held"}
    drawn = {"column_order": "not judged: it draws, and its draws go by column"}
    assert told == (drawn if stochastic else {})


def test_what_is_not_said_is_not_judged_and_draws_are_found_by_trying() -> None:
    found = check_explainer(occlude)
    assert found["seed_matters"] == "not judged: stochastic is not said"
    assert found["column_order"].startswith("not judged")
    assert check_explainer(flip)["column_order"] == "held"


def of_default_rng(predict: Any, background: Any, X: Any) -> Any:
    return flip(predict, background, X) + np.random.default_rng().random(X.shape)


def of_other_rows(predict: Any, background: Any, X: Any, seen: list = []) -> Any:  # noqa: B006 - the fault
    seen.append(X)
    return flip(predict, background, X) + len(seen)


def of_text(predict: Any, background: Any, X: Any) -> Any:
    return ["high"] * X.shape[1]


@pytest.mark.parametrize(
    ("function", "law"),
    [(of_default_rng, "same_seed"), (of_other_rows, "same_seed"), (of_text, "shape_and_finite")],
)
def test_functions_of_three_arguments_are_checked_as_a_study_calls_them(function: Any, law: str) -> None:
    with pytest.raises(LawBroken, match=f"law {law} is broken"):
        check_explainer(function)


def test_options_reach_factories_functions_and_names() -> None:
    def scaled(predict: Any, background: Any, X: Any, factor: float = 1.0) -> Any:
        return factor * flip(predict, background, X)

    assert check_explainer(scaled, factor=2.0)["shape_and_finite"] == "held"
    with pytest.raises(LawBroken, match="unexpected keyword argument 'other'"):
        check_explainer(scaled, other=1)
    with pytest.raises(LawBroken, match="unknown option of explainer single_flip 'other'"):
        check_explainer("single_flip", other=1)


@pytest.mark.parametrize("spec", ["single_flip", "lime:n_samples=200:engine=native", "zscore"])
def test_a_name_brings_what_its_record_says(spec: str) -> None:
    skip = {"constant_model": "it looks at the data alone"} if spec == "zscore" else None
    found = check_explainer(spec, skip=skip)
    assert list(found) == list(EXPLAINER_LAWS)
    assert found["seed_matters"] == "held"
    assert found["constant_model"] == ("held" if skip is None else f"skipped: {skip['constant_model']}")


def test_laws_are_skipped_by_name_and_with_a_reason() -> None:
    with pytest.raises(UnknownNameError, match="unknown law 'same_sed': did you mean 'same_seed'"):
        check_explainer(flip, skip={"same_sed": "why not"})
    for reason in ("", " ", None):
        with pytest.raises(InputError, match="law same_seed cannot be skipped without a reason"):
            check_explainer(flip, skip={"same_seed": reason})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="takes a function or a name, not 3"):
        check_explainer(3)  # type: ignore[arg-type]


def test_laws_say_themselves_in_one_sentence() -> None:
    for name, law in EXPLAINER_LAWS.items():
        assert law.name == name
        assert law.text.endswith(".")
        assert law.cases


@pytest.mark.parametrize("shape", [(1, 6), (1, 1)])
def test_a_surrogate_says_why_one_background_row_is_too_few(shape: tuple[int, int]) -> None:
    with pytest.raises(InputError, match="a background of 1 row cannot be fitted"):
        explainers.make("maple", predict=lambda rows: rows.sum(axis=1), background=np.zeros(shape))


@pytest.mark.parametrize("name", ["exact_shapley", "exact_banzhaf", "kernel_shap:engine=native"])
def test_a_table_says_that_the_model_failed_on_it(name: str) -> None:
    def fails_on_ones(rows: Any) -> Any:
        return np.where(rows.all(axis=1), np.nan, first(rows))

    with pytest.raises(ExplainerError, match="on the table of all combinations"):
        explainers.make(name, predict=fails_on_ones, background=np.eye(6))
