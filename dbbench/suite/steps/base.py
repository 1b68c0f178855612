"""What steps of all kinds have, and what each kind states of itself."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Annotated, Any, ClassVar, Self, get_args

from pydantic import BeforeValidator, Field, ValidationError, WithJsonSchema, model_validator

from dbbench.host.metric import BaseUnit
from dbbench.suite.answer import KnownAnswer
from dbbench.suite.base import HIDDEN, Model, Slug, Title
from dbbench.suite.dataset import HOLDS, Holds
from dbbench.suite.plain import Dangling, Mapping

#: Stands beside a chart.
Note = Annotated[str, Field(max_length=5_000)]


class Clients(Model):
    """Sessions that work at once; a number is one of threads."""

    threads: int = Field(default=1, ge=1, description="In each process.")
    processes: int = Field(default=1, ge=1, description="One, where no more can open the database.")

    @property
    def count(self) -> int:
        """All of them."""
        return self.threads * self.processes

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' * (self.threads > 1)}"
        if self.processes == 1:
            return threads
        return f"{self.processes} processes" + (f" of {threads}" if self.threads > 1 else "")


class Step(Model):
    """One step of a scenario. Each kind overrides what is true of it."""

    kind: str
    name: Slug = Field(description="A figure's name in files.")
    title: Title = Field(description="Its name in reports.")
    note: Note = Field(default="", description="For the report.")

    #: What the dataset must hold: one of these.
    datasets: ClassVar[tuple[Holds, ...]] = HOLDS
    #: The unit of the figure: seconds, bytes or operations in a second.
    unit: ClassVar[BaseUnit] = "s"
    #: What is counted, where it is a rate.
    counts: ClassVar[str] = "operations"
    #: Whether its figure may be added to those of other steps.
    summable: ClassVar[bool] = False
    #: Whether it leaves tables empty that were empty before it.
    leaves_tables_empty: ClassVar[bool] = False
    #: Whether it works on the rows or records that steps before it left.
    needs_data: ClassVar[bool] = True

    @classmethod
    def stated_kind(cls) -> str | None:
        """The name of the kind; None for a model that only others build on."""
        names = get_args(cls.model_fields["kind"].annotation)
        return names[0] if names else None

    @property
    def required_operations(self) -> tuple[str, ...]:
        """The operations of a session that it calls."""
        return ()

    @property
    def fills(self) -> bool:
        """Whether it changes the rows or records that steps after it work on."""
        return False

    @property
    def writes(self) -> bool:
        """Whether its writes must be visible to other sessions, and after the last step."""
        return self.fills

    @property
    def cold(self) -> bool:
        """Whether its calls start with cold caches."""
        return False

    @property
    def expected_answer(self) -> KnownAnswer | None:
        """The rows that it must return, which are computed before the run."""
        return None

    @property
    def figure_unit(self) -> BaseUnit:
        """The unit of this step's own figure, where what is asked for makes it another than its kind's."""
        return self.unit

    @property
    def statements(self) -> ReadOnly[str, str]:
        """Its SQL: under an empty name as the suite has it, under a dialect's as that overrides it."""
        return {}

    @property
    def concurrent_clients(self) -> Clients:
        """The clients that it has at once."""
        return Clients()

    @property
    def sessions(self) -> int:
        """The sessions that it has at once: one for each client, unless its kind says otherwise."""
        return self.concurrent_clients.count

    def in_one_process(self) -> Self:
        """The step with as many clients, all of them threads of one process."""
        return self

    def over_hosts(self, hosts: int) -> Self:
        """The step with its clients on each of the hosts; itself where it can't have them."""
        return self

    def expanded(self) -> tuple[Self, ...]:
        """The steps that it expands to: itself, unless it is a sweep."""
        return (self,)

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """What of a step, as plain data, refers to something that isn't there; paths begin at the step.

        `before` are the names and kinds of the steps before it.
        """
        return iter(())

    @classmethod
    def unfit(cls, step: Mapping, dataset: Mapping) -> Iterator[Dangling]:
        """What of a step, as plain data, doesn't fit the dataset; paths begin at the step."""
        return iter(())

    @classmethod
    def names(cls, step: Mapping) -> list[str]:
        """The names of the steps that a step, as plain data, stands for."""
        return [str(step.get("name"))]


