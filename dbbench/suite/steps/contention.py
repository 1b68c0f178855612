"""Many clients in one table."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.base import Identifier
from dbbench.suite.data_types import parse_type
from dbbench.suite.plain import Dangling, Mapping, mapping, unknown_table
from dbbench.suite.steps.base import Clients, ClientsStep, SomeClients, Step

#: Characters of the texts that its clients write.
LONGEST_TEXT = 13


class ContentionStep(ClientsStep):
    """Clients that insert, change, seek and delete objects in transactions of their own, all in one table.

    `iterations` (scaled) by each client: a transaction that inserts three objects, one that changes the first of them,
    `sub_iterations` that look for it by its text, and one that deletes it. The clients share `pool`
    sessions; without it each has its own.
    """

    kind: Literal["contention"]
    table: Identifier = Field(
        description=(
            "A table with an `integer` or `bigint` key and one `varchar(13)` or longer, without an index. "
            "The step deletes its rows."
        )
    )
    clients: SomeClients = Field(
        default=Clients.model_construct(threads=8, processes=4),
        description="Sessions that work at once, as in other steps.",
    )
    iterations: int = Field(default=50, ge=1, le=100_000, description="By each client; `--scale` multiplies it.")
    sub_iterations: int = Field(
        default=20,
        ge=0,
        le=100_000,
        description="How often each iteration looks for an object by its text, each time in a transaction.",
    )
    pool: int | None = Field(
        default=None,
        ge=1,
        description="Sessions that all clients share, at least one for each process; without it each client has its own.",
    )

    datasets = ("tables",)
    summable = True
    required_operations: ClassVar[tuple[str, ...]] = ("statement",)
    writes: ClassVar[bool] = True
    #: It deletes the table's rows before its clients start, and theirs when they have ended.
    needs_data = False
    leaves_tables_empty = True

    @property
    def sessions(self) -> int:
        """The pool, if its clients share one."""
        return self.pool or super().sessions

    def _pooled(self, hosts: int) -> dict[str, int]:
        """The pool is of all clients together."""
        return {} if self.pool is None else {"pool": self.pool * hosts}

    @model_validator(mode="after")
    def _a_session_for_each_process(self) -> Self:
        if self.pool is not None and self.pool < self.clients.processes:
            raise ValueError(f"a pool of {self.clients.processes} sessions or more: one for each process")
        return self

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Its table: objects have a number, which is their key, and a text."""
        name = step.get("table")
        yield from unknown_table(name, tables, ("table",))
        table = mapping(tables, name)
        types = {}
        for column in mapping(table, "columns"):
            try:
                types[column] = parse_type(str(mapping(mapping(table, "columns"), column).get("type")))
            except ValueError:  # the fault is noted at the column
                return
        if not types:  # there is no such table, or none of its columns is right
            return
        number = types.pop(str(table.get("primary_key")), None)
        text = next(iter(types.values()), None) if len(types) == 1 else None
        if (
            number is None
            or number[0] not in ("integer", "bigint")
            or text is None
            or text[0] != "varchar"
            or text[1][0] < LONGEST_TEXT
            or table.get("indexes")
        ):
            expected = f"a table of a key, integer or bigint, and a varchar({LONGEST_TEXT}) or longer without an index"
            yield ("table",), expected, ()
