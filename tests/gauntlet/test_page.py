import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)

EXPECTED = {
    "# laws of an explainer and of a metric": "same_seed | seed 3, twice | values differ by",
    "# a table of explanations": "reversed",
    "# an exact explainer and two straw men of it": "reversed",
}


@pytest.mark.parametrize("code", BLOCKS, ids=lambda code: code.partition("\n")[0])
def test_the_examples_run(code, capsys):
    exec(code, {})  # noqa: S102 - our own document
    said = capsys.readouterr().out
    assert EXPECTED[code.partition("\n")[0]] in said


def test_there_are_examples():
    assert len(BLOCKS) == len(EXPECTED)
