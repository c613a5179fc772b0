"""What of xassay decides a stored result."""

from pathlib import Path

import xassay
from xassay.studies.code import sources

ROOT = Path(xassay.__file__).parent


def test_all_sources_of_a_folder_count_at_any_depth() -> None:
    found = {Path(str(one)) for one in sources("explainers", "models/score.py")}
    shared = {ROOT / name for name in ("seeds.py", "specs.py", "types.py")}
    assert found == {*(ROOT / "explainers").rglob("*.py"), ROOT / "models" / "score.py", *shared}
    assert ROOT / "explainers" / "compiled" / "kernels.py" in found
