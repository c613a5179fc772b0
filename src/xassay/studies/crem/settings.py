"""What a CREM run is asked to do, checked before anything runs."""

import itertools
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from xassay import explainers
from xassay.circuits import EMBEDDED, STUDY_FAULTS, Circuit, Fault, Gate, differences, find, load, negate
from xassay.circuits.noise import KINDS
from xassay.errors import InputError, UnknownNameError
from xassay.metrics.ranking import TIES
from xassay.models.learned_detectors import TABLE, make_detector
from xassay.studies.crem import published
from xassay.studies.options import check_distinct, check_some, check_whole, floats, strings

DEFAULT_EXPLAINERS = ("kernel_shap", "sampling_shap", "lime", "lime_continuous", "single_flip", "random")
DEFAULT_PROPORTION = 0.4
TRUTHS = {
    "altered": "a walk back through the altered circuit, gate by gate, as in the study",
    "model": "the same walk through the original circuit, whose output is explained",
    "function": "the inputs in a smallest joint flip that changes the explained output",
}
"""Which inputs count as causes of a wrong output, by name."""

DEFAULT_FAULTS = 4


@attrs.frozen
class Profile:
    """Choices that belong together, under one name.

    Attributes:
        recipe: how the background is drawn: ``paper`` or ``crem-code``.
        ties: the tie rule.
        rank_zeros: whether features with zero attribution are ranked.
        skip: positions of features that are never ranked.
        denominator: what R-Precision is divided by where fewer than R features are ranked:
            ``relevant`` (R) or ``ranked`` (their number).
        options: options of explainers, unless the user gives others.
    """

    recipe: str
    ties: str
    rank_zeros: bool = True
    skip: tuple[int, ...] = ()
    denominator: str = "relevant"
    options: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)


_LASSO = {"kernel_shap": {"l1_reg": "auto"}}
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "xassay": Profile("paper", "expected"),
        "paper": Profile(
            "paper", "ordered", rank_zeros=False, skip=(0,), denominator="ranked", options=_LASSO
        ),
        "crem-code": Profile(
            "crem-code",
            "reversed",
            rank_zeros=False,
            skip=(0,),
            denominator="ranked",
            options={
                "kernel_shap": {"l1_reg": "auto", "nsamples": 500},
                "sampling_shap": {"nsamples": 500},
                "lime": {"treatment": "quartile", "rounding": "truncate"},
                "lime_continuous": {"rounding": "truncate"},
            },
        ),
    }
)


