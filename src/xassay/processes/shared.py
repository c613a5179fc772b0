"""Something large that much work needs, sent to each process once."""

import io
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, Generic, TypeVar

import attrs
import cloudpickle

from xassay.errors import InputError

Value = TypeVar("Value")

REMEDY = "use one job and no limit of time or memory"


class Shared(Generic[Value]):
    """Holds a value that travels apart from what refers to it.

    A model of a hundred megabytes would otherwise travel with every piece of work.

    Attributes:
        value: what is shared.
        name: tells it from others, of other processes and machines too.

    Args:
        value: what is shared.
        functions: the user's own functions in it: code that another process cannot import goes along.
    """

    def __init__(self, value: Value, functions: Iterable[object] = ()) -> None:
        self.value = value
        self.name = uuid.uuid4().hex
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


@attrs.frozen(eq=False)
class Packed:
    """A call, ready to travel.

    Attributes:
        content: function and arguments, pickled, with references to what they share.
        shared: that, by name, as functions that give it pickled.
    """

    content: bytes
    shared: Mapping[str, Callable[[], bytes]]


def packed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Packed:
    """A call of a function, ready to travel.

    Raises:
        InputError: it cannot be pickled.
    """
    buffer, found = io.BytesIO(), dict[str, Callable[[], bytes]]()

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, one: Any) -> str | None:
            if not isinstance(one, Shared):
                return None
            found[one.name] = lambda: one.content
            return one.name

    try:
        Pickler(buffer).dump((function, arguments))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError(f"a part of the run cannot be sent to another process ({why}); {REMEDY}") from error
    return Packed(buffer.getvalue(), found)


def unpacked(content: bytes, shared: Mapping[str, Any]) -> Any:
    """Function and arguments, with what was received before in place of references to it."""
    import pickle

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: str) -> Any:
            return shared[name]

    return Unpickler(io.BytesIO(content)).load()


def _not_importable(function: object) -> ModuleType | None:
    """The module of a function, where another process would not find it under its name."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    if module is None or module.__name__ == "__main__":
        return None
    # asked of the finders themselves: what is loaded already counts as found elsewhere
    name = module.__name__.partition(".")[0]
    return None if any(finder.find_spec(name, None) for finder in sys.meta_path) else module
