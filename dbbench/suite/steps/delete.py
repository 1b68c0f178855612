"""Vectors or texts deleted."""

from typing import ClassVar, Literal

from pydantic import Field

from dbbench.suite.steps.base import Step


class DeleteStep(Step):
    """A share of the vectors or texts that are there, drawn from the seed, deleted `batch` at a time.

    Searches after it must not return them.
    """

    kind: Literal["delete"]
    share: float = Field(default=0.1, gt=0, lt=1, description="Of those that are there.")
    batch: int = Field(default=100, ge=1, le=100_000, description="Deleted in one call.")

    datasets = ("vectors", "texts")
    summable = True
    required_operations: ClassVar[tuple[str, ...]] = ("remove", "remove_texts")
    fills: ClassVar[bool] = True
