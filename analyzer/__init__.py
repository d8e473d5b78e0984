"""Says what a change to GPU sampling and kernel code does: from the diff, from measurements, from history."""

__version__ = "0.1.0"
