"""Which tests stay in one process of xdist: those that share a run that their module makes, or the server of their class."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]


class Sharing:
    """Hands out such tests together, and all others one by one, in the order that they were collected in.

    xdist's own groups by a mark would do, but pytest 9.2 lets no plugin change a test's id, which xdist 3.8 needs for them.
    """

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Producer) -> LoadScopeScheduling:
        from xdist.scheduler import LoadScopeScheduling

        class Together(LoadScopeScheduling):
            def _split_scope(self, nodeid: str) -> str:
                return together(nodeid)

        config.option.loadscopereorder = False  # Mono last, and the many small tests after the long ones
        return Together(config, log)


def together(test: str) -> str:
    """The tests that a test, by its id, stays with: its class, its file, or none but itself."""
    parts = test.partition("[")[0].split("::")
    if len(parts) > 2:
        return "::".join(parts[:2])
    return parts[0] if _has_fixtures_of_its_own(parts[0]) else test


@cache
def _has_fixtures_of_its_own(file: str) -> bool:
    return "/unit/" not in file and 'scope="module"' in (ROOT / file).read_text("utf-8")
