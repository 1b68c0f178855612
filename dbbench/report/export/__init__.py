"""The formats of a report: a module for each, found by the registry."""
