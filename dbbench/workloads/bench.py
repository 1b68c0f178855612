"""What a step works on, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from dbbench.datasets.files import Files
from dbbench.engine import Engine, Session
from dbbench.schema import Table
from dbbench.sql import SQLEngine
from dbbench.suite import Check, SqlStep


@dataclass
class Bench:
    """An opened engine with one session, its tables, and the dataset and answers to work with."""

    engine: Engine
    session: Session
    tables: Mapping[str, Table]
    files: Files
    answers: Mapping[str, Path]
    #: Rows in each table, as the steps so far must have left them.
    rows: dict[str, int] = field(default_factory=dict)

    def statement(self, step: SqlStep | Check) -> str:
        """The step's SQL for this engine, names quoted."""
        sql = step.dialects.get(self.engine.dialect, step.sql)
        return self.engine.sql.translate(sql, self.tables) if isinstance(self.engine, SQLEngine) else sql


@dataclass(frozen=True)
class Measured:
    """What a step gave: one block's samples, in `unit`. `value` is the block's own figure, their mean."""

    metric: str
    unit: Literal["s", "B"]
    samples: list[float]
    warm_up: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    direction: Literal["lower", "higher"] = "lower"

    @property
    def value(self) -> float:
        """The mean of the samples."""
        return sum(self.samples) / len(self.samples)
