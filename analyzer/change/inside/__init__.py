"""What changed inside a function that both revisions have."""
