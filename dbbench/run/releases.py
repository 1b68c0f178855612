"""The releases that a run's variants ask for: each in an environment of its own, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dbbench.engine import registry, variants
from dbbench.engine.environments import prepared
from dbbench.engine.options import programs
from dbbench.errors import Unavailable, UserError
from dbbench.results.run_directory import VariantFacts


@dataclass(frozen=True)
class Releases:
    """What the variants of a run are, where the packages of some lie, and why others can't be had."""

    facts: Mapping[str, VariantFacts]
    folders: Mapping[str, Path] = field(default_factory=dict)
    missing: Mapping[str, Unavailable] = field(default_factory=dict)


def found(
    names: Iterable[str],
    options: Mapping[str, Mapping[str, object]],
    versions: Mapping[str, str],
    report: Callable[[str], None],
) -> Releases:
    """Have an environment for each variant that asks for a version: by `versions`, or else by its label.

    `report` gets a line before each. A label chooses no version where the variant names programs of its own. Raises
    UserError for an engine that has no package to choose a version of.
    """
    facts: dict[str, VariantFacts] = {}
    folders: dict[str, Path] = {}
    missing: dict[str, Unavailable] = {}
    for name in names:
        engine, label = variants.base(name), variants.label(name)
        own = program_options(engine)
        named = any(options.get(name, {}).get(option) for option in own)
        version = versions.get(name) or (label if variants.is_version(label) and not named else "")
        facts[name] = VariantFacts(engine=engine)
        if not version:
            continue
        try:
            package = registry.versioned_package(engine)
        except (Unavailable, registry.Broken):
            continue  # the probe tells what is wrong with it
        facts[name] = VariantFacts(engine=engine, version=version, package=package)
        report(f"{name}: looking for {package} {version}")
        try:
            made = prepared(package, version)
        except Unavailable as exc:
            hint = f"for a server of version {version} name its programs: --set {name}.{own[0]}=..." if own else ""
            missing[name] = Unavailable(exc.reason, hint)
            continue
        folders[name] = made.folder
        facts[name] = VariantFacts(engine=engine, version=version, package=package, release=made.release)
    return Releases(facts, folders, missing)


def found_again(known: Mapping[str, VariantFacts]) -> dict[str, Path]:
    """The environments of a run that goes on, with the very releases that it began with. Raises UserError.

    A run directory may come from elsewhere: the package is the one that the engine itself names.
    """
    folders = {}
    for name, variant in known.items():
        if variant.release:
            try:
                package = registry.versioned_package(variant.engine)
                folders[name] = prepared(package, variant.version, variant.release).folder
            except (Unavailable, registry.Broken) as exc:
                raise UserError(f"{name} {variant.release} can't be run again: {exc}") from exc
    return folders


def program_options(engine: str) -> list[str]:
    """The options of an engine that name a program; none where the engine can't be run here anyway."""
    try:
        return programs(registry.find(engine).options_class)
    except (UserError, Unavailable, registry.Broken):
        return []
