"""How each kind of step is worded: one module for each, with the kind's name, whose `Wording` it is."""

from importlib import import_module
from typing import Any

from dbbench.report.step_view import Wording
from dbbench.suite.steps import AnyStep


def wording(step: AnyStep) -> Wording[Any]:
    """How a step is worded."""
    worded: Wording[Any] = import_module(f"{__name__}.{step.kind}").Wording()
    return worded
