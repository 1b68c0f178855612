"""A load."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from dbbench.suite.plain import Dangling, Mapping
from dbbench.suite.steps.base import Step


class LoadStep(Step):
    """All rows of all tables in one transaction, or all texts or vectors; then the indexes.

    With a `share` the first of the texts or vectors: the others are kept back for a step with `adding`.
    """

    kind: Literal["load"]
    share: float = Field(
        default=1, gt=0, le=1, description="Of vectors or texts the first; others are added by a step with `adding`."
    )

    datasets = ("tables", "vectors", "texts")
    summable = True
    required_operations: ClassVar[tuple[str, ...]] = ("load",)
    #: It starts from empty tables.
    needs_data = False
    fills: ClassVar[bool] = True

    @classmethod
    def unfit(cls, step: Mapping, dataset: Mapping) -> Iterator[Dangling]:
        """A share of tables."""
        if "share" in step and not {"vectors", "texts"} & dataset.keys():
            yield ("share",), "no share: a load of tables takes all rows", ()
