"""A query."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as ReadOnly
from typing import Any, Literal

from pydantic import model_validator

from dbbench.suite import answer as answers
from dbbench.suite.answer import Answer, AnyAnswer, KnownAnswer, is_relational
from dbbench.suite.plain import Dangling, Mapping, listed, mapping, sequence
from dbbench.suite.steps.base import Step
from dbbench.suite.steps.sql import SqlStep, no_select


class QueryStep(SqlStep):
    """A query whose cursor is stepped to the end, reading one column (`read`, else the first) of each row.

    Without an answer it is timed and not ranked.
    """

    kind: Literal["query"]
    read: str = ""
    answer: AnyAnswer | None = None
    cache: Literal["warm", "cold"] = "warm"

    @model_validator(mode="before")
    @classmethod
    def _not_warmed_up(cls, data: Any) -> Any:
        return {"warm_up": 0, **data} if isinstance(data, dict) and data.get("cache") == "cold" else data

    @model_validator(mode="after")
    def _cold_or_warmed_up(self) -> QueryStep:
        if self.cache == "cold" and self.warm_up:
            raise ValueError("no warm_up where the cache is cold")
        if self.parameters and not isinstance(self.answer, Answer | None):
            raise ValueError("an answer in relational form, or none, where there are parameters")
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
    def required_operations(self) -> tuple[str, ...]:
        """A query."""
        return ("query",)

    @property
    def expected_answer(self) -> KnownAnswer | None:
        """As the suite says, if the rows are known before the run, as they aren't where parameters are drawn."""
        return None if isinstance(self.answer, str) or self.parameters else self.answer

    @property
    def ordered(self) -> bool:
        """Whether the order of the rows matters."""
        if isinstance(self.answer, Answer):
            return bool(self.answer.order_by)
        return self.answer is not None and not isinstance(self.answer, str) and self.answer.ordered

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the answer's columns, as far as the suite says."""
        if isinstance(self.answer, Answer):
            return self.answer.select
        return tuple(getattr(self.answer, "columns", ()))

    @property
    def read_column(self) -> int:
        """The place of the column that is read."""
        return self.columns.index(self.read) if self.read else 0

    @property
    def cold(self) -> bool:
        """As the suite says."""
        return self.cache == "cold"

    @classmethod
    def dangling(cls, step: Mapping, tables: Mapping, before: ReadOnly[str, type[Step]]) -> Iterator[Dangling]:
        """Tables, the columns of the answer, and the one that is read."""
        yield from super().dangling(step, tables, before)
        yield from no_select(step)
        answer = mapping(step, "answer")
        if is_relational(answer):
            yield from answers.dangling(answer, tables, ("answer",))
        parameters = mapping(step, "parameters")
        for place, name in answers.parameters_of(step.get("answer"), ("answer",)) if parameters else ():
            if name not in parameters:
                yield place, f"one of the parameters {listed(parameters)}", [f":{each}" for each in parameters]
        for name in parameters:
            if "counter" in mapping(parameters, name):
                yield ("parameters", name), "a parameter of values that are there; a counter gives new ones", ()
        selected = [name for name in sequence(answer, "select") or mapping(answer, "columns") if isinstance(name, str)]
        if isinstance(step.get("read"), str) and step["read"] not in selected and (selected or not answer.get("table")):
            named = "select" if is_relational(answer) else "columns"
            yield ("read",), f"one of the columns that answer.{named} names", selected
