"""Mutants: right engines, each with a fault that breaks one clause of the conformance kit."""
