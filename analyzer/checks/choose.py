"""Which probes a change calls for, and which checks."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.model.change import Change
from analyzer.model.plan import PlannedCheck, Probe


def choose(
    probes: Sequence[Probe], change: Change, only: Sequence[str] = ()
) -> tuple[tuple[Probe, ...], tuple[PlannedCheck, ...], tuple[str, ...]]:
    """The probes that cover a changed symbol, their checks (`only` those, where given), and the kernels to build.

    A changed kernel that no probe launches is planned without a probe, so that the evidence can say so.
    """
    symbols = [symbol for file in change.files if file.category not in ("test", "docs") for symbol in file.symbols]
    changed = {symbol.name for symbol in symbols} | {symbol.previous_name for symbol in symbols if symbol.previous_name}
    chosen, planned, kernels = [], [], []
    for probe in probes:
        called = tuple(name for name in probe.covers if name in changed)
        if not called:
            continue
        chosen.append(probe)
        kernels += [kernel for kernel in probe.launches if kernel not in kernels]
        planned += [
            PlannedCheck(check=check, probe=probe.name, symbols=called)
            for check in probe.checks
            if not only or check in only
        ]
    launched = {name for probe in chosen for name in (*probe.launches, *probe.covers)}
    planned += [
        PlannedCheck(check="identity", probe="", symbols=(symbol.name,))
        for symbol in symbols
        if symbol.kind == "kernel" and symbol.change in ("body", "signature") and symbol.name not in launched
        if not only or "identity" in only
    ]
    return tuple(chosen), tuple(planned), tuple(kernels)
