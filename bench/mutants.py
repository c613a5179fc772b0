"""Mutation testing: small faults are put into the sources, and the fast tests must notice.

    python bench/mutants.py                       all files below
    python bench/mutants.py series contrast       those whose path holds one of these words
    python bench/mutants.py --sample 60           at most so many mutants of a file, drawn with a fixed seed

A mutant is one change: a comparison, an arithmetic or Boolean operator, a number, a truth value, or
`return None`. Each runs the tests of its file in a process of its own, which ends at the first failure.
What survives is printed, with its line. Mutation tools that rewrite functions one by one (mutmut 3)
leave class methods, properties and the numbers of a module alone, which much of this code consists of.
"""

import argparse
import ast
import importlib
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SRC = ROOT / "src"

CHECK, MEASURES = "studies/check", "studies/check/measures"
_OF_DATA = ("tests/studies/check/test_measures_data.py",)
_OF_MEASURES = ("tests/studies/check/test_measures.py",)
TESTS: dict[str, tuple[str, ...]] = {
    **{
        f"{CHECK}/{name}.py": (f"tests/studies/check/test_{name}.py",)
        for name in ("judgement", "verdict", "series")
    },
    **{
        f"{MEASURES}/{path.name}": _OF_DATA if path.stem == "data" else _OF_MEASURES
        for path in sorted((SRC / "xassay" / MEASURES).glob("*.py"))
        if path.name != "__init__.py"
    },
    "metrics/contrast.py": ("tests/metrics/test_contrast.py",),
    "metrics/orders.py": ("tests/metrics/test_paths.py",),
    **{
        f"metrics/{name}.py": (f"tests/metrics/test_{name}.py",)
        for name in ("sets", "paths", "stability", "yardsticks")
    },
    "statistics/paired.py": ("tests/statistics/test_permutation.py",),
    **{
        f"statistics/{name}.py": (f"tests/statistics/test_{name}.py",)
        for name in ("holm", "row_scores", "row_weights", "samples", "families", "resampled")
    },
}
"""The tests of each source: fast ones, those that speak of it."""

PRELOADED = (
    "numpy",
    "scipy.stats",
    "sklearn.ensemble",
    "hypothesis",
    "pytest",
    "attrs",
    "polars",
    "lime.lime_tabular",
)
"""Libraries that every process would load."""

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
_LEFT_ALONE = (ast.Raise, ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)
_SAME_EITHER_WAY = ("strict", "optimize", "initial", "repr")
"""Keywords that change no result of right code."""

_QUIET = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Hypothesis is loaded already."""

Change = tuple[int, str, Callable[[], None]]


def changes(node: ast.AST) -> Iterator[Change]:
    """All mutants of a tree: line, what changes, and a function that does it in place."""
    for name, child in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        if isinstance(node, ast.keyword) and node.arg in _SAME_EITHER_WAY:
            continue
        for place, one in enumerate(child) if isinstance(child, list) else ((None, child),):
            if not isinstance(one, ast.AST) or isinstance(one, _LEFT_ALONE):
                continue
            yield from _of_child(node, name, place, one)
            yield from changes(one)


def _of_child(parent: ast.AST, name: str, place: int | None, child: ast.AST) -> Iterator[Change]:
    line = getattr(child, "lineno", getattr(parent, "lineno", 0))

    def put(new: ast.AST) -> Callable[[], None]:
        def change() -> None:
            if place is None:
                setattr(parent, name, new)
            else:
                getattr(parent, name)[place] = new

        return change

    swap = _SWAPS.get(type(child))
    if swap is not None:
        yield line, f"{type(child).__name__} -> {swap.__name__}", put(swap())
    if isinstance(child, ast.Constant) and isinstance(child.value, bool):
        yield line, f"{child.value} -> {not child.value}", put(ast.Constant(not child.value))
    elif isinstance(child, ast.Constant) and isinstance(child.value, (int, float)):
        yield line, f"{child.value} -> {child.value + 1}", put(ast.Constant(child.value + 1))
    if isinstance(child, ast.UnaryOp):
        yield line, f"{type(child.op).__name__} dropped", put(child.operand)
    value = child.value if isinstance(child, ast.Return) else None
    if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
        yield line, "return None", put(ast.Return(ast.Constant(None)))


class _Mutated(SourceFileLoader):
    """Loads a module from a changed tree."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        """The changed code."""
        del fullname
        return self._code


class _Finder:
    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._own = name, str(path), _Mutated(name, str(path), code)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module that is changed."""
        del path, target
        own, file, loader = self._own
        return importlib.util.spec_from_file_location(name, file, loader=loader) if name == own else None


