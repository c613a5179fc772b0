"""Who explains what."""

from typing import Any

import attrs

from xassay import explainers, specs
from xassay.models import black_box
from xassay.studies.kit.explainers import options_text

SELF = "MAPLE+RF"
"""What is explained in the experiment ``self``."""


@attrs.frozen
class Explained:
    """Who explains what.

    Attributes:
        model: as the user named it; ``MAPLE+RF`` where MAPLE is explained.
        model_source: the same with a file's path in full; empty for ``MAPLE+RF``.
        explainer: as the user named it.
        source: the same with a file's path in full.
        options: every option in force.
        code: version of the explainer's and the model's code; if it changes during the run,
            the cell fails.
    """

    model: str
    model_source: str
    explainer: str
    source: str
    options: dict[str, Any] = attrs.field(hash=False)
    code: str

    @classmethod
    def of(cls, model: str, explainer: str, options: dict[str, Any]) -> "Explained":
        """With sources and code as they are now."""
        model_source = "" if model == SELF else specs.absolute(model)
        source = specs.absolute(explainer)
        return cls(model, model_source, explainer, source, options, _code(model_source, source))

    def code_now(self) -> str:
        """What `code` would be now."""
        return _code(self.model_source, self.source)

    @property
    def itself(self) -> bool:
        """Whether MAPLE explains itself."""
        return self.model == SELF and self.explainer == "maple"

    @property
    def options_text(self) -> str:
        """The options as one line, sorted."""
        return options_text(self.options)


def _code(model_source: str, source: str) -> str:
    model = black_box.version(model_source) if model_source else SELF
    return f"{model} {explainers.record(source).version}"
