"""`python -m dbbench.engine.probe REQUEST`: tells of each engine whether it can be used, one JSON line each.

REQUEST is JSON: names, each with its engine, the options to check, and whether there is a URL.

A process of its own, so that a driver that crashes when it is imported, or prints, harms nobody.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from dataclasses import asdict, field, replace
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, Literal, TypedDict

from pydantic import BaseModel, ValidationError
from pydantic.dataclasses import dataclass
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined, to_jsonable_python

from dbbench.engine import registry, variants
from dbbench.engine.null import does_work
from dbbench.engine.options import AS_INSTALLED, MemoryShare, ServerSetting, marked
from dbbench.errors import Unavailable, UserError
from dbbench.host.processes import Packages, environment, first_on_path, forbid_core_dumps, python
from dbbench.message import clean, cleaned
from dbbench.suite.base import Title

if TYPE_CHECKING:
    from dbbench.engine.base import Engine

#: Without an answer for so long, the engine that is being looked at hangs.
_SECONDS = 60.0
#: From this many engines on, two processes look at them: for fewer the second costs more than it brings.
_MANY = 16


class _Asked(TypedDict):
    """The order for a process that looks at an engine; `python`: whether it runs in another Python than ours."""

    engine: str
    options: dict[str, object]
    url: bool
    python: bool


@dataclass(frozen=True)
class Probed:
    """What is known of an engine without starting it. `detail` says why it can't be used.

    Raises ValidationError for what a run directory couldn't hold: a plugin that says that is broken.
    """

    name: str
    status: Literal["available", "unavailable", "broken"]
    #: The plugin; `name` is another where the user gave a server a name of his own.
    engine: str = ""
    detail: str = ""
    install: str = ""
    title: Title = ""
    license: str = ""
    publication: str = ""
    publication_note: str = ""
    ranked: bool = True
    #: The form that its queries' rows come in.
    gives: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    durability: list[str] = field(default_factory=list)
    #: The operations of its sessions.
    operations: list[str] = field(default_factory=list)
    #: Whether it keeps blocks of a file.
    blocks: bool = False
    dialect: str = ""
    url_example: str = ""
    url_required: bool = False
    #: What installs it: the extras of dbbench, Debian packages, and whether jars are to be fetched too.
    extras: list[str] = field(default_factory=list)
    debian: list[str] = field(default_factory=list)
    #: What of it nobody has run yet.
    unverified: str = ""
    #: Why it runs only where its user names it.
    by_name_only: str = ""
    #: What it doesn't have, though others do -> what that means.
    lacks: dict[str, str] = field(default_factory=dict)
    #: Option -> what it is for.
    options: dict[str, str] = field(default_factory=dict)
    #: Option -> its value where nobody sets it, as --set takes it; none for an option that is left to the engine then.
    defaults: dict[str, str] = field(default_factory=dict)
    #: What is wrong with the options asked for.
    fault: str = ""


def probe(
    names: Sequence[str],
    options: Mapping[str, Mapping[str, object]] | None = None,
    urls: Mapping[str, str] | None = None,
    folders: Mapping[str, Packages] | None = None,
) -> dict[str, Probed]:
    """Look at the named engines in child processes; another one goes on after an engine that crashes.

    A name that no plugin has, but that a URL was given for, is looked at as the engine that reaches it. `folders`: name
    -> the packages that come before ours, and the Python, where that engine is looked at.
    """
    known = set(registry.names())
    elsewhere = folders or {}
    requests: dict[str, _Asked] = {
        name: {
            "engine": _plugin(name, known, urls or {}),
            "options": dict((options or {}).get(name, {})),
            "url": name in (urls or {}),
            "python": bool(name in elsewhere and elsewhere[name].python),
        }
        for name in names
    }
    parts: list[tuple[Sequence[str], Packages | None]] = [
        (part, None) for part in _parts([name for name in requests if name not in elsewhere])
    ]
    parts += [([name], elsewhere[name]) for name in requests if name in elsewhere]
    children = _Children()
    with ThreadPoolExecutor(2) as pool:
        try:
            looked = pool.map(lambda part: _looked(part[0], requests, part[1], children).items(), parts)
            found = dict(chain.from_iterable(looked))
        except BaseException:
            children.stop()
            raise
    return {name: found[name] for name in names}


def _parts(names: Sequence[str]) -> list[Sequence[str]]:
    """The engines that one process looks at: few are looked at by one process, many by two at once.

    Those with an access layer share what is slow to import; so do those without.
    """
    if len(names) < _MANY:
        return [names]
    layered = [name for name in names if "+" in name]
    return [part for part in (layered, [name for name in names if "+" not in name]) if part]


class _Children:
    """The child processes of all threads. Who is interrupted stops them: the signal may be sent to dbbench alone."""

    def __init__(self) -> None:
        self._started: list[subprocess.Popen[str]] = []
        self._stopped = False
        self._lock = threading.Lock()

    def start(self, command: Sequence[str], **how: Any) -> subprocess.Popen[str]:
        """Start one. Raises CancelledError after stop()."""
        with self._lock:
            if self._stopped:
                raise CancelledError
            self._started.append(subprocess.Popen(command, encoding="utf-8", **how))
            return self._started[-1]

    def stop(self) -> None:
        """Kill them, and let no other start."""
        with self._lock:
            self._stopped = True
            for child in self._started:
                child.kill()


def _looked(
    names: Sequence[str], requests: Mapping[str, _Asked], folder: Packages | None, children: _Children
) -> dict[str, Probed]:
    """Look at engines one after another, in a new process after one that crashes."""
    found: dict[str, Probed] = {}
    while left := [name for name in names if name not in found]:
        output, error, end = _asked({name: requests[name] for name in left}, folder, children)
        before = len(found)
        for line in output:
            engine = Probed(**clean(json.loads(line)))
            found[engine.name] = engine
        if len(found) - before < len(left):
            guilty = next(name for name in names if name not in found)
            last = cleaned((error.strip().splitlines() or [""])[-1])
            why = f"importing it {end}{f': {last}' if last else ''}"
            found[guilty] = Probed(guilty, "broken", requests[guilty]["engine"], why)
    return found


def _asked(request: Mapping[str, _Asked], folder: Packages | None, children: _Children) -> tuple[list[str], str, str]:
    """What a process that looks has printed, its last words, and how it ended; it is killed when it hangs."""
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read(stream: IO[str]) -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as error,
        children.start(
            python("dbbench.engine.probe", json.dumps(request), program=folder.python if folder else ""),
            stdout=subprocess.PIPE,
            stderr=error,
            env=environment(**(first_on_path(folder.folder) if folder else {})),
            cwd="/",  # drivers look for files of theirs in the current folder
        ) as child,
    ):
        reader = threading.Thread(target=read, args=(child.stdout,), daemon=True)
        reader.start()
        output = []
        try:
            while line := lines.get(timeout=_SECONDS):
                output.append(line)
            end = _ending(child.wait(_SECONDS))
        except (queue.Empty, subprocess.TimeoutExpired):
            end = f"hangs (more than {_SECONDS:g} s)"
        finally:
            child.kill()
            child.wait()
            reader.join(_SECONDS)
        error.seek(0)
        return output, error.read(), end


def _plugin(name: str, known: Collection[str], urls: Mapping[str, str]) -> str:
    """The engine that runs under a name."""
    if name in known:
        return name
    return by_url(name, urls[name]) if name in urls else variants.base(name)


def by_url(name: str, url: str) -> str:
    """The engine that runs against a URL under a name of the user's own; ENGINE@PLACE says which."""
    engine, at, _ = name.partition("@")
    if at:
        return engine
    return "odbc" if url.startswith("odbc:") else "sqlalchemy"


