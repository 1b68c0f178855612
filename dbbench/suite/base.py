"""What every part of a suite file is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

#: A plain name: it can be quoted in every SQL dialect and stand in a file name.
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}$")]


class Model(BaseModel):
    """The base of everything that a suite file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
