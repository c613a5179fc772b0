"""What became of cells: the frames of those that finished, and why others did not."""

from collections.abc import Iterable, Mapping

import polars as pl

from xassay.types import Cell, Failure

Frames = Mapping[str, pl.DataFrame]
"""The frames of the cells that finished, by cell key."""

Failures = Mapping[str, Failure]
"""Why the others did not, by cell key."""


def lost(cells: Iterable[Cell], failures: Failures) -> list[Failure]:
    """Why those of some cells that failed did, in their order."""
    return [failures[key] for key in (cell.key for cell in cells) if key in failures]
