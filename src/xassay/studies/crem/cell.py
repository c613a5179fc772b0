"""One unit of the CREM study: what one explainer says on one altered version at one noise and background.

How right that is depends on the run's truth and tie rule, of which nothing is known here: scores are
made afterwards of what is stored (`xassay.studies.crem.judging`).
"""

import re
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import polars as pl

from xassay import explainers
from xassay.circuits import Circuit, Fault, TruthTable, differences, flip_inputs, version_name
from xassay.errors import ExplainerError
from xassay.models import ReconstructionDetector
from xassay.models.learned_detectors import TABLE, LearnedDetector
from xassay.seeds import generator, legacy_seed
from xassay.studies.crem.background import background_rows, background_size
from xassay.studies.crem.detection import learned_detector
from xassay.studies.kit.cells import StudyCell
from xassay.studies.kit.code import own_code
from xassay.studies.kit.explainers import check_unchanged, options_text
from xassay.types import BoolArray, FloatArray, IntArray

CODE = (
    "circuits",
    "models",
    "explainers",
    *(f"studies/crem/{name}.py" for name in ("background", "cell", "detection")),
)
"""Our sources that decide explanations."""


@attrs.frozen
class CremCell(StudyCell):
    """See the attributes of `CremSettings`; a cell fixes one value of each.

    Attributes:
        source: the explainer's spec with its file's path in full.
        code: the version of the explainer's code; if it changes during the run, the cell fails.
        engine: ``native`` or ``package``, for explainers that have both.
        n_anomalous: anomalous rows of the noise-free table.
        recipe: how the background is drawn.
        sample: number of rows, or None where every anomalous row is explained.
        detector: what finds the anomalies and is explained: the lookup table, or one that learned.
        detector_code: the version of the detector's code.
        repeat: 0, or the number of the repetition under another seed.
        chunk: which slice of the rows (every n-th from the k-th), as (k, n): no cell is so
            large that much is lost with it, or that others wait for it.
    """

    circuit: Circuit
    fault: Fault
    n_anomalous: int
    explainer: str
    source: str
    code: str
    engine: str
    options: dict[str, Any] = attrs.field(hash=False)
    noise_kind: str
    noise: float
    proportion: float
    max_background: int | None
    recipe: str
    sample: int | None
    seed: int
    detector: str = TABLE
    detector_code: str = ""
    repeat: int = 0
    chunk: tuple[int, int] = (0, 1)

    @property
    def content(self) -> dict[str, Any]:
        """Everything that decides the explanations, versions of the code included."""
        options = repr(sorted(self.options.items()))
        return {**self.written("source"), "options": options, "own code": own_code(*CODE)}

    @property
    def record(self) -> explainers.ExplainerRecord:
        """The explainer's."""
        return explainers.record(self.source, prefer=self.engine)

    @property
    def words(self) -> list[str]:
        """What tells it from other cells, for people."""
        name, _, _ = explainers.registry.split(self.explainer)
        parts = [f"{self.circuit.name}-{self.fault}", name.rpartition("/")[2]]
        parts += [re.sub(r":.*=", "-", self.detector)] if self.detector != TABLE else []
        parts += [f"noise{self.noise:g}"] if self.noise else []
        parts += [f"bg{self.proportion:g}"] + ([f"repeat{self.repeat}"] if self.repeat else [])
        parts += [f"part{self.chunk[0] + 1}of{self.chunk[1]}"] if self.chunk[1] > 1 else []
        return parts

    @property
    def covers(self) -> bool:
        """Whether every anomalous input is explained, so that no input was sampled."""
        return self.sample is None or self.sample >= self.n_anomalous

    @property
    def options_text(self) -> str:
        """The options as one line, sorted."""
        return options_text(self.options)

    @property
    def cost(self) -> float:
        """Expected milliseconds, roughly."""
        table = self._table(self.circuit)
        rows = min(self.sample or table.n_rows, table.n_rows)
        return rows / self.chunk[1] * self.record.cost(len(table.columns), self.background_size[0])

    @property
    def background_size(self) -> tuple[int, int]:
        """Background rows used, and rows that the recipe drew."""
        drawn = background_size(self._table(self.circuit).n_rows, self.proportion, self.recipe)
        return min(drawn, self.max_background or drawn), drawn

    @property
    def _version(self) -> str:
        return version_name(self.circuit, self.fault)

    @property
    def table(self) -> TruthTable:
        """The altered version's, with its columns of noise."""
        return self._table(self.fault.apply(self.circuit))

    def _table(self, circuit: Circuit) -> TruthTable:
        return TruthTable(circuit, int(self.noise) if self.noise_kind == "attribute" else 0)

    def run(self) -> pl.DataFrame:
        """Explain the sampled rows.

        Returns:
            One row a (row, output) pair: ``row``, ``input_row`` (the cluster: rows that show the
            same inputs), ``copies`` (how many rows have just this explanation: an input's copies
            under noise, where its explainer cannot tell them apart), ``output``, ``values`` of all
            columns (NaN where it failed), and ``error`` where it failed.
        """
        check_unchanged(self.code, self.record.version, self.explainer)
        table = self.table
        wrong = differences(self.circuit, table.circuit)
        every, total = self.chunk
        ids = self._sampled(np.flatnonzero(wrong.any(axis=1)), table.n_noise)[every::total]
        background = self._background(table)
        ids, copies = self._distinct(table, ids, background)
        input_ids = table.input_ids(ids)
        shown = self._shown(table.rows(ids), input_ids)
        parts = []
        pairs = wrong[input_ids]
        if self.detector != TABLE:
            pairs &= self._learned.explained_outputs(shown)
        for positions, outputs, values, errors in self._explained(table, background, shown, ids, pairs):
            for k, output in enumerate(outputs):
                name = table.circuit.outputs[output]
                parts.append(
                    pl.DataFrame(
                        {
                            "row": ids[positions],
                            "input_row": input_ids[positions],
                            "copies": copies[positions],
                            "output": pl.Series([name]).new_from_index(0, len(positions)),
                            "values": pl.Series(values[:, :, k]).arr.to_list(),
                            "error": _texts(errors, len(positions)),
                        }
                    )
                )
        if not parts:
            raise ExplainerError("at none of these rows is the detector's largest error at a wrong output")
        return pl.concat(parts).sort("row", "output")

    def _background(self, table: TruthTable) -> FloatArray:
        used, _ = self.background_size
        chosen = background_rows(table.n_rows, self.proportion, self.recipe)[:used]
        return table.rows(chosen).astype(np.float64)

    def _distinct(
        self, table: TruthTable, ids: IntArray, background: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """One row of those that must have the same explanation, and how many each stands for."""
        noise = background[:, table.noise_slice]
        varies = (noise.min(axis=0) != noise.max(axis=0)).all()
        blind = self.record.table_only and self.detector == TABLE
        if not blind or not table.n_noise or not varies:
            return ids, np.ones(len(ids), dtype=np.int64)
        _, first, copies = np.unique(table.input_ids(ids), return_index=True, return_counts=True)
        return ids[first], copies

    def _sampled(self, anomalous: IntArray, n_noise: int) -> IntArray:
        """Numbers of the rows to explain, sorted.

        A sample takes distinct inputs in random order, each with a random combination of noise
        bits, and comes back to an input, with another combination, only when all are used. The
        inputs do not depend on the noise level or the repeat, so scores at two levels are paired;
        the noise bits do.
        """
        if self.sample is None:
            return np.asarray((anomalous[:, None] << n_noise) + np.arange(2**n_noise)).reshape(-1)
        rng = generator(self.seed, "rows", self._version)
        order = rng.permutation(anomalous)
        rng = generator(self.seed, "noise bits", self._version, n_noise, self.repeat)
        start = rng.integers(2**n_noise, size=len(anomalous))
        patterns = rng.permutation(2**n_noise)
        nth, position = np.divmod(np.arange(self.sample), len(anomalous))
        return np.sort((order[position] << n_noise) | (start[position] ^ patterns[nth]))

    def _shown(self, rows: BoolArray, input_ids: IntArray) -> BoolArray:
        if self.noise_kind == "attribute" or not self.noise:
            return rows
        n = len(self.circuit.inputs)
        seed = self.seed if self.repeat == 0 else legacy_seed(self.seed, "flips", self.repeat)
        flipped = flip_inputs(rows[:, :n], self.noise, self.noise_kind, seed, input_ids)
        return np.hstack([flipped, rows[:, n:]])

    def _explained(
        self, table: TruthTable, background: FloatArray, shown: BoolArray, ids: IntArray, wrong: BoolArray
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray, dict[int, str]]]:
        """Rows grouped by which outputs are wrong, as explainers share work between outputs."""
        is_table = self.detector == TABLE
        detector = self._detector(table) if is_table else None
        output_function = self._learned.output_function if detector is None else detector.output_function
        # versions and noise levels are averaged and divided as independent: so must be their draws
        seed = legacy_seed(self.seed, "explain", self._version, f"{self.noise:g}", self.repeat)
        shared: dict[str, Any] = {"background": background, "seed": seed, **self.options}
        rows, n_outputs = shown.astype(np.float64), wrong.shape[1]
        if self.record.tabulates and detector is not None:
            # all outputs of all rows at once: what is not needed costs less than starting again
            everything = detector.output_table(np.arange(n_outputs))
            columns = np.arange(len(self.circuit.inputs))
            made = self.record.factory(table=everything, columns=columns, **shared)
            # a row's draw is that of its input: repeats under other noise bits keep their clusters
            whole = made.explain(rows, row_ids=table.input_ids(ids)).values
        patterns, where = np.unique(wrong, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            positions = np.flatnonzero(where.reshape(-1) == number)
            outputs = np.flatnonzero(pattern)
            if not len(outputs):  # nothing wrong that the detector points at
                continue
            if self.record.tabulates and detector is not None:
                yield positions, outputs, whole[np.ix_(positions, np.arange(rows.shape[1]), outputs)], {}
                continue
            predict = output_function(outputs)
            explainer = self.record.factory(predict=predict, **shared)
            explained = explainer.explain(rows[positions], row_ids=ids[positions])
            values = explained.values.reshape(len(positions), rows.shape[1], len(outputs))
            yield positions, outputs, values, dict(explained.errors)

    @property
    def _learned(self) -> LearnedDetector:
        n_noise = int(self.noise) if self.noise_kind == "attribute" else 0
        return learned_detector(self.circuit, n_noise, self.detector, self.seed)

    def _detector(self, table: TruthTable) -> ReconstructionDetector:
        """Fitted on one row of each combination of inputs: noise bits teach it nothing."""
        one_each = np.arange(0, table.n_rows, 2**table.n_noise)
        return ReconstructionDetector().fit(
            self._table(self.circuit).rows(one_each),
            table.rows(one_each),
            n_inputs=len(self.circuit.inputs),
            n_outputs=len(self.circuit.outputs),
        )


def _texts(errors: dict[int, str], n: int) -> pl.Series:
    """The error of each position, null where there is none."""
    texts = pl.Series([None], dtype=pl.String).new_from_index(0, n)
    return texts.scatter(list(errors), list(errors.values())) if errors else texts
