"""Passwords in URLs of all kinds: seen nowhere, whatever a driver says of them; and a common word breaks nothing."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from dbbench.engine.urls import parse, redacted, scrub, scrubbed, secrets
from tests.attack.conftest import Ask
from tests.conftest import TESTS, Dbbench, everything_written, summary

#: URL -> the secret in it, as it is meant and as it stands there. What stands before and after may be seen.
URLS = {
    "postgresql://me:geheim-1@h:5/d": ["geheim-1"],
    "postgresql://us/er:geheim-2@h/d": ["geheim-2"],
    "postgresql://me:ge/heim-3@h/d": ["ge/heim-3", "heim-3"],
    "postgresql://me:ge@heim-4@h/d": ["ge@heim-4", "heim-4"],
    "postgresql://me:ge?heim-5@h/d": ["ge?heim-5", "heim-5"],
    "postgresql://me:ge#heim-6@h/d": ["ge#heim-6", "heim-6"],
    "postgresql://me:ge:heim-7@h/d": ["ge:heim-7", "heim-7"],
    "postgresql://me:ge%40heim%2F8@h/d": ["ge%40heim%2F8", "ge@heim/8"],
    "postgresql://me:ge%2540heim%252F9@h/d": ["ge%2540heim%252F9", "ge%40heim%2F9", "ge@heim/9"],
    "postgresql://me:geheim%20%C3%BC10@h/d": ["geheim%20%C3%BC10", "geheim ü10"],
    "postgresql://me:geheim+11@h/d": ["geheim+11", "geheim 11"],
    "postgresql://:geheim-12@h/d": ["geheim-12"],
    "postgresql://me@corp:geheim-13@h/d": ["geheim-13"],
    "postgresql://h/d?user=me&password=geheim-14": ["geheim-14"],
    "postgresql://h/d?user=me&password=ge;heim-15&sslmode=disable": ["ge;heim-15", "heim-15"],
    "postgresql://h/d?PassWord=geheim-16&x=1": ["geheim-16"],
    "postgresql://h/d?password=ge%26heim-17&x=1": ["ge%26heim-17", "ge&heim-17", "heim-17"],
    "postgresql://h/d?sslpassword=geheim-18": ["geheim-18"],
    "oracle://scott/geheim-19@h/svc": ["geheim-19"],
    "oracle+oracledb://scott:geheim-20@h:1521/?service_name=svc": ["geheim-20"],
    "jdbc:oracle:thin:scott/geheim-21@//h/svc": ["geheim-21"],
    "jdbc:sqlserver://h:1433;user=sa;password=geheim-22;encrypt=true": ["geheim-22"],
    "redis://geheim-23@h/0": ["geheim-23"],
    "rediss://:geheim-24@h/0": ["geheim-24"],
    "redis://me:geheim-25@h/0": ["geheim-25"],
    "me:geheim-26@h/d": ["geheim-26"],
    "me:ge/heim-27@h/d": ["ge/heim-27", "heim-27"],
    "mysql://me:geheim-28@h/d?ssl_ca=/a/b": ["geheim-28"],
    "mysql+pymysql://me:ge'heim-29@h/d": ["ge'heim-29"],
    'mysql://me:ge"heim-30@h/d': ['ge"heim-30'],
    "mysql://me:ge\\heim-31@h/d": ["ge\\heim-31", "ge\\\\heim-31"],
    "odbc:Driver={X};Server=h;UID=me;PWD=geheim-32;Port=1": ["geheim-32"],
    "odbc:Driver={X};PWD={ge;heim-33};Port=1": ["ge;heim-33", "heim-33"],
    "odbc:Driver={X};PWD={ge}}heim-34};Port=1": ["ge}}heim-34", "ge}heim-34"],
    "odbc:Driver={X};pwd = ge&heim-35;UID=me": ["ge&heim-35", "heim-35"],
    "odbc:Driver={X};Password='ge;heim-36';UID=me": ["ge;heim-36", "heim-36"],
    "odbc:Driver={X};PWD={geheim-37": ["geheim-37"],
    "odbc:DSN=x;AccessToken=geheim-38": ["geheim-38"],
    "mssql+pyodbc:///?odbc_connect=Driver%3DX%3BPWD%3Dge%26heim-39%3BUID%3Dme": ["ge%26heim-39", "ge&heim-39", "heim-39"],
    "mssql+pyodbc:///?odbc_connect=Driver%253DX%253BPWD%253Dgeheim-40%253B": ["geheim-40"],
    "libsql://h?authToken=geheim-41": ["geheim-41"],
    "x://h/d?to=postgresql%3A%2F%2Fme%3Ageheim-42%40h%2Fd": ["geheim-42"],
    "snowflake://me:geheim-43@account/d?private_key_passphrase=geheim-44": ["geheim-43", "geheim-44"],
    "mongodb://me:geheim-45@h1,h2/d?authSource=x": ["geheim-45"],
    "postgresql://me:geheim-46": ["geheim-46"],
    "postgresql://me:geheim-47/d?sslmode=disable": ["geheim-47"],
    "postgresql://me:ge/heim-48": ["ge/heim-48", "heim-48"],
    "postgresql://me:471147114711": ["471147114711"],
    "redis://:geheim-49": ["geheim-49"],
    "jdbc:postgresql://me:geheim-50/d": ["geheim-50"],
    "mongodb://h:27017,me:geheim-51/d": ["geheim-51"],
}  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_no_secret_of_a_url_is_shown(url: str) -> None:
    shown = redacted(url)
    assert [secret for secret in URLS[url] if secret in shown] == []
    assert "***" in shown
    assert shown.partition(":")[0] == url.partition(":")[0]
    assert redacted(shown) == shown


@pytest.mark.parametrize("url", URLS)
def test_no_secret_of_a_url_stays_in_what_a_driver_says(url: str) -> None:
    hidden = secrets(url)
    says = [url, quote(url), quote(url, safe=""), repr(url), json.dumps(url)]
    says += [f"password {form} was refused" for secret in URLS[url] for form in (secret, quote(secret), repr(secret))]
    record = {
        "steps": [{"name": "load", "detail": text, "traceback": text} for text in says],
        "settings": {"dsn": says},
    }
    for text in [*(scrub(text, hidden) for text in says), json.dumps(scrubbed(record, hidden))]:
        assert [secret for secret in URLS[url] if secret in text] == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("oracle://scott/tiger@h/svc", "oracle://scott/***@h/svc"),
        ("postgresql://us/er:pw@h/d", "postgresql://us/***@h/d"),
        ("redis://pw@h/0", "redis://***@h/0"),
        ("me:pw@h/d", "me:***@h/d"),
        ("postgresql://me:postgres@h/postgres", "postgresql://me:***@h/postgres"),
        ("postgresql://me@h/d", "postgresql://me@h/d"),
        ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql://h:5432/d?x=1", "postgresql://h:5432/d?x=1"),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"),
        ("postgresql://h:5432", "postgresql://h:5432"),
        ("postgresql://h1:1,h2:2/d", "postgresql://h1:1,h2:2/d"),
        ("jdbc:sqlserver://h:1433;encrypt=true", "jdbc:sqlserver://h:1433;encrypt=true"),
        ("jdbc:h2:tcp://h:9092/~/x", "jdbc:h2:tcp://h:9092/~/x"),
        ("sqlite:///C:/x.db", "sqlite:///C:/x.db"),
        ("sqlite:////home/me@corp/mine.db", "sqlite:////home/me@corp/mine.db"),
        ("odbc:Driver={X};Server=h@i;UID=me;PWD=Driver", "odbc:Driver={X};Server=h@i;UID=me;PWD=***"),
    ],
)
def test_what_is_no_secret_can_still_be_read(url: str, shown: str) -> None:
    assert redacted(url) == shown


@pytest.mark.parametrize(
    "word", ["steps", "load", "name", "outcome", "running", "time", "lower", "rows", "power", "ok"]
)
def test_a_common_word_leaves_names_keys_and_outcomes_alone(word: str) -> None:
    hidden = secrets(f"postgresql://me:{word}@h/d")
    step = {"name": "load", "outcome": "ok", "metric": "time", "direction": "lower", "facts": {"takes": "rows"}}
    record = {"steps": [step], "running": "load", "engine": {"tier": "power", "settings": {"name": f"a {word}"}}}
    settings = {"name": f"a {word}"} if word == "ok" else {"name": "a ***"}  # one so short may be any text
    assert scrubbed(record, hidden) == {**record, "engine": {"tier": "power", "settings": settings}}


def test_a_url_taken_from_the_environment_is_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or each server and each other engine's driver would have it too."""
    import os

    monkeypatch.setenv("MY_URL", "postgresql://me:geheim@h/d")
    assert set(parse(["a=env:MY_URL", "b=env:MY_URL"]).values()) == {"postgresql://me:geheim@h/d"}
    assert "MY_URL" not in os.environ


