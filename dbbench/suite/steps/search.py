"""Texts by their words."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from dbbench.suite.base import Model
from dbbench.suite.dataset import Texts
from dbbench.suite.plain import Dangling, Mapping, mapping
from dbbench.suite.steps.timed import SearchingStep, WarmUp

#: How the words of a query must be in a text: all of them, one or more, one after another; or a word that begins so.
MatchKind = Literal["all", "any", "phrase", "prefix"]
#: What a search returns of a text.
Payload = Literal["keys", "text"]
#: The most texts of a ranked search.
MOST = 1_000
#: The first and the last of the words that are drawn from, by how frequent they are.
Places = tuple[int, int]


class Words(Model):
    """Words of a query."""

    words: int = Field(default=2, ge=1, le=8, description="Their number.")
    among: Places = Field(
        default=(21, 2_000),
        description="Drawn from these places of the vocabulary: 1 is the most frequent, the first 16 are stop words.",
    )

    @model_validator(mode="after")
    def _enough(self) -> Self:
        if not 1 <= self.among[0] <= self.among[1] - self.words:
            raise ValueError(
                "among: the first and the last place, from 1 on, with more words between them than are drawn"
            )
        return self


class Beginning(Words):
    """The first letters of one word."""

    words: int = Field(default=1, ge=1, le=1, description="Their number.")
    letters: int = Field(default=4, ge=1, le=10, description="Their number.")


class Match(Model):
    """The words of a query, by one of these keys."""

    all: Words | None = Field(default=None, description="Texts with all the words.")
    any: Words | None = Field(default=None, description="With one or more of them.")
    phrase: Words | None = Field(default=None, description="With words one after another.")
    prefix: Beginning | None = Field(default=None, description="With a word that begins so.")

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


class SearchStep(SearchingStep):
    """Searches for texts by words, in searches per second; words are drawn for each call."""

    kind: Literal["search"]
    match: Match = Field(description="Which texts.")
    top: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        description="At most this number, the best first; without it all that match, in any order.",
    )
    payload: Payload = Field(default="keys", description="`text`: key and text.")
    warm_up: WarmUp = Field(default=50, description="Calls first that don't count, two seconds at most; or a time.")

    datasets = ("texts",)
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
