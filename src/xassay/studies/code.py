"""What of xassay and below it decides a result, as part of a cell's key."""

import functools
import hashlib
from collections.abc import Iterator
from importlib import metadata, resources
from importlib.resources.abc import Traversable

SHARED = ("seeds.py", "specs.py", "types.py")


@functools.cache
def own_code(*places: str) -> str:
    """A hash of our sources in some folders or files and of the shared ones, and versions of libraries.

    Example:
        >>> own_code("metrics") == own_code("metrics", "models/score.py")
        False
    """
    digest = hashlib.sha256()
    for source in sorted(sources(*places), key=str):
        digest.update(source.read_bytes())
    libraries = [f"{name} {metadata.version(name)}" for name in ("numba", "numpy", "scipy", "scikit-learn")]
    return " ".join([digest.hexdigest()[:16], *libraries])


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
