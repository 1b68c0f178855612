"""URLs of servers: how they are given, and how their passwords stay out of everything that is written.

A URL goes from the command line to the trial that needs it in the environment of its processes, never in a file.
What is written shows it without its password, and whatever a driver says is cleared of it first.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote, quote_plus, unquote, unquote_plus

from dbbench.errors import UserError

#: The environment variable that hands a trial its URL.
VARIABLE = "DBBENCH_URL"
HIDDEN = "***"
_LABEL = re.compile(r"[a-z0-9][a-z0-9+._-]{0,47}(@[a-z0-9][a-z0-9._-]{0,23})?")
_SCHEME = re.compile(r"[\w+.-]*:(//)?")
#: Those whose database is a file: an @ in its path is no end of a password.
_FILE = re.compile(r"(?i)(sqlite|duckdb)[\w+.-]*:///")
#: Those in which a name alone before the @ is meant as a password, if by the user only.
_NAMELESS = re.compile(r"(?i)(redis|rediss|valkey|valkeys|libsql|https?)://")
#: A name, and after it no port: a password whose host was forgotten. Hosts with their ports may stand before it.
_HOSTLESS = re.compile(r"://(?:[^:/?#;,[]*(?::[0-9]*)?,)*[^:/?#;,[]*:(?![0-9]{0,5}(?:[/?#;,]|$))(.+)")
#: A parameter, in a query or an ODBC connection string, whose value is secret.
_SECRET = re.compile(r"(?i)[\w .+-]*(?:pass|pwd|secret|token|key|credential|auth)[\w .+-]*=\s*")
#: A value in braces or quotes, as ODBC and ADO have them.
_QUOTED = re.compile(r"""\{((?:[^}]|\}\})*)\}|"((?:[^"]|"")*)"|'((?:[^']|'')*)'""")
#: A URL, or a connection string, within a sentence.
_IN_A_TEXT = re.compile(r"(?i)odbc:.*|[a-z][\w+.-]*:[^\s:]\S*")
#: The beginning of a URL that was taken for a path.
_ONE_SLASH = re.compile(r"^([\w+.-]+:)/(?!/)")
#: Where a driver may take a URL apart otherwise than it is meant.
_SIGNS = re.compile(r"""[:/@?#;&={}'"]""")
#: How often a URL may be escaped within another.
_DEPTH = 3
_QUOTES: tuple[tuple[Callable[..., str], tuple[str, ...]], ...] = ((quote, ()), (quote, ("",)), (quote_plus, ()))
#: A shorter secret would clear away parts of ordinary words; it is hidden where a URL or a setting has it only.
_FEWEST_LETTERS = 4
#: What dbbench itself writes into a record: names that it finds things by again, and its own figures.
_OURS = ("name", "running", "outcome", "metric", "unit", "direction", "facts", "tier", "publication", "title")
#: Mappings whose keys are an engine's.
_ENGINES = ("settings", "versions")


def parse(texts: Sequence[str]) -> dict[str, str]:
    """`NAME=URL` texts as name -> URL; `NAME=env:VARIABLE` takes it from the environment. Raises UserError."""
    urls: dict[str, str] = {}
    variables = set()
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
            variables.add(variable)
        if not re.match(r"[a-zA-Z][\w+.-]*:.", url):
            raise UserError(f"--url {label}: a URL starts with its scheme, like postgresql://")
        if "@" not in url and _HOSTLESS.search(url):
            raise UserError(
                f"--url {label}: the part after the name is not a port; if it is a password, the host is missing, "
                "as in postgresql://NAME:PASSWORD@HOST/DATABASE"
            )
        if label in urls:
            raise UserError(f"--url names {label} twice")
        urls[label] = url
    for variable in variables:
        del os.environ[variable]  # each trial gets its own URL only, and no server any
    return urls


def redacted(url: str) -> str:
    """A URL with `***` for each of its secrets, fit to be shown."""
    shown = url
    for start, end in reversed(list(_spans(url))):
        shown = f"{shown[:start]}{HIDDEN}{shown[end:]}"
    scheme = _SCHEME.match(shown)
    first = scheme.end() if scheme else 0
    for inner in _unescaped(shown):  # of a URL or a connection string inside of this one
        for value in (inner[start:end] for start, end in _spans(inner)):
            if value != HIDDEN:
                shown = shown[:first] + scrub(shown[first:], _forms([value]))
    if any(inner[start:end] != HIDDEN for inner in _unescaped(shown) for start, end in _spans(inner)):
        return shown[:first] + HIDDEN  # escaped in a way that isn't known here
    return shown


