"""What a provider throws, as Python has it."""

from __future__ import annotations

from dbbench_plugins.dotnet.store import StoreFailed


class ProviderFailed(StoreFailed):
    """An exception of a provider's."""

    @property
    def code(self) -> str:
        """The provider's own number of it, or an empty text."""
        for name in ("NativeError", "ErrorId", "ErrorCode"):
            if (number := getattr(self.thrown, name, None)) is not None:
                return str(int(number))
        return ""
