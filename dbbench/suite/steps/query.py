"""A query."""

from collections.abc import Iterator, Sequence
from collections.abc import Mapping as ReadOnly
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from dbbench.suite.answer import AnyAnswer, KnownAnswer, SqlAnswer
from dbbench.suite.plain import Dangling, Mapping, mapping
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.sql import SqlStep
from dbbench.suite.transaction_names import no_select


class QueryStep(SqlStep):
    """A query whose rows are all fetched, reading one column of each."""

    kind: Literal["query"]
    read: str = Field(
        default="", description="The column that is read, by its name in the result; the first, if none is named."
    )
    answer: AnyAnswer = Field(
        default=SqlAnswer.model_construct(),
        description="What it must return, if not what the reference returns for `sql`.",
    )
    cache: Literal["warm", "cold"] = Field(
        default="warm", description="`cold`: each call is from a cold start; unsupported on an engine without files."
    )

    required_operations: ClassVar[tuple[str, ...]] = ("query",)

    @model_validator(mode="before")
    @classmethod
    def _not_warmed_up(cls, data: Any) -> Any:
        return {"warm_up": 0, **data} if isinstance(data, dict) and data.get("cache") == "cold" else data

    @model_validator(mode="after")
    def _cold_or_warmed_up(self) -> Self:
        if self.cache == "cold" and self.warm_up:
            raise ValueError("no warm_up where the cache is cold")
        if self.parameters and not isinstance(self.answer, SqlAnswer) and self.answer != "none":
            raise ValueError("an answer by SQL, or none, where there are parameters")
        if self.cache == "cold" and self.parameters:
            raise ValueError("a warm cache where there are parameters")
        if self.cache == "cold" and self.controlled:
            raise ValueError("a warm cache where there are clients, rate, duration, find or ramp_up")
        return self

    @property
    def controlled(self) -> bool:
        """Also where parameters are drawn: the calls are then made as those of other clients are."""
        return bool(self.parameters) or super().controlled

    @property
    def expected_answer(self) -> KnownAnswer | None:
        """The suite's answer; None where engines are only compared with each other, or not at all."""
        return None if isinstance(self.answer, str) else self.answer

    @property
    def ordered(self) -> bool:
        """Whether the order of the rows matters, unless they declare it."""
        return not isinstance(self.answer, str | SqlAnswer) and self.answer.ordered

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns, as far as the suite gives them."""
        return tuple(getattr(self.answer, "columns", ()))

    def read_column(self, answer: Sequence[str] = ()) -> int:
        """The place of the column that is read; `answer` are the names of the answer's columns."""
        name = self.read.rpartition(".")[2].lower()
        names = [each.lower() for each in answer]
        return names.index(name) if name in names else 0

    @property
    def cold(self) -> bool:
        """True if the cache is cold."""
        return self.cache == "cold"

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Tables, parameters, and the column that is read, where the suite names the answer's."""
        yield from super().dangling(step, tables, before)
        yield from no_select(step)
        parameters = mapping(step, "parameters")
        for name in parameters:
            if "counter" in mapping(parameters, name):
                yield ("parameters", name), "a parameter of values that are there; a counter gives new ones", ()
        answer = step.get("answer")
        columns = [name for name in mapping(step.get("answer"), "columns") if isinstance(name, str)]
        by_sql = answer is None or (isinstance(answer, dict) and not {"rows", "file", "engine"} & answer.keys())
        if isinstance(step.get("read"), str) and step["read"] not in columns and not by_sql:
            yield ("read",), "one of the columns that answer.columns names", columns
