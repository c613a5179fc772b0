"""What of xassay and below it decides a result, as part of a cell's key."""

import ast
import functools
import hashlib
from collections.abc import Iterator
from importlib import metadata, resources
from importlib.resources.abc import Traversable

SHARED = ("seeds.py", "specs.py", "types.py")


@functools.cache
def own_code(*places: str) -> str:
    """A hash of our sources in some folders or files and of the shared ones, and versions of libraries.

    Sources count by what they do: comments, docstrings and layout change nothing.

    Example:
        >>> own_code("metrics") == own_code("metrics", "models/score.py")
        False
    """
    digest = hashlib.sha256()
    for source in sorted(sources(*places), key=str):
        digest.update(_doing(source.read_text("utf-8")).encode())
    libraries = [f"{name} {metadata.version(name)}" for name in ("numba", "numpy", "scipy", "scikit-learn")]
    return " ".join([digest.hexdigest()[:16], *libraries])


@functools.cache  # studies share folders
def _doing(source: str) -> str:
    """A hash of what a source does."""
    return hashlib.sha256("\n".join(_words(ast.parse(source))).encode()).hexdigest()


def _words(node: object) -> Iterator[str]:
    """The syntax tree as text; fields that are empty are left out, as versions of Python add such."""
    if isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if value is not None and value != []:
                yield name
                yield from _words(value)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for each in node:
            if not _is_text(each):
                yield from _words(each)
        yield "]"
    else:
        yield repr(node)


def _is_text(node: object) -> bool:
    """Whether this is a docstring, or another string that stands by itself as a statement."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def sources(*places: str) -> Iterator[Traversable]:
    """Our source files in some folders, at any depth, or of these names, and the shared ones."""
    package = resources.files("xassay")
    for place in (*SHARED, *places):
        one = package.joinpath(place)
        yield from (one,) if place.endswith(".py") else _below(one)


def _below(folder: Traversable) -> Iterator[Traversable]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _below(one)
        elif one.name.endswith(".py"):
            yield one