@attrs.frozen
class CremSettings:
    """Settings of the CREM study; the defaults give its Table 2.

    Attributes:
        circuits: ``c17``, ``74182``, ``74283``, ``74181``, or ``.bench`` and ``.sys`` files.
        faults: altered gates of every circuit: ``z4`` (negated), ``z4:stuck1``, ``z4:or``. Default: the
            four of the study, or four spread over another circuit.
        explainers: ``kernel_shap``, ``sampling_shap``, ``lime``, ``lime_continuous``,
            ``exact_shapley``, ``exact_banzhaf``, ``maple``, ``single_flip``, ``random``, or
            ``file.py:function``; with options as in ``kernel_shap:nsamples=2000``.
        noise: noise levels: numbers of noise columns (0,2,4,6), or flip rates.
        noise_kind: ``attribute`` (columns that say nothing), ``flip`` (random bit flips) or
            ``correlated`` (pairs of bits flip together).
        background: shares of the table that serve as background (0.1,0.2). Default: those that
            the study settled on.
        max_background: larger backgrounds are sampled down to this many rows, with a notice. Default: 1000
            for packages, which slow down with it, all for the native engine.
        profile: ``xassay`` (expected ties, all features ranked), ``paper`` (nearest to the published
            tables) or ``crem-code`` (as the study's public code does it).
        sample: anomalous rows explained in each altered version (in Python, None: all). Default: 200.
        truth: which inputs are the causes: ``altered`` (those that a walk through the altered circuit
            reaches, as in the study), ``model`` (the same walk through the original circuit) or
            ``function`` (those in a smallest joint flip that changes the explained output, for the lookup
            table only).
        ties: ``expected``, ``ordered`` or ``reversed``, in place of the profile's rule.
        seed: seed of everything random.
        repeats: where every row is explained: how often, under other seeds, for the interval.
        engine: ``native`` (our own code, for all rows of a table at once) or ``package``, for explainers
            that have both: kernel_shap, sampling_shap, lime. Default: native where every row is explained.
        detector: what finds the anomalies and is explained: ``reconstruction`` (the study's lookup table),
            ``autoencoder`` (a perceptron with a bottleneck; options bottleneck, width, max_iter), or a
            detector of PyOD as ``pyod:IForest``.

    Raises:
        InputError: a value that cannot be used; the message names the option.
    """

    circuits: tuple[str, ...] = attrs.field(default=EMBEDDED, converter=strings)
    faults: tuple[str, ...] = attrs.field(default=(), converter=strings)
    explainers: tuple[str, ...] = attrs.field(default=DEFAULT_EXPLAINERS, converter=strings)
    noise: tuple[float, ...] = attrs.field(default=(0.0,), converter=floats)
    noise_kind: str = "attribute"
    background: tuple[float, ...] = attrs.field(default=(), converter=floats)
    max_background: int | None = None
    profile: str = "xassay"
    sample: int | None = 200
    truth: str = "altered"
    ties: str | None = None
    seed: int = 0
    repeats: int = 5
    engine: str | None = None
    detector: str = TABLE

    def __attrs_post_init__(self) -> None:
        for option, value, known in (
            ("profile", self.profile, tuple(PROFILES)),
            ("truth", self.truth, tuple(TRUTHS)),
            ("noise kind", self.noise_kind, KINDS),
            ("tie rule", "expected" if self.ties is None else self.ties, TIES),
            ("engine", self.prefer, explainers.registry.ENGINES),
        ):
            if value not in known:
                raise UnknownNameError(option, value, known)
        for option in ("circuits", "faults", "explainers", "noise", "background"):
            check_distinct(option, getattr(self, option))
        for option in ("circuits", "explainers", "noise"):
            check_some(option, getattr(self, option))
        if self.detector != TABLE:
            make_detector(self.detector)
            if self.truth == "function":
                raise InputError(
                    "truth function needs a detector that gives the circuit's outputs, which "
                    f"{self.detector} does not; use detector reconstruction, or truth altered or model"
                )
        self._check_numbers()
        for spec in self.explainers:
            explainers.registry.check_spec(spec, prefer=self.engine_of(spec))

    def _check_numbers(self) -> None:
        for proportion in self.background:
            if not 0 < proportion <= 1:
                raise InputError(f"background proportion {proportion:g} is not between 0 and 1")
        for level in self.noise:
            whole = level == int(level) if abs(level) < 1e9 else False  # noqa: PLR2004 - inf and nan too
            if self.noise_kind == "attribute" and not (whole and level >= 0):
                raise InputError(
                    f"noise {level:g}: a number of noise columns is a whole number of at least 0"
                )
            if self.noise_kind != "attribute" and not 0 <= level <= 1:
                raise InputError(f"noise {level:g}: a flip rate lies between 0 and 1")
        for option, value, least in (
            ("sample", self.sample, 1),
            ("max-background", self.max_background, 1),
            ("repeats", self.repeats, 1),
            ("seed", self.seed, 0),
        ):
            if value is not None:
                check_whole(option, value, least)

    @property
    def prefer(self) -> str:
        """The engine of explainers that have both."""
        if self.detector != TABLE:  # the native engine explains tables
            return self.engine or "package"
        return self.engine or ("native" if self.sample is None else "package")

    @property
    def rules(self) -> Profile:
        """The profile, with the tie rule replaced where the user gave one."""
        profile = PROFILES[self.profile]
        if self.ties is None or self.ties == profile.ties:
            return profile
        if self.ties == "expected":
            return attrs.evolve(profile, ties="expected", rank_zeros=True, skip=(), denominator="relevant")
        return attrs.evolve(profile, ties=self.ties)

    def proportions(self, circuit: Circuit, *, noisy: bool) -> tuple[float, ...]:
        """The background proportions of a circuit, for scores (or with ``noisy``, for ELA)."""
        if self.background:
            return self.background
        settled = published.proportion(circuit.name, noisy=noisy) if is_embedded(circuit) else None
        if settled is None and noisy:
            return self.proportions(circuit, noisy=False)
        return (DEFAULT_PROPORTION if settled is None else settled,)

    def explainer_options(self, circuit: Circuit, spec: str) -> dict[str, Any]:
        """An explainer's options: the study's, the profile's over them, the user's over both."""
        name, _, given = explainers.registry.split(spec)
        record = explainers.record(spec, prefer=self.engine_of(spec))
        options = explainers.registry.default_options(record)
        if name in ("kernel_shap", "sampling_shap"):
            is_c17 = circuit.name == "c17" and is_embedded(circuit)
            options["nsamples"] = "auto" if is_c17 else 500
        return {**options, **self.rules.options.get(name, {}), **given}

    def engine_of(self, spec: str) -> str:
        """The engine of an explainer: the package's where the profile asks for what only it has.

        Raises:
            InputError: the native engine is asked for, and the profile asks for more.
        """
        name, written, _ = explainers.registry.split(spec)
        wanted = written or self.prefer
        known = explainers.registry.option_names(explainers.record(spec, prefer=wanted)) or ()
        lacking = [option for option in self.rules.options.get(name, {}) if option not in known]
        if wanted == "native" and lacking:
            if written or self.engine:
                raise InputError(
                    f"profile {self.profile} asks {name} for {', '.join(lacking)}, which the native engine "
                    "lacks; use profile xassay, or engine package"
                )
            return "package"
        return wanted


