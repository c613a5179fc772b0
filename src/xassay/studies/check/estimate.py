"""What a check will cost, found by trying each part once; and what fits into a budget."""

import time
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from xassay import explainers
from xassay.errors import InputError
from xassay.limits import OutOfTime, time_limit
from xassay.metrics.masking import N_SUBSETS
from xassay.seeds import global_numpy_state, legacy_seed
from xassay.studies.check.cell import N_REPLACED, N_SAMPLES, Counted, make
from xassay.studies.check.settings import CheckSettings
from xassay.studies.check.subject import Subject
from xassay.studies.check.variants import BASE, asked

PROBED_ROWS = 500
LEAST_ROWS = 10
MARGIN = 0.8
"""The share of a budget that is planned for: estimates are estimates."""


@attrs.frozen
class Cost:
    """Seconds of an explainer: once for a cell, and for each of its rows."""

    start: float
    row: float


def of_model(subject: Subject, settings: CheckSettings) -> float:
    """Seconds that it takes to ask the model everything about one row."""
    n = min(PROBED_ROWS, len(subject.pool))
    began = time.perf_counter()
    with global_numpy_state(legacy_seed(settings.seed, "estimate")):
        subject.predict(subject.pool[:n])
    a_row = (time.perf_counter() - began) / n
    p = subject.X.shape[1]
    masked = N_SUBSETS * len(subject.background)
    asked_for = masked + p * min(N_REPLACED, len(subject.background)) + len(settings.sigma) * N_SAMPLES
    seconds: float = a_row * asked_for
    return seconds


def of_explainer(
    subject: Subject,
    settings: CheckSettings,
    record: explainers.ExplainerRecord,
    options: dict[str, object],
) -> Cost:
    """Seconds of an explainer, by explaining one row; what fails there fails in its cells, and says why.

    Raises:
        InputError: the explainer cannot be had for this model or data.
    """
    given = asked(subject, settings, record, BASE, slice(0, 1))
    times = [time.perf_counter()]
    try:
        with time_limit(settings.timeout), global_numpy_state(legacy_seed(settings.seed, "estimate")):
            explainer = make(subject, record, Counted(subject.predict), given, options)
            explainer.explain(given.X, row_ids=given.row_ids)  # libraries are loaded, kernels compiled
            times.append(time.perf_counter())
            explainer = make(subject, record, Counted(subject.predict), given, options)
            times.append(time.perf_counter())
            explainer.explain(given.X, row_ids=given.row_ids)
            times.append(time.perf_counter())
    except (Exception, OutOfTime, SystemExit) as error:  # noqa: BLE001 - whatever it raises
        if isinstance(error, InputError) and len(times) == 1:
            raise InputError(f"explainer {record.name}: {error}") from None
        spent = time.perf_counter() - times[-1]
        return Cost(spent, spent)
    return Cost(times[2] - times[1], times[3] - times[2])


def fitting_rows(seconds_of: Mapping[int, float], budget: float | None, jobs: int) -> tuple[int, float]:
    """The most rows that fit into a budget, and their seconds.

    Args:
        seconds_of: seconds of the whole run, by number of rows.
        budget: seconds; None: all rows.
        jobs: number of processes.
    """
    choices: Sequence[int] = sorted(seconds_of, reverse=True)
    if budget is not None:
        room = MARGIN * budget * jobs
        choices = [rows for rows in choices if seconds_of[rows] <= room] or choices[-1:]
    return choices[0], seconds_of[choices[0]] / jobs


def row_choices(rows: int) -> list[int]:
    """Numbers of rows that a budget may cut to."""
    found = {rows}
    for share in np.geomspace(1, 0.01, 12):
        found.add(max(min(LEAST_ROWS, rows), int(rows * share)))
    return sorted(found)
