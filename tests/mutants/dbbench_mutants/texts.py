"""Faults in searches for texts."""

import gc

from dbbench_mutants.right import TextClient, TextFile


class AnyForAll(TextFile):
    clause = "finds texts with all words"

    def matches(self, match, words, text):
        return super().matches("any" if match == "all" else match, words, text)


class FirstWord(TextFile):
    clause = "finds texts with any word"

    def matches(self, match, words, text):
        return super().matches(match, words[:1] if match == "any" else words, text)


class AnyOrder(TextFile):
    clause = "finds a phrase in its order"

    def matches(self, match, words, text):
        return super().matches("all" if match == "phrase" else match, words, text)


class WholeWords(TextFile):
    clause = "finds words that begin so"

    def matches(self, match, words, text):
        return super().matches("any" if match == "prefix" else match, words, text)


class StopWords(TextFile):
    clause = "leaves no word out"

    def words(self, text):
        return [word for word in super().words(text) if word != "the"]


class Stems(TextFile):
    clause = "makes no word another"

    def matches(self, match, words, text):
        stem = (word.removesuffix("s") for word in words)
        return super().matches("prefix", [*stem], text) if match == "any" else super().matches(match, words, text)


class ByKey(TextFile):
    clause = "ranks the best first"

    def score(self, words, text):
        return 0


class OtherTexts(TextFile):
    clause = "returns texts"

    def given(self, found, payload):
        texts = [text for _, text in found]
        return super().given(
            [(key, text) for (key, _), text in zip(found, texts[1:] + texts[:1], strict=True)], payload
        )


class LastPiece(TextFile):
    clause = "loads texts in pieces"

    class session_class(TextClient):
        def prepare_load(self, name, table):
            def insert(rows):
                self.engine.held[:] = rows

            return insert


class NeverSaves(TextFile):
    clause = "keeps texts"

    def save(self):
        self.file.write_text("[]")


class KeepsSome(TextFile):
    clause = "removes texts"

    def remove(self, keys):
        super().remove(keys[::2])


class Refreshes(TextFile):
    clause = "appends texts"

    class session_class(TextClient):
        def prepare_search(self, match, *, top, payload):
            seen, search = {key for key, _ in self.engine.held}, super().prepare_search(match, top=top, payload=payload)
            return lambda words: [key for key in search(words) if key in seen]


class Buried(TextFile):
    clause = "appends texts that were removed"
    gone = ()

    def remove(self, keys):
        self.gone = keys
        super().remove(keys)

    def append(self, keys, texts):
        new = [place for place, key in enumerate(keys) if key not in self.gone]
        super().append([keys[place] for place in new], [texts[place] for place in new])


class Forgets(TextFile):
    clause = "keeps removed and appended texts"

    def remove(self, keys):
        self.held[:] = [each for each in self.held if each[0] not in {*keys}]


class TimedOnly(TextFile):
    clause = "runs a whole trial of texts"

    def given(self, found, payload):
        return super().given(found if gc.isenabled() else found[1:], payload)
