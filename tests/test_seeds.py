"""Streams depend on their words alone, and the caller's global state is given back."""

import numpy as np
import pytest

from xassay import seeds


def test_a_stream_is_fixed_by_seed_and_words_and_nothing_else():
    first = seeds.generator(0, "rows", 3).random(4)
    seeds.generator(0, "other").random(100)
    assert (seeds.generator(0, "rows", np.int64(3)).random(4) == first).all()


@pytest.mark.parametrize(
    "other", [(1, "rows", 3), (0, "rows", 4), (0, "row", "s3"), (0, "rows", "3"), (0, "rows")]
)
def test_other_words_give_another_stream(other):
    assert seeds.legacy_seed(*other) != seeds.legacy_seed(0, "rows", 3)


def test_the_global_state_is_restored_even_after_an_error():
    np.random.seed(5)
    expected = np.random.RandomState(5).random(2)

    def fails():
        with seeds.global_state(1):
            np.random.random(10)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert (np.random.random(2) == expected).all()
