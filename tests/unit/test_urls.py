"""URLs and their secrets."""

import pytest

from dbbench.engine.urls import parse, scrub, scrubbed, secrets
from dbbench.errors import UserError


def test_names_and_urls() -> None:
    assert parse(["pg=postgresql://h/db", "x+y=mysql://h?a=b=c", "own=me:geheim@h"]) == {
        "pg": "postgresql://h/db",
        "x+y": "mysql://h?a=b=c",
        "own": "me:geheim@h",  # a scheme called `me`: the driver will say
    }


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["postgresql://me:geheim@h/db"], "NAME=URL"),
        (["PG=postgresql://me:geheim@h/db"], "NAME=URL"),
        (["pg=/geheim"], "starts with"),
        (["pg=env:NO_SUCH_VARIABLE"], "NO_SUCH_VARIABLE"),
        (["pg=a://geheim", "pg=b://geheim"], "twice"),
    ],
)
def test_what_is_no_url_is_told_without_its_secret(texts: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said) as told:
        parse(texts)
    assert "geheim" not in str(told.value)


def test_a_drivers_words_are_cleared() -> None:
    hidden = secrets("postgresql://me:p%40ssword@h/db")
    assert scrub("could not connect with p@ssword (p%40ssword)", hidden) == "could not connect with *** (***)"
    assert scrub("not the password ge}heim", secrets("odbc:Driver={X};PWD={ge}}heim};Port=1")) == "not the password ***"


def test_a_short_secret_leaves_figures_alone() -> None:
    hidden = secrets("postgresql://me:1@h/db")
    assert scrub("1,321 rows; postgresql://me:1@h/db", hidden) == "1,321 rows; postgresql://me:***@h/db"


def test_every_text_of_a_record_is_cleared() -> None:
    hidden = secrets("a://me:geheim@h")
    record = {"geheim": ["a geheim b", 1, None, {"x": "geheim"}]}
    assert scrubbed(record, hidden) == {"geheim": ["a *** b", 1, None, {"x": "***"}]}
