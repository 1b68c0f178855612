"""The charts that a scenario asks for."""

from typing import Annotated, Literal

from pydantic import Field

from dbbench.suite.base import Model, Slug, Title

#: What a trade-off is against, unless it is a step.
RECALL = "recall"


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


class Sweep(Model):
    """Throughput over the number of clients: a curve for each engine, a chart for each named sweep, or for all."""

    kind: Literal["sweep"]
    steps: tuple[Slug, ...] = ()


class Timeline(Model):
    """Calls and their p99 over the seconds of a step: a curve for each engine.

    One chart for each of the steps named (all with a rate or a duration, if none is).
    """

    kind: Literal["timeline"]
    steps: tuple[Slug, ...] = ()


class Tradeoff(Model):
    """Figures of these steps against the recall of their searches, or against another step's: a curve for each engine.

    A point that no other is better than in both has a ring.
    """

    kind: Literal["tradeoff"]
    title: Title
    steps: tuple[Slug, ...] = Field(min_length=1)
    against: Slug = RECALL


AnyChart = Annotated[
    Bars | Overview | SizeChart | Percentiles | Stacks | Spans | Sweep | Timeline | Tradeoff,
    Field(discriminator="kind"),
]
