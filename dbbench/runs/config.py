"""A configuration file: variants and gates of one's own for every suite. TOML, and data only.

It is read only where the user names it. A file that lay in the current folder might be anyone's, and would change the
figures of a run in silence.
"""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from dbbench.engine import variants as names
from dbbench.errors import UserError
from dbbench.host import plain_file
from dbbench.message import cleaned, did_you_mean
from dbbench.suite.base import Model
from dbbench.suite.model import Variant, VariantName

#: More than anyone writes.
_MOST_BYTES = 2**20


class Config(Model):
    """What a configuration file holds."""

    variants: dict[VariantName, Variant] = Field(default={}, max_length=100)
    #: NEW/OLD -> STEP, or "*" for all others -> SHARE or SHARE:METRIC, as `--gate` has them.
    gates: dict[str, dict[str, str]] = Field(default={}, max_length=100)

    @property
    def gate_texts(self) -> list[str]:
        """The gates as texts, as the command line gives them."""
        return [
            f"{pair}:{share}" if step == "*" else f"{pair}:{step}:{share}"
            for pair, shares in self.gates.items()
            for step, share in shares.items()
        ]


def read(path: Path) -> Config:
    """The configuration in a file. Raises UserError with every fault and its place."""
    try:
        document = tomllib.loads(plain_file.read(path.resolve(), _MOST_BYTES).decode("utf-8"))
    except OSError as exc:
        raise UserError(f"{path} can't be read: {exc.strerror or exc}") from exc
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as exc:
        raise UserError(f"{path} is not TOML: {cleaned(str(exc), 300)}") from exc
    try:
        config = Config.model_validate(document)
    except ValidationError as exc:
        faults = [_worded(error) for error in exc.errors()]
        raise UserError("; ".join([f"{path}: {faults[0]}", *faults[1:5]])) from exc
    names.check(config.variants)
    return config


def _worded(error: Any) -> str:
    """One fault: where, and what is wrong. An unknown key with the known one that is most like it."""
    place = [str(part) for part in error["loc"] if part != "[key]"]
    where = cleaned(".".join(place), 200)
    if error["type"] != "extra_forbidden":
        return f"{where}: {cleaned(error['msg'].removeprefix('Value error, '), 300)}"
    known = (Config if len(place) == 1 else Variant).model_fields
    others = f"; it may be {', '.join(known)}"
    return f"{where}: there is no such key{did_you_mean(place[-1], known) or others}"
