"""What a check will cost, found by trying each part once; and what fits into a budget."""

import time
import warnings
from collections.abc import Mapping, Sequence

import attrs
import numpy as np
from threadpoolctl import threadpool_limits

from xassay import explainers, specs
from xassay.errors import InputError
from xassay.limits import OutOfTime, time_limit
from xassay.seeds import global_state, legacy_seed
from xassay.studies.check.explaining import Counted, make
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import as_the_user

PROBED_ROWS = 500
LEAST_ROWS = 10
TRIAL_SHARE = 0.2
"""The share of a budget that trials may take."""
MARGIN = 0.8
"""The share of a budget that is planned for: estimates are estimates."""


@attrs.frozen
class Cost:
    """Seconds of an explainer: once for a cell, and for each of its rows."""

    start: float
    row: float


def of_model_row(subject: Subject, settings: CheckSettings) -> float:
    """Seconds that the model takes for one row, asked in a batch."""
    n = min(PROBED_ROWS, len(subject.pool))
    with threadpool_limits(1), global_state(legacy_seed(settings.seed, "estimate")):
        subject.predict(subject.pool[:n])  # whatever is loaded at first is not the row's price
        began = time.perf_counter()
        subject.predict(subject.pool[:n])
    return (time.perf_counter() - began) / n


class Trials:
    """Explainers tried on one row each, within a share of the budget.

    What fails on the row fails in its cells too, and says why there.
    """

    def __init__(self, subject: Subject, settings: CheckSettings) -> None:
        self._subject, self._settings = subject, settings
        self._refused: dict[str, str] = {}
        self.failed: dict[str, str] = {}
        self._n_works = 0

    def of_explainer(self, name: str, record: explainers.ExplainerRecord, options: dict[str, object]) -> Cost:
        """Seconds of an explainer."""
        subject, settings = self._subject, self._settings
        given = as_the_user(subject, settings, record, slice(0, 1))
        budget = settings.budget
        limit = settings.limit
        if budget is not None and limit is not None:
            limit = min(limit, TRIAL_SHARE * budget / len(settings.explainers))
        state = global_state(legacy_seed(settings.seed, "estimate"))
        times = [time.perf_counter()]
        try:
            with (
                threadpool_limits(1),
                time_limit(limit),
                state,
                warnings.catch_warnings(),
            ):
                warnings.simplefilter("ignore")  # said again by its cells
                explainer = make(subject, record, Counted(subject.predict), given, options)
                self._n_works += 1
                # libraries are loaded, kernels compiled
                found = explainer.explain(given.X, row_ids=given.row_ids)
                if found.errors:
                    self.failed[name] = found.errors[0]
                times.append(time.perf_counter())
                explainer = make(subject, record, Counted(subject.predict), given, options)
                times.append(time.perf_counter())
                explainer.explain(given.X, row_ids=given.row_ids)
                times.append(time.perf_counter())
        except (Exception, OutOfTime, SystemExit) as error:  # noqa: BLE001 - whatever it raises
            self.failed[name] = "out of time" if isinstance(error, OutOfTime) else specs.brief(error)
            if len(times) == 1 and isinstance(error, InputError):
                self._refused[name] = str(error)
            spent = time.perf_counter() - times[-1]
            return Cost(spent, spent)
        return Cost(times[2] - times[1], times[3] - times[2])

    def refuse_if_none_works(self) -> None:
        """Refuse a check whose every explainer cannot be had for this model or data.

        Raises:
            InputError: the first of the reasons.
        """
        if self._refused and not self._n_works and self._subject.given is None:
            name, reason = next(iter(self._refused.items()))
            raise InputError(f"explainer {name}: {reason}")


def fitting_rows(seconds_of: Mapping[int, float], budget: float | None, jobs: int) -> int:
    """The most rows that fit into a budget.

    Args:
        seconds_of: seconds of the whole run, by number of rows.
        budget: seconds; None: all rows.
        jobs: number of processes.
    """
    choices: Sequence[int] = sorted(seconds_of, reverse=True)
    if budget is not None:
        room = MARGIN * budget * jobs
        choices = [rows for rows in choices if seconds_of[rows] <= room] or choices[-1:]
    return choices[0]


def row_choices(rows: int) -> list[int]:
    """Numbers of rows that a budget may cut to."""
    found = {rows}
    for share in np.geomspace(1, 0.01, 12):
        found.add(max(min(LEAST_ROWS, rows), int(rows * share)))
    return sorted(found)
