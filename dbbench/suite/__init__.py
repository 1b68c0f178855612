"""Suite files: the models of suites and tables, and how YAML text becomes one."""
