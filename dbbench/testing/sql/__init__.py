"""What holds for every SQL engine."""
