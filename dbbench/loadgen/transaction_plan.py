"""Transactions as plain data: their statements, with the parameters that are drawn for each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dbbench.suite.parameters import Parameter


@dataclass(frozen=True)
class Text:
    """A statement for the engine: the pieces between its parameters, with names quoted, and the parameters' names."""

    pieces: Sequence[str]
    names: Sequence[str]
    row: Sequence[str]
    missing: str
    reads: bool

    @property
    def wanted(self) -> int | None:
        """What of its rows is fetched, as `prepare_call` takes it: none, the first, or all."""
        return 1 if self.row else None if self.reads else 0


@dataclass(frozen=True)
class Group:
    """Statements that are carried out `repeat` times, or as often as that parameter says. Once, if it is None."""

    repeat: int | str | None
    parameters: Mapping[str, Parameter]
    statements: Sequence[Text]


@dataclass(frozen=True)
class Plan:
    """One of the transactions. The parameters of a group that isn't repeated are the transaction's own, and stand here."""

    name: str
    weight: float
    parameters: Mapping[str, Parameter]
    groups: Sequence[Group]
    only_reads: bool
    #: How long the client thinks after it: seconds that are always the same, and the mean and the most of those that
    #: are drawn by a negative exponential distribution.
    think: Sequence[float] = (0.0, 0.0, 0.0)

    @property
    def repeated(self) -> list[Group]:
        """The groups that are repeated."""
        return [group for group in self.groups if group.repeat is not None]

    @property
    def may_roll_back(self) -> bool:
        """Whether the suite wants some of its calls to be rolled back."""
        return any(text.missing == "rollback" for group in self.groups for text in group.statements)