def look(name: str, engine: str, options: Mapping[str, object], *, url: bool) -> Probed:
    """Look at one engine in this process."""
    known = Probed(name, "broken", engine)
    try:
        plugin = registry.find(engine)
        known = _described(known, plugin)
        registry.load(engine, imported=url or not plugin.url_required)
        _check_url(plugin, url=url)
        fault = _fault(plugin, options, url=url)
        if not fault and not url:
            registry.require(engine, options)
        return replace(known, status="available", versions=plugin.versions(), fault=fault)
    except Unavailable as exc:
        return replace(known, status="unavailable", detail=exc.reason, install=exc.install)
    except (registry.Broken, UserError) as exc:
        return replace(known, detail=str(exc))
    except ValidationError as exc:
        return replace(known, detail=_faults(exc))
    except Exception as exc:  # whatever a plugin's class attributes or versions() may raise
        return replace(known, detail=f"{type(exc).__name__}: {exc}")


def _check_url(plugin: type[Engine], *, url: bool) -> None:
    if url and not plugin.url_example:
        raise Unavailable("it has no server, and so takes no URL")
    if plugin.url_required and not url:
        raise Unavailable("it runs against a server of yours", f"--url {plugin.name}={plugin.url_example}")


def _described(known: Probed, plugin: type[Engine]) -> Probed:
    """An engine's description by its class, whether or not its driver is installed."""
    from dbbench.engine.offered import OPERATIONS, offers

    return replace(
        known,
        title=plugin.title,
        license=plugin.license,
        publication=str(plugin.publication),
        publication_note=plugin.publication_note,
        ranked=does_work(plugin),
        gives="awaited" if plugin.session_class.awaited else plugin.session_class.result_format,
        durability=[str(tier) for tier in plugin.durability],
        operations=[operation for operation in OPERATIONS if offers(plugin, operation)],
        blocks=plugin.blocks,
        dialect=plugin.dialect,
        url_example=plugin.url_example,
        url_required=plugin.url_required,
        extras=list(registry.extras(plugin)),
        debian=list(registry.install_steps([plugin.name]).debian),
        unverified=plugin.unverified,
        by_name_only=plugin.by_name_only,
        lacks={str(what): why for what, why in plugin.missing_features.items()},
        options={key: _purpose(value) for key, value in plugin.options_class.model_fields.items()},
        defaults={key: text for key, value in plugin.options_class.model_fields.items() if (text := _default(value))},
    )


