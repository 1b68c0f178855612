"""The charts that a scenario asks for."""

from typing import Annotated, Literal

from pydantic import Field

from dbbench.suite.base import Model, Slug, Title

#: What a trade-off is against, unless it is a step.
RECALL = "recall"


class Bars(Model):
    """Best to worst: a bar chart for each step."""

    kind: Literal["bars"]
    steps: tuple[Slug, ...] = Field(default=(), description="All but sizes, if none is named.")
    axis: Literal["auto", "linear", "logarithmic"] = Field(
        default="auto", description="`auto`: logarithmic where figures lie far apart."
    )


class Overview(Model):
    """One table in colour: every engine and step as a multiple of the step's best."""

    kind: Literal["overview"]


class SizeChart(Model):
    """A size in its parts, with the size of the CSV files, or of all keys and values, as a line."""

    kind: Literal["size"]
    step: Slug = Field(description="A size step.")


class Percentiles(Model):
    """p50, p95, p99, p99.9 and the longest call: a chart for each step."""

    kind: Literal["percentiles"]
    steps: tuple[Slug, ...] = Field(default=(), description="All, if none is named.")


class Stacks(Model):
    """Objects in parts: execute, fetch, materialise; to connect and to prepare."""

    kind: Literal["stacks"]
    steps: tuple[Slug, ...] = Field(default=(), description="Steps of objects; all, if none is named.")


class Spans(Model):
    """Two steps as the ends of one bar for each engine; best to worst by the warm one."""

    kind: Literal["spans"]
    title: Title = Field(description="Stands over the chart.")
    cold: Slug = Field(description="A step.")
    warm: Slug = Field(description="A step.")


class Sweep(Model):
    """Throughput over the number of clients: a curve for each engine."""

    kind: Literal["sweep"]
    steps: tuple[Slug, ...] = Field(default=(), description="Sweeps; all, if none is named.")


class Timeline(Model):
    """Calls per second and p99 over the seconds."""

    kind: Literal["timeline"]
    steps: tuple[Slug, ...] = Field(default=(), description="All with a rate or a duration, if none is named.")


class Tradeoff(Model):
    """Throughput, or the figure of steps, against recall or another step.

    A curve for each engine, or a point without a knob; rings about the points that no other beats in both.
    """

    kind: Literal["tradeoff"]
    title: Title = Field(description="Stands over the chart.")
    steps: tuple[Slug, ...] = Field(
        min_length=1,
        description="Of those with several numbers of clients the first is drawn, unless others are named.",
    )
    against: Slug = Field(default=RECALL, description="A step, or `recall`.")


AnyChart = Annotated[
    Bars | Overview | SizeChart | Percentiles | Stacks | Spans | Sweep | Timeline | Tradeoff,
    Field(discriminator="kind"),
]
