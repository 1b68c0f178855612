"""Engines that fail, each in its own way. A package of its own, found through its entry points."""
