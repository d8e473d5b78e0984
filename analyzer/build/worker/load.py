"""Imports a probe's target from the revision's tree and from nowhere else."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from pathlib import Path
from types import ModuleType
from typing import Any


def prepare(job: dict[str, Any]) -> list[tuple[str, str]]:
    """Put the tree on the import path and bridge what the environment lacks; says in English and Chinese how."""
    tree = Path(job["tree"])
    bridges = []
    sys.path.insert(0, str(tree))
    if job["mode"] == "package" and job.get("distribution"):
        name, version = job["distribution"]["name"], job["distribution"]["version"]
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            site = Path(job["out"]) / "metadata"
            folder = site / f"{name}-{version}.dist-info"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            sys.path.append(str(site))
            en = f"distribution metadata of {name} {version} (not installed)"
            bridges.append((en, f"{name} {version} 的发行元数据（未安装）"))
    if job["mode"] == "package" and job.get("python"):
        bridges += getattr(profile(), "bridge", lambda job: [])(job)
    return bridges


def profile() -> ModuleType:
    """The profile's probes.py, which lies beside this package."""
    return importlib.import_module("analyzer_profile")


def target(name: str, tree: str) -> Any:
    """The object that "package.module:qualified.name" names; ImportError where it does not come from `tree`."""
    module_name, _, qualified = name.partition(":")
    module = importlib.import_module(module_name)
    source = Path(getattr(module, "__file__", None) or "").resolve()
    if not source.is_relative_to(Path(tree).resolve()):
        raise ImportError(f"{module_name} was imported from {source}, not from the revision's tree")
    found: Any = module
    for part in qualified.split("."):
        found = getattr(found, part)
    return found
