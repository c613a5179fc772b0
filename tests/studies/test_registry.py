"""Every study is a folder and a line of the registry, and is known by name nowhere else."""

import ast
from importlib import resources
from pathlib import Path

import pytest

from xassay.errors import UnknownNameError
from xassay.studies.registry import STUDIES, builder

PACKAGE = Path(str(resources.files("xassay")))
COMMANDS = ("cli", "api.py")
"""Where commands and functions for people are defined."""


def test_each_study_is_a_folder_with_a_view() -> None:
    folders = {path.parent.name for path in (PACKAGE / "studies").glob("*/view.py")}
    assert folders == set(STUDIES)
    assert all(callable(builder(study).build) for study in STUDIES)
    assert all(not {"results", "tests"} & builder(study).extra.keys() for study in STUDIES)


def test_an_unknown_study_has_no_builder() -> None:
    with pytest.raises(UnknownNameError, match="unknown study 'lottery'"):
        builder("lottery")


@pytest.mark.parametrize("study", STUDIES)
def test_no_module_outside_imports_a_study(study: str) -> None:
    own = f"xassay.studies.{study}"
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE)
        if place.parts[:2] == ("studies", study) or place.parts[0] in COMMANDS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert not f"{node.module}.".startswith(f"{own}."), place
