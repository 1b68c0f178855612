"""The documentation is whole and true: what is there is described, and what is described works."""

import ast
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import click
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML

from dbbench import cli
from dbbench.engine import registry
from dbbench.engine.declared import declared
from dbbench.report.export.summary_csv import COLUMNS
from dbbench.results.outcome import Outcome
from dbbench.runs import choice
from dbbench.suite.base import Model
from dbbench.suite.data_types import TYPES
from dbbench.suite.loader import builtin_suites, find_suite, load_suite, parse_suite
from dbbench.suite.model import Suite
from dbbench.suite.steps.base import HIDDEN
from tests.conftest import Dbbench, run_suite, summary
from tests.trials_here import trials_here

ROOT = Path(__file__).resolve().parents[2]
SUITES = (ROOT / "docs" / "suites.md").read_text("utf-8")
CLI = (ROOT / "docs" / "cli.md").read_text("utf-8")
FILES = (ROOT / "docs" / "files.md").read_text("utf-8")
CATALOGUE = (ROOT / "docs" / "catalogue.md").read_text("utf-8")
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(path for folder in ("docs", "examples", "benchmarks") for path in (ROOT / folder).rglob("*.md")),
    ]
)
IDS = [str(page.relative_to(ROOT)) for page in PAGES]
#: Options of other programs that the pages name.
OPTIONS_OF_OTHERS = {"--help", "--version", "--user", "--drawn"}
#: Commands that only read, so that an example of them can be run anywhere.
READING = {"suites", "engines", "describe", "check"}


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def section(text: str, heading: str) -> str:
    """What stands under a heading that starts so, up to the next one of its level."""
    level = heading.partition(" ")[0]
    found = re.search(rf"^{re.escape(heading)}[ `\n].*?(?=^{level} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no section {heading}"
    return found[0]


# The command line


def commands(group: click.Group = cli.main, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its words, those of groups too."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_is_described_and_every_option_has_help(name: str, command: click.Command) -> None:
    assert re.search(rf"^(## |\| )`dbbench {name}[` ]", CLI, re.MULTILINE)
    assert command.help
    context = click.Context(command)
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    assert [record for record in records if not record or not record[1]] == []


def test_every_option_described_exists() -> None:
    known = {option for _, command in commands() for item in command.params for option in item.opts}
    described = {option for page in PAGES for option in re.findall(r"`(--[a-z-]+)", page.read_text("utf-8"))}
    assert described - known - OPTIONS_OF_OTHERS == set()


def test_summary_and_outcomes_are_described() -> None:
    for column in COLUMNS:
        assert f"`{column}`" in section(FILES, "### summary.csv")
    for outcome in Outcome:
        assert f"`{outcome}`" in section(FILES, "### Outcomes")


def test_every_environment_variable_is_described() -> None:
    folders = ("dbbench", "plugins")
    sources = " ".join(path.read_text("utf-8") for folder in folders for path in (ROOT / folder).rglob("*.py"))
    for name in set(re.findall(r"\b_?DBBENCH_[A-Z_]+\b", sources)):
        assert f"`{name}" in section(FILES, "## Environment variables")


def test_every_message_of_troubleshooting_is_one() -> None:
    """`...` stands for what differs; what is between is in a text of the code."""
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    messages = re.findall(r"^\| `(.+?)` \| ", page, re.MULTILINE)
    assert messages
    paths = [path for folder in ("dbbench", "plugins") for path in (ROOT / folder).rglob("*.py")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    pieces = [piece for message in messages for piece in message.split("...") if len(piece) > 3]
    assert [piece for piece in pieces if not any(piece in text for text in texts)] == []


# Engines, suites, sessions


def test_every_engine_has_a_family_with_a_page() -> None:
    page = (ROOT / "docs" / "engines.md").read_text("utf-8")
    for path in (ROOT / "docs" / "engines").glob("*.md"):
        assert f"(engines/{path.name})" in page
    assert {name for name, engine in declared().items() if engine.package == "dbbench" and not named_on(page, name)} == {
        "null", "null+arrow", "null+async"
    }  # fmt: skip


def named_on(page: str, name: str) -> bool:
    """Whether a page names an engine, or the database of a driver or the layer on it."""
    return any(f"`{word}`" in page for word in (name, name.partition("+")[0]))


def test_the_table_of_engines_is_what_the_registry_says() -> None:
    table = subprocess.run(
        [sys.executable, ROOT / "docs" / "engines_table.py"], capture_output=True, check=True, text=True, timeout=120
    ).stdout
    page = (ROOT / "docs" / "engines.md").read_text("utf-8")
    assert f"\n\n{table}\n" in page, "write it anew: python docs/engines_table.py"
    engines = {word for name in registry.names("dbbench") for word in named_by(name)}
    assert [name for name in sorted(engines) if f"`{name}`" not in table] == ["null", "null+arrow", "null+async"]


def named_by(name: str) -> tuple[str, ...]:
    """The words that name an engine: its own name, or for an access layer those of the base and the layer."""
    engine = declared()[name]
    return (engine.base, engine.point.name) if engine.base else (name,)


def test_ci_requires_every_engine_that_is_said_to_run_in_ci(dbbench_here: Dbbench) -> None:
    """`.ci/run` reads its list out of the table, by a pattern that must go on fitting it."""
    script = re.search(r"sed -n '.*'", (ROOT / ".ci" / "run").read_text("utf-8"))
    assert script
    known = {name: registry.find(name) for name in registry.names("dbbench")}
    table = dbbench_here("engines", "--markdown", *known).stdout
    required = subprocess.run(["bash", "-c", script[0]], input=table, capture_output=True, check=True, text=True).stdout
    run = {name for name, engine in known.items() if not engine.is_null and not engine.unverified}
    assert set(required.split()) == run


def test_the_extras_bring_every_driver_that_ci_runs() -> None:
    """`everything` has them all, `all` those that come as wheels, but for large ones."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]

    def brought(extra: str) -> set[str]:
        """The requirements of an extra, and of those that it names in turn."""
        inner = [Requirement(text).extras for text in extras[extra] if text.startswith("dbbench[")]
        own = {text for text in extras[extra] if not text.startswith("dbbench[")}
        return own.union(*(brought(name) for names in inner for name in names))

    run = [engine for engine in map(registry.find, registry.names("dbbench")) if not engine.unverified]
    drivers = {(extra, engine.built_on) for engine in run for extra in registry.extras(engine)}
    missing = {extra for extra, _ in drivers if not brought(extra) <= brought("everything")}
    assert missing == set()
    wheels = {extra for extra, built_on in drivers if not built_on} - {extra for extra, built_on in drivers if built_on}
    assert {extra for extra in wheels if not brought(extra) <= brought("all")} == {"lancedb", "postgresql-pgvector"}


@pytest.mark.parametrize("name", builtin_suites())
def test_every_suite_is_in_the_catalogue_with_steps_that_it_has(name: str) -> None:
    """A word in backticks with a hyphen is a step."""
    text = section(CATALOGUE, f"## `{name}`")
    assert f"](#{name})" in CATALOGUE
    suite = load_suite(ROOT / "scenarios" / "dbbench_scenarios" / f"{name}.yaml")
    steps = [step.name for scenario in suite.scenarios for step in scenario.steps]
    named = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", text)) - set(builtin_suites())
    assert named - set(steps) == set()


def test_every_session_of_nox_is_described() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    sessions = re.findall(r"^@nox\.session.*\ndef (\w+)", (ROOT / "noxfile.py").read_text("utf-8"), re.MULTILINE)
    assert sessions
    assert [name for name in sessions if f"| `{name}` |" not in text] == []


# What is installed

#: Package -> the last version with a security hole that was known on 23 November 2026.
HOLES = {
    "jinja2": "3.1.5", "apsw": "3.50.2.0", "django": "5.2.16", "PyMySQL": "1.1.0", "distributed": "2026.1.0",
    "cryptography": "49.0.0", "pytest": "9.0.2",
}  # fmt: skip


def required() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    return [Requirement(text) for text in texts]


@pytest.mark.parametrize("package", HOLES)
def test_no_version_with_a_known_hole_is_allowed(package: str) -> None:
    found = [each.specifier.contains(HOLES[package]) for each in required() if each.name == package]
    assert found
    assert not any(found)


def test_ci_installs_versions_that_are_allowed() -> None:
    lines = (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    versions = dict(line.split("==") for line in lines)
    known = {each: versions.get(canonicalize_name(each.name)) for each in required()}
    assert [str(each) for each, version in known.items() if version and version not in each.specifier] == []
    assert len({each.name for each, version in known.items() if version}) > 40
    workflow = YAML(typ="safe").load(ROOT / ".github" / "workflows" / "ci.yml")
    # Each week also the newest ones, and always the lowest.
    assert (len(workflow["on"]["schedule"]), "nox -s lowest" in str(workflow["jobs"]["lowest"]["steps"])) == (1, True)


@pytest.mark.parametrize(
    "path", [*ROOT.glob(".github/workflows/*"), *ROOT.glob("dbbench/cli/templates/*.yml.jinja")], ids=str
)
def test_actions_are_pinned_by_hash(path: Path) -> None:
    used = re.findall(r"uses: (\S+)", path.read_text("utf-8"))
    assert used
    assert [action for action in used if not re.fullmatch(r".+@[0-9a-f]{40}", action)] == []


@pytest.mark.parametrize("path", [*ROOT.glob(".github/workflows/*")], ids=str)
def test_the_steps_of_a_workflow_are_whole(path: Path) -> None:
    """As far as that can be seen elsewhere: Python compiles, and dbbench knows the suites."""
    for job in YAML(typ="safe").load(path)["jobs"].values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            if step.get("shell") == "python":
                compile(step["run"], str(step.get("name")), "exec")
            for suite in re.findall(r"dbbench suite (\S+)", step.get("run", "")):
                assert find_suite(suite)


# The suite format


def models(annotation: Any, within: tuple[type[Model], ...] = ()) -> Iterator[type[Model]]:
    """All models that a type is made of; one that is within itself once."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        if annotation in within:
            return
        yield annotation
        for field in annotation.model_fields.values():
            yield from models(field.annotation, (*within, annotation))
    elif get_origin(annotation) in (Annotated, Union, UnionType, tuple, dict):
        for argument in get_args(annotation):
            yield from models(argument, within)


@pytest.mark.parametrize("model", sorted(set(models(Suite)), key=lambda model: model.__name__))
def test_every_key_of_a_suite_is_described_and_every_kind_is_on_the_page(model: type[Model]) -> None:
    for key, field in model.model_fields.items():
        if key == "kind":
            assert {value for value in get_args(field.annotation) if f"`{value}`" not in SUITES} == set()
        elif field.json_schema_extra != HIDDEN:
            assert field.description, f"{key} of {model.__name__} is not described"


def test_all_keys_are_printed(dbbench_here: Dbbench) -> None:
    printed = dbbench_here("check", "--keys", status=0).stdout
    parts = [(part.split("\n")[0].split(" (")[0], part) for part in printed.split("\n\n")]
    for model in set(models(Suite)):
        texts = [part for title, part in parts if title == model.__name__]  # two models have one name
        for key, field in model.model_fields.items():
            if key != "kind":
                shown = any(re.search(rf"^  {key}(:| \()", text, re.MULTILINE) for text in texts)
                assert shown == (field.json_schema_extra != HIDDEN), (model, key)
    for words in (
        "\n  k (default 10; minimum 1; maximum 100): Neighbours",
        '\n  operation (required; enum ["get", "get_many"]): `get`: each object',
        '\n  clients (default {"threads": 8, "processes": 4}; minimum 1): Sessions',
        '\n  durability (default "power"; Tier): What a commit',
        "\n  memory, process, power\n",
        "\n  label (required; exclusiveMinimum 0; exclusiveMaximum 1): ",
        "\n  trial (default 5.0): Seconds, or a time",
        "\n  at_most: Of what is drawn; 10 times the mean, if not set.",
    ):
        assert words in printed


def test_every_type_is_described() -> None:
    for name in TYPES:
        assert re.search(rf"`{name}[`(]", section(SUITES, "### Types"))


@pytest.mark.matrix
def test_the_pieces_of_the_page_make_a_suite_that_runs(
    tmp_path: Path, dbbench_here: Dbbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "nulls", lambda _: [])  # their trials take a third of the time
    yaml = YAML(typ="safe", pure=True)
    datasets: dict[str, Any] = {}
    steps: list[dict[str, Any]] = []
    charts: list[dict[str, Any]] = []
    for text in blocks(SUITES, "yaml"):
        piece = yaml.load(text)
        if isinstance(piece, list):
            steps += piece
        elif piece is not None:
            assert set(piece) <= {"datasets", "charts"}
            datasets |= piece.get("datasets", {})
            charts += piece.get("charts", [])
    kinds = "churn contention delete keyvalue load mix nearest objects query search size statement total transaction"
    assert {step["kind"] for step in steps} == {*kinds.split()}
    del datasets["mine"]  # of files that only its reader has
    tables, trips, desk, records, vectors, texts, objects, bank = datasets

    def of(*kinds: str) -> list[dict[str, Any]]:
        return [step for step in steps if step["kind"] in kinds]

    on = {
        records: of("keyvalue", "mix"), objects: of("contention", "total"), bank: of("transaction"), texts: of("search"),
        vectors: of("nearest", "delete"), desk: [step for step in steps if "Ticket" in step.get("sql", "")], trips: [],
    }  # fmt: skip
    elsewhere = [step for some in on.values() for step in some]
    first = {
        name: [{"kind": "load", "name": f"load-{name}", "title": "Load"}]
        for name in (trips, desk, bank, vectors, texts)
    }
    scenarios = [
        {"name": name, "title": name, "dataset": name, "steps": [*first.get(name, []), *some]}
        for name, some in on.items()
    ]
    on_tables = [step for step in steps if step not in elsewhere]
    scenarios.append({"name": tables, "title": "Page", "dataset": tables, "steps": on_tables, "charts": charts})
    of_vectors = [{**scenario, "durability": "memory"} for scenario in scenarios if scenario["name"] == vectors]
    others = [scenario for scenario in scenarios if scenario["name"] != vectors]
    said, found = "", []
    for engine, some in (("sqlite", others), ("sqlite+vec", of_vectors)):
        used = {name: datasets[name] for name in {scenario["dataset"] for scenario in some}}
        suite = {"dbbench": 1, "name": "page", "title": "Page", "description": "Of the page's examples."}
        with (tmp_path / "page.yaml").open("w", encoding="utf-8") as file:
            YAML(typ="safe", pure=True).dump({**suite, "datasets": used, "scenarios": some}, file)
        asked = ("--quick", "--scale", "0.1", "--format", "csv", "-e", engine)
        with trials_here():
            done = dbbench_here("suite", "page.yaml", *asked, "--out", engine)
        said += done.stdout + done.stderr
        found += [(step, row["outcome"]) for (step, name), row in summary(tmp_path / engine).items() if name == engine]
    rated = {step["name"] for step in steps if "rate" in step or "find" in step}
    # A busy machine may not keep up with the rate; that is an outcome of its own, and no fault of the page.
    assert {outcome for step, outcome in found if step not in rated} == {"ok"}, said
    assert {outcome for step, outcome in found if step in rated} <= {"ok", "saturated", "no rate"}


def test_the_example_suite_runs(tmp_path: Path) -> None:
    example = ROOT / "docs" / "examples" / "tiny.yaml"
    with trials_here():
        rows = summary(run_suite(tmp_path, str(example), ("sqlite",), "--quick", status=0))
    steps = {step.name for scenario in load_suite(example).scenarios for step in scenario.steps}
    found = {step: row["outcome"] for (step, engine), row in rows.items() if engine == "sqlite"}
    assert found == dict.fromkeys(steps, "ok")


# Examples and links


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_examples_are_well_formed(page: Path) -> None:
    text = page.read_text("utf-8")
    for block in blocks(text, "yaml"):
        if block.startswith("dbbench: 1"):
            parse_suite(block, str(page))
    for block in blocks(text, "toml"):
        tomllib.loads(block)
    for block in blocks(text, "python"):
        ast.parse(block)
    for line in re.findall(r"^\$ dbbench (\S+)", "\n".join(blocks(text, "console")), re.MULTILINE):
        assert line in cli.main.commands or line in ("--help", "--version")


def reading_examples() -> Iterator[tuple[str, str]]:
    """Each console example of a command that only reads, with the output that the page shows."""
    for page in PAGES:
        for block in blocks(page.read_text("utf-8"), "console"):
            for command, shown in re.findall(r"^\$ dbbench (.+)\n((?:[^$].*\n)*)", block, re.MULTILINE):
                name = command.split()[0]
                if (name in READING or name.startswith("--")) and "mine" not in command and "install" not in command:
                    yield command.partition(" > ")[0], shown


@pytest.mark.parametrize(("command", "shown"), sorted(set(reading_examples())))
def test_console_examples_run(command: str, shown: str, dbbench_here: Dbbench, tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    done = dbbench_here(*shlex.split(command, comments=True), status=0)
    assert shown in done.stdout


@pytest.mark.parametrize(
    "page", sorted({*PAGES} - {ROOT / "CHANGELOG.md", *(ROOT / "examples").rglob("*.md")}), ids=str
)
def test_text_wraps_at_120_columns(page: Path) -> None:
    """A line of the changelog is one entry; dbbench writes some pages of the examples."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert [line for line in text.splitlines() if len(line) > 120 and not line.startswith(("|", "!["))] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_no_table_is_cut_by_an_empty_line(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    heads = re.findall(r"(?:\A|[^|\n]\n|\n\n)(\|.*\n.*)", text)
    assert [head for head in heads if not re.search(r"\n\|[-:| ]+\|$", head)] == []


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in {slug(line) for line in re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)}


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# Docstrings


@pytest.mark.parametrize("path", sorted((ROOT / "dbbench").rglob("*.py")), ids=lambda path: path.stem)
def test_every_public_thing_has_a_docstring(path: Path) -> None:
    module = ast.parse(path.read_text("utf-8"))
    missing = [] if ast.get_docstring(module) else ["the module"]
    missing += [name for name, node in public(module) if not ast.get_docstring(node)]
    assert missing == []


def public(node: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.ClassDef | ast.FunctionDef]]:
    """Public classes, functions and methods. The kit's tests are named so that they say what they test."""
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef) and not child.name.startswith(("_", "test_")):
            if any(isinstance(mark, ast.Attribute) and mark.attr == "fixture" for mark in child.decorator_list):
                continue
            yield child.name, child
            if isinstance(child, ast.ClassDef):
                yield from public(child)
