"""What a suite file says, as frozen models. `loader` makes them from YAML text."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from dbbench.schema import Dataset, Identifier, Model

#: The version of the suite format that this dbbench reads.
FORMAT = 1

#: Calls at a rate that say anything of it.
FEWEST_ARRIVALS = 10

#: Names of scenarios and steps: they become file names.
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")]
#: Names of engines, which become file names too: `engine`, `engine+driver` or `engine@place`.
EngineName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}(@[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$")]
#: `Table.Column` of the dataset.
ColumnName = Annotated[str, Field(pattern=r"^[A-Za-z]\w*\.[A-Za-z]\w*$")]
Sql = Annotated[str, Field(min_length=1, max_length=100_000)]
#: Titles stand on charts, notes beside them.
Title = Annotated[str, Field(max_length=300)]
Note = Annotated[str, Field(max_length=5_000)]
#: More steps than any suite has, and more than could be shown.
_STEPS = 500


class Tier(StrEnum):
    """What a commit survives: each more than the one before it."""

    MEMORY = "memory"
    PROCESS = "process"
    POWER = "power"


class Condition(Model):
    """One condition on one column; exactly one of the tests is given."""

    column: ColumnName
    above: float | None = None
    contains: str | None = None
    among: Answer | None = None

    @model_validator(mode="after")
    def _one_test(self) -> Condition:
        if [self.above, self.contains, self.among].count(None) != 2:
            raise ValueError("one test for the column: above, contains or among")
        return self


class Join(Model):
    """An inner join: `column` of the table joined equals `equals` of those before it."""

    table: Identifier
    column: ColumnName
    equals: ColumnName


class Answer(Model):
    """What a query must return, said without SQL, so that it can be computed without any engine.

    Tables are joined, then filtered, then grouped and summed, then selected. `sum` names the new column
    and the one it adds up. Without `order_by` the order of the rows does not matter.
    """

    table: Identifier
    join: tuple[Join, ...] = ()
    where: tuple[Condition, ...] = ()
    group_by: tuple[ColumnName, ...] = ()
    sum: dict[Identifier, ColumnName] = {}
    select: tuple[str, ...] = Field(min_length=1)
    order_by: tuple[str, ...] = ()


class Step(Model):
    """What every step has."""

    name: Slug
    title: Title
    note: Note = ""

    @property
    def needs_data(self) -> bool:
        """Whether it works on the rows or records that steps before it left."""
        return True

    @property
    def fills(self) -> bool:
        """Whether it changes the rows or records that steps after it work on."""
        return False


class LoadStep(Step):
    """All rows of all tables in one transaction, then the indexes."""

    kind: Literal["load"]

    @property
    def needs_data(self) -> bool:
        """It starts from empty tables."""
        return False

    @property
    def fills(self) -> bool:
        """All that a dataset of tables has."""
        return True


class SizeStep(Step):
    """The size of everything the engine keeps on disk, after a flush."""

    kind: Literal["size"]


class ChurnStep(Step):
    """Part of a table's rows deleted and inserted again, `passes` times; the content stays the same.

    Runs of `transaction` rows each, drawn from the seed: a delete that commits by itself, then an insert.
    """

    kind: Literal["churn"]
    table: Identifier
    share: float = Field(default=0.2, gt=0, le=1)
    passes: int = Field(default=5, ge=1)
    transaction: int = Field(default=1000, ge=1)

    @property
    def fills(self) -> bool:
        """The rows that it inserts again."""
        return True


class SqlStep(Step):
    """A statement, written once; `dialects` overrides it where a dialect differs."""

    sql: Sql
    dialects: dict[str, Sql] = {}
    warm_up: int = Field(default=1, ge=0)
    iterations: int = Field(default=1, ge=1)


class QueryStep(SqlStep):
    """A query whose cursor is stepped to the end, reading one column (`read`) of each row."""

    kind: Literal["query"]
    read: str
    answer: Answer
    cache: Literal["warm", "cold"] = "warm"

    @model_validator(mode="before")
    @classmethod
    def _not_warmed_up(cls, data: Any) -> Any:
        return {"warm_up": 0, **data} if isinstance(data, dict) and data.get("cache") == "cold" else data

    @model_validator(mode="after")
    def _cold_or_warmed_up(self) -> QueryStep:
        if self.cache == "cold" and self.warm_up:
            raise ValueError("no warm_up where the cache is cold")
        return self


class Check(Model):
    """A query made after a statement, with the rows it must return; `columns` gives their types."""

    sql: Sql
    dialects: dict[str, Sql] = {}
    columns: tuple[ColumnName, ...] = Field(min_length=1)
    rows: tuple[tuple[int | float | str, ...], ...]


class Adds(Model):
    """How many rows each call adds to a table.

    `values` are those of its columns: the same in each row. The primary keys then follow on the dataset's, one by one.
    """

    table: Identifier
    rows: int = Field(default=1, ge=0)
    values: dict[Identifier, int | float | str] = {}


class Rate(Model):
    """Calls at moments of their own, whether or not those before are done; `per_second` of all clients together."""

    per_second: float = Field(gt=0, le=1e7)
    arrivals: Literal["constant", "poisson"] = "constant"
    seconds: float = Field(gt=0, le=86_400)

    @model_validator(mode="after")
    def _some_calls(self) -> Rate:
        if self.per_second * self.seconds < FEWEST_ARRIVALS:
            raise ValueError(f"{FEWEST_ARRIVALS} arrivals or more: per_second times seconds")
        return self


class Clients(Model):
    """Several sessions at once: `threads` in each of `processes`, or all in one where no more can open the database."""

    threads: int = Field(default=1, ge=1)
    processes: int = Field(default=1, ge=1)

    @property
    def count(self) -> int:
        """All of them."""
        return self.threads * self.processes

    def __str__(self) -> str:
        threads = f"{self.threads} thread{'s' * (self.threads > 1)}"
        if self.processes == 1:
            return threads
        return f"{self.processes} processes" + (f" of {threads}" if self.threads > 1 else "")


class StatementStep(SqlStep):
    """A statement that commits by itself: one call after another, or at a rate; by one client or several."""

    kind: Literal["statement"]
    rate: Rate | None = None
    clients: Clients = Clients()
    adds: Adds | None = None
    check: Check | None = None


class KeyValueStep(Step):
    """One operation on records, one call after another: so many of them a second.

    `count` of the records (all of them, if not given; scaled with them) are inserted after those that are there, or
    read, updated, deleted or sought among them. `transaction` of them are written and committed at once. `same` is one
    record again and again. `affinity` binds each client's thread to a processor. Where the `cache` is cold, the engine
    is opened anew before the first call, and none of its files is in memory.
    """

    kind: Literal["keyvalue"]
    operation: Literal["insert", "read", "update", "delete", "scan", "seek"]
    count: int | None = Field(default=None, ge=1)
    order: Literal["ascending", "random", "same"] = "ascending"
    transaction: int = Field(default=1, ge=1, le=1_000_000)
    clients: Clients = Clients()
    affinity: bool = False
    cache: Literal["warm", "cold"] = "warm"

    @property
    def fills(self) -> bool:
        """If it writes."""
        return self.operation in ("insert", "update", "delete")

    @model_validator(mode="after")
    def _possible(self) -> KeyValueStep:
        if self.transaction > 1 and self.operation not in ("insert", "update", "delete"):
            raise ValueError("no transaction for a step that writes nothing")
        if self.operation == "scan" and (self.clients.count > 1 or self.order != "ascending" or self.count):
            raise ValueError("a scan of everything, by one client, without count and order")
        if self.order == "same" and self.operation not in ("read", "seek", "update"):
            raise ValueError("order ascending or random: one record can't be inserted or deleted twice")
        return self


class MixStep(Step):
    """A mix of operations on records, drawn at random by their weights: `operations` calls in all (scaled).

    `scan` reads up to `scan_length` records from a key on; `modify` is a read and an update of one record. Keys
    are drawn `uniform`, `zipfian` (some are far more popular than others), or `latest` (the newest are).
    """

    kind: Literal["mix"]
    operations: int = Field(ge=1)
    weights: dict[Literal["read", "update", "insert", "scan", "modify"], float] = Field(min_length=1)
    keys: Literal["uniform", "zipfian", "latest"] = "zipfian"
    scan_length: int = Field(default=100, ge=1, le=10_000)
    clients: Clients = Clients()

    @property
    def fills(self) -> bool:
        """Its inserts and updates."""
        return True

    @model_validator(mode="after")
    def _positive(self) -> MixStep:
        if min(self.weights.values()) <= 0:
            raise ValueError("weights above 0")
        return self


class ObjectStep(Step):
    """Rows of a table as Python objects: each by its key (`get`), or many in one query (`get_many`).

    `count` keys drawn at random (all of them, if not given; then `get_many` names none), in `iterations` passes. With
    a warm `identity_map` the objects have been loaded before and are still held.
    """

    kind: Literal["objects"]
    table: Identifier
    operation: Literal["get", "get_many"]
    count: int | None = Field(default=None, ge=1, le=1_000_000)
    identity_map: Literal["cold", "warm"] = "cold"
    warm_up: int = Field(default=1, ge=0)
    iterations: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _a_map(self) -> ObjectStep:
        if self.identity_map == "warm" and self.operation == "get_many":
            raise ValueError("a cold identity_map: a query for many objects always asks the database")
        return self


class ContentionStep(Step):
    """Clients that insert, change, seek and delete objects in transactions of their own, all in one table.

    `iterations` (scaled) by each client: a transaction that inserts three objects, one that changes the first of them,
    `sub_iterations` that look for it by its text, and one that deletes it. The clients share a `pool` of so many
    sessions; without it each has its own.
    """

    kind: Literal["contention"]
    table: Identifier
    clients: Clients = Clients(threads=8, processes=4)
    iterations: int = Field(default=50, ge=1, le=100_000)
    sub_iterations: int = Field(default=20, ge=0, le=100_000)
    pool: int | None = Field(default=None, ge=1)

    @property
    def needs_data(self) -> bool:
        """Its clients work on objects of their own, and leave none."""
        return False

    @model_validator(mode="after")
    def _a_session_for_each_process(self) -> ContentionStep:
        if self.pool is not None and self.pool < self.clients.processes:
            raise ValueError(f"a pool of {self.clients.processes} sessions or more: one for each process")
        return self


class TotalStep(Step):
    """The sum of the times of steps before it."""

    kind: Literal["total"]
    of: tuple[Slug, ...] = Field(min_length=2)

    @property
    def needs_data(self) -> bool:
        """It adds up figures."""
        return False


#: What a step asks of a session, for those whose kind doesn't name it.
_OPERATIONS = {
    "load": ("load",),
    "churn": ("load", "statement"),
    "query": ("query",),
    "statement": ("statement",),
    "mix": ("read", "update", "insert", "range"),
    "contention": ("statement",),
}


AnyStep = Annotated[
    LoadStep
    | SizeStep
    | ChurnStep
    | QueryStep
    | StatementStep
    | KeyValueStep
    | MixStep
    | ObjectStep
    | ContentionStep
    | TotalStep,
    Field(discriminator="kind"),
]


class Bars(Model):
    """A best-to-worst bar chart for each of the steps named (all but sizes, if none is)."""

    kind: Literal["bars"]
    steps: tuple[Slug, ...] = ()
    axis: Literal["auto", "linear", "logarithmic"] = "auto"


class Overview(Model):
    """One table in colour: every engine and step as a multiple of the step's best."""

    kind: Literal["overview"]


