"""The report page: one HTML file that needs nothing else."""

from pathlib import Path
from typing import Any

from xassay.report import plot
from xassay.report.view import load
from xassay.results import write_text
from xassay.texts import printable
from xassay.views import View


def render(view: View) -> str:
    """The page of a view."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("xassay", "report"),
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(view=view, draw=plot.draw)


def _shown(value: Any) -> Any:
    """Text as it is printed, but for drawings, which are markup."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else printable(value)


def write(folder: Path) -> Path:
    """Write ``report.html`` into a run's folder from its saved results.

    Raises:
        InputError: the folder holds no finished run, or cannot be written.
    """
    path = folder / "report.html"
    write_text(render(load(folder)), path)
    return path
