import itertools
from collections.abc import Callable, Iterator, Sequence

import pytest

Rankings = Callable[[Sequence[float]], Iterator[tuple[int, ...]]]


@pytest.fixture(scope="module")
def rankings() -> Rankings:
    """Every order of the features in which absolute values never rise."""

    def orders(values: Sequence[float]) -> Iterator[tuple[int, ...]]:
        for order in itertools.permutations(range(len(values))):
            sizes = [abs(values[feature]) for feature in order]
            if all(left >= right for left, right in itertools.pairwise(sizes)):
                yield order

    return orders
