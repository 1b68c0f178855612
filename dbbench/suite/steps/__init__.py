"""The kinds of steps that a suite may have: one module for each, with the kind's name.

A module in this folder that holds a model with a `kind` is a kind; nothing else lists it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from functools import reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from dbbench.suite.steps.base import Step


def _found() -> Iterator[tuple[str, type[Step]]]:
    for _, name, _ in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{name}")
        for model in vars(module).values():
            if isinstance(model, type) and issubclass(model, Step) and model.stated_kind() == name:
                yield name, model


#: Each kind's name and model.
KINDS: Mapping[str, type[Step]] = dict(_found())

if TYPE_CHECKING:
    AnyStep = Step
else:
    #: A step of any kind, told apart by its `kind`.
    AnyStep = Annotated[reduce(or_, KINDS.values()), Field(discriminator="kind")]
