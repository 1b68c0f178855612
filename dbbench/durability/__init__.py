"""Crash checks of durability tiers: kill -9 in the middle of commits, and the sync calls of each commit counted."""