def _as_clients(clients: Any) -> Any:
    """A number of clients is one of threads."""
    return {"threads": clients} if isinstance(clients, int) and not isinstance(clients, bool) else clients


_COUNT = {"type": "integer", "minimum": 1}
_CLIENTS = {"type": "object", "properties": {"threads": _COUNT, "processes": _COUNT}, "additionalProperties": False}
#: Clients; a suite may write a number of threads.
SomeClients = Annotated[
    Clients,
    BeforeValidator(_as_clients),
    WithJsonSchema({"anyOf": [_COUNT, _CLIENTS, {"type": "array", "items": {"anyOf": [_COUNT, _CLIENTS]}}]}),
]


class ClientsStep(Step):
    """A step that several clients may take at once."""

    clients: SomeClients = Field(
        default=Clients.model_construct(),
        description="Sessions at once: `threads` in each of `processes`, or a number of threads. A list is a sweep: a step for each.",
    )
    #: All clients of a sweep, until the scenario makes a step for each; then the name that these share.
    sweep: tuple[SomeClients, ...] = Field(default=(), json_schema_extra=HIDDEN)
    swept: str | None = Field(default=None, json_schema_extra=HIDDEN)

    @model_validator(mode="before")
    @classmethod
    def _as_sweep(cls, data: Any) -> Any:
        if not isinstance(data, dict) or not isinstance(data.get("clients"), list):
            return data
        clients = data["clients"]
        counts = [_count(each) for each in clients]
        if len(clients) < 2 or None in counts or len(set(counts)) < len(counts):
            raise ValueError("clients: a list of two or more different numbers, like [1, 2, 4, 8]")
        return {**data, "clients": clients[0], "sweep": clients}

    @property
    def concurrent_clients(self) -> Clients:
        """Clients as the suite has them."""
        return self.clients

    def in_one_process(self) -> Self:
        """Processes become threads."""
        return self.model_copy(update={"clients": Clients(threads=self.clients.count)})

    def over_hosts(self, hosts: int) -> Self:
        """The suite's number of processes on each host; one where the kind takes a single process."""
        clients = self.clients.model_copy(update={"processes": self.clients.processes * hosts})
        title = self.title
        if self.swept:
            title = f"{title.removesuffix(_titled(self.clients))}{_titled(clients)}"
        try:
            return self.model_validate({**self.model_dump(), "clients": clients, "title": title, **self._pooled(hosts)})
        except ValidationError:
            return self

    def _pooled(self, hosts: int) -> dict[str, int]:
        """What besides the clients there is of each host."""
        return {}

    def expanded(self) -> tuple[Self, ...]:
        """A step for each of a sweep's clients."""
        if not self.sweep:
            return (self,)
        return tuple(
            self.model_copy(update={
                "clients": clients, "sweep": (), "swept": self.name, "name": swept_name(self.name, clients.count),
                "title": f"{self.title}{_titled(clients)}",
            })
            for clients in self.sweep
        )  # fmt: skip

    @classmethod
    def names(cls, step: Mapping) -> list[str]:
        """A name for each of a sweep's clients."""
        clients = step.get("clients")
        if not isinstance(clients, list):
            return super().names(step)
        return [swept_name(str(step.get("name")), _count(each) or 0) for each in clients]


def _titled(clients: Clients) -> str:
    """What a sweep's step has after its title."""
    return f", {clients.count} client{'s' * (clients.count > 1)}"


def _count(clients: Any) -> int | None:
    """How many they are, as plain data; None if that isn't to be told."""
    clients = _as_clients(clients)
    if not isinstance(clients, dict):
        return None
    threads, processes = clients.get("threads", 1), clients.get("processes", 1)
    return threads * processes if isinstance(threads, int) and isinstance(processes, int) else None


def swept_name(name: str, clients: int) -> str:
    """The name of a sweep's step with `clients` clients."""
    return f"{name}-{clients}"
