"""Steps in from stdin, results out to a file: one JSON line each.

``python -m analyzer_worker JOB`` with JOB a JSON file: ``results`` and ``out`` (paths), ``tree`` (the revision's
folder), ``mode``, ``device``, ``distribution`` (name and version, for importlib.metadata) and ``python`` (whether the
profile has probes). A step is ``{"id", "step", "probe", ...}``; its result is ``{"id", "ok", "data"}`` or, where it
failed, ``{"id", "ok", "kind", "error"}`` with kind refused (an assertion, TypeError, ValueError or NotImplementedError
raised by the revision itself), out-of-memory, or raised. ``{"beat": "compiling"}`` and ``{"beat": "compiled"}`` let the
parent keep compile time apart.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

REFUSALS = (AssertionError, TypeError, ValueError, NotImplementedError)


def failure(error: BaseException, tree: str) -> dict[str, str]:
    """How a step failed, in one line, with the innermost line of the revision that the failure passed through."""
    import torch

    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if frame.filename.startswith(tree)]
    where = f" at {Path(inside[-1].filename).relative_to(tree)}:{inside[-1].lineno}" if inside else ""
    message = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {message[0][:300]}" if message else type(error).__name__
    # A driver's error comes as another kind: ``RuntimeError: Triton Error [CUDA]: out of memory``.
    if isinstance(error, torch.cuda.OutOfMemoryError | MemoryError) or "CUDA]: out of memory" in text:
        kind = "out-of-memory"
    elif isinstance(error, REFUSALS) and inside and inside[-1] is frames[-1]:
        kind = "refused"
    else:
        kind = "raised"
    return {"kind": kind, "error": text + where}


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    results = open(job["results"], "a", buffering=1)  # noqa: SIM115  (open as long as the process lives)

    def write(record: dict[str, object]) -> None:
        results.write(json.dumps(record) + "\n")

    from analyzer_worker import steps

    session = steps.Session(job, beat=lambda what: write({"beat": what}))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            record = {"ok": True, "data": session.run(request)}
        except BaseException as error:  # whatever the code under test raises, SystemExit included, is a result
            traceback.print_exc()
            record = {"ok": False, **failure(error, str(job["tree"]))}
        write({"id": request["id"], **record})
    # Skips the destructors and exit handlers of the code under test.
    os._exit(0)


if __name__ == "__main__":
    main()
