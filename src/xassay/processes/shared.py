"""Something large that much work needs, sent to each process once."""

import io
import itertools
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

import cloudpickle

from xassay.errors import InputError

Value = TypeVar("Value")

REMEDY = "use one job and no limit of time or memory"

_numbers = itertools.count()


class Shared(Generic[Value]):
    """Holds a value that travels apart from what refers to it.

    A model of a hundred megabytes would otherwise travel with every piece of work.

    Attributes:
        value: what is shared.
        number: tells it from others of this process.

    Args:
        value: what is shared.
        functions: the user's own functions in it: code that another process cannot import goes along.
    """

    def __init__(self, value: Value, functions: Iterable[object] = ()) -> None:
        self.value = value
        self.number = next(_numbers)
        self._functions = tuple(functions)
        self._content: bytes | None = None

    @property
    def content(self) -> bytes:
        """The value, pickled.

        Raises:
            InputError: it cannot be pickled.
        """
        if self._content is None:
            found = [_not_importable(one) for one in self._functions]
            modules = [module for module in dict.fromkeys(found) if module is not None]
            for module in modules:
                cloudpickle.register_pickle_by_value(module)
            try:
                self._content = cloudpickle.dumps(self.value)
            except Exception as error:
                raise InputError(
                    "the model or an explainer cannot be sent to another process "
                    f"({type(error).__name__}: {error}); {REMEDY}"
                ) from error
            finally:
                for module in modules:
                    cloudpickle.unregister_pickle_by_value(module)
        return self._content


def pickled(value: Any) -> tuple[bytes, list[Shared[Any]]]:
    """A value with references to what it shares, and that."""
    buffer, found = io.BytesIO(), dict[int, Shared[Any]]()

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, one: Any) -> int | None:
            if not isinstance(one, Shared):
                return None
            found[one.number] = one
            return one.number

    Pickler(buffer).dump(value)
    return buffer.getvalue(), list(found.values())


def unpickled(content: bytes, shared: Mapping[int, Any]) -> Any:
    """A value whose references are to what was received before, by number."""
    import pickle

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, number: int) -> Any:
            return shared[number]

    return Unpickler(io.BytesIO(content)).load()


def _not_importable(function: object) -> ModuleType | None:
    """The module of a function, where another process would not find it under its name."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return None
    # asked of the finders themselves: what is loaded already counts as found elsewhere
    name = module.__name__.partition(".")[0]
    return None if any(finder.find_spec(name, None) for finder in sys.meta_path) else module
