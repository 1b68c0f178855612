"""Modules that Debian packages for its own Python, for another Python of the same version, as in an environment."""

import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

from dbbench.engine import Unavailable

_FOLDERS = ("/usr/lib/python3/dist-packages", f"/usr/lib/python3.{sys.version_info.minor}/lib-dynload")


@cache
def debian_module(name: str) -> Any:
    """The module that this Python has itself, or Debian's, and nothing else of Debian's folders. Raises Unavailable."""
    with suppress(ImportError):  # it isn't there, or a library that it needs isn't
        return import_module(name)
    spec = PathFinder.find_spec(name, _FOLDERS)
    if spec and spec.loader:
        sys.modules[name] = module = module_from_spec(spec)
        with suppress(ImportError):  # the same, or a part of it is compiled for another Python
            spec.loader.exec_module(module)
            return module
        del sys.modules[name]
    python = sys.implementation.cache_tag
    raise Unavailable(f"{python} can load no module {name}: Debian has it for its own Python alone")
