"""From a request to finished trials: the plan, the runner, a supervisor and a worker for each trial."""
