"""Global states that a call must leave as they are."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from xassay.seeds import global_state


def numpy_state() -> str:
    """The legacy generator's state as text, which can be compared."""
    state = np.random.get_state(legacy=True)  # noqa: NPY002 - what is guarded
    return repr([part.tolist() if isinstance(part, np.ndarray) else part for part in state])


@contextmanager
def states_of_our_own() -> Iterator[None]:
    """States that nobody would seed by chance: who seeds alike each time would leave them as found."""
    with global_state(2_718_281_828), warnings.catch_warnings():
        yield