def _child(source: str, tree: ast.Module, change: Callable[[], None] | None, tests: Sequence[str]) -> int:
    """Run the tests on a changed module; the exit code of pytest."""
    if change is not None:
        change()
    path = SRC / "xassay" / source
    name = ".".join(("xassay", *Path(source).with_suffix("").parts))
    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
    sys.meta_path.insert(0, _Finder(name, path, code))
    sys.path.insert(0, str(SRC))
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    pytest = importlib.import_module("pytest")
    return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *_QUIET, *tests]))


def _start(*work: Any) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 3
    try:
        code = _child(*work)
    finally:
        os._exit(code)


def _one(source: str, tree: ast.Module, tests: Sequence[str]) -> float:
    """Seconds of the tests on the source as it is."""
    began = time.monotonic()
    _, status = os.waitpid(_start(source, tree, None, tests), 0)
    if status:
        sys.exit(f"{source}: its tests fail without any change: {' '.join(tests)}")
    return time.monotonic() - began


def survivors(
    source: str, some: Sequence[Change], tree: ast.Module, tests: Sequence[str], jobs: int
) -> list[Change]:
    """The changes that no test notices; a run that takes five times as long as the unchanged is noticed."""
    limit = 5 * _one(source, tree, tests) + 10
    left, running, found = list(some), dict[int, tuple[Change, float]](), []
    while left or running:
        while left and len(running) < jobs:
            one = left.pop(0)
            running[_start(source, tree, one[2], tests)] = one, time.monotonic() + limit
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            one, _ = running.pop(pid)
            if status == 0:
                found.append(one)
            continue
        for late in [pid for pid, (_, end) in running.items() if time.monotonic() > end]:
            os.kill(late, signal.SIGKILL)
        time.sleep(0.02)
    return sorted(found, key=lambda one: one[:2])


def main() -> None:
    """Print survivors and the share that is noticed, file by file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("words", nargs="*", help="parts of paths")
    parser.add_argument("--sample", type=int, help="at most so many mutants of a file")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    os.chdir(ROOT)
    missing = {test for tests in TESTS.values() for test in tests if not Path(test).is_file()}
    if missing:  # without tests every mutant would seem to be noticed
        raise SystemExit(f"no such test: {', '.join(sorted(missing))}")
    os.environ.update(OMP_NUM_THREADS="1", XASSAY_HYPOTHESIS=os.environ.get("XASSAY_HYPOTHESIS", "mutants"))
    for name in PRELOADED:
        importlib.import_module(name)
    noticed = made = 0
    for source, tests in TESTS.items():
        if asked.words and not any(word in source for word in asked.words):
            continue
        tree = ast.parse((SRC / "xassay" / source).read_text("utf-8"))
        some = list(changes(tree))
        if asked.sample is not None and len(some) > asked.sample:
            some = random.Random(0).sample(some, asked.sample)  # noqa: S311 - a sample, no secret
        alive = survivors(source, some, tree, tests, asked.jobs)
        killed = len(some) - len(alive)
        noticed, made = noticed + killed, made + len(some)
        print(f"{source}: {killed} of {len(some)} ({killed / max(len(some), 1):.0%})", flush=True)
        for line, what, _ in alive:
            print(f"    line {line}: {what}", flush=True)
    print(f"all: {noticed} of {made} ({noticed / max(made, 1):.0%})")


if __name__ == "__main__":
    main()
