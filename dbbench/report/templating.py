"""Pages from the templates of this package: the one set-up of jinja, and charts that stand in a page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markupsafe import Markup


def render(
    name: str,
    values: Mapping[str, Any],
    *,
    escape: Callable[[object], str] | None = None,
    filters: Mapping[str, Callable[..., str]] | None = None,
) -> str:
    """The text of a template; a name that it asks for and `values` lacks is an error.

    All that it shows is escaped: by `escape`, or as HTML. Markup stays as it is.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("dbbench.report"),
        autoescape=escape is None,  # noqa: S701 - `finalize` escapes
        finalize=escape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= filters or {}
    return environment.get_template(name).render(**values)


def source(name: str) -> str:
    """The text of a file beside the templates: a style or a script."""
    return files("dbbench.report").joinpath("templates", name).read_text("utf-8")


def digest(script: str) -> str:
    """What a page's policy names a script by: it lets this text run, and no other."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def inline(path: Path) -> Markup:
    """An SVG file that `charts.svg` made, which escapes the texts in it."""
    from markupsafe import Markup

    return Markup(path.read_text("utf-8"))  # noqa: S704 - our own file, see above
