"""Passwords in URLs of all kinds: seen nowhere, whatever a driver says of them; and a common word breaks nothing."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbbench.engine.urls import parse, redacted, scrub, scrubbed, secrets
from tests.attack.conftest import Ask
from tests.conftest import TESTS, Dbbench, everything_written, summary
from tests.properties import FEW

_ANY = """/@?#:+'"\\;&= {"""
_QUERY, _ODBC = _ANY.replace("&", ""), _ANY.replace(";", "")
#: A URL with a place for its secret -> the signs that may stand in the secret as they are.
FORMS = {
    "postgresql://me:<>@h:5/d": _ANY, "postgresql://us/er:<>@h/d": _ANY, "postgresql://:<>@h/d": _ANY, "redis://me:<>@h/0": _ANY,
    "postgresql://me@corp:<>@h/d": _ANY, "mysql+pymysql://me:<>@h/d?ssl_ca=/a/b": _ANY, "rediss://:<>@h/0": _ANY,
    "oracle://scott/<>@h/svc": _ANY, "oracle+oracledb://scott:<>@h:1521/?service_name=svc": _ANY, "redis://<>@h/0": "",
    "jdbc:oracle:thin:scott/<>@//h/svc": _ANY, "mongodb://me:<>@h1,h2/d?authSource=x": _ANY, "me:<>@h/d": """@?#+'"\\;&= {""",
    "snowflake://me:<>@account/d?private_key_passphrase=<>": "", "postgresql://h/d?user=me&password=<>": _QUERY,
    "postgresql://h/d?password=<>&sslmode=disable": _QUERY, "postgresql://h/d?PassWord=<>&x=1": _QUERY,
    "postgresql://h/d?sslpassword=<>": _QUERY, "libsql://h?authToken=<>": _QUERY, "odbc:Driver={X};PWD={<>": _ODBC,
    "jdbc:sqlserver://h:1433;user=sa;password=<>;encrypt=true": _ODBC, "odbc:DSN=x;AccessToken=<>": _ODBC,
    "odbc:Driver={X};Server=h;UID=me;PWD=<>;Port=1": _ODBC, "odbc:Driver={X};pwd = <>;UID=me": _ODBC,
    "odbc:Driver={X};PWD={<>};Port=1": _ANY, "odbc:Driver={X};Password='<>';UID=me": _ANY.replace("'", ""),
    "mssql+pyodbc:///?odbc_connect=Driver%3DX%3BPWD%3D<>%3BUID%3Dme": "", "x://h/d?to=postgresql%3A%2F%2Fme%3A<>%40h%2Fd": "",
    "mssql+pyodbc:///?odbc_connect=Driver%253DX%253BPWD%253D<>%253B": "",
    # the host was forgotten
    "postgresql://me:<>": "/", "postgresql://me:<>/d?sslmode=disable": "/", "redis://:<>": "/",
    "jdbc:postgresql://me:<>/d": "/", "mongodb://h:27017,me:<>/d": "/",
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@FEW
@given(signs=st.lists(st.text(_ANY + "%ü", min_size=1, max_size=2), max_size=2), escapes=st.integers(0, 2))
def test_no_part_of_a_secret_is_shown_or_stays_in_what_a_driver_says(form: str, signs: list[str], escapes: int) -> None:
    if "odbc_connect" in form:
        signs = [sign.replace(";", "/") for sign in signs]  # it would end the secret, however it is escaped
    stands = secret = "heim-0" + "".join(f"{sign}heim-{place}" for place, sign in enumerate(signs, 1))
    for _ in range(escapes):
        stands = quote(stands, safe="")
    url = form.replace("<>", stands if escapes else quote(secret, safe=FORMS[form]))
    shown, hidden = redacted(url), secrets(url)
    assert "***" in shown
    assert (shown.partition(":")[0], redacted(shown)) == (url.partition(":")[0], shown)
    told = [secret, stands, *(piece for piece in re.split(r"""[:/@?#;&={}'"]""", secret) if piece)]
    says = [url, quote(url), quote(url, safe=""), repr(url), json.dumps(url)]
    says += [f"password {word} was refused" for piece in told for word in (piece, quote(piece), repr(piece))]
    record = {"steps": [{"name": "load", "detail": text} for text in says], "settings": {"dsn": says}}
    for text in [shown, *(scrub(text, hidden) for text in says), json.dumps(scrubbed(record, hidden))]:
        assert "heim-" not in text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("oracle://scott/tiger@h/svc", "oracle://scott/***@h/svc"), ("postgresql://us/er:pw@h/d", "postgresql://us/***@h/d"),
        ("redis://pw@h/0", "redis://***@h/0"), ("me:pw@h/d", "me:***@h/d"), ("me:p/w@h/d", "me:p/***@h/d"), ("postgresql://h/d", "postgresql://h/d"),
        ("postgresql://me:postgres@h/postgres", "postgresql://me:***@h/postgres"), ("postgresql://h:5432", "postgresql://h:5432"),
        ("postgresql://me@h/d", "postgresql://me@h/d"), ("postgresql://h:5432/d?x=1", "postgresql://h:5432/d?x=1"),
        ("postgresql://[::1]:5432/d", "postgresql://[::1]:5432/d"), ("postgresql://h1:1,h2:2/d", "postgresql://h1:1,h2:2/d"),
        ("jdbc:sqlserver://h:1433;encrypt=true", "jdbc:sqlserver://h:1433;encrypt=true"), ("mysql://me:x@h/d", "mysql://me:***@h/d"),
        ("jdbc:h2:tcp://h:9092/~/x", "jdbc:h2:tcp://h:9092/~/x"), ("sqlite:///C:/x.db", "sqlite:///C:/x.db"),
        ("sqlite:////home/me@corp/mine.db", "sqlite:////home/me@corp/mine.db"), ("postgresql://me:p@h:5/d", "postgresql://me:***@h:5/d"),
        ("odbc:Driver={X};Server=h@i;UID=me;PWD=Driver", "odbc:Driver={X};Server=h@i;UID=me;PWD=***"),
        ("odbc:Driver={X};Server=h;UID=me;PWD=geheim;Port=1", "odbc:Driver={X};Server=h;UID=me;PWD=***;Port=1"),
        ("odbc:Driver={X};PWD={ge;heim};Port=1", "odbc:Driver={X};PWD={***};Port=1"),
        ("odbc:Driver={X};PWD={ge}}heim};Port=1", "odbc:Driver={X};PWD={***};Port=1"),
        ("postgresql://me:p%40ss/word@h/d", "postgresql://me:***@h/d"), ("postgresql://me:a@b@h/d", "postgresql://me:***@h/d"),
        ("mysql://h/d?user=me&password=geheim&ssl=1", "mysql://h/d?user=me&password=***&ssl=1"),
        ("libsql://h?authToken=abcdefgh", "libsql://h?authToken=***"), ("postgresql://me:471147114711", "postgresql://me:***"),
        ("mssql+pyodbc:///?odbc_connect=Driver%3DX%3BPWD%3Dgeheim%3B", "mssql+pyodbc:///?odbc_connect=Driver%3DX%3BPWD%3D***%3B"),
    ],
)  # fmt: skip
def test_a_url_can_still_be_read_but_for_its_secrets(url: str, shown: str) -> None:
    assert redacted(url) == shown


def test_a_password_with_a_slash_in_what_is_no_url_is_hidden_in_parts() -> None:
    assert "heim-27" not in scrub("password heim-27 was refused", secrets("me:ge/heim-27@h/d"))


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
    assert (done.returncode, "the host is missing" in done.stdout, "geheim" in done.stdout) == (2, True, False)
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
    for before in ("can't reach '", "connecting to ", "no server at "):
        assert f"{before}faulty://me:***@" in told
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
    for step in ("bulk-insert", "join-2"):
        assert [rows[step, f"w-{word}"]["outcome"] for word in words] == ["ok"] * 3, done.stdout
    assert {row["outcome"] for row in rows.values()} <= {"ok", "wrong"}  # of a file: URL it knows no size
    assert {engine for _, engine in rows} >= {f"w-{word}" for word in words}
    dbbench_here("report", "run", "--format", "csv", status=done.returncode)
