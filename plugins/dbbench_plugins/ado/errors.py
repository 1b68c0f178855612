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
        for name in ("NativeError", "ErrorId", "ErrorCode"):
            if (number := getattr(self.thrown, name, None)) is not None:
                return str(int(number))
        return ""
