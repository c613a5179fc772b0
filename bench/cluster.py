"""Throughput of a Dask cluster on this machine against its workers, for cells of several sizes.

    python bench/cluster.py                    1, 2 and 4 workers
    python bench/cluster.py --workers 1,2

A cell here computes for a given time and does nothing else, so that the table shows what sending, keeping
and waiting cost. The last column is the ratio to the same cells in one process of this machine, in the
same run: above 1 the cluster pays.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import polars as pl

from xassay import runner
from xassay.types import Failure

SIZES = (0.01, 0.1, 1.0)
"""Seconds of a cell."""
TOTAL = 12.0
"""Seconds of work in a run."""
MOST_CELLS = 200


@attrs.frozen
class Busy:
    """A cell that computes for some seconds of processor time."""

    key: str
    seconds: float
    turn: int = 0
    cost: float = 1.0
    label: str = "busy"

    def run(self) -> pl.DataFrame:
        """Compute."""
        end = time.process_time() + self.seconds
        while time.process_time() < end:
            sum(range(1000))
        return pl.DataFrame({"row": [0]})


@attrs.define
class Many:
    """A study of such cells, which scores nothing."""

    cells: Sequence[Busy]
    name: str = "busy"
    tables: Sequence[str] = ("results", "tests")
    notices: Sequence[str] = ()

    def plan(self) -> dict[str, Any]:
        """No settings."""
        return {"study": self.name, "settings": {}}

    def score(
        self, frames: Mapping[str, pl.DataFrame], failures: Mapping[str, Failure]
    ) -> Mapping[str, pl.DataFrame]:
        """Nothing."""
        del frames, failures
        return {name: pl.DataFrame({"status": ["ok"], "n_failed": [0]}) for name in self.tables}


def seconds_of(cells: Sequence[Busy], **how: Any) -> float:
    """How long a run of these cells takes."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        runner.run(Many(cells), Path(folder), **how)
        return time.monotonic() - began


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--workers", default="1,2,4")
    workers = [int(n) for n in parser.parse_args().workers.split(",")]
    print(f"{'cell (s)':>9} {'cells':>6} {'workers':>8} {'seconds':>8} {'cells/s':>8} {'ratio':>6}")
    for size in SIZES:
        cells = [Busy(f"{k:016x}", size) for k in range(min(int(TOTAL / size), MOST_CELLS))]
        alone = seconds_of(cells)
        for n, spent in [(0, alone), *((n, seconds_of(cells, cluster=f"local:{n}")) for n in workers)]:
            rate = len(cells) / spent
            print(
                f"{size:9.2f} {len(cells):6} {n or 'none':>8} {spent:8.1f} {rate:8.1f} {alone / spent:6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