def without_passwords(text: str) -> str:
    """A sentence with `***` for each secret of the URLs in it, as of one in the place of a number or a path."""
    return _IN_A_TEXT.sub(lambda quoted: redacted(_ONE_SLASH.sub(r"\1//", quoted[0])), text)


def secrets(url: str) -> list[str]:
    """Every secret in a URL, in its escaped and its plain form, longest first."""
    values = [text[start:end] for text in (url, *_unescaped(url)) for start, end in _spans(text)]
    # A piece of a secret may be told as a host, or a port.
    meant = [*values, *(inner for value in values for inner in _unescaped(value))]
    values += [piece for value in meant for piece in _SIGNS.split(value) if len(piece) >= _FEWEST_LETTERS]
    values += [value.rpartition(":")[2] for value in values]
    return _forms(value for value in values if value != HIDDEN)


def scrub(text: str, hidden: Sequence[str]) -> str:
    """A text with `***` in the place of every secret."""
    for secret in hidden:
        if len(secret) >= _FEWEST_LETTERS:
            text = text.replace(secret, HIDDEN)
        else:
            text = re.sub(rf"(?<=[:=/'\"{{]){re.escape(secret)}(?=[@;&\s'\"}}]|$)", HIDDEN, text)
    return text


def scrubbed(value: Any, hidden: Sequence[str], ours: Sequence[str] = _OURS) -> Any:
    """A JSON value with its texts cleared of secrets: messages and settings, but no key, no name and no outcome.

    A password may be a common word, and a record must be found again by its names. `ours` are the keys of texts that
    come from dbbench and the suite; what an engine says of itself has none.
    """
    if not hidden:
        return value
    if isinstance(value, str):
        return scrub(value, hidden)
    if isinstance(value, Mapping):
        return {
            key: each if key in ours else scrubbed(each, hidden, () if key in _ENGINES else ours)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [scrubbed(each, hidden, ours) for each in value]
    return value


def _spans(url: str) -> Iterator[tuple[int, int]]:
    """Start and end of each secret of a URL, in order."""
    found = [span for span in (_userinfo(url), *_parameters(url)) if span and span[0] < span[1]]
    end = 0
    for start, stop in sorted(found):
        if stop > end:
            yield max(start, end), stop
            end = stop


def _userinfo(url: str) -> tuple[int, int] | None:
    """All between the scheme and the last @ but a leading name: in a password any sign may stand as it is.

    Where there is no @, all behind a name, unless that is a port.
    """
    scheme, last = _SCHEME.match(url), url.rfind("@")
    if last < 0 and (hostless := _HOSTLESS.search(url)):
        return hostless.span(1)
    if scheme is None or last < scheme.end() or url.startswith("odbc:") or _FILE.match(url):
        return None
    start = scheme.end()
    name = re.compile(r"[^:/@?#]*[:/]").match(url, start, last)
    if name:
        return name.end(), last
    alone = scheme[1] is None or _NAMELESS.match(url)  # me:secret@host has no scheme but a name
    return (start, last) if alone or "@" in url[start:last] else None


def _parameters(url: str) -> Iterator[tuple[int, int]]:
    """The values of a query's parameters, or a connection string's, that are secret by their names."""
    for found in _SECRET.finditer(url):
        start = found.end()
        if quoted := _QUOTED.match(url, start):
            yield quoted.span(next(group for group in (1, 2, 3) if quoted[group] is not None))
            continue
        before = url[:start]
        query = "?" in before and not re.search(r"(?i)^odbc:|odbc_connect=", before)
        end = re.compile(r"[^&]*" if query else r"[^;]*").match(url, start)
        assert end is not None
        yield end.span()


def _unescaped(url: str) -> Iterator[str]:
    """A URL with its escapes resolved, and again as long as there are any."""
    for _ in range(_DEPTH):
        if unquote(url) == url:
            break
        url = unquote(url)
        yield url


def _forms(values: Iterable[str]) -> list[str]:
    """Secrets as they may be written, longest first."""
    found = set(values)
    for _ in range(_DEPTH):
        found |= {form(value) for value in found for form in (unquote, unquote_plus)}
    found |= {value.replace("}}", "}") for value in found}
    for _ in range(_DEPTH):
        found |= {form(value, *safe, errors="surrogateescape") for value in list(found) for form, safe in _QUOTES}
    found |= {form(value)[1:-1] for value in list(found) for form in (repr, json.dumps)}
    return sorted(filter(None, found), key=len, reverse=True)
