"""Texts by their words."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from dbbench.suite.base import Model
from dbbench.suite.dataset import Texts
from dbbench.suite.plain import Dangling, Mapping, mapping
from dbbench.suite.steps.timed import TimedStep, WarmUp

#: How the words of a query must be in a text: all of them, one or more, one after another; or a word that begins so.
MatchKind = Literal["all", "any", "phrase", "prefix"]
#: What a search returns of a text.
Payload = Literal["keys", "text"]
#: The most texts of a ranked search.
MOST = 1_000
#: The first and the last of the words that are drawn from, by how frequent they are.
Places = tuple[int, int]


class Words(Model):
    """Words of a query, drawn from those with these places in the vocabulary: 1 is the most frequent word's."""

    words: int = Field(default=2, ge=1, le=8)
    among: Places = (21, 2_000)

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if not 1 <= self.among[0] <= self.among[1] - self.words:
            raise ValueError(
                "among: the first and the last place, from 1 on, with more words between them than are drawn"
            )
        return self


class Beginning(Words):
    """The first `letters` of a word drawn alike."""

    words: int = Field(default=1, ge=1, le=1)
    letters: int = Field(default=4, ge=1, le=10)


class Match(Model):
    """The words of a query, and how they must be in a text. A phrase is of words that a text has one after another."""

    all: Words | None = None
    any: Words | None = None
    phrase: Words | None = None
    prefix: Beginning | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(each is not None for _, each in self) != 1:
            raise ValueError("one of all, any, phrase and prefix")
        return self

    @property
    def kind(self) -> MatchKind:
        """How the words must be in a text."""
        return next(kind for kind in get_args(MatchKind) if getattr(self, kind))

    @property
    def drawn(self) -> Words:
        """The words."""
        found: Words = getattr(self, self.kind)
        return found


class SearchStep(TimedStep):
    """Searches for texts by words, in searches per second, for a second unless it says how long.

    `match` says which texts; `top` how many of them, the best first, or all in any order. The `payload` is what a
    search returns of each: its key, or key and text. The words of each call are drawn anew, the same for every engine.
    """

    kind: Literal["search"]
    match: Match
    top: int | None = Field(default=None, ge=1, le=MOST)
    payload: Payload = "keys"
    warm_up: WarmUp = 50

    datasets = ("texts",)
    unit = "1/s"
    counts = "searches"
    required_operations: ClassVar[tuple[str, ...]] = ("search",)

    def over_hosts(self, hosts: int) -> Self:
        """The step itself: other hosts don't have the texts."""
        return self

    @classmethod
    def unfit(cls, step: Mapping, dataset: Mapping) -> Iterator[Dangling]:
        """Words that the vocabulary doesn't have."""
        texts = mapping(dataset, "texts")
        size: Any = None if texts.get("file") else texts.get("vocabulary", Texts.model_fields["vocabulary"].default)
        for kind, words in mapping(step, "match").items():
            among = mapping({"": words}, "").get("among", Words.model_fields["among"].default)
            last = among[-1] if isinstance(among, list | tuple) and among else None
            if isinstance(last, int) and isinstance(size, int) and last > size:
                yield ("match", str(kind), "among"), f"places up to {size:,}, the words of its dataset's vocabulary", ()
