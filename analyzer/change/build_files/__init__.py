"""Edits of build and dependency files: what is required, and the flags that code is compiled with."""