@pytest.mark.parametrize("given", ["postgresql://me:geheim-52", "env:MY_URL"])
def test_a_url_without_its_host_is_refused_before_anything_is_written(
    given: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_URL", "postgresql://me:geheim-52")
    asked = ("--quick", "-e", "sqlite", "--url", f"postgresql={given}", "--out", tmp_path / "run")
    done = ask("suite", TESTS / "unit" / "small.yaml", *asked)
    assert (done.exit_code, "the host is missing" in done.output, "geheim" in done.output) == (2, True, False)
    assert not (tmp_path / "run").exists()


def test_drivers_that_fail_tell_no_password(tmp_path: Path, dbbench: Dbbench) -> None:
    """Nobody listens on the port, or the URL isn't one that a driver can read: each says so in words of its own.

    One repeats the whole URL in all that it says.
    """
    for module in ("sqlalchemy", "psycopg", "pymysql", "redis", "oracledb", "pyodbc"):
        pytest.importorskip(module, exc_type=ImportError)  # as where unixODBC is missing
    at = "127.0.0.1:9"
    urls = {
        "postgresql": f"postgresql://us/er:geheim-50@{at}/d",
        "mysql+pymysql": f"mysql://me:ge%40heim-52@{at}/d",
        "redis": f"redis://geheim-53@{at}/0",
        "oracle": f"oracle://scott/geheim-54@{at}/svc",
        "odbc": "odbc:Driver={No Such};PWD={geheim;-55};UID=me",
        "a": "me:geheim-56@h/d",
        "d": "mssql+pyodbc:///?odbc_connect=Driver%3DX%3BPWD%3Dgeheim-59%3B",
        "faulty-repeats": f"faulty://me:geheim-51@{at}/d",
    }
    words = [word for name in urls for word in ("--url", f"{name}=env:URL_{list(urls).index(name)}")]
    given = {f"URL_{place}": url for place, url in enumerate(urls.values())}
    words += ["--format", "csv,md,html", "-e", "sqlite"]  # and json; the page has the charts in it
    asked = ("suite", "invoices", "--quick", "--scale", "0.01", *words, "--out", "run")
    done = dbbench(*asked, plugins=("faulty",), **given, status=1)
    rows = summary(tmp_path / "run")
    assert rows["join-1", "sqlite"]["outcome"] == "ok"
    assert "check host, port, service" in rows["join-1", "oracle"]["detail"]
    assert {rows["join-1", name]["outcome"] for name in urls} <= {"failed", "unavailable", "unsupported"}
    told = done.stdout + done.stderr + everything_written(tmp_path / "run")
    for words_of_it in (
        "can't reach 'faulty://me:***@",
        "connecting to faulty://me:***@",
        "no server at faulty://me:***@",
    ):
        assert words_of_it in told
    for number in range(50, 60):
        assert f"-{number}@" not in told
        assert f"heim-{number}" not in told
        assert f"heim;-{number}" not in told


def test_a_run_whose_passwords_are_common_words(tmp_path: Path, dbbench_here: Dbbench) -> None:
    pytest.importorskip("sqlalchemy")
    words = ("steps", "load", "rows")
    at = "sqlite:///file:{folder}/{word}.db?uri=true&password={word}"
    urls = [x for word in words for x in ("--url", f"w-{word}={at.format(folder=tmp_path, word=word)}")]
    asked = ("--quick", "--scale", "0.01", "--format", "csv")
    done = dbbench_here("suite", "invoices", *asked, *urls, "-e", "sqlite", "--out", "run")
    rows = summary(tmp_path / "run")
    for word in words:
        assert rows["bulk-insert", f"w-{word}"]["outcome"] == rows["join-2", f"w-{word}"]["outcome"] == "ok", (
            done.stdout
        )
    assert {row["outcome"] for row in rows.values()} <= {"ok", "wrong"}  # of a file: URL it knows no size
    assert {engine for _, engine in rows} >= {f"w-{word}" for word in words}
    dbbench_here("report", "run", "--format", "csv", status=done.returncode)
