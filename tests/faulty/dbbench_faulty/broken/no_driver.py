"""Its driver is missing."""

import dbbench_driver_that_is_nowhere  # noqa: F401
