"""How the values of a column are drawn: one model for each way, which knows the columns that it fits."""

import ast
import datetime
from collections.abc import Iterator
from decimal import Decimal
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dbbench.suite.base import Identifier, Model
from dbbench.suite.data_types import DAYS, NUMBERS, TEXTS, parse_type
from dbbench.suite.expressions import parsed

#: Where in the values a fault is, and what was expected there.
Fault = tuple[tuple[str | float, ...], str]
#: Characters of a text, of which a chunk's rows must fit a 32-bit offset.
_LONGEST = 65_535


class Drawn(Model):
    """The base of each kind of values."""

    #: The types of columns that they fit.
    types: ClassVar[tuple[str, ...]] = TEXTS

    @property
    def fitting(self) -> tuple[str, ...]:
        """The types of columns that these very values fit."""
        return self.types

    @property
    def longest(self) -> int:
        """Characters of the longest text; 0 if there are no texts."""
        return 0

    def faults(self, column: str, rows: object) -> Iterator[Fault]:
        """What a column of this type can't hold, with `rows` rows at scale 1."""
        if self.longest and self.longest > (length := min(parse_type(column).arguments[0], _LONGEST)):
            yield (), f"texts of at most {length} characters, for {column}"


class Whole(Drawn):
    """Values with whole numbers behind them, which an expression may name."""

    types: ClassVar[tuple[str, ...]] = ("integer", "bigint")


class Sequence(Whole):
    """The row number: a primary key."""

    kind: Literal["sequence"]
    start: int = Field(default=1, description="The first.")

    def faults(self, column: str, rows: object) -> Iterator[Fault]:
        """A start too far from 0."""
        most, _ = _range(column)
        if isinstance(rows, int) and not -most <= self.start <= most - rows + 1:
            yield ("start",), f"a start from which {rows:,} rows fit {column}"


class Reference(Whole):
    """A key of another table, whose primary key is a sequence."""

    kind: Literal["reference"]
    table: Identifier = Field(description="The other table.")
    spread: Literal["even", "uniform"] = Field(
        default="uniform",
        description="`uniform`: a parent at random for each row; `even`: all in ascending order, each as often.",
    )


#: Steps between two points: times 32 random bits, they must stay a whole number of 64 bits.
_MOST_STEPS = 1 << 31


def _range(column: str) -> tuple[int, int]:
    """The greatest number of a type, in units of its last decimal place, and how many places it has."""
    name, arguments = parse_type(column)
    digits, places = arguments if name == "decimal" else (99, 0)
    # Decimals are drawn as 64-bit numbers of units, whatever their precision.
    return min({"integer": 2**31 - 1}.get(name, 2**63 - 1), 10**digits - 1), places


def _step_faults(step: float, column: str) -> Iterator[Fault]:
    """A step that a type can't hold exactly."""
    if parse_type(column).name not in ("real", "double") and Decimal(str(step)).scaleb(_range(column)[1]) % 1:
        yield ("step",), f"a step that {column} can hold"


def ascending(points: dict[float, float]) -> dict[float, float]:
    """Points of a quantile function as they are. Raises ValueError if they don't ascend from 0 to 1."""
    shares, values = list(points), list(points.values())
    if shares != sorted(shares) or values != sorted(values) or shares[0] != 0 or shares[-1] != 1:
        raise ValueError("shares that ascend from 0 to 1, with values that ascend too")
    return points


class Quantiles(Whole):
    """Numbers by their quantile function, linear between the points, rounded down to whole steps."""

    kind: Literal["quantiles"]
    points: dict[float, float] = Field(
        min_length=2, description="`{0: 1, 0.5: 10, 1: 100}`: the minimum is 1, half lie under 10, the maximum is 100."
    )
    step: float = Field(default=1, gt=0, description="What values are multiples of.")
    types = NUMBERS

    _ascending = field_validator("points")(ascending)

    @model_validator(mode="after")
    def _countable(self) -> Self:
        values = list(self.points.values())
        if max(after - before for before, after in pairwise(values)) / self.step >= _MOST_STEPS:
            raise ValueError(f"points less than {_MOST_STEPS:,} steps apart")
        return self

    def faults(self, column: str, rows: object) -> Iterator[Fault]:
        """A step and points that the type can't hold exactly."""
        yield from _step_faults(self.step, column)
        if parse_type(column).name in ("real", "double"):
            return
        most, places = _range(column)
        for share, point in self.points.items():
            if Decimal(str(abs(point))).scaleb(places) > most:
                yield ("points", int(share) if share.is_integer() else share), f"a number that {column} can hold"


