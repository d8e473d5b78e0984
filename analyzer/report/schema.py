"""JSON Schemas of the files that travel: ``python -m analyzer.report.schema OUT_DIR`` writes one a document."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from analyzer.model.base import Document
from analyzer.model.evidence import Evidence
from analyzer.model.plan import Plan
from analyzer.model.report import Report

DOCUMENTS: dict[str, type[Document]] = {"plan": Plan, "evidence": Evidence, "report": Report}


def schema(name: str) -> dict[str, Any]:
    """The schema of ``plan.json``, ``evidence.json`` or ``report.json``."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **DOCUMENTS[name].model_json_schema()}


def write_schemas(out: Path) -> list[Path]:
    """Write all schemas into the folder `out`, which is made where it is missing."""
    out.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in DOCUMENTS:
        path = out / f"{name}.schema.json"
        path.write_text(json.dumps(schema(name), indent=1) + "\n", encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m analyzer.report.schema OUT_DIR")
    write_schemas(Path(sys.argv[1]))
