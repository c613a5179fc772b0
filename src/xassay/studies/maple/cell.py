"""One unit of the MAPLE evaluation: an experiment on one split, for one explainer where one explains."""

from typing import Any

import attrs
import polars as pl

from xassay import explainers
from xassay.studies.kit.cells import StudyCell
from xassay.studies.kit.code import own_code
from xassay.studies.kit.explainers import check_unchanged
from xassay.studies.maple import experiments
from xassay.studies.maple.explained import Explained
from xassay.tabular import Dataset

CODE = (
    "tabular",
    "models",
    "explainers",
    *(f"metrics/{name}.py" for name in ("calls", "causal", "local_model")),
    *(f"studies/maple/{name}.py" for name in ("cell", "experiments", "explained")),
)
"""Our sources that decide what is stored: the losses too, as they ask the fitted model."""


@attrs.frozen
class MapleCell(StudyCell):
    """See the attributes of `MapleSettings`; a cell fixes one value of each.

    Attributes:
        dataset: name of the table, or of the shape in ``patterns``.
        table: the table itself; none in ``patterns``.
        digest: hash of the table's content.
        n_rows: rows that are tested or explained.
        explained: who explains what, in ``self`` and ``blackbox``.
    """

    experiment: str
    dataset: str
    table: Dataset | None = attrs.field(eq=False, repr=False)
    digest: str
    n_rows: int
    trial: int
    explained: Explained | None
    sigma: tuple[float, ...]
    profile: str
    sample: int | None
    seed: int

    @property
    def content(self) -> dict[str, Any]:
        """Everything that decides the result, versions of the code included."""
        content: dict[str, Any] = self.written("table", "explained", "profile")
        if self.explained is not None:
            who = attrs.asdict(self.explained)
            content |= {
                **{n: v for n, v in who.items() if "source" not in n},
                "options": self.explained.options_text,
            }
        return {**content, "own code": own_code(*CODE)}

    @property
    def words(self) -> list[str]:
        """What tells it from other cells, for people."""
        parts = [self.experiment, self.dataset, f"trial{self.trial}"]
        if self.explained is not None:
            if self.experiment == "blackbox":
                parts.append(self.explained.model.rpartition("/")[2])
            parts.append(self.explained.explainer.rpartition("/")[2])
        return parts

    @property
    def cost(self) -> float:
        """Expected milliseconds, roughly."""
        if self.table is None:
            return 1500.0
        n, p = len(self.table.X) // 2, len(self.table.columns)
        forest = 300 + 0.03 * n * p
        if self.explained is None:
            return 3 * forest
        cost = 10.0 if self.experiment == "blackbox" else forest
        record = explainers.record(self.explained.source)
        if record.surrogate:
            return cost + forest
        samples = self.explained.options.get("n_samples", 100)
        samples = samples if isinstance(samples, int) else 100
        a_prediction = 2e-5 * n if self.explained.model.startswith("svr") else 0.01
        if self.experiment == "self":
            a_prediction = 0.4
        a_row = record.cost(p, n) + samples * a_prediction
        return cost + self.n_rows * a_row

    def run(self) -> pl.DataFrame:
        """Do the experiment; the frame's columns are those of the functions in `experiments`."""
        if self.table is None:
            return experiments.patterns(self.dataset, self.seed, self.trial)
        part = experiments.prepare(self.table, self.seed, self.trial, self.sample)
        if self.explained is None:
            return experiments.accuracy(part)
        who = self.explained
        check_unchanged(who.code, who.code_now(), f"{who.explainer} or {who.model}")
        return experiments.explanation(part, self.explained, self.sigma)
