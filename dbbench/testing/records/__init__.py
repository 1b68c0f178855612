"""What holds for every engine that keeps records under keys."""
