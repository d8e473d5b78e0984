"""The child process: it imports one revision and does what the parent asks, one step at a time.

This folder is copied beside the code under test and run there (``python -m analyzer_worker JOB``), so it imports only
the standard library, torch, Triton and itself, and knows nothing of the analyzer. The parent reads back raw tensors
and numbers; comparisons and verdicts never happen here.
"""
