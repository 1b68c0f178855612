"""Runs: plan, runner, supervisor, worker make finished trials of a request."""
