"""What a run has to show: terminal, charts, tables and pages. Reads only what the store gives."""
