"""Tables from files that others wrote: read, or refused in one line, whatever their bytes are.

The library that reads them is not written for hostile files. Some damaged Parquet files make it panic
(which no ``except Exception`` catches) or end the whole process, and it unpacks what is compressed
without asking. So a Parquet file is first read on trial, in a process whose end harms nobody.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import polars as pl

from xassay.errors import InputError

MOST_CELLS = 100_000_000
"""Values that any Parquet file may hold: one of a few bytes can claim any number of them."""

_CELLS_A_BYTE = 32
"""And so many for each of its bytes, which no table of measurements is packed into."""

_TRIAL_SECONDS = 300
_PARQUET = b"PAR1"
_COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
    b"x\x01": "zlib",
    b"x\x5e": "zlib",
    b"x\x9c": "zlib",
    b"x\xda": "zlib",
}
_HEAD = 65_536
_FAULTS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OverflowError, MemoryError)

_TRIAL = """
import json, sys
path, most, memory, found = json.loads(sys.argv[1])
sys.path[:] = found
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
except (ImportError, OSError, ValueError):
    pass
import polars as pl
said = ""
try:
    scan = pl.scan_parquet(open(path, "rb"))
    width = len(scan.collect_schema())
    rows = scan.select(pl.len()).collect().item()
    if rows * width > most:
        said = f"it claims {rows:,} rows of {width:,} columns, more than {most:,} values, in so small a file"
    else:
        scan.collect()
except pl.exceptions.PolarsError as error:
    said = str(error).strip().splitlines()[0][:300] or "it is damaged"
print(json.dumps(said))
"""

_tried: set[tuple[Any, ...]] = set()


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file.

    Raises:
        FileNotFoundError: there is none.
        InputError: it cannot be read, is no Parquet file, damaged, or larger than fits.
    """
    with _opened(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - len(_PARQUET), 0))
        ends = file.read()
        file.seek(0)
        if file.read(len(_PARQUET)) != _PARQUET or ends != _PARQUET or size <= 2 * len(_PARQUET):
            raise InputError(f"{path}: cannot be read as Parquet: it is none, or is cut short")
        _try(path, file)
        return _guarded(path, "Parquet", file, lambda: pl.read_parquet(file))


def trust(path: Path) -> None:
    """Take a file that this process has just written for whole: as long as it stays as it is, no trial."""
    _tried.add(_mark(path.stat()))


def _mark(about: os.stat_result) -> tuple[int, ...]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns


def _try(path: Path, file: IO[bytes]) -> None:
    """Read it in another process, unless it was and is the same since."""
    about = os.fstat(file.fileno())
    mark = _mark(about)
    if mark in _tried:
        return
    most = max(MOST_CELLS, _CELLS_A_BYTE * about.st_size)
    asked = json.dumps([os.fsdecode(path.absolute()), most, _memory(), sys.path])
    try:
        done = subprocess.run(  # noqa: S603 - this very Python, and a script that stands above
            [sys.executable, "-I", "-c", _TRIAL, asked],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except OSError:
        return  # no second process to be had: it is read here alone
    except subprocess.TimeoutExpired:
        raise InputError(f"{path}: cannot be read as Parquet within {_TRIAL_SECONDS} s") from None
    try:
        said = json.loads(done.stdout)
    except ValueError:
        said = "it is damaged, or larger than this machine's memory"
    if said:
        raise InputError(f"{path}: cannot be read as Parquet: {said}")
    _tried.add(mark)


def _memory() -> int:
    """Bytes that a reading process may have."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 2**40


def read_csv(path: Path, **options: Any) -> pl.DataFrame:
    """Read a file of comma-separated values.

    Args:
        path: the file.
        options: those of `polars.read_csv`.

    Raises:
        FileNotFoundError: there is none.
        InputError: it cannot be read, is compressed or no text, or its rows do not fit its head.
    """
    with _opened(path) as file:
        head = file.read(_HEAD)
        for mark, name in _COMPRESSED.items():
            if head.startswith(mark):
                raise InputError(f"{path}: is compressed ({name}), not CSV text; unpack it first")
        if b"\0" in head:
            raise InputError(f"{path}: cannot be read as CSV: it is no UTF-8 text; save it as CSV in UTF-8")
        return _guarded(path, "CSV", file, lambda: pl.read_csv(file, **options))


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file, opened here: the library would take signs of a path for patterns of several files."""
    try:
        # opening what is no file, such as a pipe that nobody writes to, may never end
        if not path.exists() or path.is_file():
            with path.open("rb") as file:
                yield file
            return
    except (FileNotFoundError, InputError):
        raise
    except (OSError, ValueError) as error:  # ValueError: a path that no file can have
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read: {reason}") from None
    raise InputError(f"{path}: cannot be read: it is no file")


def _guarded(path: Path, kind: str, file: IO[bytes], read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    file.seek(0)
    try:
        return read()
    except pl.exceptions.PanicException:
        raise InputError(f"{path}: cannot be read as {kind}: it is damaged") from None
    except _FAULTS as error:
        said = str(error).strip().splitlines()
        raise InputError(f"{path}: cannot be read as {kind}: {said[0] if said else 'damaged'}") from None