class SizeChart(Model):
    """What a size step found, in parts, with the size of the CSV files as a line."""

    kind: Literal["size"]
    step: Slug


class Percentiles(Model):
    """How long the calls of a step took: a dot for each percentile and engine, by operation where there are several.

    One chart for each of the steps named (all that have percentiles, if none is).
    """

    kind: Literal["percentiles"]
    steps: tuple[Slug, ...] = ()


class Stacks(Model):
    """Best-to-worst bars in parts: where the time of loading an object goes.

    One chart for each of the steps named (all that load objects, if none is).
    """

    kind: Literal["stacks"]
    steps: tuple[Slug, ...] = ()


class Spans(Model):
    """Two steps as the ends of one bar for each engine: the one from a cold start, and the one with warm caches."""

    kind: Literal["spans"]
    title: Title
    cold: Slug
    warm: Slug


AnyChart = Annotated[Bars | Overview | SizeChart | Percentiles | Stacks | Spans, Field(discriminator="kind")]


class WorstOfLast(Model):
    """The method of a benchmark that is reproduced: of `runs` rounds, the worst block of the last `last`."""

    runs: int = Field(ge=2)
    last: int = Field(ge=1)

    @model_validator(mode="after")
    def _some_of_them(self) -> WorstOfLast:
        if self.last > self.runs:
            raise ValueError(f"last to be at most runs, which is {self.runs}")
        return self

    def __str__(self) -> str:
        return f"worst of the last {self.last} of {self.runs} rounds"


