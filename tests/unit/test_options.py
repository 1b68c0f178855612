"""Options that are settings of a private server, or a share of the memory: each stands once, and is checked.

It is given to the server or the engine, and recorded.
"""

import re
from dataclasses import replace
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from dbbench.engine import (
    MemoryShare,
    Options,
    Program,
    ServerSetting,
    Shares,
    chosen,
    registry,
    server_setting_names,
    server_settings,
)
from dbbench.engine.options import marked, programs, with_shares
from dbbench.engine.probe import look, misplaced
from dbbench.errors import UserError
from dbbench.runs.request import check_options
from dbbench_plugins.mysql.server import MySQLOptions
from dbbench_plugins.postgresql.server import PostgreSQLOptions, PostgreSQLServer


class Some(Options):
    cache_mib: Annotated[int, ServerSetting("cache", "{}MB")] = 64
    log_mib: Annotated[int | None, ServerSetting("log_size", "{}M")] = Field(default=None, ge=4)
    jit: Annotated[str | None, ServerSetting("jit")] = None
    threads: int = 1
    bin: Program = ""


def test_settings_are_given_in_the_servers_words_and_none_leaves_its_default() -> None:
    assert server_settings(Some()) == {"cache": "64MB"}
    assert server_settings(Some(cache_mib=8, log_mib=4, jit="off")) == {"cache": "8MB", "log_size": "4M", "jit": "off"}


def test_what_may_be_set_is_what_is_recorded_and_a_program_is_none() -> None:
    assert server_setting_names(Some) == ["cache", "log_size", "jit"]
    assert programs(Some) == ["bin"]


@pytest.mark.parametrize(
    ("engine", "option", "name"),
    [
        ("postgresql", "shared_buffers_mib", "shared_buffers"),
        ("mysql+pymysql", "buffer_pool_mib", "innodb_buffer_pool_size"),
        ("postgresql+orm", "shared_buffers_mib", "shared_buffers"),
    ],
)
def test_a_setting_of_a_private_server_is_refused_for_one_at_a_url(engine: str, option: str, name: str) -> None:
    chosen = {engine: {option: "128"}}
    private, remote = (
        replace(look(engine, engine, chosen[engine], url=url), status="available") for url in (False, True)
    )
    check_options(chosen, {engine: private})
    with pytest.raises(UserError, match=f"--set {re.escape(engine)}.{option}: .*--url.* set {name} on the server"):
        check_options(chosen, {engine: remote})


def test_what_is_no_setting_of_the_server_may_be_set_with_a_url() -> None:
    assert [why.partition(":")[0] for why in misplaced(Some, ["threads", "log_mib", "bin"])] == ["log_mib"]


@pytest.mark.parametrize("options", [PostgreSQLOptions, MySQLOptions])
def test_no_option_changes_what_a_tier_promises(options: type[Options]) -> None:
    """Settings of durability are the suite's to ask for."""
    promised = {"fsync", "synchronous_commit", "full_page_writes", "wal_level", "innodb_flush_log_at_trx_commit",
                "innodb_doublewrite", "innodb_flush_method", "sync_binlog"}  # fmt: skip
    names = server_setting_names(options)
    assert not {*names} & promised
    assert len({*names}) == len(names)


def test_a_server_of_postgresql_is_started_with_what_was_set() -> None:
    options = PostgreSQLServer.options_class.model_validate({"shared_buffers_mib": "128", "jit": "off"})
    assert server_settings(options) == {
        "shared_buffers": "128MB",
        "work_mem": "4MB",
        "jit": "off",
        "max_connections": "1024",
    }


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (PostgreSQLOptions, {"jit": "perhaps"}),
        (PostgreSQLOptions, {"max_wal_size_mib": 1}),
        (PostgreSQLOptions, {"shared_buffers": "1GB"}),
        (MySQLOptions, {"log_file_size_mib": 1}),
        (MySQLOptions, {"sort_buffer_kib": "x"}),
    ],
)
def test_a_value_that_a_server_would_not_take_is_refused_before_it_is_started(
    options: type[Options], wrong: dict[str, object]
) -> None:
    with pytest.raises(ValidationError):
        options.model_validate(wrong)


class Shared(Options):
    cache_mib: Annotated[int | None, MemoryShare(most=4096), ServerSetting("cache", "{}MB")] = None
    own_mib: Annotated[int | None, MemoryShare("client_cache", least=5)] = None
    limit_mib: Annotated[int | None, MemoryShare("memory")] = None
    log_mib: int | None = None


@pytest.mark.parametrize(
    ("given", "shares", "expected"),
    [
        ({}, Shares(), (64, 64, None)),
        ({}, Shares(8192, 2, 16_384), (4096, 5, 16_384)),
        ({}, Shares(0, 0, 0), (1, 5, 1)),
        ({"cache_mib": "7", "limit_mib": "9"}, Shares(100, 200, 300), (7, 200, 9)),
        ({"cache_mib": "as-installed", "limit_mib": "as-installed"}, Shares(100, 200, 300), ("as-installed", 200, "as-installed")),
    ],
)  # fmt: skip
def test_a_share_of_the_memory_is_what_the_user_left_open(
    given: dict[str, str], shares: Shares, expected: tuple[object, ...]
) -> None:
    options = with_shares(Shared.model_validate(given), shares)
    assert (options.cache_mib, options.own_mib, options.limit_mib) == expected
    assert options.log_mib is None
    again = with_shares(Shared.model_validate(options.model_dump(mode="json")), Shares(1, 1, 1))
    assert again == options.model_copy(update={"limit_mib": expected[2] or 1})  # a process of clients gets the same


def test_as_installed_leaves_a_servers_default() -> None:
    assert server_settings(Shared(cache_mib="as-installed")) == {}  # type: ignore[arg-type]  # as it is written
    assert [chosen(value) for value in ("as-installed", 64, None)] == [None, 64, None]


@pytest.mark.parametrize("wrong", ["0", "4097", "x", "installed"])
def test_a_share_that_is_no_size_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError, match="cache_mib"):
        Shared.model_validate({"cache_mib": wrong})


def test_no_engine_has_a_cache_of_its_own_size() -> None:
    """One rule for all, so that none has more than another."""
    for name in registry.names():
        options = registry.find(name).options_class
        shares = {option for option, _ in marked(options, MemoryShare)}
        described = {option: str(known.description) for option, known in options.model_fields.items()}
        caches = {option for option, words in described.items() if re.search(r"\bcache\b.*MiB", words)}
        assert caches <= shares, name
