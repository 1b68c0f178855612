"""A configuration file: what it may hold, what goes before it, and what is refused."""

import os
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from dbbench.cli import common, main
from dbbench.cli.common import format_option
from dbbench.cli.suite import suite as command
from dbbench.errors import UserError
from dbbench.run.choice import options_of
from dbbench.run.config import Config, Defaults, read
from dbbench.run.request import Request
from dbbench.suite.model import Variant
from dbbench.suite.variables import ALLOWED

FULL = """
engines = ["sqlite", "sqlite@small"]
[options]
rounds = 10
time_limit = "10m"
format = "csv"
scale = 0.5
[settings.sqlite]
cache_mib = 32
[variants."sqlite@small"]
settings = {cache_mib = 4}
env = {MALLOC_ARENA_MAX = 1}
[gates."sqlite@small/sqlite"]
"*" = "10%"
join = "20%:cpu"
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "dbbench.toml"
    path.write_text(text)
    return path


def test_all_that_it_may_hold_is_read(tmp_path: Path) -> None:
    config = read(written(tmp_path, FULL))
    assert config.engines == ("sqlite", "sqlite@small")
    gates = ["sqlite@small/sqlite:10%", "sqlite@small/sqlite:join:20%:cpu"]
    assert config.defaults == {"rounds": 10, "time_limit": "10m", "formats": "csv", "scale": 0.5, "gates": gates}
    assert config.texts == {"sqlite": {"cache_mib": "32"}}
    assert config.variants["sqlite@small"].env == {"MALLOC_ARENA_MAX": "1"}


def test_every_default_is_an_option_of_the_command() -> None:
    options = {parameter.name for parameter in command.params}
    assert set(Defaults.model_fields) <= options


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("varaints = {}", "varaints: there is no such key; did you mean 'variants'?"),
        ("[options]\nround = 3", "options.round: there is no such key; did you mean 'rounds'?"),
        ("[options]\nformats = 'csv'", "did you mean 'format'?"),
        (
            "[variants.'sqlite@a']\nsetting = {}",
            "variants.sqlite@a.setting: there is no such key; did you mean 'settings'",
        ),
        ("[options]\nrounds = 'ten'", "options.rounds: "),
        ("engines = 'sqlite'", "engines: "),
        ("[gates]\n'a/b' = '10%'", "gates.a/b: "),
        ("[settings.'sqlite@a']\ncache_mib = 1", r'write them as variants\."sqlite@a"\.settings'),
        ("[variants.'sqlite@A b']", "variants"),
        ("engines = ['null@x']", "the null engine has no variants"),
        ("[options", "is not TOML: Expected"),
        ("a = 1\na = 2", "is not TOML"),
    ],
)
def test_a_fault_is_told_with_its_place(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=told):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    "name",
    ["LD_PRELOAD", "PYTHONPATH", "PATH", "PGPASSWORD", "JAVA_TOOL_OPTIONS", "DBBENCH_URL", "HOME", "omp_num_threads"],
)
def test_a_variable_that_could_do_harm_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is none"):
        Variant.model_validate({"env": {name: "1"}})
    assert name not in ALLOWED


@pytest.mark.parametrize("value", ["/etc/passwd", "a b", "..", "x" * 101, "$(id)", "a\nb"])
def test_a_value_is_no_path_and_no_command(value: str) -> None:
    with pytest.raises(ValueError, match=r"it is no path|at most 100"):
        Variant.model_validate({"env": {"TZ": value}})


def test_a_file_that_is_not_there_or_too_long_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't be read"):
        read(tmp_path / "none.toml")
    with pytest.raises(UserError, match="larger than 1 MiB"):
        read(written(tmp_path, "#" * 2**20 + "\n"))
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(UserError, match="is not a regular file"):
        read(tmp_path / "pipe.toml")
    (tmp_path / "link.toml").symlink_to(written(tmp_path, ""))
    read(tmp_path / "link.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="is not TOML"):
        read(tmp_path / "b.toml")


def options(config: Config, given: dict[str, dict[str, str]], variants: dict[str, Variant]) -> dict[str, Any]:
    names = ["sqlite", "sqlite@a", "sqlite@b"]
    known = {**config.variants, **variants}
    return options_of(known, Request("s", options=given, config=config), names, names[1:])


def test_the_command_line_goes_before_the_suite_and_that_before_the_file() -> None:
    config = Config.model_validate(
        {
            "settings": {"sqlite": {"cache_mib": 1, "page_size": 1}, "duckdb": {"threads": 1}},
            "variants": {"sqlite@a": {"settings": {"cache_mib": 2}}, "sqlite@b": {"settings": {"cache_mib": 2}}},
        }
    )
    of_suite = {"sqlite@a": Variant(settings={"cache_mib": 3})}
    assert options(config, {}, of_suite) == {
        "sqlite": {"cache_mib": "1", "page_size": "1"},
        "sqlite@a": {"cache_mib": "3", "page_size": "1"},
        "sqlite@b": {"cache_mib": "2", "page_size": "1"},
    }
    given = {"sqlite": {"page_size": "5"}, "sqlite@a": {"cache_mib": "5"}}
    assert options(config, given, of_suite) == {
        "sqlite": {"cache_mib": "1", "page_size": "5"},
        "sqlite@a": {"cache_mib": "5", "page_size": "5"},
        "sqlite@b": {"cache_mib": "2", "page_size": "5"},
    }


def test_a_file_names_no_program(tmp_path: Path) -> None:
    config = Config.model_validate({"settings": {"postgresql": {"bin": "/tmp/evil"}}})
    with pytest.raises(UserError, match=r"a file can't name a program to run: use --set postgresql\.bin"):
        options(config, {}, {})


def test_what_the_command_line_says_goes_before_the_files_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file counts where it is named, and only there."""
    asked: list[Request] = []

    def stop(request: Request, _report: object) -> None:
        asked.append(request)
        raise UserError("enough")

    monkeypatch.setattr("dbbench.run.begin.new_run", stop)
    path = str(written(tmp_path, FULL))
    monkeypatch.chdir(tmp_path)
    named = ["--config", path]
    for more in (
        named,
        [*named, "--rounds", "3", "--scale", "2"],
        [*named, "--quick"],
        ["--quick", "--scale", "1"],
        [],
    ):
        assert CliRunner().invoke(main, ["suite", "invoices", *more]).exit_code == 2
    assert [(one.rounds, one.scale, one.time_limit) for one in asked] == [
        (10, 0.5, 600.0),
        (3, 2.0, 600.0),
        (None, None, None),
        (None, 1.0, None),
        (None, None, None),
    ]
    assert asked[-1].config == Config()


