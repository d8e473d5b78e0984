"""Git: revisions, diffs and the contents of files."""
