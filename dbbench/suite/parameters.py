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
    """Source of a parameter's values: exactly one of the keys in `SOURCES`.

    `draw` takes the values that a column of the dataset has, `integer` whole numbers from the first to the last, `date`
    days likewise. `counter` gives new values of a primary key: those after the greatest that the table has when the
    step begins, each to one call of one client only. `text` is a pattern whose `#` are random digits. `one_of` takes
    one of some values.
    """

    draw: ColumnOf | None = None
    integer: tuple[Whole, Whole] | None = None
    counter: ColumnOf | None = None
    date: tuple[datetime.date, datetime.date] | None = None
    text: str | None = Field(default=None, min_length=1, max_length=4_000, pattern=r"^[\x20-\x7e]+$")
    one_of: tuple[Whole | str, ...] | None = Field(default=None, min_length=1)
    #: How often each is drawn: all alike, or some far more often, spread over all (`zipfian`), or the last most
    #: (`latest`).
    distribution: Literal["uniform", "zipfian", "latest"] = "uniform"

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
