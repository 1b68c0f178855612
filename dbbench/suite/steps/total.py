"""A sum of other steps' times."""

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Literal

from pydantic import Field

from dbbench.suite.base import Slug
from dbbench.suite.plain import Dangling, Mapping, listed, sequence
from dbbench.suite.steps.base import Step


class TotalStep(Step):
    """The sum of the times of steps before it."""

    kind: Literal["total"]
    of: tuple[Slug, ...] = Field(
        min_length=2,
        description="Two or more of the kinds `load`, `churn`, `delete`, `query`, `statement` and `contention`.",
    )

    needs_data = False
    leaves_tables_empty = True

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """The steps that it adds up."""
        names = [name for name, kind in before.items() if kind.summable]
        for number, name in enumerate(sequence(step, "of")):
            if isinstance(name, str) and name not in names:
                expected = f"one of the steps before it that take seconds: {listed(names) or 'none'}"
                yield ("of", number), expected, names
