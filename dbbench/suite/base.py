"""What every part of a suite file is made of."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

#: A plain name: it can be quoted in every SQL dialect and stand in a file name.
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,62}$")]
#: Names of scenarios and steps: they become file names.
Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,47}$")]
#: Names of engines, which become file names too: `engine`, `engine+driver` or `engine@place`.
EngineName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}(@[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$")]
#: Titles stand on charts.
Title = Annotated[str, Field(max_length=300)]
#: Marks a field that dbbench sets, and suites don't.
HIDDEN: JsonDict = {"hidden": True}


class Model(BaseModel):
    """The base of everything that a suite file holds."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, allow_inf_nan=False)
