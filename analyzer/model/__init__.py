"""The records that travel between the stages. No logic beyond derived values."""
