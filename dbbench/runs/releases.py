"""The releases that a run's variants ask for: each in an environment of its own, or the reason why there is none."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from dbbench.engine import builds, other_python, registry, variants
from dbbench.engine.builds import Source
from dbbench.engine.environments import plain_name, prepared
from dbbench.engine.options import programs
from dbbench.engine.other_python import asked_for, interpreter
from dbbench.errors import Unavailable, UserError
from dbbench.host.processes import Packages
from dbbench.results.run_directory import VariantFacts
from dbbench.suite.model import Variant

NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Releases:
    """What the variants of a run are, where the packages of some lie, and why others can't be had."""

    facts: Mapping[str, VariantFacts]
    folders: Mapping[str, Packages] = field(default_factory=dict)
    missing: Mapping[str, Unavailable] = field(default_factory=dict)


def found(
    names: Iterable[str],
    options: Mapping[str, Mapping[str, object]],
    known: Mapping[str, Variant],
    report: Callable[[str], None],
    built: Mapping[str, Source] | None = None,
    repeated: Mapping[str, str] = NONE,
) -> Releases:
    """Have an environment for each variant of a build, a version or a Python: as `known` has it, or else by its label.

    `repeated` has what a name is once more. `report` gets a line before each. A label chooses no version where the
    variant names programs of its own. Raises UserError for an engine that has no package to choose a version of.
    """
    facts: dict[str, VariantFacts] = {}
    folders: dict[str, Packages] = {}
    missing: dict[str, Unavailable] = {}
    for name in names:
        original = repeated.get(name, name)
        engine, label = variants.base(name), variants.label(original)
        if source := (built or {}).get(original):
            made, packages = _built(engine, source, known.get(original) or Variant(), report)
            facts[name] = made.model_copy(update={"repeats": repeated.get(name, "")})
            folders |= {name: packages} if packages else {}
            continue
        own = program_options(engine)
        named = any(options.get(name, {}).get(option) for option in own)
        written = known.get(original) or Variant()
        version = written.version or (label if variants.is_version(label) and not named else "")
        python = written.python or ("" if named else asked_for(label))
        facts[name] = VariantFacts(engine=engine, env=written.env, repeats=repeated.get(name, ""))
        if not (version or python):
            continue
        try:
            package = registry.versioned_package(engine) if version else ""
        except (Unavailable, registry.Broken):
            continue  # the probe tells what is wrong with it
        facts[name] = facts[name].model_copy(update={"version": version, "package": package, "python": python})
        wanted = " ".join(filter(None, (package, version, f"for Python {python}" if python else "")))
        report(f"{name}: looking for {wanted if version else f'Python {python}'}")
        try:
            facts[name], folders[name] = _had(facts[name])
        except Unavailable as exc:
            hint = f"for a server of version {version} name its programs: --set {name}.{own[0]}=..." if own else ""
            missing[name] = Unavailable(exc.reason, exc.install or hint)
    return Releases(facts, folders, missing)


def _built(
    engine: str, source: Source, written: Variant, report: Callable[[str], None]
) -> tuple[VariantFacts, Packages | None]:
    """A variant of a build, and where its packages are if it is a package. Raises UserError."""
    facts = VariantFacts(engine=engine, build=source.words, env=written.env)
    if not source.copied:
        return facts, None
    if written.python or written.version:
        raise UserError(f"--from says what {engine} is built from: a variant of it has no version or Python besides")
    package = registry.versioned_package(engine)
    report(f"{engine}: building {plain_name(package)} from {source.words}")
    made = builds.prepared(package, source)
    update = {"package": package, "release": made.release, "built": made.folder.parent.name}
    return facts.model_copy(update=update), Packages(made.folder)


def _had(asked: VariantFacts) -> tuple[VariantFacts, Packages]:
    """A variant with the exact releases that were found, and where they are. Raises Unavailable."""
    if not asked.python:
        made = prepared(asked.package, asked.version, asked.release)
        return asked.model_copy(update={"release": made.release}), Packages(made.folder)
    python = interpreter(asked.python_release or asked.python)
    folder = other_python.prepared(asked.engine, python, asked.release or asked.version)
    update = {"python_release": python.release}
    if asked.version:
        update["release"] = other_python.release(folder, asked.package)
    return asked.model_copy(update=update), Packages(folder, python.program)


def found_again(known: Mapping[str, VariantFacts]) -> dict[str, Packages]:
    """The environments of a run that goes on, with the very releases that it began with. Raises UserError.

    A run directory may come from elsewhere: the package is the one that the engine itself names.
    """
    folders = {}
    for name, variant in known.items():
        if variant.release or variant.python_release:
            try:
                if variant.built:
                    folders[name] = _built_before(variant)
                    continue
                package = registry.versioned_package(variant.engine) if variant.release else ""
                _, folders[name] = _had(variant.model_copy(update={"package": package}))
            except (Unavailable, registry.Broken) as exc:
                what = " ".join(
                    filter(None, (variant.release, variant.python_release and f"in Python {variant.python_release}"))
                )
                raise UserError(f"{name} {what} can't be run again: {exc}") from exc
    return folders


def _built_before(variant: VariantFacts) -> Packages:
    """Packages of an earlier build of the engine's own package. Raises Unavailable if it is in the cache no more."""
    name = plain_name(registry.versioned_package(variant.engine))
    return Packages(builds.folder_again(name, variant.built))


def program_options(engine: str) -> list[str]:
    """The options of an engine that name a program; none where the engine can't be run here anyway."""
    try:
        return programs(registry.find(engine).options_class)
    except (UserError, Unavailable, registry.Broken):
        return []
