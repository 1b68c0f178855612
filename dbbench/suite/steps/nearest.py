"""The nearest vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from dbbench.suite.base import HIDDEN, Model
from dbbench.suite.dataset import Vectors
from dbbench.suite.plain import Dangling, Mapping, listed, mapping, sequence
from dbbench.suite.steps.timed import SearchingStep, WarmUp

#: The most neighbours that a step may ask for: the distances that are kept of each query.
MOST = 100
#: The share of the queries that an effort is chosen on, and the fewest; the fewest that each recall is timed with.
_TUNING, _FEWEST, _TIMED = 10, 100, 500


def dealt(queries: int, recalls: int) -> tuple[int, int]:
    """How many queries an effort is chosen on, and how many are timed for each recall."""
    tuning = max(_FEWEST, queries // _TUNING)
    return tuning, (queries - tuning) // recalls


class Where(Model):
    """What neighbours must have."""

    label: float = Field(gt=0, lt=1, description="A label, by its share.")


def _listed(recall: Any) -> Any:
    """One recall is a list of one."""
    return [recall] if isinstance(recall, int | float) and not isinstance(recall, bool) else recall


_RECALL = {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
Recalls = Annotated[
    tuple[Annotated[float, Field(gt=0, le=1)], ...],
    BeforeValidator(_listed),
    Field(min_length=1, max_length=20),
    WithJsonSchema({"anyOf": [_RECALL, {"type": "array", "items": _RECALL, "minItems": 1, "maxItems": 20}]}),
]


class NearestStep(SearchingStep):
    """Searches for the nearest vectors, in searches per second at equal recall."""

    kind: Literal["nearest"]
    k: int = Field(default=10, ge=1, le=MOST, description="Neighbours.")
    recall: Recalls = Field(
        default=(0.95,),
        description="Each engine gets the least effort that reaches it; a list is a step for each: `NAME-90`, ...",
    )
    where: Where | None = Field(default=None, description="The neighbours are among these.")
    queries: Literal["inside", "outside"] = Field(
        default="inside", description="`outside`: those from outside of the distribution."
    )
    warm_up: WarmUp = Field(default=100, description="Calls first that don't count, two seconds at most; or a time.")
    #: The name and recalls of the step that this one was made from.
    tuned: str | None = Field(default=None, json_schema_extra=HIDDEN)
    recalls: tuple[float, ...] = Field(default=(), json_schema_extra=HIDDEN)

    datasets = ("vectors",)
    required_operations: ClassVar[tuple[str, ...]] = ("nearest",)

    @property
    def target(self) -> float:
        """The recall to reach."""
        return self.recall[0]

    def expanded(self) -> tuple[NearestStep, ...]:
        """A step for each recall, where there are several, and for each number of clients."""
        if len(self.recall) == 1:
            return super().expanded()
        each = [
            self.model_copy(update={
                "recall": (recall,), "recalls": self.recall, "tuned": self.name, "name": _named(self.name, recall),
                "title": f"{self.title}, recall {recall:g}",
            })
            for recall in self.recall
        ]  # fmt: skip
        return tuple(one for step in each for one in step.expanded())

    def over_hosts(self, hosts: int) -> NearestStep:
        """The step itself: other hosts don't have the vectors."""
        return self

    @classmethod
    def names(cls, step: Mapping) -> list[str]:
        """A name for each recall, where there are several, and number of clients."""
        recalls = [each for each in sequence(step, "recall") if isinstance(each, int | float)]
        named = str(step.get("name"))
        each = [_named(named, recall) for recall in recalls] if len(recalls) > 1 else [named]
        return [one for name in each for one in super(NearestStep, cls).names({**step, "name": name})]

    @classmethod
    def unfit(cls, step: Mapping, dataset: Mapping) -> Iterator[Dangling]:
        """More neighbours than vectors, a label that none has, queries that aren't drawn."""
        vectors = mapping(dataset, "vectors")
        k, count = step.get("k", cls.model_fields["k"].default), vectors.get("count")
        queries, recalls = vectors.get("queries", Vectors.model_fields["queries"].default), step.get("recall")
        number = len(recalls) if isinstance(recalls, list | tuple) and recalls else 1
        if isinstance(queries, int) and dealt(queries, number)[1] < _TIMED:
            yield (
                ("recall",),
                f"{_TIMED} timed queries or more for each, but {queries:,} in its dataset are too few",
                (),
            )
        if isinstance(k, int) and isinstance(count, int) and k > count:
            yield ("k",), f"at most {count:,}, as many as there are vectors", ()
        label = mapping(step, "where").get("label")
        if isinstance(label, int | float) and label not in (known := sequence(vectors, "labels")):
            yield (
                ("where", "label"),
                f"one of the shares in its dataset's labels: {listed(known) or 'there is none'}",
                (),
            )
        if step.get("queries") == "outside" and vectors.get("outside") is not True:
            yield ("queries",), "inside, or `outside: true` in its dataset", ()


def _named(name: str, recall: float) -> str:
    """The name of a step for one recall: 0.995 makes it end in 99-5."""
    return f"{name}-{100 * recall:g}".replace(".", "-")
