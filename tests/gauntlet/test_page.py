import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: code.partition("\n")[0])
def test_the_examples_run(code, capsys):
    exec(code, {})  # noqa: S102 - our own document
    said = capsys.readouterr().out
    assert "reversed" in said


def test_there_are_examples():
    assert len(BLOCKS) == 2
