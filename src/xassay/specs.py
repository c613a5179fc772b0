"""How users name things: ``lime:n_samples=9``, ``file.py:function:strength=2``, ``package.module:name``."""

import hashlib
import importlib
import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

from xassay.errors import InputError

_FILE = re.compile(r"(?P<name>.+?\.py:\w+)(?::(?P<options>.*))?", re.DOTALL)
_IMPORT = re.compile(r"(?P<name>[\w.]+:[^:=]+)(?::(?P<options>.*))?", re.DOTALL)


def split_options(spec: str, kind: str = "explainer", *, imports: bool = False) -> tuple[str, dict[str, Any]]:
    """``name:option=value:option=value`` as a name and its options.

    Values are read as numbers, true or false where they look like it.

    Args:
        spec: what the user wrote.
        kind: what is named, for messages.
        imports: whether ``package.module:name`` is a name too.

    Raises:
        InputError: a part that is no ``option=value``, or an option given twice.

    Example:
        >>> split_options("kernel_shap:nsamples=2000")
        ('kernel_shap', {'nsamples': 2000})
    """
    if match := _FILE.fullmatch(spec) or (_IMPORT.fullmatch(spec) if imports else None):
        name, rest = match["name"], match["options"] or ""
    else:
        name, _, rest = spec.partition(":")
    options: dict[str, Any] = {}
    for part in filter(None, rest.split(":")):
        option, equals, value = part.partition("=")
        if not equals or not option:
            raise InputError(f"{kind} {spec!r}: expected option=value, got {part!r}")
        if option.strip() in options:
            raise InputError(f"{kind} {spec!r}: {option.strip()} is given twice")
        options[option.strip()] = _literal(value.strip())
    return name, options


def _literal(text: str) -> Any:
    words = {"true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def is_file(name: str) -> bool:
    """Whether a name is ``path/to/file.py:function``."""
    return _FILE.fullmatch(name) is not None


def absolute(spec: str) -> str:
    """The spec with the path of a file in full: a worker may run in another folder.

    Example:
        >>> absolute("lime:n_samples=9")
        'lime:n_samples=9'
    """
    match = _FILE.fullmatch(spec)
    if match is None:
        return spec
    path, _, function = match["name"].rpartition(":")
    rest = "" if match["options"] is None else f":{match['options']}"
    return f"{Path(path).resolve()}:{function}{rest}"


def without_folder(spec: str) -> str:
    """The spec with a file's folder left out: draws must not depend on how a path is spelled.

    Example:
        >>> without_folder("some/where/mine.py:explain:strength=2")
        'mine.py:explain:strength=2'
    """
    match = _FILE.fullmatch(spec)
    return spec if match is None else f"{Path(match['name']).name}{spec[len(match['name']) :]}"


def load(name: str, kind: str) -> Any:
    """The object behind ``path/to/file.py:name`` or ``package.module:name``.

    Args:
        name: without options.
        kind: what is named, for messages.

    Raises:
        InputError: no such file, module or name, or the code cannot be run.
    """
    place, _, attribute = name.rpartition(":")
    if is_file(name):
        module, shown = _module(Path(place)), place
    else:
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            # a module of the current folder can be imported, as by python -m
            sys.path.append(str(Path.cwd()))
        try:
            module, shown = importlib.import_module(place), f"module {place}"
        except (Exception, SystemExit) as error:
            raise InputError(f"{kind} {name!r}: cannot be imported: {brief(error)}") from error
    found = module
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None:
        raise InputError(f"{kind} {name!r}: {shown} has no {attribute!r}")
    return found


def digest(path: Path) -> str:
    """A short hash of a file's content.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def brief(error: BaseException) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _module(path: Path) -> Any:
    """The file as a module; a file is run once as long as its content stays the same."""
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"_xassay_user_{path.stem}_{place}_{digest(path)}"
    if name in sys.modules:
        return sys.modules[name]
    loaded = importlib.util.spec_from_file_location(name, path)
    if loaded is None or loaded.loader is None:
        raise InputError(f"{path}: is no Python file")
    if str(path.resolve().parent) not in sys.path:
        # modules beside the file can be imported, as from a script
        sys.path.append(str(path.resolve().parent))
    module = importlib.util.module_from_spec(loaded)
    sys.modules[name] = module
    try:
        loaded.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise InputError(f"{path}: cannot be run: {brief(error)}") from error
    return module
