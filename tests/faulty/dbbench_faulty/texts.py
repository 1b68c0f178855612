"""Searches for texts that lie, in a way each."""

import threading
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from dbbench_faulty.right import TextFile


class Fewer(TextFile):
    """Leaves a text out where there are more than four."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        found = super().matching(match, words)
        return found[:-1] if len(found) > 4 else found


class Limited(TextFile):
    """Finds 20 texts at most, as some do by default."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching(match, words)[:20]


class AnyForAll(TextFile):
    """Needs any of the words where all are asked for."""

    clause = "finds texts with all words"

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching("any" if match == "all" else match, words)


class Order(TextFile):
    """Takes words in any order for a phrase."""

    clause = "finds a phrase in its order"

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching("all" if match == "phrase" else match, words)


class Whole(TextFile):
    """Takes a prefix for a whole word."""

    clause = "finds words that begin so"

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching("any" if match == "prefix" else match, words)


class Cached(TextFile):
    """Keeps an answer, and gives it to the next query too."""

    calls, kept = 0, ()

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        self.calls += 1
        if self.calls % 2:
            self.kept = super().search(match, words, top, payload)
        return self.kept


class Tired(TextFile):
    """Answers the first searches rightly, and later ones from the first of the words."""

    calls = 0

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        self.calls += 1
        return super().search(match, words if self.calls < 200 else words[:1], top, payload)


class Crowded(TextFile):
    """Answers from the first of the words where other threads call than the first."""

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        alone = threading.current_thread() is threading.main_thread()
        return super().search(match, words if alone else words[:1], top, payload)


class Doubled(TextFile):
    """Returns a key twice."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        found = super().matching(match, words)
        return found + found[:1]


class Stems(TextFile):
    """Finds other forms of a word too."""

    clause = "makes no word another"

    def matches(self, match: str, words: list[str], text: str) -> bool:
        stems = {word.removesuffix("s") for word in words}
        other = match == "any" and any(word.removesuffix("s") in stems for word in self.words(text))
        return other or super().matches(match, words, text)


class Stops(TextFile):
    """Leaves out what it takes for a stop word."""

    clause = "leaves no word out"

    def words(self, text: str) -> frozenset[str]:
        return super().words(text) - {"the", "of", "and", "to", "in"}


class Unranked(TextFile):
    """Returns any ten for the best ten."""

    clause = "ranks the best first"

    def score(self, words: list[str], text: str) -> float:
        return crc32(text.encode())


class Others(TextFile):
    """Returns each key with the text of the next one."""

    clause = "returns texts"

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        found = super().search(match, words, top, "keys")
        return [(key, self.texts[max(key - 1, 1)]) for key in found] if payload == "text" else found


class Lazy(TextFile):
    """Searches when its answer is looked at, when the clock has stopped."""

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        return (each for _ in range(1) for each in TextFile.search(self, match, words, top, payload))


class Loses(TextFile):
    """Loads nine of ten texts."""

    def add(self, rows: Any) -> None:
        super().add([row for row in rows if row[0] % 10])


class Undead(TextFile):
    """Deletes nothing."""

    clause = "removes texts"

    def remove(self, keys: Sequence[int]) -> None:
        """Say that it is done."""


class Ghosts(TextFile):
    """Deletes texts, and leaves half of them in the index."""

    def remove(self, keys: Sequence[int]) -> None:
        super().remove(keys[::2])


class Overdoes(TextFile):
    """Deletes the next text, too."""

    def remove(self, keys: Sequence[int]) -> None:
        super().remove([*keys, *(key + 1 for key in keys)])


class Mislays(TextFile):
    """Takes nine of ten texts that are added later."""

    def append(self, keys: Sequence[int], texts: Sequence[str]) -> None:
        self.add(pair for pair in zip(keys, texts, strict=True) if pair[0] % 10)


class Later(TextFile):
    """Says that texts are there before they are."""

    def append(self, keys: Sequence[int], texts: Sequence[str]) -> None:
        threading.Timer(1, super().append, (keys, texts)).start()