class Scenario(Model):
    """A dataset, an ordered list of steps, and the charts to draw of them."""

    name: Slug
    title: Title
    dataset: Identifier
    durability: Tier = Tier.POWER
    worst_of_last: WorstOfLast | None = None
    #: The engine of whose figure each other is told to be so many times.
    yardstick: str | None = None
    steps: tuple[AnyStep, ...] = Field(min_length=1, max_length=_STEPS)
    charts: tuple[AnyChart, ...] = Field(default=(Overview(kind="overview"), Bars(kind="bars")), max_length=_STEPS)


class Published(Model):
    """A published figure of a step: in seconds, in bytes, or in operations a second. None where there is none.

    Those of a step stand in the published order; `note` says why one is missing, or what is to be known of it.
    """

    step: Slug
    engine: Title
    value: Annotated[float, Field(ge=0)] | None
    note: Note = ""


class PublishedRatio(Model):
    """What a text says of a step without a figure: one engine's speed as a multiple of another's."""

    step: Slug
    engine: str
    #: What it was compared with: another engine, or the same under other conditions.
    than: str
    value: Annotated[float, Field(gt=0)]
    note: str = ""


class Source(Model):
    """The published benchmark that a suite reproduces, its figures, and the machine that they are of."""

    title: Title
    year: int
    note: Note = ""
    machine: Title = ""
    figures: tuple[Published, ...] = ()
    ratios: tuple[PublishedRatio, ...] = ()


