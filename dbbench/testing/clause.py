"""A clause of the conformance kit: a test that says what it expected, why that matters, and where to read on."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import getdoc
from reprlib import Repr
from typing import Any, NoReturn, TypeVar

import pytest

from dbbench.engine.base import Engine
from dbbench.engine.offered import offers
from dbbench.errors import Unsupported

#: The page whose sections the clauses name.
PAGE = "docs/plugins.md"
Test = TypeVar("Test", bound=Callable[..., None])
_BRIEF = Repr()
_BRIEF.maxstring = _BRIEF.maxother = 60
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = _BRIEF.maxset = 4


def clause(section: str) -> Callable[[Test], Test]:
    """Make a clause of a test: its name is the clause, and its docstring says why it matters.

    A failure names both, and the section of docs/plugins.md. A clause for which the engine raises Unsupported is left
    out, with the engine's reason.
    """

    def mark(test: Test) -> Test:
        @wraps(test)
        def checked(*arguments: Any, **fixtures: Any) -> None:
            try:
                test(*arguments, **fixtures)
            except Exception as exc:
                if not isinstance(exc, Unsupported):
                    exc.add_note(f"clause: {title(test.__name__)}")
                    exc.add_note(f"why: {reason(test)}")
                    exc.add_note(f"see {PAGE}#{section}")
                    raise
                why = str(exc)
            except pytest.skip.Exception as exc:
                why = str(exc)
            else:
                return
            # Outside of the handler, so that the report holds no session open in the test's frames.
            del arguments
            fixtures.clear()
            left_out(why)

        checked.section = section  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return mark


def title(test: str) -> str:
    """A clause as a reader sees it, by the name of its test."""
    return test.removeprefix("test_").replace("_", " ")


def reason(test: Callable[..., Any]) -> str:
    """The reason why a clause matters, in one line."""
    return " ".join((getdoc(test) or "").split())


def left_out(why: str) -> NoReturn:
    """Leave the rest of the clause out."""
    pytest.skip(why)


def needs(engine: Engine | type[Engine], *operations: str) -> None:
    """Leave the clause out, with the engine's own reason, where it says that it can't do one of these."""
    engine_class = engine if isinstance(engine, type) else type(engine)
    for operation in operations:
        if operation in engine_class.unsupported_reasons and not offers(engine_class, operation):
            left_out(f"can't {operation}: {engine_class.unsupported_reasons[operation]}")


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

    Out of a fixture's end, pytest would not see it as an error, and would hand the fixtures of this test to all later
    ones.
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
