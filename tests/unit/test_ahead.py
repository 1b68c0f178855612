"""Pieces worked on in threads: in order, few at a time, and an error where its piece's turn comes."""

import threading
from collections.abc import Iterator

import pytest

from dbbench.host.ahead import cores, in_order


def test_results_come_in_order() -> None:
    assert list(in_order(lambda number: number * 2, range(100))) == list(range(0, 200, 2))


def test_few_pieces_are_taken_before_their_results_are() -> None:
    taken: list[int] = []

    def pieces() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    results = in_order(lambda number: number, pieces())
    assert next(results) == 0
    assert len(taken) <= 2 * cores() + 1
    results.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("dbbench-ahead")]


def test_an_error_comes_in_its_pieces_turn() -> None:
    results = in_order(lambda number: 1 // (number - 2), range(5))
    assert [next(results), next(results)] == [-1, -1]
    with pytest.raises(ZeroDivisionError):
        next(results)
