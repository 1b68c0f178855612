"""Searches for texts: an honest one over an inverted index, and others that lie in a way each."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import Any, ClassVar

from dbbench.engine import Concurrency, Engine, LoadPart, Publication, Session, Tier
from dbbench_faulty.family import Named


class WordsSession(Session):
    def __init__(self, engine: "Words") -> None:
        self.engine = engine

    def begin_load(self, tables: Any) -> None: ...

    def prepare_load(self, name: str, table: Any) -> Callable[[Any], object]:
        return self.engine.add

    def prepare_finish(self, tables: Any) -> Mapping[LoadPart, Callable[[], object]]:
        return {}

    def prepare_text_index(self) -> Callable[[], object]:
        return lambda: None

    def prepare_append_texts(self) -> Callable[[Sequence[int], Sequence[str]], object]:
        return self.engine.append

    def prepare_remove_texts(self) -> Callable[[Sequence[int]], object]:
        return self.engine.remove

    def prepare_search(self, match: str, *, top: int | None, payload: str) -> Callable[[Sequence[str]], Any]:
        return lambda words: self.engine.search(match, list(words), top, payload)


class Words(Named, Engine):
    """Word -> the keys of the texts that have it, and how often."""

    license = "none"
    publication = Publication.ALLOWED
    session_class: ClassVar = WordsSession
    concurrency = Concurrency(threads=None)
    durability: ClassVar = {Tier.MEMORY: {}}

    @classmethod
    def versions(cls) -> dict[str, str]:
        return {"texts": "1"}

    def create(self, tables: Any) -> None:
        self.texts: dict[int, str] = {}
        self.index: dict[str, dict[int, int]] = defaultdict(dict)

    def connect(self) -> Session:
        return self.session_class(self)

    def add(self, rows: Any) -> None:
        for key, text in rows:
            self.texts[key] = text
            for word, count in Counter(text.split(" ")).items():
                self.index[word][key] = count

    def append(self, keys: Sequence[int], texts: Sequence[str]) -> None:
        self.add(zip(keys, texts, strict=True))

    def remove(self, keys: Sequence[int]) -> None:
        for key in keys:
            for word in {*self.texts.pop(key, "").split(" ")} - {""}:
                del self.index[word][key]

    def matching(self, match: str, words: list[str]) -> list[int]:
        if match == "prefix":
            words = [word for word in self.index if word.startswith(words[0])]
        having = [[*self.index[word]] for word in words if word in self.index]  # others may be added meanwhile
        if match in ("any", "prefix"):
            return list(set().union(*having))
        keys = set(having[0]).intersection(*having[1:]) if having else set()
        return [key for key in keys if match == "all" or self.follow(words, self.texts[key])]

    def follow(self, words: list[str], text: str) -> bool:
        return f" {' '.join(words)} " in f" {text} "

    def score(self, words: list[str], key: int) -> float:
        mean = 80
        total = 0.0
        for word in words:
            often = self.index[word].get(key, 0)
            norm = 1.2 * (0.25 + 0.75 * len(self.texts[key].split(" ")) / mean)
            total += log(1 + len(self.texts) / (1 + len(self.index[word]))) * often * 2.2 / (often + norm)
        return total

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        found = self.matching(match, words)
        if top:
            found = sorted(found, key=lambda key: self.score(words, key), reverse=True)[:top]
        return [(key, self.texts[key]) for key in found] if payload == "text" else found


class Honest(Words):
    """Does what it says."""


class Fewer(Words):
    """Leaves a text out where there are more than four."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        found = super().matching(match, words)
        return found[:-1] if len(found) > 4 else found


class Limited(Words):
    """Finds 20 texts at most, as some do by default."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching(match, words)[:20]


class AnyForAll(Words):
    """Needs any of the words where all are asked for."""

    name = "words-any"

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching("any" if match == "all" else match, words)


class Order(Words):
    """Takes words in any order for a phrase."""

    def follow(self, words: list[str], text: str) -> bool:
        return True


class Whole(Words):
    """Takes a prefix for a whole word."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        return super().matching("any" if match == "prefix" else match, words)


class Cached(Words):
    """Keeps an answer, and gives it to the next query too."""

    calls, kept = 0, ()

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        self.calls += 1
        if self.calls % 2:
            self.kept = super().search(match, words, top, payload)
        return self.kept


class Tired(Words):
    """Answers the first searches rightly, and later ones from the first of the words."""

    calls = 0

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        self.calls += 1
        return super().search(match, words if self.calls < 200 else words[:1], top, payload)


class Crowded(Words):
    """Answers from the first of the words where other threads call than the first."""

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        alone = threading.current_thread() is threading.main_thread()
        return super().search(match, words if alone else words[:1], top, payload)


class Doubled(Words):
    """Returns a key twice."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        found = super().matching(match, words)
        return found + found[:1]


class Stems(Words):
    """Finds other forms of a word too."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        forms = [word for word in self.index if word in words or word.removesuffix("s") in words]
        return super().matching(match, forms if match == "any" else words)


class Stops(Words):
    """Leaves out what it takes for a stop word."""

    def matching(self, match: str, words: list[str]) -> list[int]:
        known = [word for word in words if word not in ("the", "of", "and", "to", "in")]
        return super().matching(match, known)


class Unranked(Words):
    """Returns any ten for the best ten."""

    def score(self, words: list[str], key: int) -> float:
        return key * 2_654_435_761 % 2**32


class Others(Words):
    """Returns each key with the text of the next one."""

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        found = super().search(match, words, top, "keys")
        return [(key, self.texts[max(key - 1, 1)]) for key in found] if payload == "text" else found


class Lazy(Words):
    """Searches when its answer is looked at, when the clock has stopped."""

    def search(self, match: str, words: list[str], top: int | None, payload: str) -> Any:
        return (each for _ in range(1) for each in Words.search(self, match, words, top, payload))


class Loses(Words):
    """Loads nine of ten texts."""

    def add(self, rows: Any) -> None:
        super().add([row for row in rows if row[0] % 10])


class Undead(Words):
    """Deletes nothing."""

    def remove(self, keys: Sequence[int]) -> None:
        """Say that it is done."""


class Ghosts(Words):
    """Deletes texts, and leaves half of them in the index."""

    def remove(self, keys: Sequence[int]) -> None:
        super().remove(keys[::2])


class Overdoes(Words):
    """Deletes the next text, too."""

    def remove(self, keys: Sequence[int]) -> None:
        super().remove([*keys, *(key + 1 for key in keys)])


class Mislays(Words):
    """Takes nine of ten texts that are added later."""

    def append(self, keys: Sequence[int], texts: Sequence[str]) -> None:
        self.add(pair for pair in zip(keys, texts, strict=True) if pair[0] % 10)


class Later(Words):
    """Says that texts are there before they are."""

    def append(self, keys: Sequence[int], texts: Sequence[str]) -> None:
        threading.Timer(0.2, super().append, (keys, texts)).start()
