"""What the statements of a transaction are called with: values drawn anew for each call."""

import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.base import Model
from dbbench.suite.data_types import parse_type

#: Whole numbers that every system's largest integer holds.
Whole = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]
ColumnOf = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}\.[A-Za-z][A-Za-z0-9_]{0,62}$")]
#: The keys of which a parameter has exactly one.
SOURCES = ("draw", "integer", "counter", "date", "text", "one_of")


class Parameter(Model):
    """Values drawn before the clock, the same for every engine, by one of these keys."""

    draw: ColumnOf | None = Field(default=None, description="Those of a column at the start, as `Table.Column`.")
    integer: tuple[Whole, Whole] | None = Field(default=None, description="Whole numbers, `[first, last]`.")
    counter: ColumnOf | None = Field(
        default=None,
        description="New values of a primary key, after the maximum at the step's begin, different for each client.",
    )
    date: tuple[datetime.date, datetime.date] | None = Field(default=None, description="Days, `[first, last]`.")
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=4_000,
        pattern=r"^[\x20-\x7e]+$",
        description="A text in which each `#` is a random digit.",
    )
    one_of: tuple[Whole | str, ...] | None = Field(
        default=None,
        min_length=1,
        description="One of some texts or whole numbers; one written twice comes twice as often.",
    )
    distribution: Literal["uniform", "zipfian", "latest"] = Field(
        default="uniform",
        description="Of `draw` and `integer`; `zipfian`: a few are far more popular, spread over the values; `latest`: the last are.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(getattr(self, key) is not None for key in SOURCES) != 1:
            raise ValueError(f"exactly one of the keys {', '.join(SOURCES)}")
        if self.distribution != "uniform" and self.draw is None and self.integer is None:
            raise ValueError("no distribution but for draw and integer")
        for key in ("integer", "date"):
            bounds = getattr(self, key)
            if bounds is not None and bounds[1] < bounds[0]:
                raise ValueError(f"{key}: [first, last], the last no less than the first")
        if self.one_of is not None and len({type(value) for value in self.one_of}) > 1:
            raise ValueError("one_of: either texts or whole numbers")
        return self


#: What columns of a type hold, for the check that a parameter fits.
_FAMILIES = {
    **dict.fromkeys(("integer", "bigint"), "whole numbers"),
    **dict.fromkeys(("real", "double", "decimal", "currency"), "numbers"),
    **dict.fromkeys(("char", "varchar"), "texts"),
    "date": "days",
    "datetime": "moments",
    "json": "documents",
}


def family(type_text: Any) -> str | None:
    """What a column of this type holds, in words; None if it is no type."""
    try:
        return _FAMILIES[parse_type(str(type_text)).name]
    except ValueError:
        return None


def fits(given: str | None, column: str | None) -> bool:
    """Whether values of one family go into a column of another; nothing is known against what isn't known."""
    return given is None or column is None or given == column or (given == "whole numbers" and column == "numbers")
