"""The built-in suites, as YAML files."""
