"""What a check is about: a model's score, the rows to explain, and the background, as numbers."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from threadpoolctl import threadpool_limits

from xassay import specs
from xassay.errors import ExplainerError, InputError, ShapeError
from xassay.limits import OutOfTime, time_limit
from xassay.metrics.calls import BATCH_VALUES
from xassay.models.score import Score, score_of
from xassay.seeds import generator, global_state, legacy_seed
from xassay.studies.check.asking import robust
from xassay.studies.check.planting import Planted, plant
from xassay.studies.check.sanity import Finding, findings, orientation
from xassay.studies.check.settings import CheckSettings
from xassay.tabular.space import Space
from xassay.types import Explanation, FloatArray, IntArray, Predict

POOL_ROWS = 2000
"""Rows of the background that are kept at all: surrogates are fitted to them, columns drawn from them."""

_MOST_SAID = 400
_BLOCK_VALUES = BATCH_VALUES // 4


@attrs.frozen(eq=False)
class Subject:
    """A model and its data, ready to be explained.

    Attributes:
        score: the model's score of a table.
        space: how tables become numbers.
        X: encoded rows to explain, shape (rows, features).
        row_ids: their numbers in the data.
        pool: encoded background, at most `POOL_ROWS` rows.
        background: the part of the pool that explainers are given.
        spread: standard deviation of the score over the background.
        planted: rows made anomalous, for detectors.
        given: explanations of the rows that were computed elsewhere.
        findings: what the sanity checks say.
        notices: what a reader must know.
        digest: tells model and data from others, where they can be told.
        functions: explainers that are functions at hand, by name.
        shuffled: the score of the model refitted to shuffled targets, where that was asked for.
    """

    score: Score
    space: Space
    X: FloatArray
    row_ids: IntArray
    pool: FloatArray
    background: FloatArray
    spread: float
    planted: Planted | None
    given: Explanation | None
    findings: tuple[Finding, ...]
    notices: tuple[str, ...]
    digest: str
    functions: Mapping[str, Callable[..., Any]] = attrs.field(factory=dict)
    shuffled: Score | None = None

    def predict(self, rows: FloatArray) -> FloatArray:
        """Scores of encoded rows, shape (rows,). Errors: `xassay.models.score.Score`."""
        return _scores(self.score, self.space, rows)

    def refitted(self, rows: FloatArray) -> FloatArray:
        """Scores of the same model refitted to shuffled targets."""
        assert self.shuffled is not None  # noqa: S101 - asked only where it was refitted
        return _scores(self.shuffled, self.space, rows)


def _scores(score: Score, space: Space, rows: FloatArray) -> FloatArray:
    step = max(1, _BLOCK_VALUES // rows.shape[1])
    if len(rows) <= step:
        return score(space.decode(rows))
    return np.concatenate(
        [score(space.decode(rows[start : start + step])) for start in range(0, len(rows), step)]
    )


def prepare(
    model: Any,
    X: Any,
    background: Any,
    settings: CheckSettings,
    *,
    given: Explanation | None = None,
    digest: str = "",
    again: Callable[[], Score] | None = None,
    target: Any = None,
) -> Subject:
    """Look at model and data before anything is explained.

    Args:
        model: a fitted estimator, or a function from tables to one number a row.
        X: the data: numpy array, pandas or polars frame; a pandas Series is one row.
        background: reference data of the same columns; None: rows of ``X``.
        settings: what is asked for.
        given: explanations of all rows of ``X``, computed elsewhere, in the columns' own units.
        digest: see `Subject`.
        again: see `xassay.models.score.Score`.
        target: what the model was fitted to, one a row of ``X``; for the measure ``randomisation``.

    Raises:
        InputError: data that cannot be used, or a model that gives no number a row.
    """
    score = score_of(model, settings.kind, class_=settings.class_, link=settings.link)
    score = attrs.evolve(score, again=again)
    space, rows, pool = _tables(X, background)
    if not len(rows):
        raise InputError("the data has no rows")
    if not len(pool):
        raise InputError("the background has no rows")
    if background is None and len(rows) == 1:
        raise InputError("a single row is no background for itself: give a background")
    row_ids, others = _chosen(len(rows), settings)
    notices = []
    if background is None:
        pool = rows[others]
        if len(others) == len(rows) and len(rows) > 1:
            notices.append("explained rows are background rows too: there are too few others")
    if len(pool) > POOL_ROWS:
        kept = np.sort(generator(settings.seed, "pool").permutation(len(pool))[:POOL_ROWS])
        notices.append(f"of {len(pool):,} background rows a random {POOL_ROWS:,} are kept")
        pool = pool[kept]
    limit = settings.limit
    with threadpool_limits(1), global_state(legacy_seed(settings.seed, "prepare")):
        try:
            with time_limit(limit):
                found = _examined(
                    score, space, rows, row_ids, pool, settings, given=given, notices=notices, digest=digest
                )
                return _with_shuffled(found, _refitted(found.score, X, target, settings))
        except OutOfTime:
            raise InputError(
                f"the model did not answer a few hundred rows within {limit:g} s; give it more "
                "time with timeout, or a smaller background"
            ) from None


def _with_shuffled(subject: Subject, shuffled: Score | None) -> Subject:
    if shuffled is None:
        return subject
    found = attrs.evolve(subject, shuffled=shuffled)
    return attrs.evolve(found, digest=f"{subject.digest} {_behaviour(robust(found.refitted, subject.X))}")


def _refitted(score: Score, X: Any, target: Any, settings: CheckSettings) -> Score | None:
    """The score of the same model, fitted to shuffled targets; None where that was not asked for.

    Raises:
        InputError: a target of other rows, or the measure was asked for and there is no target, only one
            value in it, or nothing to fit.
    """
    values = None if target is None else np.asarray(target).reshape(-1)
    if values is not None and len(values) != len(X):
        raise InputError(f"the target has {len(values):,} values, the data {len(X):,} rows")
    if "randomisation" not in settings.measures:
        return None
    from sklearn.base import clone

    if values is None:
        raise InputError("the measure randomisation needs what the model was fitted to: give a target")
    if (values == values[0]).all():
        raise InputError("the target has the same value in every row: shuffled, it stays the same")
    if not hasattr(score.estimator, "fit") or not hasattr(score.estimator, "get_params"):
        raise InputError("the measure randomisation needs a scikit-learn estimator, which can be fitted anew")
    shuffled = generator(settings.seed, "shuffled targets").permutation(values)
    try:
        refitted = clone(score.estimator).fit(X, shuffled)
    except Exception as error:
        raise InputError(
            f"the model could not be refitted to shuffled targets: {specs.brief(error)}"
        ) from error
    found = score_of(refitted, settings.kind, class_=settings.class_, link=settings.link)
    return attrs.evolve(found, sign=score.sign)


def _tables(X: Any, background: Any) -> tuple[Space, FloatArray, FloatArray]:
    if background is None:
        space, (rows,) = Space.of(X)
        return space, rows, rows
    if type(X).__name__ == "Series":  # one row, whose types are those of the background
        space, (pool, rows) = Space.of(background, X)
        return space, rows, pool
    space, (rows, pool) = Space.of(X, background)
    return space, rows, pool


def _chosen(n: int, settings: CheckSettings) -> tuple[IntArray, IntArray]:
    """Rows to explain, in random order, and rows for the background: others, where there are enough."""
    order = generator(settings.seed, "rows").permutation(n)
    rows, rest = order[: settings.rows], order[settings.rows :]
    return rows, np.sort(rest if len(rest) >= 2 * settings.max_background else order)


def _examined(
    score: Score,
    space: Space,
    data: FloatArray,
    row_ids: IntArray,
    pool: FloatArray,
    settings: CheckSettings,
    *,
    given: Explanation | None,
    notices: list[str],
    digest: str,
) -> Subject:
    rows = data[row_ids]
    _check_answer(score, space, rows, pool)

    def predict(asked: FloatArray) -> FloatArray:
        return _scores(score, space, asked)  # with the sign, once it is known

    of_pool = robust(predict, pool)
    usable = np.isfinite(of_pool)
    if not usable.any():
        raise InputError(f"the model gives no finite score for any background row{_why(score, space, pool)}")
    if not usable.all():
        lost = int((~usable).sum())
        rows_are = "row without a finite score is" if lost == 1 else "rows without a finite score are"
        notices.append(f"{lost:,} background {rows_are} left out")
        pool, of_pool = pool[usable], of_pool[usable]
    found: list[Finding] = []
    if settings.kind == "anomaly":
        sign, finding = orientation(predict, space, pool, of_pool, settings.seed)
        score, found, of_pool = attrs.evolve(score, sign=sign), [finding], sign * of_pool
    background = pool
    if len(pool) > settings.max_background:
        chosen = generator(settings.seed, "background").permutation(len(pool))[: settings.max_background]
        notices.append(
            f"{len(background):,} background rows are sampled down to {settings.max_background:,}; "
            "max_background raises it"
        )
        background = pool[np.sort(chosen)]
    planted = None
    if settings.kind == "anomaly" and "planted" in settings.measures:
        planted = plant(predict, space, pool, of_pool, settings.seed)
        if planted is None:
            notices.append("no cause could be planted: that needs numeric columns and ordinary rows")
    seen = findings(predict, space, rows, pool, settings.seed, of_pool)
    unused = [one.found for one in seen if one.passed and one.columns]
    return Subject(
        score=score,
        space=space,
        X=rows,
        row_ids=row_ids,
        pool=pool,
        background=background,
        spread=float(of_pool.std()) or 1.0,
        planted=planted,
        given=None if given is None else _encoded_explanation(given, space, score, predict, data, row_ids),
        findings=(*found, *seen),
        notices=(*_of_columns(space), *(f"of the columns {said}" for said in unused), *notices),
        digest=f"{digest} {_behaviour(of_pool, robust(predict, rows))}",
    )


def _behaviour(*scores: FloatArray) -> str:
    """A hash of what the model answers: code and files that it rests on may change under its name."""
    found = hashlib.sha256()
    for some in scores:
        found.update(some.astype(np.float32).tobytes())  # not to the last digit, which threads may move
    return found.hexdigest()[:16]


def _why(score: Score, space: Space, pool: FloatArray) -> str:
    plain = robust(score_rows(attrs.evolve(score, link="identity"), space), pool)
    if score.link == "logit" and np.isin(plain, (0, 1)).all():
        return ": probabilities of exactly 0 or 1 have no log-odds; use the identity link"
    return ""


def _check_answer(score: Score, space: Space, rows: FloatArray, pool: FloatArray) -> None:
    """See that the model answers at all, and blame missing values where they are to blame."""
    few = np.concatenate([rows[:5], pool[:5]])
    try:
        score(space.decode(few))
    except ShapeError as error:
        hint = (
            "" if score.kind == "classification" else "; for probabilities of classes say kind classification"
        )
        raise InputError(f"{error}{hint}") from None
    except ExplainerError as error:
        raise InputError(str(error)) from None
    except Exception as error:
        complete = np.concatenate([rows, pool])
        complete = complete[np.isfinite(complete).all(axis=1)][:5]
        with_holes = [column.name for column in space.columns if column.missing]
        if with_holes and len(complete) and np.isfinite(robust(score_rows(score, space), complete)).any():
            raise InputError(
                f"column {with_holes[0]!r} holds missing values, which the model does not take "
                f"({specs.brief(error)}); fill or drop them"
            ) from error
        alone = robust(score_rows(score, space), np.concatenate([rows[:50], pool[:50]]))
        if not np.isfinite(alone).any():
            said = " ".join(f"{type(error).__name__}: {error}".split())[:_MOST_SAID]
            raise InputError(f"the model failed: {said}") from error


def score_rows(score: Score, space: Space) -> Predict:
    """The score as a function of encoded rows."""
    return lambda rows: score(space.decode(rows))


def _of_columns(space: Space) -> Sequence[str]:
    said = []
    for kind, verb in (
        ("category", "explainers see codes, which are drawn anew where numbers would be moved"),
        ("ordinal", "explainers see the order as 0, 1, 2 ..."),
    ):
        names = [column.name for column in space.columns if column.kind == kind]
        if names:
            said.append(f"{', '.join(names[:5])}{' ...' if len(names) > 5 else ''}: {verb}")  # noqa: PLR2004
    holes = [column for column in space.columns if column.missing]
    if holes:
        said.append(
            f"missing values in {', '.join(column.name for column in holes[:5])}: explainers that need"
            " numbers fail on those rows"
        )
    return said


def _encoded_explanation(
    given: Explanation, space: Space, score: Score, predict: Predict, data: FloatArray, row_ids: IntArray
) -> Explanation:
    """Explanations in the columns' own units as those of the chosen rows, encoded."""
    if given.values.shape != data.shape:
        raise InputError(
            f"the explanations have shape {given.values.shape}, the data {data.shape}: one row a data row, "
            "one column a column"
        )
    values = score.sign * given.values[row_ids]  # they are of the score as the model gives it
    base = score.sign * given.base[row_ids] if isinstance(given.base, np.ndarray) else None
    if given.coefficients is None:
        return attrs.evolve(given, values=values, base=base)
    raw = score.sign * given.coefficients[row_ids]
    slopes = space.coefficients(raw)
    if given.intercepts is None:
        rows = data[row_ids]
        intercepts = robust(predict, rows) - (slopes * rows).sum(axis=1)
    else:
        intercepts = space.intercepts(raw, score.sign * given.intercepts[row_ids])
    return attrs.evolve(given, values=values, coefficients=slopes, intercepts=intercepts, base=base)
