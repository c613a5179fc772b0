"""Circuits by file or by name."""

from importlib import resources
from pathlib import Path

from xassay.circuits import bench, dxc
from xassay.circuits.netlist import Circuit
from xassay.errors import InputError, NetlistError, UnknownNameError
from xassay.texts import file_safe

EMBEDDED = ("c17", "74182", "74283", "74181")
"""The four circuits of the CREM study, smallest first."""

SUFFIXES = (".bench", ".sys")

MOST_BYTES = 200_000_000
"""Some millions of gates."""


def load(name: str) -> Circuit:
    """One of the four circuits of the CREM study.

    Raises:
        UnknownNameError: no such circuit is embedded.

    Example:
        >>> len(load("74181").gates)
        65
    """
    if name not in EMBEDDED:
        raise UnknownNameError("circuit", name, EMBEDDED)
    text = resources.files("xassay.circuits").joinpath("embedded", f"{name}.bench").read_text("utf-8")
    return bench.parse(text, name)


def read(path: str | Path) -> Circuit:
    """A circuit from a ``.bench`` or ``.sys`` file.

    A ``.bench`` circuit takes its name from the file (other characters than letters, digits
    and ``_ . + -`` become ``_``), a ``.sys`` circuit carries its own.

    Raises:
        NetlistError: the file is no circuit; the message names file and line.
        InputError: the file cannot be read, or has another suffix.
    """
    path = Path(path)
    _check_suffix(path)
    content = _content(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise NetlistError("not a text file", path=path) from None
    if "\0" in text:
        raise NetlistError("not a text file", path=path)
    if not text.strip():
        raise NetlistError("the file is empty", path=path)
    if path.suffix.lower() == ".sys":
        return dxc.parse(text, path)
    return bench.parse(text, file_safe(path.stem), path)


def _content(path: Path) -> bytes:
    try:
        # reading what is no file, such as a pipe that nobody writes to, may never end
        size = path.stat().st_size if path.is_file() or not path.exists() else None
        if size is not None and size <= MOST_BYTES:
            return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if size is None:
        raise InputError(f"{path}: cannot be read: it is no file")
    raise InputError(f"{path}: has {size:,} bytes; a circuit file has at most {MOST_BYTES:,}")


def write(circuit: Circuit, path: str | Path) -> None:
    """Write a circuit to a ``.bench`` or ``.sys`` file.

    Raises:
        InputError: the suffix is another one, the format cannot say what the circuit
            holds (see `dxc.render`), or the file cannot be written.
    """
    path = Path(path)
    _check_suffix(path)
    text = dxc.render(circuit) if path.suffix.lower() == ".sys" else bench.render(circuit)
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except (OSError, ValueError) as error:  # ValueError: a name that is no UTF-8 text
        raise InputError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None


def find(name: str) -> Circuit:
    """An embedded circuit by name, or any other by file: what the command line accepts.

    Raises:
        UnknownNameError: neither a known name nor a path with a netlist's suffix.
        NetlistError: the file is no circuit.
    """
    if name in EMBEDDED:
        return load(name)
    if Path(name).suffix.lower() in SUFFIXES:
        return read(name)
    raise UnknownNameError("circuit (or .bench or .sys file)", name, EMBEDDED)


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: a circuit file ends in .bench or .sys")
