"""URLs of servers: how they are given, and how their passwords stay out of everything that is written.

A URL goes from the command line to the trial that needs it in the environment of its processes, never in a file.
What is written shows it without its password, and whatever a driver says is cleared of it first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from dbbench.errors import UserError

#: The environment variable that hands a trial its URL.
VARIABLE = "DBBENCH_URL"
HIDDEN = "***"
_LABEL = re.compile(r"[a-z0-9][a-z0-9+._-]{0,47}(@[a-z0-9][a-z0-9._-]{0,23})?")
#: Names of parameters, in a query or an ODBC connection string, whose values are secret.
_SECRET = re.compile(r"(?i)pass|pwd|secret|token|key|credential|auth")
_PAIR = re.compile(r"(?i)([\w ]+)=(\{(?:[^}]|\}\})*\}|[^;&]*)")
#: A shorter secret would clear away parts of ordinary words; it is hidden inside URLs only.
_FEWEST_LETTERS = 4


def parse(texts: Sequence[str]) -> dict[str, str]:
    """`NAME=URL` texts as name -> URL; `NAME=env:VARIABLE` takes it from the environment. Raises UserError."""
    urls: dict[str, str] = {}
    for text in texts:
        label, equals, url = text.partition("=")
        if not equals or not _LABEL.fullmatch(label):
            raise UserError(
                "--url needs NAME=URL, like --url postgresql=postgresql://me@host/database; "
                "a name has small letters, digits and + . _ -, and may be ENGINE@PLACE"
            )
        if url.startswith("env:"):
            variable = url.removeprefix("env:")
            if variable not in os.environ:
                raise UserError(f"--url {label}=env:{variable}: there is no environment variable {variable}")
            url = os.environ[variable]
        if not re.match(r"[a-zA-Z][\w+.-]*:.", url):
            raise UserError(f"--url {label}: a URL starts with what speaks its language, like postgresql://")
        if label in urls:
            raise UserError(f"--url names {label} twice")
        urls[label] = url
    return urls


def redacted(url: str) -> str:
    """A URL with `***` for each of its secrets, fit to be shown."""
    return scrub(url, secrets(url))


def secrets(url: str) -> list[str]:
    """Every secret in a URL as it stands there and as it is meant, longest first."""
    if not url:
        return []
    found = set()
    try:
        parts = urlsplit(url)
        found |= {parts.password or "", unquote(parts.password or "")}
        found |= {value for key, value in parse_qsl(parts.query) if _SECRET.search(key)}
    except ValueError:
        pass  # no URL that can be taken apart; its pairs may still be
    # The name may hold an @: all between the scheme's colon and the last @ of the authority.
    if match := re.match(r"[\w+.-]+://[^/:@]*:(.*)@", url):
        found.add(match[1])
    found |= {value.strip("{}") for key, value in _PAIR.findall(unquote(url)) if _SECRET.search(key)}
    found |= {value.replace("}}", "}") for value in found}
    found |= {form(value) for value in list(found) for form in (quote, quote_plus, unquote)}
    return sorted(filter(None, found), key=len, reverse=True)


def scrub(text: str, hidden: Sequence[str]) -> str:
    """A text with `***` in the place of every secret."""
    for secret in hidden:
        if len(secret) >= _FEWEST_LETTERS:
            text = text.replace(secret, HIDDEN)
        else:
            text = re.sub(rf"(?<=[:=]){re.escape(secret)}(?=[@;&\s'\"]|$)", HIDDEN, text)
    return text


def scrubbed(value: Any, hidden: Sequence[str]) -> Any:
    """A JSON value with every text in it cleared of secrets."""
    if not hidden:
        return value
    if isinstance(value, str):
        return scrub(value, hidden)
    if isinstance(value, Mapping):
        return {scrub(str(key), hidden): scrubbed(each, hidden) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [scrubbed(each, hidden) for each in value]
    return value