class Choice(Drawn):
    """One of some texts."""

    kind: Literal["choice"]
    weights: dict[str, float] = Field(min_length=1, description="Text -> how often.")

    @field_validator("weights")
    @classmethod
    def _positive(cls, weights: dict[str, float]) -> dict[str, float]:
        if min(weights.values()) <= 0:
            raise ValueError("weights above 0")
        return weights

    @property
    def longest(self) -> int:
        """Characters of the longest."""
        return max(map(len, self.weights))


class Pattern(Drawn):
    """A text with random digits."""

    kind: Literal["pattern"]
    text: str = Field(min_length=1, pattern=r"^[\x20-\x7e]+$", description="Each `#` becomes a digit.")
    repeat: int = Field(default=1, ge=1, le=10_000, description="How often it is repeated.")

    @property
    def longest(self) -> int:
        """Characters of each."""
        return len(self.text) * self.repeat


class Days(Drawn):
    """A day at midnight."""

    kind: Literal["days"]
    first: datetime.date = Field(description="The earliest.")
    last: datetime.date = Field(description="The latest.")
    types = DAYS

    @field_validator("last")
    @classmethod
    def _not_before(cls, last: datetime.date, info: ValidationInfo) -> datetime.date:
        if last < info.data.get("first", last):
            raise ValueError("a day that is not before the first")
        return last


class Moments(Drawn):
    """Moments at equal distances."""

    kind: Literal["moments"]
    first: datetime.datetime = Field(description="Of the first row.")
    seconds: int = Field(description="More for each row.")
    null_every: int = Field(default=0, ge=0, description="10 makes every tenth one NULL.")
    types = ("datetime",)

    @field_validator("first")
    @classmethod
    def _whole(cls, first: datetime.datetime) -> datetime.datetime:
        if first.tzinfo is not None or first.microsecond:
            raise ValueError("a moment in whole seconds, without a time zone")
        return first


class Words(Drawn):
    """A word from each list, with spaces between them."""

    kind: Literal["words"]
    of: tuple[tuple[Annotated[str, Field(min_length=1)], ...], ...] = Field(
        min_length=1, description="Lists, of which each word is as likely."
    )

    @field_validator("of")
    @classmethod
    def _some_in_each(cls, of: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
        if not all(of):
            raise ValueError("a word in each list")
        return of

    @property
    def longest(self) -> int:
        """Characters of the longest words, with spaces between."""
        return sum(max(map(len, words)) + 1 for words in self.of) - 1


class Listed(Drawn):
    """These texts, one after another, over and over."""

    kind: Literal["listed"]
    texts: tuple[str, ...] = Field(min_length=1, description="In their order.")

    @property
    def longest(self) -> int:
        """Characters of the longest."""
        return max(map(len, self.texts))


def named_in(tree: ast.expr) -> tuple[list[str], list[str]]:
    """The columns that a column's expression names, and the tables whose rows it asks for."""
    columns: list[str] = []
    tables: list[str] = []
    match tree:
        case ast.Name(id=name):
            columns.append(name)
        case ast.Call(func=ast.Name(id="rows"), args=[ast.Name(id=table)]):
            tables.append(table)
        case ast.Call(args=arguments):
            for node in arguments:
                columns, more = named_in(node)
                tables += more
                if columns:  # a random number is between the same two in each row
                    raise ValueError("random(least, most) of numbers, without columns")
        case _:
            for child in ast.iter_child_nodes(tree):
                if isinstance(child, ast.expr):
                    both = named_in(child)
                    columns += both[0]
                    tables += both[1]
    return columns, tables


class Computed(Whole):
    """Whole numbers by an expression, in steps: as numbers, or as days or seconds after `first`.

    It may name columns of the same table: a computed one by its number before `step` and `first`, quantiles by their
    number of steps.
    """

    kind: Literal["computed"]
    text: str = Field(
        description="An expression of `+ - * // %`, numbers, columns, `rows(Table)` at the run's scale, and `random(least, most)`."
    )
    step: float = Field(default=1, gt=0, description="What the number is multiplied by.")
    first: datetime.date | None = Field(default=None, description="Days after this day, or seconds for a `datetime`.")

    @field_validator("text")
    @classmethod
    def _arithmetic(cls, text: str) -> str:
        named_in(parsed(text))
        return text

    @property
    def fitting(self) -> tuple[str, ...]:
        """Days where there is a first one."""
        return NUMBERS if self.first is None else DAYS

    def faults(self, column: str, rows: object) -> Iterator[Fault]:
        """A step that the type can't hold exactly, or that days haven't got."""
        if self.first is None:
            yield from _step_faults(self.step, column)
        elif self.step != 1:
            yield ("step",), "no step beside `first`: days or seconds in the expression itself"


#: The kinds with whole numbers behind them.
WHOLE = tuple(get_args(model.model_fields["kind"].annotation)[0] for model in Whole.__subclasses__())
