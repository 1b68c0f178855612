"""The engines that installed packages declare by entry points, by name; nothing of any plugin is imported.

`dbbench.engines` declares engines. `dbbench.layers.TOOLKIT` declares access layers, and `dbbench.bases.TOOLKIT` says of
an engine how that toolkit reaches it: each layer is applied to each base of its toolkit, as the engine `BASE+LAYER`.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, EntryPoint, PackageMetadata, entry_points

from dbbench.errors import UserError

GROUP = "dbbench.engines"
_LAYERS, _BASES = "dbbench.layers.", "dbbench.bases."


@dataclass(frozen=True)
class Declared:
    """What declares an engine: its own entry point, or those of an access layer and of how it reaches a base engine."""

    name: str
    point: EntryPoint
    base: str = ""
    reach: EntryPoint | None = None

    @property
    def package(self) -> str:
        """The name of the package whose engine it is."""
        return about(self.point.dist)["Name"] if self.point.dist else "?"


@cache  # it is parsed anew whenever it is asked for, in milliseconds
def about(package: Distribution) -> PackageMetadata:
    """A package's own metadata."""
    return package.metadata


def declared() -> Mapping[str, Declared]:
    """All engines by name. Raises UserError if two claim one name."""
    return _declared(tuple(sys.path))


@cache  # reading what every installed package declares takes 30 ms, and each engine asks for it several times
def _declared(path: tuple[str, ...]) -> Mapping[str, Declared]:
    points = entry_points()
    claims: dict[str, list[Declared]] = defaultdict(list)
    for point in points.select(group=GROUP):
        claims[point.name].append(Declared(point.name, point))
    engines = frozenset(claims)
    for group in sorted(points.groups):
        if group.startswith(_LAYERS):
            bases = points.select(group=_BASES + group.removeprefix(_LAYERS))
            for engine in _applied(points.select(group=group), [base for base in bases if base.name in engines]):
                claims[engine.name].append(engine)
    for name, found in claims.items():
        if len(found) > 1:
            owners = " and ".join(sorted(f"{claim.package} ({claim.point.value})" for claim in found))
            raise UserError(f"two plugins are called {name!r}: {owners}; uninstall one of them")
    return {name: found[0] for name, found in claims.items()}


def _applied(layers: Iterable[EntryPoint], bases: Sequence[EntryPoint]) -> Iterator[Declared]:
    """Each layer over each base."""
    for layer in layers:
        for base in bases:
            yield Declared(f"{base.name}+{layer.name}", layer, base.name, base)
