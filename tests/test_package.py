"""What the package promises from outside."""

import subprocess
import sys

import pytest

import xassay

HEAVY = ("numpy", "polars", "shap", "lime", "matplotlib", "sklearn", "scipy")


@pytest.mark.parametrize("statement", ["import xassay", "import xassay.cli"])
def test_importing_loads_nothing_heavy(statement):
    code = f"import sys; {statement}; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_modules_and_functions_are_loaded_when_they_are_used():
    code = "import xassay; print(xassay.circuits.load('c17').name, callable(xassay.run_crem))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["c17", "True"]
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = xassay.nothing_here
