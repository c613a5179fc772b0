"""What others may rely on: every public name with its parameters, as `public_names.txt` has them.

After a change that is meant: python tests/test_public_names.py --write
"""

import ast
import difflib
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

import xassay

LIST = Path(__file__).with_name("public_names.txt")
WRITE = "python tests/test_public_names.py --write"
HIDDEN = {"xassay.studies", "xassay.testing.laws"}
"""Packages whose names are public elsewhere, or not at all."""
WHOLE = ("xassay.errors", "xassay.types")
"""Modules without `__all__`: all that they define is public."""


def public_modules() -> list[str]:
    """All packages that say what is public in them, and the modules that everybody shares."""
    found = ["xassay"]
    for one in pkgutil.walk_packages(xassay.__path__, "xassay."):
        if one.ispkg and not any(f"{one.name}.".startswith(f"{hidden}.") for hidden in HIDDEN):
            found += [one.name] if hasattr(importlib.import_module(one.name), "__all__") else []
    return sorted([*found, *WHOLE])


def names_of(module: Any) -> list[str]:
    """The public names of a module."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    found = []
    for node in ast.parse(inspect.getsource(module)).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.Assign):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return sorted(name for name in found if not name.startswith("_"))


def shown(default: Any) -> str:
    """A default without addresses and versions."""
    if default is inspect.Parameter.empty:
        return ""
    if default is attrs.NOTHING or isinstance(default, attrs.Factory):
        return "=<made>"
    if callable(default) or type(default).__module__ not in ("builtins", "types"):
        return f"=<{getattr(default, '__name__', type(default).__name__)}>"
    return f"={default!r}"


def parameters(function: Any, *, bound: bool = False) -> str:
    """The parameters by name, kind and default; annotations are mypy's to guard, and read differently
    with each version of numpy."""
    if inspect.isclass(function) and not any(
        "__init__" in vars(base) and not getattr(base, "_is_protocol", False)
        for base in function.__mro__
        if base.__module__.startswith("xassay")
    ):
        return ""  # of Python's own classes, whose signatures differ with its version
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return "(...)"
    parts, starred = [], False
    for one in given[bound:]:
        star = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        if one.kind is one.KEYWORD_ONLY and not starred:
            parts.append("*")
        starred = starred or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        parts.append(f"{star}{one.name}{shown(one.default)}")
    return f"({', '.join(parts)})"


def members(kind: type) -> Iterator[str]:
    """Public methods, properties and attributes that our classes give a class."""
    fields = [field.name for field in attrs.fields(kind)] if attrs.has(kind) else []
    found = {name: f".{name}" for name in fields if not name.startswith("_")}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("xassay"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in fields:
                continue
            unbound = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(unbound):
                given = parameters(unbound, bound=not isinstance(value, staticmethod))
                found[name] = f".{name}{given}"
            else:
                found[name] = f".{name}"
    yield from (found[name] for name in sorted(found))


def described(name: str, value: Any) -> list[str]:
    """The lines of one name."""
    if inspect.isclass(value) and value.__module__.startswith("xassay"):
        return [f"class {name}{parameters(value)}", *(f"    {line}" for line in members(value))]
    if inspect.isfunction(value):
        return [f"{name}{parameters(value)}"]
    return [name]


def public_names() -> str:
    """The whole list."""
    lines: list[str] = []
    for place in public_modules():
        module = importlib.import_module(place)
        lines += [*([""] if lines else []), f"[{place}]"]
        for name in names_of(module):
            lines += described(name, getattr(module, name))
    return "\n".join(lines) + "\n"


def test_public_names_are_those_of_the_list() -> None:
    changes = difflib.unified_diff(
        LIST.read_text("utf-8").splitlines(), public_names().splitlines(), "the list", "the code", lineterm=""
    )
    told = "\n".join(changes)
    assert not told, f"public names or parameters changed; if that is meant: {WRITE}\n{told}"


def test_the_list_knows_every_package_that_others_import() -> None:
    promised = {"circuits", "explainers", "metrics", "models", "statistics", "tabular", "testing"}
    promised |= {"types", "errors", "report"}
    assert {f"xassay.{name}" for name in promised} | {"xassay"} <= set(public_modules())


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (lambda a, b=1, *, c="x", **d: None, "f(a, b=1, *, c='x', **d)"),
        (lambda *a, b: None, "f(*a, b)"),
        (lambda a=len, b=(1, None): None, "f(a=<len>, b=(1, None))"),
        (3, "f"),
    ],
)
def test_a_change_of_any_parameter_changes_a_line(value: Any, line: str) -> None:
    assert described("f", value) == [line]


def test_a_change_of_an_attribute_or_a_method_changes_a_line() -> None:
    from xassay.metrics import Metric
    from xassay.testing import Asked

    lines = described("Metric", Metric)
    assert lines[0].startswith(
        "class Metric(name, full_name, low, high, higher_is_better, reference, best=None)"
    )
    assert "    .best" in lines
    assert "    .drops(sets)" in described("Asked", Asked)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(f"usage: {WRITE}")
    LIST.write_text(public_names(), "utf-8")
