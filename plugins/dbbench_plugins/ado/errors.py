"""What a provider throws, as Python has it."""

from __future__ import annotations

from typing import Any


class ProviderFailed(Exception):
    """An exception of a provider's."""

    #: The exception itself.
    thrown: Any = None

    @property
    def code(self) -> str:
        """The provider's own number of it, or an empty text."""
        number = getattr(self.thrown, "ErrorCode", None)
        return "" if number is None else str(int(number))
