"""What is wrong with a plugin's classes, found when it is loaded: misspelt names, signatures, types of attributes."""

import inspect
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_type_hints

from pydantic import TypeAdapter, ValidationError

from dbbench.engine.base import Engine, Session
from dbbench.engine.layer import Layer
from dbbench.engine.operations import FAMILIES
from dbbench.engine.sql.session import SQLEngine, SQLSession
from dbbench.engine.traits import Traits

#: How alike a name is that must be meant: plugins have attributes of their own, too.
_ALIKE = 0.85


def faults(engine: type[Engine]) -> Iterator[str]:
    """Each fault in words."""
    attributes = _types()
    known = frozenset({*dir(SQLEngine), *dir(Layer), *attributes})
    for cls in _own(engine):
        for name, value in vars(cls).items():
            if name in attributes:
                yield from _misfit(cls, name, value, attributes[name])
            elif meant := _meant(name, known):
                yield f"{cls.__name__}.{name} is unknown; did you mean {meant}?"
    operations = _operations()
    known = frozenset({*dir(SQLSession), *operations})
    for cls in _own(engine.session_class):
        for name, value in vars(cls).items():
            if name in operations and inspect.isfunction(value):
                yield from _uncallable(cls, name, value, operations[name])
            elif name.startswith("prepare_") and name not in operations:
                near = _meant(name, frozenset(operations), alike=0.6)
                yield f"{cls.__name__}.{name} is no operation{near and f'; did you mean {near}?'}"
            elif meant := _meant(name, known):
                yield f"{cls.__name__}.{name} is unknown; did you mean {meant}?"


def _own(kind: type[Engine | Session]) -> list[type]:
    """The classes that a plugin wrote."""
    return [cls for cls in kind.__mro__ if not cls.__module__.startswith("dbbench.") and cls is not object]


@cache
def _meant(name: str, known: frozenset[str], alike: float = _ALIKE) -> str:
    """The known name that a public name is misspelt from; empty if it is known, or the plugin's own."""
    if name.startswith("_") or name in known:
        return ""
    public = [each for each in known if not each.startswith("_")]
    near = next(iter(get_close_matches(name, public, n=1, cutoff=alike)), "")
    return "" if name.startswith(near) else near  # `connected` is another word than `connect`


@cache
def _types() -> dict[str, TypeAdapter[Any]]:
    """The attributes that describe an engine, each with its type."""
    return {name: TypeAdapter(get_args(hint)[0]) for name, hint in get_type_hints(Traits).items()}


def _misfit(cls: type, name: str, value: object, wanted: TypeAdapter[Any]) -> Iterator[str]:
    try:
        wanted.validate_python(value)
    except ValidationError as exc:
        yield f"{cls.__name__}.{name} is {value!r}: {exc.errors()[0]['msg']}"


@cache
def _operations() -> dict[str, inspect.Signature]:
    """The methods of sessions that prepare a call, each with its signature."""
    return {
        name: _unannotated(inspect.signature(method))
        for family in FAMILIES
        for name, method in vars(family).items()
        if name.startswith("prepare_")
    }


def _unannotated(signature: inspect.Signature) -> inspect.Signature:
    names = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return inspect.Signature(names)


def _uncallable(cls: type, name: str, method: Any, wanted: inspect.Signature) -> Iterator[str]:
    """Fault of a method that can't be called as dbbench calls it."""
    named = {each.name: None for each in wanted.parameters.values() if each.kind is each.KEYWORD_ONLY}
    try:
        inspect.signature(method).bind(*[None] * (len(wanted.parameters) - len(named)), **named)
    except TypeError as exc:
        yield f"{cls.__name__}.{name} must take {wanted}: {exc}"
