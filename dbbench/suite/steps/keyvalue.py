"""One operation on records."""

from typing import Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.steps.timed import TimedStep


class KeyValueStep(TimedStep):
    """One operation on records, per second."""

    kind: Literal["keyvalue"]
    operation: Literal["insert", "read", "update", "delete", "scan", "seek"] = Field(
        description="`scan`: all records, by key where there is an order; `seek`: to a key or the next one."
    )
    count: int | None = Field(
        default=None,
        ge=1,
        description="Records at scale 1; all, if not set. Inserts continue the existing ones; a delete takes the lowest numbers.",
    )
    order: Literal["ascending", "random", "same"] = Field(
        default="ascending",
        description="Of the records' numbers. `random`: each once, a smaller `count` spread over all; `same`: one record always.",
    )
    transaction: int = Field(default=1, ge=1, le=1_000_000, description="Records written and committed at once.")
    affinity: bool = Field(default=False, description="Bind each client's thread to a processor.")
    cache: Literal["warm", "cold"] = Field(default="warm", description="`cold`: one cold start, before the first call.")

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
