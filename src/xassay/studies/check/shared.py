"""Something large that many cells need, sent to each process once."""

import functools
import shutil
import sys
import weakref
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from xassay.errors import InputError
from xassay.results import temporary_folder

Value = TypeVar("Value")


class Shared(Generic[Value]):
    """Holds a value; pickled, it is a path to a file that another process reads once.

    A model of a hundred megabytes would otherwise travel with every cell.

    Args:
        value: what is shared.
        functions: the user's own functions in it: code that another process cannot import goes along.
    """

    def __init__(self, value: Value, functions: Iterable[object] = ()) -> None:
        self.value = value
        self._functions = tuple(functions)
        self._file: Path | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return _read, (str(self.write()),)

    def write(self) -> Path:
        """Write the file that other processes read.

        Raises:
            InputError: the value cannot be pickled.
        """
        import cloudpickle

        if self._file is None:
            modules = [module for one in self._functions if (module := _not_importable(one)) is not None]
            for module in modules:
                cloudpickle.register_pickle_by_value(module)
            try:
                content = cloudpickle.dumps(self.value)
            except Exception as error:
                raise InputError(
                    "the model or an explainer cannot be sent to other processes "
                    f"({type(error).__name__}: {error}); use one job"
                ) from error
            finally:
                for module in modules:
                    cloudpickle.unregister_pickle_by_value(module)
            folder = temporary_folder()
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            self._file = Path(folder, "value")
            self._file.write_bytes(content)
        return self._file


def _not_importable(function: object) -> ModuleType | None:
    """The module of a function, where another process would not find it under its name."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return None
    # asked of the finders themselves: what is loaded already counts as found elsewhere
    name = module.__name__.partition(".")[0]
    return None if any(finder.find_spec(name, None) for finder in sys.meta_path) else module


@functools.lru_cache(maxsize=1)
def _read(path: str) -> "Shared[object]":
    import cloudpickle

    return Shared(cloudpickle.loads(Path(path).read_bytes()))
