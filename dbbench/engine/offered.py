"""The operations that an engine offers, read off its session class, and how the harness has one prepared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dbbench.errors import Unsupported

if TYPE_CHECKING:
    from dbbench.engine.base import Engine, Session

#: Every operation that a suite can ask for. The other methods of the families only serve these.
OPERATIONS = (
    *("load", "query", "statement"),
    *("insert", "update", "delete", "read", "seek", "range", "scan", "insert_many", "update_many", "delete_many"),
    *("get", "get_many"),
    *("add", "nearest", "append", "remove"),
    *("search", "append_texts", "remove_texts"),
    "compact",
)


def offers(engine: type[Engine], operation: str) -> bool:
    """Whether an engine's sessions have an operation."""
    return callable(getattr(engine.session_class, f"prepare_{operation}", None))


def refuse(engine: Engine, operation: str) -> None:
    """Raise Unsupported, with the reason, if an engine's sessions don't have an operation."""
    if not offers(type(engine), operation):
        reason = engine.unsupported_reasons.get(operation)
        raise Unsupported(
            f"{engine.name} can't {operation}: {reason}"
            if reason
            else f"{operation} is not yet written for {engine.name}"
        )


def prepared(engine: Engine, session: Session, operation: str) -> Callable[..., Any]:
    """The session's `prepare_<operation>`. Raises Unsupported, with the reason, where there is none."""
    refuse(engine, operation)
    prepare: Callable[..., Any] = getattr(session, f"prepare_{operation}")
    return prepare


def read_only(engine: Engine, session: Session, *, on: bool) -> None:
    """Make a session refuse writes, or accept them. Not at a URL, where a pooler may hand that on to others."""
    if not engine.url:
        session.read_only(on=on)
