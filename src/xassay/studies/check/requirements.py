"""Requirements that a check must meet, so that it can gate a build: ``lime.fidelity>=0.8``."""

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import attrs
import polars as pl

from xassay.errors import InputError, UnknownNameError
from xassay.metrics import available
from xassay.studies.check.measures import measures
from xassay.studies.check.settings import CheckSettings

_PATTERN = re.compile(
    r"(?P<explainer>.+?)\.(?P<metric>[a-z][a-z_0-9]*)(@(?P<sigma>[^<>=@]+))?\s*(?P<op>>=|<=|>|<)\s*(?P<bound>\S+)"
)
_OPERATORS: Mapping[str, Callable[[float, float], bool]] = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)


@attrs.frozen
class Requirement:
    """One requirement.

    Attributes:
        text: as it was written.
        explainer: whose score.
        metric: which score.
        sigma: at which perturbation; None: at every one that was measured.
        op: ``>=``, ``<=``, ``>`` or ``<``.
        bound: the number.
    """

    text: str
    explainer: str
    metric: str
    sigma: float | None
    op: str
    bound: float

    @classmethod
    def parse(cls, text: str, explainers: Iterable[str]) -> "Requirement":
        """Read ``explainer.metric[@sigma] op number``.

        Raises:
            InputError: it is of another form.
            UnknownNameError: no such metric, or an explainer that takes no part.
        """
        match = _PATTERN.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InputError(
                f"requirement {text!r}: expected explainer.metric[@sigma] and >=, <=, > or < a number, as in "
                "lime.fidelity>=0.8"
            )
        sigma = None if match["sigma"] is None else _number(match["sigma"], text)
        bound = _number(match["bound"], text)
        known = list(explainers)
        if match["explainer"] not in known:
            raise UnknownNameError(f"explainer in requirement {text!r}", match["explainer"], known)
        if match["metric"] not in available():
            raise UnknownNameError(f"metric in requirement {text!r}", match["metric"], available())
        return cls(text.strip(), match["explainer"], match["metric"], sigma, match["op"], bound)

    def check_measured(self, settings: CheckSettings) -> None:
        """See that a check with these settings gives the score at all.

        Raises:
            InputError: it does not.
        """
        measure = next((one for one in measures().values() if self.metric in (*one.shown, *one.beside)), None)
        where = f"requirement {self.text!r}: {self.metric}"
        if measure is None:
            raise InputError(f"{where} is not a score that a check gives explainers")
        if measure.name not in (*settings.measures, "cost"):
            raise InputError(f"{where} needs the measure {measure.name}; name it among the measures")
        if settings.kind not in measure.kinds:
            raise InputError(f"{where} is measured only where kind is {' or '.join(measure.kinds)}")
        sigmas = measure.sigmas(self.metric, settings)
        if self.sigma is not None and not any(math.isclose(self.sigma, sigma) for sigma in sigmas):
            listed = ", ".join(f"{sigma:g}" for sigma in sigmas)
            at = f"is measured at sigma {listed}, not at {self.sigma:g}" if sigmas else "has no sigma"
            raise InputError(f"{where} {at}")

    def unmet(self, scores: pl.DataFrame) -> str | None:
        """Why it is not met, in one line; None where it is.

        The worse end of the interval is tested. A score that is missing or undefined, or that
        had to leave out rows which failed, is not met.
        """
        found = scores.filter(
            pl.col("level") == "model",
            pl.col("planted").is_null(),
            pl.col("explainer") == self.explainer,
            pl.col("metric") == self.metric,
        )
        if self.sigma is not None:
            found = found.filter((pl.col("sigma") - self.sigma).abs() < 1e-12)  # noqa: PLR2004 - rounding
        if found.is_empty():
            return f"{self.text}: there is no such score"
        for row in found.iter_rows(named=True):
            value = row["value"]
            if value is None or math.isnan(value):
                return f"{self.text}: the score is {'missing' if value is None else 'undefined'}" + (
                    f" ({row['reason']})" if row["reason"] else ""
                )
            if row["n_failed"]:
                why = f" ({row['reason']})" if row["reason"] else ""
                return f"{self.text}: {row['n_failed']} of {row['n']} rows failed{why}"
            end = row["ci_low"] if self.op.startswith(">") else row["ci_high"]
            tested = value if end is None else end
            if not _OPERATORS[self.op](tested, self.bound):
                where = "" if row["sigma"] is None else f" at sigma {row['sigma']:g}"
                interval = "" if end is None else f" [{row['ci_low']:.4g}, {row['ci_high']:.4g}]"
                return f"{self.text}: it is {value:.4g}{interval}{where}"
        return None


def _number(written: str, text: str) -> float:
    try:
        found = float(written)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        raise InputError(f"requirement {text!r}: {written!r} is no number")
    return found
