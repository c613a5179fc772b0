"""Yardsticks know the total, and not which columns it belongs to."""

import numpy as np
import pytest

from xassay.errors import InputError
from xassay.metrics import even_split, shuffled

VALUES = np.arange(12.0).reshape(3, 4) ** 2


def test_an_even_split_is_the_total_in_equal_parts():
    np.testing.assert_array_equal(even_split([3.0, -8.0], 4), [[0.75] * 4, [-2.0] * 4])
    np.testing.assert_array_equal(even_split([3.0], 1), [[3.0]])


def test_each_shuffle_holds_the_row_s_own_values():
    found = shuffled(VALUES, n=5)
    assert found.shape == (5, 3, 4)
    np.testing.assert_array_equal(np.sort(found, axis=2), np.broadcast_to(VALUES, (5, 3, 4)))


def test_a_single_shuffle_is_the_default():
    np.testing.assert_array_equal(shuffled(VALUES), shuffled(VALUES, n=1))


def test_the_first_shuffles_stay_as_their_number_grows():
    np.testing.assert_array_equal(shuffled(VALUES, n=5)[:2], shuffled(VALUES, n=2))


def test_a_row_s_shuffles_hang_on_its_id_and_the_seed_alone():
    wide = np.arange(40.0).reshape(2, 20)
    both = shuffled(wide, [7, 3], seed=2)
    np.testing.assert_array_equal(shuffled(wide[1:], [3], seed=2)[:, 0], both[:, 1])
    assert (shuffled(wide, [7, 3], seed=1) != both).any()
    assert (shuffled(wide[:1], [8], seed=2)[:, 0] != both[:, 0]).any()


def test_every_column_comes_to_every_place_equally_often():
    found = shuffled(np.arange(3.0)[None], n=3000)[:, 0]
    for place in range(3):
        np.testing.assert_allclose(np.bincount(found[:, place].astype(int)) / 3000, 1 / 3, atol=0.04)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: even_split([1.0], 0), "n_features must be at least 1, not 0"),
        (lambda: even_split([[1.0]], 2), "total"),
        (lambda: shuffled(VALUES, n=0), "n must be at least 1, not 0"),
        (lambda: shuffled(VALUES, [1.5, 2, 3]), "row_ids"),
    ],
)
def test_what_cannot_be_used_is_refused(made, said):
    with pytest.raises(InputError, match=said):
        made()
