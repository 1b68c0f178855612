"""One operation on records."""

from typing import Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.steps.timed import TimedStep


class KeyValueStep(TimedStep):
    """One operation on records, one call after another, in operations per second.

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
    affinity: bool = False
    cache: Literal["warm", "cold"] = "warm"

    datasets = ("records",)
    unit = "1/s"
    calls_key = "count"

    @property
    def required_operations(self) -> tuple[str, ...]:
        """Its operation."""
        return (self.operation,)

    @property
    def fills(self) -> bool:
        """True if the operation writes."""
        return self.operation in ("insert", "update", "delete")

    @property
    def cold(self) -> bool:
        """True if the cache is cold."""
        return self.cache == "cold"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.cold and self.timed:
            raise ValueError("no warm_up, rate, duration, ramp_up or find where the cache is cold")
        if self.transaction > 1 and not self.fills:
            raise ValueError("no transaction for a step that writes nothing")
        if self.operation == "scan" and (self.clients.count > 1 or self.order != "ascending" or self.count):
            raise ValueError("a scan of everything, by one client, without count and order")
        if self.timed and self.operation in ("delete", "scan"):
            what = "a record can be deleted once" if self.operation == "delete" else "a scan is one call"
            raise ValueError(f"no warm_up, rate, duration, ramp_up or find: {what}")
        if self.timed and self.operation == "insert" and self.order != "ascending":
            raise ValueError("order ascending, where it isn't `count` that says how many are inserted")
        if self.timed and self.order == "same" and self.operation == "update" and self.clients.count > 1:
            raise ValueError("one client, where it isn't `count` that says how often one record is updated")
        if self.order == "same" and self.operation not in ("read", "seek", "update"):
            raise ValueError("order ascending or random: one record can't be inserted or deleted twice")
        return self
