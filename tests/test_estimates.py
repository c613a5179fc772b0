"""An estimate is what results hold of a score."""

from xassay import results
from xassay.estimates import Estimate


def test_a_row_of_results_holds_all_that_an_estimate_says() -> None:
    said = Estimate(0.5, (0.25, 0.75), 4, 1, 1, "broken").columns
    (row,) = results.frame([said], results.RESULTS).iter_rows(named=True)
    assert Estimate.of(row) == Estimate(0.5, (0.25, 0.75), 4, 1, 1, "broken")
    assert {name: row[name] for name in said} == said
    lost = Estimate(None, reason="broken")
    assert (lost.columns["status"], lost.failed, lost.defined) == ("failed", True, False)
    assert Estimate.of({**row, "ci_high": None}).bounds is None
