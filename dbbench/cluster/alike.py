"""What must be the same on all hosts, or they would measure something else: dbbench, plugin, driver and Python."""

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points

import dbbench
from dbbench.engine.base import Engine
from dbbench.engine.declared import GROUP
from dbbench.engine.fingerprint import of_package

#: Letters of a hash that are shown.
_LETTERS = 12


def identity(kind: type[Engine]) -> dict[str, str]:
    """What this host has: name -> version, or the hash of a package's files."""
    package = kind.__module__.partition(".")[0]
    known = {
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        "dbbench": dbbench.__version__,
        "the code of dbbench": of_package("dbbench")[:_LETTERS],
    }
    for each in entry_points(group=GROUP):
        if each.dist and each.module.partition(".")[0] == package:
            known[each.dist.name] = each.dist.version
    known[f"the code of {package}"] = of_package(package)[:_LETTERS]
    return {**known, **{name: str(each) for name, each in kind.versions().items()}}


def differences(here: Mapping[str, str], other: Mapping[str, str]) -> Iterator[str]:
    """What another host has otherwise, in words."""
    for name in dict.fromkeys([*here, *other]):
        if here.get(name) != other.get(name):
            yield f"{name} is {other.get(name, 'missing')} there and {here.get(name, 'missing')} here"
