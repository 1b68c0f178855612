"""Documents: nested values of a column of type `json`, drawn from a description of their fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from dbbench.suite.base import Identifier, Model
from dbbench.suite.data_types import TypeText, parse_type
from dbbench.suite.values import Choice, Days, Drawn, Pattern, Quantiles, Words

#: The kinds of values that don't depend on a row's number.
Leaf = Annotated[Quantiles | Choice | Pattern | Days | Words, Field(discriminator="kind")]


class DocumentField(Model):
    """A field of a document, or the elements of an array: a value, an object or an array."""

    type: TypeText | None = Field(default=None, description="Of a value.")
    values: Leaf | None = Field(
        default=None, description="Of a value: `quantiles`, `choice`, `pattern`, `days` (as texts) or `words`."
    )
    fields: dict[Identifier, DocumentField] = Field(default={}, description="Of an object.")
    items: DocumentField | None = Field(default=None, description="The elements of an array; no array is in another.")
    length: tuple[Annotated[int, Field(ge=0)], Annotated[int, Field(le=1_000)]] | None = Field(
        default=None, description="[minimum, maximum] of an array's elements."
    )
    missing: float = Field(
        default=0, ge=0, lt=1, description="The share of documents, or of objects in an array, without the field."
    )

    @model_validator(mode="after")
    def _one_of_them(self) -> DocumentField:
        given = (self.values is not None, bool(self.fields), self.items is not None)
        pairs = (self.type is not None, self.length is not None)
        if sum(given) != 1 or pairs != (given[0], given[2]):
            raise ValueError("either `type` and `values`, or `fields`, or `items` and `length`")
        if self.length and self.length[0] > self.length[1]:
            raise ValueError("length: [least, most], the most no less than the least")
        if self.items and (self.items.missing or any(array for array, *_ in self.items.leaves("items"))):
            raise ValueError("elements that are never missing, and that have no arrays in them")
        if self.type and self.values:
            if parse_type(self.type).name not in self.values.fitting:
                raise ValueError(f"a type that these values fit: {', '.join(self.values.fitting)}")
            for _, expected in self.values.faults(self.type, None):
                raise ValueError(expected)
        return self

    def leaves(self, path: str, array: str = "") -> Iterator[tuple[str, str, str]]:
        """The array that each value is in (empty if in none), its path, and its type."""
        if self.items is not None:
            yield from self.items.leaves(path, path)
        for name, each in self.fields.items():
            yield from each.leaves(f"{path}_{name}", array)
        if self.type is not None:
            yield array, path, self.type


class Document(Drawn):
    """An object with these fields, as JSON; an object in it whose fields are all missing is left out."""

    kind: Literal["document"]
    fields: dict[Identifier, DocumentField] = Field(min_length=1, description="Name -> field.")
    types: ClassVar[tuple[str, ...]] = ("json",)

    @property
    def root(self) -> DocumentField:
        """The whole document."""
        return DocumentField(fields=self.fields)
