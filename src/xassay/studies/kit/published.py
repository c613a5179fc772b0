"""Published figures, to stand beside ours: files of a study's folder ``published``."""

import csv
from importlib import resources
from typing import Any, NamedTuple


class Published(NamedTuple):
    """A published figure and where it stands."""

    value: float
    source: str


def rows(study: str, name: str) -> list[dict[str, str]]:
    """The rows of a file of a study's published figures.

    Example:
        >>> rows("maple", "table1_accuracy.csv")[0]["dataset"]
        'autompgs'
    """
    place = resources.files("xassay").joinpath("studies", study, "published", name)
    return list(csv.DictReader(place.read_text("utf-8").splitlines()))


def beside(figure: Published | None) -> dict[str, Any]:
    """What results say of a published figure.

    Example:
        >>> beside(Published(0.9, "Table 2")), beside(None)
        ({'published': 0.9, 'published_source': 'Table 2'}, {})
    """
    return {} if figure is None else {"published": figure.value, "published_source": figure.source}
