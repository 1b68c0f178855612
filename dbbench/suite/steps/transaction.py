"""Transactions of several statements, whose parameters are drawn for each call."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, WithJsonSchema, model_validator

from dbbench.suite.answer import Sql
from dbbench.suite.base import Identifier, Model, Slug
from dbbench.suite.parameters import Parameter
from dbbench.suite.plain import Dangling, Mapping
from dbbench.suite.sql_text import returns_rows
from dbbench.suite.steps.base import Note, Step
from dbbench.suite.steps.timed import Time, TimedStep
from dbbench.suite.transaction_names import in_transactions

#: What becomes of a transaction where a statement finds no row, or none but a NULL.
Missing = Literal["error", "skip", "rollback"]


class Statement(Model):
    """One statement of a transaction."""

    sql: Sql = Field(description="With parameters as `:name`, and without `%`, which some drivers use.")
    dialects: dict[str, Sql] = Field(default={}, description="Overrides of `sql`.")
    row: tuple[Identifier, ...] = Field(
        default=(),
        description="Names for the columns of the first row, for later statements; without it all rows are read.",
    )
    missing: Missing = Field(
        default="error",
        description="If there is no such row, or a NULL in it. `error`: the engine is wrong; `skip`: leave out the rest of the transaction, or of this repetition; `rollback`: roll back on purpose.",
    )


class Repeated(Model):
    """Statements that are repeated."""

    repeat: Annotated[int, Field(ge=1, le=10_000)] | Identifier = Field(
        description="How often: a number, or an `integer` parameter."
    )
    parameters: dict[Identifier, Parameter] = Field(default={}, description="Drawn anew each time.")
    statements: tuple[Statement, ...] = Field(min_length=1, description="In their order.")


class Think(Model):
    """How long a client pauses after a transaction; a time alone is `constant`."""

    constant: Time | None = Field(default=None, description="Always.")
    mean: Time | None = Field(default=None, description="Of an exponential distribution, added to it.")
    at_most: Time | None = Field(default=None, description="Of what is drawn; 10 times the mean, if not set.")

    @model_validator(mode="after")
    def _some_time(self) -> Self:
        if self.constant is None and self.mean is None:
            raise ValueError("a time, like 2s, or {mean: 2s}")
        if self.at_most is not None and (self.mean is None or self.at_most < self.mean):
            raise ValueError("`at_most` only with a `mean`, and not below it")
        return self

    @property
    def seconds(self) -> tuple[float, float, float]:
        """The constant part, the mean, and the most that is drawn."""
        mean = self.mean or 0.0
        return self.constant or 0.0, mean, self.at_most or 10 * mean

    def __str__(self) -> str:
        always, mean, most = self.seconds
        drawn = f"{mean:g} s on average, at most {most:g} s" if mean else ""
        return " and ".join(filter(None, (f"{always:g} s" if always else "", drawn)))


def _as_think(given: Any) -> Any:
    return given if given is None or isinstance(given, dict | Think) else {"constant": given}


_TIME = {"type": ["number", "string"], "description": "seconds, or a time such as 500ms, 10s, 2min"}
_DRAWN = {
    "type": "object",
    "properties": {"constant": _TIME, "mean": _TIME, "at_most": _TIME},
    "additionalProperties": False,
}
#: A pause after a transaction; a suite may write a time.
SomeThink = Annotated[Think, BeforeValidator(_as_think), WithJsonSchema({"anyOf": [_TIME, _DRAWN]})]


def _form(value: Any) -> str:
    repeated = "repeat" in value if isinstance(value, dict) else isinstance(value, Repeated)
    return "statement:repeated" if repeated else "statement:one"


AnyStatement = Annotated[
    Annotated[Statement, Tag("statement:one")] | Annotated[Repeated, Tag("statement:repeated")], Discriminator(_form)
]


class Transaction(Model):
    """Statements in one transaction."""

    name: Slug = Field(description="Its name in the report.")
    weight: float = Field(default=1, gt=0, le=1e9, description="How often it is drawn.")
    think: SomeThink | None = Field(default=None, description="In place of that of the step.")
    parameters: dict[Identifier, Parameter] = Field(default={}, description="Name -> parameter.")
    statements: tuple[AnyStatement, ...] = Field(min_length=1, description="In their order.")

    @property
    def every(self) -> Iterator[Statement]:
        """Its statements, those that are repeated among them."""
        for each in self.statements:
            yield from each.statements if isinstance(each, Repeated) else (each,)

    @property
    def only_reads(self) -> bool:
        """Whether each statement returns rows and locks none."""
        texts = [sql.upper() for each in self.every for sql in (each.sql, *each.dialects.values())]
        return all(returns_rows(sql) and "RETURNING" not in sql and " FOR " not in f" {sql} " for sql in texts)


class Invariant(Model):
    """A query that tests the data afterwards: it must return no row, or grow as expected."""

    name: Slug = Field(description="Its name in the report.")
    note: Note = Field(default="", description="For the report.")
    sql: Sql = Field(description="The query.")
    dialects: dict[str, Sql] = Field(default={}, description="Overrides of `sql`.")
    grows: dict[Slug, int | Annotated[str, Field(pattern=r"^-?[A-Za-z][A-Za-z0-9_]{0,62}$")]] | None = Field(
        default=None,
        description="Then it returns one whole number, grown by what was committed: transaction -> a number for each call, or an `integer` parameter (`-amount`: subtracted).",
    )


class TransactionStep(TimedStep):
    """Transactions of your own, committed per second."""

    kind: Literal["transaction"]
    calls: int | None = Field(
        default=None,
        ge=1,
        le=10**9,
        description="Transactions of all clients together at scale 1; required without a `rate`, `duration` or `find`.",
    )
    time_limit: Time | None = Field(default=None, description="Of the `calls`, such as 5min.")
    think: SomeThink | None = Field(
        default=None,
        description="The pause after each: a time, or {`constant`, `mean`, `at_most`}: an exponential time added to a constant. Throughput includes it, latency doesn't. Not with a `rate` or `find`.",
    )
    transactions: tuple[Transaction, ...] = Field(min_length=1, max_length=100, description="Drawn by their weights.")
    invariants: tuple[Invariant, ...] = Field(default=(), description="Without any the step is not verified.")

    datasets = ("tables",)
    unit = "1/s"
    calls_key = "calls"
    required_operations: ClassVar[tuple[str, ...]] = ("statement",)

    @property
    def writes(self) -> bool:
        """True if one of its transactions writes."""
        return not all(each.only_reads for each in self.transactions)

    @property
    def thinks(self) -> bool:
        """Whether its clients pause after some of the transactions."""
        return any((self.think, *(each.think for each in self.transactions)))

    @property
    def statements(self) -> ReadOnly[str, str]:
        """All of them, one after another."""
        every = [each for transaction in self.transactions for each in transaction.every]
        dialects = dict.fromkeys(("", *(dialect for each in every for dialect in each.dialects)))
        return {dialect: "; ".join(each.dialects.get(dialect, each.sql) for each in every) for dialect in dialects}

    @model_validator(mode="after")
    def _names_once(self) -> Self:
        for what in (self.transactions, self.invariants):
            names = [each.name for each in what]
            if len(set(names)) < len(names):
                raise ValueError("a name of its own for each transaction and each invariant")
        if self.calls is None and not (self.seconds or self.find):
            raise ValueError("how many calls there are, or a rate, duration or find")
        if self.thinks and (self.rate or self.find):
            raise ValueError("no `think` with a rate or find: calls come at moments of their own")
        if self.time_limit and self.calls is None:
            raise ValueError("no `time_limit`: a rate, a duration and a search end by themselves")
        return self

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Tables, columns and parameters that aren't there, aren't used, or don't fit."""
        yield from super().dangling(step, tables, before)
        yield from in_transactions(step, tables)
