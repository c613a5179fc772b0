"""Whether replaced columns leave the data: models that are known on and off it."""

import attrs
import numpy as np
import pytest

from measured import LINE, REFUSING, N, X, exact, explained, scored, settings, subject_of, values
from xassay.seeds import generator
from xassay.studies.check.measures import measure
from xassay.studies.check.measures.base import Context
from xassay.studies.check.measures.data import conditional_sets
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE
from xassay.testing import problem
from xassay.types import Explanation


def correlated() -> Subject:
    found = problem("linear_correlated")
    return subject_of(found.predict, found.X, max_background=60, rows=8)


def test_conditional_values_are_true_to_the_data_and_marginal_ones_less() -> None:
    subject, asked = correlated(), {"rows": 8, "max_background": 60}
    known = problem("linear_correlated")
    given = {
        "conditional": known.conditional(known.predict, subject.background, subject.X),
        "marginal": known.predict(np.eye(6)) * (subject.X - subject.background.mean(axis=0)),
    }
    found = {
        name: (
            np.nanmean(values(scored("data", subject, phi, **asked)["fidelity_conditional"])),
            np.nanmean(values(scored("fidelity", subject, phi, **asked)["fidelity"])),
        )
        for name, phi in given.items()
    }
    assert found["conditional"][0] > 0.9
    assert found["marginal"][0] < found["conditional"][0] - 0.2
    assert found["marginal"][1] == pytest.approx(1, abs=1e-6)
    assert found["conditional"][1] < 0.8


def tricky(n: int) -> Subject:
    """More rows like those of the trick than the problem has: a third of them are masked.

    The surrogates foresee the rule off the data, a step in another column, from some hundreds of
    masked rows only: of 600 rows in all the alarm is raised in less than half of the draws.
    """
    rows = generator(0, "trick").normal(size=(n, 8))
    rows[:, 3:5] = rows[:, [2]] + 0.1 * rows[:, 3:5]
    return subject_of(problem("trick").predict, rows, max_background=60)


def alarm_of(subject: Subject, seed: int) -> tuple[float, float, int]:
    """Alarm, AUC and the rows that both rest on."""
    asked = settings(seed=seed)
    frame = measure("data").ask(subject, asked, slice(0, 1))
    found = {one.metric: one for one in measure("data").of_model(subject, asked, frame)}
    assert len(found["separability"].rows) == frame["compared"][0]
    return (
        float(values(found["off_data_alarm"])[0]),
        float(values(found["separability"])[0]),
        frame["compared"][0],
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_alarm_is_raised_by_a_model_with_another_rule_off_the_data(seed: int) -> None:
    subject = tricky(2100)
    assert len(subject.pool) == 2000  # no more are kept
    alarm, apart, rows = alarm_of(subject, seed)
    assert alarm == 1
    assert apart > 0.6
    assert rows > 600


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_alarm_is_not_raised_by_one_rule_on_related_columns(seed: int) -> None:
    known = problem("linear_correlated")
    alarm, apart, rows = alarm_of(subject_of(known.predict, known.X, max_background=60), seed)
    assert alarm == 0
    assert apart > 0.6
    assert rows > 100


@pytest.mark.parametrize(("n", "said"), [(59, False), (60, True)])
def test_of_fewer_than_sixty_rows_nothing_is_said(n: int, said: bool) -> None:
    """Three parts of twenty: real rows, rows to be masked, and rows whose values they get."""
    frame = measure("data").ask(attrs.evolve(LINE, pool=X[:n]), settings(), slice(0, 1))
    assert (frame["separability"][0] is not None) == said
    assert (frame["off_data_alarm"][0] is not None) == said
    assert (frame["compared"][0] > 0) == said


def test_columns_that_do_not_depend_leave_masked_rows_on_the_data() -> None:
    frame = measure("data").ask(LINE, settings(), slice(0, 2))
    assert 0.3 < frame["separability"][0] < 0.7
    assert frame["off_data_alarm"][0] == 0


def test_wide_tables_have_no_conditional_scores() -> None:
    wide = subject_of(lambda rows: rows[:, 0], np.random.default_rng(0).normal(size=(60, 101)))
    frame = measure("data").ask(wide, settings(), slice(0, 1))
    base = explained(wide, np.ones((N, 101)))
    known = Context(wide, settings(), {"data": frame}, {BASE: base}, {})
    assert list(measure("data").series(known)) == []
    assert np.isnan(frame["removed"][0].to_list()).all()


def test_rows_that_the_model_refuses_are_undefined_alone() -> None:
    frame = measure("data").ask(REFUSING, settings(), slice(0, 7))
    assert [k for k, error in enumerate(frame["error"]) if error is not None] == [3, 5]
    assert frame["total"][0] == pytest.approx(LINE.predict(LINE.X)[0] - LINE.predict(LINE.background).mean())
    base = explained(LINE, Explanation(exact(LINE)[:7], errors={1: "lost", 3: "lost too"}))
    (one,) = measure("data").series(Context(LINE, settings(), {"data": frame}, {BASE: base}, {}))
    # what the model does not answer is no failure of the explainer
    assert np.flatnonzero(one.failed).tolist() == [1]
    assert np.flatnonzero(~one.defined).tolist() == [1, 3, 5]
    assert one.reason == "lost"


def test_only_rows_that_were_asked_are_scored() -> None:
    frame = measure("data").ask(LINE, settings(), slice(0, 3))
    base = explained(LINE, exact(LINE))
    (one,) = measure("data").series(Context(LINE, settings(), {"data": frame}, {BASE: base}, {}))
    np.testing.assert_array_equal(one.rows, LINE.row_ids[:3])
    assert values(one).min() > 0.9
    assert list(measure("data").series(Context(LINE, settings(), {"data": frame}, {}, {}))) == []
    assert list(measure("data").series(Context(LINE, settings(), {}, {BASE: base}, {}))) == []


def test_a_single_column_is_judged_by_its_own_change_and_cannot_leave_the_data() -> None:
    """There is nothing to draw it given: its change is that from the background's mean."""
    alone = subject_of(lambda rows: rows[:, 0], X[:, :1])
    found = scored("data", alone, np.ones((N, 1)))
    v = alone.X[:, 0] - alone.background[:, 0].mean()
    expected = np.clip(1 - (v - 1) ** 2 / v**2, 0, 1)
    np.testing.assert_allclose(values(found["fidelity_conditional"]), expected, atol=1e-9)
    assert (expected > 0).any()
    frame = measure("data").ask(alone, settings(), slice(0, 1))
    assert frame["separability"][0] is None
    assert list(measure("data").of_model(alone, settings(), frame)) == []
    assert list(measure("data").of_model(alone, settings(), None)) == []


def test_conditional_sets_are_half_as_many() -> None:
    wide = subject_of(lambda rows: rows[:, 0], generator(0, "wide").normal(size=(60, 12)))
    assert conditional_sets(wide, settings(), wide.row_ids).chosen.shape == (N, 64, 12)
    share = measure("data").model_rows(LINE, settings()) / (2 * 64 * len(LINE.background))
    assert share == 1
    assert measure("data").model_rows(subject_of(lambda rows: rows[:, 0], X, rows=80), settings()) == (
        0.5 * 2 * 64 * 20
    )
