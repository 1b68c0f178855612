"""Expectations that say in words what was expected and what came instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from reprlib import Repr
from typing import Any

_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxset = 4


def expect(holds: object, message: str) -> None:
    """Fail with the message unless it holds. The message says what was expected and what came instead."""
    if not holds:
        raise AssertionError(message)


def expect_equal(what: str, got: Any, expected: Any) -> None:
    """Fail unless both are equal, and say what of it differs."""
    if got != expected:
        raise AssertionError(f"{what}: {difference(got, expected)}")


def difference(got: Any, expected: Any) -> str:
    """How a value differs from the one that was expected, in one line."""
    if isinstance(got, Mapping) and isinstance(expected, Mapping):
        return _of_mappings(got, expected)
    if _is_list(got) and _is_list(expected):
        return _of_lists(got, expected)
    return f"expected {_BRIEF.repr(expected)}, got {_BRIEF.repr(got)}"


@contextmanager
def expect_error(what: str, kind: type[Exception] = Exception, match: str = "") -> Iterator[None]:
    """Fail unless the block raises this kind of error, with a text in which `match` is found."""
    try:
        yield
    except kind as exc:
        if not re.search(match, str(exc)):
            raise AssertionError(f"{what}: expected an error that says {match!r}, got {exc}") from exc
    except Exception as exc:
        raise AssertionError(f"{what}: expected {kind.__name__}, got {type(exc).__name__}: {exc}") from exc
    else:
        raise AssertionError(f"{what}: expected an error, got none")


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Make a driver's panic a RuntimeError: those in Rust raise what is no Exception.

    Out of a fixture's end, pytest would not see it as an error, and would hand the fixtures of this test to all later ones.
    """
    try:
        yield
    except BaseException as exc:
        if isinstance(exc, Exception) or not type(exc).__name__.endswith("PanicException"):
            raise
        raise RuntimeError(f"the driver panicked: {exc}") from exc


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _of_mappings(got: Mapping[Any, Any], expected: Mapping[Any, Any]) -> str:
    counts = f"expected {len(expected)} entries, got {len(got)}"
    for key, value in expected.items():
        if key not in got:
            return f"{counts}; {_BRIEF.repr(key)} is missing"
        if got[key] != value:
            return f"at {_BRIEF.repr(key)} expected {_BRIEF.repr(value)}, got {_BRIEF.repr(got[key])}"
    extra = next(key for key in got if key not in expected)
    return f"{counts}; {_BRIEF.repr(extra)} should not be there"


def _of_lists(got: Sequence[Any], expected: Sequence[Any]) -> str:
    if len(got) != len(expected):
        return f"expected {len(expected)} items, got {len(got)}: {_BRIEF.repr(got)}"
    for place, (one, other) in enumerate(zip(got, expected, strict=True)):
        if one != other:
            return f"item {place}: expected {_BRIEF.repr(other)}, got {_BRIEF.repr(one)}"
    return f"expected {_BRIEF.repr(expected)}, got {_BRIEF.repr(got)}"