def _purpose(option: FieldInfo) -> str:
    purpose = str(option.description or "")
    return f"{purpose}; {AS_INSTALLED} for its own default" if _is_share(option) else purpose


def _is_share(option: FieldInfo) -> bool:
    return any(isinstance(mark, MemoryShare) for mark in option.metadata)


def _default(option: FieldInfo) -> str:
    if _is_share(option):
        return "a share of the memory"
    if option.default is PydanticUndefined or option.default is None:
        return ""
    value = to_jsonable_python(option.default, fallback=str)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fault(engine: type[Engine], options: Mapping[str, object], *, url: bool) -> str:
    """What is wrong with the options, the option's name first; empty if nothing is."""
    try:
        engine.options_class.model_validate(options)
    except ValidationError as exc:
        return _faults(exc)
    return "; ".join(misplaced(engine.options_class, options)) if url else ""


def misplaced(options: type[BaseModel], chosen: Iterable[str]) -> Iterator[str]:
    """Reasons why chosen options can't apply to a server at a URL: dbbench doesn't start it."""
    names = {name: mark.name for name, mark in marked(options, ServerSetting)}
    for name in chosen:
        if name in names:
            yield (
                f"{name}: it sets a server that dbbench starts, and --url names one that runs already; "
                f"omit it, and set {names[name]} on the server itself"
            )


def _faults(exc: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in exc.errors())


def _ending(status: int) -> str:
    return f"ends the process with signal {-status}" if status < 0 else f"ends the process with status {status}"


def main() -> None:
    """Print a line for each name; drivers that print go to standard error."""
    forbid_core_dumps()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for name, asked in json.loads(sys.argv[1]).items():
        found = look(name, asked["engine"], asked["options"], url=asked["url"])
        if asked["python"]:
            found = replace(found, versions={**found.versions, "Python": platform.python_version()})
        print(json.dumps(asdict(found)), file=out, flush=True)


if __name__ == "__main__":
    main()
