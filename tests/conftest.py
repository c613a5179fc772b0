import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "deep",
    settings.get_profile("quick"),
    max_examples=int(os.environ.get("XASSAY_EXAMPLES", "500")),
    derandomize=False,
)
settings.register_profile("mutants", settings.get_profile("quick"), max_examples=10)
settings.load_profile(os.environ.get("XASSAY_HYPOTHESIS", "quick"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of downloaded data: ``XASSAY_DATA``, else ``shared/data`` beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("XASSAY_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no data folder {folder}: set XASSAY_DATA")
    return folder