def test_a_value_that_an_option_does_not_take_is_a_usage_error(tmp_path: Path) -> None:
    path = str(written(tmp_path, "[options]\ntime_limit = 'soon'"))
    result = CliRunner().invoke(main, ["suite", "invoices", "--config", path])
    assert result.exit_code == 2
    assert "is not a time" in result.output


@pytest.mark.parametrize(
    ("given", "default", "shown"),
    [
        (("--format", "csv", "--format", "md,png"), None, "csv,md,png"),
        ((), "csv,md", "csv,md"),
        (("--format", "png"), "csv,md", "png"),
        ((), None, "None"),
    ],
)
def test_formats_may_be_named_one_after_another(given: tuple[str, ...], default: str | None, shown: str) -> None:
    @click.command()
    @format_option
    def command(formats: str | None) -> None:
        click.echo(str(formats))

    defaults = {"default_map": {"formats": default}} if default else {}
    assert CliRunner().invoke(command, given, **defaults).output == f"{shown}\n"


@pytest.mark.parametrize("text", ["inf", "nan", "1e9", "0", "-1"])
def test_what_a_user_may_wait_for_is_finite(text: str) -> None:
    assert common.patience("0.5") == 0.5
    with pytest.raises(click.BadParameter):
        common.patience(text)


def test_a_folder_that_one_may_not_enter_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    @common.command
    def refused() -> None:
        raise PermissionError(13, "Permission denied", "/root/suite.yaml")

    with pytest.raises(SystemExit) as ended:
        refused()
    assert (ended.value.code, capsys.readouterr().err) == (2, "dbbench: /root/suite.yaml: Permission denied\n")
