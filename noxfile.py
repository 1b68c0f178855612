"""Everything a change is checked with: `nox -l` lists the sessions, `nox` runs those without a star."""

import os

import nox
from nox.virtualenv import PassthroughEnv

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests", "wheel"]


@nox.session
def tests(session: nox.Session) -> None:
    """The README's test command: one or two engines of each family, nothing but pip."""
    session.install("-e", ".[all,test]")
    session.run("pytest", "-n", "logical", *session.posargs)


@nox.session
def everything(session: nox.Session) -> None:
    """All tests on all engines. With --no-venv in the environment as it is, which must have them all.

    Two processes more than processors: many of these tests wait, for disks, servers, limits and ends of processes.
    """
    if not isinstance(session.virtualenv, PassthroughEnv):
        session.install("-e", ".[everything,test]")
    processes = str((os.cpu_count() or 1) + 2)
    session.run("pytest", "-n", processes, "-m", "matrix or not matrix", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """ruff, and the direction of flow."""
    session.install("-e", ".", "ruff>=0.6", "import-linter>=2.0")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict."""
    session.install("-e", ".[all,cluster]", "mypy>=1.11", "pytest>=9.0.3")
    session.run("mypy")


@nox.session
def wheel(session: nox.Session) -> None:
    """The built wheel, as a user gets it."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests/packaging", *session.posargs)


@nox.session
def lowest(session: nox.Session) -> None:
    """The tests with the lowest versions that pyproject.toml allows, on the lowest Python."""
    session.install("uv")
    session.run("uv", "pip", "install", "--resolution", "lowest-direct", "-e", ".[all,cluster,test]")
    session.run("pytest", "tests/unit", "tests/contract", "tests/system", *session.posargs)


@nox.session
def constraints(session: nox.Session) -> None:
    """Write the newest versions of all that CI installs to .ci/constraints.txt."""
    session.install("uv")
    chosen = ("--extra", "everything", "--extra", "dev", "--python-version", "3.11.0")
    form = ("--no-header", "--no-annotate", "--upgrade")
    session.run("uv", "pip", "compile", "-q", *chosen, *form, "pyproject.toml", "-o", ".ci/constraints.txt")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation as a site in site/, with a gallery of the runs that are named."""
    session.install("-e", ".[all,docs]")
    session.run("python", "-m", "docs.build_site", "site", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Speed, as ratios of two things measured in one run."""
    session.install("-e", ".[all,cluster,test]")
    session.run("pytest", "benchmarks", "--benchmark-enable", "--benchmark-columns=min,median,rounds", *session.posargs)
