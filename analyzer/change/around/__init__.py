"""What calls what: callers, tests, symbols that are gone."""
