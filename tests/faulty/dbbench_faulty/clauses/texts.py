"""Faults in searches for texts, besides the lies about them."""

import gc

from dbbench_faulty.right import TextClient, TextFile
from dbbench_faulty.shared import mutant


class FirstWord(TextFile):
    clause = "finds texts with any word"

    def matches(self, match, words, text):
        return super().matches(match, words[:1] if match == "any" else words, text)


class TextsOfMost(TextFile):
    clause = "returns texts"

    def search(self, match, words, top, payload):
        return super().search(match, words, top, payload)[payload == "text" :]


class LastPiece(TextFile):
    clause = "loads texts in pieces"

    def add(self, rows):
        self.texts = dict(rows)


class NeverSaves(TextFile):
    clause = "keeps texts"

    def save(self):
        pass


@mutant(TextFile, "appends texts")
class Refreshes(TextClient):
    def prepare_search(self, match, *, top, payload):
        seen, search = self.engine.texts, super().prepare_search(match, top=top, payload=payload)
        return lambda words: [key for key in search(words) if key in seen]


class Buried(TextFile):
    clause = "appends texts that were removed"
    gone = ()

    def remove(self, keys):
        self.gone = keys
        super().remove(keys)

    def add(self, rows):
        super().add((key, text) for key, text in rows if key not in self.gone)


class Forgets(TextFile):
    clause = "keeps removed and appended texts"

    def remove(self, keys):
        kept = self.file.read_bytes()
        super().remove(keys)
        self.file.write_bytes(kept)


class TimedOnly(TextFile):
    clause = "runs a whole trial of texts"

    def matching(self, match, words):
        found = super().matching(match, words)
        return found if gc.isenabled() else found[1:]