def is_embedded(circuit: Circuit) -> bool:
    """Whether this is one of the study's own circuits, and not another under its name."""
    return circuit.name in EMBEDDED and circuit == load(circuit.name)


def versions(settings: CremSettings) -> list[tuple[Circuit, Fault]]:
    """The altered versions of a run, in the order asked for.

    Raises:
        InputError: a circuit or fault that cannot be had, two circuits of one name, or a
            fault that changes no output at all.
    """
    found: list[tuple[Circuit, Fault]] = []
    names: set[str] = set()
    for spec in settings.circuits:
        circuit = find(spec)
        if circuit.name in names:
            raise InputError(f"two circuits are called {circuit.name}; rename a file")
        names.add(circuit.name)
        found += [(circuit, fault) for fault in _faults_of(circuit, settings.faults)]
    return found


def _faults_of(circuit: Circuit, specs: Sequence[str]) -> list[Fault]:
    if specs:
        asked = [Fault.parse(spec) for spec in specs]
        altered: dict[Gate, Fault] = {}
        for fault in asked:
            gate = fault.apply(circuit).gate(fault.gate)
            if gate in altered:
                raise InputError(f"faults {altered[gate]} and {fault} of circuit {circuit.name} are the same")
            altered[gate] = fault
            if not differences(circuit, fault.apply(circuit)).any():
                raise InputError(
                    f"fault {fault} of circuit {circuit.name} changes no output: no anomaly to explain"
                )
        return asked
    if is_embedded(circuit):
        return [Fault(gate) for gate in STUDY_FAULTS[circuit.name]]
    return _spread_faults(circuit)


def _spread_faults(circuit: Circuit) -> list[Fault]:
    """Up to four negated gates that change an output, spread evenly from first to last."""
    gates = [gate.output for gate in circuit.gates if gate.inputs]
    even = np.linspace(0, len(gates) - 1, min(DEFAULT_FAULTS, len(gates))).round().astype(int)
    order = [*even.tolist(), *(k for k in range(len(gates)) if k not in even)]
    visible = (k for k in order if differences(circuit, negate(circuit, gates[k])).any())
    chosen = sorted(itertools.islice(visible, DEFAULT_FAULTS))
    if not chosen:
        raise InputError(f"circuit {circuit.name}: no negated gate changes an output")
    return [Fault(gates[k]) for k in chosen]
