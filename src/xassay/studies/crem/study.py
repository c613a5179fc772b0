"""The CREM study: how well explainers find the true causes of anomalies in digital circuits."""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import polars as pl

from xassay import explainers, results, specs
from xassay.circuits import Circuit, Fault, TruthTable, differences
from xassay.models.learned_detectors import TABLE, detector_version
from xassay.studies.crem import comparison, scoring
from xassay.studies.crem.cell import CremCell
from xassay.studies.crem.detection import DetectionCell
from xassay.studies.crem.quality import quality
from xassay.studies.crem.settings import TRUTHS, CremSettings, versions
from xassay.studies.kit.done import Failures, Frames

PACKAGE_BACKGROUND = 1000
"""Background rows for packages' explainers, unless the user says otherwise."""

CHUNK_ROWS = 500
"""The most rows of one cell."""


class CremStudy:
    """Settings turned into cells, and the cells' frames into results.

    Attributes:
        name: ``crem``.
        settings: what was asked for.
        cells: one an explainer, altered version, noise level and background (and repeat).
        notices: what a reader must know of how it is run.

    Raises:
        InputError: something asked for cannot be had.

    Reference:
        "Evaluating Anomaly Explanations Using Ground Truth", sections 4 and 5.
    """

    name = "crem"
    tables = ("results", "tests")

    def __init__(self, settings: CremSettings) -> None:
        self.settings = settings
        self._versions = versions(settings)
        self._explained: Sequence[CremCell] = [
            cell for circuit, fault in self._versions for cell in self._cells_of(circuit, fault)
        ]
        self._tried: Sequence[DetectionCell] = list(self._detections())
        self.cells: Sequence[CremCell | DetectionCell] = [*self._tried, *self._explained]
        self.notices = self._notices()

    def _detections(self) -> Iterator[DetectionCell]:
        settings = self.settings
        if settings.detector == TABLE:  # it is right by construction
            return
        levels = [int(n) for n in settings.noise] if settings.noise_kind == "attribute" else [0]
        for circuit, fault in self._versions:
            for n_noise in levels:
                yield DetectionCell(circuit, fault, settings.detector, n_noise, settings.seed)

    def _cells_of(self, circuit: Circuit, fault: Fault) -> list[CremCell]:
        settings = self.settings
        n_anomalous = int(differences(circuit, fault.apply(circuit)).any(axis=1).sum())
        cells = []
        for noise, proportion in self._places(circuit):
            extra = int(noise) if settings.noise_kind == "attribute" else 0
            TruthTable(circuit, extra)  # refuses a table out of reach before anything runs
            total = n_anomalous << extra
            sample = settings.sample if settings.sample is not None and settings.sample < total else None
            covers = sample is None or sample >= n_anomalous
            noise_is_drawn = noise > 0 and (settings.noise_kind != "attribute" or sample is not None)
            for spec in settings.explainers:
                engine = settings.engine_of(spec)
                record = explainers.record(spec, prefer=engine)
                # what native explainers share between rows would be computed anew in each chunk
                n_rows = total if sample is None else sample
                shares = record.tabulates and settings.detector == TABLE
                chunks = 1 if shares else -(-n_rows // CHUNK_ROWS)
                repeats = settings.repeats if covers and (record.stochastic or noise_is_drawn) else 1
                cells += [
                    CremCell(
                        circuit=circuit,
                        fault=fault,
                        n_anomalous=n_anomalous,
                        explainer=spec,
                        source=specs.absolute(spec),
                        code=record.version,
                        engine=engine,
                        options=settings.explainer_options(circuit, spec),
                        noise_kind=settings.noise_kind,
                        noise=noise,
                        proportion=proportion,
                        max_background=settings.max_background
                        or (None if record.tabulates else PACKAGE_BACKGROUND),
                        recipe=settings.rules.recipe,
                        sample=sample,
                        seed=settings.seed,
                        detector=settings.detector,
                        detector_code=detector_version(settings.detector),
                        repeat=repeat,
                        chunk=(chunk, chunks),
                    )
                    for repeat in range(repeats)
                    for chunk in range(chunks)
                ]
        return cells

    def _places(self, circuit: Circuit) -> list[tuple[float, float]]:
        """(noise, background): noise-free also at the proportion of each noisy level, for ELA."""
        places: list[tuple[float, float]] = []
        for noise in self.settings.noise:
            if not noise:
                places += [(0.0, p) for p in self.settings.proportions(circuit, noisy=False)]
                continue
            for p in self.settings.proportions(circuit, noisy=True):
                places += [(0.0, p), (noise, p)]
        return list(dict.fromkeys(places))

    def plan(self) -> dict[str, Any]:
        """The settings that decide the results, in an order that does not matter.

        Those of ``cells`` decide explanations: of the profile what it asks explainers for, and not how
        they are ranked.
        """
        asked = attrs.asdict(self.settings)
        for name in ("circuits", "faults", "explainers", "noise", "background"):
            asked[name] = sorted(asked[name])
        cells = {name: value for name, value in asked.items() if name not in ("truth", "ties")}
        rules = self.settings.rules
        names = {explainers.registry.split(spec)[0] for spec in self.settings.explainers}
        options = {name: dict(rules.options[name]) for name in sorted(names & rules.options.keys())}
        cells["profile"] = {"background": rules.recipe, "options": options}
        return {"study": self.name, "settings": asked, "cells": cells}

    def score(self, frames: Frames, failures: Failures) -> dict[str, pl.DataFrame]:
        """The tables ``results`` and ``tests``."""
        scored = scoring.score(self._explained, frames, failures, self.settings)
        tried = quality(self._tried, frames, failures)
        table = results.frame([*scored, *tried], results.RESULTS)
        circuits = list(dict.fromkeys(circuit for circuit, _ in self._versions))
        families: list[tuple[float | None, dict[str, float], dict[str, float]]] = [
            (p, {c.name: p for c in circuits}, {c.name: p for c in circuits})
            for p in self.settings.background
        ]
        if not families:
            families = [
                (
                    None,
                    {c.name: self.settings.proportions(c, noisy=False)[0] for c in circuits},
                    {c.name: self.settings.proportions(c, noisy=True)[0] for c in circuits},
                )
            ]
        return {
            "results": table,
            "tests": results.frame(comparison.tests(table, families), results.TESTS),
        }

    def _notices(self) -> list[str]:
        notices = []
        if (truth := self.settings.truth) != "altered":
            notices.append(f"truth {truth}: {TRUTHS[truth]}; published figures belong to truth altered")
        if self.settings.prefer == "native":
            native = sorted({cell.explainer for cell in self._explained if cell.record.tabulates})
            others = sorted({cell.explainer for cell in self._explained if not cell.record.tabulates})
            notices += [f"by the native engine: {', '.join(native)}"] if native else []
            notices += [f"by their own code, row by row: {', '.join(others)}"] if native and others else []
        packaged = sorted(
            {
                cell.explainer
                for cell in self._explained
                if cell.engine == "package" and self.settings.prefer == "native"
            }
        )
        if packaged:
            notices.append(
                f"profile {self.settings.profile} asks for options that only packages have: "
                f"{', '.join(packaged)} not by the native engine, so slowly"
            )
        capped: dict[tuple[str, float, float], int] = {}
        names: dict[str, None] = {}
        limit = self.settings.max_background or PACKAGE_BACKGROUND
        for cell in self._explained:
            used, drawn = cell.background_size
            if used < drawn and cell.record.uses_background:
                capped[cell.circuit.name, cell.noise, cell.proportion] = drawn
                names[cell.explainer] = None
        if capped:
            places = ", ".join(
                f"{circuit}{f' with {noise:g} noise columns' if noise else ''} (proportion {proportion:g}) "
                f"from {drawn:,}"
                for (circuit, noise, proportion), drawn in capped.items()
            )
            whom = "" if len(names) == len(self.settings.explainers) else f" for {', '.join(names)}"
            notices.append(f"backgrounds are sampled down to {limit:,} rows{whom}: {places}")
        return notices
