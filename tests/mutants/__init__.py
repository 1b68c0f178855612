"""Mutants of right engines, each of which breaks one clause of the conformance tests."""
