"""What `--set` and `--sweep` say, and whether the engines have such options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dbbench.did_you_mean import did_you_mean
from dbbench.engine.probe import Probed
from dbbench.errors import UserError


def parse_settings(settings: Sequence[str]) -> dict[str, dict[str, str]]:
    """`ENGINE.OPTION=VALUE` texts as engine -> option -> value. Raises UserError."""
    options: dict[str, dict[str, str]] = {}
    for text in settings:
        place, equals, value = text.partition("=")
        engine, dot, option = place.rpartition(".")
        if not (equals and dot and engine and option):
            raise UserError(f"--set {text!r} is not ENGINE.OPTION=VALUE, like --set sqlite.cache_mib=256")
        options.setdefault(engine, {})[option] = value
    return options


def parse_sweeps(texts: Sequence[str]) -> list[tuple[str, str, str]]:
    """`ENGINE.OPTION=VALUE,VALUE` texts as a variant for each value: (its name, the option, the value). Raises UserError."""
    found = []
    for text in texts:
        place, equals, values = text.partition("=")
        engine, dot, option = place.rpartition(".")
        each = [value.strip() for value in values.split(",")]
        if not (equals and dot and engine and option and all(each)) or "@" in engine:
            raise UserError(
                f"--sweep {text!r} is not ENGINE.OPTION=VALUE,VALUE, like --sweep sqlite.cache_mib=16,64,256"
            )
        if len(set(each)) < max(2, len(each)):
            raise UserError(f"--sweep {text!r} needs two values or more, each once")
        for value in each:
            label = re.sub(r"[^a-z0-9._-]+", "-", f"{option}-{value}".lower())[:48]
            found.append((f"{engine}@{label}", option, value))
    return found


def check_options(options: Mapping[str, Mapping[str, str]], probed: Mapping[str, Probed]) -> None:
    """Raise UserError for an option that an engine doesn't have, or a value that it doesn't take."""
    for engine, chosen in options.items():
        known = probed[engine].options if engine in probed else {}
        if engine not in probed:
            raise UserError(f"--set names {engine}, which is not among the engines to run")
        if probed[engine].status != "available":
            continue
        for option in chosen:
            if option not in known:
                raise UserError(
                    f"{engine} has no option {option!r}{did_you_mean(option, known)} (it has: {', '.join(known) or 'none'})"
                )
        if probed[engine].fault:
            raise UserError(f"--set {engine}.{probed[engine].fault}")
