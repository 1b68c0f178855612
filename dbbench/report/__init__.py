"""What a run shows: terminal, charts, tables and pages. Reads only run directories and what analysis makes of them."""