class Quick(Model):
    """What `--quick` makes of a suite, so that a first look takes three minutes at most. It is the same for all engines.

    `one_process`: as many clients, but all of them threads of one process. `trial_seconds`: a trial that takes longer
    is ended, as a timeout.
    """

    scale: float = Field(default=1.0, gt=0, le=1)
    one_process: bool = False
    trial_seconds: float = Field(default=600, gt=0)

    def __str__(self) -> str:
        clients = ", all clients in one process" if self.one_process else ""
        return f"scale {self.scale:g}{clients}, at most {self.trial_seconds:g} s for a trial"


class Suite(Model):
    """One suite file."""

    dbbench: Literal[1]
    name: Slug
    title: Title
    description: Note
    source: Source | None = None
    quick: Quick | None = None
    datasets: dict[Identifier, Dataset] = Field(min_length=1)
    scenarios: tuple[Scenario, ...] = Field(min_length=1, max_length=_STEPS)

    @property
    def operations(self) -> set[str]:
        """What its steps ask of a session. A load alone is no reason to take part, unless it is all there is."""
        steps = [step for scenario in self.scenarios for step in scenario.steps]
        named = {step.operation for step in steps if step.kind in ("keyvalue", "objects")}
        asked = named.union(*(_OPERATIONS.get(step.kind, ()) for step in steps))
        return asked - {"load"} or asked

    def first_look(self) -> Suite:
        """The suite with its clients as `--quick` has them."""
        if self.quick is None or not self.quick.one_process:
            return self
        scenarios = (
            scenario.model_copy(update={"steps": tuple(map(_in_one_process, scenario.steps))})
            for scenario in self.scenarios
        )
        return self.model_copy(update={"scenarios": tuple(scenarios)})

    def scenario(self, name: str) -> Scenario:
        """A scenario by its name."""
        return next(scenario for scenario in self.scenarios if scenario.name == name)


def _in_one_process(step: AnyStep) -> AnyStep:
    clients = getattr(step, "clients", None)
    return step if clients is None else step.model_copy(update={"clients": Clients(threads=clients.count)})


Condition.model_rebuild()
