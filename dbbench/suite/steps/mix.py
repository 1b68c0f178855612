"""A mix of operations on records."""

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.steps.timed import TimedStep


class MixStep(TimedStep):
    """Operations on records drawn at random, per second."""

    kind: Literal["mix"]
    operations: int | None = Field(
        default=None, ge=1, description="Calls in all at scale 1; required without a `rate`, `duration` or `find`."
    )
    weights: dict[Literal["read", "update", "insert", "scan", "modify"], float] = Field(
        min_length=1,
        description="Of `read`, `update`, `insert`, `scan` and `modify`. `scan`: up to `scan_length` records from a key on; `modify`: a read, then an update.",
    )
    keys: Literal["uniform", "zipfian", "latest"] = Field(
        default="zipfian", description="`zipfian`: a few are far more popular; `latest`: the newest are."
    )
    scan_length: int = Field(
        default=100, ge=1, le=10_000, description="The maximum of a scan's records; its length is drawn evenly from 1."
    )

    datasets = ("records",)
    unit = "1/s"
    calls_key = "operations"
    #: All that a mix may have, whatever this one's weights.
    required_operations: ClassVar[tuple[str, ...]] = ("read", "update", "insert", "range")
    fills: ClassVar[bool] = True

    @model_validator(mode="after")
    def _positive(self) -> Self:
        if min(self.weights.values()) <= 0:
            raise ValueError("weights above 0")
        if self.operations is None and not (self.seconds or self.find):
            raise ValueError("how many operations there are, or a rate, duration or find")
        if self.find and self.clients.count > 1 and "insert" in self.weights:
            raise ValueError("no inserts, or one client, where a search makes the mix again and again")
        return self
