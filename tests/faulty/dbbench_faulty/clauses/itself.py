"""Faults in what an engine says of itself, and in what it leaves behind."""

import subprocess
from dataclasses import replace

from pydantic import ConfigDict, Field

from dbbench.engine import Options, Session, Tier, Unsupported
from dbbench_faulty.right import Store

#: Held until the tests end them.
LEFT = []


class Licence(Store):
    clause = "says what it is"
    license = ""


class Versions(Store):
    clause = "tells its versions"

    @classmethod
    def versions(cls):
        return {}


class Nothing(Store):
    clause = "offers an operation"
    session_class = Session


class Denies(Store):
    clause = "calls impossible only what it does not offer"
    unsupported_reasons = {"read": "it can't"}


class Lacks(Store):
    clause = "says what it lacks"
    missing_features = {"transactions": ""}


class NoTier(Store):
    clause = "gives at least one tier"
    durability = {}


class IgnoresTier(Store):
    clause = "gives a tier or refuses it"

    def info(self):
        return replace(super().info(), tier=Tier.PROCESS)


class RefusesTier(Store):
    clause = "gives a tier or refuses it"

    def open(self):
        if self.tier is Tier.PROCESS:
            raise Unsupported("not today: process")
        super().open()


class AnyOption(Options):
    model_config = ConfigDict(extra="ignore")


class Lax(Store):
    clause = "refuses an unknown option"
    options_class = AnyOption


class BareOptions(Options):
    cache: int = Field(default=1)


class Unexplained(Store):
    clause = "explains its options"
    options_class = BareOptions


class Settings(Store):
    clause = "tells its settings as json"

    def settings(self):
        return {"tier": object()}


class Overwrites(Store):
    clause = "opens without changing what its class says"

    def open(self):
        super().open()
        self.ordered = False


class OverwritesItsClass(Store):
    clause = "opens without changing what its class says"

    def open(self):
        super().open()
        type(self).title += ", opened"


class Process(Store):
    clause = "leaves no process and no open file"

    def open(self):
        super().open()
        LEFT.append(subprocess.Popen(["sleep", "60"]))


class OpenFile(Store):
    clause = "leaves no process and no open file"

    def open(self):
        super().open()
        LEFT.append((self.directory / "data.db").open("rb"))
