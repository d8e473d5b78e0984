"""The doctor: every line measured, and one for each thing that a run may need."""

from __future__ import annotations

import io
import sys

from rich.console import Console

from analyzer import doctor
from analyzer.doctor import Finding


def test_examines_everything(silent):
    """Each part is there by name, with a detail where it is missing, and Triton really compiles."""
    found = {one.what: one for one in doctor.examine(silent)}
    assert {"Git", "Python", "torch", "triton", "GPU", "isolation: no network", "compiling for sm_90"} <= set(found)
    assert all(one.detail for one in found.values() if not one.ok)
    assert found["compiling for sm_90"].ok, found["compiling for sm_90"].detail
    assert "bytes" in found["compiling for sm_90"].detail


def test_without_git(monkeypatch):
    """Without Git the line says what to install."""
    monkeypatch.setenv("PATH", "")
    assert doctor._git() == Finding("Git", False, "not installed: install Git 2.30 or newer")


def test_without_torch(monkeypatch):
    """Without torch a GPU is no use, and the line says so."""
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "unusable without torch" in doctor._gpu().detail


def test_kernel_that_does_not_compile():
    """An architecture that Triton does not know is a line with the compiler's own words, and no failure."""
    found = doctor._compiles("sm_1")
    assert not found.ok and found.detail


def test_table():
    """Details are shown as they are, square brackets included."""
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(doctor.table([Finding("torch", False, "pip install 'x[checks]'")]))
    assert "pip install 'x[checks]'" in console.export_text()
