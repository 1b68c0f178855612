"""What another process gets of a value: to JSON and back."""

from typing import TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


def piped(value: T) -> T:
    adapter: TypeAdapter[T] = TypeAdapter(type(value))
    return adapter.validate_json(adapter.dump_json(value))
