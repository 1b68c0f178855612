"""Medians, intervals and ranks of trial means. No clock, no files, no engines."""
