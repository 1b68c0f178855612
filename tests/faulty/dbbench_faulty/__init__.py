"""Right engines with one fault each: those that fail or lie in a run, and those that break a clause of the kit."""
