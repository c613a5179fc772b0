"""What of our own code decides the key of a stored part: what explains, and neither scores nor words."""

import ast
import re
import shutil
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from xassay.studies.crem import CremSettings, CremStudy, detection
from xassay.studies.crem import cell as crem
from xassay.studies.kit import code
from xassay.studies.maple import MapleSettings, MapleStudy
from xassay.studies.maple import cell as maple

PACKAGE = Path(str(resources.files("xassay")))


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of our sources that keys are made from."""
    copy = tmp_path / "xassay"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    files = resources.files
    monkeypatch.setattr(resources, "files", lambda name: copy if name == "xassay" else files(name))
    code.own_code.cache_clear()
    yield copy
    code.own_code.cache_clear()


def circuit_keys() -> list[str]:
    asked: dict[str, Any] = {"circuits": ["c17"], "explainers": ["lime", "random"]}
    plain = CremStudy(CremSettings(**asked))
    learned = CremStudy(CremSettings(**asked, detector="autoencoder"))
    return [cell.key for study in (plain, learned) for cell in study.cells]


def maple_keys() -> list[str]:
    settings = MapleSettings(datasets=["friedman1"], trials=1)
    return [cell.key for cell in MapleStudy(settings).cells]


def keys_after(keys: Callable[[], list[str]], place: Path) -> list[str]:
    """The keys once a statement is added to a source."""
    with place.open("a") as file:
        file.write("\nchanged = 1\n")
    code.own_code.cache_clear()
    return keys()


@pytest.mark.parametrize("keys", [circuit_keys, maple_keys])
def test_comments_docstrings_and_layout_of_no_module_change_a_key(
    sources: Path, keys: Callable[[], list[str]]
) -> None:
    before = keys()
    for path in sources.rglob("*.py"):
        text = re.sub(r'(?m)^( *r?""")(?=\w)', r"\1In other words: ", path.read_text())
        assert text != path.read_text() or '"""' not in text, path
        path.write_text(f"# a comment\n\n{text}\n\n\n# another\n")
    code.own_code.cache_clear()
    assert keys() == before


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (circuit_keys, place)
        for place in (
            *(f"studies/crem/{name}.py" for name in ("judging", "scoring", "intervals", "comparison")),
            *(f"studies/crem/{name}.py" for name in ("quality", "settings", "study")),
            *(
                "metrics/ranking.py",
                "metrics/robustness.py",
                "metrics/records.py",
                "statistics/row_scores.py",
            ),
        )
    ]
    + [
        (maple_keys, place)
        for place in (
            *(f"studies/maple/{name}.py" for name in ("scoring", "comparison", "settings", "study")),
            *("metrics/ranking.py", "metrics/records.py", "statistics/samples.py"),
        )
    ],
)
def test_code_that_scores_changes_no_key(sources: Path, keys: Callable[[], list[str]], place: str) -> None:
    before = keys()
    assert keys_after(keys, sources / place) == before


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (circuit_keys, "studies/crem/cell.py"),
        (circuit_keys, "studies/crem/background.py"),
        (circuit_keys, "studies/crem/detection.py"),
        (circuit_keys, "circuits/faults.py"),
        (circuit_keys, "explainers/native_lime.py"),
        (circuit_keys, "models/detector.py"),
        (circuit_keys, "seeds.py"),
        (maple_keys, "studies/maple/experiments.py"),
        (maple_keys, "metrics/causal.py"),
        (maple_keys, "models/maple.py"),
        (maple_keys, "tabular/preparation.py"),
    ],
)
def test_code_that_explains_changes_keys(sources: Path, keys: Callable[[], list[str]], place: str) -> None:
    before = set(keys())
    after = set(keys_after(keys, sources / place))
    assert before != after


@pytest.mark.parametrize(("first", "second"), [("x = 1", "x = 2"), ("x = 'a'", "x = 'b'"), ("f(a)", "f(b)")])
def test_what_a_source_does_counts(first: str, second: str) -> None:
    assert code._doing(first) != code._doing(second)
    assert code._doing(first) == code._doing(f'"""Words."""\n{first}  # words')


def imported(path: Path) -> Iterator[str]:
    """What a source imports from our package, as ``folder/module/name``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "xassay":
            for alias in node.names:
                yield "/".join([*str(node.module).split(".")[1:], alias.name])


NO_MATTER = ("errors", "studies/kit", "texts")
"""What refuses, hashes and names files, and computes nothing."""


@pytest.mark.parametrize("module", [crem, detection, maple])
def test_what_explains_imports_nothing_that_no_key_covers(module: Any) -> None:
    covered = [place.removesuffix(".py") for place in (*module.CODE, *code.SHARED, *NO_MATTER)]
    for place in (place for place in module.CODE if place.endswith(".py")):
        for name in imported(PACKAGE / place):
            assert any(name == each or name.startswith(f"{each}/") for each in covered), (place, name)


def test_all_sources_of_a_folder_count_at_any_depth() -> None:
    found = {Path(str(one)) for one in code.sources("explainers", "models/score.py")}
    shared = {PACKAGE / name for name in ("seeds.py", "specs.py", "types.py")}
    assert found == {*(PACKAGE / "explainers").rglob("*.py"), PACKAGE / "models" / "score.py", *shared}
    assert PACKAGE / "explainers" / "compiled" / "kernels.py" in found
