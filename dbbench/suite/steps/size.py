"""The size on disk."""

from __future__ import annotations

from typing import Literal

from dbbench.suite.steps.base import Step


class SizeStep(Step):
    """The size of everything the engine keeps on disk, after a flush."""

    kind: Literal["size"]

    unit = "B"
