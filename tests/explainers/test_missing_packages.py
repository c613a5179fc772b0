"""What works without a package does, and what needs it says how to install it."""

import subprocess
import sys

import pytest

WITHOUT = """
import sys
from importlib import metadata
gone = {gone!r}
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == gone:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Finder())
if {uninstalled}:
    version = metadata.version
    def hidden(name):
        if name == gone:
            raise metadata.PackageNotFoundError(name)
        return version(name)
    metadata.version = hidden
import numpy as np
from xassay import explainers
from xassay.errors import InputError
flip = explainers.make("single_flip", predict=lambda X: X[:, 0], background=np.eye(2))
assert flip.explain([[1, 1]]).values.shape == (1, 2)
try:
    explainers.make({name!r}, predict=lambda X: X[:, 0], background=np.eye(2))
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("uninstalled", [True, False])
@pytest.mark.parametrize(("gone", "name"), [("lime", "lime"), ("shap", "kernel_shap")])
def test_a_package_that_is_not_there_is_named_by_who_needs_it(gone, name, uninstalled) -> None:
    script = WITHOUT.format(gone=gone, name=name, uninstalled=uninstalled)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == f"explainer {name!r} needs the package {gone}: pip install {gone}\n"
