"""What a run leaves on disk: the run directory, and the shape of what is in it."""
