"""What of xassay and below it decides a result, as part of a cell's key."""

import functools
import hashlib
from importlib import metadata, resources

SHARED = ("seeds.py", "specs.py", "types.py")


@functools.cache
def own_code(*places: str) -> str:
    """A hash of our sources in some folders or files and of the shared ones, and versions of libraries.

    Example:
        >>> own_code("metrics") == own_code("metrics", "models/score.py")
        False
    """
    package = resources.files("xassay")
    sources = [package.joinpath(name) for name in (*SHARED, *(one for one in places if one.endswith(".py")))]
    for folder in places:
        if not folder.endswith(".py"):
            sources += [file for file in package.joinpath(folder).iterdir() if file.name.endswith(".py")]
    digest = hashlib.sha256()
    for source in sorted(sources, key=str):
        digest.update(source.read_bytes())
    libraries = [f"{name} {metadata.version(name)}" for name in ("numba", "numpy", "scipy", "scikit-learn")]
    return " ".join([digest.hexdigest()[:16], *libraries])
