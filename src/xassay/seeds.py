"""Where randomness comes from: one run seed, and words that say what a draw is for.

A stream is a hash of (seed, words), so it depends on nothing that happened before: not on
the order of the work, the number of processes, or a resumed run.
"""

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


def sequence(seed: int, *words: str | int) -> np.random.SeedSequence:
    """The seed sequence of one purpose, for example ``sequence(0, "kernel_shap", row_id)``."""
    text = repr((int(seed), *(word if isinstance(word, str) else int(word) for word in words)))
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.SeedSequence(np.frombuffer(digest, dtype="<u4").tolist())


def generator(seed: int, *words: str | int) -> np.random.Generator:
    """A fresh generator for one purpose.

    >>> bool(generator(0, "a").random() == generator(0, "a").random())
    True
    """
    return np.random.default_rng(sequence(seed, *words))


def legacy_seed(seed: int, *words: str | int) -> int:
    """A 32-bit seed for libraries that take ``RandomState`` or ``numpy.random.seed``."""
    return int(sequence(seed, *words).generate_state(1)[0])


@contextmanager
def global_state(seed: int) -> Iterator[None]:
    """Seed the global generators of numpy and Python for a while, and give the caller's states back.

    For libraries that draw from the global state and offer no other way. The state belongs
    to the process, so such work must run in processes, never in threads.
    """
    saved, saved_too = np.random.get_state(), random.getstate()  # noqa: NPY002 - the legacy state is the point
    np.random.seed(seed)  # noqa: NPY002
    random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(saved)  # noqa: NPY002
        random.setstate(saved_too)
