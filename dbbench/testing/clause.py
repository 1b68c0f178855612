"""A clause of the conformance kit: a test that says what it expected, why that matters, and where to read on."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import getdoc
from typing import Any, NoReturn, TypeVar

import pytest

from dbbench.engine.base import Engine
from dbbench.engine.operations import offers
from dbbench.errors import Unsupported

#: The page whose sections the clauses name.
PAGE = "docs/plugins.md"
Test = TypeVar("Test", bound=Callable[..., None])


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
