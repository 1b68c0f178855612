"""Breaks when it is imported."""

raise RuntimeError("broken on import")
