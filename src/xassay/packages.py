"""Versions of installed packages."""

from importlib import metadata

NOT_INSTALLED = "not installed"


def version(package: str) -> str:
    """The version of a package, or `NOT_INSTALLED`: much works without some of them.

    Example:
        >>> version("no-such-package")
        'not installed'
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return NOT_INSTALLED
