"""Which probes a change calls for, and which checks."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.errors import UsageError
from analyzer.model.change import Change
from analyzer.model.plan import PlannedCheck, Probe


def choose(
    probes: Sequence[Probe], change: Change, only: Sequence[str] = ()
) -> tuple[tuple[Probe, ...], tuple[PlannedCheck, ...], tuple[str, ...]]:
    """The probes that cover a changed symbol, their checks (`only` those, where given), and the kernels to build.

    A probe has a name of its own: records and folders go by it. One without a check to run is left out.
    A changed kernel that no probe launches is planned without a probe, so that the evidence can say so.
    """
    symbols = [symbol for file in change.files if file.category not in ("test", "docs") for symbol in file.symbols]
    changed = {symbol.name for symbol in symbols} | {symbol.previous_name for symbol in symbols if symbol.previous_name}
    chosen, planned, kernels = [], [], []
    names: set[str] = set()
    for probe in probes:
        if probe.name in names:
            raise UsageError(f"two probes are called {probe.name!r}")
        names.add(probe.name)
        called = tuple(name for name in probe.covers if name in changed)
        checks = [check for check in dict.fromkeys(probe.checks) if not only or check in only]
        if not called or not checks:
            continue
        chosen.append(probe)
        kernels += [kernel for kernel in probe.launches if kernel not in kernels]
        planned += [PlannedCheck(check=check, probe=probe.name, symbols=called) for check in checks]
    launched = {name for probe in chosen for name in (*probe.launches, *probe.covers)}
    planned += [
        PlannedCheck(check="identity", probe="", symbols=(symbol.name,))
        for symbol in symbols
        if symbol.kind == "kernel" and symbol.change in ("body", "signature") and symbol.name not in launched
        if not only or "identity" in only
    ]
    return tuple(chosen), tuple(planned), tuple(kernels)
