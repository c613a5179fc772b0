"""Something large that many cells need, sent to each process once."""

import functools
import tempfile
import weakref
from pathlib import Path
from typing import Generic, TypeVar

from xassay.errors import InputError

Value = TypeVar("Value")


class Shared(Generic[Value]):
    """Holds a value; pickled, it is a path to a file that another process reads once.

    A model of a hundred megabytes would otherwise travel with every cell.
    """

    def __init__(self, value: Value) -> None:
        self.value = value
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _read, (str(self.write()),)

    def write(self) -> Path:
        """Write the file that other processes read.

        Raises:
            InputError: the value cannot be pickled.
        """
        import cloudpickle

        if self._folder is None:
            folder = tempfile.TemporaryDirectory(prefix="xassay-")
            try:
                Path(folder.name, "value").write_bytes(cloudpickle.dumps(self.value))
            except Exception as error:
                raise InputError(
                    "the model or an explainer cannot be sent to other processes "
                    f"({type(error).__name__}: {error}); use one job"
                ) from error
            self._folder = folder
            weakref.finalize(self, folder.cleanup)
        return Path(self._folder.name, "value")


@functools.lru_cache(maxsize=1)
def _read(path: str) -> "Shared[object]":
    import cloudpickle

    return Shared(cloudpickle.loads(Path(path).read_bytes()))
